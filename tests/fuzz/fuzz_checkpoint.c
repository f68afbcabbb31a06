/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a checkpoint and as a key: what is read has one spelling, and a text that is
 * written from what was read is the text that was there.
 */
#include "../lib/cut.h"
#include "checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_checkpoint_key_ struct checkpoint_key k;
	struct span bytes = {data, size};
	struct checkpoint c;

	if (!checkpoint_parse(bytes, &c)) {
		_cleanup_buf_ struct buf text = BUF_INIT(CHECKPOINT_MAX);

		checkpoint_put_text(&text, c.origin, c.size, &c.root);
		CUT_MUST(span_equal(buf_span(&text), c.text));
		CUT_MUST(c.is_signed && checkpoint_is_name(c.signer));
	}
	if (checkpoint_key_parse(bytes, &k) == 0) {
		_cleanup_buf_ struct buf line = BUF_INIT(1024);

		checkpoint_key_format(&line, &k);
		CUT_MUST(span_equal(buf_span(&line), bytes));
	}
	return 0;
}
