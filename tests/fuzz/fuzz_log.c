/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an event of any kind (the first byte says which), as `bawn log` shows it: one line,
 * of text that shows, and on a terminal no wider than that.
 */
#include "../lib/cut.h"
#include "event_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct event event;
static struct event_words words;

/* The name of a program is the box's as well. */
static int program(void *context, uint64_t exec, struct buf *into)
{
	const struct span *path = context;

	if (exec % 2)
		return -ENOENT;
	buf_put(into, path->ptr, path->len < 40 ? path->len : 40);
	return 0;
}

/* Columns of the line, of characters that take one or two; all of them are seen. */
static size_t check_line(const struct buf *line)
{
	struct span left = buf_span(line);
	size_t columns = 0;

	CUT_MUST(!buf_error(line) && left.len > 0 && left.ptr[left.len - 1] == '\n');
	for (left.len--; left.len > 0;) {
		uint32_t cp = 0;
		size_t len = text_utf8(left, &cp);

		CUT_MUST(len > 0 && !text_is_hidden(cp));
		left = span_skip(left, len);
		columns++;
	}
	return columns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > FRAME_EVENT_MAX / 2)
		return 0;
	const char *kind = data[0] % (NOTE_KIND_COUNT + 1) < NOTE_KIND_COUNT
				   ? note_kinds[data[0] % (NOTE_KIND_COUNT + 1)]
				   : "newer";
	struct frame f = {.seq = 7,
			  .wall = SPAN_LITERAL("2026-11-15T05:52:20.123456789Z"),
			  .kind = span_of_str(kind),
			  .rest = {data + 1, size - 1}};
	_cleanup_buf_ struct buf line = BUF_INIT(EVENT_WORDS_MAX);

	bool readable = event_read(&f, &event, NULL) == 0;
	struct span path = event_text(&event, NOTE_FIELD_PATH);

	words = (struct event_words){.program = program, .context = &path};
	words.workspace = event_text(&event, NOTE_FIELD_CWD);
	if (readable)
		event_words_line(&words, &event, &line);
	else
		event_words_unreadable(&words, &event, &line);
	(void)check_line(&line);
	buf_clear(&line);
	words.width = 100;
	if (readable) {
		event_words_line(&words, &event, &line);
		CUT_MUST(check_line(&line) <= 100);
	}
	return 0;
}
