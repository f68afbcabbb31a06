/* SPDX-License-Identifier: Apache-2.0 */
#include "past.h"

#include "fd.h"
#include "record_folder.h"
#include "str.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The end comes before its seal, and little else comes after it. */
enum { PAST_BACK = 16, PAST_CHANGED_MAX = 64 << 10 };

int past_open(struct past *p, const struct store *s, const struct store_session *session)
{
	struct frame f;

	p->cursor = STORE_CURSOR_INIT;
	int r = store_cursor_open(s, session, &p->cursor, NULL);

	if (r < 0)
		return r;
	enum feed said = store_next(&p->cursor, &f);

	return said == FEED_MORE  ? -ENOENT
	       : said == FEED_BAD ? -EBADMSG
				  : event_read(&f, &p->event, NULL);
}

void past_close(struct past *p)
{
	store_cursor_close(&p->cursor);
}

/* Moves `at` to the line before the one that begins there; false: there is none. */
static bool past_line_before(struct span bytes, size_t *at)
{
	if (*at == 0)
		return false;
	const uint8_t *newline = *at > 1 ? memrchr(bytes.ptr, '\n', *at - 1) : NULL;

	*at = newline ? (size_t)(newline - bytes.ptr) + 1 : 0;
	return true;
}

int past_to_end(struct past *p)
{
	uint32_t behind = 0;
	uint32_t count = store_count_segments(p->cursor.folder, &behind);

	if (count == 0 || store_seek(&p->cursor, count, 0) != FEED_DONE)
		return -ENOENT;
	struct span bytes = p->cursor.segment.bytes;
	const uint8_t *last = bytes.len ? memrchr(bytes.ptr, '\n', bytes.len) : NULL;
	size_t at = last ? (size_t)(last - bytes.ptr) + 1 : 0;

	for (int i = 0; i < PAST_BACK && past_line_before(bytes, &at); i++) {
		struct frame f;

		if (store_seek(&p->cursor, count, at) != FEED_DONE ||
		    store_next(&p->cursor, &f) != FEED_DONE)
			return -ENOENT;
		if (event_read(&f, &p->event, NULL) == 0 && p->event.kind == NOTE_SESSION &&
		    event_is(&p->event, NOTE_FIELD_OP, "end"))
			return 0;
	}
	return -ENOENT;
}

void past_workspace(const struct past *p, char *into, size_t size)
{
	struct span text = event_text(&p->event, NOTE_FIELD_WORKSPACE);

	into[0] = '\0';
	if (text.len > 0 && text.len < size && !memchr(text.ptr, '\0', text.len)) {
		memcpy(into, text.ptr, text.len);
		into[text.len] = '\0';
	}
}

void past_changed(const struct store *s, const struct store_session *session, struct buf *into)
{
	_cleanup_fd_ int folder = store_open_session(s, session, NULL);
	_cleanup_buf_ struct buf words = BUF_INIT(PAST_CHANGED_MAX);

	if (folder >= 0 && fd_read_file_at(folder, RECORD_FOLDER_CHANGED, &words) == 0)
		text_escape(into, buf_span(&words));
}

/* Whether it cannot be read.  A session that has just begun has no event yet: that is no fault. */
static bool past_is_unread(const struct store *s, const struct store_session *at, int r)
{
	return r < 0 && (r != -ENOENT || !store_is_running(s, at));
}

const struct store_session *past_here(const struct store *s, const char *here,
				      const struct store_session **ret_unread)
{
	_cleanup_free_ struct past *p = malloc(sizeof(*p));
	const struct store_session *best = NULL, *unread = NULL;
	char workspace[PATH_MAX];
	size_t depth = 0;

	for (size_t i = s->count; p && i-- > 0;) {
		const struct store_session *at = &s->sessions[i];

		/* We have one of this very folder: older ones do not matter. */
		if (best && depth == strlen(here) && at->start < best->start)
			break;
		if (!store_is_session(at))
			continue;
		workspace[0] = '\0';
		int r = past_open(p, s, at);

		if (r == 0)
			past_workspace(p, workspace, sizeof(workspace));
		past_close(p);
		if (!unread && past_is_unread(s, at, r))
			unread = at;
		size_t len = strlen(workspace);

		if (len == 0 || len < depth || !str_path_beneath(here, workspace))
			continue;
		if (!best || len > depth || store_is_newer(s, at, best)) {
			best = at;
			depth = len;
		}
	}
	if (ret_unread)
		*ret_unread = unread && (!best || store_is_newer(s, unread, best)) ? unread : NULL;
	return best;
}
