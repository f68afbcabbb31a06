/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as frames, as a record and as a ledger: a frame that is read is the one that is
 * written from its event; a cut is never bad and never whole; and verify calls nothing whole
 * whose bytes can be shortened.
 */
#include "../lib/cut.h"
#include "ledger.h"
#include "seal.h"
#include "verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frames(struct span bytes)
{
	struct frame f, again;

	while (frame_read(bytes, &f) == FEED_DONE) {
		_cleanup_buf_ struct buf same = BUF_INIT(FRAME_MAX);
		struct hash hash;

		frame_put(&same, f.event, &hash);
		CUT_MUST(f.len <= bytes.len && same.len == f.len);
		CUT_MUST(memcmp(same.ptr, bytes.ptr, f.len) == 0 && hash_equal(&hash, &f.hash));
		CUT_MUST(frame_read((struct span){bytes.ptr, f.len - 1}, &again) == FEED_MORE);
		(void)frame_plain_member(&f, "op");
		bytes = span_skip(bytes, f.len);
	}
}

static void record(struct span bytes)
{
	const struct hash key = {{1, 2, 3}};
	struct verify_result without, with, less;

	verify_frames(bytes, NULL, &without);
	verify_frames(bytes, &key, &with);
	CUT_MUST(with.state != VERIFY_WHOLE || without.state == VERIFY_WHOLE);
	CUT_MUST(with.events <= without.events);
	if (without.state != VERIFY_WHOLE)
		return;
	CUT_MUST(without.sealed == without.events && without.ended);
	verify_frames((struct span){bytes.ptr, bytes.len - 1}, NULL, &less);
	CUT_MUST(less.state == VERIFY_INTERRUPTED);
}

static void ledger(struct span bytes)
{
	struct ledger_reader r = {.bytes = bytes};
	struct ledger_entry entry;
	uint64_t count = 0;

	while (ledger_next(&r, &entry) == FEED_DONE)
		CUT_MUST(entry.frame.seq == ++count && r.at <= bytes.len);
	CUT_MUST(r.tree.size == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = {data, size};

	frames(bytes);
	record(bytes);
	ledger(bytes);
	return 0;
}
