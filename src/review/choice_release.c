/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing what is held.  The user releases a file by its own path, and with it what a commit
 * brings of the same path and content.  Another version, which only a commit or the index has, is
 * released by PATH@OBJECT: the user who released the file's content did not release that.  A file
 * may have such a name, too: a word that means both releases neither.  A ref lands once all that it
 * brings is released, or when its own path is named.  What belongs to a ref (its log, HEAD, the
 * index) lands with it.
 *
 * A folder stands for all that is held in it, a rule for all that it holds or leaves out.  Of these
 * we release only what `bawn diff` showed, as it was shown (seen.h): a user who names many at once
 * does not release one that came since.  What lands as one thing is released by the change that
 * stands for it, and must have been shown as a whole.
 */
#include "choice.h"

#include "branch_left.h"
#include "seen.h"
#include "str.h"
#include "text.h"

#include <stdio.h>
#include <unistd.h>

/* All that it brings was released. */
static bool release_is_whole(const struct change *c)
{
	for (size_t i = 0; i < c->brings_count; i++)
		if (!c->brings[i].released)
			return false;
	return c->brings_count > 0;
}

bool choices_release_brought(struct choices *c)
{
	bool any = false;

	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (x->state != CHOICE_HELD || !release_is_whole(x->change))
			continue;
		choice_release(c, x);
		any = true;
	}
	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];
		const struct change *with = x->state == CHOICE_HELD && x->change->with
						    ? changes_find(&c->changes, x->change->with)
						    : NULL;

		if (with && c->items[with - c->changes.items].released)
			choice_release(c, x);
	}
	return any;
}

/* PATH names the version in the tree. */
static bool release_names_file(const struct brought *b, const char *path)
{
	return b->seen && str_equal(b->path, path);
}

/* PATH@OBJECT names any version. */
static bool release_names_version(const struct brought *b, const char *path)
{
	const char *rest = str_after(path, b->path);

	if (!rest || *rest++ != '@')
		return false;
	return b->removed ? str_equal(rest, BROUGHT_REMOVED)
			  : strlen(rest) >= BROUGHT_LEAST && str_after(b->object, rest);
}

/* Releases what it brings of that name.  Returns how many. */
static size_t release_brought(const struct change *change, const char *path,
			      bool (*names)(const struct brought *b, const char *path))
{
	size_t found = 0;

	for (size_t i = 0; change->group == CHANGE_HELD && i < change->brings_count; i++) {
		if (!names(&change->brings[i], path))
			continue;
		change->brings[i].released = true;
		found++;
	}
	return found;
}

/* It does not land without the thing that it is a part of. */
static bool release_is_part(const struct change *c)
{
	return c->part && c->with;
}

/* It stands for what lands as one thing, and a part of that was not picked. */
static bool release_is_cut(const struct choices *c, const struct choice *x)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *y = &c->items[i];

		if (y->state == CHOICE_LEFT && release_is_part(y->change) &&
		    str_equal(y->change->with, x->change->path))
			return true;
	}
	return false;
}

/* Releases the file of exactly this path, and what refs bring of it that is the same.  Returns how
 * many. */
static size_t release_file(struct choices *c, const char *path)
{
	size_t found = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		found += release_brought(x->change, path, release_names_file);
		if ((x->change->group != CHANGE_HELD && x->state != CHOICE_LEAVE) ||
		    !str_equal(path, x->change->path) || release_is_part(x->change))
			continue;
		/* Of a session with a branch of its own no file lands, unless it was picked. */
		if ((!c->review->session.branch[0] || x->state != CHOICE_LEFT) &&
		    !release_is_cut(c, x))
			choice_release(c, x);
		found++;
	}
	return found;
}

static size_t release_version(struct choices *c, const char *path)
{
	size_t found = 0;

	for (size_t i = 0; i < c->count; i++)
		found += release_brought(c->items[i].change, path, release_names_version);
	return found;
}

/* Two versions have names that begin alike, or a file has the name PATH@OBJECT: an agent may have
 * made them so. */
static int release_check(const struct choices *c, const struct pathspec *spec, struct error *e)
{
	const struct brought *first = NULL;
	bool file = changes_find(&c->changes, spec->path) != NULL, more = false;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *change = c->items[i].change;

		for (size_t n = 0; n < change->brings_count; n++) {
			const struct brought *b = &change->brings[n];

			file = file || str_equal(b->path, spec->path);
			if (!release_names_version(b, spec->path))
				continue;
			more = more || (first && !str_equal(first->object, b->object));
			first = b;
		}
	}
	if (first && file) {
		(void)error_set(e, -EINVAL, "'%s' is a file, and a version of %s", spec->typed,
				first->path);
		error_next(e, "Nothing is released. At the terminal the file is asked about "
			      "alone. For the version give another number of digits of the "
			      "object ('bawn diff --json' has all), or the ref that brings it.");
		return -EINVAL;
	}
	if (more) {
		(void)error_set(e, -EINVAL, "'%s' is more than one version", spec->typed);
		error_next(e, "Give more digits of the object: 'bawn diff --json' has all.");
		return -EINVAL;
	}
	return 0;
}

