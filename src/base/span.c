/* SPDX-License-Identifier: Apache-2.0 */
#include "span.h"

struct span reader_take(struct reader *r, size_t len)
{
	if (r->bad || len > reader_left(r)) {
		r->bad = true;
		return (struct span){r->end, 0};
	}
	struct span s = {r->at, len};
	r->at += len;
	return s;
}

static uint64_t reader_little_endian(struct reader *r, size_t len)
{
	struct span s = reader_take(r, len);
	uint64_t v = 0;

	for (size_t i = s.len; i > 0; i--)
		v = v << 8 | s.ptr[i - 1];
	return v;
}

uint32_t reader_u32(struct reader *r)
{
	return (uint32_t)reader_little_endian(r, 4);
}

uint64_t reader_u64(struct reader *r)
{
	return reader_little_endian(r, 8);
}

bool reader_decimal(struct reader *r, uint64_t *ret)
{
	const uint8_t *from = r->at;

	*ret = 0;
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
		if (__builtin_mul_overflow(*ret, 10u, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(*r->at - '0'), ret))
			return false;
	return r->at > from && (*from != '0' || r->at == from + 1);
}
