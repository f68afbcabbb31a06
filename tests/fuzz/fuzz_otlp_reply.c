/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a collector answers, and as the place that was kept.  What is found lies within
 * them; a place that is taken is written in the one way there is.
 */
#include "../lib/cut.h"
#include "otlp_cursor.h"
#include "otlp_reply.h"
#include "otlp_wire.h"

#include <inttypes.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = {data, size};
	struct otlp_cursor c = OTLP_CURSOR_INIT;
	struct otlp_reply reply;
	char again[OTLP_CURSOR_MAX];

	(void)otlp_reply_read(bytes, &reply);
	CUT_MUST(reply.message.len == 0 || (reply.message.ptr >= data &&
					    reply.message.ptr + reply.message.len <= data + size));
	int64_t after = otlp_retry_after(bytes, 1794721940);

	CUT_MUST(after >= -1 && after <= INT64_C(3600000));
	if (otlp_cursor_parse(bytes, &c) < 0)
		return 0;
	int len = snprintf(again, sizeof(again),
			   "bawn-sent 1\nseq %" PRIu64 " segment %" PRIu64 " offset %" PRIu64
			   " refused %" PRIu64 " whole %d\n",
			   c.seq, c.segment, c.offset, c.refused, c.whole);

	CUT_MUST(span_equal(bytes, (struct span){(const uint8_t *)again, (size_t)len}));
	return 0;
}
