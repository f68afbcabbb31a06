/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A placeholder becomes its value where the plan says so, and refuses the request everywhere
 * else; a credential that no secret put there refuses it too.
 */
#include "cmocka_lead.h"

#include "message_keys.h"
#include "put_in_lead.h"

static void test_put_in(void **state)
{
	/* "Basic x-access-token:P" and the like, by the codec that has its own test */
	static const struct {
		const char *host, *target, *fields, *name, *wanted;
	} rows[] = {
		{"api.test", "/v1", "x-api-key: " KEY_P "\n", "x-api-key", KEY_V},
		{"api.test", "/v1", "a: b\nx-api-key: bearer " KEY_P "\n", "x-api-key",
		 "bearer " KEY_V},
		{"cookie.test", "/", "cookie: session=" COOKIE_P "\n", "cookie",
		 "session=" COOKIE_V},
		{"cookie.test", "/", "cookie: b=\"" COOKIE_P "\"; s=" COOKIE_P "\n", "cookie",
		 "b=\"" COOKIE_V "\"; s=" COOKIE_V},
		{"git.test", "/org/r.git", "authorization: Bearer " GIT_P "\n", "authorization",
		 "Bearer " GIT_V},
		{"git.test", "/org/r.git", "authorization: token " GIT_P "\n", "authorization",
		 "token " GIT_V},
		{"git.test", "/org/r.git", "authorization: " GIT_P "\n", "authorization", GIT_V},
		{"web.test", "/?key=" WEB_P "&b=1", "", NULL, "/?key=web-%22val%5Cue%2B%2F%22&b=1"},
		{"named.test", "/?a=1&api_key=" NAMED_P "&b", "", NULL,
		 "/?a=1&api_key=" NAMED_V "&b"},
		{"named.test", "/?api%5fkey=" NAMED_P, "", NULL, "/?api%5fkey=" NAMED_V},
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

/*
 * Letters of the box's own beside a placeholder: a host that shortens what it returns would cut
 * within the value.
 */
static void test_padded(void **state)
{
	static const struct {
		const char *host, *target, *fields, *why;
	} rows[] = {
#define FIELD "in a field x-api-key; write it as the whole field"
		{"api.test", "/", "x-api-key: AAAA" KEY_P "\n", FIELD},
		{"api.test", "/", "x-api-key: " KEY_P "AAAA\n", FIELD},
		{"api.test", "/", "x-api-key: AAAA " KEY_P "\n", FIELD},
		{"api.test", "/", "x-api-key: Bearer  " KEY_P "\n", FIELD},
		{"api.test", "/", "x-api-key: Bearer AAAA" KEY_P "\n", FIELD},
		{"api.test", "/", "x-api-key: " KEY_P ", AAAA\n", FIELD},
		{"api.test", "/", "x-api-key: " KEY_P KEY_P "\n", FIELD},
		{"api.test", "/", "x-api-key: " KEY_P "\nx-api-key: AAAA\n", "more than once"},
		{"api.test", "/", "X_Api-Key: AAAA\nx-api-key: " KEY_P "\n", "more than once"},
		{"git.test", "/org/r", "authorization: Bearer ghp_evil " GIT_P "\n", "in Auth"},
		{"git.test", "/org/r", "authorization: AAAAAAAAAAAAA " GIT_P "\n", "in Auth"},
		{"git.test", "/org/r", "authorization: Bearer AAAA" GIT_P "\n", "in Auth"},
		{"cookie.test", "/", "cookie: s=AAAA" COOKIE_P "\n", "value of a cookie"},
		{"cookie.test", "/", "cookie: s=" COOKIE_P "AAAA; b=1\n", "value of a cookie"},
		{"cookie.test", "/", "cookie: s=AAAA=" COOKIE_P "\n", "value of a cookie"},
		{"cookie.test", "/", "cookie: s=\"" COOKIE_P "\n", "value of a cookie"},
		{"cookie.test", "/", "cookie: " COOKIE_P "\n", "value of a cookie"},
#define QUERY "in the query; write it as the whole value of a parameter"
		{"web.test", "/?key=AAAA" WEB_P, "", QUERY},
		{"web.test", "/?key=" WEB_P "AAAA", "", QUERY},
		{"web.test", "/?key=" WEB_P ";AAAA", "", QUERY},
		{"web.test", "/?key=AAAA=" WEB_P, "", QUERY},
		{"web.test", "/?a=AAAA;key=" WEB_P, "", QUERY},
		{"web.test", "/?AAAA" WEB_P, "", QUERY},
		{"web.test", "/?" WEB_P, "", QUERY},
		{"web.test", "/?key=AAAA%3Dweb%2DPLACEHOLDER-1", "", QUERY},
		{"named.test", "/?api_key=AAAA" NAMED_P, "", "a parameter that the secret names"},
	};
	static const char *const basic[] = {
		"x:AAAA" GIT_P,    "AAAA" GIT_P ":x", "x:AAAA:" GIT_P,
		"x:" GIT_P "AAAA", "AAAA" GIT_P,      GIT_P "AAAA:x",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows) + BAWN_ARRAY_SIZE(basic); i++) {
		struct buf text = BUF_INIT(512);
		bool head = i < BAWN_ARRAY_SIZE(rows);
		enum put_in_outcome o;

		buf_put_str(&text, "authorization: Basic ");
		if (!head)
			encode_base64(&text, span_of_str(basic[i - BAWN_ARRAY_SIZE(rows)]));
		buf_put_char(&text, '\n');
		struct put_in *p =
			head ? run(rows[i].host, rows[i].target, rows[i].fields, true, &o)
			     : run("git.test", "/org/r", buf_str(&text), true, &o);

		if (o != PUT_IN_REFUSED ||
		    !strstr(put_in_why(p), head ? rows[i].why : "the whole user or"))
			fail_msg("row %zu: %d \"%s\"", i, (int)o, put_in_why(p));
		assert_true(put_in_secret(p)[0] != '\0');
		put_in_free(p);
		buf_fini(&text);
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
		/* A sign between words is one, wherever it stands. */
		{"api.test", "/?access+token=1", "", true},
		{"api.test", "/?+key=1", "", true},
		{"api.test", "/?+monkey=1", "", false},
		{"api.test", "/", "cookie: session=evil\n", true},
		/* Beside a placeholder. */
		{"api.test", "/", "x-api-key: " KEY_P "\nauthorization: Bearer e\n", true},
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

static int body_feed(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return put_in_body(object, in, end, sink);
}

#define A30 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define A300 A30 A30 A30 A30 A30 A30 A30 A30 A30 A30
#define BLANKS30 "                              "
#define BLANKS300 \
	BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30 BLANKS30

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
		{"web.test", "", WEB_P " " WEB_P, WEB_V " " WEB_V},
		{"web.test", "", "<k>" WEB_P "</k>", "<k>" WEB_V "</k>"},
		{"web.test", "content-type: application/json\n", "[\"" WEB_P "\"]",
		 "[\"web-\\\"val\\\\ue+/\\\"\"]"},
		/* With other text beside it. */
		{"web.test", "", WEB_P WEB_P, NULL},
		{"web.test", "", "AAAA" WEB_P, NULL},
		{"web.test", "", WEB_P "AAAA", NULL},
		{"web.test", "", "a-" WEB_P, NULL},
		{"web.test", "", "a \303\251" WEB_P, NULL},
#define WEB_JSON "content-type: application/json\n"
#define WEB_FORM "content-type: application/x-www-form-urlencoded\n"
		{"web.test", WEB_JSON, "{\"k\":\"AAAA" WEB_P "\"}", NULL},
		{"web.test", WEB_JSON, "{\"k\":\"AAAA " WEB_P "\"}", NULL},
		{"web.test", WEB_JSON, "{\"k\":\"" WEB_P " \"}", NULL},
		{"web.test", WEB_JSON, "{\"k\":\"\\\"" WEB_P "\\\"\"}", NULL},
		{"web.test", WEB_JSON, "{\"k\":\"a:\\\"" WEB_P "\"}", NULL},
		{"web.test", WEB_JSON, WEB_P, NULL},
		{"web.test", WEB_FORM, "k=AAAA" WEB_P, NULL},
		{"web.test", WEB_FORM, "k=" WEB_P "AAAA&", NULL},
		{"web.test", WEB_FORM, "k=" WEB_P ";b", NULL},
		{"web.test", WEB_FORM, "k=AAAA=" WEB_P, NULL},
		{"web.test", WEB_FORM, "a=1;k=" WEB_P, NULL},
		{"web.test", WEB_FORM, WEB_P, NULL},
		/* The beginning of the parameter, or of the string, is out of sight. */
		{"web.test", WEB_FORM, "k=" A300 "=" WEB_P, NULL},
		{"web.test", WEB_JSON, "{\"k\":\"" BLANKS300 "\"" WEB_P "\"}", NULL},
#define NAMED_JSON "content-type: application/json\n"
#define NAMED_FORM "content-type: application/x-www-form-urlencoded\n"
		{"named.test", NAMED_JSON, "{\"a\": [1], \"secret\" :\n \"" NAMED_P "\"}",
		 "{\"a\": [1], \"secret\" :\n \"" NAMED_V "\"}"},
		{"named.test", NAMED_FORM, "api_key=" NAMED_P "&a=b", "api_key=" NAMED_V "&a=b"},
		{"named.test", NAMED_FORM, "a=b&api%5fkey=" NAMED_P, "a=b&api%5fkey=" NAMED_V},
		/* Under another name, as part of a text, and where there are no names. */
		{"named.test", NAMED_JSON, "{\"text\":\"" NAMED_P "\"}", NULL},
		{"named.test", NAMED_JSON, "{\"secret\":\"a " NAMED_P "\"}", NULL},
		{"named.test", NAMED_JSON, "{\"t\":\"\\\"secret\\\":\\\"" NAMED_P "\"}", NULL},
		{"named.test", NAMED_JSON, "{\"secret\":{\"t\":\"" NAMED_P "\"}}", NULL},
		{"named.test", NAMED_FORM, "text=" NAMED_P, NULL},
		{"named.test", NAMED_FORM, "text=a;api_key=" NAMED_P, NULL},
		{"named.test", NAMED_FORM, "text=a%26api_key=" NAMED_P, NULL},
		{"named.test", "", "api_key=" NAMED_P, NULL},
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
				assert_null(strstr(buf_str(&s.bytes), WEB_V));
				assert_null(strstr(buf_str(&s.bytes), NAMED_V));
				assert_null(strstr(buf_str(&s.bytes), KEY_P));
				assert_true(put_in_why(p)[0] != '\0');
			}
			put_in_free(p);
		}
	buf_fini(&s.bytes);
}

