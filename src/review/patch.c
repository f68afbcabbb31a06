/* SPDX-License-Identifier: Apache-2.0 */
#include "patch.h"

#include "choice_show.h"
#include "diff_parts.h"
#include "seen.h"
#include "str.h"
#include "unified.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATCH_NAMES = 8 };

/* What the person said about the rest. */
enum patch_rest { PATCH_ASK, PATCH_ALL, PATCH_NONE };

struct patch {
	const struct prompt *prompt;
	struct choices *choices;
	bool quit;
};

static const char patch_help[] = "y  take it\n"
				 "n  leave it\n"
				 "a  take it and all that follows in this file\n"
				 "d  leave it and all that follows in this file\n"
				 "q  leave it and everything that follows\n"
				 "s  split it into smaller ones";

static void patch_leave(struct choice *x)
{
	x->state = CHOICE_LEFT;
}

void patch_show(const struct prompt *p, const struct choices *c, const struct choice *x)
{
	struct error e = ERROR_INIT;
	struct diff d = {.view = c->view,
			 .instead = x->content >= 0 ? &x->content : NULL,
			 .text = p->text,
			 .out = BUF_INIT(DIFF_OUT_MAX)};

	text_printf(&p->text, "\n");
	if (diff_put_change(&d, x->change, &e) < 0)
		diff_put(&d, TEXT_WARN, "%s", e.text);
	diff_end_line(&d);
	d.instead = NULL;
	for (size_t i = 0; x->state == CHOICE_HELD && i < c->count; i++) {
		if (!choices_go_with(c, x, i) || !folding_is_file(c->items[i].change))
			continue;
		if (diff_put_change(&d, c->items[i].change, &e) < 0)
			diff_put(&d, TEXT_WARN, "%s", e.text);
		diff_end_line(&d);
		diff_flush(&d, false);
	}
	diff_flush(&d, true);
	buf_fini(&d.out);
}

static bool patch_lands(const void *context, size_t i)
{
	const struct choices *c = context;

	return c->items[i].state == CHOICE_LANDS;
}

int patch_show_all(const struct prompt *p, struct choices *c, struct error *e)
{
	const struct folding_how how = {.changes = &c->changes,
					.view = &c->view,
					.meant = patch_lands,
					.makers = c->review->makers,
					.lands = true,
					.context = c};
	_cleanup_free_ int *instead = calloc(c->count + 1, sizeof(*instead));
	/* The choices keep both lists. */
	struct diff d = {.view = c->view,
			 .changes = c->changes,
			 .instead_at = instead,
			 .text = p->text,
			 .out = BUF_INIT(DIFF_OUT_MAX)};
	int r = instead ? 0 : error_sys(e, -ENOMEM, "cannot show the changes");

	for (size_t i = 0; instead && i < c->count; i++)
		instead[i] = c->items[i].content;
	if (r == 0)
		r = diff_fold_by(&d, &how, e);
	if (r == 0)
		r = diff_put_all(&d, e);
	diff_flush(&d, true);
	folding_fini(&d.folding);
	new_commits_fini(&d.commits);
	buf_fini(&d.out);
	return r < 0 ? r : seen_keep(c->review, &c->view, &c->changes, patch_lands, c, e);
}

/* Puts its name, and why it is flagged. */
static void patch_put_name(const struct patch *p, const struct choice *x)
{
	_cleanup_buf_ struct buf line = BUF_INIT(16 << 10);

	choice_put_line(&line, x);
	buf_put_char(&line, '\n');
	choice_put_reason(&p->prompt->text, &line, x);
	text_write(&p->prompt->text, &line);
}

/* Asks about a change without hunks, as a whole. */
static void patch_ask_whole(struct patch *p, struct choice *x)
{
	static const char help[] = "y  take it\nn  leave it\nv  show it first\n"
				   "q  leave it and everything that follows";
	char key = 0;

	patch_put_name(p, x);
	while ((key = prompt_key(p->prompt, "Take it? [y/N/v/q/?]", "nyvq", help)) == 'v')
		patch_show(p->prompt, p->choices, x);
	if (key != 'y')
		patch_leave(x);
	p->quit = key == 'q';
}

