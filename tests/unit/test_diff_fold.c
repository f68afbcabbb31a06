/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn diff` does not give a line of its own: directories that are told by what is in them,
 * directories that moved as a whole, git's own files.  Whatever a hold is about keeps its line.
 */
#include "cmocka_lead.h"

#include "diff_parts.h"

#include "str.h"

#include <stdio.h>

enum { CHANGES = 24 };

struct world {
	struct change items[CHANGES];
	bool away[CHANGES];
	bool by_picks;
	struct review review;
	struct diff diff;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->diff.changes.items = w->items;
	w->diff.review = &w->review;
	w->diff.view = VIEW_INIT;
	w->diff.out = BUF_INIT(1 << 16);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	buf_fini(&w->diff.out);
	folding_fini(&w->diff.folding);
	new_commits_fini(&w->diff.commits);
	free(w);
	return 0;
}

/* In the order of their paths. */
static struct change *add(struct world *w, unsigned int kind, const char *path, bool folder)
{
	struct change *c = &w->items[w->diff.changes.count++];
	const struct object o = {.type = folder ? OBJECT_DIR : OBJECT_FILE, .mode = 0644};
	const struct object none = {.type = OBJECT_ABSENT};

	assert_true(w->diff.changes.count <= CHANGES);
	*c = (struct change){.path = path,
			     .kind = kind,
			     .before = kind == CHANGE_ADDED ? none : o,
			     .after = kind == CHANGE_DELETED ? none : o};
	return c;
}

static struct change *moved(struct world *w, const char *from, const char *to)
{
	struct change *c = add(w, CHANGE_RENAMED, to, false);

	c->from = from;
	return c;
}

static bool is_meant(const void *context, size_t i)
{
	const struct world *w = context;

	return !w->away[i];
}

static void fold(struct world *w)
{
	struct error e = ERROR_INIT;
	const struct folding_how how = {.changes = &w->diff.changes,
					.view = &w->diff.view,
					.meant = is_meant,
					.context = w};

	folding_fini(&w->diff.folding);
	new_commits_fini(&w->diff.commits);
	assert_int_equal(w->by_picks ? diff_fold(&w->diff, &e) : diff_fold_by(&w->diff, &how, &e),
			 0);
}

static void expect(const struct world *w, const char *path, enum diff_fate fate)
{
	for (size_t i = 0; i < w->diff.changes.count; i++)
		if (str_equal(w->items[i].path, path)) {
			if (w->diff.folding.fates[i] != fate)
				fail_msg("%s: %d, not %d", path, w->diff.folding.fates[i], fate);
			return;
		}
	fail_msg("no %s", path);
}

static void directories_are_told_by_what_is_in_them(void **state)
{
	struct world *w = *state;

	add(w, CHANGE_ADDED, "empty", true);
	add(w, CHANGE_DELETED, "gone", true);
	add(w, CHANGE_DELETED, "gone/x", false);
	add(w, CHANGE_ADDED, "made", true);
	add(w, CHANGE_ADDED, "made/in", true);
	add(w, CHANGE_ADDED, "made/in/x", false);
	add(w, CHANGE_MODE, "mode", true);
	add(w, CHANGE_ADDED, "mode/x", false);
	add(w, CHANGE_ADDED, "unsaid", true);
	add(w, CHANGE_ADDED, "unsaid/x", false);
	w->away[w->diff.changes.count - 1] = true;
	fold(w);
	expect(w, "empty", DIFF_SHOWN);
	expect(w, "gone", DIFF_SILENT);
	expect(w, "gone/x", DIFF_SHOWN);
	expect(w, "made", DIFF_SILENT);
	expect(w, "made/in", DIFF_SILENT);
	expect(w, "made/in/x", DIFF_SHOWN);
	/* That its mode is another one is not told by what is in it. */
	expect(w, "mode", DIFF_SHOWN);
	/* What is not picked tells nothing. */
	expect(w, "unsaid", DIFF_SHOWN);
}

/* A folder that the session made is not told by what went, nor the other way round. */
static void the_other_kind_tells_nothing(void **state)
{
	struct world *w = *state;

	add(w, CHANGE_ADDED, "made", true);
	add(w, CHANGE_DELETED, "made/x", false);
	add(w, CHANGE_DELETED, "went", true);
	add(w, CHANGE_ADDED, "went/x", false);
	fold(w);
	expect(w, "made", DIFF_SHOWN);
	expect(w, "went", DIFF_SHOWN);
}

/* --- moved as a whole ---------------------------------------------------------------------- */

static void put_move(struct world *w)
{
	add(w, CHANGE_DELETED, "new-not", true);
	add(w, CHANGE_DELETED, "old", true);
	add(w, CHANGE_DELETED, "old/in", true);
	add(w, CHANGE_ADDED, "to", true);
	add(w, CHANGE_ADDED, "to/in", true);
	moved(w, "old/in/x", "to/in/x");
	moved(w, "old/y", "to/y");
}

static void a_directory_that_moved_is_one_line(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_move(w);
	fold(w);
	expect(w, "to/in/x", DIFF_MOVED);
	expect(w, "to/y", DIFF_MOVED);
	expect(w, "old", DIFF_SILENT);
	expect(w, "to", DIFF_SILENT);
	expect(w, "new-not", DIFF_SHOWN);
	assert_int_equal(diff_put_moves(&w->diff, &e), 0);
	assert_string_equal(buf_str(&w->diff.out), "renamed  old/ -> to/ (2 files)\n");
}

/* Each of these is a file that the one line would not tell of. */
static void a_directory_that_moved_in_part_is_many_lines(void **state)
{
	enum { FLAGGED, HELD, MODE, WITHOUT, NEW, GONE, AWAY, FROM_ELSEWHERE, CASES };
	struct world *w = *state;

	for (int i = 0; i < CASES; i++) {
		w->diff.changes.count = 0;
		memset(w->away, 0, sizeof(w->away));
		if (i == GONE) {
			add(w, CHANGE_DELETED, "old", true);
			add(w, CHANGE_DELETED, "old/extra", false);
			add(w, CHANGE_DELETED, "old/in", true);
			add(w, CHANGE_ADDED, "to", true);
			add(w, CHANGE_ADDED, "to/in", true);
			moved(w, "old/in/x", "to/in/x");
			moved(w, "old/y", "to/y");
		} else {
			put_move(w);
		}
		struct change *last = &w->items[w->diff.changes.count - 1];

		if (i == FLAGGED || i == HELD)
			last->group = i == HELD ? CHANGE_HELD : CHANGE_FLAGGED;
		if (i == MODE)
			last->after.mode = 0755;
		if (i == WITHOUT)
			last->without = "a setuid bit";
		if (i == NEW)
			add(w, CHANGE_ADDED, "to/z", false);
		if (i == AWAY)
			w->away[w->diff.changes.count - 1] = true;
		if (i == FROM_ELSEWHERE)
			last->from = "els/y";
		fold(w);
		expect(w, "to/in/x", DIFF_SHOWN);
	}
}

/* --- git ------------------------------------------------------------------------------------ */

#define LOOSE ".git/objects/aa/11111111111111111111111111111111111111"

static void put_git(struct world *w)
{
	add(w, CHANGE_CHANGED, ".git/HEAD", false);
	add(w, CHANGE_CHANGED, ".git/config", false);
	add(w, CHANGE_ADDED, ".git/hooks/x", false);
	add(w, CHANGE_CHANGED, ".git/index", false);
	add(w, CHANGE_CHANGED, ".git/index.lock", false);
	add(w, CHANGE_CHANGED, ".git/logs/HEAD", false);
	add(w, CHANGE_ADDED, LOOSE, false);
	add(w, CHANGE_ADDED, ".git/objects/odd", false);
	add(w, CHANGE_CHANGED, ".git/refs/heads/main", false);
	add(w, CHANGE_CHANGED, ".git/refsx", false);
	add(w, CHANGE_CHANGED, "HEAD", false);
}

static void gits_own_files_are_a_group(void **state)
{
	static const char *const shown[] = {".git/config",      ".git/hooks/x", ".git/index.lock",
					    ".git/objects/odd", ".git/refsx",   "HEAD"};
	static const char *const told[] = {".git/HEAD", ".git/index", ".git/logs/HEAD", LOOSE,
					   ".git/refs/heads/main"};
	struct world *w = *state;

	put_git(w);
	fold(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shown); i++)
		expect(w, shown[i], DIFF_SHOWN);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(told); i++)
		expect(w, told[i], DIFF_GIT);
}

/* Whatever a hold is about keeps its own line. */
static void what_is_held_is_not_folded(void **state)
{
	struct world *w = *state;

	put_git(w);
	for (size_t i = 0; i < w->diff.changes.count; i++)
		w->items[i].group = i % 2 ? CHANGE_HELD : CHANGE_FLAGGED;
	fold(w);
	for (size_t i = 0; i < w->diff.changes.count; i++)
		assert_int_equal(w->diff.folding.fates[i], DIFF_SHOWN);
	/* But what goes with another one is told by that, unless the session moved it there. */
	w->items[0].with = ".git/refs/heads/main";
	w->items[1].with = ".git/refs/heads/main";
	w->items[1].moved = true;
	fold(w);
	assert_int_equal(w->diff.folding.fates[0], DIFF_SILENT);
	assert_int_equal(w->diff.folding.fates[1], DIFF_SHOWN);
}

/* Parts of one thing that is held are one line, which says what they wait for; but what was elsewhere
 * before, or was the user's in what was no such thing, has its own. */
static void parts_of_one_thing_are_told_together(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf lines = BUF_INIT(1 << 16);
	struct tally t = {.files = 0};

	add(w, CHANGE_CHANGED, "app/bin/mine", false);
	add(w, CHANGE_ADDED, "app/bin/python3", false);
	add(w, CHANGE_ADDED, "app/lib/x", false);
	moved(w, "src/y", "app/lib/y");
	for (size_t i = 0; i < w->diff.changes.count; i++) {
		w->items[i].group = CHANGE_HELD;
		w->items[i].part = true;
		w->items[i].whole = strlen("app");
		w->items[i].with = "app/pyvenv.cfg";
	}
	add(w, CHANGE_ADDED, "app/pyvenv.cfg", false)->group = CHANGE_HELD;
	fold(w);
	expect(w, "app/bin/mine", DIFF_SHOWN);
	expect(w, "app/bin/python3", DIFF_HEAP);
	expect(w, "app/lib/x", DIFF_HEAP);
	expect(w, "app/lib/y", DIFF_SHOWN);
	expect(w, "app/pyvenv.cfg", DIFF_SHOWN);
	assert_int_equal(heaps_put(&lines, &w->diff.folding, ""), 0);
	assert_int_equal(heaps_put_waiting(&lines, &w->diff.folding, "", NULL), 1);
	assert_string_equal(buf_str(&lines),
			    "added    app/ (2 files, 0 bytes; with app/pyvenv.cfg)\n");
	tally_add(&t, &w->diff.folding, &w->diff.changes);
	assert_int_equal(t.files + t.heaped, 5);
	assert_int_equal(t.waiting, 2);
}

/* A file that the session puts at the top of a folder of the user's folds nothing in it. */
static void a_mark_of_the_sessions_folds_nothing(void **state)
{
	static const char *const names[] = {"vendor/m/1", "vendor/m/2", "vendor/m/3", "vendor/m/4",
					    "vendor/m/5"};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		add(w, CHANGE_CHANGED, names[i], false);
	add(w, CHANGE_ADDED, "vendor/modules.txt", false);
	fold(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		expect(w, names[i], DIFF_SHOWN);
}

/* What is moved into a heap is gone from where it was: it has its own line. */
static void what_is_moved_into_a_heap_is_shown(void **state)
{
	static const char *const names[] = {"node_modules/a/1", "node_modules/a/2",
					    "node_modules/a/3", "node_modules/a/4"};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		add(w, CHANGE_ADDED, names[i], false);
	moved(w, "node_modules/old", "node_modules/a/5");
	moved(w, "src/mine", "node_modules/a/6");
	fold(w);
	expect(w, names[0], DIFF_HEAP);
	expect(w, "node_modules/a/5", DIFF_HEAP);
	expect(w, "node_modules/a/6", DIFF_SHOWN);
}

/* Who names them sees them. */
static void gits_files_that_are_asked_for_are_shown(void **state)
{
	struct pathspec spec = {.typed = ".git", .path = ".git"};
	struct world *w = *state;

	put_git(w);
	w->diff.picks = (struct picks){.specs = &spec, .count = 1};
	w->by_picks = true;
	fold(w);
	for (size_t i = 0; i < w->diff.changes.count; i++)
		expect(w, w->items[i].path,
		       str_after(w->items[i].path, ".git/") ? DIFF_SHOWN : DIFF_AWAY);
	spec.typed = spec.path = "";
	fold(w);
	expect(w, ".git/HEAD", DIFF_GIT);
}

/* A line for each repository, with what went of objects. */
static void each_repository_is_told_apart(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	add(w, CHANGE_CHANGED, ".git/index", false);
	add(w, CHANGE_CHANGED, ".git/logs/HEAD", false);
	add(w, CHANGE_CHANGED, ".git/modules/m/index", false);
	add(w, CHANGE_ADDED, LOOSE, false);
	add(w, CHANGE_DELETED, ".git/objects/aa/22222222222222222222222222222222222222", false);
	add(w, CHANGE_CHANGED, "sub/.git/logs/a", false);
	add(w, CHANGE_CHANGED, "sub/.git/logs/b", false);
	/* It has its own line. */
	add(w, CHANGE_CHANGED, "sub/.git/logs/c", false)->group = CHANGE_HELD;
	fold(w);
	assert_int_equal(diff_put_git(&w->diff, &e), 0);
	assert_string_equal(buf_str(&w->diff.out),
			    "git      .git: 2 objects (1 deleted), index, 1 log\n"
			    "git      .git/modules/m: index\n"
			    "git      sub/.git: 2 logs\n");
}

/* --- heaps ------------------------------------------------------------------------------------ */

enum { HEAPED = 8 };

static void put_heap(struct world *w, const char *folder)
{
	static char paths[HEAPED][64];

	add(w, CHANGE_ADDED, folder, true);
	for (int i = 0; i < HEAPED; i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "%s/%d", folder, i);
		add(w, CHANGE_ADDED, paths[i], false);
	}
}

/* One line, with the files of the user's beside it; what is held keeps its own. */
static void a_package_managers_tree_is_one_line(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf words = BUF_INIT(256);
	struct tally t = {.files = 0};

	add(w, CHANGE_CHANGED, "a.js", false);
	put_heap(w, "node_modules");
	w->items[3].group = CHANGE_FLAGGED;
	w->items[4].group = CHANGE_HELD;
	fold(w);
	expect(w, "a.js", DIFF_SHOWN);
	expect(w, "node_modules", DIFF_SILENT);
	expect(w, "node_modules/0", DIFF_HEAP);
	expect(w, "node_modules/1", DIFF_HEAP);
	expect(w, "node_modules/2", DIFF_SHOWN);
	tally_add(&t, &w->diff.folding, &w->diff.changes);
	tally_put(&words, &t);
	assert_string_equal(buf_str(&words), "2 files, and 7 files in node_modules/");
}

/* Many of one name are one line. */
static void heaps_of_one_name_are_one_line(void **state)
{
	static char paths[4][4][64], folders[4][64];
	struct world *w = *state;
	_cleanup_buf_ struct buf lines = BUF_INIT(1024);

	for (int f = 0; f < 4; f++) {
		(void)snprintf(folders[f], sizeof(folders[f]), "p%d/__pycache__", f);
		add(w, CHANGE_ADDED, folders[f], true);
		for (int i = 0; i < 4; i++) {
			(void)snprintf(paths[f][i], sizeof(paths[f][i]), "%s/%d", folders[f], i);
			add(w, CHANGE_ADDED, paths[f][i], false);
		}
	}
	fold(w);
	assert_int_equal(heaps_put(&lines, &w->diff.folding, ""), 4);
	assert_string_equal(buf_str(&lines),
			    "added    __pycache__/ in 4 folders (16 files, 0 bytes)\n");
}

/* A name that a person may give is no heap by itself. */
static void a_small_folder_that_was_made_is_shown(void **state)
{
	struct world *w = *state;

	put_heap(w, "build");
	fold(w);
	expect(w, "build/0", DIFF_SHOWN);
	for (int i = 1; i <= HEAPED; i++)
		w->items[i].ignored = strlen("build");
	fold(w);
	expect(w, "build/0", DIFF_HEAP);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(directories_are_told_by_what_is_in_them),
		ONE(the_other_kind_tells_nothing),
		ONE(a_directory_that_moved_is_one_line),
		ONE(a_directory_that_moved_in_part_is_many_lines),
		ONE(gits_own_files_are_a_group),
		ONE(what_is_held_is_not_folded),
		ONE(parts_of_one_thing_are_told_together),
		ONE(a_mark_of_the_sessions_folds_nothing),
		ONE(what_is_moved_into_a_heap_is_shown),
		ONE(gits_files_that_are_asked_for_are_shown),
		ONE(each_repository_is_told_apart),
		ONE(a_package_managers_tree_is_one_line),
		ONE(heaps_of_one_name_are_one_line),
		ONE(a_small_folder_that_was_made_is_shown),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
