/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an event of the record: the fields that note.h names, as numbers and as the very bytes that
 * were recorded, whether they are written as a plain string, with escapes or as {"b64"}.
 *
 * Strict JSON and nothing else.  A member that the table knows must have the table's type, and be
 * there once; we skip one that it does not know (a newer bawn's), and never look at it.  Nothing is
 * allocated: texts point into the frame or into the event's own scratch, and last until the next
 * event is read into it.
 */
#ifndef BAWN_EVENT_READ_H
#define BAWN_EVENT_READ_H

#include "error.h"
#include "frame.h"
#include "note.h"

/* A text, a list (as it is written) or a number, as note_fields says. */
struct event_value {
	struct span text;
	uint64_t number;
};

struct event {
	uint64_t seq, boot;
	struct span wall, word; /* word: the kind, as it is written */
	enum note_kind kind;    /* NOTE_KIND_COUNT: one that this bawn does not know */
	uint64_t has;           /* set of 1ull << enum note_field */
	struct event_value values[NOTE_FIELD_COUNT];
	size_t used;
	uint8_t scratch[FRAME_EVENT_MAX]; /* what we read is never longer than what is written */
};

/* 0 or -EBADMSG; then only seq, boot, wall, word and kind are there. */
int event_read(const struct frame *f, struct event *ret, struct error *e) BAWN_MUST_USE;

static inline bool event_has(const struct event *ev, enum note_field field)
{
	return ev->has >> field & 1;
}

/* For a field that is not there: an empty text, and 0. */
static inline struct span event_text(const struct event *ev, enum note_field field)
{
	return event_has(ev, field) ? ev->values[field].text : (struct span){NULL, 0};
}

static inline uint64_t event_number(const struct event *ev, enum note_field field)
{
	return event_has(ev, field) ? ev->values[field].number : 0;
}

static inline bool event_is(const struct event *ev, enum note_field field, const char *word)
{
	return event_has(ev, field) && span_equal(ev->values[field].text, span_of_str(word));
}

/* Gives the items of a list, one after the other.  An item lasts until the next call. */
struct event_items {
	struct reader r;
	uint8_t *scratch; /* FRAME_EVENT_MAX bytes of the caller's */
};

struct event_items event_items_of(const struct event *ev, enum note_field field, uint8_t *scratch);
bool event_items_next(struct event_items *items, struct span *ret);

/* The seconds since 1970 of a frame's time, and its nanoseconds; -EBADMSG: there is no such day. */
int event_wall_seconds(struct span wall, int64_t *ret_seconds,
		       uint32_t *ret_nanoseconds) BAWN_MUST_USE;

#endif
