/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what is held: a tree, a layer upon it, and what is judged of it. */
#ifndef BAWN_HOLD_LEAD_H
#define BAWN_HOLD_LEAD_H

#include "fd.h"
#include "hold.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree before and a layer upon it, in a folder of its own. */
struct world {
	char path[64];
	int dir, base, up;
	struct changes changes;
};

static int world_begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-hold.XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->dir = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->dir >= 0);
	assert_int_equal(mkdirat(w->dir, "base", 0700), 0);
	assert_int_equal(mkdirat(w->dir, "up", 0700), 0);
	w->base = openat(w->dir, "base", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->up = openat(w->dir, "up", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->base >= 0 && w->up >= 0);
	*state = w;
	return 0;
}

static int world_end(void **state)
{
	struct world *w = *state;

	changes_fini(&w->changes);
	(void)tree_remove(w->dir, "base");
	(void)tree_remove(w->dir, "up");
	(void)close(w->base);
	(void)close(w->up);
	(void)close(w->dir);
	(void)rmdir(w->path);
	free(w);
	return 0;
}

static void make_parents(int dir, const char *path)
{
	char part[256];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		(void)mkdirat(dir, part, 0700);
	}
}

static void put(int dir, const char *path, const char *text)
{
	make_parents(dir, path);
	_cleanup_fd_ int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

/* Judges what the layer changes; in at most so many ms, when it says how many. */
/* The time that the rules give by themselves; below 0 it was over before it began. */
enum { JUDGE_UNHURRIED = INT_MAX };

static void judge_within(struct world *w, const struct hold_tuning *t, int64_t ms)
{
	struct view v = {.base = w->base, .layers = {w->up}, .count = 1};
	const struct changes_how how = {.hash = true};
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	changes_fini(&w->changes);
	if (hold_rules_new(t, &r, &e) < 0 || changes_read(&v, &how, &w->changes, &e) < 0)
		fail_msg("%s", e.text);
	if (ms != JUDGE_UNHURRIED)
		hold_rules_within(r, ms);
	if (hold_judge(r, &v, &w->changes, &e) < 0)
		fail_msg("%s", e.text);
	hold_rules_free(&r);
}

BAWN_UNUSED static void judge(struct world *w, const struct hold_tuning *t)
{
	judge_within(w, t, JUDGE_UNHURRIED);
}

/* One path of what was judged; rule NULL: ordinary. */
static void found(const struct world *w, const char *path, enum change_group group,
		  const char *rule, const char *why)
{
	const struct change *c = changes_find(&w->changes, path);

	/* That line is about all changes together. */
	bool line = c && c->rule && str_equal(c->rule, "hook-programs");
	enum change_group is = line ? CHANGE_ORDINARY : c ? (enum change_group)c->group : group;

	if (!c)
		fail_msg("%s is not among the changes", path);
	else if (is != group || (rule && (!c->rule || !str_equal(c->rule, rule))))
		fail_msg("%s is %s by %s (%s), not %s by %s", path, change_group_words[c->group],
			 c->rule ? c->rule : "nothing", c->why ? c->why : "",
			 change_group_words[group], rule ? rule : "nothing");
	else if (why && !strstr(c->why, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", path, c->why, why);
}

#define HELD CHANGE_HELD
#define FLAGGED CHANGE_FLAGGED
#define ORDINARY CHANGE_ORDINARY

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, world_begin, world_end)

#endif
