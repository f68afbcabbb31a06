/* SPDX-License-Identifier: Apache-2.0 */
/* buf, arena and span keep to their limits, and say so once and for all when they cannot. */
#include "cmocka_lead.h"

#include "arena.h"
#include "array.h"
#include "bucket.h"
#include "buf.h"
#include "dir.h"
#include "encode.h"
#include "fd.h"
#include "span.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_buf_stops_at_its_maximum(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(8);

	buf_put_str(&b, "12345678");
	assert_int_equal(buf_error(&b), 0);
	buf_put_char(&b, '9');
	assert_int_equal(buf_error(&b), -EMSGSIZE);
	assert_string_equal(buf_str(&b), "12345678");
}

static void test_buf_error_sticks(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(4);

	buf_put_str(&b, "ab");
	buf_put_str(&b, "cde");
	assert_int_equal(buf_error(&b), -EMSGSIZE);
	buf_put_char(&b, 'c');
	buf_putf(&b, "%d", 1);
	assert_string_equal(buf_str(&b), "ab");
	assert_int_equal(buf_error(&b), -EMSGSIZE);
	buf_clear(&b);
	buf_put_str(&b, "wxyz");
	assert_int_equal(buf_error(&b), 0);
	assert_string_equal(buf_str(&b), "wxyz");
}

static void test_buf_of_nothing_is_a_string(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(0);

	assert_string_equal(buf_str(&b), "");
	buf_put(&b, NULL, 0);
	assert_int_equal(buf_error(&b), 0);
	assert_string_equal(buf_str(&b), "");
	buf_fini(&b);
	buf_fini(&b);
	buf_fini(NULL);
}

static void test_buf_refuses_an_impossible_length(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(SIZE_MAX);

	buf_put_char(&b, 'x');
	buf_put(&b, "", SIZE_MAX);
	assert_int_equal(buf_error(&b), -EMSGSIZE);
	assert_int_equal(b.len, 1);
}

/* Around the size of buf_putf's own small array, and far beyond it. */
static void test_buf_putf_any_length(void **state)
{
	static const int lengths[] = {0, 1, 510, 511, 512, 513, 70000};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lengths); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);

		buf_put_str(&b, "<");
		buf_putf(&b, "%*s", lengths[i], "");
		buf_put_str(&b, ">");
		assert_int_equal(buf_error(&b), 0);
		assert_int_equal(b.len, lengths[i] + 2);
		assert_int_equal(b.ptr[b.len], '\0');
		assert_int_equal(b.ptr[b.len - 1], '>');
	}
	_cleanup_buf_ struct buf small = BUF_INIT(600);
	buf_putf(&small, "%*s", 601, "");
	assert_int_equal(buf_error(&small), -EMSGSIZE);
	assert_int_equal(small.len, 0);
}

static void test_buf_numbers_are_little_endian(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	buf_put_u32(&b, 0x01020304);
	buf_put_u64(&b, 0x1112131415161718);
	assert_memory_equal(b.ptr, "\4\3\2\1\x18\x17\x16\x15\x14\x13\x12\x11", 12);

	struct reader r = reader_of(buf_span(&b));
	assert_int_equal(reader_u32(&r), 0x01020304);
	assert_int_equal(reader_u64(&r), 0x1112131415161718);
	assert_int_equal(reader_left(&r), 0);
	assert_false(r.bad);
}

static void test_reader_never_passes_the_end(void **state)
{
	(void)state;
	struct reader r = reader_of(SPAN_LITERAL("abcdef"));

	assert_int_equal(reader_take(&r, 2).len, 2);
	assert_int_equal(reader_u64(&r), 0);
	assert_true(r.bad);
	/* Bad once is bad for good, even for what would still fit. */
	assert_int_equal(reader_take(&r, 1).len, 0);
	assert_int_equal(reader_u32(&r), 0);
	assert_int_equal(reader_left(&r), 4);

	struct reader huge = reader_of(SPAN_LITERAL("abc"));
	assert_int_equal(reader_take(&huge, SIZE_MAX).len, 0);
	assert_true(huge.bad);
}

static void test_span_skip(void **state)
{
	(void)state;
	assert_true(span_equal(span_skip(SPAN_LITERAL("abc"), 1), SPAN_LITERAL("bc")));
	assert_int_equal(span_skip(SPAN_LITERAL("abc"), 3).len, 0);
	assert_null(span_skip((struct span){NULL, 0}, 0).ptr);
}

static void test_span_equal(void **state)
{
	(void)state;
	assert_true(span_equal((struct span){NULL, 0}, SPAN_LITERAL("")));
	assert_true(span_equal(SPAN_LITERAL("a\0b"), SPAN_LITERAL("a\0b")));
	assert_false(span_equal(SPAN_LITERAL("a\0b"), SPAN_LITERAL("a\0c")));
	assert_false(span_equal(SPAN_LITERAL("a"), SPAN_LITERAL("ab")));
	assert_int_equal(span_of_str(NULL).len, 0);
}

