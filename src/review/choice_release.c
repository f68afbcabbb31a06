/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing what is held.  A file is released by its own path, and with it what a commit brings of
 * the same path and the same content.  Another version of it, which only a commit or the index has,
 * is released by PATH@OBJECT: who released what the file says did not release that.  A ref lands
 * once all that it brings is released, or when its own path is named.  What belongs to a ref (its
 * log, HEAD, the index) goes with it.
 */
#include "choice.h"

#include "str.h"

/* All that it brings was named. */
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

/* PATH for the version that stands in the tree, PATH@OBJECT for any. */
static bool release_names(const struct brought *b, const char *path)
{
	const char *rest = str_after(path, b->path);

	if (!rest || !*rest)
		return rest && b->seen;
	if (*rest++ != '@')
		return false;
	return b->removed ? str_equal(rest, BROUGHT_REMOVED)
			  : strlen(rest) >= BROUGHT_LEAST && str_after(b->object, rest);
}

/* One change by its path, or what it brings; how many that were. */
static size_t release_one(struct choices *c, struct choice *x, const char *path)
{
	struct change *change = x->change;
	size_t found = 0;

	if (change->group != CHANGE_HELD)
		return 0;
	/* One by one: a pattern or a directory would release what was not seen. */
	if (str_equal(path, change->path)) {
		/* Of a session with a branch of its own no file lands, unless it was picked. */
		if (!c->review->session.branch[0] || x->state != CHOICE_LEFT)
			choice_release(c, x);
		found++;
	}
	for (size_t i = 0; i < change->brings_count; i++) {
		if (!release_names(&change->brings[i], path))
			continue;
		change->brings[i].released = true;
		found++;
	}
	return found;
}

/* Two versions whose names begin alike: somebody may have looked for them. */
static bool release_is_unclear(const struct choices *c, const char *path)
{
	const struct brought *first = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *change = c->items[i].change;

		for (size_t n = 0; n < change->brings_count; n++) {
			const struct brought *b = &change->brings[n];

			if (str_equal(b->path, path) || !release_names(b, path))
				continue;
			if (first && !str_equal(first->object, b->object))
				return true;
			first = b;
		}
	}
	return false;
}

/* What was named is none of what is held. */
static int release_nothing(const struct choices *c, const struct pathspec *spec, struct error *e)
{
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
	(void)error_set(e, -ENOENT, "'%s' is not held", spec->typed);
	error_next(e, "Each held change is released by its own path, as 'bawn diff' shows it.");
	return -ENOENT;
}

int choices_release(struct choices *c, const struct pathspecs *specs, struct error *e)
{
	for (size_t s = 0; s < specs->count; s++) {
		const struct pathspec *spec = &specs->items[s];
		size_t found = 0;

		if (release_is_unclear(c, spec->path)) {
			(void)error_set(e, -EINVAL, "'%s' is more than one version", spec->typed);
			error_next(e,
				   "Give more digits of the object: 'bawn diff --json' has all.");
			return -EINVAL;
		}
		for (size_t i = 0; i < c->count; i++)
			found += release_one(c, &c->items[i], spec->path);
		if (found == 0)
			return release_nothing(c, spec, e);
	}
	(void)choices_release_brought(c);
	/* What was released may be git's, and changed by the user too. */
	return choices_git(c, e);
}

void choices_release_at(struct choices *c, struct choice *x)
{
	(void)release_one(c, x, x->change->path);
	for (size_t i = 0; i < c->count; i++)
		if (&c->items[i] != x && c->items[i].change->brings_count)
			(void)release_one(c, &c->items[i], x->change->path);
}
