/* SPDX-License-Identifier: Apache-2.0 */
#include "banner.h"

#include "str.h"
#include "words.h"
#include "words_network.h"

#include <stdio.h>

enum { BANNER_LABEL = 9, BANNER_LINE_MAX = 16 << 10 };

/* How many columns s takes.  Our escaping left no wide or invisible characters but letters. */
static size_t banner_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void banner_line(const struct text *t, enum text_style style, const char *label,
			const struct buf *words)
{
	text_styled(t, TEXT_FAINT, "  %-*s", BANNER_LABEL, label);
	text_styled(t, style, "%s", buf_str(words));
	text_printf(t, "\n");
}

/* Adds paths to a line while they fit, then "and 3 more". */
struct banner_list {
	struct buf *line;
	size_t room;
	size_t left_out;
	struct buf last; /* the one that is left out, while it is the only one */
};

static void banner_add(struct banner_list *l, const char *one)
{
	const size_t and_more = sizeof(", and 99 more") - 1;

	/* The first one, the workspace, is named however long it is. */
	if (l->left_out > 0 ||
	    (l->line->len > 0 &&
	     banner_columns(buf_str(l->line)) + 2 + banner_columns(one) + and_more > l->room)) {
		buf_clear(&l->last);
		if (l->left_out++ == 0)
			buf_put_str(&l->last, one);
		return;
	}
	if (l->line->len > 0)
		buf_put_str(l->line, ", ");
	buf_put_str(l->line, one);
}

static void banner_add_path(struct banner_list *l, const struct plan *plan, const char *path)
{
	_cleanup_buf_ struct buf one = BUF_INIT(BANNER_LINE_MAX);

	words_path(&one, plan, path);
	banner_add(l, buf_str(&one));
}

static void banner_end_list(struct banner_list *l)
{
	/* To leave one out saves nothing. */
	if (l->left_out == 1)
		buf_putf(l->line, "%s%s", l->line->len ? ", " : "", buf_str(&l->last));
	else if (l->left_out > 1)
		buf_putf(l->line, "%s%zu more", l->line->len ? ", and " : "", l->left_out);
	buf_fini(&l->last);
}

static size_t banner_room(const struct text *t)
{
	size_t width = t->width > 40 ? (size_t)t->width : 40;

	return width - BANNER_LABEL - 2;
}

/* Where the command starts, if that is not the top of the workspace. */
static void banner_starts(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf line = BUF_INIT(BANNER_LINE_MAX);

	if (str_equal(plan->cwd, plan->workspace))
		return;
	words_path(&line, plan, plan->cwd);
	buf_put_str(&line, "; the workspace is ");
	words_path(&line, plan, plan->workspace);
	banner_line(t, TEXT_PLAIN, "in", &line);
}

static void banner_writes(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf line = BUF_INIT(BANNER_LINE_MAX);
	static const char own[] = "a home and a /tmp of its own";
	struct banner_list list = {.line = &line,
				   .last = BUF_INIT(BANNER_LINE_MAX),
				   .room = banner_room(t) - sizeof(own) - 1};

	if (plan->backend == PLAN_BACKEND_HOST) {
		buf_put_str(&line, "everything that you can write");
		banner_line(t, TEXT_BAD, "writes", &line);
		return;
	}
	if (plan->workspace_access == PLAN_ACCESS_WRITE)
		banner_add_path(&list, plan, plan->workspace);
	bool others = false;

	for (size_t i = 0; i < plan->mounts.count; i++)
		if (str_equal(plan->mounts.items[i].role, "named") &&
		    plan->mounts.items[i].access == PLAN_ACCESS_WRITE) {
			banner_add_path(&list, plan, plan->mounts.items[i].target);
			others = true;
		}
	banner_end_list(&list);
	if (line.len > 0)
		buf_put_str(&line, "; ");
	buf_put_str(&line, own);
	banner_line(t, TEXT_PLAIN, "writes", &line);
	if (plan->workspace_access != PLAN_ACCESS_WRITE)
		return;
	buf_clear(&line);
	buf_put_str(&line, plan->workspace_mode == PLAN_MODE_REVIEW
				   ? "kept apart until you run bawn apply"
				   : "made in place, at once; bawn undo takes them back");
	if (others)
		buf_put_str(&line, plan->workspace_mode == PLAN_MODE_REVIEW
					   ? "; other folders: at once"
					   : ", not in other folders");
	banner_line(t, TEXT_PLAIN, "changes", &line);
}

static void banner_reads(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf line = BUF_INIT(BANNER_LINE_MAX);
	struct banner_list list = {
		.line = &line, .last = BUF_INIT(BANNER_LINE_MAX), .room = banner_room(t)};

	if (plan->backend == PLAN_BACKEND_HOST) {
		buf_put_str(&line, "everything that you can read");
		banner_line(t, TEXT_BAD, "reads", &line);
		return;
	}
	if (plan->root.count > 0)
		buf_putf(&line, "the system %s", plan->stands_on);
	else
		buf_put_str(&line, "the system's programs");
	if (plan->workspace_access == PLAN_ACCESS_READ)
		banner_add_path(&list, plan, plan->workspace);
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_READ &&
		    (str_equal(m->role, "named") || str_equal(m->role, "exposed") ||
		     str_equal(m->role, "tool")))
			banner_add_path(&list, plan, m->target);
	}
	banner_end_list(&list);
	banner_line(t, TEXT_PLAIN, "reads", &line);
}

