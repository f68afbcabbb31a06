/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judgement of a set of changes by the list.
 *
 * First we look once at each folder that has a change: whether it is a repository, and what the
 * settings, hooks and links there name (hold_where.c).  Then we ask every rule that the path of a
 * change belongs to, by its patterns or because something names the path.  If a rule has an
 * analyser, the analyser decides.  Of all answers the strongest counts, and of equal ones the first
 * in the list.
 *
 * A folder is never held for its name: it runs nothing until something is in it.  A removal runs
 * nothing either, and has a level of its own (`gone`).  What cannot be read is judged by its name.
 */
#include "hold_commits.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { HOLD_ARENA_MAX = 64 << 20, HOLD_FOLDED_MAX = 64 << 10 };

/* --- one change ----------------------------------------------------------------------- */

#define HOLD_OF(type) (1u << OBJECT_##type)

enum {
	HOLD_OF_FILES = HOLD_OF(FILE),
	HOLD_OF_LINKS = HOLD_OF(LINK),
	HOLD_OF_ALL = (1u << OBJECT_TYPE_COUNT) - 1,
};

static const struct hold_kind hold_kinds[HOLD_CONTENT_COUNT] = {
	[HOLD_BY_NAME] = {NULL, 0, HOLD_OF_ALL, true, NULL},
	[HOLD_BY_HOOK] = {hold_by_hook, HOLD_OF_ALL, HOLD_OF_ALL, true, NULL},
	[HOLD_BY_GIT_CONFIG] = {hold_by_git_config, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_ATTRIBUTES] = {hold_by_attributes, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_BARE] = {NULL, 0, HOLD_OF_ALL, true, NULL},
	[HOLD_BY_SUBMODULES] = {hold_by_submodules, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_POINTER] = {hold_by_pointer, HOLD_OF_FILES | HOLD_OF_LINKS, HOLD_OF_ALL, false,
			     hold_gone_pointer},
	[HOLD_BY_PACKAGE] = {hold_by_package, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_HOSTS] = {hold_by_hosts, HOLD_OF_FILES, HOLD_OF_FILES, false, NULL},
	[HOLD_BY_ARCHIVES] = {hold_by_archives, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_SCHEMA] = {hold_by_schema, HOLD_OF_FILES, HOLD_OF_FILES, false, NULL},
	[HOLD_BY_INVISIBLE] = {hold_by_invisible, HOLD_OF_ALL, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_STAGED] = {hold_by_staged, HOLD_OF_FILES, HOLD_OF_FILES, false, NULL},
	[HOLD_BY_LINK] = {hold_by_link, HOLD_OF_LINKS, HOLD_OF_LINKS, false, NULL},
	[HOLD_BY_COMMITS] = {hold_by_commits, HOLD_OF_FILES, HOLD_OF_FILES | HOLD_OF_LINKS, false,
			     hold_gone_ref},
	[HOLD_BY_IGNORED] = {hold_by_ignored, HOLD_OF_FILES, HOLD_OF_FILES, true, NULL},
	[HOLD_BY_BEING_LINK] = {NULL, 0, HOLD_OF_LINKS, false, NULL},
	[HOLD_BY_KNOWN] = {hold_by_known, HOLD_OF_FILES, HOLD_OF_FILES | HOLD_OF_LINKS, false,
			   NULL},
	[HOLD_BY_OBJECTS] = {hold_by_objects, HOLD_OF_FILES, HOLD_OF_FILES | HOLD_OF_LINKS, false,
			     NULL},
	[HOLD_BY_WORKTREES] = {NULL, 0, 0, false, hold_gone_worktree},
	[HOLD_BY_KEPT] = {NULL, 0, 0, false, hold_gone_kept},
	[HOLD_BY_COMPILED] = {hold_by_compiled, HOLD_OF_FILES, HOLD_OF_ALL, false, NULL},
	[HOLD_BY_WHOLE] = {NULL, 0, HOLD_OF_ALL, true, NULL},
	[HOLD_BY_STARTED] = {NULL, 0, HOLD_OF_ALL, true, NULL},
};

