/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping records: a session that is compressed has every event it had, one whose recorder lives is
 * left alone, and what is removed is entered in the ledger first.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "keep.h"
#include "str.h"
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS = 3, EVENTS = 400 };

static const char *const names[] = {"20261114-235959-calm-otter", "20261115-000000-brave-wren"};

struct world {
	char path[64];
	int dir;
	struct store store;
	uint64_t events; /* of each session */
	struct error e;
};

static void write_session(struct world *w, const char *name)
{
	struct hash key;
	uint64_t number;
	struct writer writer;
	_cleanup_fd_ int ledger = ledger_open(w->dir, &w->e);

	assert_true(ledger >= 0);
	assert_int_equal(ledger_begin(w->dir, ledger, name, &number, &key, &w->e), 0);
	assert_int_equal(mkdirat(w->dir, name, 0700), 0);
	_cleanup_fd_ int session = openat(w->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (uint32_t n = 1; n <= SEGMENTS; n++) {
		char file[SEGMENT_NAME_SIZE];

		segment_name(file, n, false);
		int fd = openat(session, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
		if (n == 1)
			writer_init(&writer, fd, &key);
		writer.fd = fd;
		for (int i = 0; i < EVENTS; i++) {
			frame_put_u64(writer_begin(&writer, "file"), "inode", writer.seq);
			assert_int_equal(writer_end(&writer), 0);
		}
		assert_int_equal(writer_commit(&writer), 0);
		(void)close(fd);
	}
	w->events = writer.seq;
	writer_fini(&writer);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-keep-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->dir = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->dir >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		write_session(w, names[i]);
	assert_int_equal(store_open(openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				    &w->store, &w->e),
			 0);
	assert_int_equal(w->store.count, BAWN_ARRAY_SIZE(names));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"ledger", "seal", "verification"};
	struct world *w = *state;
	char path[128], file[SEGMENT_NAME_SIZE];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		for (uint32_t n = 2; n < 2 * SEGMENTS + 2; n++) {
			segment_name(file, n / 2, n % 2);
			(void)snprintf(path, sizeof(path), "%s/%s", names[i], file);
			(void)unlinkat(w->dir, path, 0);
		}
		(void)snprintf(path, sizeof(path), "%s/folder", names[i]);
		(void)unlinkat(w->dir, path, AT_REMOVEDIR);
		(void)unlinkat(w->dir, names[i], AT_REMOVEDIR);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++)
		(void)unlinkat(w->dir, files[i], 0);
	store_fini(&w->store);
	(void)close(w->dir);
	assert_int_equal(rmdir(w->path), 0);
	free(w);
	return 0;
}

/* Every event, in its order. */
static void check_events(struct world *w, size_t session)
{
	_cleanup_store_cursor_ struct store_cursor c = STORE_CURSOR_INIT;
	struct frame f;
	uint64_t seen = 0;
	enum feed said;

	assert_int_equal(store_cursor_open(&w->store, &w->store.sessions[session], &c, &w->e), 0);
	while ((said = store_next(&c, &f)) == FEED_DONE)
		assert_int_equal(f.seq, ++seen);
	assert_int_equal(said, FEED_MORE);
	assert_int_equal(seen, w->events);
}

/* How many segments are there in this form; nothing else is, so that no file of the way is. */
static int count(const struct world *w, size_t session, bool packed)
{
	char path[128], file[SEGMENT_NAME_SIZE];
	struct stat st;
	int sum = 0;

	for (uint32_t n = 1; n <= SEGMENTS; n++) {
		segment_name(file, n, packed);
		(void)snprintf(path, sizeof(path), "%s/%s", names[session], file);
		sum += fstatat(w->dir, path, &st, 0) == 0;
	}
	return sum;
}

static int compress(struct world *w, size_t session, uint64_t most)
{
	return keep_compress(&w->store, &w->store.sessions[session], most, &w->e);
}

static void test_compress(void **state)
{
	struct world *w = *state;
	uint64_t before = keep_size(&w->store, &w->store.sessions[0]);

	check_events(w, 0);
	/* A little, then the rest; then there is nothing left to do. */
	assert_int_equal(compress(w, 0, 1), 1);
	assert_int_equal(count(w, 0, true), 1);
	assert_int_equal(count(w, 0, false), SEGMENTS - 1);
	check_events(w, 0);
	assert_int_equal(compress(w, 0, 0), SEGMENTS - 1);
	assert_int_equal(count(w, 0, true), SEGMENTS);
	assert_int_equal(count(w, 0, false), 0);
	check_events(w, 0);
	assert_int_equal(compress(w, 0, 0), 0);
	assert_int_equal(count(w, 1, false), SEGMENTS);
	assert_true(keep_size(&w->store, &w->store.sessions[0]) < before);
	assert_int_equal(keep_compress_all(&w->store, &w->e), SEGMENTS);
	check_events(w, 0);
	check_events(w, 1);
}

