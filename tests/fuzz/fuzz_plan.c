/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a plan: refused, or exactly the bytes that encode it. */
#include "plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	_cleanup_buf_ struct buf again = BUF_INIT(PLAN_BYTES_MAX);
	struct error e = ERROR_INIT;
	const struct plan *p = NULL;
	int r = plan_decode((struct span){data, size}, &p, &arena, &e);

	if (r < 0) {
		if (r != e.code || e.text[0] == '\0')
			__builtin_trap();
		return 0;
	}
	if (size > PLAN_BYTES_MAX)
		return 0;
	if (plan_encode(p, &again) < 0 || !span_equal(buf_span(&again), (struct span){data, size}))
		__builtin_trap();
	return 0;
}
