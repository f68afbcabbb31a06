/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger knows every session that was begun, in one chain, whoever writes it at the same
 * time and wherever a write was torn.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "ledger.h"
#include "seal.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct folder {
	char path[64];
	int dir;
};

static struct folder folder_new(void)
{
	struct folder f = {.path = "/tmp/bawn-ledger-XXXXXX"};

	assert_non_null(mkdtemp(f.path));
	f.dir = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f.dir >= 0);
	return f;
}

static void folder_end(struct folder *f)
{
	static const char *const names[] = {"ledger", "seal", "verification"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		(void)unlinkat(f->dir, names[i], 0);
	(void)close(f->dir);
	assert_int_equal(rmdir(f->path), 0);
}

static void begin(struct folder *f, const char *name, uint64_t *ret_number, struct hash *ret_key)
{
	struct error e = ERROR_INIT;
	_cleanup_fd_ int ledger = ledger_open(f->dir, &e);

	assert_true(ledger >= 0);
	assert_int_equal(ledger_begin(f->dir, ledger, name, ret_number, ret_key, &e), 0);
}

static void end(struct folder *f, const char *name, uint64_t number)
{
	struct error e = ERROR_INIT;
	_cleanup_fd_ int ledger = ledger_open(f->dir, &e);
	struct ledger_end how = {.session = name, .number = number, .events = 7};

	assert_true(ledger >= 0);
	assert_int_equal(ledger_enter_end(ledger, &how, &e), 0);
}

/* How many entries of each kind, in a chain that holds; -1: it does not. */
static int count(struct folder *f, const char *kind)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(1 << 20);
	struct ledger_entry entry;
	int n = 0;

	assert_int_equal(fd_read_file_at(f->dir, "ledger", &bytes), 0);
	struct ledger_reader r = {.bytes = buf_span(&bytes)};
	enum feed said;

	while ((said = ledger_next(&r, &entry)) == FEED_DONE)
		n += span_equal(entry.frame.kind, span_of_str(kind));
	return said == FEED_BAD || r.at != bytes.len ? -1 : n;
}

static void test_sessions(void **state)
{
	struct folder f = folder_new();
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	uint64_t number = 99;
	struct hash first, key, again;

	(void)state;
	begin(&f, "one", &number, &key);
	assert_int_equal(number, 0);
	/* The user's copy of the first key makes every key of every session again. */
	assert_int_equal(fd_read_file_at(f.dir, "verification", &text), 0);
	assert_int_equal(hash_parse(text.ptr + 2, &first), 0);
	seal_session_key(&first, 0, &again);
	assert_true(hash_equal(&key, &again));
	end(&f, "one", number);
	begin(&f, "two", &number, &key);
	assert_int_equal(number, 1);
	seal_session_key(&first, 1, &again);
	assert_true(hash_equal(&key, &again));
	assert_int_equal(count(&f, "begin"), 2);
	assert_int_equal(count(&f, "end"), 1);
	folder_end(&f);
}

/* Nothing in the folder leads back to a key that was used. */
static void test_key_is_gone(void **state)
{
	struct folder f = folder_new();
	uint64_t number = 0;
	struct hash key, now, derived;

	(void)state;
	begin(&f, "one", &number, &key);
	assert_int_equal(unlinkat(f.dir, "verification", 0), 0);
	_cleanup_buf_ struct buf text = BUF_INIT(256);

	assert_int_equal(fd_read_file_at(f.dir, "seal", &text), 0);
	assert_int_equal(hash_parse(text.ptr + 2, &now), 0);
	for (uint64_t n = 0; n < 20; n++) {
		seal_session_key(&now, n, &derived);
		assert_false(hash_equal(&derived, &key));
	}
	folder_end(&f);
}