static int hold_ask(struct hold_judge *j, const struct change *c, size_t row, const char *why,
		    struct hold_said *said)
{
	return hold_ask_at(j, c, row, why,
			   hold_is_lax(j, c->path) ? hold_whole_most(c->path, row) : HOLD_HOLD,
			   said);
}

/* The rows that a path belongs to by its name, with `as` before it. */
static int hold_rows_of(struct hold_judge *j, const char *as, const char *path, uint64_t *ret)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(HOLD_FOLDED_MAX);

	*ret = 0;
	if (*as) {
		buf_put_str(&whole, as);
		buf_put_str(&whole, path);
		path = buf_str(&whole);
	}
	hold_fold(path, &j->folded);
	int r = buf_error(&whole) ? buf_error(&whole) : buf_error(&j->folded);

	if (r < 0)
		return error_sys(j->error, r, "%.300s cannot be judged", path);
	const char *folded = buf_str(&j->folded);
	uint64_t rows = hold_find(j->rules, folded);

	for (size_t row = 0; row < hold_row_count; row++)
		if ((rows >> row & 1) && hold_is_meant(&hold_rows[row], folded))
			*ret |= 1ull << row;
	return 0;
}

static int hold_ask_rows(struct hold_judge *j, const struct change *c, uint64_t rows,
			 struct hold_said *said)
{
	int r = 0;

	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		if (rows >> row & 1)
			r = hold_ask(j, c, row, NULL, said);
	return r;
}

/* The folder is a .git, or .git's folder for a worktree: the patterns have these. */
static bool hold_is_git(const struct hold_dir *d)
{
	return hold_matches(".git", d->path) || hold_matches(".git/worktrees/*", d->path) ||
	       hold_matches("**/.git", d->path) || hold_matches("**/.git/worktrees/*", d->path);
}

/*
 * Judges what the file is in a folder that git takes for a repository, whatever the folder's name.
 */
