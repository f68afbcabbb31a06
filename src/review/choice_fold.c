/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lands, as `bawn diff` shows it: commits, then the user's files, then heaps, one line each;
 * at the end, nearest to the question, what is flagged, by its rules, the rare ones first.  However
 * many other changes there are, each rule is shown.
 */
#include "choice_show.h"

#include "array.h"
#include "content.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>

struct choices_shown {
	const struct choices *choices;
	enum choice_state state;
	struct folding folding;
	struct new_commits commits;
	struct tally tally;
	size_t added, removed; /* lines of the files that are shown one by one */
};

enum {
	FOLD_FILES = 40,
	FOLD_FLAGGED = 8,
	FOLD_COMMITS = 10,
	FOLD_COLUMN = 8,
	FOLD_LINE_MAX = 64 << 10,
};

/* --- what is meant ---------------------------------------------------------------------- */

static bool shown_is_meant(const void *context, size_t i)
{
	const struct choices_shown *s = context;
	const struct choice *x = &s->choices->items[i];

	return x->state == s->state &&
	       !(s->state == CHOICE_HELD && choice_goes_with(x) && folding_is_gits(x->change));
}

/* A commit comes with its ref, by that name or beside. */
static bool shown_brings_commits(const void *context, size_t i)
{
	const struct choices_shown *s = context;
	const struct choices *c = s->choices;
	bool beside = false;

	for (size_t n = 0; s->state == CHOICE_LANDS && !beside && n < c->beside_count; n++)
		beside = c->beside[n].of == i && choice_beside_lands(c, &c->beside[n]);
	return beside || shown_is_meant(context, i);
}

/* Counts the lines of a change that is shown; if it was renamed and edited, those of both halves
 * against each other. */
static int shown_count(struct choices_shown *s, size_t i, size_t *ret_added, size_t *ret_removed)
{
	const struct choice *x = &s->choices->items[i];
	_cleanup_content_ struct content content = {.kind = CONTENT_NONE};

	*ret_added = x->counted ? x->added : 0;
	*ret_removed = x->counted ? x->removed : 0;
	/* If nobody counted them (discard), nobody needs them. */
	if (!s->folding.from[i] || !x->counted)
		return 0;
	const struct change joined = folding_joined(&s->folding, &s->choices->changes, i);
	int r = content_read(&s->choices->view, &joined, x->content, &content);

	*ret_added = content.diff.added;
	*ret_removed = content.diff.removed;
	return r;
}

static void choices_shown_fini(struct choices_shown *s)
{
	folding_fini(&s->folding);
	new_commits_fini(&s->commits);
}

#define _cleanup_choices_shown_ _cleanup_(choices_shown_fini)

/* 0 or -ENOMEM. */
static int choices_shown_read(const struct choices *c, enum choice_state state,
			      struct choices_shown *ret)
{
	*ret = (struct choices_shown){.choices = c, .state = state};
	const struct folding_how how = {.changes = &c->changes,
					.view = &c->view,
					.makers = c->review->makers,
					.meant = shown_is_meant,
					.lands = state != CHOICE_HELD,
					.context = ret};
	int r = folding_read(&how, &ret->folding);

	if (r == 0)
		r = new_commits_read(&c->view, &c->changes, shown_brings_commits, ret, &c->strays,
				     &ret->commits);
	for (size_t i = 0; r == 0 && i < c->count; i++) {
		size_t added = 0, removed = 0;

		if (ret->folding.fates[i] != DIFF_SHOWN)
			continue;
		r = shown_count(ret, i, &added, &removed);
		ret->added += added;
		ret->removed += removed;
	}
	if (r == 0) {
		tally_add(&ret->tally, &ret->folding, &c->changes);
		ret->tally.commits = ret->commits.count;
		ret->tally.cut = ret->commits.cut;
	} else {
		choices_shown_fini(ret);
	}
	return r;
}

/* --- how many --------------------------------------------------------------------------- */

void choices_put_sum(struct buf *into, const struct choices *c)
{
	_cleanup_choices_shown_ struct choices_shown s = {.choices = NULL};

	if (choices_shown_read(c, CHOICE_LANDS, &s) < 0) {
		buf_putf(into, "%zu changes", choices_in(c, CHOICE_LANDS));
		return;
	}
	for (size_t i = 0; i < c->beside_count; i++)
		s.tally.git += choice_beside_lands(c, &c->beside[i]);
	tally_put(into, &s.tally);
	if (s.added || s.removed)
		buf_putf(into, " (+%zu -%zu lines)", s.added, s.removed);
}

