/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records are found by what a person calls them, and read frame by frame over their segments:
 * plain, compressed, or still growing.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "seal.h"
#include "store.h"
#include "str.h"
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ONE "20261114-235959-calm-otter"
#define TWO "20261115-000000-brave-wren"
#define THREE "20261115-084532-calm-otter"
#define FOUR "20261115-084532-calm-otter-2"

struct folder {
	char path[64];
	int dir;
};

static struct folder folder_new(void)
{
	struct folder f = {.path = "/tmp/bawn-store-XXXXXX"};

	assert_non_null(mkdtemp(f.path));
	f.dir = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f.dir >= 0);
	return f;
}

static void folder_end(struct folder *f)
{
	static const char *const sessions[] = {ONE, TWO, THREE, FOUR, "20261115-120000-apply"};
	char name[STORE_FOLDER_SIZE + SEGMENT_NAME_SIZE], segment[SEGMENT_NAME_SIZE];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sessions); i++) {
		for (uint32_t n = 0; n < 8; n++) {
			segment_name(segment, n / 2 + 1, n % 2);
			(void)snprintf(name, sizeof(name), "%s/%s", sessions[i], segment);
			(void)unlinkat(f->dir, name, 0);
		}
		(void)unlinkat(f->dir, sessions[i], AT_REMOVEDIR);
	}
	(void)unlinkat(f->dir, "ledger", 0);
	(void)close(f->dir);
	assert_int_equal(rmdir(f->path), 0);
}

static int make_session(struct folder *f, const char *name)
{
	assert_int_equal(mkdirat(f->dir, name, 0700), 0);
	int fd = openat(f->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static struct store open_store(struct folder *f)
{
	struct store s = STORE_INIT;
	struct error e = ERROR_INIT;
	int dir = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(store_open(dir, &s, &e), 0);
	return s;
}

static void test_names(void **state)
{
	static const char *const bad[] = {"ledger",
					  "20261115-084532",
					  "20261115-084532-",
					  "20261115-08453x-a-b",
					  "20261115-084532-Calm",
					  "..",
					  "20261115-084532-a/b"};
	struct store_session s;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++)
		assert_false(store_parse_folder(bad[i], &s));
	assert_true(store_parse_folder(FOUR, &s));
	assert_string_equal(s.name, "calm-otter");
	assert_string_equal(s.folder, FOUR);
	assert_int_equal(s.start, 1794732332);
}

static void test_find(void **state)
{
	static const struct {
		const char *typed, *found;
		int code;
	} rows[] = {
		{"calm-otter", FOUR, 0},
		{"last", FOUR, 0},
		{"calm", FOUR, 0},
		{"brave", TWO, 0},
		{ONE, ONE, 0},
		{THREE, THREE, 0},
		{"20261114", ONE, 0},
		{"20261115", NULL, -ENOTUNIQ},
		{"gone", NULL, -ENOENT},
		{"", NULL, -ENOENT},
		{"apply", "20261115-120000-apply", 0},
	};
	struct folder f = folder_new();

	(void)state;
	(void)close(make_session(&f, ONE));
	(void)close(make_session(&f, TWO));
	(void)close(make_session(&f, FOUR));
	int live = make_session(&f, THREE);
	/* What a verb did is newer, and no session. */
	(void)close(make_session(&f, "20261115-120000-apply"));
	int plain = openat(f.dir, "ledger", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_store_ struct store s = open_store(&f);

	(void)close(plain);
	assert_int_equal(s.count, 5);
	assert_string_equal(s.sessions[2].folder, THREE);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct error e = ERROR_INIT;
		const struct store_session *found = store_find(&s, rows[i].typed, &e);

		assert_int_equal(found != NULL, rows[i].found != NULL);
		if (found)
			assert_string_equal(found->folder, rows[i].found);
		assert_int_equal(e.code, rows[i].code);
	}
	assert_false(store_is_running(&s, &s.sessions[2]));
	assert_int_equal(flock(live, LOCK_EX | LOCK_NB), 0);
	assert_true(store_is_running(&s, &s.sessions[2]));
	(void)close(live);
	folder_end(&f);
}

/* A writer that goes on in another file. */
static void write_events(struct writer *w, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		frame_put_u64(writer_begin(w, "file"), "inode", w->seq);
		assert_int_equal(writer_end(w), 0);
	}
	assert_int_equal(writer_commit(w), 0);
}

