/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what goes into requests and comes out of answers: secrets, requests, sinks. */
#ifndef BAWN_PUT_IN_LEAD_H
#define BAWN_PUT_IN_LEAD_H

#include "encode.h"
#include "take_out.h"
#include "websocket.h"

#define KEY_P "sk-ant-PLACEHOLDER0000"
#define KEY_V "sk-ant-realrealreal123"
#define GIT_P "ghp_PPPPPPPPPPPPPPPP"
#define GIT_V "ghp_VVVVVVVVVVVVVVVVV" /* one longer */
#define WEB_P "web-PLACEHOLDER-1"
#define WEB_V "web-\"val\\ue+/\""

#define NAMED_P "named-PLACEHOLDER-77"
#define NAMED_V "named-real-value-of-it"

static struct plan_ports https = {443, 443};

#define BIND(name)                                                              \
	{                                                                       \
		.host = (name), .ports = {&https, 1}, .scheme = PLAN_SCHEME_TLS \
	}

static struct plan_binding key_at[] = {BIND("api.test")};
static struct plan_string git_paths[] = {{"/org/**"}};
static struct plan_binding git_at[] = {{.host = "git.test",
					.ports = {&https, 1},
					.scheme = PLAN_SCHEME_TLS,
					.paths = {git_paths, 1}}};
static struct plan_binding web_at[] = {BIND("web.test"), BIND("api.test")};
static struct plan_secret_part key_part[] = {{.placeholder = KEY_P}};
static struct plan_secret_part git_part[] = {{.placeholder = GIT_P}};
static struct plan_secret_part web_part[] = {{.placeholder = WEB_P}};
static struct plan_string key_headers[] = {{"x-api-key"}};

#define AWS_ID_P "AKIAPLACEHOLDER00001"
#define AWS_KEY_P "placeholder+of/the+secret/key+0123456789"
#define AWS_TOKEN_P "placeholder-of-the-token"
#define AWS_ID_V "AKIAREALREALREAL0002"
#define AWS_TOKEN_V "real-token/+="

static struct plan_binding aws_at[] = {BIND("*.aws.test")};
static struct plan_secret_part aws_parts[] = {
	{.placeholder = AWS_ID_P}, {.placeholder = AWS_KEY_P}, {.placeholder = AWS_TOKEN_P}};

static struct plan_binding named_at[] = {BIND("named.test")};
static struct plan_secret_part named_part[] = {{.placeholder = NAMED_P}};
static struct plan_string named_parameters[] = {{"api_key"}, {"secret"}};

#define COOKIE_P "cookie-PLACEHOLDER-5"
#define COOKIE_V "cookie-real-value-of-it"

static struct plan_binding cookie_at[] = {BIND("cookie.test")};
static struct plan_secret_part cookie_part[] = {{.placeholder = COOKIE_P}};
static struct plan_string cookie_headers[] = {{"cookie"}, {"x-key"}};

static struct plan_binding temp_at[] = {BIND("*.temp.test")};
static struct plan_secret_part temp_parts[] = {
	{.placeholder = "AKIAPLACEHOLDER00009"},
	{.placeholder = "another+placeholder/of+a/key+0123456789"}};

static const struct plan_secret secrets[] = {
	{.name = "KEY",
	 .parts = {key_part, 1},
	 .bindings = {key_at, 1},
	 .headers = {key_headers, 1}},
	{.name = "GIT", .parts = {git_part, 1}, .bindings = {git_at, 1}, .in_authorization = true},
	{.name = "WEB",
	 .parts = {web_part, 1},
	 .bindings = {web_at, 2},
	 .in_query = true,
	 .in_body = true,
	 .in_websocket = true},
	{.name = "AWS", .kind = PLAN_SECRET_AWS, .parts = {aws_parts, 3}, .bindings = {aws_at, 1}},
	{.name = "TEMP",
	 .kind = PLAN_SECRET_AWS,
	 .parts = {temp_parts, 2},
	 .bindings = {temp_at, 1}},
	{.name = "NAMED",
	 .parts = {named_part, 1},
	 .bindings = {named_at, 1},
	 .in_query = true,
	 .in_body = true,
	 .parameters = {named_parameters, 2}},
	{.name = "COOKIE",
	 .parts = {cookie_part, 1},
	 .bindings = {cookie_at, 1},
	 .headers = {cookie_headers, 2}},
};

static const char *const values[] = {
	KEY_V,   GIT_V,   WEB_V, AWS_ID_V "\n\n" AWS_TOKEN_V, AWS_ID_V "\n\n" AWS_TOKEN_V,
	NAMED_V, COOKIE_V};
static struct put_in_book *book;

static int make_book(void **state)
{
	(void)state;
	return put_in_book_new(secrets, BAWN_ARRAY_SIZE(secrets), &book);
}

static int free_book(void **state)
{
	(void)state;
	put_in_book_free(book);
	return 0;
}

/* "name: value\n..." */
static void set_fields(struct http_message *m, const char *text)
{
	m->field_count = 0;
	while (*text) {
		const char *colon = strchr(text, ':'), *end = strchr(text, '\n');

		assert_non_null(colon);
		assert_non_null(end);
		assert_int_equal(http_message_add(m,
						  (struct span){(const uint8_t *)text,
								(size_t)(colon - text)},
						  (struct span){(const uint8_t *)colon + 2,
								(size_t)(end - colon - 2)}),
				 0);
		text = end + 1;
	}
}