void choices_put_tally(struct buf *into, const struct choices *c, enum choice_state state)
{
	_cleanup_choices_shown_ struct choices_shown s = {.choices = NULL};

	if (choices_in(c, state) == 0)
		return;
	if (choices_shown_read(c, state, &s) < 0) {
		buf_putf(into, "%zu changes", choices_in(c, state));
		return;
	}
	/* A folder around something held, or not named, counts for nothing by itself. */
	if (state == CHOICE_LEFT)
		s.tally.folders = 0;
	if (!tally_is_empty(&s.tally))
		tally_put(into, &s.tally);
}

/* --- lines ------------------------------------------------------------------------------ */

static void fold_put_word(struct buf *into, const char *word)
{
	buf_putf(into, "  %-*s ", FOLD_COLUMN, word);
}

static void fold_put_commits(struct buf *into, const struct choices_shown *s)
{
	for (size_t i = 0; i < s->commits.count && i < FOLD_COMMITS; i++) {
		const struct new_commit *c = &s->commits.items[i];

		fold_put_word(into, "commit");
		buf_putf(into, "%s ", c->name);
		text_escape(into, span_of_str(c->subject));
		buf_put_char(into, '\n');
	}
	for (size_t i = 0; i < s->commits.lost_count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(FOLD_LINE_MAX);

		/* What lands beside takes no commits off a branch. */
		if (s->choices->items[s->commits.lost[i].change].state != CHOICE_LANDS)
			continue;
		lost_commits_put(&line, &s->commits.lost[i]);
		fold_put_word(into, "back");
		text_escape(into, buf_span(&line));
		buf_put_char(into, '\n');
	}
	if (s->commits.count > FOLD_COMMITS)
		buf_putf(into, "  ... and %zu more commits\n", s->commits.count - FOLD_COMMITS);
	if (s->commits.cut)
		buf_putf(into, "  ... " NEW_COMMITS_CUT "\n");
}

static void fold_put_one(const struct text *t, struct buf *into, struct choices_shown *s, size_t i)
{
	struct choice x = s->choices->items[i];
	struct change joined = folding_joined(&s->folding, &s->choices->changes, i);

	if (s->folding.from[i]) {
		x.change = &joined;
		x.counted = x.counted && shown_count(s, i, &x.added, &x.removed) == 0;
	}
	buf_put_str(into, "  ");
	choice_put_line(into, &x);
	if (s->folding.from[i])
		buf_putf(into, "  (%u%% the same)", s->folding.alike[i]);
	buf_put_char(into, '\n');
	choice_put_reason(t, into, &x);
}

/* Puts git's own files: refs by their names, the rest by what they are. */
static void fold_put_git(const struct text *t, struct buf *into, struct choices_shown *s)
{
	struct show_objects objects = {.count = 0};
	size_t logs = 0, others = 0, refs = 0;
	bool index = false;

	for (size_t i = 0; i < s->choices->count; i++) {
		const struct change *c = &s->choices->changes.items[i];
		size_t len = 0;
		enum folding_git kind = folding_git_of(c, &len);

		/* The folders of objects come and go with the objects. */
		if (s->folding.fates[i] != DIFF_GIT)
			continue;
		if (kind == FOLDED_OBJECT || kind == FOLDED_PACK) {
			if (folding_is_file(c))
				show_objects_add(&objects, c->path);
		} else if (!folding_is_file(c)) {
			continue;
		} else if (kind == FOLDED_REF || kind == FOLDED_PACKED || kind == FOLDED_HEAD) {
			if (++refs <= FOLD_FILES)
				fold_put_one(t, into, s, i);
		} else {
			logs += kind == FOLDED_LOG;
			others += kind == FOLDED_OTHER;
			index = index || kind == FOLDED_INDEX;
		}
	}
	if (refs > FOLD_FILES)
		buf_putf(into, "  ... and %zu more refs\n", refs - FOLD_FILES);
	if (objects.count + logs + others + index == 0)
		return;
	const char *between = "";

	fold_put_word(into, "git");
	if (index) {
		buf_put_str(into, "the index");
		between = ", ";
	}
	if (logs + others) {
		buf_putf(into, "%s%zu log%s and notes", between, logs + others,
			 logs + others == 1 ? "" : "s");
		between = ", ";
	}
	if (objects.count) {
		buf_put_str(into, between);
		show_objects_put(into, &objects);
	}
	buf_put_char(into, '\n');
}

static void fold_put_files(const struct text *t, struct buf *into, struct choices_shown *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->choices->count; i++)
		if (s->folding.fates[i] == DIFF_SHOWN &&
		    s->choices->changes.items[i].group != CHANGE_FLAGGED && ++count <= FOLD_FILES)
			fold_put_one(t, into, s, i);
	if (count > FOLD_FILES)
		buf_putf(into, "  ... and %zu more; 'bawn diff --stat' lists them all\n",
			 count - FOLD_FILES);
}

