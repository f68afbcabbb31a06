/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One change as a person reads it.  Names, link targets and lines, which the agent chose, are
 * escaped: a control character in a line is shown, and does nothing.  Words say what colour says,
 * too.
 */
#include "diff_parts.h"

#include "choice_show.h"
#include "help.h"
#include "str.h"
#include "unified.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHOW_WITHIN = 60 };

static void show_size(struct diff *d, const struct object *before, const struct object *after)
{
	_cleanup_buf_ struct buf words = BUF_INIT(128);

	if (before->type == OBJECT_FILE)
		words_size(&words, before->size);
	if (before->type == OBJECT_FILE && after->type == OBJECT_FILE)
		buf_put_str(&words, " -> ");
	if (after->type == OBJECT_FILE)
		words_size(&words, after->size);
	diff_put(d, TEXT_PLAIN, ", %s", buf_str(&words));
}

/* Only by the text of the link: we look nothing up. */
static bool show_leads_outside(const char *path, const char *link)
{
	size_t depth = 0;

	if (*link == '/')
		return true;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	for (const char *part = link; *part;) {
		size_t len = strcspn(part, "/");

		if (len == 2 && strncmp(part, "..", 2) == 0) {
			if (depth-- == 0)
				return true;
		} else if (len > 0 && !(len == 1 && *part == '.')) {
			depth++;
		}
		part += len + (part[len] == '/');
	}
	return false;
}

static const char *show_type(const struct object *o)
{
	static const char *const words[OBJECT_TYPE_COUNT] = {
		[OBJECT_ABSENT] = "nothing",  [OBJECT_FILE] = "a file",
		[OBJECT_DIR] = "a directory", [OBJECT_LINK] = "a link",
		[OBJECT_FIFO] = "a fifo",     [OBJECT_SOCKET] = "a socket",
		[OBJECT_DEVICE] = "a device",
	};

	return words[o->type];
}

/* Puts link targets, types and modes. */
static void show_object(struct diff *d, const struct change *c)
{
	const struct object *before = &c->before;
	const struct object *after = &c->after;
	const struct object *there = after->type == OBJECT_ABSENT ? before : after;
	bool both = before->type != OBJECT_ABSENT && after->type != OBJECT_ABSENT;

	if (both && before->type != after->type)
		diff_put(d, TEXT_PLAIN, ", was %s and is %s", show_type(before), show_type(after));
	else if (there->type != OBJECT_FILE && there->type != OBJECT_DIR)
		diff_put(d, TEXT_PLAIN, ", %s", show_type(there));
	if (there->type == OBJECT_LINK) {
		diff_put(d, TEXT_PLAIN, " to %s", there->link);
		if (after->type == OBJECT_LINK && show_leads_outside(c->path, after->link))
			diff_put(d, TEXT_WARN, " (leads outside)");
	}
	if (before->type == OBJECT_LINK && after->type == OBJECT_LINK &&
	    !str_equal(before->link, after->link))
		diff_put(d, TEXT_PLAIN, " (was %s)", before->link);
	if (both && before->type == after->type && before->mode != after->mode)
		diff_put(d, TEXT_PLAIN, ", mode %03" PRIo32 " -> %03" PRIo32, before->mode,
			 after->mode);
	else if (!both && after->type == OBJECT_FILE && after->mode & 0111)
		diff_put(d, TEXT_PLAIN, ", executable");
}

static void show_content(struct diff *d, const struct change *c, const struct content *content)
{
	const char *type = content->type[1] ? content->type[1] : content->type[0];

	switch (content->kind) {
	case CONTENT_BINARY:
		/* It is worth a word if one side is text and the other is not. */
		if (content->type[0] && content->type[1] &&
		    !str_equal(content->type[0], content->type[1]))
			diff_put(d, TEXT_PLAIN, ", binary: %s -> %s", content->type[0],
				 content->type[1]);
		else
			diff_put(d, TEXT_PLAIN, ", binary: %s", type);
		show_size(d, &c->before, &c->after);
		break;
	case CONTENT_LARGE:
		diff_put(d, TEXT_PLAIN, ", too large to show");
		show_size(d, &c->before, &c->after);
		break;
	case CONTENT_UNREADABLE:
		diff_put(d, TEXT_WARN, ", cannot be read now");
		break;
	case CONTENT_TEXT:
		if (content->lines[0].count + content->lines[1].count == 0 && folding_is_file(c))
			diff_put(d, TEXT_PLAIN, ", empty");
		if (content->crlf)
			diff_put(d, TEXT_PLAIN, ", lines end in CR LF");
		if (content->diff.coarse)
			diff_put(d, TEXT_PLAIN, ", compared coarsely");
		break;
	case CONTENT_NONE:
		break;
	}
}

