/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A placeholder becomes its value where the plan says so, and refuses the request everywhere
 * else; a credential that no secret put there refuses it too; and what went in comes out of
 * no answer.
 */
#include "cmocka_lead.h"

#include "encode.h"
#include "take_out.h"
#include "websocket.h"

#include <stdio.h>
#include <zlib.h>

#define KEY_P "sk-ant-PLACEHOLDER0000"
#define KEY_V "sk-ant-realrealreal123"
#define GIT_P "ghp_PPPPPPPPPPPPPPPP"
#define GIT_V "ghp_VVVVVVVVVVVVVVVVV" /* one longer */
#define WEB_P "web-PLACEHOLDER-1"
#define WEB_V "web-\"val\\ue+/\""

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
};

static const char *const values[] = {KEY_V, GIT_V, WEB_V, AWS_ID_V "\n\n" AWS_TOKEN_V,
				     AWS_ID_V "\n\n" AWS_TOKEN_V};
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
				   .path = {(const uint8_t *)target, strcspn(target, "?")}};

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

static void test_put_in(void **state)
{
	/* "Basic x-access-token:P" and the like, by the codec that has its own test */
	static const struct {
		const char *host, *target, *fields, *name, *wanted;
	} rows[] = {
		{"api.test", "/v1", "x-api-key: " KEY_P "\n", "x-api-key", KEY_V},
		{"api.test", "/v1", "a: b\nx-api-key: v1 " KEY_P "\n", "x-api-key", "v1 " KEY_V},
		{"git.test", "/org/r.git", "authorization: Bearer " GIT_P "\n", "authorization",
		 "Bearer " GIT_V},
		{"git.test", "/org/r.git", "authorization: token " GIT_P "\n", "authorization",
		 "token " GIT_V},
		{"git.test", "/org/r.git", "authorization: " GIT_P "\n", "authorization", GIT_V},
		{"web.test", "/?key=" WEB_P "&b=1", "", NULL, "/?key=web-%22val%5Cue%2B%2F%22&b=1"},
		{"web.test", "/?a&key=web%2DPLACEHOLDER-1", "", NULL,
		 "/?a&key=web-%22val%5Cue%2B%2F%22"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run(rows[i].host, rows[i].target, rows[i].fields, false, &o);

		if (o != PUT_IN_NOTHING)
			fail_msg("row %zu: %s", i, put_in_why(p));
		assert_span(rows[i].name ? field_of(rows[i].name) : message.target, rows[i].wanted);
		if (rows[i].name)
			assert_true(http_message_find(&message, rows[i].name, 0)->secret);
		put_in_free(p);
	}
}

static void test_basic(void **state)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{"x-access-token:" GIT_P, "x-access-token:" GIT_V},
		{GIT_P ":x-oauth-basic", GIT_V ":x-oauth-basic"},
		{"u:" GIT_P, "u:" GIT_V},
		{":" GIT_P, ":" GIT_V},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct buf text = BUF_INIT(512), wanted = BUF_INIT(512);
		enum put_in_outcome o;

		buf_put_str(&text, "authorization: Basic ");
		encode_base64(&text, span_of_str(rows[i].before));
		buf_put_char(&text, '\n');
		buf_put_str(&wanted, "Basic ");
		encode_base64(&wanted, span_of_str(rows[i].after));
		struct put_in *p = run("git.test", "/org/r", buf_str(&text), false, &o);

		if (o != PUT_IN_NOTHING)
			fail_msg("row %zu: %s", i, put_in_why(p));
		assert_span(field_of("authorization"), buf_str(&wanted));
		assert_string_equal(put_in_names(p), "GIT");
		put_in_free(p);
		buf_fini(&text);
		buf_fini(&wanted);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *host, *target, *fields, *why;
	} rows[] = {
		/* another host, path, place */
		{"git.test", "/org/r", "x-api-key: " KEY_P "\n", "not bound to this host"},
		{"other.test", "/", "x-api-key: " KEY_P "\n", "not bound to this host"},
		{"git.test", "/else", "authorization: Bearer " GIT_P "\n", "this path"},
		{"api.test", "/", "x-other: " KEY_P "\n", "in a field x-other"},
		{"api.test", "/", "user-agent: " KEY_P "\n", "in a field user-agent"},
		{"api.test", "/", "authorization: Bearer " KEY_P "\n", "in Authorization"},
		{"api.test", "/" KEY_P, "", "in the address"},
		{"api.test", "/?x=" KEY_P, "", "in the query"},
		{"git.test", "/org/?t=" GIT_P, "", "in the query"},
		{"api.test", "/", KEY_P ": 1\n", "in a field's name"},
		{"api.test", "/", "cookie: s=" KEY_P "\n", "in a field cookie"},
		/* another encoding */
		{"api.test", "/", "x-api-key: sk%2Dant-PLACEHOLDER0000\n", "escaped"},
		{"api.test", "/", "x-api-key: c2stYW50LVBMQUNFSE9MREVSMDAwMA==\n", "base64"},
		{"api.test", "/", "x-api-key: 736b2d616e742d504c414345484f4c44455230303030\n",
		 "in hex"},
		{"git.test", "/org/x", "authorization: Bearer Z2hwX1BQUFBQUFBQUFBQUFBQUFA=\n",
		 "base64"},
		/* twice encoded */
		{"git.test", "/org/x",
		 "authorization: Basic WjJod1gxQlFVRkJRVUZCUVVGQlFVRkJRVUZBPQ==\n", "base64"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run(rows[i].host, rows[i].target, rows[i].fields, true, &o);

		if (o != PUT_IN_REFUSED || !strstr(put_in_why(p), rows[i].why))
			fail_msg("row %zu: %d \"%s\"", i, (int)o, put_in_why(p));
		assert_true(put_in_secret(p)[0] != '\0');
		put_in_free(p);
	}
}