static void patch_show_line(void *context, char sign, const struct span *text)
{
	const struct text *t = context;
	_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);
	enum text_style style = sign == '+' ? TEXT_GOOD : sign == '-' ? TEXT_BAD : TEXT_PLAIN;
	size_t len = text->len;
	bool newline = len > 0 && text->ptr[len - 1] == '\n';

	buf_put_char(&line, sign);
	text_put(t, &line, style, (struct span){text->ptr, newline ? len - 1 : len});
	buf_put_str(&line, newline ? "\n" : "\n\\ no newline at the end\n");
	text_write(t, &line);
}

static void patch_show_hunk(const struct patch *p, const struct content *content,
			    const struct hunk *h)
{
	text_styled(&p->prompt->text, TEXT_FAINT, "@@ -%zu,%zu +%zu,%zu @@\n",
		    h->before + (h->before_count > 0), h->before_count,
		    h->after + (h->after_count > 0), h->after_count);
	unified_lines(&content->lines[0], &content->lines[1], &content->diff, h, patch_show_line,
		      (void *)(uintptr_t)&p->prompt->text);
}

/* The hunk of a single region, taken from one with several. */
static struct hunk patch_narrow(const struct content *content, const struct hunk *h, size_t region)
{
	const struct linediff_region *r = &content->diff.items[region];
	struct hunk one = {.before = r->before,
			   .before_count = r->before_count,
			   .after = r->after,
			   .after_count = r->after_count,
			   .region = region,
			   .region_count = 1,
			   .within = h->within};

	return one;
}

/* Asks about a hunk; marks its regions.  Returns what the person said about the rest. */
static enum patch_rest patch_ask_hunk(struct patch *p, const struct content *content,
				      const struct hunk *h, bool *chosen)
{
	char question[64];
	bool splits = h->region_count > 1;

	patch_show_hunk(p, content, h);
	(void)snprintf(question, sizeof(question), "Take this hunk? [y/N/a/d/q%s/?]",
		       splits ? "/s" : "");
	char key = prompt_key(p->prompt, question, splits ? "nyadqs" : "nyadq", patch_help);

	if (key == 's') {
		enum patch_rest rest = PATCH_ASK;

		for (size_t i = 0; i < h->region_count && rest == PATCH_ASK && !p->quit; i++) {
			struct hunk one = patch_narrow(content, h, h->region + i);

			rest = patch_ask_hunk(p, content, &one, chosen); /* NOLINT: once */
			for (size_t n = i + 1; rest == PATCH_ALL && n < h->region_count; n++)
				chosen[h->region + n] = true;
		}
		return rest;
	}
	for (size_t i = 0; i < h->region_count; i++)
		chosen[h->region + i] = key == 'y' || key == 'a';
	p->quit = key == 'q';
	return key == 'a' ? PATCH_ALL : key == 'd' || key == 'q' ? PATCH_NONE : PATCH_ASK;
}

/*
 * Takes what was chosen of a file: all of it, nothing, or the workspace's file with those regions.
 */
static int patch_take(struct choice *x, const struct content *content, const bool *chosen)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2ul * CONTENT_TEXT_MAX);
	size_t taken = 0;

	for (size_t i = 0; i < content->diff.count; i++)
		taken += chosen[i];
	if (taken == 0)
		patch_leave(x);
	if (taken == 0 || taken == content->diff.count)
		return 0;
	linediff_put(&content->lines[0], &content->lines[1], &content->diff, chosen, &out);
	return buf_error(&out) ? buf_error(&out) : choice_set_content(x, buf_span(&out), true);
}

static int patch_ask_hunks(struct patch *p, struct choice *x, struct content *content)
{
	bool *chosen = arena_alloc(&content->arena, content->diff.count + 1);
	enum patch_rest rest = PATCH_ASK;
	struct hunks hunks;

	if (!chosen || unified_hunks(&content->lines[0], &content->diff, &content->arena, &hunks))
		return -ENOMEM;
	patch_put_name(p, x);
	for (size_t i = 0; i < hunks.count; i++) {
		const struct hunk *h = &hunks.items[i];

		if (rest == PATCH_ASK)
			rest = patch_ask_hunk(p, content, h, chosen);
		else
			for (size_t n = 0; rest == PATCH_ALL && n < h->region_count; n++)
				chosen[h->region + n] = true;
	}
	return patch_take(x, content, chosen);
}

