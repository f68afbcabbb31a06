/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We judge what lands.  The first judgement is about the tree with all that the session did.  But
 * held changes do not land, others were not named, the user keeps one side of a conflict, takes
 * some hunks of a file, or merges both sides: the result is another tree.  If the removal of a part
 * does not land, a folder can become a repository, and without one hunk a note can become a script.
 *
 * So we judge that tree, too: the user's folder with what lands, and nothing else.  What is held
 * there does not land either, and because that changes what lands, we judge again until nothing is
 * new.  What the user released by name stays released.
 */
#include "choice.h"

#include "hold.h"
#include "moved.h"
#include "str.h"

#include <stdlib.h>

enum { JUDGE_ROUNDS = 16 };

struct judging {
	struct choices *c;
	bool *lands;                 /* for each choice */
	const struct choice **froms; /* the renamed ones, sorted by their old names */
	size_t from_count;
};

/* --- the folder as it will be ------------------------------------------------------------ */

static int judging_order(const void *a, const void *b)
{
	const struct choice *const *x = a, *const *y = b;

	return strcmp((*x)->change->from, (*y)->change->from);
}

/* A session's value of a ref lands by another name: it brings the same. */
static void judging_beside(struct judging *j)
{
	for (size_t i = 0; i < j->c->beside_count; i++)
		if (choice_beside_lands(j->c, &j->c->beside[i]))
			j->lands[j->c->beside[i].of] = true;
}

static int judging_begin(struct choices *c, struct judging *ret)
{
	*ret = (struct judging){.c = c,
				.lands = arena_alloc(&c->arena, c->count + 1),
				.froms = arena_alloc(&c->arena, (c->count + 1) * sizeof(void *))};
	if (!ret->lands || !ret->froms)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++) {
		ret->lands[i] = c->items[i].state == CHOICE_LANDS;
		if (c->items[i].change->from)
			ret->froms[ret->from_count++] = &c->items[i];
	}
	judging_beside(ret);
	qsort(ret->froms, ret->from_count, sizeof(void *), judging_order);
	return 0;
}

