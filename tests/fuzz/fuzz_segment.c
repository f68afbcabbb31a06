/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a compressed segment: it unpacks to as many bytes as it says, or it is refused. */
#include "../lib/cut.h"
#include "segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_segment_ struct segment s = SEGMENT_INIT;
	struct error e = ERROR_INIT;
	uint8_t sum = 0;
	int r = segment_unpack((struct span){data, size}, &s.bytes, &e);

	CUT_MUST((r == 0) == (s.bytes.len > 0) && (r < 0) == (e.code < 0));
	CUT_MUST(s.bytes.len <= SEGMENT_MAX);
	for (size_t i = 0; i < s.bytes.len; i += 4096)
		sum ^= s.bytes.ptr[i];
	(void)sum;
	return 0;
}