/* --- many at once ----------------------------------------------------------------------- */

struct release_many {
	const struct pathspec *spec;
	bool folder; /* it is a folder; else a rule */
	struct basis seen;
	size_t found, released;
};

static bool release_means(const struct release_many *m, const struct choice *x)
{
	const struct change *c = x->change;
	const char *rest = str_after(c->path, m->spec->path);

	/* The change that it waits with speaks for it. */
	if (c->with && !c->moved)
		return false;
	if (m->folder)
		return c->group == CHANGE_HELD && m->spec->path[0] && rest && *rest == '/';
	return (c->group == CHANGE_HELD || x->state == CHOICE_LEAVE) && c->rule &&
	       str_equal(c->rule, m->spec->typed);
}

/* It was shown as it is, and so was all that waits with it. */
static bool release_is_seen(const struct choices *c, const struct basis *seen,
			    const struct change *lead)
{
	bool same = seen_has(seen, lead);

	for (size_t i = 0; same && i < c->count; i++) {
		const struct change *x = c->items[i].change;

		if (x->with && str_equal(x->with, lead->path))
			same = seen_has(seen, x);
	}
	return same;
}

static void release_say_unseen(const struct change *c)
{
	struct text err = text_open(STDERR_FILENO);
	_cleanup_buf_ struct buf path = BUF_INIT(64 << 10);

	text_escape(&path, span_of_str(c->path));
	text_styled(&err, TEXT_WARN, "not shown to you as it is, and stays: ");
	text_printf(&err, "%s\n", buf_str(&path));
}

static void release_all(struct choices *c, struct release_many *m)
{
	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (!release_means(m, x))
			continue;
		m->found++;
		if (!release_is_seen(c, &m->seen, x->change)) {
			release_say_unseen(x->change);
			continue;
		}
		m->released++;
		(void)release_file(c, x->change->path);
	}
}

/* *ret: how many were named; -ENODATA and a sentence: none of them was shown. */
static int release_by(struct choices *c, const struct pathspec *spec, bool folder, size_t *ret,
		      struct error *e)
{
	struct release_many m = {.spec = spec, .folder = folder, .seen = BASIS_INIT};
	int r = seen_read(c, &m.seen, e);

	if (r == 0)
		release_all(c, &m);
	basis_fini(&m.seen);
	*ret = m.found;
	if (r < 0 || m.found == 0 || m.released > 0)
		return r;
	(void)error_set(e, -ENODATA, "'%s' is held, but 'bawn diff' has not shown it as it is",
			spec->typed);
	error_next(e, "A folder or a rule releases what was shown: run 'bawn diff --held' first, "
		      "or release a change by its own path.");
	return -ENODATA;
}

/* A file may have the name of a rule. */
static int release_check_rule(const struct choices *c, const struct pathspec *spec, struct error *e)
{
	bool rule = false, file = false;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *x = c->items[i].change;
		bool counts = x->group == CHANGE_HELD || x->group == CHANGE_LEAVE;

		rule = rule || (counts && x->rule && str_equal(x->rule, spec->typed));
		file = file || str_equal(x->path, spec->path) ||
		       (str_after(x->path, spec->path) && *str_after(x->path, spec->path) == '/');
	}
	if (!rule || !file || !spec->path[0])
		return 0;
	(void)error_set(e, -EINVAL, "'%s' is a rule, and a path of the session's", spec->typed);
	error_next(e, "Nothing is released. For the path write ./%s.", spec->typed);
	return -EINVAL;
}

/* By its paths the user can pick half of one thing: then none of it is released. */
static int release_check_whole(const struct choices *c, const struct pathspec *spec,
			       struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		const struct change *change = x->change;
		const char *rest = spec->path[0] ? str_after(change->path, spec->path) : NULL;
		bool named = (rest && (!*rest || *rest == '/')) ||
			     (change->rule && str_equal(change->rule, spec->typed));

		if (!named || change->group != CHANGE_HELD || release_is_part(change) ||
		    (x->state == CHOICE_LEFT && c->review->session.branch[0]) ||
		    !release_is_cut(c, x))
			continue;
		(void)error_set(e, -EINVAL,
				"'%s' lands as one thing, and only a part of it is among the paths",
				spec->typed);
		error_next(e, "Nothing is released. Give all of it as a path as well, or no path.");
		return -EINVAL;
	}
	return 0;
}