static void banner_secrets(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf open = BUF_INIT(BANNER_LINE_MAX);
	_cleanup_buf_ struct buf line = BUF_INIT(BANNER_LINE_MAX);

	if (plan->backend == PLAN_BACKEND_HOST) {
		buf_put_str(&line, "all of yours, and your whole environment");
		banner_line(t, TEXT_BAD, "secrets", &line);
		return;
	}
	words_open_secrets(&open, plan);
	for (size_t i = 0; open.len == 0 && i < plan->secrets.count; i++)
		buf_putf(&line, "%s%s", i ? ", " : "", plan->secrets.items[i].name);
	if (line.len > 0 && banner_columns(buf_str(&line)) + 20 > banner_room(t)) {
		buf_clear(&line);
		buf_putf(&line, "%zu", plan->secrets.count);
	}
	if (line.len > 0)
		buf_put_str(&line, ", by placeholders");
	else if (open.len == 0)
		buf_put_str(&line, "none");
	else if (banner_columns(buf_str(&open)) <= banner_room(t))
		buf_put(&line, open.ptr, open.len);
	else
		buf_put_str(&line, "what was named: bawn explain says which");
	banner_line(t, open.len ? TEXT_WARN : TEXT_PLAIN, "secrets", &line);
}

/* Puts "github.com, use npm; nothing else". */
static void banner_hosts(const struct text *t, const struct plan *plan, struct buf *line)
{
	static const char rest[] = "; nothing else";
	struct banner_list list = {.line = line,
				   .last = BUF_INIT(BANNER_LINE_MAX),
				   .room = banner_room(t) - sizeof(rest)};
	_cleanup_buf_ struct buf host = BUF_INIT(BANNER_LINE_MAX);

	for (size_t at = 0; words_next_reach(plan, &at, &host);)
		banner_add(&list, buf_str(&host));
	banner_end_list(&list);
	buf_put_str(line, rest);
}

static void banner_reaches(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf line = BUF_INIT(BANNER_LINE_MAX);
	bool host = plan->backend == PLAN_BACKEND_HOST;
	bool filtered = plan_goes_without(plan, PLAN_LAYER_NET_NS);
	bool rules = words_reaches(plan);

	if (host)
		buf_put_str(&line, "everything that this machine can reach");
	else if (filtered)
		buf_put_str(&line, "nothing, by the system call filter alone");
	else if (rules && PLAN_GATE_PRESENT)
		banner_hosts(t, plan, &line);
	else
		buf_putf(&line, "nothing: the network is closed%s",
			 rules ? ", and this build opens no rules yet" : "");
	banner_line(t, host || filtered ? TEXT_BAD : TEXT_PLAIN, "reaches", &line);
	if (host || filtered || !rules || plan->proxies.count == 0)
		return;
	buf_clear(&line);
	words_proxy(&line, plan, false);
	banner_line(t, TEXT_PLAIN, "", &line);
}

static const char *banner_record(const struct plan *plan)
{
	if (plan_goes_without(plan, PLAN_LAYER_RECORD))
		return "none";
	return plan->backend == PLAN_BACKEND_HOST ? "when it ran, not what it did"
						  : "what it does: bawn show, bawn log";
}

static void banner_rest(const struct text *t, const struct plan *plan)
{
	banner_reaches(t, plan);
	banner_secrets(t, plan);
	text_styled(t, TEXT_FAINT, "  %-*s", BANNER_LABEL, "record");
	text_printf(t, "%s\n", banner_record(plan));
}

static void banner_notes(const struct text *t, const struct plan *plan)
{
	size_t warnings = 0;
	size_t not_given = 0;

	for (size_t i = 0; i < plan->notes.count; i++) {
		warnings += plan->notes.items[i].kind == PLAN_NOTE_WARNING;
		/* Nobody misses what nobody asked for. */
		not_given += plan->notes.items[i].kind == PLAN_NOTE_NOT_GIVEN &&
			     !str_equal(plan->notes.items[i].origin, "default");
	}
	if (warnings + not_given == 0)
		return;
	text_styled(t, TEXT_FAINT, "  %-*s", BANNER_LABEL, "notes");
	if (warnings > 0)
		text_styled(t, TEXT_WARN, "%zu warning%s%s", warnings, warnings == 1 ? "" : "s",
			    not_given ? ", " : "");
	if (not_given > 0)
		text_printf(t, "%zu not given", not_given);
	text_printf(t, ": bawn explain says which\n");
}

void banner_print(const struct text *t, const struct plan *plan, const char *session)
{
	_cleanup_buf_ struct buf gone = BUF_INIT(BANNER_LINE_MAX);

	text_styled(t, TEXT_STRONG, "bawn");
	if (plan->backend == PLAN_BACKEND_HOST) {
		text_styled(t, TEXT_BAD, "       UNSAFE: no box; it runs on this machine as you\n");
	} else {
		text_printf(t, "       a sandbox of namespaces%s%s%s%s\n",
			    plan->preset[0] ? ", preset " : "", plan->preset,
			    session[0] ? ", session " : "", session);
		words_gone_without(&gone, plan);
	}
	if (gone.len > 0)
		text_styled(t, TEXT_BAD, "  %-*sWEAKER: without %s\n", BANNER_LABEL, "",
			    buf_str(&gone));
	banner_starts(t, plan);
	banner_writes(t, plan);
	banner_reads(t, plan);
	banner_rest(t, plan);
	banner_notes(t, plan);
}

void banner_summary(const struct text *t, const struct plan *plan)
{
	_cleanup_buf_ struct buf gone = BUF_INIT(BANNER_LINE_MAX);

	if (plan->backend == PLAN_BACKEND_HOST) {
		text_styled(t, TEXT_BAD, "bawn: that was UNSAFE: it ran without a box\n");
		return;
	}
	words_gone_without(&gone, plan);
	if (gone.len > 0)
		text_styled(t, TEXT_BAD, "bawn: that box was WEAKER: without %s\n", buf_str(&gone));
}