static void test_foreign(void **state)
{
	static const struct {
		const char *host, *target, *fields;
		bool refused;
	} rows[] = {
		{"api.test", "/", "x-api-key: sk-evil\n", true},
		{"api.test", "/", "authorization: Bearer sk-evil\n", true},
		{"api.test", "/", "authorization: Basic dTpw\n", true},
		{"api.test", "/", "proxy-authorization: Basic dTpw\n", true},
		{"api.test", "/", "private-token: x\n", true},
		{"api.test", "/", "x-api-key: \n", false},
		{"api.test", "/", "accept: */*\nuser-agent: x\n", false},
		{"api.test", "/?key=evil", "", true},
		{"api.test", "/?a=1&API_key=evil", "", true},
		{"api.test", "/?a=1&%61ccess_token=evil", "", true},
		{"api.test", "/?X-Amz-Signature=00", "", true},
		{"api.test", "/?key=", "", false},
		{"api.test", "/?monkey=1", "", false},
		{"api.test", "/", "cookie: session=evil\n", true},
		/* Beside a placeholder. */
		{"api.test", "/", "x-api-key: " KEY_P "\nauthorization: Bearer e\n", true},
		{"api.test", "/", "x-api-key: " KEY_P "\nx-api-key: sk-evil\n", true},
		{"api.test", "/", "x-api-key: sk-evilevilevil" KEY_P "\n", true},
		{"git.test", "/org/r", "authorization: Bearer ghp_evil " GIT_P "\n", true},
		/* "ghp_evilevilevilevil:P" */
		{"git.test", "/org/r",
		 "authorization: Basic Z2hwX2V2aWxldmlsZXZpbGV2aWw6Z2hwX1BQUFBQUFBQUFBQUFBQUFA=\n",
		 true},
		/* A host without a secret is not ours to judge. */
		{"other.test", "/?key=x", "authorization: Bearer x\ncookie: a=b\n", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run(rows[i].host, rows[i].target, rows[i].fields, false, &o);

		if ((o == PUT_IN_REFUSED) != rows[i].refused)
			fail_msg("row %zu: %d %s", i, (int)o, put_in_why(p));
		if (rows[i].refused)
			assert_non_null(strstr(put_in_why(p), "credential of its own"));
		put_in_free(p);
		/* By name it is allowed. */
		p = run(rows[i].host, rows[i].target, rows[i].fields, true, &o);
		if (o == PUT_IN_REFUSED)
			fail_msg("row %zu, with credentials: %s", i, put_in_why(p));
		put_in_free(p);
	}
}

static bool passes(const char *host, const char *fields)
{
	enum put_in_outcome o;
	struct put_in *p = run(host, "/", fields, false, &o);

	put_in_free(p);
	return o == PUT_IN_NOTHING;
}

/* A cookie that the host set in this session is no foreign credential. */
static void test_cookies(void **state)
{
	struct http_message answer = {.status = 200};
	struct name api, deep;

	(void)state;
	assert_int_equal(name_parse(SPAN_LITERAL("api.test"), &api), 0);
	assert_int_equal(name_parse(SPAN_LITERAL("x.web.test"), &deep), 0);
	assert_false(passes("api.test", "cookie: a=1\n"));
	set_fields(&answer, "set-cookie: a=1; Path=/; Secure\nset-cookie: b=2\n");
	put_in_note_cookies(book, &api, &answer);
	assert_true(passes("api.test", "cookie: a=1\n"));
	assert_true(passes("api.test", "cookie: b=2; a=1\n"));
	assert_false(passes("api.test", "cookie: a=1; c=3\n"));
	assert_false(passes("api.test", "cookie: a=2\n"));
	assert_false(passes("web.test", "cookie: a=1\n"));
	/* A domain that the host lies beneath, and none that it does not. */
	set_fields(&answer, "set-cookie: d=4; domain=.Web.test\nset-cookie: e=5; Domain=api.test\n"
			    "set-cookie: f=6; Domain=test\n");
	put_in_note_cookies(book, &deep, &answer);
	assert_true(passes("web.test", "cookie: d=4\n"));
	assert_false(passes("api.test", "cookie: e=5\n"));
	assert_false(passes("web.test", "cookie: f=6\n"));
}

/* ---- bodies ---- */

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

static int body_feed(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return put_in_body(object, in, end, sink);
}

static void test_body(void **state)
{
	static const struct {
		const char *host, *fields, *body, *wanted; /* wanted NULL: refused */
	} rows[] = {
		{"web.test", "content-type: text/plain\n", "a " WEB_P " b", "a " WEB_V " b"},
		{"web.test", "content-type: application/json\n", "{\"k\":\"" WEB_P "\"}",
		 "{\"k\":\"web-\\\"val\\\\ue+/\\\"\"}"},
		{"web.test", "content-type: application/x-www-form-urlencoded\n", "k=" WEB_P "&",
		 "k=web-%22val%5Cue%2B%2F%22&"},
		{"web.test", "", "nothing of it, web-PLACEHOLDER-",
		 "nothing of it, web-PLACEHOLDER-"},
		{"web.test", "", WEB_P WEB_P, WEB_V WEB_V},
		{"web.test", "", "a " KEY_P, NULL},
		{"web.test", "", "d2ViLVBMQUNFSE9MREVSLTE=", NULL},
		{"other.test", "", "a " WEB_P, NULL},
		{"other.test", "", "a web-PLACEHOLDER-2 sk-ant-", "a web-PLACEHOLDER-2 sk-ant-"},
	};
	struct sunk s = {.bytes = BUF_INIT(4096)};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t cut = 0; cut <= strlen(rows[i].body); cut++) {
			enum put_in_outcome o;
			struct put_in *p = run(rows[i].host, "/", rows[i].fields, false, &o);

			assert_int_equal(o, PUT_IN_NOTHING);
			int r = feed(body_feed, p, span_of_str(rows[i].body), cut ? cut : 1,
				     cut ? 4096 : 1, &s);

			assert_int_equal(r, rows[i].wanted ? 0 : -EPERM);
			if (rows[i].wanted) {
				assert_string_equal(buf_str(&s.bytes), rows[i].wanted);
				assert_int_equal(s.ends, 1);
			} else {
				assert_null(strstr(buf_str(&s.bytes), WEB_P));
				assert_null(strstr(buf_str(&s.bytes), KEY_P));
				assert_true(put_in_why(p)[0] != '\0');
			}
			put_in_free(p);
		}
	buf_fini(&s.bytes);
}

