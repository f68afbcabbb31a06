/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of folders: by which folder it is, whatever its path; closed where nobody can
 * tell. */
#include "cmocka_lead.h"

#include "folder_notes.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
	char root[64], state[80];
};

/* The last few paths stay. */
static const char *at(const struct world *w, const char *name)
{
	static char paths[8][PATH_MAX];
	static size_t used;
	char *path = paths[used++ % BAWN_ARRAY_SIZE(paths)];

	(void)snprintf(path, PATH_MAX, "%s/%s", w->root, name);
	return path;
}

static void folder(struct world *w, const char *name)
{
	assert_int_equal(mkdir(at(w, name), 0700), 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	(void)snprintf(w->root, sizeof(w->root), "/tmp/folder-notes-XXXXXX");
	assert_non_null(mkdtemp(w->root));
	(void)snprintf(w->state, sizeof(w->state), "%s/state", w->root);
	folder(w, "state");
	folder(w, "code");
	folder(w, "code/a");
	folder(w, "code/a/.git");
	folder(w, "code/a/sub");
	*state = w;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

static int teardown(void **state)
{
	struct world *w = *state;

	(void)chmod(at(w, "state/folders"), 0700);
	(void)nftw(w->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(w);
	return 0;
}

static void written(struct world *w, const char *name, bool git)
{
	struct error e = ERROR_INIT;

	assert_int_equal(folder_note_written(w->state, at(w, name), git, &e), 0);
}

static bool is_users(struct world *w, const char *name)
{
	return folder_is_users(w->state, at(w, name));
}

/* Nothing is made by who only asks. */
static void test_nothing_known(void **state)
{
	struct world *w = *state;

	assert_true(is_users(w, "code/a"));
	assert_int_equal(folder_notes(w->state, at(w, "code/a")), 0);
	assert_int_equal(access(at(w, "state/folders"), F_OK), -1);
}

static void test_there_before(void **state)
{
	struct world *w = *state;

	written(w, "code/a", true);
	assert_int_equal(folder_notes(w->state, at(w, "code/a")), FOLDER_WRITTEN);
	assert_true(is_users(w, "code/a"));
	/* Another one in its place is not that. */
	assert_int_equal(rename(at(w, "code/a/.git"), at(w, "code/a/was")), 0);
	folder(w, "code/a/.git");
	assert_false(is_users(w, "code/a"));
	written(w, "code/a", true);
	assert_false(is_users(w, "code/a"));
}

static void test_came_later(void **state)
{
	struct world *w = *state;

	written(w, "code", false);
	folder(w, "code/.git");
	assert_false(is_users(w, "code"));
	/* Who could write around it could have made it. */
	assert_false(is_users(w, "code/a"));
	written(w, "code/a", true);
	assert_false(is_users(w, "code/a"));
}

/* What is called .git and is none yet is nobody's repository. */
static void test_none_yet(void **state)
{
	struct world *w = *state;

	written(w, "code/a", false);
	assert_false(is_users(w, "code/a"));
}

static void test_moved(void **state)
{
	struct world *w = *state;

	written(w, "code/a", true);
	assert_int_equal(rename(at(w, "code/a"), at(w, "code/b")), 0);
	assert_true(is_users(w, "code/b"));
	/* From here on a session can have moved it. */
	written(w, "code", false);
	assert_false(is_users(w, "code/b"));
	assert_int_equal(rename(at(w, "code/b"), at(w, "code/a")), 0);
	assert_true(is_users(w, "code/a"));
	/* Its .git, moved up, is not the other folder's. */
	assert_int_equal(rename(at(w, "code/a/.git"), at(w, "code/.git")), 0);
	assert_false(is_users(w, "code"));
}

static void test_taken(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	const char *sub = at(w, "code/a/sub");

	written(w, "code", false);
	assert_int_equal(folder_note_add(w->state, sub, FOLDER_OWN | FOLDER_ALONE, &e), 0);
	assert_int_equal(folder_notes(w->state, sub), FOLDER_OWN | FOLDER_ALONE);
	assert_int_equal(folder_notes_around(w->state, sub), FOLDER_WRITTEN);
	assert_int_equal(folder_note_taken(w->state, at(w, "code/a"), sub, &e), 0);
	assert_int_equal(folder_notes(w->state, sub), FOLDER_TAKEN);
	assert_true(is_users(w, "code/a"));
}

/* What cannot be read is not taken for nothing. */
static void test_unreadable(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	written(w, "code/a", true);
	assert_int_equal(rename(at(w, "state/folders"), at(w, "state/was")), 0);
	int fd = open(at(w, "state/folders"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
	assert_false(is_users(w, "code/a"));
	assert_true(folder_notes(w->state, at(w, "code/a")) & FOLDER_OWN);
	assert_true(folder_note_written(w->state, at(w, "code/a/sub"), false, &e) < 0);
	assert_true(e.text[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_there_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_came_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none_yet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