/* What was left of one that was cut off is written anew, and nothing of it stays. */
static void test_compress_again(void **state)
{
	struct world *w = *state;
	char path[128], file[SEGMENT_NAME_SIZE];
	struct stat st;

	segment_name(file, 1, true);
	(void)snprintf(path, sizeof(path), "%s/%s.tmp", names[0], file);
	_cleanup_fd_ int torn = openat(w->dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_all(torn, "torn", 4), 0);
	assert_int_equal(compress(w, 0, 0), SEGMENTS);
	assert_int_equal(fstatat(w->dir, path, &st, 0), -1);
	check_events(w, 0);
}

/* Its recorder lives. */
static void test_locked(void **state)
{
	struct world *w = *state;
	_cleanup_fd_ int session = openat(w->dir, names[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(flock(session, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(compress(w, 0, 0), 0);
	assert_int_equal(keep_remove(&w->store, &w->store.sessions[0], NULL, "age", &w->e), -EBUSY);
	assert_int_equal(count(w, 0, false), SEGMENTS);
	check_events(w, 0);
}

/* 1: the ledger says so, 0: it does not. */
static int is_removed(const struct world *w, const char *name)
{
	_cleanup_audit_ struct audit a = {.count = 0};
	struct error e = ERROR_INIT;

	assert_int_equal(audit_ledger(w->dir, NULL, &a, &e), 0);
	assert_string_equal(a.why, "");
	const struct audit_session *s = audit_find(&a, name);

	assert_non_null(s);
	if (s->removed)
		assert_string_equal(s->reason, "age");
	return s->removed;
}

static int remove_session(struct world *w, size_t session)
{
	_cleanup_audit_ struct audit a = {.count = 0};

	w->e = ERROR_INIT;
	assert_int_equal(audit_ledger(w->dir, NULL, &a, &w->e), 0);
	return keep_remove(&w->store, &w->store.sessions[session], audit_find(&a, names[session]),
			   "age", &w->e);
}

/* Who wrote a file beside it was killed before it had the file's name. */
static void test_half_made(void **state)
{
	struct world *w = *state;
	_cleanup_fd_ int session = openat(w->dir, names[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	_cleanup_fd_ int made = openat(session, ".changed", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(made >= 0);
	assert_int_equal(remove_session(w, 0), 0);
	assert_int_equal(fstatat(w->dir, names[0], &st, 0), -1);
	assert_int_equal(is_removed(w, names[0]), 1);
	assert_int_equal(fstat(made, &st), 0);
	assert_int_equal(st.st_nlink, 0);
}

static void test_remove(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(compress(w, 0, 1), 1);
	assert_int_equal(remove_session(w, 0), 0);
	assert_int_equal(w->e.code, 0);
	assert_int_equal(fstatat(w->dir, names[0], &st, 0), -1);
	assert_int_equal(is_removed(w, names[0]), 1);
	/* The other one has nothing to do with it. */
	assert_int_equal(is_removed(w, names[1]), 0);
	check_events(w, 1);
	assert_int_equal(remove_session(w, 0), -ENOENT);
}

/* What cannot go is told, and is out of sight; the ledger has it already, and whoever comes next goes
 * on. */
static void test_remove_half(void **state)
{
	struct world *w = *state;
	char path[192], gone[128];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/folder", names[0]);
	(void)snprintf(gone, sizeof(gone), ".gone-%s", names[0]);
	assert_int_equal(mkdirat(w->dir, path, 0700), 0);
	assert_true(remove_session(w, 0) < 0);
	assert_int_not_equal(w->e.code, 0);
	assert_int_equal(is_removed(w, names[0]), 1);
	assert_int_equal(fstatat(w->dir, names[0], &st, 0), -1);
	keep_sweep(&w->store);
	assert_int_equal(fstatat(w->dir, gone, &st, 0), 0);
	(void)snprintf(path, sizeof(path), "%s/folder", gone);
	assert_int_equal(unlinkat(w->dir, path, AT_REMOVEDIR), 0);
	keep_sweep(&w->store);
	assert_int_equal(fstatat(w->dir, gone, &st, 0), -1);
	check_events(w, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_compress), TEST(test_compress_again), TEST(test_locked),
		TEST(test_remove),   TEST(test_remove_half),    TEST(test_half_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