/* Only a file that was text and stays text has hunks to choose from. */
static bool patch_has_hunks(const struct choice *x, const struct content *content)
{
	const struct change *c = x->change;

	return c->kind == CHANGE_CHANGED && c->before.type == OBJECT_FILE &&
	       c->after.type == OBJECT_FILE && content->kind == CONTENT_TEXT &&
	       content->diff.count > 0 && x->content < 0;
}

static int patch_ask(struct patch *p, struct choice *x)
{
	_cleanup_content_ struct content content = {.kind = CONTENT_NONE};
	int r = content_read(&p->choices->view, x->change, -1, &content);

	if (r < 0)
		return r;
	if (patch_has_hunks(x, &content))
		return patch_ask_hunks(p, x, &content);
	/* The person who released it has said yes already. */
	if (!x->released)
		patch_ask_whole(p, x);
	return 0;
}

/* One of the files that git writes with each commit (index, HEAD, COMMIT_EDITMSG, refs, logs): nobody
 * chooses among them.  Settings, and what a rule flagged, have their own questions. */
static bool patch_is_git(const struct choice *x)
{
	const char *rest = git_rest(x->change->path);
	bool note = rest && ((*rest >= 'A' && *rest <= 'Z') || str_equal(rest, "index") ||
			     str_equal(rest, "packed-refs") || str_after(rest, "refs/") ||
			     str_after(rest, "logs/"));

	return x->state == CHOICE_LANDS && note && !x->released &&
	       x->change->group != CHANGE_FLAGGED &&
	       !(x->change->kind == CHANGE_ADDED && x->change->after.type == OBJECT_DIR);
}

static void patch_leave_git(struct patch *p)
{
	for (size_t i = 0; i < p->choices->count; i++)
		if (patch_is_git(&p->choices->items[i]))
			patch_leave(&p->choices->items[i]);
}

/* Shows git's refs by their names, and counts the other files. */
static size_t patch_put_git(struct patch *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t refs = 0, others = 0;

	for (size_t i = 0; i < p->choices->count; i++) {
		const struct choice *x = &p->choices->items[i];
		const char *rest = git_rest(x->change->path);

		if (!patch_is_git(x) || !folding_is_file(x->change))
			continue;
		if (!rest || !str_after(rest, "refs/")) {
			others++;
			continue;
		}
		if (++refs > PATCH_NAMES)
			continue;
		choice_put_line(&out, x);
		buf_put_char(&out, '\n');
	}
	if (refs > PATCH_NAMES)
		buf_putf(&out, "... and %zu more refs\n", refs - PATCH_NAMES);
	if (others)
		buf_putf(&out, "%s%zu other file%s of git's own: the index, logs and notes\n",
			 refs ? "with " : "", others, others == 1 ? "" : "s");
	text_write(&p->prompt->text, &out);
	return refs + others;
}

/* Asks once about all of git's own files. */
static void patch_ask_git(struct patch *p)
{
	static const char help[] = "y  take them: the session's commits land\n"
				   "n  leave them, and the commits with them\nv  show them first\n"
				   "q  leave them";
	char key = 0;

	if (p->quit || patch_put_git(p) == 0) {
		patch_leave_git(p);
		return;
	}
	while ((key = prompt_key(p->prompt, "Take git's own files? [y/N/v/q/?]", "nyvq", help)) ==
	       'v')
		for (size_t i = 0; i < p->choices->count; i++)
			if (patch_is_git(&p->choices->items[i]))
				patch_show(p->prompt, p->choices, &p->choices->items[i]);
	if (key != 'y')
		patch_leave_git(p);
}

