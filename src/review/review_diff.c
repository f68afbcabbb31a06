/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff`: what a session changed, as in a pull request.  What needs least attention comes
 * first: ordinary, flagged, held, dropped.
 *
 * May read the layers and the workspace.  Must not run anything, nor write anything but what was
 * shown (seen.h).
 */
#include "direct_changes.h"
#include "diff_parts.h"

#include "leave_show.h"
#include "pager.h"
#include "seen.h"
#include "tool.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Counts how many there are of each kind. */
static void diff_count(struct diff *d)
{
	tally_add(&d->totals.tally, &d->folding, &d->changes);
	d->totals.tally.commits = d->commits.count;
	d->totals.tally.cut = d->commits.cut;
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];
		unsigned int fate = d->folding.fates[i];

		if (fate == DIFF_AWAY || fate == DIFF_SILENT)
			continue;
		/* git's own files and heaps have lines of their own kind. */
		if (fate != DIFF_GIT && fate != DIFF_HEAP)
			d->totals.kinds[d->folding.from[i] ? CHANGE_RENAMED : c->kind]++;
		/* What waits is not released by itself. */
		if (fate == DIFF_HEAP && d->folding.heaps[d->folding.heap_of[i]].with)
			continue;
		if (c->group != CHANGE_ORDINARY || (fate != DIFF_GIT && fate != DIFF_HEAP))
			d->totals.groups[c->group]++;
	}
}

/* What is left out has one line for all. */
static void diff_fold_leave(struct diff *d)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (d->folding.fates[i] == DIFF_SHOWN && c->group == CHANGE_LEAVE)
			d->folding.fates[i] = DIFF_SILENT;
	}
}

static bool diff_is_away(const void *context, size_t i)
{
	const struct diff *d = context;

	return d->folding.fates[i] == DIFF_AWAY;
}

static void diff_put_leave(struct diff *d)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(1 << 20);

	leave_put(&lines, &d->changes, diff_is_away, d);
	buf_put(&d->out, lines.ptr, lines.len);
}

static void diff_put_summary(struct diff *d)
{
	const struct diff_totals *t = &d->totals;
	const char *between = ": ";
	_cleanup_buf_ struct buf words = BUF_INIT(64 << 10);

	if (tally_is_empty(&t->tally)) {
		diff_put(d, TEXT_PLAIN, "%s",
			 d->picks.count && d->changes.count
				 ? (d->only_held ? "nothing of what you named is held"
						 : "nothing of what you named has changed")
			 : d->only_held && d->changes.count ? "nothing is held"
							    : "nothing has changed");
		diff_end_line(d);
		return;
	}
	tally_put(&words, &t->tally);
	diff_put(d, TEXT_STRONG, "%s", buf_str(&words));
	for (size_t i = 0; i < CHANGE_KIND_COUNT; i++) {
		if (t->kinds[i] == 0)
			continue;
		diff_put(d, TEXT_PLAIN, "%s%zu %s", between, t->kinds[i],
			 i == CHANGE_MODE ? "of mode" : change_kind_words[i]);
		between = ", ";
	}
	if (t->added || t->removed)
		diff_put(d, TEXT_PLAIN, "; +%llu -%llu lines", (unsigned long long)t->added,
			 (unsigned long long)t->removed);
	between = "; ";
	for (size_t i = CHANGE_FLAGGED; i < CHANGE_GROUP_COUNT; i++) {
		if (t->groups[i] == 0)
			continue;
		diff_put(d, TEXT_WARN, "%s%zu %s", between, t->groups[i], change_group_words[i]);
		between = ", ";
	}
	if (t->tally.waiting)
		diff_put(d, TEXT_WARN, "%s%zu file%s with what is held", between, t->tally.waiting,
			 t->tally.waiting == 1 ? "" : "s");
	diff_end_line(d);
	if (d->changes.moved) {
		diff_put(d, TEXT_WARN, "Something changed while it was read; look again.");
		diff_end_line(d);
	}
}

static void diff_put_group_head(struct diff *d, unsigned int group)
{
	static const char *const words[CHANGE_GROUP_COUNT] = {
		[CHANGE_ORDINARY] = "ordinary",
		[CHANGE_FLAGGED] = "flagged: lands, and is worth a look",
		[CHANGE_LEAVE] = "left out: made again by its tool",
		[CHANGE_HELD] = "held: lands only when you release it by name",
		[CHANGE_DROPPED] = "dropped: never lands",
	};
	size_t count = d->totals.groups[group];

	diff_put(d, TEXT_STRONG, "== %zu %s ==", count, words[group]);
	diff_end_line(d);
	diff_end_line(d);
}

/* A flagged change, and how many the same rule flagged. */
struct diff_flag {
	size_t change, count;
	const char *rule;
};

static int diff_flag_order(const void *a, const void *b)
{
	const struct diff_flag *x = a, *y = b;
	int rule = strcmp(x->rule, y->rule);

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return rule ? rule : x->change < y->change ? -1 : 1;
}

static int diff_flag_by_rule(const void *a, const void *b)
{
	const struct diff_flag *x = a, *y = b;

	return strcmp(x->rule, y->rule);
}

/* Puts what is flagged, by its rules, the rare ones first. */
static int diff_put_flagged(struct diff *d, struct error *e)
{
	_cleanup_free_ struct diff_flag *flags = calloc(d->changes.count + 1, sizeof(*flags));
	size_t count = 0;
	int r = flags ? 0 : error_sys(e, -ENOMEM, "cannot sort what is flagged");

	for (size_t i = 0; flags && i < d->changes.count; i++)
		if (d->folding.fates[i] == DIFF_SHOWN &&
		    d->changes.items[i].group == CHANGE_FLAGGED)
			flags[count++] = (struct diff_flag){
				i, 0, d->changes.items[i].rule ? d->changes.items[i].rule : ""};
	if (count > 1)
		qsort(flags, count, sizeof(*flags), diff_flag_by_rule);
	for (size_t i = 0, n; i < count; i = n) {
		for (n = i; n < count && strcmp(flags[n].rule, flags[i].rule) == 0;)
			n++;
		for (size_t at = i; at < n; at++)
			flags[at].count = n - i;
	}
	if (count > 1)
		qsort(flags, count, sizeof(*flags), diff_flag_order);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (flags[i].count > 1 &&
		    (i == 0 || strcmp(flags[i - 1].rule, flags[i].rule) != 0)) {
			diff_put(d, TEXT_STRONG, "-- %zu by %s --", flags[i].count, flags[i].rule);
			diff_end_line(d);
		}
		r = diff_put_at(d, flags[i].change, e);
		diff_end_line(d);
	}
	if (r == 0)
		diff_put_heaped_rules(d);
	return r;
}

/* Puts commits, then files, then what is folded. */
static int diff_put_ordinary(struct diff *d, struct error *e)
{
	size_t before = d->out.len;
	int r = diff_put_git(d, e);

	if (d->out.len != before)
		diff_end_line(d);
	before = d->out.len;
	if (r == 0)
		r = diff_put_moves(d, e);
	if (d->out.len != before)
		diff_end_line(d);
	for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
		if (d->folding.fates[i] != DIFF_SHOWN ||
		    d->changes.items[i].group != CHANGE_ORDINARY)
			continue;
		r = diff_put_at(d, i, e);
		diff_end_line(d);
	}
	before = d->out.len;
	diff_put_heaps(d);
	if (d->out.len != before)
		diff_end_line(d);
	return r;
}

static int diff_put_groups(struct diff *d, struct error *e)
{
	size_t other = d->totals.groups[CHANGE_FLAGGED] + d->totals.groups[CHANGE_HELD] +
		       d->totals.groups[CHANGE_DROPPED];
	int r = 0;

	for (unsigned int group = 0; r == 0 && group < CHANGE_GROUP_COUNT; group++) {
		/* A heap has lines among the ordinary changes, even if all of it is flagged. */
		if (d->totals.groups[group] == 0 && group != CHANGE_ORDINARY &&
		    (group != CHANGE_HELD || d->totals.tally.waiting == 0))
			continue;
		if (other && d->totals.groups[group])
			diff_put_group_head(d, group);
		if (group == CHANGE_ORDINARY || group == CHANGE_FLAGGED) {
			r = group == CHANGE_ORDINARY ? diff_put_ordinary(d, e)
						     : diff_put_flagged(d, e);
			continue;
		}
		for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
			if (d->folding.fates[i] != DIFF_SHOWN || d->changes.items[i].group != group)
				continue;
			r = diff_put_at(d, i, e);
			diff_end_line(d);
		}
		size_t before = d->out.len;

		if (r == 0 && group == CHANGE_HELD)
			diff_put_waiting(d);
		if (d->out.len != before)
			diff_end_line(d);
	}
	return r;
}

int diff_put_all(struct diff *d, struct error *e)
{
	diff_count(d);
	int r = diff_put_groups(d, e);

	if (r == 0)
		diff_put_summary(d);
	return r;
}

/* Says what the user can do with it. */
static void diff_put_next(struct diff *d)
{
	if (d->totals.groups[CHANGE_HELD] + d->totals.tally.waiting) {
		diff_put(d, TEXT_PLAIN,
			 "Held changes land with: bawn apply --release PATH (or a folder, or a "
			 "rule)");
		diff_end_line(d);
	}
}

static int diff_show(struct diff *d, const struct invocation *i, struct error *e)
{
	diff_put_session(d, &d->review->session, d->review->runs);
	diff_end_line(d);
	int r = invocation_has(i, OPTION_STAT) ? diff_put_stat(d, e) : diff_put_groups(d, e);

	if (r < 0)
		return r;
	diff_put_leave(d);
	diff_put_summary(d);
	diff_put_next(d);
	return 0;
}

static void diff_put_names(struct diff *d)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (d->folding.fates[i] != DIFF_SHOWN && d->folding.fates[i] != DIFF_MOVED)
			continue;
		text_name(&d->out, span_of_str(c->path));
		buf_put_str(&d->out, folding_is_file(c) ? "\n" : "/\n");
	}
	for (size_t n = 0; n < d->folding.heap_count; n++) {
		const struct heap *h = &d->folding.heaps[n];

		if (!heap_is_one(h))
			continue;
		text_name(&d->out, (struct span){(const uint8_t *)h->path, h->len});
		buf_put_str(&d->out, "/\n");
	}
}

static bool diff_is_shown(const void *context, size_t i)
{
	const struct diff *d = context;

	return d->folding.fates[i] != DIFF_AWAY;
}

/* A tool gets changes that have their own lines, and nothing that is folded. */
static bool diff_is_in_tool(const void *context, size_t i)
{
	const struct diff *d = context;

	return d->folding.fates[i] == DIFF_SHOWN || d->folding.fates[i] == DIFF_SILENT;
}

/* Puts "2 files, 1 commit", as every other screen says it. */
static void diff_put_how_many(struct diff *d)
{
	_cleanup_buf_ struct buf words = BUF_INIT(64 << 10);

	tally_put(&words, &d->totals.tally);
	diff_put(d, TEXT_PLAIN, "%s", buf_str(&words));
	diff_end_line(d);
}

/* Output to a file is for `git apply`; a person may read what goes to a pipe. */
static bool diff_is_patch(const struct invocation *i)
{
	struct stat st;

	return invocation_has(i, OPTION_PATCH) ||
	       (!invocation_has(i, OPTION_STAT) && !invocation_has(i, OPTION_WORD) &&
		fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode));
}

static int diff_run(const struct invocation *i, struct review *review, struct error *e)
{
	_cleanup_diff_ struct diff d = {
		.only_held = invocation_has(i, OPTION_HELD),
		.review = review,
		.progress = review->progress,
		.view = VIEW_INIT,
		.as_text = invocation_has(i, OPTION_TEXT),
		.by_word = invocation_has(i, OPTION_WORD),
		.text = pager_text(),
		.out = BUF_INIT(DIFF_OUT_MAX),
	};
	bool json = invocation_has(i, OPTION_JSON), names = invocation_has(i, OPTION_NAME_ONLY);
	bool count = invocation_has(i, OPTION_HOW_MANY) && !json;
	int r = picks_read(review, i->arguments, (size_t)i->argument_count, &d.picks, e);

	if (r == 0)
		r = diff_read(&d, &review->session, json || review->runs, e);
	if (r < 0)
		return r;
	r = diff_fold(&d, e);
	diff_fold_leave(&d);
	diff_count(&d);
	if (r == 0)
		r = json                             ? diff_put_json(&d, e)
		    : count                          ? (diff_put_how_many(&d), 0)
		    : invocation_has(i, OPTION_TOOL) ? tool_show(&d, e)
		    : names                          ? (diff_put_names(&d), 0)
		    : diff_is_patch(i)               ? diff_put_patch(&d, e)
						     : diff_show(&d, i, e);
	if (r == 0 && buf_error(&d.out))
		r = error_sys(e, buf_error(&d.out), "cannot show the changes");
	/* A list of names does not show what is in the files. */
	if (r == 0 && !names && !count && !invocation_has(i, OPTION_STAT))
		r = seen_keep(review, &d.view, &d.changes,
			      invocation_has(i, OPTION_TOOL) ? diff_is_in_tool : diff_is_shown, &d,
			      e);
	diff_flush(&d, true);
	if (r < 0)
		return r;
	return d.totals.groups[CHANGE_HELD] + d.totals.tally.waiting ? EXIT_FOUND : EXIT_OK;
}

int review_diff(const struct invocation *i)
{
	_cleanup_review_ struct review review = {.layers = LAYERS_INIT, .tree = -1};
	struct error e = ERROR_INIT;
	struct progress progress;

	if (invocation_has(i, OPTION_BETWEEN))
		return review_between(i);
	int r = review_open(i, REVIEW_SESSION, &review, &e);

	progress_begin(&progress, invocation_has(i, OPTION_JSON));
	review.progress = &progress;
	if (r == 0)
		r = review.session.mode == LAYERS_DIRECT
			    ? direct_changes_show(
				      &review,
				      (invocation_has(i, OPTION_HELD) ? DIRECT_SHOW_HELD : 0) |
					      (invocation_has(i, OPTION_JSON) ? DIRECT_SHOW_JSON
									      : 0) |
					      (invocation_has(i, OPTION_HOW_MANY)
						       ? DIRECT_SHOW_COUNT
						       : 0),
				      &e)
			    : diff_run(i, &review, &e);
	if (r < 0 && review_put_nothing(i, &review, "changes"))
		return EXIT_OK;
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	return r;
}
