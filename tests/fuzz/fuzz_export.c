/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an event, its kind by the first of them.  Whatever it is, each format makes one
 * line of JSON of it, in UTF-8, with a sentence that can be shown.
 */
#include "../lib/cut.h"
#include "export.h"
#include "otlp_reply.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct span s)
{
	uint32_t cp;

	while (s.len > 0) {
		size_t len = text_utf8(s, &cp);

		CUT_MUST(len > 0 && !text_is_hidden(cp));
		s = span_skip(s, len);
	}
}

static void check_line(const struct buf *out)
{
	struct otlp_reply reply;

	CUT_MUST(buf_error(out) == 0);
	check_text(buf_span(out));
	CUT_MUST(otlp_reply_read(buf_span(out), &reply));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct otlp_settings settings;
	static struct event event;
	_cleanup_buf_ struct buf otlp = BUF_INIT(8 << 20), ocsf = BUF_INIT(8 << 20);
	struct export_otlp o;

	if (size < 1 || size > FRAME_EVENT_MAX / 8)
		return 0;
	_cleanup_export_ struct export *x =
		export_new("20261115-055220-calm-otter", "vm", &settings);
	const char *kind = data[0] < NOTE_KIND_COUNT ? note_kinds[data[0]] : "novelty";
	struct frame f = {.seq = 7,
			  .event = {data + 1, size - 1},
			  .prev = SPAN_LITERAL("00"),
			  .wall = SPAN_LITERAL("2026-11-15T05:52:20.123456789Z"),
			  .kind = span_of_str(kind),
			  .rest = {data + 1, size - 1}};

	CUT_MUST(x);
	export_read(&f, &event);
	export_otlp_begin(&o, &otlp, x);
	export_otlp_event(&o, &f, &event);
	export_otlp_end(&o);
	check_line(&otlp);
	check_text(buf_span(&x->sentence));
	export_ocsf_event(&ocsf, x, &f, &event);
	check_line(&ocsf);
	return 0;
}
