/* SPDX-License-Identifier: Apache-2.0 */
/* What a box writes to the user's terminal: any cut gives the same, and what passed passes again. */
#include "terminal_filter.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool any_link(void *context, bool tls, struct span authority)
{
	(void)context;
	return tls && authority.len > 0 && authority.ptr[0] == 'g';
}

static void pass(uint8_t how, const uint8_t *data, size_t size, size_t cut, struct buf *into)
{
	struct terminal_filter f = {.questions = (how & 1) != 0,
				    .bytes = (how & 2) != 0,
				    .allow = how >> 3,
				    .link = any_link};

	terminal_filter_feed(&f, data, cut, into);
	terminal_filter_feed(&f, data + cut, size - cut, into);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(16 << 20);
	_cleanup_buf_ struct buf cut = BUF_INIT(16 << 20);
	_cleanup_buf_ struct buf again = BUF_INIT(16 << 20);

	if (size < 3)
		return 0;
	const uint8_t how = data[0];
	size_t at = (size_t)(data[1] << 8 | data[2]) % (size - 2);

	pass(how, data + 3, size - 3, 0, &whole);
	pass(how, data + 3, size - 3, at, &cut);
	pass(how, (const uint8_t *)buf_str(&whole), whole.len, 0, &again);
	if (buf_error(&whole) || whole.len > (size - 3) * TERMINAL_FILTER_GROWTH)
		abort();
	if (cut.len != whole.len || again.len != whole.len)
		abort();
	if (whole.len > 0 && (memcmp(whole.ptr, cut.ptr, whole.len) != 0 ||
			      memcmp(whole.ptr, again.ptr, whole.len) != 0))
		abort();
	return 0;
}
