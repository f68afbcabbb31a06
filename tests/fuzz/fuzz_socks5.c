/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a client of SOCKS: a greeting, and what follows as a request.  One
 * outcome for every cut; a request that is taken has a port and a name that is canonical,
 * or an address.
 */
#include "../lib/cut.h"
#include "socks5.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum feed greeting_feed(void *reader, struct span in, size_t *ret_used)
{
	return socks5_greeting_feed(reader, in, ret_used);
}

static bool greeting_is_same(const void *a, const void *b)
{
	const struct socks5_greeting *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->speaks == y->speaks &&
	       x->plain == y->plain;
}

static enum feed request_feed(void *reader, struct span in, size_t *ret_used)
{
	return socks5_request_feed(reader, in, ret_used);
}

static bool request_is_same(const void *a, const void *b)
{
	const struct socks5_request *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->reply == y->reply &&
	       x->target.port == y->target.port && x->target.is_address == y->target.is_address &&
	       strcmp(x->target.name.text, y->target.name.text) == 0 &&
	       address_equal(&x->target.address, &y->target.address);
}

static size_t check_greeting(struct span bytes)
{
	static const struct socks5_greeting fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, greeting_feed,
						 greeting_is_same};
	struct socks5_greeting g;
	enum feed state = FEED_MORE;
	size_t used = 0;

	CUT_MUST(cut_everywhere(&reader, &g, bytes, bytes.len / 8 + 1, &state, &used) < 0);
	CUT_MUST((state == FEED_BAD) == (g.why != NULL));
	CUT_MUST(state != FEED_DONE || (g.plain && g.speaks));
	return used;
}

static void check_request(struct span bytes)
{
	static const struct socks5_request fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, request_feed,
						 request_is_same};
	struct socks5_request q;
	struct name again;
	enum feed state = FEED_MORE;
	size_t used = 0;

	CUT_MUST(cut_everywhere(&reader, &q, bytes, bytes.len / 8 + 1, &state, &used) < 0);
	CUT_MUST((state == FEED_BAD) == (q.why != NULL));
	CUT_MUST((state == FEED_BAD) == (q.reply != SOCKS5_SUCCEEDED));
	if (state != FEED_DONE)
		return;
	CUT_MUST(q.target.port > 0 && q.target.is_address == (q.target.name.len == 0));
	if (!q.target.is_address)
		CUT_MUST(name_parse(span_of_str(q.target.name.text), &again) == 0 &&
			 name_equal(&q.target.name, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t used = check_greeting((struct span){data, size});

	check_request((struct span){data + used, size - used});
	check_request((struct span){data, size});
	return 0;
}