static int new_segment(int session, uint32_t number)
{
	char name[SEGMENT_NAME_SIZE];

	segment_name(name, number, false);
	int fd = openat(session, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

/* As what keeps records does it. */
static void pack(int session, uint32_t number)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(1 << 20);
	static char packed[1 << 20];
	char name[SEGMENT_NAME_SIZE];

	segment_name(name, number, false);
	assert_int_equal(fd_read_file_at(session, name, &plain), 0);
	assert_int_equal(unlinkat(session, name, 0), 0);
	size_t size = ZSTD_compress(packed, sizeof(packed), plain.ptr, plain.len, 3);

	segment_name(name, number, true);
	_cleanup_fd_ int fd = openat(session, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_all(fd, packed, size), 0);
}

static uint64_t read_all(struct store_cursor *c, uint64_t from)
{
	struct frame f;
	enum feed said;

	while ((said = store_next(c, &f)) == FEED_DONE)
		assert_int_equal(f.seq, ++from);
	assert_int_equal(said, FEED_MORE);
	return from;
}

static void test_follow(void **state)
{
	struct folder f = folder_new();
	_cleanup_fd_ int session = make_session(&f, ONE);
	_cleanup_store_ struct store s = open_store(&f);
	_cleanup_store_cursor_ struct store_cursor c = STORE_CURSOR_INIT;
	struct hash key = {{3}};
	struct error e = ERROR_INIT;
	struct writer w;
	struct frame frame;
	uint32_t behind = 0;

	(void)state;
	assert_int_equal(store_cursor_open(&s, &s.sessions[0], &c, &e), 0);
	assert_int_equal(store_next(&c, &frame), FEED_MORE);
	_cleanup_fd_ int first = new_segment(session, 1);

	assert_int_equal(store_next(&c, &frame), FEED_MORE);
	writer_init(&w, first, &key);
	write_events(&w, 7);
	assert_int_equal(read_all(&c, 0), 8);
	/* It grows, and ends within a frame for a while. */
	assert_int_equal(fd_write_all(first, "0000", 4), 0);
	assert_int_equal(store_next(&c, &frame), FEED_MORE);
	assert_int_equal(ftruncate(first, (off_t)c.offset), 0);
	write_events(&w, 3);
	uint64_t seen = read_all(&c, 8);

	assert_int_equal(seen, w.seq);
	_cleanup_fd_ int second = new_segment(session, 2);

	assert_int_equal(store_next(&c, &frame), FEED_MORE);
	w.fd = second;
	write_events(&w, 250);
	assert_int_equal(read_all(&c, seen), w.seq);
	writer_fini(&w);
	assert_int_equal(store_count_segments(session, &behind), 2);

	/* Compressed meanwhile: who reads on reads on, who begins again finds the same. */
	pack(session, 1);
	assert_int_equal(store_next(&c, &frame), FEED_MORE);
	assert_int_equal(store_seek(&c, 0, 0), FEED_DONE);
	assert_int_equal(read_all(&c, 0), w.seq);
	pack(session, 2);
	assert_int_equal(store_seek(&c, 1, 0), FEED_DONE);
	assert_int_equal(read_all(&c, 0), w.seq);
	assert_int_equal(store_count_segments(session, &behind), 2);
	assert_int_equal(behind, 0);
	assert_int_equal(unlinkat(session, "000001.log.zst", 0), 0);
	assert_int_equal(store_count_segments(session, &behind), 0);
	assert_int_equal(behind, 2);
	folder_end(&f);
}

/* An event that does not follow the one before it is not told as if it did. */
static void test_chain(void **state)
{
	static const char nobody[] = "00000000000000000000000000000000"
				     "00000000000000000000000000000000";
	struct folder f = folder_new();
	_cleanup_fd_ int session = make_session(&f, ONE);
	_cleanup_store_ struct store s = open_store(&f);
	_cleanup_store_cursor_ struct store_cursor c = STORE_CURSOR_INIT;
	_cleanup_fd_ int first = new_segment(session, 1);
	_cleanup_buf_ struct buf bytes = BUF_INIT(1 << 20);
	struct hash key = {{3}};
	struct error e = ERROR_INIT;
	struct writer w;
	struct frame frame;
	uint64_t at[8];

	(void)state;
	writer_init(&w, first, &key);
	write_events(&w, 7);
	writer_fini(&w);
	assert_int_equal(store_cursor_open(&s, &s.sessions[0], &c, &e), 0);
	for (size_t i = 0; i < 8; i++) {
		at[i] = c.offset;
		assert_int_equal(store_next(&c, &frame), FEED_DONE);
	}
	/* From within it goes on; but not behind another event than the one that was there. */
	assert_int_equal(store_seek(&c, 1, at[3]), FEED_DONE);
	assert_int_equal(store_next(&c, &frame), FEED_DONE);
	assert_int_equal(frame.seq, 4);
	assert_int_equal(store_seek(&c, 1, at[3]), FEED_DONE);
	store_link(&c, 3, nobody);
	assert_int_equal(store_next(&c, &frame), FEED_BAD);
	assert_non_null(strstr(c.why, "does not follow"));

	assert_int_equal(fd_read_file_at(session, "000001.log", &bytes), 0);
	assert_int_equal(ftruncate(first, (off_t)at[2]), 0);
	assert_int_equal(fd_write_all(first, bytes.ptr + at[3], bytes.len - at[3]), 0);
	assert_int_equal(store_seek(&c, 0, 0), FEED_DONE);
	assert_int_equal(store_next(&c, &frame), FEED_DONE);
	assert_int_equal(store_next(&c, &frame), FEED_DONE);
	assert_int_equal(store_next(&c, &frame), FEED_BAD);
	assert_non_null(strstr(c.why, "events are missing"));

	/* A length that reaches beyond the end is no torn end: a frame is one line. */
	assert_int_equal(frame_read((struct span){(const uint8_t *)bytes.ptr, 100}, &frame),
			 FEED_MORE);
	bytes.ptr[4] = 'f';
	assert_int_equal(frame_read(buf_span(&bytes), &frame), FEED_BAD);
	folder_end(&f);
}

/* What is not one zstd frame of frames is refused, and says so. */
static void test_packed_badly(void **state)
{
	static char packed[4096], plain[20000];
	struct error e = ERROR_INIT;
	struct span bytes = {NULL, 0};

	(void)state;
	size_t size = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 3);

	for (size_t len = 0; len < size; len++)
		assert_true(segment_unpack((struct span){(uint8_t *)packed, len}, &bytes, &e) < 0);
	assert_true(segment_unpack((struct span){(uint8_t *)packed, size + 1}, &bytes, &e) < 0);
	assert_int_equal(segment_unpack((struct span){(uint8_t *)packed, size}, &bytes, &e), 0);
	assert_int_equal(bytes.len, sizeof(plain));
	struct segment s = {.bytes = bytes, .fd = -1};

	segment_close(&s);
	/* Two frames, one behind the other. */
	memcpy(packed + size, packed, size);
	assert_true(segment_unpack((struct span){(uint8_t *)packed, 2 * size}, &bytes, &e) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_find),
		cmocka_unit_test(test_follow),       cmocka_unit_test(test_chain),
		cmocka_unit_test(test_packed_badly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
