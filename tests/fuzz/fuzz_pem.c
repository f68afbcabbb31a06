/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a PEM file: every certificate that is found is written again as PEM and found
 * once more, the same; the reader always comes to an end.
 */
#include "../lib/cut.h"
#include "pem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = {data, size};
	size_t before = size + 1;
	int r;

	for (;;) {
		_cleanup_buf_ struct buf der = BUF_INIT(1 << 20);
		_cleanup_buf_ struct buf again = BUF_INIT(1 << 20);
		_cleanup_buf_ struct buf text = BUF_INIT(2 << 20);

		r = pem_next(&rest, &der);
		CUT_MUST(rest.len < before);
		before = rest.len == 0 ? 1 : rest.len;
		if (r == 0)
			return 0;
		if (r < 0) {
			CUT_MUST(der.len == 0);
			continue;
		}
		pem_put(&text, buf_span(&der));
		struct span copy = buf_span(&text);

		CUT_MUST(pem_next(&copy, &again) == 1);
		CUT_MUST(span_equal(buf_span(&der), buf_span(&again)));
	}
}