/* "held by direnv: ...", broken at blanks where there is an edge. */
static void show_why(struct diff *d, const struct change *c)
{
	_cleanup_buf_ struct buf words = BUF_INIT(64 << 10);
	_cleanup_buf_ struct buf lines = BUF_INIT(128 << 10);
	const char *group = change_group_words[c->group];

	buf_put_str(&words, group);
	if (c->rule)
		buf_putf(&words, " by %s", c->rule);
	buf_put_str(&words, ": ");
	text_escape(&words, span_of_str(c->why));
	help_wrap(&lines, buf_str(&words), DIFF_STATUS,
		  d->text.tty ? (size_t)d->text.width : SIZE_MAX);
	const char *rest = str_after(buf_str(&lines), group);

	diff_put(d, c->group == CHANGE_HELD ? TEXT_WARN : TEXT_PLAIN, "%*s%s", DIFF_STATUS, "",
		 rest ? group : "");
	buf_put_str(&d->out, rest ? rest : buf_str(&lines));
	diff_end_line(d);
}

static void show_reason(struct diff *d, const struct change *c)
{
	if (c->why)
		show_why(d, c);
	for (size_t i = 0; i < c->brings_count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);

		brought_put(&line, &c->brings[i]);
		diff_put(d, TEXT_PLAIN, "%*s", DIFF_STATUS, "");
		buf_put(&d->out, line.ptr, line.len);
		diff_end_line(d);
	}
	if (c->both) {
		diff_put(d, TEXT_WARN, "%*syou changed it, too", DIFF_STATUS, "");
		diff_put(d, TEXT_PLAIN, ", since: shown against yours as it is now");
		diff_end_line(d);
	}
	if (c->without) {
		diff_put(d, TEXT_WARN, "%*slands without", DIFF_STATUS, "");
		diff_put(d, TEXT_PLAIN, ": %s", c->without);
		diff_end_line(d);
	}
}

/* Puts "changed src/main.c (mode 644 -> 755)" and why it is in its group. */
static void diff_put_head(struct diff *d, const struct change *c, const struct content *content)
{
	static const enum text_style styles[CHANGE_KIND_COUNT] = {
		[CHANGE_ADDED] = TEXT_GOOD,
		[CHANGE_DELETED] = TEXT_BAD,
	};
	const struct object *there = c->after.type == OBJECT_ABSENT ? &c->before : &c->after;
	char shown[REVIEW_PATH_SHOWN];

	diff_put(d, styles[c->kind], "%-*s", DIFF_STATUS, change_kind_words[c->kind]);
	if (c->from)
		diff_put(d, TEXT_STRONG, "%s -> ", review_shown_path(c->from, shown));
	diff_put(d, TEXT_STRONG, "%s%s", review_shown_path(c->path, shown),
		 there->type == OBJECT_DIR ? "/" : "");
	if (d->alike)
		diff_put(d, TEXT_PLAIN, ", %u%% the same", d->alike);
	show_object(d, c);
	if (content)
		show_content(d, c, content);
	diff_end_line(d);
	show_reason(d, c);
}

/* --- lines ---------------------------------------------------------------------------- */

struct show_lines {
	struct diff *diff;
	bool crlf;
};

static void show_line(void *context, char sign, const struct span *text)
{
	struct show_lines *s = context;
	struct diff *d = s->diff;
	struct span line = *text;
	bool ends = line.len > 0 && line.ptr[line.len - 1] == '\n';
	enum text_style style = sign == '+' ? TEXT_GOOD : sign == '-' ? TEXT_BAD : TEXT_PLAIN;

	if (ends)
		line.len -= s->crlf ? 2 : 1;
	text_put(&d->text, &d->out, style, (struct span){(const uint8_t *)&sign, 1});
	text_put(&d->text, &d->out, style, line);
	diff_end_line(d);
	if (!ends)
		buf_put_str(&d->out, "\\ No newline at end of file\n");
	diff_flush(d, false);
}

