/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events by the table of note.h: fields have the table's order and names.  They come from a
 * note of another process, or one by one.
 */
#ifndef BAWN_EVENT_H
#define BAWN_EVENT_H

#include "note.h"
#include "writer.h"

/* One by one: event_begin, event_put_*, then writer_end. */
struct buf *event_begin(struct writer *w, enum note_kind kind);
void event_put_word(struct buf *event, enum note_field field, const char *word);
void event_put_text(struct buf *event, enum note_field field, struct span text);
void event_put_number(struct buf *event, enum note_field field, uint64_t number);
/* A list: begin, its items, end. */
void event_put_list_begin(struct buf *event, enum note_field field);
void event_put_list_item(struct buf *event, struct span text);
void event_put_list_end(struct buf *event);

/* A whole note; as writer_end. */
int event_write(struct writer *w, const struct message_note *note) BAWN_MUST_USE;

#endif