/* Where the rule says mask: blotted out to its length, whose secret and in whatever pieces. */
static void test_mask(void **state)
{
	static const char body[] = "{\"env\":\"A=" KEY_P "\\nB=" GIT_P "\"} sk-ant-";
	struct sunk s = {.bytes = BUF_INIT(4096)};

	(void)state;
	for (size_t cut = 0; cut <= strlen(body); cut++) {
		struct http_message *m = request("api.test", "/", "x-api-key: " KEY_P "\n");
		struct secrets_place at = place_of("api.test", "/");
		struct put_in *p = put_in_new(book);

		assert_int_equal(put_in_look(p, m, &at, false, true), PUT_IN_NEEDS);
		assert_int_equal(give_all(p), 0);
		assert_int_equal(put_in_apply(p, m), PUT_IN_NOTHING);
		assert_false(put_in_masked(p));
		assert_int_equal(
			feed(body_feed, p, span_of_str(body), cut ? cut : 1, cut ? 4096 : 1, &s),
			0);
		assert_true(put_in_masked(p));
		assert_int_equal(s.bytes.len, strlen(body));
		assert_non_null(strstr(s.bytes.ptr, "*******\\nB="));
		assert_non_null(strstr(s.bytes.ptr, "*******\"} sk-ant-"));
		assert_null(strstr(s.bytes.ptr, KEY_P));
		assert_null(strstr(s.bytes.ptr, GIT_P));
		assert_null(strstr(s.bytes.ptr, KEY_V));
		put_in_free(p);
	}
	/* In a head it is refused all the same, and so is one that is disguised. */
	struct http_message *m = request("api.test", "/", "x-other: " KEY_P "\n");
	struct secrets_place at = place_of("api.test", "/");
	struct put_in *p = put_in_new(book);

	assert_int_equal(put_in_look(p, m, &at, false, true), PUT_IN_REFUSED);
	put_in_free(p);
	m = request("other.test", "/", "");
	at = place_of("other.test", "/");
	p = put_in_new(book);
	assert_int_equal(put_in_look(p, m, &at, false, true), PUT_IN_NOTHING);
	assert_int_equal(feed(body_feed, p, SPAN_LITERAL("Z2hwX1BQUFBQUFBQUFBQUFBQUFA="), 9, 9, &s),
			 -EPERM);
	put_in_free(p);
	buf_fini(&s.bytes);
}

