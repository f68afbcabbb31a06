/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a box or an origin sends over HTTP/2.  The first byte says to which role
 * and what the owner is like; the rest comes in pieces of the size that the second says.
 * Whatever comes: nothing is told about a stream that is over (side_owner.h), nobody has
 * more than a window of bodies in his hands or more streams than the budget, a connection
 * that was given up stays so, and everything can be let go at any time.
 */
#include "../lib/side_owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET_STREAMS = 200, BUDGET_BODIES = 8 << 20 };

static void ask(struct side_owner *o, const char *method, bool end)
{
	struct http_message m = {.method = span_of_str(method),
				 .scheme = SPAN_LITERAL("https"),
				 .authority = SPAN_LITERAL("a.test"),
				 .target = SPAN_LITERAL("/x"),
				 .body = end ? HTTP_MESSAGE_NONE : HTTP_MESSAGE_UNKNOWN};
	size_t number = side_owner_open(o);

	CUT_MUST(number > 0);
	CUT_MUST(side_send_head(o->streams[number], &m, end) == 0);
	if (!end)
		CUT_MUST(side_send_body(o->streams[number], SPAN_LITERAL("some bytes"), false) ==
			 0);
}

static void drain(struct side_owner *o)
{
	for (struct span s = side_output(o->side); s.len > 0; s = side_output(o->side))
		side_sent(o->side, s.len > 7 ? s.len - 3 : s.len);
}

static void check(const struct side_owner *o)
{
	size_t owned = 0;

	for (size_t i = 1; i <= o->count; i++)
		owned += o->streams[i] != NULL;
	CUT_MUST(owned <= BUDGET_STREAMS);
	CUT_MUST(!o->holds || o->bodies <= BUDGET_BODIES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > 64 << 10)
		return 0;
	enum side_role role = data[0] & 1 ? SIDE_CLIENT : SIDE_SERVER;
	struct side_owner *o = side_owner_new(role, side_h2_new);
	size_t piece = data[1] ? data[1] : size;
	bool drains = data[0] & 2, given_up = false;

	o->echoes = data[0] & 4;
	o->holds = data[0] & 8;
	o->keeps = data[0] & 16;
	if (role == SIDE_CLIENT) {
		ask(o, "GET", true);
		ask(o, "POST", false);
		ask(o, "HEAD", true);
		drain(o);
	}
	for (size_t at = 2; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		uint8_t *copy = malloc(n);

		CUT_MUST(copy);
		memcpy(copy, data + at, n);
		int r = side_feed(o->side, (struct span){copy, n}, clock_now());

		free(copy);
		CUT_MUST(r == 0 || r == -EPROTO);
		CUT_MUST(!given_up || r == -EPROTO);
		given_up = r < 0;
		check(o);
		if (drains)
			drain(o);
	}
	if (data[0] & 32)
		side_close(o->side);
	drain(o);
	check(o);
	side_end(o->side, true);
	for (size_t i = 1; i <= o->count; i++)
		side_owner_release(o, i);
	CUT_MUST(side_phase(o->side) == SIDE_OVER);
	side_owner_free(o);
	return 0;
}
