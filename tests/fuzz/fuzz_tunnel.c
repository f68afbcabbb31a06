/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a proxy: the first says which kind it is and whether there is a login, the others
 * are what it says.  One outcome for every cut; what is said to it stays within its bounds, and no
 * more than TUNNEL_ANSWER_MAX is taken.
 */
#include "../lib/cut.h"
#include "tunnel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);
	enum feed said = tunnel_feed(reader, in, ret_used, &out);

	CUT_MUST(buf_error(&out) == 0);
	return said;
}

static bool is_same(const void *a, const void *b)
{
	const struct tunnel *x = a, *y = b;

	return x->state == y->state && x->failure == y->failure && x->status == y->status &&
	       x->total == y->total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);
	struct authority to = {.port = 443};
	struct tunnel fresh, t;
	enum feed state = FEED_MORE;
	size_t used = 0;

	if (size == 0)
		return 0;
	CUT_MUST(authority_parse(SPAN_LITERAL("web.test:443"), &to) == 0);
	tunnel_begin(&fresh, data[0] & 1 ? TUNNEL_SOCKS5 : TUNNEL_CONNECT, &to,
		     data[0] & 2 ? SPAN_LITERAL("user:password") : SPAN_LITERAL(""), &out);
	CUT_MUST(buf_error(&out) == 0);
	const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};
	struct span said = {data + 1, size - 1};

	CUT_MUST(cut_everywhere(&reader, &t, said, said.len / 8 + 1, &state, &used) < 0);
	CUT_MUST((state == FEED_BAD) == (t.failure != TUNNEL_FINE));
	CUT_MUST(used <= TUNNEL_ANSWER_MAX + 1);
	if (state == FEED_DONE)
		CUT_MUST(data[0] & 1 ? t.status == 0 : t.status >= 200 && t.status < 300);
	return 0;
}