/* Of a secret that names parameters: also what stands behind the placeholder is looked at. */
static void test_named_to_its_end(void **state)
{
	static const struct {
		const char *target, *fields, *body;
	} rows[] = {
		{"/?api_key=" NAMED_P "AAAA", "", ""},
		{"/?api_key=" NAMED_P "%26", "", ""},
		{"/", NAMED_FORM, "api_key=" NAMED_P "AAAA"},
		{"/", NAMED_JSON, "{\"secret\":\"" NAMED_P "AAAA\"}"},
		{"/", NAMED_JSON, "{\"secret\":\"" NAMED_P "\\\"\"}"},
	};
	struct sunk s = {.bytes = BUF_INIT(4096)};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		enum put_in_outcome o;
		struct put_in *p = run("named.test", rows[i].target, rows[i].fields, true, &o);
		int r = o == PUT_IN_REFUSED
				? -EPERM
				: feed(body_feed, p, span_of_str(rows[i].body), 9, 9, &s);

		if (r != -EPERM || !strstr(put_in_why(p), "other text beside it"))
			fail_msg("row %zu: %d \"%s\"", i, r, put_in_why(p));
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
		{"x.aws.test", AWS_FIELDS V4(AWS_ID_P "AAAA", "s3"), "the key's id", true},
		{"x.aws.test", AWS_FIELDS V4("AAAA" AWS_ID_P, "s3"), "not put in", true},
		{"x.aws.test", AWS_FIELDS V4(AWS_ID_P, AWS_TOKEN_P), "the key's id", true},
		{"x.aws.test",
		 "x-amz-security-token: AAAA" AWS_TOKEN_P "\n" AWS_FIELDS V4(AWS_ID_P, "s3"),
		 "the whole field", true},
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

/* ---- WebSocket ---- */

static int box_frames(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return put_in_websocket(object, in, end, sink);
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

/* Where values go into messages: with letters beside it, in whatever pieces, it is refused. */
static void test_websocket_padded(void **state)
{
	static const char *const rows[] = {"AAAA" WEB_P, WEB_P "AAAA", "{\"k\":\"A" WEB_P "\"}"};
	struct buf frames = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(8192)};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct http_message *m = request("web.test", "/", "");
		struct secrets_place at = place_of("web.test", "/");
		struct put_in *p = put_in_new(book);

		m->websocket = true;
		m->body = HTTP_MESSAGE_NONE;
		assert_int_equal(put_in_look(p, m, &at, false, false), PUT_IN_NEEDS);
		assert_int_equal(give_all(p), 0);
		assert_int_equal(put_in_apply(p, m), PUT_IN_NOTHING);
		buf_clear(&frames);
		/* What the message before ended with is none of its text. */
		put_frame(&frames, true, true, WEBSOCKET_TEXT, "A");
		put_frame(&frames, true, true, WEBSOCKET_TEXT, WEB_P);
		put_frame(&frames, true, true, WEBSOCKET_TEXT, "B");
		assert_int_equal(feed(box_frames, p, buf_span(&frames), 7, 7, &s), 0);
		put_in_free(p);

		p = put_in_new(book);
		assert_int_equal(put_in_look(p, m, &at, false, false), PUT_IN_NEEDS);
		assert_int_equal(give_all(p), 0);
		assert_int_equal(put_in_apply(p, m), PUT_IN_NOTHING);
		buf_clear(&frames);
		put_frame(&frames, true, true, WEBSOCKET_TEXT, rows[i]);
		assert_int_equal(feed(box_frames, p, buf_span(&frames), 7, 7, &s), -EPERM);
		assert_non_null(strstr(put_in_why(p), "a word of its own"));
		put_in_free(p);
	}
	buf_fini(&frames);
	buf_fini(&s.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_in),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_padded),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_cookies),
		cmocka_unit_test(test_body),
		cmocka_unit_test(test_named_to_its_end),
		cmocka_unit_test(test_body_length),
		cmocka_unit_test(test_values_that_must_not_be),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_trailers),
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_sign_token),
		cmocka_unit_test(test_sign_refused),
		cmocka_unit_test(test_websocket_put_in),
		cmocka_unit_test(test_websocket_refused),
		cmocka_unit_test(test_websocket_padded),
	};

	return cmocka_run_group_tests_name("put_in", tests, make_book, free_book);
}
