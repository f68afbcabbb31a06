/* SPDX-License-Identifier: Apache-2.0 */
/* How much changed in each file: one line, with a bar. */
#include "diff_parts.h"

#include "words.h"

#include <stdio.h>

enum { STAT_NAME_MIN = 20, STAT_BAR_MIN = 10, STAT_COUNT = 6 };

struct stat_row {
	struct change own; /* used if it stands for two changes */
	const struct change *change;
	enum content_kind kind;
	size_t added, removed;
	const char *type;
};

/* The name as it is printed, and how many columns it has (characters, to be exact). */
static size_t stat_name(const struct change *c, struct buf *into)
{
	char shown[REVIEW_PATH_SHOWN];
	size_t columns = 0;

	if (c->from) {
		text_escape(into, span_of_str(review_shown_path(c->from, shown)));
		buf_put_str(into, " -> ");
	}
	text_escape(into, span_of_str(review_shown_path(c->path, shown)));
	for (size_t i = 0; i < into->len; i++)
		columns += (into->ptr[i] & 0xc0) != 0x80;
	return columns;
}

/* How many columns of a bar `part` gets, if `most` has all of them; at least one if it is not 0. */
static size_t stat_scaled(size_t part, size_t most, size_t columns)
{
	if (part == 0 || most <= columns)
		return part;
	size_t n = part * columns / most;

	return n ? n : 1;
}

static void stat_signs(struct diff *d, enum text_style style, char sign, size_t count)
{
	char signs[512];

	count = count < sizeof(signs) ? count : sizeof(signs) - 1;
	memset(signs, sign, count);
	text_put(&d->text, &d->out, style, (struct span){(const uint8_t *)signs, count});
}

static void stat_line(struct diff *d, const struct stat_row *row, size_t width, size_t most)
{
	_cleanup_buf_ struct buf name = BUF_INIT(DIFF_OUT_MAX);
	size_t columns = stat_name(row->change, &name);
	size_t room = (size_t)d->text.width;
	size_t bar = room > width + STAT_COUNT + DIFF_STATUS + STAT_BAR_MIN + 4
			     ? room - width - STAT_COUNT - DIFF_STATUS - 4
			     : STAT_BAR_MIN;

	diff_put(d, TEXT_PLAIN, "%-*s", DIFF_STATUS, change_kind_words[row->change->kind]);
	buf_put(&d->out, name.ptr, name.len);
	diff_put(d, TEXT_PLAIN, "%*s | ", (int)(columns < width ? width - columns : 0), "");
	if (row->kind == CONTENT_TEXT) {
		diff_put(d, TEXT_PLAIN, "%*zu ", STAT_COUNT - 1, row->added + row->removed);
		stat_signs(d, TEXT_GOOD, '+', stat_scaled(row->added, most, bar));
		stat_signs(d, TEXT_BAD, '-', stat_scaled(row->removed, most, bar));
	} else if (row->kind == CONTENT_BINARY || row->kind == CONTENT_LARGE) {
		_cleanup_buf_ struct buf sizes = BUF_INIT(128);

		if (row->change->before.type == OBJECT_FILE)
			words_size(&sizes, row->change->before.size);
		if (row->change->before.type == OBJECT_FILE &&
		    row->change->after.type == OBJECT_FILE)
			buf_put_str(&sizes, " -> ");
		if (row->change->after.type == OBJECT_FILE)
			words_size(&sizes, row->change->after.size);
		diff_put(d, TEXT_PLAIN, "%s, %s", row->type ? row->type : "text", buf_str(&sizes));
	} else if (row->kind == CONTENT_UNREADABLE) {
		diff_put(d, TEXT_WARN, "cannot be read now");
	} else {
		diff_put(d, TEXT_PLAIN, "%s",
			 object_type_words[row->change->after.type == OBJECT_ABSENT
						   ? row->change->before.type
						   : row->change->after.type]);
	}
	if (row->change->group != CHANGE_ORDINARY)
		diff_put(d, TEXT_WARN, " %s", change_group_words[row->change->group]);
	if (row->change->both)
		diff_put(d, TEXT_WARN, " (you changed it, too)");
	diff_end_line(d);
	diff_flush(d, false);
}

static int stat_gather(struct diff *d, struct stat_row *rows, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < d->changes.count; i++) {
		_cleanup_content_ struct content content = {.kind = CONTENT_NONE};

		if (d->folding.fates[i] != DIFF_SHOWN)
			continue;
		struct stat_row *row = &rows[count];

		row->own = folding_joined(&d->folding, &d->changes, i);
		int r = content_read(&d->view, &row->own, -1, &content);

		progress_say(d->progress, "comparing", i + 1, d->changes.count);
		if (r < 0)
			return r;
		count++;
		*row = (struct stat_row){
			.own = row->own,
			.change = &row->own,
			.kind = content.kind,
			.added = content.diff.added,
			.removed = content.diff.removed,
			.type = content.type[1] ? content.type[1] : content.type[0],
		};
		d->totals.added += content.diff.added;
		d->totals.removed += content.diff.removed;
	}
	*ret_count = count;
	return 0;
}

int diff_put_stat(struct diff *d, struct error *e)
{
	_cleanup_free_ struct stat_row *rows = calloc(d->changes.count + 1, sizeof(*rows));
	size_t width = STAT_NAME_MIN;
	size_t widest = (size_t)d->text.width / 2;
	size_t most = 1;
	size_t count = 0;
	int r = rows ? stat_gather(d, rows, &count) : -ENOMEM;

	if (r < 0)
		return error_sys(e, r, "cannot compare %zu files", d->changes.count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_buf_ struct buf name = BUF_INIT(DIFF_OUT_MAX);
		size_t columns = stat_name(rows[i].change, &name);

		if (columns > width && columns <= widest)
			width = columns;
		if (rows[i].added + rows[i].removed > most)
			most = rows[i].added + rows[i].removed;
	}
	r = diff_put_git(d, e);
	if (r == 0)
		r = diff_put_moves(d, e);
	for (size_t i = 0; r == 0 && i < count; i++)
		stat_line(d, &rows[i], width, most);
	if (r == 0) {
		diff_put_heaps(d);
		diff_put_waiting(d);
	}
	return r;
}
