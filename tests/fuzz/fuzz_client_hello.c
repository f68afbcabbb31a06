/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the start of a TLS connection: one outcome for every cut, and a name
 * that is canonical or none.  Then the bytes behind the first record's header as the
 * message: one outcome for every layout of records.
 */
#include "../lib/cut.h"
#include "client_hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	return client_hello_feed(reader, in, ret_used);
}

/* What the client said, without how many bytes it took. */
static bool is_same_hello(const struct client_hello *x, const struct client_hello *y)
{
	return x->state == y->state && x->alpn == y->alpn && x->ech == y->ech &&
	       strcmp(x->name.text, y->name.text) == 0;
}

static bool is_same(const void *a, const void *b)
{
	const struct client_hello *x = a, *y = b;

	return is_same_hello(x, y) && x->why == y->why && x->wire == y->wire;
}

static const struct client_hello fresh;
static const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};

static void check_outcome(const struct client_hello *h, size_t used)
{
	struct name again;

	CUT_MUST((h->state == FEED_BAD) == (h->why != NULL));
	CUT_MUST(h->wire <= CLIENT_HELLO_MAX);
	if (h->state != FEED_DONE)
		return;
	CUT_MUST(h->wire == used && h->wire > 40);
	if (h->name.len > 0)
		CUT_MUST(name_parse(span_of_str(h->name.text), &again) == 0 &&
			 name_equal(&h->name, &again));
}

/* Records of `record` bytes around the message. */
static struct client_hello read_message(struct span message, size_t record)
{
	struct client_hello h = {0};

	for (size_t at = 0; at < message.len; at += record) {
		size_t n = message.len - at < record ? message.len - at : record;
		const uint8_t head[5] = {22, 3, 1, (uint8_t)(n >> 8), (uint8_t)n};

		(void)client_hello_feed(&h, (struct span){head, sizeof(head)}, NULL);
		(void)client_hello_feed(&h, (struct span){message.ptr + at, n}, NULL);
	}
	return h;
}

/* One outcome for every layout of records. */
static void check_layouts(struct span message)
{
	struct client_hello whole = read_message(message, 16384);

	check_outcome(&whole, whole.wire);
	/* What stands behind the message may be a record of its own, and then it is not ours. */
	if (whole.why && strstr(whole.why, "follow the ClientHello"))
		return;
	for (size_t record = 1; record < message.len; record += message.len / 4 + 1) {
		struct client_hello cut = read_message(message, record);

		CUT_MUST(is_same_hello(&cut, &whole) && cut.why == whole.why);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct client_hello h;
	enum feed state = FEED_MORE;
	size_t used = 0;

	CUT_MUST(cut_everywhere(&reader, &h, (struct span){data, size}, size / 8 + 1, &state,
				&used) < 0);
	check_outcome(&h, used);
	if (size > 5 && size < 8000)
		check_layouts((struct span){data + 5, size - 5});
	return 0;
}