static const struct choice *judging_from(const struct judging *j, const char *path)
{
	size_t low = 0, high = j->from_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(j->froms[middle]->change->from, path);

		if (order == 0)
			return j->froms[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* For view_part.says. */
static enum view_side judging_says(const void *context, const char *path, int *ret_fd)
{
	const struct judging *j = context;
	const struct change *change = changes_find(&j->c->changes, path);

	if (!change) {
		const struct choice *x = judging_from(j, path);

		/* Objects only ever come. */
		return x && j->lands[x - j->c->items] && !choice_is_git_object(path)
			       ? VIEW_OF_NOBODY
			       : VIEW_OF_BASE;
	}
	const struct choice *x = &j->c->items[change - j->c->changes.items];

	if (!j->lands[x - j->c->items])
		return VIEW_OF_BASE;
	if (x->content < 0)
		return change->after.type == OBJECT_ABSENT ? VIEW_OF_NOBODY : VIEW_OF_LAYERS;
	*ret_fd = x->content;
	return VIEW_OF_FILE;
}

/* --- what is said of it now ---------------------------------------------------------------- */

static void judging_copy(struct change *to, const struct change *from)
{
	to->group = from->group;
	to->rule = from->rule;
	to->why = from->why;
	to->brings = from->brings;
	to->brings_count = from->brings_count;
	to->with = from->with;
	to->moved = from->moved;
	to->part = from->part;
	to->whole = from->whole;
	to->tells = from->tells;
	to->takes_back = from->takes_back;
}

/* The first judgement counts again. */
static void judging_forget(struct choices *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (!x->was || x->released)
			continue;
		judging_copy(x->change, x->was);
		if (x->state == CHOICE_HELD || x->state == CHOICE_LEAVE)
			x->state = x->was_state;
		x->was = NULL;
	}
}

static bool judging_brings(const struct change *c, const struct brought *b)
{
	for (size_t i = 0; i < c->brings_count; i++)
		if (str_equal(c->brings[i].path, b->path) &&
		    str_equal(c->brings[i].object, b->object))
			return true;
	return false;
}

/* It was released, and brings something that was not shown then. */
static bool judging_brings_more(const struct choice *x, const struct change *now)
{
	for (size_t i = 0; i < now->brings_count; i++)
		if (!judging_brings(x->change, &now->brings[i]))
			return true;
	return false;
}

/* The change that it waits with was released. */
static bool judging_goes(const struct choices *c, const struct change *now)
{
	const struct change *lead = now->with ? changes_find(&c->changes, now->with) : NULL;

	return lead && c->items[lead - c->changes.items].released;
}

static int judging_say(struct choices *c, struct choice *x, const struct change *now)
{
	if (!x->was) {
		struct change *was = arena_alloc(&c->arena, sizeof(*was));

		if (!was)
			return -ENOMEM;
		*was = *x->change;
		x->was = was;
		x->was_state = x->follows ? x->meant : x->state;
	}
	judging_copy(x->change, now);
	if (now->group == CHANGE_HELD && now->why)
		x->change->why = arena_printf(
			&c->changes.arena, "%s; so it is when no more than this lands", now->why);
	return x->change->why || !now->why ? 0 : -ENOMEM;
}

/* 1: it does not land now; 0: it does; or -errno. */
static int judging_take(struct choices *c, struct choice *x, const struct change *now)
{
	bool held = now->group == CHANGE_HELD, left = now->group == CHANGE_LEAVE;
	int r = 0;

	if (held && x->released && !judging_brings_more(x, now))
		return 0;
	if (left && x->released)
		return 0;
	if (held && judging_goes(c, now)) {
		x->released = true;
		return 0;
	}
	if (held || left || (now->group == CHANGE_FLAGGED && x->change->group == CHANGE_ORDINARY))
		r = judging_say(c, x, now);
	if (r < 0 || !(held || left))
		return r;
	if (held && x->ahead && !x->released) {
		x->released = true;
		return 0;
	}
	x->released = false;
	x->follows = false;
	x->why = NULL;
	x->state = held ? CHOICE_HELD : CHOICE_LEAVE;
	return 1;
}

/* Judges what lands; 1: something of it does not land now; 0; or -errno. */
static int judging_once(struct choices *c, const struct hold_rules *rules, struct error *e)
{
	struct judging j;
	struct changes now = {.items = arena_alloc(&c->arena, (c->count + 1) * sizeof(*now.items))};
	int r = now.items ? judging_begin(c, &j) : -ENOMEM;

	if (r < 0)
		return error_set(e, r, "no memory to judge what lands");
	const struct view_part part = {.says = judging_says, .context = &j};
	struct view view = c->view;

	view.part = &part;
	for (size_t i = 0; i < c->count; i++) {
		if (!j.lands[i])
			continue;
		struct change *one = &now.items[now.count++];
		const struct change nothing = {.group = CHANGE_ORDINARY};

		*one = *c->items[i].change;
		judging_copy(one, &nothing);
		one->needs = NULL;
		if (c->items[i].state == CHOICE_LANDS)
			one->after = c->items[i].lands;
	}
	/* The reasons must live as long as the changes. */
	now.arena = c->changes.arena;
	r = hold_judge(rules, &view, &now, e);
	if (r == 0)
		r = moved_hold(c->session, &now, e);
	c->changes.arena = now.arena;
	bool more = false;

	for (size_t i = 0, n = 0; r == 0 && i < c->count; i++) {
		if (!j.lands[i])
			continue;
		int stays = judging_take(c, &c->items[i], &now.items[n++]);

		if (stays < 0)
			r = error_set(e, stays, "no memory to say what is held");
		more = more || stays > 0;
	}
	return r < 0 ? r : more;
}

bool choices_land_in_part(const struct choices *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].state != CHOICE_LANDS || c->items[i].content >= 0)
			return true;
	return false;
}

int choices_settle_judged(struct choices *c, struct error *e)
{
	struct hold_rules *rules = NULL;
	int r, more = 1;

	judging_forget(c);
	r = choices_settle(c, e);
	if (r < 0 || !choices_land_in_part(c) || choices_in(c, CHOICE_LANDS) == 0)
		return r;
	r = review_holds(c->review, &rules, e);
	for (size_t round = 0; r == 0 && more > 0 && round < JUDGE_ROUNDS; round++) {
		more = judging_once(c, rules, e);
		r = more < 0 ? more : more > 0 ? choices_settle(c, e) : 0;
	}
	hold_rules_free(&rules);
	if (r == 0 && more > 0) {
		r = error_set(e, -ELOOP, "what may land changes with each change that is held");
		error_next(e, "Nothing was changed. Name what shall land: bawn apply PATH...");
	}
	return r;
}

int choices_check_ahead(const struct choices *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if (!x->ahead || x->released || x->state == CHOICE_CONFLICT)
			continue;
		int r = error_set(e, -ENOENT, "'%s' is not held", x->ahead);

		error_next(e, "A held change is released by its own path, its folder or its rule, "
			      "as 'bawn diff' shows them.");
		return r;
	}
	return 0;
}
