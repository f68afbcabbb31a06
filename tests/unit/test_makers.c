/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about who made the files of a folder: nothing is said that was not counted. */
#include "cmocka_lead.h"

#include "fd.h"
#include "who_made.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct span text(const char *s)
{
	return span_of_str(s);
}

static void test_most(void **state)
{
	struct makers *m = makers_new();
	bool others = true;

	(void)state;
	makers_add(m, text("node_modules"), text("npm"), 5);
	assert_string_equal(makers_most(m, text("node_modules"), 5, &others), "npm");
	assert_false(others);
	makers_add(m, text("node_modules"), text("sh"), 2);
	assert_string_equal(makers_most(m, text("node_modules"), 7, &others), "npm");
	assert_true(others);
	makers_add(m, text("node_modules"), text("cp"), 9);
	assert_string_equal(makers_most(m, text("node_modules"), 16, &others), "cp");
	assert_null(makers_most(m, text("node"), 1, &others));
	assert_null(makers_most(NULL, text("node_modules"), 1, &others));
	makers_free(m);
}

/* A folder that was moved there whole was counted once. */
static void test_too_few(void **state)
{
	struct makers *m = makers_new();
	bool others = false;

	(void)state;
	makers_add(m, text("target"), text("mv"), 1);
	assert_null(makers_most(m, text("target"), 600, &others));
	makers_add(m, text("target"), text("rustc"), 400);
	assert_string_equal(makers_most(m, text("target"), 600, &others), "rustc");
	assert_true(others);
	/* Nor where programs that are not told apart may have made more. */
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%d", i);
		makers_add(m, text("target"), text(name), 30);
	}
	assert_null(makers_most(m, text("target"), 1001, &others));
	makers_free(m);
}

/* What is written is what is read, and a name that would be two fields is none. */
static void test_note(void **state)
{
	struct makers *m = makers_new(), *again = makers_new();
	_cleanup_buf_ struct buf lines = BUF_INIT(MAKERS_BYTES_MAX);
	bool others = true;

	(void)state;
	makers_add(m, text("a b/\xff"), text("n\xc3\xa4m"), 3);
	makers_add(m, text("x"), text("two\twords"), 3);
	makers_add(m, text("x\n9\tevil\ty"), text("npm"), 3);
	makers_add(m, text(""), text("npm"), 3);
	makers_put(m, &lines);
	makers_take(again, buf_span(&lines));
	assert_string_equal(makers_most(again, text("a b/\xff"), 3, &others), "n\xc3\xa4m");
	assert_false(others);
	assert_null(makers_most(again, text("x"), 3, &others));
	assert_null(makers_most(again, text("y"), 3, &others));
	makers_take(again,
		    text("9\tnpm\tq\nx\tnpm\tr\n7\tnpm\n\t\t\n99999999999999999999999\tz\tz"));
	assert_string_equal(makers_most(again, text("q"), 9, &others), "npm");
	assert_null(makers_most(again, text("r"), 1, &others));
	makers_free(m);
	makers_free(again);
}

/* So many folders and no more; those that are known go on to be counted. */
static void test_bounds(void **state)
{
	struct makers *m = makers_new();
	bool others = true;
	char name[32];

	(void)state;
	for (int i = 0; i < 2 * MAKERS_FOLDERS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		makers_add(m, text(name), text("sh"), 1);
	}
	assert_non_null(makers_most(m, text("f0"), 1, &others));
	assert_null(makers_most(m, text(name), 1, &others));
	makers_add(m, text("f0"), text("sh"), 8);
	assert_string_equal(makers_most(m, text("f0"), 16, &others), "sh");
	makers_free(m);
}

/* --- by executions --------------------------------------------------------------------------- */

struct who_folder {
	char path[64];
	int fd;
};

static int who_setup(void **state)
{
	struct who_folder *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->path, sizeof(f->path), "/tmp/makers.XXXXXX");
	assert_non_null(mkdtemp(f->path));
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return f->fd < 0;
}

static int who_teardown(void **state)
{
	struct who_folder *f = *state;

	(void)unlinkat(f->fd, MAKERS_NOTE, 0);
	(void)close(f->fd);
	(void)rmdir(f->path);
	free(f);
	return 0;
}

static struct makers *who_read(const struct who_folder *f)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(MAKERS_BYTES_MAX);
	struct makers *m = makers_new();

	assert_int_equal(fd_read_file_at(f->fd, MAKERS_NOTE, &lines), 0);
	makers_take(m, buf_span(&lines));
	return m;
}

