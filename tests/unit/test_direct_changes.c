/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a direct session changed: every path that is another one now, once, and none that is as it
 * was.  What is not listed here is what nobody looks at.
 */
#include "cmocka_lead.h"

#include "review_lead.h"

#include "direct_changes.h"
#include "str.h"

#include <errno.h>

struct world {
	struct review_lead lead;
	struct view view;
	struct changes changes;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	review_lead_open(&w->lead);
	w->view = VIEW_INIT;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	changes_fini(&w->changes);
	view_close(&w->view);
	review_lead_close(&w->lead);
	free(w);
	return 0;
}

static int tree(const struct world *w)
{
	return w->lead.lead.tree;
}

/* All of them, a line for each. */
static void expect(struct world *w, const char *const *lines)
{
	_cleanup_buf_ struct buf said = BUF_INIT(1 << 16), want = BUF_INIT(1 << 16);
	struct error e = ERROR_INIT;

	if (direct_changes_read(&w->lead.review, &w->view, &w->changes, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < w->changes.count; i++)
		buf_putf(&said, "%s %s\n", change_kind_words[w->changes.items[i].kind],
			 w->changes.items[i].path);
	for (; *lines; lines++)
		buf_putf(&want, "%s\n", *lines);
	assert_string_equal(buf_str(&said), buf_str(&want));
}

static void every_kind_is_listed_once(void **state)
{
	struct world *w = *state;

	put_at(tree(w), "changed", "old\n");
	put_at(tree(w), "gone", "old\n");
	put_at(tree(w), "same", "old\n");
	put_at(tree(w), "size", "old\n");
	put_at(tree(w), "mode", "old\n");
	put_at(tree(w), "now-dir", "old\n");
	assert_int_equal(mkdirat(tree(w), "dir", 0755), 0);
	assert_int_equal(mkdirat(tree(w), "now-file", 0755), 0);
	static const char *const paths[] = {"changed", "gone",     "same",  "size",     "mode",
					    "now-dir", "dir",      "added", "made",     "never",
					    "changed", "now-file", "dir/x", "made/in/x"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		lead_keep(&w->lead.lead, paths[i]);
	put_at(tree(w), "changed", "new\n");
	put_at(tree(w), "same", "old\n");
	put_at(tree(w), "size", "longer\n");
	assert_int_equal(unlinkat(tree(w), "gone", 0), 0);
	assert_int_equal(fchmodat(tree(w), "mode", 0755, 0), 0);
	assert_int_equal(unlinkat(tree(w), "now-dir", 0), 0);
	file_at(tree(w), "now-dir/in/x", "x\n");
	assert_int_equal(unlinkat(tree(w), "now-file", AT_REMOVEDIR), 0);
	put_at(tree(w), "now-file", "x\n");
	put_at(tree(w), "added", "x\n");
	put_at(tree(w), "dir/x", "x\n");
	file_at(tree(w), "made/in/x", "x\n");
	file_at(tree(w), "made/in/y", "y\n");
	put_at(tree(w), "users", "not the session's\n");
	static const char *const lines[] = {
		"added added",      "changed changed",  "added dir/x",
		"deleted gone",     "added made",       "added made/in",
		"added made/in/x",  "added made/in/y",  "mode mode",
		"changed now-dir",  "added now-dir/in", "added now-dir/in/x",
		"changed now-file", "changed size",     NULL};

	expect(w, lines);
	assert_false(w->changes.unread);
}

/* Of folders modes do not matter, but for one that hides what is in it. */
static void a_folder_that_hides_is_listed(void **state)
{
	static const char *const lines[] = {"changed hides", NULL};
	static const char *const names[] = {"hides", "shows", "hid"};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		assert_int_equal(mkdirat(tree(w), names[i], i == 2 ? 0300 : 0755), 0);
		lead_keep(&w->lead.lead, names[i]);
	}
	assert_int_equal(fchmodat(tree(w), "hides", 0300, 0), 0);
	assert_int_equal(fchmodat(tree(w), "hid", 0100, 0), 0);
	assert_int_equal(fchmodat(tree(w), "shows", 0700, 0), 0);
	expect(w, lines);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		assert_int_equal(fchmodat(tree(w), names[i], 0755, 0), 0);
}

/* What went along with its folder is listed at both places, though no entry has these names. */
static void what_was_moved_is_listed_at_both_places(void **state)
{
	static const char *const lines[] = {
		"deleted from",   "deleted from/in", "deleted from/in/x",
		"deleted from/y", "added to",        "added to/in",
		"added to/in/x",  "added to/y",      NULL};
	struct world *w = *state;

	file_at(tree(w), "from/in/x", "x\n");
	file_at(tree(w), "from/y", "y\n");
	lead_keep(&w->lead.lead, "to");
	lead_move(&w->lead.lead, "from", "to", false);
	expect(w, lines);
}

/* Another folder stands where one stood: it came with what is in it, which is listed. */
static void another_folder_is_listed_with_what_is_in_it(void **state)
{
	static const char *const lines[] = {"added place/in", "added place/in/y", NULL};
	struct world *w = *state;

	file_at(tree(w), "place/x", "x\n");
	file_at(tree(w), "same/x", "x\n");
	file_at(tree(w), "other/in/y", "y\n");
	lead_keep(&w->lead.lead, "place");
	lead_keep(&w->lead.lead, "same");
	assert_int_equal(renameat(tree(w), "place", tree(w), "aside"), 0);
	assert_int_equal(renameat(tree(w), "other", tree(w), "place"), 0);
	expect(w, lines);
}

/* Deeper than one walk goes, with an entry for each folder, as a session makes them. */
static void deep_folders_are_listed_whole(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	char path[512] = "d";

	for (int i = 0; i < 150; i++) {
		lead_keep(&w->lead.lead, path);
		assert_int_equal(mkdirat(tree(w), path, 0755), 0);
		(void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
	}
	assert_int_equal(direct_changes_read(&w->lead.review, &w->view, &w->changes, &e), 0);
	assert_int_equal(w->changes.count, 150);
}

/* What your own commands would run later is said. */
static void what_runs_later_is_held(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	lead_keep(&w->lead.lead, ".vscode");
	lead_keep(&w->lead.lead, "plain");
	put_at(tree(w), "plain", "x\n");
	file_at(tree(w), ".vscode/tasks.json",
		"{\"tasks\": [{\"command\": \"x\", \"runOptions\": {\"runOn\": "
		"\"folderOpen\"}}]}\n");
	assert_int_equal(direct_changes_read(&w->lead.review, &w->view, &w->changes, &e), 0);
	const struct change *held = changes_find(&w->changes, ".vscode/tasks.json");
	const struct change *plain = changes_find(&w->changes, "plain");

	assert_true(held && held->group == CHANGE_HELD);
	assert_true(plain && plain->group == CHANGE_ORDINARY);
}

/* Whether there is one is the status, however it is shown. */
static void the_status_says_whether_something_is_held(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	_cleanup_fd_ int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	_cleanup_fd_ int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	static const unsigned int ways[] = {0, DIRECT_SHOW_HELD, DIRECT_SHOW_JSON,
					    DIRECT_SHOW_COUNT};
	int said[BAWN_ARRAY_SIZE(ways)], held[BAWN_ARRAY_SIZE(ways)];

	lead_keep(&w->lead.lead, "plain");
	lead_keep(&w->lead.lead, ".vscode");
	put_at(tree(w), "plain", "x\n");
	assert_int_equal(fflush(stdout), 0);
	assert_true(dup2(nowhere, STDOUT_FILENO) >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ways); i++)
		said[i] = direct_changes_show(&w->lead.review, ways[i], &e);
	file_at(tree(w), ".vscode/tasks.json",
		"{\"tasks\": [{\"command\": \"x\", \"runOptions\": {\"runOn\": "
		"\"folderOpen\"}}]}\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ways); i++)
		held[i] = direct_changes_show(&w->lead.review, ways[i], &e);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ways); i++) {
		assert_int_equal(said[i], EXIT_OK);
		assert_int_equal(held[i], EXIT_FOUND);
	}
}

static void nothing_was_kept(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	(void)snprintf(w->lead.review.session.name, sizeof(w->lead.review.session.name), "other");
	assert_int_equal(direct_changes_read(&w->lead.review, &w->view, &w->changes, &e), -ENOENT);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(every_kind_is_listed_once),
		ONE(a_folder_that_hides_is_listed),
		ONE(what_was_moved_is_listed_at_both_places),
		ONE(another_folder_is_listed_with_what_is_in_it),
		ONE(deep_folders_are_listed_whole),
		ONE(what_runs_later_is_held),
		ONE(the_status_says_whether_something_is_held),
		ONE(nothing_was_kept),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
