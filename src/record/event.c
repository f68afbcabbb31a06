/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

struct buf *event_begin(struct writer *w, enum note_kind kind)
{
	return writer_begin(w, note_kinds[kind]);
}

void event_put_word(struct buf *event, enum note_field field, const char *word)
{
	if (word && word[0])
		frame_put_bytes(event, note_fields[field].name, span_of_str(word));
}

void event_put_text(struct buf *event, enum note_field field, struct span text)
{
	frame_put_bytes(event, note_fields[field].name, text);
}

void event_put_number(struct buf *event, enum note_field field, uint64_t number)
{
	frame_put_u64(event, note_fields[field].name, number);
}

void event_put_list_begin(struct buf *event, enum note_field field)
{
	buf_put_str(event, ",\"");
	buf_put_str(event, note_fields[field].name);
	buf_put_str(event, "\":[");
}

void event_put_list_item(struct buf *event, struct span text)
{
	if (event->len > 0 && event->ptr[event->len - 1] != '[')
		buf_put_char(event, ',');
	frame_put_value(event, text);
}

void event_put_list_end(struct buf *event)
{
	buf_put_char(event, ']');
}

/* Writes a whole list; returns how many items it has. */
static size_t event_put_list(struct buf *event, const struct note_item *items, size_t left)
{
	size_t count = 0;

	event_put_list_begin(event, (enum note_field)items[0].field);
	while (count < left && items[count].field == items[0].field)
		event_put_list_item(event, items[count++].text);
	event_put_list_end(event);
	return count;
}

int event_write(struct writer *w, const struct message_note *note)
{
	struct buf *event = event_begin(w, (enum note_kind)note->kind);

	for (size_t i = 0; i < note->items.count;) {
		const struct note_item *item = &note->items.items[i];
		enum note_field field = (enum note_field)item->field;

		if (note_fields[field].type == NOTE_TYPE_LIST) {
			i += event_put_list(event, item, note->items.count - i);
			continue;
		}
		if (note_fields[field].type == NOTE_TYPE_NUMBER)
			event_put_number(event, field, item->number);
		else
			event_put_text(event, field, item->text);
		i++;
	}
	return writer_end(w);
}
