/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff`: what a session changed, as one reads a pull request, in the order of what asks for
 * attention least to what asks for it most: ordinary, flagged, held, dropped.
 *
 * May read the layers and the workspace.  Must not run anything, nor write anything but what was
 * shown (seen.h).
 */
#include "direct_changes.h"
#include "diff_parts.h"

#include "leave_show.h"
#include "seen.h"

#include <unistd.h>

/* Which changes are meant, and how many there are of each sort. */
static void diff_pick(struct diff *d)
{
	for (size_t i = 0; i < d->changes.count; i++)
		if (!picks_has_change(&d->picks, &d->changes.items[i]) ||
		    (d->only_held && d->changes.items[i].group != CHANGE_HELD))
			d->fates[i] = DIFF_AWAY;
}

static void diff_count(struct diff *d)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (d->fates[i] == DIFF_AWAY || d->fates[i] == DIFF_SILENT)
			continue;
		d->totals.files++;
		d->totals.kinds[c->kind]++;
		d->totals.groups[c->group]++;
	}
}

/* What is left out has one line; what lands as one thing is told by its first change, and is shown
 * to who names it. */
static void diff_fold_wholes(struct diff *d)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (d->fates[i] == DIFF_SHOWN &&
		    (c->group == CHANGE_LEAVE || (c->part && d->picks.count == 0)))
			d->fates[i] = DIFF_SILENT;
	}
}

static bool diff_is_away(const void *context, size_t i)
{
	const struct diff *d = context;

	return d->fates[i] == DIFF_AWAY;
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

	if (t->files == 0) {
		diff_put(d, TEXT_PLAIN, "%s",
			 d->picks.count && d->changes.count
				 ? (d->only_held ? "nothing of what you named is held"
						 : "nothing of what you named has changed")
			 : d->only_held && d->changes.count ? "nothing is held"
							    : "nothing has changed");
		diff_end_line(d);
		return;
	}
	diff_put(d, TEXT_STRONG, "%zu change%s", t->files, t->files == 1 ? "" : "s");
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

static int diff_put_groups(struct diff *d, struct error *e)
{
	bool grouped = d->totals.groups[CHANGE_ORDINARY] < d->totals.files;
	int r = 0;

	for (unsigned int group = 0; r == 0 && group < CHANGE_GROUP_COUNT; group++) {
		if (d->totals.groups[group] == 0)
			continue;
		if (grouped)
			diff_put_group_head(d, group);
		size_t before = d->out.len;

		if (group == CHANGE_ORDINARY)
			r = diff_put_moves(d, e);
		if (r == 0 && group == CHANGE_ORDINARY)
			r = diff_put_git(d, e);
		if (d->out.len != before)
			diff_end_line(d);
		for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
			if (d->fates[i] != DIFF_SHOWN || d->changes.items[i].group != group)
				continue;
			r = diff_put_change(d, &d->changes.items[i], e);
			diff_end_line(d);
		}
	}
	return r;
}

/* What can be done with it. */
static void diff_put_next(struct diff *d)
{
	if (d->totals.groups[CHANGE_HELD]) {
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

static bool diff_is_shown(const void *context, size_t i)
{
	const struct diff *d = context;

	return d->fates[i] != DIFF_AWAY;
}

static int diff_run(const struct invocation *i, struct review *review, struct error *e)
{
	_cleanup_diff_ struct diff d = {
		.only_held = invocation_has(i, OPTION_HELD),
		.review = review,
		.view = VIEW_INIT,
		.text = text_open(STDOUT_FILENO),
		.out = BUF_INIT(DIFF_OUT_MAX),
	};
	bool json = invocation_has(i, OPTION_JSON);
	int r = picks_read(review, i->arguments, (size_t)i->argument_count, &d.picks, e);

	if (r == 0)
		r = diff_read(&d, &review->session, json || review->runs, e);
	if (r < 0)
		return r;
	diff_pick(&d);
	r = diff_fold(&d, e);
	diff_fold_wholes(&d);
	diff_count(&d);
	if (r == 0)
		r = json ? diff_put_json(&d, e) : diff_show(&d, i, e);
	if (r == 0 && buf_error(&d.out))
		r = error_sys(e, buf_error(&d.out), "cannot show the changes");
	/* A list of names shows nobody what is in them. */
	if (r == 0 && !invocation_has(i, OPTION_STAT))
		r = seen_keep(review, &d.view, &d.changes, diff_is_shown, &d, e);
	diff_flush(&d, true);
	if (r < 0)
		return r;
	return d.totals.groups[CHANGE_HELD] ? EXIT_FOUND : EXIT_OK;
}

int review_diff(const struct invocation *i)
{
	_cleanup_review_ struct review review = {.layers = LAYERS_INIT, .tree = -1};
	struct error e = ERROR_INIT;

	if (invocation_has(i, OPTION_BETWEEN))
		return review_between(i);
	int r = review_open(i, REVIEW_SESSION, &review, &e);

	if (r == 0)
		r = review.session.mode == LAYERS_DIRECT
			    ? direct_changes_show(&review, invocation_has(i, OPTION_HELD),
						  invocation_has(i, OPTION_JSON), &e)
			    : diff_run(i, &review, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	return r;
}