int patch_choose(const struct prompt *prompt, struct choices *c, struct error *e)
{
	struct patch p = {.prompt = prompt, .choices = c};

	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];
		/* A new directory comes with what is chosen in it. */
		bool follows =
			x->change->kind == CHANGE_ADDED && x->change->after.type == OBJECT_DIR;

		/* git's objects come with the files that name them. */
		if (x->state == CHOICE_LANDS && choice_is_git_object(x->change->path)) {
			patch_leave(x);
			continue;
		}
		if (x->state != CHOICE_LANDS || follows || patch_is_git(x))
			continue;
		if (p.quit) {
			patch_leave(x);
			continue;
		}
		int r = patch_ask(&p, x);

		if (r < 0)
			return error_sys(e, r, "cannot read %s", x->change->path);
	}
	patch_ask_git(&p);
	return 0;
}

/* --- by rule ------------------------------------------------------------------------------ */

static bool patch_is_of(const struct choice *x, const char *rule)
{
	return x->state == CHOICE_LANDS && x->change->group == CHANGE_FLAGGED && x->change->rule &&
	       str_equal(x->change->rule, rule);
}

/* Some rules have one line for a folder: the length of its path; 0: the line is about this change
 * alone. */
static size_t patch_folder(const struct change *c)
{
	const char *at =
		str_equal(c->rule, "node-modules") ? strstr(c->path, "node_modules/") : NULL;

	if (at)
		return (size_t)(at - c->path) + strlen("node_modules");
	if (!str_equal(c->rule, "ignored-programs"))
		return 0;
	return c->ignored ? c->ignored : strcspn(c->path, "/");
}

/* Leaves the change, and all that its line is about. */
static void patch_leave_told(struct choices *c, struct choice *lead)
{
	size_t len = patch_folder(lead->change);

	for (size_t i = 0; len && i < c->count; i++) {
		const char *path = c->items[i].change->path;

		if (c->items[i].state == CHOICE_LANDS &&
		    strncmp(path, lead->change->path, len) == 0 && path[len] == '/')
			patch_leave(&c->items[i]);
	}
	patch_leave(lead);
}

static void patch_leave_rule(struct choices *c, const char *rule)
{
	for (size_t i = 0; i < c->count; i++)
		if (patch_is_of(&c->items[i], rule))
			patch_leave_told(c, &c->items[i]);
}

/* Asks about all that one rule flagged; false: the person wants to stop. */
static bool patch_ask_rule(const struct prompt *p, struct choices *c, const char *rule)
{
	static const char help[] = "y  take them\nn  leave them\nv  show them first\n"
				   "q  leave them, and all that the rules that follow flagged";
	size_t count = 0;
	char question[160], key = 0;

	for (size_t i = 0; i < c->count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);

		if (!patch_is_of(&c->items[i], rule) || ++count > PATCH_NAMES)
			continue;
		buf_put_str(&line, "  ");
		choice_put_line(&line, &c->items[i]);
		buf_put_char(&line, '\n');
		if (count == 1)
			choice_put_reason(&p->text, &line, &c->items[i]);
		text_write(&p->text, &line);
	}
	if (count > PATCH_NAMES)
		text_printf(&p->text, "  ... and %zu more\n", count - PATCH_NAMES);
	(void)snprintf(question, sizeof(question), "Take %s flagged by %.64s? [y/N/v/q/?]",
		       count == 1 ? "what is" : "all that are", rule);
	while ((key = prompt_key(p, question, "nyvq", help)) == 'v')
		for (size_t i = 0; i < c->count; i++)
			if (patch_is_of(&c->items[i], rule))
				patch_show(p, c, &c->items[i]);
	if (key != 'y')
		patch_leave_rule(c, rule);
	return key != 'q';
}

void patch_choose_rules(const struct prompt *p, struct choices *c)
{
	size_t asked = 0;
	bool quit = false;

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		bool first = x->change->rule && patch_is_of(x, x->change->rule);

		/* If an earlier change has the rule, we asked about it there. */
		for (size_t n = 0; first && n < i; n++)
			first = !(c->items[n].change->group == CHANGE_FLAGGED &&
				  c->items[n].change->rule &&
				  str_equal(c->items[n].change->rule, x->change->rule) &&
				  c->items[n].state == CHOICE_LANDS);
		if (!first)
			continue;
		asked++;
		if (quit)
			patch_leave_rule(c, x->change->rule);
		else
			quit = !patch_ask_rule(p, c, x->change->rule);
	}
	if (asked == 0)
		text_printf(&p->text, "Nothing that would land is flagged.\n");
}
