/* SPDX-License-Identifier: Apache-2.0 */
/* One session's record with its index brought up to date: --tree, show and why begin with it. */
#ifndef BAWN_INQUIRY_H
#define BAWN_INQUIRY_H

#include "history.h"
#include "event_read.h"
#include "index.h"
#include "json.h"

struct inquiry {
	struct history ask;
	struct index *index;
	struct index_place place;
	const struct store_session *session;
	bool running, whole; /* whole: the index has all that there is */
	/* Why the record cannot be read to its end, or is not what was written; or NULL. */
	const char *unread;
	struct error unread_error;
	char workspace[NOTE_TEXT_MAX];
	size_t workspace_len;
	struct store_cursor cursor;
	struct event event; /* the last one that we read */
};

/* wanted NULL: the last session of this folder. */
int inquiry_open(struct inquiry *q, const char *wanted, struct error *e);
void inquiry_close(struct inquiry *q);

/* Says on stderr what `unread` says; then returns EXIT_FOUND, else EXIT_OK. */
int inquiry_answer(const struct inquiry *q);

/* Reads the event at a place into q->event: 0, -ENOENT, or -EBADMSG.  Its texts last until the next
 * is read. */
int inquiry_read_at(struct inquiry *q, uint64_t segment, uint64_t offset);

/* Reads the event with this number, in the same way. */
int inquiry_read(struct inquiry *q, uint64_t seq);

/* Puts q->event as an object: number, time, kind, and its fields by the names of note.h. */
void inquiry_json_event(const struct inquiry *q, struct json *j);

static inline struct span inquiry_workspace(const struct inquiry *q)
{
	return (struct span){(const uint8_t *)q->workspace, q->workspace_len};
}

#endif