static void test_arena_stops_at_its_maximum(void **state)
{
	(void)state;
	_cleanup_arena_ struct arena a = ARENA_INIT(4096);
	size_t got = 0;

	while (arena_alloc(&a, 64))
		got += 64;
	assert_int_equal(got, 4096);
	assert_null(arena_alloc(&a, 1));
	assert_null(arena_str(&a, "x"));
	assert_null(arena_printf(&a, "%d", 1));
	assert_non_null(arena_alloc(&a, 0));
}

static void test_arena_refuses_an_impossible_size(void **state)
{
	(void)state;
	_cleanup_arena_ struct arena a = ARENA_INIT(SIZE_MAX);

	/* With the block's own head in front this one would wrap around. */
	assert_null(arena_alloc(&a, SIZE_MAX - 16));
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_non_null(arena_alloc(&a, 1));
}

static void test_arena_memory_is_zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = {1, 3, 7, 8, 9, 31, 4000, 9000, 100000};

	(void)state;
	_cleanup_arena_ struct arena a = ARENA_INIT(1 << 20);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sizes); i++) {
		uint8_t *p = arena_alloc(&a, sizes[i]);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t n = 0; n < sizes[i]; n++)
			assert_int_equal(p[n], 0);
		memset(p, 0xff, sizes[i]);
	}
	assert_string_equal(arena_strn(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_printf(&a, "%s-%d", "x", 5), "x-5");
	arena_fini(&a);
	assert_int_equal(a.used, 0);
	assert_string_equal(arena_str(&a, "again"), "again");
	arena_fini(NULL);
}

static void test_fd_read_all_keeps_to_the_maximum(void **state)
{
	(void)state;
	_cleanup_fd_ int fd = memfd_create("long", MFD_CLOEXEC);
	_cleanup_buf_ struct buf exact = BUF_INIT(10000);
	_cleanup_buf_ struct buf less = BUF_INIT(9999);

	assert_int_equal(ftruncate(fd, 10000), 0);
	assert_int_equal(fd_read_all(fd, &exact), 0);
	assert_int_equal(exact.len, 10000);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, &less), -EMSGSIZE);
}

/* A pipe or a device under the name of a file must neither hold us nor be read. */
static void test_fd_read_file_takes_regular_files_only(void **state)
{
	(void)state;
	char dir[] = "/tmp/bawn-unit.XXXXXX";
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	assert_non_null(mkdtemp(dir));
	_cleanup_fd_ int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(mkfifoat(at, "fifo", 0600), 0);
	assert_int_equal(fd_read_file_at(at, "fifo", &b), -EINVAL);
	assert_int_equal(fd_read_file_at(at, ".", &b), -EISDIR);
	assert_int_equal(fd_read_file_at(at, "missing", &b), -ENOENT);
	assert_int_equal(fd_read_file_at(AT_FDCWD, "/dev/zero", &b), -EINVAL);
	assert_int_equal(unlinkat(at, "fifo", 0), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_fd_flags_and_moves(void **state)
{
	(void)state;
	_cleanup_fd_ int fd = memfd_create("moves", 0);

	assert_int_equal(fd_set_cloexec(fd, true), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	fd = fd_move_up(fd, 300);
	assert_true(fd >= 300);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fd_set_nonblock(fd, true), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fd_set_cloexec(-1, true), -EBADF);
	errno = EXDEV;
	fd_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EXDEV);
	fd_close(&fd);
}

/* --- bucket ----------------------------------------------------------------------------- */

/* How many it gives at this time. */
static int taken(struct bucket *b, int64_t now)
{
	int n = 0;

	while (bucket_take(b, now, 10, 4))
		n++;
	return n;
}

static void test_a_bucket_gives_its_burst_and_then_its_rate(void **state)
{
	static const struct {
		int64_t now;
		int given;
	} rows[] = {
		{1000, 4},                        /* full when it is new */
		{1000, 0},                        /* and then empty */
		{1050, 0}, {1099, 0}, {1100, 1},  /* time that made no whole token is not lost */
		{1350, 2}, {1400, 1}, {60000, 4}, /* never more than the burst */
	};
	struct bucket b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(taken(&b, rows[i].now), rows[i].given);
}

/* Grown one by one, cut and grown again: nothing that stands in it is lost. */
static void test_array_grows_and_keeps_what_it_has(void **state)
{
	_cleanup_free_ size_t *items = NULL;
	size_t count = 0;

	(void)state;
	for (size_t most = 1; most < 3000; most = 3 * most + 1) {
		for (; count < most; count++) {
			if (!ARRAY_GROW(items, count))
				fail_msg("no memory");
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it has grown */
			items[count] = count;
		}
		for (size_t i = 0; i < count; i++)
			assert_int_equal(items[i], i);
		count /= 2;
	}
	assert_non_null(items);
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static size_t count_names(int fd, int *ret)
{
	_cleanup_dir_ DIR *dir = dir_read(fd, ret);
	size_t count = 0;

	for (const struct dirent *d; (d = dir_next(dir, ret)); count++)
		assert_false(dir_is_dots(d->d_name));
	return count;
}

static void test_dir_tells_names_and_no_dots(void **state)
{
	static const char *const names[] = {"a", "...", ".b", "..c"};
	char path[] = "/tmp/bawn-dir-XXXXXX";
	int r = 0;

	(void)state;
	assert_non_null(mkdtemp(path));
	_cleanup_fd_ int dir = open_folder(path);

	assert_int_equal(dir_is_empty(open_folder(path)), 1);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		assert_int_equal(mkdirat(dir, names[i], 0700), 0);
	assert_int_equal(dir_is_empty(open_folder(path)), 0);
	assert_int_equal(count_names(open_folder(path), &r), BAWN_ARRAY_SIZE(names));
	assert_int_equal(r, 0);
	/* The same again from one descriptor that stays open. */
	for (int i = 0; i < 2; i++) {
		_cleanup_dir_ DIR *again = dir_open(dir, ".", &r);

		assert_non_null(dir_next(again, &r));
	}
	/* None, for a reason that is told, and without a place to tell it. */
	assert_int_equal(count_names(-EACCES, &r), 0);
	assert_int_equal(r, -EACCES);
	assert_int_equal(dir_is_empty(-ENOENT), -ENOENT);
	assert_null(dir_open(dir, "nothing", &r));
	assert_int_equal(r, -ENOENT);
	assert_null(dir_next(dir_open(dir, "nothing", NULL), NULL));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		assert_int_equal(unlinkat(dir, names[i], AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(path), 0);
}

static void assert_file(int dir, const char *name, const char *text, mode_t mode)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64);
	struct stat st;

	assert_int_equal(fd_read_file_at(dir, name, &b), 0);
	assert_string_equal(buf_str(&b), text);
	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | mode);
}