/* A body of another length says so; one of the same keeps it. */
static void test_body_length(void **state)
{
	enum put_in_outcome o;
	struct put_in *p = run("web.test", "/", "content-type: text/plain\n", false, &o);

	(void)state;
	assert_int_equal(message.body, strlen(WEB_P) == strlen(WEB_V) ? HTTP_MESSAGE_LENGTH
								      : HTTP_MESSAGE_UNKNOWN);
	put_in_free(p);
	p = run("other.test", "/", "", false, &o);
	assert_int_equal(message.body, HTTP_MESSAGE_LENGTH);
	put_in_free(p);
}

static void test_values_that_must_not_be(void **state)
{
	struct http_message *m = request("api.test", "/", "x-api-key: " KEY_P "\n");
	struct secrets_place at = place_of("api.test", "/");
	struct put_in *p = put_in_new(book);
	const struct message_value bad = {.index = 0, .value = SPAN_LITERAL("evil\r\nhost: x")};
	const struct message_value other = {.index = 1, .value = SPAN_LITERAL("something")};

	(void)state;
	assert_int_equal(put_in_look(p, m, &at, false, false), PUT_IN_NEEDS);
	assert_int_equal(put_in_give(p, &bad), -EINVAL);
	assert_int_equal(put_in_give(p, &other), -EINVAL);
	/* Without a value nothing goes. */
	assert_int_equal(put_in_apply(p, m), PUT_IN_REFUSED);
	put_in_free(p);
}

static void test_trailers(void **state)
{
	enum put_in_outcome o;
	struct put_in *p = run("api.test", "/", "", false, &o);
	struct http_message t = {0};

	(void)state;
	set_fields(&t, "x-sum: 1\n");
	assert_int_equal(put_in_trailers(p, &t), 0);
	set_fields(&t, "x-sum: " KEY_P "\n");
	assert_int_equal(put_in_trailers(p, &t), -EPERM);
	put_in_free(p);
}

/* ---- signing ---- */

#define V4(id, service)                                                                 \
	"authorization: AWS4-HMAC-SHA256 Credential=" id "/20150830/us-east-1/" service \
	"/aws4_request, SignedHeaders=accept-encoding;host;x-amz-date, Signature="      \
	"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31\n"
#define AWS_FIELDS "accept-encoding: gzip\nx-amz-date: 20150830T123600Z\n"