static void test_names(void **state)
{
	static const struct {
		const char *path, *argv, *name;
		size_t len;
	} rows[] = {
#define ROW(path, argv, name) {path, argv "\0", name, sizeof(argv)}
		ROW("/usr/bin/cargo", "cargo\0build", "cargo"),
		ROW("/usr/bin/node", "node\0/usr/bin/npm\0install", "npm"),
		ROW("/usr/bin/node", "node\0--inspect\0/usr/bin/npm", "node"),
		ROW("/usr/bin/python3.11", "python3\0-m\0venv\0.venv", "venv"),
		ROW("/w/.venv/bin/python3", "python3\0-Im\0ensurepip", "ensurepip"),
		ROW("/usr/bin/python3", "python3\0-I\0-u\0tools/gen.py", "gen.py"),
		ROW("/usr/bin/python3", "python3\0-c\0import x", "python3"),
		ROW("/usr/bin/python3", "python3\0-m", "python3"),
		ROW("/usr/bin/python3", "python3", "python3"),
		ROW("/bin/sh", "sh\0-c\0for i in 1 2", "sh"),
		ROW("/bin/sh", "sh\0./make.sh", "make.sh"),
		ROW("/usr/bin/node", "node\0", "node"),
#undef ROW
	};
	const struct who_folder *f = *state;
	struct who_made *w = who_made_new(f->fd, "/w");

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char path[32];
		int n = snprintf(path, sizeof(path), "/w/f%zu/x", i);

		who_made_name(w, i + 1, text(rows[i].path),
			      (struct span){(const uint8_t *)rows[i].argv, rows[i].len});
		who_made_add(w, i + 1, (struct span){(const uint8_t *)path, (size_t)n});
	}
	assert_int_equal(who_made_note(w), 0);
	struct makers *m = who_read(f);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char folder[32];
		bool others = false;

		(void)snprintf(folder, sizeof(folder), "f%zu", i);
		const char *most = makers_most(m, text(folder), 1, &others);

		assert_non_null(most);
		assert_string_equal(most, rows[i].name);
	}
	makers_free(m);
	who_made_free(w);
}

/* Which folders a file counts for. */
static void test_folders(void **state)
{
	const struct who_folder *f = *state;
	struct who_made *w = who_made_new(f->fd, "/w");
	bool others = false;

	who_made_name(w, 1, text("/usr/bin/npm"), text(""));
	who_made_add(w, 1, text("/w/a/b/c/d/node_modules/p/node_modules/q/x"));
	who_made_add(w, 1, text("/elsewhere/target/x"));
	who_made_add(w, 1, text("/w/.git/objects/x"));
	who_made_add(w, 1, text("/ww/target/x"));
	who_made_add(w, 1, text("/w"));
	/* Of an execution that nobody knows. */
	who_made_add(w, 7, text("/w/build/x"));
	assert_int_equal(who_made_note(w), 0);
	struct makers *m = who_read(f);

	static const char *const known[] = {"a", "a/b", "a/b/c", "a/b/c/d/node_modules"};
	static const char *const not_known[] = {
		"a/b/c/d",   "a/b/c/d/node_modules/p", "target", "w/target", ".git", "build",
		"elsewhere", "elsewhere/target"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(known); i++)
		assert_non_null(makers_most(m, text(known[i]), 1, &others));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(not_known); i++)
		assert_null(makers_most(m, text(not_known[i]), 1, &others));
	makers_free(m);
	who_made_free(w);
}

/* Runs of one session add up; one that was not seen to its end leaves nothing, and one beside which
 * something landed neither. */
static void test_runs(void **state)
{
	const struct who_folder *f = *state;
	bool others = false;

	for (int run = 0; run < 2; run++) {
		struct who_made *w = who_made_new(f->fd, "/w");

		who_made_name(w, 1, text(run ? "/bin/cp" : "/bin/tar"), text(""));
		who_made_add(w, 1, text("/w/out/x"));
		who_made_add(w, 1, text(run ? "/w/out/y" : "/w/out"));
		assert_int_equal(who_made_note(w), 0);
		who_made_free(w);
	}
	struct makers *m = who_read(f);

	assert_string_equal(makers_most(m, text("out"), 3, &others), "cp");
	assert_true(others);
	makers_free(m);

	struct who_made *w = who_made_new(f->fd, "/w");

	who_made_free(w);
	m = who_read(f);
	assert_null(makers_most(m, text("out"), 3, &others));
	makers_free(m);

	w = who_made_new(f->fd, "/w");
	who_made_name(w, 1, text("/bin/cp"), text(""));
	who_made_add(w, 1, text("/w/out/x"));
	assert_int_equal(unlinkat(f->fd, MAKERS_NOTE, 0), 0);
	assert_int_equal(who_made_note(w), 0);
	who_made_free(w);
	assert_int_equal(faccessat(f->fd, MAKERS_NOTE, F_OK, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_note),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test_setup_teardown(test_names, who_setup, who_teardown),
		cmocka_unit_test_setup_teardown(test_folders, who_setup, who_teardown),
		cmocka_unit_test_setup_teardown(test_runs, who_setup, who_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
