/* SPDX-License-Identifier: Apache-2.0 */
#include "client_start.h"

enum {
	START_CHANGE_CIPHER = 20,
	START_ALERT = 21,
	START_HANDSHAKE = 22,
	START_DATA = 23,
	START_RECORD_MAX = (1 << 14) + 2048, /* of an encrypted one, by the older versions */
	START_SERVER_HELLO = 2,
	START_RANDOM_AT = 6, /* behind type, length and version */
};

/* The random of a ServerHello that is a HelloRetryRequest (RFC 8446, 4.1.3). */
static const uint8_t start_retry[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
					0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
					0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
					0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static enum client_start_said start_bad(struct client_start *s, const char *why)
{
	s->why = why;
	return CLIENT_START_BAD;
}

/* Takes what `in` has of a record's head; false: it is not one of TLS. */
static bool start_take_head(struct client_start_record *r, struct span in, size_t *used)
{
	while (r->have < sizeof(r->head) && *used < in.len)
		r->head[r->have++] = in.ptr[(*used)++];
	if (r->have >= 2 && r->head[1] != 3)
		return false;
	if (r->have == sizeof(r->head)) {
		r->left = (uint16_t)(r->head[3] << 8 | r->head[4]);
		return r->left > 0 && r->left <= START_RECORD_MAX;
	}
	return true;
}

/* How many bytes of `in` belong to the body of the current record; then the next begins. */
static size_t start_take_body(struct client_start_record *r, struct span in)
{
	size_t n = in.len < r->left ? in.len : r->left;

	r->left = (uint16_t)(r->left - n);
	if (r->left == 0)
		r->have = 0;
	return n;
}

/* --- the client ----------------------------------------------------------------------- */

static enum client_start_said start_hello(struct client_start *s, struct span in, size_t *used)
{
	switch (client_hello_feed(&s->hello, in, used)) {
	case FEED_MORE:
		return CLIENT_START_HOLD;
	case FEED_BAD:
		return start_bad(s, s->hello.why);
	case FEED_DONE:
		break;
	}
	if (s->phase == CLIENT_START_HELLO) {
		s->name = s->hello.name;
		s->phase = CLIENT_START_ANSWER;
	} else if (strcmp(s->name.text, s->hello.name.text) != 0) { /* both may be empty */
		return start_bad(s, "a second ClientHello names another host than the first");
	} else {
		s->phase = CLIENT_START_OVER;
	}
	return CLIENT_START_WHOLE;
}

/* Passes a record that is no message of the handshake, or the part of it that has come. */
static enum client_start_said start_pass(struct client_start *s, struct span in, size_t *used)
{
	if (s->client.left == 0 && !start_take_head(&s->client, in, used))
		return start_bad(s, "the bytes are not TLS: a record has an unknown version or "
				    "length");
	if (s->client.left > 0)
		*used += start_take_body(&s->client, (struct span){in.ptr + *used, in.len - *used});
	return CLIENT_START_PASS;
}

enum client_start_said client_start_feed(struct client_start *s, struct span in, size_t *ret_used)
{
	*ret_used = 0;
	if (s->phase == CLIENT_START_HELLO || s->in_hello)
		return start_hello(s, in, ret_used);
	if (s->client.have > 0)
		return start_pass(s, in, ret_used);
	switch (in.ptr[0]) {
	case START_CHANGE_CIPHER:
	case START_ALERT:
	case START_DATA:
		return start_pass(s, in, ret_used);
	case START_HANDSHAKE:
		break;
	default:
		return start_bad(s, "the bytes are not TLS: a record has an unknown type");
	}
	if (s->phase == CLIENT_START_ANSWER)
		return start_bad(s, "a message follows the ClientHello before it was answered");
	memset(&s->hello, 0, sizeof(s->hello));
	s->in_hello = true;
	return start_hello(s, in, ret_used);
}

/* --- the server ----------------------------------------------------------------------- */

static void start_see(struct client_start *s, struct span in)
{
	for (size_t i = 0; i < in.len && s->answer_len < sizeof(s->answer); i++)
		s->answer[s->answer_len++] = in.ptr[i];
	if (s->answer_len > 0 && s->answer[0] != START_SERVER_HELLO)
		s->phase = CLIENT_START_OVER;
	else if (s->answer_len == sizeof(s->answer))
		s->phase =
			memcmp(s->answer + START_RANDOM_AT, start_retry, sizeof(start_retry)) == 0
				? CLIENT_START_AGAIN
				: CLIENT_START_OVER;
}

void client_start_answer(struct client_start *s, struct span in)
{
	size_t used = 0;

	while (s->phase == CLIENT_START_ANSWER && used < in.len) {
		struct client_start_record *r = &s->server;

		/* The server does not speak TLS: nothing that the client says next can be a
		 * handshake. */
		if (r->left == 0 && !start_take_head(r, in, &used)) {
			s->phase = CLIENT_START_OVER;
			return;
		}
		if (r->left == 0)
			continue;
		uint8_t type = r->head[0];
		size_t n = start_take_body(r, (struct span){in.ptr + used, in.len - used});

		if (type == START_HANDSHAKE)
			start_see(s, (struct span){in.ptr + used, n});
		else if (type != START_ALERT)
			s->phase = CLIENT_START_OVER;
		used += n;
	}
}