/* --- by rule ------------------------------------------------------------------------------ */

struct fold_rule {
	const char *name;
	size_t count;
};

static int fold_rule_order(const void *a, const void *b)
{
	const struct fold_rule *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool fold_is_flagged(const struct choices_shown *s, size_t i)
{
	return s->choices->changes.items[i].group == CHANGE_FLAGGED &&
	       (s->folding.fates[i] == DIFF_SHOWN || s->folding.fates[i] == DIFF_HEAP);
}

static const char *fold_rule_of(const struct change *c)
{
	return c->rule ? c->rule : "";
}

/*
 * Puts the changes of one rule: each in its line up to a number; of those in a heap only the first.
 */
static void fold_put_rule(const struct text *t, struct buf *into, struct choices_shown *s,
			  const struct fold_rule *rule)
{
	size_t put = 0, heaped = 0;

	for (size_t i = 0; i < s->choices->count; i++) {
		bool in = s->folding.fates[i] == DIFF_HEAP;

		if (!fold_is_flagged(s, i) ||
		    !str_equal(fold_rule_of(&s->choices->changes.items[i]), rule->name))
			continue;
		if (put == FOLD_FLAGGED || (in && heaped > 0))
			continue;
		heaped += in;
		put++;
		fold_put_one(t, into, s, i);
	}
	if (rule->count > put)
		buf_putf(into, "  ... and %zu more flagged by %s; 'bawn diff' shows them\n",
			 rule->count - put, rule->name);
}

static void fold_put_flagged(const struct text *t, struct buf *into, struct choices_shown *s)
{
	_cleanup_free_ struct fold_rule *rules = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->choices->count; i++) {
		const char *name = fold_rule_of(&s->choices->changes.items[i]);
		size_t n = 0;

		if (!fold_is_flagged(s, i))
			continue;
		while (n < count && !str_equal(rules[n].name, name))
			n++;
		if (n == count) {
			if (!ARRAY_GROW(rules, count))
				return;
			rules[count++] = (struct fold_rule){.name = name};
		}
		rules[n].count++;
	}
	if (count > 1)
		qsort(rules, count, sizeof(*rules), fold_rule_order);
	for (size_t n = 0; n < count; n++)
		fold_put_rule(t, into, s, &rules[n]);
}

/* --- what waits with a held change --------------------------------------------------------- */

struct fold_with {
	const struct choices *choices;
	const char *lead;
};

static bool fold_goes(const void *context, size_t i)
{
	const struct fold_with *w = context;
	const struct choice *x = &w->choices->items[i];

	return x->state == CHOICE_HELD && choice_goes_with(x) &&
	       (x->change->part || !folding_is_gits(x->change)) &&
	       str_equal(x->change->with, w->lead);
}

bool choices_go_with(const struct choices *c, const struct choice *lead, size_t i)
{
	const struct fold_with w = {c, lead->change->path};

	return fold_goes(&w, i);
}

void choices_put_with(struct buf *into, const struct choices *c, const struct choice *lead)
{
	const struct fold_with w = {c, lead->change->path};
	const struct folding_how how = {.changes = &c->changes,
					.view = &c->view,
					.makers = c->review->makers,
					.meant = fold_goes,
					.apart = true,
					.context = &w};
	_cleanup_folding_ struct folding f = {.fates = NULL};
	size_t any = 0, count = 0;

	while (any < c->count && !fold_goes(&w, any))
		any++;
	if (any == c->count)
		return;
	if (folding_read(&how, &f) < 0) {
		buf_put_str(into, "  there is no memory to list what goes with it\n");
		return;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (f.fates[i] != DIFF_SHOWN || ++count > FOLD_FILES)
			continue;
		buf_put_str(into, "  ");
		choice_put_line(into, &c->items[i]);
		buf_put_str(into, "  (with ");
		text_escape(into, span_of_str(w.lead));
		buf_put_str(into, ")\n");
	}
	if (count > FOLD_FILES)
		buf_putf(into, "  ... and %zu more with it; 'bawn diff --stat' lists them all\n",
			 count - FOLD_FILES);
	(void)heaps_put_waiting(into, &f, "  ", NULL);
}

void choices_put_landing(const struct text *t, struct buf *into, const struct choices *c)
{
	_cleanup_choices_shown_ struct choices_shown s = {.choices = NULL};

	if (choices_shown_read(c, CHOICE_LANDS, &s) < 0) {
		buf_put_str(into, "  there is no memory to list it\n");
		return;
	}
	fold_put_commits(into, &s);
	fold_put_files(t, into, &s);
	fold_put_git(t, into, &s);
	(void)heaps_put(into, &s.folding, "  ");
	fold_put_flagged(t, into, &s);
}