static int hold_ask_gitdir(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	for (const char *at = c->path; at; at = strchr(at, '/')) {
		size_t len = at == c->path ? 0 : (size_t)(at - c->path);

		at += *at == '/';
		const struct hold_dir *d = NULL;
		int r = 0;

		if (j->brought)
			r = hold_brought_dir(j, c->path, len, &d);
		else
			d = hold_dir_find(j, c->path, len);
		if (r < 0)
			return r;
		if (!d || !d->is_gitdir)
			continue;
		bool named = hold_is_git(d);
		uint64_t rows = 0;

		if (!named)
			r = hold_rows_of(j, ".git/", c->path + len + (len > 0), &rows);
		if (r == 0)
			r = hold_ask_rows(j, c, rows, said);
		for (size_t row = 0; r == 0 && !named && !d->was_gitdir && row < hold_row_count;
		     row++)
			if (hold_rows[row].content == HOLD_BY_BARE)
				r = hold_ask(j, c, row, NULL, said);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A link in the place of a folder: the files there get the names that a rule is about. */
static int hold_ask_link(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	hold_fold(c->path, &j->folded);
	int r = buf_error(&j->folded);

	if (r < 0)
		return error_sys(j->error, r, "%.300s cannot be judged", c->path);
	uint64_t rows = hold_find_below(j->rules, buf_str(&j->folded));

	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		if ((rows >> row & 1) && j->rules->levels[row] == HOLD_HOLD)
			r = hold_ask(j, c, row,
				     "a link in the place of a folder with files that your "
				     "commands run: they would run those that it leads to",
				     said);
	return r;
}

static int hold_ask_places(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	int r = 0;

	for (const struct hold_place *p = j->places; r == 0 && p; p = p->next) {
		const char *rest = str_after(c->path, p->path);

		/* A link in the place of a folder above the place leads to another one. */
		const char *below =
			c->after.type == OBJECT_LINK ? str_after(p->path, c->path) : NULL;

		if (p->but_git && c->git)
			continue;
		if ((rest && (!*rest || *rest == '/' || !p->path[0])) || (below && *below == '/'))
			r = hold_ask_at(j, c, p->row, p->why, p->most, said);
	}
	if (r == 0 && said->level < HOLD_HOLD && hold_is_place_beyond(j, c))
		r = hold_ask_at(j, c, hold_row_of("git-hook-folders"),
				"your hooks and settings name more folders than bawn keeps apart, "
				"and this may be in one of them",
				HOLD_HOLD, said);
	return r;
}

static int hold_ask_gone_at(struct hold_judge *j, const char *path, bool moved, size_t row,
			    struct hold_said *said)
{
	const struct hold_row *h = &hold_rows[row];
	enum hold_level level = hold_less(h->gone, j->rules->levels[row]);
	struct hold_verdict v = {.most = HOLD_HOLD};
	int r = 0;

	if (h->content == HOLD_BY_POINTER && hold_is_own_git(path))
		level = j->rules->levels[row];
	v.why = level == HOLD_HOLD ? "without it, what it forbade or asked for counts no more"
		: moved            ? "it was one that your commands run, where it stood before"
				   : "it is removed";
	if (level > said->level && hold_kinds[h->content].gone)
		r = hold_kinds[h->content].gone(j, path, &v);
	level = hold_less(level, v.most);
	if (hold_is_in_modules(path))
		level = hold_less(level, hold_whole_most(path, row));
	if (r == 0 && level > said->level)
		*said = (struct hold_said){
			.level = level, .rule = h->name, .why = v.why, .with = v.with};
	return r;
}

/* Judges what was removed, or moved away from there. */
static int hold_ask_gone(struct hold_judge *j, const char *path, bool moved, struct hold_said *said)
{
	char gitdir[PATH_MAX];
	const char *rest = NULL;
	uint64_t rows, more = 0;
	int r = hold_rows_of(j, "", path, &rows);

	/* The same by its name in a repository, whatever the repository's folder is called. */
	if (r == 0 && hold_gitdir_of(j, path, gitdir, &rest))
		r = hold_rows_of(j, ".git/", rest, &more);
	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		if ((rows | more) >> row & 1)
			r = hold_ask_gone_at(j, path, moved, row, said);
	return r;
}

/* Asks every rule about a change. */
static int hold_judge_said(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	uint64_t rows = 0;
	int r = 0;

	if (c->after.type == OBJECT_ABSENT)
		return c->before.type == OBJECT_DIR && !hold_is_own_git(c->path)
			       ? 0
			       : hold_ask_gone(j, c->path, false, said);
	bool dir = c->after.type == OBJECT_DIR;

	/* A folder is in the place of a file, so the file is gone. */
	if (dir && !j->brought && c->before.type == OBJECT_FILE)
		r = hold_ask_gone(j, c->path, false, said);
	if (r == 0 && !dir)
		r = hold_rows_of(j, "", c->path, &rows);
	/* Rules about every path are only for files of the tree. */
	if (j->brought)
		rows &= ~j->rules->every;
	if (r == 0)
		r = hold_ask_rows(j, c, dir ? j->rules->every : rows, said);
	if (r == 0 && c->after.type == OBJECT_LINK)
		r = hold_ask_link(j, c, said);
	if (r == 0)
		r = hold_ask_gitdir(j, c, said);
	if (r == 0 && !dir)
		r = hold_ask_places(j, c, said);
	if (r == 0 && !dir)
		r = hold_ask_names(j, c, said);
	if (r == 0 && !dir && !hold_is_in_modules(c->path))
		r = hold_ask_tools(j, c, said);
	if (r == 0 && !dir && !hold_is_in_modules(c->path))
		r = hold_ask_started(j, c, said);
	if (r == 0 && j->brought)
		r = hold_ask_whole(j, c, said);
	if (r == 0 && c->from)
		r = hold_ask_gone(j, c->from, true, said);
	return r;
}

static const unsigned int hold_groups[] = {
	[HOLD_NOT] = CHANGE_ORDINARY,
	[HOLD_FLAG] = CHANGE_FLAGGED,
	[HOLD_LEAVE] = CHANGE_LEAVE,
	[HOLD_HOLD] = CHANGE_HELD,
};

static int hold_judge_change(struct hold_judge *j, struct change *c)
{
	struct hold_said said = {.level = HOLD_NOT};
	int r = hold_is_late(j) ? 0 : hold_judge_said(j, c, &said);

	if (r == 0 && !j->late)
		c->needs = hold_needs(j, c);
	if (r == 0 && hold_is_late(j) && said.level != HOLD_HOLD)
		r = hold_late_say(j, &said);
	if (r < 0 || said.level == HOLD_NOT)
		return r;
	c->group = hold_groups[said.level];
	c->rule = said.rule;
	c->why = said.why;
	c->brings = said.brings;
	c->brings_count = said.brings_count;
	c->with = said.with;
	c->takes_back = said.takes_back;
	return 0;
}

/* --- all of them ---------------------------------------------------------------------- */

static void hold_where_am_i(struct hold_judge *j)
{
	char link[64];
	struct stat st;

	if (j->view->base < 0 || fstat(j->view->base, &st) < 0)
		return;
	j->device = st.st_dev;
	j->inode = st.st_ino;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", j->view->base);
	ssize_t len = readlink(link, j->workspace, sizeof(j->workspace) - 1);

	j->workspace[len > 0 ? len : 0] = '\0';
}

static void hold_judge_free(struct hold_judge **j)
{
	if (!*j)
		return;
	hold_repos_end(*j);
	hold_tools_end(*j);
	buf_fini(&(*j)->folded);
	buf_fini(&(*j)->after);
	buf_fini(&(*j)->old);
	arena_fini(&(*j)->arena);
	free(*j);
}

/* git's own files come last: they can take long, and the other files do not wait for them. */
static int hold_judge_all(struct hold_judge *j)
{
	struct changes *c = j->changes;
	int r = 0;

	for (int git = 0; git < 2; git++)
		for (size_t i = 0; r == 0 && i < c->count; i++)
			if (c->items[i].group != CHANGE_DROPPED && (c->items[i].git != NULL) == git)
				r = hold_judge_change(j, &c->items[i]);
	return r;
}

int hold_judge(const struct hold_rules *r, const struct view *v, struct changes *c, struct error *e)
{
	_cleanup_(hold_judge_free) struct hold_judge *j = calloc(1, sizeof(*j));

	if (!j)
		return error_set(e, -ENOMEM, "no memory to judge the changes");
	j->rules = r;
	j->kinds = hold_kinds;
	j->judge = hold_judge_said;
	j->judge_commit = hold_judge_commit;
	j->view = v;
	j->before = (struct view){.base = v->base};
	j->changes = c;
	j->error = e;
	j->arena = ARENA_INIT(HOLD_ARENA_MAX);
	j->folded = BUF_INIT(HOLD_FOLDED_MAX);
	hold_where_am_i(j);
	hold_late_begin(j);
	int code = hold_look_around(j);

	if (code == 0)
		code = hold_look_linked(j);
	if (code == 0)
		code = hold_judge_all(j);
	if (code == 0)
		code = hold_late_end(j);
	if (code == 0)
		code = hold_whole_end(j);
	if (code == 0)
		code = hold_ignored_end(j);
	if (code == 0)
		hold_exchanged_end(j);
	if (code == 0)
		code = hold_locks_end(j);
	if (code == 0)
		code = hold_started_end(j);
	if (code == 0)
		hold_mark_ignored(j);
	if (code < 0 && e->code == 0)
		return error_sys(e, code, "the changes cannot be judged");
	return code;
}