static void test_fd_replace_gives_all_bytes_or_the_old_ones(void **state)
{
	char path[] = "/tmp/bawn-replace-XXXXXX";
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(path));
	_cleanup_fd_ int dir = open_folder(path);

	assert_int_equal(fd_replace_at(dir, "f", "f.new", SPAN_LITERAL("one"), 0600), 0);
	assert_file(dir, "f", "one", 0600);
	/* What another left beside it is no file of ours, and a link is not followed. */
	assert_int_equal(symlinkat("f", dir, "f.new"), 0);
	assert_int_equal(fd_replace_at(dir, "f", "f.new", SPAN_LITERAL("two"), 0644), 0);
	assert_file(dir, "f", "two", 0644);
	assert_int_equal(fstatat(dir, "f.new", &st, AT_SYMLINK_NOFOLLOW), -1);
	/* A folder is not replaced, and nothing is left beside it. */
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	assert_int_equal(fd_replace_at(dir, "d", "d.new", SPAN_LITERAL("x"), 0600), -EISDIR);
	assert_int_equal(fstatat(dir, "d.new", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(unlinkat(dir, "d", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(dir, "f", 0), 0);
	assert_int_equal(rmdir(path), 0);
}

static void test_random_names_are_hex(void **state)
{
	char one[2 * ENCODE_RANDOM_MAX + 1], other[2 * ENCODE_RANDOM_MAX + 1];

	(void)state;
	assert_int_equal(encode_random(one, ENCODE_RANDOM_MAX), 0);
	assert_int_equal(encode_random(other, ENCODE_RANDOM_MAX), 0);
	assert_int_equal(strspn(one, "0123456789abcdef"), 2 * ENCODE_RANDOM_MAX);
	assert_int_equal(strlen(one), 2 * ENCODE_RANDOM_MAX);
	assert_string_not_equal(one, other);
	assert_int_equal(encode_random(one, ENCODE_RANDOM_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf_stops_at_its_maximum),
		cmocka_unit_test(test_buf_error_sticks),
		cmocka_unit_test(test_buf_of_nothing_is_a_string),
		cmocka_unit_test(test_buf_refuses_an_impossible_length),
		cmocka_unit_test(test_buf_putf_any_length),
		cmocka_unit_test(test_buf_numbers_are_little_endian),
		cmocka_unit_test(test_reader_never_passes_the_end),
		cmocka_unit_test(test_span_skip),
		cmocka_unit_test(test_span_equal),
		cmocka_unit_test(test_arena_stops_at_its_maximum),
		cmocka_unit_test(test_arena_refuses_an_impossible_size),
		cmocka_unit_test(test_arena_memory_is_zeroed_and_aligned),
		cmocka_unit_test(test_fd_read_all_keeps_to_the_maximum),
		cmocka_unit_test(test_fd_read_file_takes_regular_files_only),
		cmocka_unit_test(test_fd_flags_and_moves),
		cmocka_unit_test(test_a_bucket_gives_its_burst_and_then_its_rate),
		cmocka_unit_test(test_array_grows_and_keeps_what_it_has),
		cmocka_unit_test(test_dir_tells_names_and_no_dots),
		cmocka_unit_test(test_fd_replace_gives_all_bytes_or_the_old_ones),
		cmocka_unit_test(test_random_names_are_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