/* Nothing that is held was named: says why. */
static int release_nothing(const struct choices *c, const struct pathspec *spec, struct error *e)
{
	const struct change *at = changes_find(&c->changes, spec->path);

	if (at && release_is_part(at)) {
		(void)error_set(e, -ENOENT, "'%s' is a part of what lands as one thing",
				spec->typed);
		error_next(e, "It lands with %s: release that, or the folder.", at->with);
		return -ENOENT;
	}
	for (size_t i = 0; i < c->count; i++)
		for (size_t n = 0; n < c->items[i].change->brings_count; n++)
			if (str_equal(c->items[i].change->brings[n].path, spec->path)) {
				(void)error_set(
					e, -ENOENT,
					"'%s' is held only in versions that no file here has",
					spec->typed);
				error_next(e, "Each is released by PATH@OBJECT, as 'bawn diff' "
					      "shows it.");
				return -ENOENT;
			}
	struct choice *x = at ? &c->items[at - c->changes.items] : NULL;

	/* We do not know yet what lands: it may be held then. */
	if (x && at->after.type != OBJECT_DIR &&
	    (x->state == CHOICE_LANDS || x->state == CHOICE_CONFLICT) && choices_land_in_part(c)) {
		x->ahead = spec->typed;
		return 0;
	}
	if (choices_are_part(c, spec->typed, "held"))
		return 0;
	(void)error_set(e, -ENOENT, "'%s' is not held", spec->typed);
	error_next(e, "A held change is released by its own path, its folder or its rule, as "
		      "'bawn diff' shows them.");
	return -ENOENT;
}

/* Releases one word of the user: a path, a version, a rule or a folder. */
static int release_one(struct choices *c, const struct pathspec *spec, struct error *e)
{
	size_t found = 0;
	int r = release_check(c, spec, e);

	if (r == 0)
		r = release_check_rule(c, spec, e);
	if (r == 0)
		r = release_check_whole(c, spec, e);
	if (r < 0)
		return r;
	if (release_file(c, spec->path) + release_version(c, spec->path) > 0)
		return 0;
	r = release_by(c, spec, false, &found, e);
	if (r == 0 && found == 0)
		r = release_by(c, spec, true, &found, e);
	return r < 0 ? r : found == 0 ? release_nothing(c, spec, e) : 0;
}

int choices_release(struct choices *c, const struct pathspecs *specs, struct error *e)
{
	for (size_t s = 0; s < specs->count; s++) {
		int r = release_one(c, &specs->items[s], e);

		if (r < 0)
			return r;
	}
	(void)choices_release_brought(c);
	choices_call_above(c);
	/* What was released may be git's, and the user may have changed it, too. */
	return choices_git(c, e);
}

void choices_release_at(struct choices *c, struct choice *x)
{
	(void)release_file(c, x->change->path);
}

/* --- a branch of its own ---------------------------------------------------------------- */

enum { BRANCH_PATH_MAX = LAYERS_BRANCH_MAX + 64 };

/* The branch has its own file; `git gc` in the box may have put all refs into one. */
static bool branch_is_loose(const struct choices *c, const char *ref)
{
	struct object o;

	return view_look(&c->view, ref, &o) == 0 && o.type == OBJECT_FILE;
}

/* The path belongs to the branch.  Folders above land with what is in them: choices_settle. */
static bool branch_is_of_it(const char *path, const char *ref, const char *log, bool loose)
{
	return str_after(path, ".git/objects/") || str_equal(path, ref) || str_equal(path, log) ||
	       (!loose && str_equal(path, ".git/packed-refs"));
}

void choices_pick_branch(struct choices *c)
{
	const char *branch = c->review->session.branch;
	char ref[BRANCH_PATH_MAX], log[BRANCH_PATH_MAX];

	if (branch[0] == '\0')
		return;
	(void)snprintf(ref, sizeof(ref), ".git/refs/heads/%s", branch);
	(void)snprintf(log, sizeof(log), ".git/logs/refs/heads/%s", branch);
	bool loose = branch_is_loose(c, ref);

	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (x->state == CHOICE_SETTLED || branch_is_of_it(x->change->path, ref, log, loose))
			continue;
		choice_pass(x, "it is not part of the branch");
	}
	choices_call_above(c);
}

int choices_tell_committed(struct choices *c, struct error *e)
{
	_cleanup_branch_left_ struct branch_left *b = NULL;
	int r = branch_left_open(&c->view, &c->review->session, &b);

	for (size_t i = 0; r == 0 && b && i < c->count; i++) {
		c->items[i].committed = branch_is_committed(b, c->items[i].change);
		c->items[i].old = c->items[i].committed && branch_is_old(b, c->items[i].change);
	}
	if (r == 0 && b)
		c->strays = *branch_strays(b);
	return r < 0 ? error_sys(e, r, "cannot tell what %s committed", c->review->session.name)
		     : 0;
}

/* The branch lands, by its name or beside, or has landed. */
static bool branch_lands(const struct choices *c)
{
	char ref[BRANCH_PATH_MAX];
	const char *const files[] = {ref, ".git/packed-refs"};

	(void)snprintf(ref, sizeof(ref), ".git/refs/heads/%s", c->review->session.branch);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++) {
		const struct change *change = changes_find(&c->changes, files[i]);
		const struct choice *x = change ? &c->items[change - c->changes.items] : NULL;

		if (x && x->state != CHOICE_LANDS && x->state != CHOICE_SETTLED &&
		    (x->state != CHOICE_KEPT || x->rest) && !x->committed)
			return false;
	}
	return true;
}

bool choice_is_pending(const struct choices *c, const struct choice *x)
{
	return x->state == CHOICE_LEFT && !(x->committed && branch_lands(c));
}