static void test_sign(void **state)
{
	static const char aa[] =
		"AWS4-HMAC-SHA256 Credential=" AWS_ID_V
		"/20150830/us-east-1/sts/aws4_request, SignedHeaders=host;x-amz-date, Signature="
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	uint8_t signature[32];
	struct message_sign sign = {0};
	struct http_message *m =
		request("sts.aws.test", "/",
			AWS_FIELDS "x-amz-security-token: " AWS_TOKEN_P "\n" V4(AWS_ID_P, "sts"));
	struct secrets_place at = place_of("sts.aws.test", "/");
	struct put_in *p = put_in_new(book);

	(void)state;
	memset(signature, 0xaa, sizeof(signature));
	assert_int_equal(put_in_look(p, m, &at, false, false), PUT_IN_NEEDS);
	assert_true(put_in_gathers(p));
	put_in_gathered(p, SPAN_LITERAL("Action=GetCallerIdentity"));
	assert_false(put_in_gathers(p));
	assert_int_equal(give_all(p), 0);
	assert_int_equal(put_in_apply(p, m), PUT_IN_SIGN);
	assert_span(field_of("x-amz-security-token"), AWS_TOKEN_V);
	put_in_signing(p, &sign);
	assert_int_equal(sign.index, 3);
	assert_string_equal(sign.date, "20150830");
	assert_string_equal(sign.region, "us-east-1");
	assert_string_equal(sign.service, "sts");
	assert_non_null(memmem(sign.text.ptr, sign.text.len,
			       "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/sts/", 57));
	assert_int_equal(put_in_signed(p, m, (struct span){signature, 32}), PUT_IN_NOTHING);
	assert_span(field_of("authorization"), aa);
	assert_string_equal(put_in_names(p), "AWS");
	put_in_free(p);
}

/* The box knows of no token; the value has one. */
static void test_sign_token(void **state)
{
	static const char target[] =
		"/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAPLACEHOLDER00009%"
		"2F20150830%2F"
		"us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=60"
		"&X-Amz-SignedHeaders=host&X-Amz-Signature="
		"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
	uint8_t signature[32];
	enum put_in_outcome o;
	struct put_in *p = run("sts.temp.test", "/",
			       "x-amz-content-sha256: UNSIGNED-PAYLOAD\n" AWS_FIELDS V4(
				       "AKIAPLACEHOLDER00009", "s3"),
			       false, &o);

	(void)state;
	memset(signature, 0xaa, sizeof(signature));
	assert_int_equal(o, PUT_IN_SIGN);
	assert_span(field_of("x-amz-security-token"), AWS_TOKEN_V);
	assert_int_equal(put_in_signed(p, &message, (struct span){signature, 32}), PUT_IN_NOTHING);
	assert_non_null(memmem(field_of("authorization").ptr, field_of("authorization").len,
			       "SignedHeaders=host;x-amz-date;x-amz-security-token,", 51));
	put_in_free(p);
	p = run("s3.temp.test", target, "", false, &o);
	if (o != PUT_IN_SIGN)
		fail_msg("%s", put_in_why(p));
	assert_int_equal(put_in_signed(p, &message, (struct span){signature, 32}), PUT_IN_NOTHING);
	struct buf got = BUF_INIT(4096);

	buf_put(&got, message.target.ptr, message.target.len);
	assert_non_null(strstr(buf_str(&got), "X-Amz-Credential=" AWS_ID_V "%2F20150830"));
	assert_non_null(strstr(buf_str(&got),
			       "&X-Amz-Signature=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			       "aaaaaaaaaaaaaaaaaaaaaaaa&X-Amz-Security-Token="
			       "real-token%2F%2B%3D"));
	buf_fini(&got);
	put_in_free(p);
}

static void test_sign_refused(void **state)
{
	static const struct {
		const char *host, *fields, *why;
		bool credentials;
	} rows[] = {
		{"x.aws.test", AWS_FIELDS V4("AKIAEVIL", "s3"), "credential of its own", false},
		{"other.test", AWS_FIELDS V4(AWS_ID_P, "s3"), "not bound to this host", true},
		{"x.aws.test", "x: " AWS_KEY_P "\n", "not put in", true},
		{"x.aws.test",
		 "x-amz-security-token: " AWS_KEY_P "\n" AWS_FIELDS V4(AWS_ID_P, "s3"),
		 "not put in", true},
		{"x.aws.test", "authorization: Bearer " AWS_ID_P "\n", "not put in", true},
		{"x.aws.test",
		 "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\n" AWS_FIELDS V4(
			 AWS_ID_P, "s3"),
		 "in chunks", true},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run(rows[i].host, "/", rows[i].fields, rows[i].credentials, &o);

		if (o != PUT_IN_REFUSED || !strstr(put_in_why(p), rows[i].why))
			fail_msg("row %zu: %d \"%s\"", i, (int)o, put_in_why(p));
		put_in_free(p);
	}
}

