/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what stands behind an event's kind.  What is read comes back: written again as the
 * recorder writes it and read once more, each field has the same bytes.
 */
#include "../lib/cut.h"
#include "event_read.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct frame frame_of(struct span rest)
{
	return (struct frame){.seq = 7,
			      .wall = SPAN_LITERAL("2026-11-15T05:52:20.123456789Z"),
			      .kind = SPAN_LITERAL("file"),
			      .rest = rest};
}

static void write_list(struct buf *into, const struct event *ev, enum note_field field)
{
	static uint8_t scratch[FRAME_EVENT_MAX];
	struct event_items items = event_items_of(ev, field, scratch);
	struct span item;

	buf_putf(into, ",\"%s\":[", note_fields[field].name);
	for (bool first = true; event_items_next(&items, &item); first = false) {
		if (!first)
			buf_put_char(into, ',');
		frame_put_value(into, item);
	}
	CUT_MUST(reader_left(&items.r) == 0);
	buf_put_char(into, ']');
}

static void write_again(struct buf *into, const struct event *ev)
{
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++) {
		if (!event_has(ev, (enum note_field)i))
			continue;
		if (note_fields[i].type == NOTE_TYPE_NUMBER)
			frame_put_u64(into, note_fields[i].name, ev->values[i].number);
		else if (note_fields[i].type == NOTE_TYPE_LIST)
			write_list(into, ev, (enum note_field)i);
		else
			frame_put_bytes(into, note_fields[i].name, ev->values[i].text);
	}
	buf_put_char(into, '}');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event first, second;
	_cleanup_buf_ struct buf once = BUF_INIT(1 << 20), twice = BUF_INIT(1 << 20);
	struct frame f = frame_of((struct span){data, size});

	if (size > FRAME_EVENT_MAX / 8 || event_read(&f, &first, NULL) < 0)
		return 0;
	write_again(&once, &first);
	f = frame_of(buf_span(&once));
	CUT_MUST(!buf_error(&once) && event_read(&f, &second, NULL) == 0);
	CUT_MUST(first.has == second.has);
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++)
		if (event_has(&first, (enum note_field)i) && note_fields[i].type != NOTE_TYPE_LIST)
			CUT_MUST(first.values[i].number == second.values[i].number &&
				 span_equal(first.values[i].text, second.values[i].text));
	write_again(&twice, &second);
	CUT_MUST(span_equal(buf_span(&once), buf_span(&twice)));
	return 0;
}
