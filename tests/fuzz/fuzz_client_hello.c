/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the start of a TLS connection: one outcome for every cut, and a name
 * that is canonical or none.  Then the bytes behind the first record's header as the
 * message: one outcome for every layout of records.  Then the bytes as all that a client
 * sends while a server answers, with a HelloRetryRequest and without: every cut lets the same
 * bytes through, and no ClientHello that names another host than the first is among them.
 */
#include "../lib/cut.h"
#include "client_start.h"

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

/* What came of a client's bytes. */
struct outcome {
	enum client_start_phase phase;
	const char *why;
	size_t passed, hellos;
};

/* The server answers as soon as the first ClientHello is out, in pieces of `size`. */
static void answer(struct client_start *s, struct span bytes, size_t size)
{
	for (size_t at = 0; at < bytes.len; at += size)
		client_start_answer(s,
				    (struct span){bytes.ptr + at,
						  bytes.len - at < size ? bytes.len - at : size});
}

static struct outcome play(struct span client, struct span server, size_t size)
{
	struct client_start s = {.phase = CLIENT_START_HELLO};
	struct outcome o = {.why = NULL};
	size_t held = 0;

	for (size_t at = 0; at < client.len && !o.why && s.phase != CLIENT_START_OVER;) {
		size_t n = client.len - at < size ? client.len - at : size, used = 0;
		enum client_start_said said =
			client_start_feed(&s, (struct span){client.ptr + at, n}, &used);

		CUT_MUST(used <= n && (used > 0 || said == CLIENT_START_BAD));
		at += used;
		held += used;
		switch (said) {
		case CLIENT_START_HOLD:
			continue;
		case CLIENT_START_BAD:
			CUT_MUST(s.why != NULL);
			o.why = s.why;
			continue;
		case CLIENT_START_WHOLE:
			o.hellos++;
			CUT_MUST(o.hellos <= 2 && strcmp(s.name.text, s.hello.name.text) == 0);
			if (o.hellos == 1)
				answer(&s, server, size);
			break;
		case CLIENT_START_PASS:
			CUT_MUST(o.hellos > 0);
			break;
		}
		o.passed += held;
		held = 0;
	}
	o.phase = s.phase;
	return o;
}

/* Of a record that turns out to be none, what came in pieces before may have passed. */
static bool is_same_outcome(const struct outcome *x, const struct outcome *y)
{
	return x->phase == y->phase && x->why == y->why && x->hellos == y->hellos &&
	       (x->why || x->passed == y->passed);
}

static void check_start(struct span client, struct span server)
{
	struct outcome whole = play(client, server, client.len + server.len + 1);
	struct outcome bytes = play(client, server, 1);
	struct outcome pieces = play(client, server, client.len / 3 + 1);

	CUT_MUST(is_same_outcome(&whole, &bytes) && is_same_outcome(&whole, &pieces));
}

/* The whole of what follows the start is cut in two: what the client sends, what it is told. */
static void check_starts(const uint8_t *data, size_t size)
{
	static const uint8_t retry[] = {22,   3,    3,    0,    44,   2,    0,    0,    40,   3,
					3,    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe,
					0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
					0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8,
					0xa8, 0x33, 0x9c, 0,    0x13, 1,    0,    0,    0};
	size_t half = size / 2;

	check_start((struct span){data, size}, (struct span){retry, sizeof(retry)});
	check_start((struct span){data, size}, (struct span){NULL, 0});
	check_start((struct span){data, half}, (struct span){data + half, size - half});
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
	if (size > 0)
		check_starts(data, size);
	return 0;
}