/* ---- taking out ---- */

static struct take_out *knowing(void)
{
	enum put_in_outcome o;
	struct take_out *t = take_out_new();
	struct put_in *p = run("api.test", "/", "x-api-key: " KEY_P "\n", false, &o);

	assert_int_equal(o, PUT_IN_NOTHING);
	assert_non_null(t);
	assert_int_equal(take_out_add(t, p), 0);
	assert_int_equal(take_out_add(t, p), 0);
	put_in_free(p);
	return t;
}

static int answer_feed(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return take_out_body(object, in, end, sink);
}

static void test_take_out_of_fields(void **state)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200};

	(void)state;
	assert_int_equal(take_out_begin(t, &a), 0);
	set_fields(&m, "location: https://x/?k=" KEY_V "\nset-cookie: a=" KEY_V
		       "; Path=/\nx: c2stYW50LXJlYWxyZWFscmVhbDEyMw==\ny: plain\n" KEY_V ": z\n");
	assert_int_equal(take_out_head(a, &m, false), 0);
	assert_int_equal(m.field_count, 4);
	assert_span(m.fields[0].value, "https://x/?k=" KEY_P);
	assert_span(m.fields[1].value, "a=" KEY_P "; Path=/");
	assert_null(memmem(m.fields[2].value.ptr, m.fields[2].value.len, "cmVhbHJlYWw", 11));
	assert_span(m.fields[3].value, "plain");
	assert_int_equal(take_out_count(a), 4);
	take_out_end(a);
	/* It asks for plain. */
	request("api.test", "/", "accept-encoding: gzip, br\nsec-websocket-extensions: x\n");
	assert_int_equal(take_out_ask_plain(t, &message), 0);
	assert_int_equal(message.field_count, 1);
	assert_span(field_of("accept-encoding"), "identity");
	take_out_free(t);
	/* While nothing went in, nothing is asked. */
	t = take_out_new();
	request("api.test", "/", "accept-encoding: gzip, br\n");
	assert_int_equal(take_out_ask_plain(t, &message), 0);
	assert_span(field_of("accept-encoding"), "gzip, br");
	assert_int_equal(take_out_begin(t, &a), 0);
	assert_null(a);
	take_out_free(t);
}

static void test_take_out_of_bodies(void **state)
{
	struct take_out *t = knowing();
	struct sunk s = {.bytes = BUF_INIT(4096)};
	static const char text[] = "<html>" KEY_V "</html>" KEY_V;

	(void)state;
	for (size_t cut = 1; cut < sizeof(text); cut++) {
		struct take_out_answer *a = NULL;
		struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};

		assert_int_equal(take_out_begin(t, &a), 0);
		assert_int_equal(take_out_head(a, &m, true), 0);
		assert_int_equal(m.body, HTTP_MESSAGE_LENGTH);
		assert_int_equal(feed(answer_feed, a, SPAN_LITERAL(text), cut, 1, &s), 0);
		assert_int_equal(s.bytes.len, sizeof(text) - 1);
		assert_null(strstr(buf_str(&s.bytes), "realreal"));
		assert_int_equal(take_out_count(a), 2);
		take_out_end(a);
	}
	buf_fini(&s.bytes);
	take_out_free(t);
}

static struct buf deflated(struct span text, int bits)
{
	struct buf b = {.ptr = malloc(1 << 20), .cap = 1 << 20, .max = (1 << 20) - 1};
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (z_const Bytef *)(uintptr_t)text.ptr;
	z.avail_in = (uInt)text.len;
	z.next_out = (Bytef *)b.ptr;
	z.avail_out = 1 << 20;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.len = z.total_out;
	(void)deflateEnd(&z);
	return b;
}

static int try_encoding(const char *fields, struct span body, size_t cut, struct sunk *s)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};

	set_fields(&m, fields);
	assert_int_equal(take_out_begin(t, &a), 0);
	int r = take_out_head(a, &m, true);

	if (r == 0) {
		assert_null(http_message_find(&m, "content-encoding", 0));
		assert_int_equal(m.body, HTTP_MESSAGE_UNKNOWN);
		r = feed(answer_feed, a, body, cut, cut, s);
	}
	if (r < 0)
		assert_true(take_out_why(a)[0] != '\0');
	take_out_end(a);
	take_out_free(t);
	return r;
}