static void show_within(struct diff *d, const struct span *line)
{
	struct span cut = *line;

	while (cut.len > 0 && (cut.ptr[cut.len - 1] == '\n' || cut.ptr[cut.len - 1] == '\r'))
		cut.len--;
	if (cut.len > SHOW_WITHIN) {
		cut.len = SHOW_WITHIN;
		/* Do not cut a character. */
		while (cut.len > 0 && (cut.ptr[cut.len] & 0xc0) == 0x80)
			cut.len--;
	}
	buf_put_char(&d->out, ' ');
	text_put(&d->text, &d->out, TEXT_FAINT, cut);
}

/* Puts "-3" for one line, "-3,2" for two; no lines are after the one before. */
static void show_range(struct buf *into, char sign, size_t from, size_t count)
{
	if (count == 1)
		buf_putf(into, "%c%zu", sign, from + 1);
	else
		buf_putf(into, "%c%zu,%zu", sign, count ? from + 1 : from, count);
}

static int show_hunks(struct diff *d, struct content *content)
{
	struct show_lines s = {d, content->crlf};
	struct hunks hunks = {.count = 0};
	int r = unified_hunks(&content->lines[0], &content->diff, &content->arena, &hunks);

	for (size_t i = 0; r == 0 && i < hunks.count; i++) {
		const struct hunk *h = &hunks.items[i];
		_cleanup_buf_ struct buf range = BUF_INIT(256);

		buf_put_str(&range, "@@ ");
		show_range(&range, '-', h->before, h->before_count);
		buf_put_char(&range, ' ');
		show_range(&range, '+', h->after, h->after_count);
		buf_put_str(&range, " @@");
		diff_put(d, TEXT_FAINT, "%s", buf_str(&range));
		if (h->within)
			show_within(d, h->within);
		diff_end_line(d);
		if (d->by_word)
			r = diff_put_words(d, content, h);
		else
			unified_lines(&content->lines[0], &content->lines[1], &content->diff, h,
				      show_line, &s);
	}
	return r;
}

/* Shows what only a commit or the index has: no file shows it. */
static int show_brought(struct diff *d, const struct change *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->brings_count; i++) {
		const struct brought *b = &c->brings[i];
		_cleanup_content_ struct content content = {.kind = CONTENT_NONE};

		if (b->seen)
			continue;
		diff_end_line(d);
		diff_put(d, TEXT_STRONG, "%s", b->path);
		diff_put(d, TEXT_PLAIN, " in %s%.7s", b->commit[0] ? "the commit " : "the index",
			 b->commit);
		if (b->object[0])
			diff_put(d, TEXT_PLAIN, " (%.*s)", BROUGHT_SHORT, b->object);
		if (!b->after)
			diff_put(d, TEXT_PLAIN, b->removed ? ", removed" : ", not shown");
		diff_end_line(d);
		r = content_of_texts(b->before ? b->before : "", b->after ? b->after : "",
				     &content);
		if (r == 0 && (b->after || b->removed))
			r = show_hunks(d, &content);
	}
	return r;
}

int diff_put_change(struct diff *d, const struct change *c, struct error *e)
{
	_cleanup_content_ struct content content = {.kind = CONTENT_NONE};
	int instead = d->instead ? *d->instead : -1;
	int r = d->as_text ? content_read_as_text(&d->view, c, instead, &content)
			   : content_read(&d->view, c, instead, &content);

	if (r == 0) {
		diff_put_head(d, c, &content);
		d->totals.added += content.diff.added;
		d->totals.removed += content.diff.removed;
	}
	if (r == 0 && content.kind == CONTENT_TEXT)
		r = show_hunks(d, &content);
	if (r == 0)
		r = show_brought(d, c);
	diff_flush(d, false);
	return r < 0 ? error_sys(e, r, "cannot show '%s'", c->path) : 0;
}

int diff_put_at(struct diff *d, size_t i, struct error *e)
{
	const struct change joined = folding_joined(&d->folding, &d->changes, i);

	d->alike = d->folding.alike[i];
	d->instead = d->instead_at && d->instead_at[i] >= 0 ? &d->instead_at[i] : NULL;
	int r = diff_put_change(d, &joined, e);

	progress_say(d->progress, "comparing", i + 1, d->changes.count);
	d->alike = 0;
	d->instead = NULL;
	return r;
}
