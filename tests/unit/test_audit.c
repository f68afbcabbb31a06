/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads the ledger while others write it calls nothing wrong that is not. */
#include "cmocka_lead.h"

#include "audit.h"
#include "fd.h"
#include "ledger.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char session_name[] = "20261116-080000-calm-otter";

struct folder {
	char path[64];
	int dir;
};

static struct folder folder_new(void)
{
	struct folder f = {.path = "/tmp/bawn-audit-XXXXXX"};

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
	(void)unlinkat(f->dir, session_name, AT_REMOVEDIR);
	(void)close(f->dir);
	assert_int_equal(rmdir(f->path), 0);
}

static uint64_t begin(const struct folder *f, const char *name)
{
	struct error e = ERROR_INIT;
	_cleanup_fd_ int ledger = ledger_open(f->dir, &e);
	struct hash key;
	uint64_t number;

	assert_true(ledger >= 0);
	assert_int_equal(ledger_begin(f->dir, ledger, name, &number, &key, &e), 0);
	return number;
}

/* The first session of all has its folder before there is a ledger. */
static void test_no_ledger_yet(void **state)
{
	struct folder f = folder_new();
	_cleanup_audit_ struct audit a = {.count = 0};
	_cleanup_audit_ struct audit gone = {.count = 0};
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(audit_ledger(f.dir, NULL, &a, &e), 0);
	assert_string_equal(a.why, "");
	begin(&f, session_name);
	assert_int_equal(unlinkat(f.dir, "ledger", 0), 0);
	assert_int_equal(audit_ledger(f.dir, NULL, &gone, &e), 0);
	assert_string_equal(gone.why, "the ledger is gone");
	folder_end(&f);
}

/* It was listed, and is removed before it is looked at. */
static void test_removed_meanwhile(void **state)
{
	struct folder f = folder_new();
	_cleanup_audit_ struct audit a = {.count = 0};
	struct store store = {.dir = f.dir};
	struct store_session session;
	struct audit_finding found;
	struct error e = ERROR_INIT;
	uint64_t number = begin(&f, session_name);

	(void)state;
	assert_true(store_parse_folder(session_name, &session));
	assert_int_equal(mkdirat(f.dir, session_name, 0700), 0);
	assert_int_equal(audit_ledger(f.dir, NULL, &a, &e), 0);
	_cleanup_fd_ int ledger = ledger_open(f.dir, &e);
	const struct ledger_removed removed = {
		.session = session_name, .number = number, .reason = "age"};

	assert_int_equal(ledger_enter_removed(ledger, &removed, &e), 0);
	assert_int_equal(unlinkat(f.dir, session_name, AT_REMOVEDIR), 0);
	assert_int_equal(audit_check(&a, &store, &session, NULL, 0, &found, &e), 0);
	assert_int_equal(found.state, AUDIT_REMOVED);
	folder_end(&f);
}

/* It begins after the ledger was read, and is over before it is looked at. */
static void test_begun_meanwhile(void **state)
{
	struct folder f = folder_new();
	_cleanup_audit_ struct audit a = {.count = 0};
	struct store store = {.dir = f.dir};
	struct store_session session;
	struct audit_finding found;
	struct error e = ERROR_INIT;

	(void)state;
	begin(&f, "20261116-070000-odd-heron");
	assert_true(store_parse_folder(session_name, &session));
	assert_int_equal(audit_ledger(f.dir, NULL, &a, &e), 0);
	assert_int_equal(mkdirat(f.dir, session_name, 0700), 0);
	begin(&f, session_name);
	assert_int_equal(audit_check(&a, &store, &session, NULL, 0, &found, &e), 0);
	assert_non_null(audit_find(&a, session_name));
	assert_string_equal(found.why, "");
	folder_end(&f);
}

static void test_others_write(void **state)
{
	struct folder f = folder_new();
	struct error e = ERROR_INIT;

	(void)state;
	begin(&f, session_name);
	pid_t child = fork();

	if (child == 0)
		for (;;)
			begin(&f, session_name);
	assert_true(child > 0);
	for (int i = 0; i < 2000; i++) {
		_cleanup_audit_ struct audit a = {.count = 0};

		assert_int_equal(audit_ledger(f.dir, NULL, &a, &e), 0);
		if (a.why[0])
			(void)kill(child, SIGKILL);
		assert_string_equal(a.why, "");
		if (a.count > 500)
			break;
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	folder_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_ledger_yet),
		cmocka_unit_test(test_removed_meanwhile),
		cmocka_unit_test(test_begun_meanwhile),
		cmocka_unit_test(test_others_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