static void test_compressed(void **state)
{
	static const char text[] = "before " KEY_V " after";
	static const char wanted[] = "before " KEY_P " after";
	struct buf gz = deflated(SPAN_LITERAL(text), 31), zl = deflated(SPAN_LITERAL(text), 15);
	struct buf bare = deflated(SPAN_LITERAL(text), -15), twice = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(1 << 26)};
	const struct {
		const char *fields;
		const struct buf *body;
	} rows[] = {{"content-encoding: gzip\n", &gz},
		    {"content-encoding: x-gzip\n", &gz},
		    {"content-encoding: deflate\n", &zl},
		    {"content-encoding: deflate\n", &bare}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t cut = 1; cut <= rows[i].body->len; cut++) {
			assert_int_equal(
				try_encoding(rows[i].fields, buf_span(rows[i].body), cut, &s), 0);
			if (cut > 1)
				assert_int_equal(s.bytes.len, sizeof(wanted) - 1);
			assert_null(strstr(buf_str(&s.bytes), "realreal"));
		}
	assert_int_equal(try_encoding(rows[0].fields, buf_span(&gz), 4096, &s), 0);
	assert_string_equal(buf_str(&s.bytes), wanted);
	/* Two members, and half of one. */
	buf_put(&twice, gz.ptr, gz.len);
	buf_put(&twice, gz.ptr, gz.len);
	assert_int_equal(try_encoding(rows[0].fields, buf_span(&twice), 7, &s), 0);
	assert_int_equal(s.bytes.len, 2 * (sizeof(wanted) - 1));
	assert_int_equal(try_encoding(rows[0].fields,
				      (struct span){(const uint8_t *)gz.ptr, gz.len - 9}, 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding(rows[0].fields, SPAN_LITERAL("not gzip at all"), 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding(rows[0].fields, (struct span){NULL, 0}, 7, &s), 0);
	/* What we cannot read. */
	assert_int_equal(try_encoding("content-encoding: br\n", buf_span(&gz), 7, &s), -EPROTO);
	assert_int_equal(try_encoding("content-encoding: gzip, gzip\n", buf_span(&gz), 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding("content-encoding: gzip\ncontent-encoding: br\n",
				      buf_span(&gz), 7, &s),
			 -EPROTO);
	buf_fini(&gz);
	buf_fini(&zl);
	buf_fini(&bare);
	buf_fini(&twice);
	buf_fini(&s.bytes);
}

static int count_give(void *context, struct span bytes, bool end)
{
	(void)end;
	*(uint64_t *)context += bytes.len;
	return 0;
}

/* 100 MB of zeros in 100 KB: over the ratio, and refused long before its end. */
static void test_bomb(void **state)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};
	size_t size = 100 << 20;
	uint8_t *zeros = calloc(1, size);
	struct buf bomb = deflated((struct span){zeros, size}, 31);
	uint64_t out = 0;
	const struct put_in_sink sink = {count_give, &out};

	(void)state;
	assert_non_null(zeros);
	free(zeros);
	set_fields(&m, "content-encoding: gzip\n");
	assert_int_equal(take_out_begin(t, &a), 0);
	assert_int_equal(take_out_head(a, &m, true), 0);
	assert_int_equal(take_out_body(a, buf_span(&bomb), true, &sink), -EPROTO);
	assert_true(out <= TAKE_OUT_RATIO * bomb.len + (32 << 10) || out <= TAKE_OUT_INFLATED);
	assert_non_null(strstr(take_out_why(a), "unpacks"));
	take_out_end(a);
	take_out_free(t);
	buf_fini(&bomb);
}

/* ---- WebSocket ---- */

static int box_frames(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return put_in_websocket(object, in, end, sink);
}