static struct secrets_place place_of(const char *host, const char *target)
{
	struct secrets_place at = {.port = 443,
				   .scheme = PLAN_SCHEME_TLS,
				   .method = SPAN_LITERAL("POST"),
				   .path = {(const uint8_t *)target, strcspn(target, "?")},
				   .sure = strcspn(target, "?")};

	assert_int_equal(name_parse(span_of_str(host), &at.host), 0);
	return at;
}

static struct http_message message;

static struct http_message *request(const char *host, const char *target, const char *fields)
{
	message = (struct http_message){.method = SPAN_LITERAL("POST"),
					.scheme = SPAN_LITERAL("https"),
					.authority = span_of_str(host),
					.target = span_of_str(target),
					.body = HTTP_MESSAGE_LENGTH,
					.length = 100};
	set_fields(&message, fields);
	return &message;
}

static int give_all(struct put_in *p)
{
	size_t count = 0;
	const size_t *needs = put_in_needs(p, &count);

	for (size_t i = 0; i < count; i++) {
		const struct message_value v = {.index = needs[i],
						.value = span_of_str(values[needs[i]])};

		if (put_in_give(p, &v) < 0)
			return -1;
	}
	return 0;
}

static struct span field_of(const char *name)
{
	struct http_message_field *f = http_message_find(&message, name, 0);

	return f ? f->value : SPAN_LITERAL("(none)");
}

/* Looks, gives, applies; NULL in `wanted` of the field: refused. */
static struct put_in *run(const char *host, const char *target, const char *fields,
			  bool credentials, enum put_in_outcome *ret)
{
	struct http_message *m = request(host, target, fields);
	struct secrets_place at = place_of(host, target);
	struct put_in *p = put_in_new(book);

	assert_non_null(p);
	*ret = put_in_look(p, m, &at, credentials, false);
	if (*ret == PUT_IN_NEEDS) {
		assert_int_equal(give_all(p), 0);
		*ret = put_in_apply(p, m);
	}
	return p;
}

#define assert_span(s, text)                                               \
	do {                                                               \
		struct span span_ = (s);                                   \
		if (!span_equal(span_, span_of_str(text)))                 \
			fail_msg("\"%.*s\" is not \"%s\"", (int)span_.len, \
				 (const char *)span_.ptr, text);           \
	} while (0)

struct sunk {
	struct buf bytes;
	int ends;
};

static int sink_give(void *context, struct span bytes, bool end)
{
	struct sunk *s = context;

	assert_int_equal(s->ends, 0);
	buf_put(&s->bytes, bytes.ptr, bytes.len);
	s->ends += end;
	return 0;
}

/* In pieces, each a copy. */
static int feed(int (*one)(void *object, struct span in, bool end, const struct put_in_sink *sink),
		void *object, struct span bytes, size_t first, size_t rest, struct sunk *s)
{
	const struct put_in_sink sink = {sink_give, s};
	int r = 0;

	buf_clear(&s->bytes);
	s->ends = 0;
	for (size_t at = 0, size = first; r == 0 && at < bytes.len; size = rest) {
		size_t n = size < bytes.len - at ? size : bytes.len - at;
		uint8_t *copy = malloc(n);

		assert_non_null(copy);
		memcpy(copy, bytes.ptr + at, n);
		r = one(object, (struct span){copy, n}, false, &sink);
		free(copy);
		at += n;
	}
	return r < 0 ? r : one(object, (struct span){NULL, 0}, true, &sink);
}

static void put_frame(struct buf *into, bool client, bool fin, uint8_t opcode, const char *text)
{
	const uint8_t mask[4] = {1, 2, 3, 250};
	size_t at;

	websocket_put_head(into, fin, 0, opcode, client ? mask : NULL, strlen(text));
	at = into->len;
	buf_put_str(into, text);
	if (client)
		websocket_mask(mask, 0, (uint8_t *)into->ptr + at, strlen(text));
}

/* Messages one after the other, "text|" each; control frames as "<text>". */
static void read_frames(struct span in, bool client, struct buf *into)
{
	struct websocket w = {.from_client = client};
	size_t used = 0;

	buf_clear(into);
	for (enum websocket_event e = WEBSOCKET_HEAD; e != WEBSOCKET_MORE;) {
		struct span data;

		e = websocket_read(&w, in, &used, &data);
		assert_int_not_equal(e, WEBSOCKET_BAD);
		bool control = websocket_is_control(w.opcode);
		size_t at = into->len;

		if (e == WEBSOCKET_HEAD && control)
			buf_put_char(into, '<');
		if (e == WEBSOCKET_DATA) {
			buf_put(into, data.ptr, data.len);
			websocket_mask(w.mask, w.len - w.left - data.len, (uint8_t *)into->ptr + at,
				       data.len);
		}
		if (e != WEBSOCKET_MORE && w.left == 0 && (control || w.fin))
			buf_put_char(into, control ? '>' : '|');
		in = (struct span){in.ptr + used, in.len - used};
	}
	assert_int_equal(in.len, 0);
}

#endif