static void test_many_at_once(void **state)
{
	enum { WRITERS = 6, EACH = 10 };
	struct folder f = folder_new();
	pid_t pids[WRITERS];

	(void)state;
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			for (int n = 0; n < EACH; n++) {
				uint64_t number = 0;
				struct hash key;
				char name[32];

				(void)snprintf(name, sizeof(name), "s%d-%d", i, n);
				begin(&f, name, &number, &key);
				end(&f, name, number);
			}
			_exit(0);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status = -1;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count(&f, "begin"), WRITERS * EACH);
	assert_int_equal(count(&f, "end"), WRITERS * EACH);
	folder_end(&f);
}

/* Torn at every length: what was whole stays, the next session begins, and the cut is entered. */
static void test_torn(void **state)
{
	struct folder f = folder_new();
	_cleanup_buf_ struct buf bytes = BUF_INIT(1 << 20);
	uint64_t number = 0;
	struct hash key;

	(void)state;
	begin(&f, "one", &number, &key);
	begin(&f, "two", &number, &key);
	assert_int_equal(fd_read_file_at(f.dir, "ledger", &bytes), 0);
	for (size_t len = 0; len <= bytes.len; len++) {
		_cleanup_fd_ int fd =
			openat(f.dir, "ledger", O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
		size_t whole = 0;

		assert_int_equal(fd_write_all(fd, bytes.ptr, len), 0);
		for (size_t i = 0; i < len; i++)
			whole += bytes.ptr[i] == '\n';
		begin(&f, "next", &number, &key);
		bool cut = len > 0 && bytes.ptr[len - 1] != '\n';

		assert_int_equal(count(&f, "begin"), (int)whole + 1);
		assert_int_equal(count(&f, "cut"), cut ? 1 : 0);
	}
	folder_end(&f);
}

/* Zeros stand where the disk got only a later page of an entry: torn, and not changed. */
static void test_zeros(void **state)
{
	struct folder f = folder_new();
	_cleanup_buf_ struct buf bytes = BUF_INIT(1 << 20);
	uint64_t number = 0;
	struct hash key;

	(void)state;
	begin(&f, "one", &number, &key);
	begin(&f, "two", &number, &key);
	assert_int_equal(fd_read_file_at(f.dir, "ledger", &bytes), 0);
	size_t second = (size_t)((char *)memchr(bytes.ptr, '\n', bytes.len) - bytes.ptr) + 1;

	for (size_t zeros = 1; second + zeros <= bytes.len; zeros++) {
		_cleanup_fd_ int fd =
			openat(f.dir, "ledger", O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);

		bytes.ptr[second + zeros - 1] = '\0';
		assert_int_equal(fd_write_all(fd, bytes.ptr, bytes.len), 0);
		begin(&f, "next", &number, &key);
		assert_int_equal(count(&f, "begin"), 2);
		assert_int_equal(count(&f, "cut"), 1);
	}
	folder_end(&f);
}

/* Changed, it is not written on: a chain over something else would hide that. */
static void test_changed(void **state)
{
	struct folder f = folder_new();
	struct error e = ERROR_INIT;
	_cleanup_buf_ struct buf bytes = BUF_INIT(1 << 20);
	uint64_t number = 0;
	struct hash key;

	(void)state;
	begin(&f, "one", &number, &key);
	assert_int_equal(fd_read_file_at(f.dir, "ledger", &bytes), 0);
	bytes.ptr[bytes.len / 2] ^= 1;
	_cleanup_fd_ int fd = openat(f.dir, "ledger", O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);

	assert_int_equal(fd_write_all(fd, bytes.ptr, bytes.len), 0);
	_cleanup_fd_ int ledger = ledger_open(f.dir, &e);

	assert_int_equal(ledger_begin(f.dir, ledger, "two", &number, &key, &e), -EBADMSG);
	assert_int_equal(count(&f, "begin"), -1);
	folder_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions),     cmocka_unit_test(test_key_is_gone),
		cmocka_unit_test(test_many_at_once), cmocka_unit_test(test_torn),
		cmocka_unit_test(test_zeros),        cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