static int origin_frames(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return take_out_websocket(object, in, end, sink);
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

static void test_websocket_put_in(void **state)
{
	struct buf frames = BUF_INIT(4096), got = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(8192)};

	(void)state;
	put_frame(&frames, true, true, WEBSOCKET_TEXT, "{\"k\":\"" WEB_P "\"}");
	put_frame(&frames, true, false, WEBSOCKET_TEXT, "a web-PLACE");
	put_frame(&frames, true, true, WEBSOCKET_PING, "p");
	put_frame(&frames, true, false, WEBSOCKET_CONTINUATION, "HOLDER-");
	put_frame(&frames, true, true, WEBSOCKET_CONTINUATION, "1 b");
	put_frame(&frames, true, true, WEBSOCKET_BINARY, "web-PLACE");
	put_frame(&frames, true, true, WEBSOCKET_CLOSE, "\3\350");
	for (size_t cut = 1; cut <= frames.len; cut++) {
		enum put_in_outcome o;
		struct http_message *m = request("web.test", "/", "sec-websocket-extensions: x\n");
		struct secrets_place at = place_of("web.test", "/");
		struct put_in *p = put_in_new(book);

		m->websocket = true;
		m->body = HTTP_MESSAGE_NONE;
		o = put_in_look(p, m, &at, false, false);
		assert_int_equal(o, PUT_IN_NEEDS);
		assert_int_equal(give_all(p), 0);
		assert_int_equal(put_in_apply(p, m), PUT_IN_NOTHING);
		assert_int_equal(m->field_count, 0);
		assert_int_equal(
			feed(box_frames, p, buf_span(&frames), cut, cut % 3 ? 4096 : 1, &s), 0);
		read_frames(buf_span(&s.bytes), true, &got);
		/* The ping may stand before or within the message. */
		char *ping = strstr(got.ptr, "<p>");

		assert_non_null(ping);
		memmove(ping, ping + 3, strlen(ping + 3) + 1);
		assert_string_equal(got.ptr,
				    "{\"k\":\"" WEB_V "\"}|a " WEB_V " b|web-PLACE|<\3\350>");
		put_in_free(p);
	}
	buf_fini(&frames);
	buf_fini(&got);
	buf_fini(&s.bytes);
}

static void test_websocket_refused(void **state)
{
	static const struct {
		uint8_t opcode;
		const char *text;
	} rows[] = {{WEBSOCKET_TEXT, "x " KEY_P},
		    {WEBSOCKET_BINARY, WEB_P},
		    {WEBSOCKET_PING, WEB_P},
		    {WEBSOCKET_TEXT, "d2ViLVBMQUNFSE9MREVSLTE="}};
	struct buf frames = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(8192)};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run("other.test", "/", "", false, &o);

		buf_clear(&frames);
		put_frame(&frames, true, true, rows[i].opcode, rows[i].text);
		assert_int_equal(feed(box_frames, p, buf_span(&frames), 7, 7, &s), -EPERM);
		assert_true(put_in_secret(p)[0] != '\0');
		put_in_free(p);
	}
	buf_fini(&frames);
	buf_fini(&s.bytes);
}

static void test_websocket_take_out(void **state)
{
	struct take_out *t = knowing();
	struct buf frames = BUF_INIT(4096), got = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(8192)};

	(void)state;
	put_frame(&frames, false, true, WEBSOCKET_TEXT, "a " KEY_V " b");
	put_frame(&frames, false, false, WEBSOCKET_BINARY, "sk-ant-realre");
	put_frame(&frames, false, true, WEBSOCKET_PING, KEY_V);
	put_frame(&frames, false, true, WEBSOCKET_CONTINUATION, "alreal123");
	for (size_t cut = 1; cut <= frames.len; cut++) {
		struct take_out_answer *a = NULL;

		assert_int_equal(take_out_begin(t, &a), 0);
		assert_int_equal(feed(origin_frames, a, buf_span(&frames), cut, 4096, &s), 0);
		read_frames(buf_span(&s.bytes), false, &got);
		assert_null(strstr(got.ptr, "realreal"));
		assert_int_equal(take_out_count(a), 3);
		take_out_end(a);
	}
	buf_fini(&frames);
	buf_fini(&got);
	buf_fini(&s.bytes);
	take_out_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_in),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_cookies),
		cmocka_unit_test(test_body),
		cmocka_unit_test(test_body_length),
		cmocka_unit_test(test_values_that_must_not_be),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_trailers),
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_sign_token),
		cmocka_unit_test(test_sign_refused),
		cmocka_unit_test(test_take_out_of_fields),
		cmocka_unit_test(test_take_out_of_bodies),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_websocket_put_in),
		cmocka_unit_test(test_websocket_refused),
		cmocka_unit_test(test_websocket_take_out),
	};

	return cmocka_run_group_tests_name("put_in", tests, make_book, free_book);
}
