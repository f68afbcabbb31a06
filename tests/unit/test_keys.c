/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process keys gives a value only for a place that the plan binds it to, the secret key
 * of AWS to nobody, and takes no message that its tables do not permit.
 */
#include "cmocka_lead.h"

#include "keys_world.h"
#include "message_keys.h"
#include "sign.h"

#include <stdio.h>
#include <time.h>

static int setup(void **state)
{
	struct keys_world *w = calloc(1, sizeof(*w));

	keys_world_init(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	keys_world_fini(*state);
	free(*state);
	return 0;
}

static struct message_release release_ok(void)
{
	return (struct message_release){.id = 7,
					.index = 0,
					.host = "api.example",
					.port = 443,
					.scheme = PLAN_SCHEME_TLS,
					.method = "GET",
					.path = "/v1/models",
					.sure = strlen("/v1/models")};
}

static int ask(struct keys_world *w, enum message_type type, const struct schema *s, const void *m)
{
	struct error e = ERROR_INIT;

	assert_int_equal(message_send(w->gate, type, s, m, NULL, 0), 0);
	return keys_receive_gate(&w->keys, &e);
}

static int tell(struct keys_world *w, uint64_t index, const char *text, uint64_t expires)
{
	const struct message_value m = {
		.index = index, .expires = expires, .value = span_of_str(text)};
	struct error e = ERROR_INIT;

	assert_int_equal(message_send_secret(w->client, MESSAGE_VALUE, &message_value_schema, &m),
			 0);
	return keys_receive_client(&w->keys, &e);
}

/* How many it says that the secret had before. */
static uint64_t see_value(struct keys_world *w, uint64_t id, const char *text)
{
	struct span body = {NULL, 0};
	struct message_value m;
	struct error e = ERROR_INIT;

	assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_VALUE);
	assert_int_equal(message_decode(body, &message_value_schema, &m, NULL, &e), 0);
	assert_int_equal(m.id, id);
	assert_int_equal(m.value.len, strlen(text));
	assert_memory_equal(m.value.ptr, text, strlen(text));
	return m.formers;
}

static void see_refused(struct keys_world *w, uint64_t id, const char *words)
{
	struct span body = {NULL, 0};
	struct message_refused m;
	struct error e = ERROR_INIT;

	assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_REFUSED);
	assert_true(body.ptr && !memmem(body.ptr, body.len, "canary", 6));
	assert_int_equal(message_decode(body, &message_refused_schema, &m, NULL, &e), 0);
	assert_int_equal(m.id, id);
	if (!strstr(m.reason, words))
		fail_msg("\"%s\" says nothing of \"%s\"", m.reason, words);
}

static void see_need(struct keys_world *w, uint64_t index)
{
	struct span body = {NULL, 0};
	struct message_need m;
	struct error e = ERROR_INIT;

	assert_int_equal(keys_world_receive(w->client, &body), MESSAGE_NEED);
	assert_int_equal(message_decode(body, &message_need_schema, &m, NULL, &e), 0);
	assert_int_equal(m.index, index);
}

static void see_nothing(struct keys_world *w)
{
	struct span body;

	assert_int_equal(keys_world_receive(w->gate, &body), 0);
	assert_int_equal(keys_world_receive(w->client, &body), 0);
}

static void test_value_for_its_place_alone(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = release_ok();
	static const struct {
		const char *host, *method, *path, *words;
		bool clear;
		uint64_t port;
		unsigned int scheme;
	} others[] = {
		{"other.example", "GET", "/v1/a", "host", true, 443, PLAN_SCHEME_TLS},
		{"a.api.example", "GET", "/v1/a", "host", true, 443, PLAN_SCHEME_TLS},
		{"192.0.2.1", "GET", "/v1/a", "names", true, 443, PLAN_SCHEME_TLS},
		{"", "GET", "/v1/a", "names", true, 443, PLAN_SCHEME_TLS},
		{"api.example", "GET", "/v1/a", "port", true, 8443, PLAN_SCHEME_TLS},
		{"api.example", "GET", "/v1/a", "names", true, 65536 + 443, PLAN_SCHEME_TLS},
		{"api.example", "GET", "/v1/a", "scheme", true, 443, PLAN_SCHEME_HTTP},
		{"api.example", "GET", "/v1/a", "scheme", true, 443, PLAN_SCHEME_TCP},
		{"api.example", "POST", "/v1/a", "method", true, 443, PLAN_SCHEME_TLS},
		{"api.example", "GET", "/v2/a", "path", true, 443, PLAN_SCHEME_TLS},
		{"api.example", "GET", "/v1/a", "path", false, 443, PLAN_SCHEME_TLS},
	};

	assert_int_equal(tell(w, 0, KEYS_CANARY, 0), 1);
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_value(w, 7, KEYS_CANARY);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		m = (struct message_release){.id = i,
					     .host = others[i].host,
					     .port = others[i].port,
					     .scheme = others[i].scheme,
					     .method = others[i].method,
					     .path = others[i].path,
					     .sure = others[i].clear ? 5 : 0};
		assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
		see_refused(w, i, others[i].words);
	}
	see_nothing(w);
}

/* What the gate has had it may have again, to look for it in answers; nothing else. */
static void test_again_is_what_was_given(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = release_ok();
	const struct message_again again = {.id = 9}, other = {.id = 10, .index = 1};

	assert_int_equal(tell(w, 0, KEYS_CANARY, 0), 1);
	assert_int_equal(tell(w, 1, KEYS_AWS_ID "\n" KEYS_AWS_KEY, 0), 1);
	assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &again), 1);
	see_refused(w, 9, "before");
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_value(w, 7, KEYS_CANARY);
	assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &again), 1);
	see_value(w, 9, KEYS_CANARY);
	assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &other), 1);
	see_refused(w, 10, "before");
	see_nothing(w);
}

/*
 * A value that was read anew: those before it, which the gate has had, may be had again as well, the
 * newest first, KEYS_FORMERS_MAX of them.  One that it never had is none of them.
 */
static void test_former_values_are_given_again(void **state)
{
	enum { VALUES = KEYS_FORMERS_MAX + 3 };
	struct keys_world *w = *state;
	char text[VALUES][32];

	for (size_t i = 0; i < VALUES; i++) {
		struct message_release m = release_ok();

		(void)snprintf(text[i], sizeof(text[i]), "canary-number-%04zu", i);
		m.id = 100 + i;
		if (i > 0) {
			w->keys.values[0].expires = 1;
			assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
			see_need(w, 0);
		}
		assert_int_equal(tell(w, 0, text[i], 0), 1);
		if (i == 0)
			assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
		see_value(w, m.id, text[i]);
		for (size_t former = 0; former <= i && former <= KEYS_FORMERS_MAX; former++) {
			const struct message_again again = {.id = former, .former = former};

			assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &again), 1);
			assert_int_equal(see_value(w, former, text[i - former]),
					 i < KEYS_FORMERS_MAX ? i : KEYS_FORMERS_MAX);
		}
	}
	const struct message_again beyond = {.id = 9, .former = KEYS_FORMERS_MAX + 1};

	assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &beyond), 1);
	see_refused(w, 9, "before");
	/* The same value once more is no other one. */
	w->keys.awaited[0] = true;
	assert_int_equal(tell(w, 0, text[VALUES - 1], 0), 1);
	const struct message_again one = {.id = 11, .former = 1};

	assert_int_equal(ask(w, MESSAGE_AGAIN, &message_again_schema, &one), 1);
	(void)see_value(w, 11, text[VALUES - 2]);
	see_nothing(w);
}

static void today(char text[16])
{
	time_t now = time(NULL);
	struct tm day;

	(void)strftime(text, 16, "%Y%m%d", gmtime_r(&now, &day));
}

/* The host counts as well as the scope: not every server looks at the scope. */
static void see_hosts_that_give_keys(struct keys_world *w, struct message_sign s)
{
	static const char *const hosts[] = {"sts.cloud.example", "iam.cloud.example",
					    "STS.east.cloud.example.", "sts-fips.cloud.example",
					    "vpce-1.sts.east.cloud.example"};
	static const char *const others[] = {"stsx.cloud.example", "iam-logs.cloud.example",
					     KEYS_STS_HOST};
	struct span body = {NULL, 0};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		s.host = hosts[i];
		assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
		see_refused(w, 2, "answers with new keys");
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		s.host = others[i];
		assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
		assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_SIGNATURE);
	}
}

static void test_aws_key_signs_and_stays(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = {.id = 1,
				    .index = 1,
				    .host = "s3.cloud.example",
				    .port = 443,
				    .scheme = PLAN_SCHEME_TLS,
				    .method = "PUT",
				    .path = "/bucket/key"};
	struct span body = {NULL, 0};
	struct message_signature signature;
	struct error e = ERROR_INIT;
	char date[16], text[256];

	assert_int_equal(tell(w, 1, KEYS_AWS_ID "\n" KEYS_AWS_KEY "\n" KEYS_AWS_TOKEN, 0), 1);
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_value(w, 1, KEYS_AWS_ID "\n\n" KEYS_AWS_TOKEN);

	today(date);
	(void)snprintf(text, sizeof(text),
		       "AWS4-HMAC-SHA256\n%sT000000Z\n%s/us-east-1/s3/aws4_request\nabc", date,
		       date);
	struct message_sign s = {.id = 2,
				 .index = 1,
				 .host = m.host,
				 .port = 443,
				 .scheme = PLAN_SCHEME_TLS,
				 .method = "PUT",
				 .path = m.path,
				 .date = date,
				 .region = "us-east-1",
				 .service = "s3",
				 .text = span_of_str(text)};

	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_SIGNATURE);
	assert_int_equal(message_decode(body, &message_signature_schema, &signature, NULL, &e), 0);
	uint8_t expected[SIGN_BYTES];

	assert_int_equal(sign_aws(span_of_str(KEYS_AWS_KEY), date, "us-east-1", "s3",
				  span_of_str(text), expected),
			 0);
	assert_int_equal(signature.signature.len, SIGN_BYTES);
	assert_memory_equal(signature.signature.ptr, expected, SIGN_BYTES);

	/* New keys, in answers that nobody could search for them: only where the host is named. */
	(void)snprintf(text, sizeof(text),
		       "AWS4-HMAC-SHA256\n%sT000000Z\n%s/us-east-1/sts/aws4_request\nabc", date,
		       date);
	s.service = "sts";
	s.text = span_of_str(text);
	s.host = "sts.cloud.example";
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "answers with new keys");
	s.host = m.host; /* it is the scope that a service takes, wherever it stands */
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "answers with new keys");
	s.host = KEYS_STS_HOST;
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_SIGNATURE);
	(void)snprintf(text, sizeof(text),
		       "AWS4-HMAC-SHA256\n%sT000000Z\n%s/us-east-1/s3/aws4_request\nabc", date,
		       date);
	s.service = "s3";
	s.text = span_of_str(text);
	see_hosts_that_give_keys(w, s);

	/* Another day, another scope, another host, another secret: no. */
	s.date = "20150830";
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "today");
	s.date = date;
	s.service = "ec2";
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "scope");
	s.service = "s3\n";
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "word");
	s.service = "s3";
	s.host = "cloud.example";
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "host");
	s.host = "api.example";
	s.index = 0;
	s.method = "GET";
	s.path = "/v1/x";
	s.sure = strlen(s.path);
	assert_int_equal(ask(w, MESSAGE_SIGN, &message_sign_schema, &s), 1);
	see_refused(w, 2, "signs nothing");
}

/* The example of Amazon's own documentation, byte for byte. */
static void test_signature_of_the_documentation(void **state)
{
	static const char text[] =
		"AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n"
		"f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59";
	static const char expected[] =
		"5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
	uint8_t signature[SIGN_BYTES];
	char hex[2 * SIGN_BYTES + 1];

	(void)state;
	assert_int_equal(sign_aws(SPAN_LITERAL("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
				  "20150830", "us-east-1", "iam", span_of_str(text), signature),
			 0);
	for (size_t i = 0; i < SIGN_BYTES; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", signature[i]);
	assert_string_equal(hex, expected);
}

static void test_waits_for_a_value_and_asks_for_an_expired_one(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = release_ok();
	uint64_t now = (uint64_t)time(NULL);

	/* It is on its way since the start: nobody is asked twice. */
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	m.id = 8;
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_nothing(w);
	assert_int_equal(tell(w, 0, KEYS_CANARY, now + 1000), 1);
	see_value(w, 7, KEYS_CANARY);
	see_value(w, 8, KEYS_CANARY);
	/* It expires (the clock is not ours to turn, so its end is). */
	w->keys.values[0].expires = now - 1;
	m.id = 9;
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_need(w, 0);
	m.id = 10;
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_nothing(w);
	assert_int_equal(tell(w, 0, "canary-second-one", 0), 1);
	see_value(w, 9, "canary-second-one");
	see_value(w, 10, "canary-second-one");
	see_nothing(w);
}

static void test_what_waits_ends_with_a_reason(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = release_ok();
	const struct message_refused no = {.index = 0, .reason = "its command failed"};
	struct error e = ERROR_INIT;

	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	assert_int_equal(
		message_send(w->client, MESSAGE_REFUSED, &message_refused_schema, &no, NULL, 0), 0);
	assert_int_equal(keys_receive_client(&w->keys, &e), 1);
	see_refused(w, 7, "command failed");
	/* The next asks again; what comes then is expired already, which is no answer. */
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_need(w, 0);
	assert_int_equal(tell(w, 0, KEYS_CANARY, 1), 1);
	see_refused(w, 7, "expired");
	/* Or is none that can be sent. */
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_need(w, 0);
	assert_int_equal(tell(w, 0, "canary with a space\n", 0), 1);
	see_refused(w, 7, "none that it can have");
	/* Or never comes. */
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_need(w, 0);
	keys_expire(&w->keys, (uint64_t)time(NULL) + KEYS_PATIENCE - 5);
	see_nothing(w);
	keys_expire(&w->keys, (uint64_t)time(NULL) + KEYS_PATIENCE + 1);
	see_refused(w, 7, "in time");
	/* Or the client goes. */
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	fd_close(&w->client);
	assert_int_equal(keys_receive_client(&w->keys, &e), 0);
	see_refused(w, 7, "nobody");
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_refused(w, 7, "nobody");
}

static void test_no_more_wait_than_there_is_room(void **state)
{
	struct keys_world *w = *state;
	struct message_release m = release_ok();

	for (m.id = 0; m.id < KEYS_WAITING_MAX; m.id++)
		assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	assert_int_equal(ask(w, MESSAGE_RELEASE, &message_release_schema, &m), 1);
	see_refused(w, KEYS_WAITING_MAX, "too many");
	assert_int_equal(tell(w, 0, KEYS_CANARY, 0), 1);
	for (uint64_t id = 0; id < KEYS_WAITING_MAX; id++)
		see_value(w, id, KEYS_CANARY);
	see_nothing(w);
}

static void test_leaf(void **state)
{
	struct keys_world *w = *state;
	struct message_leaf m = {.id = 3, .name = "api.example"};
	struct message_certificate made;
	struct span body = {NULL, 0};
	struct error e = ERROR_INIT;

	assert_int_equal(ask(w, MESSAGE_LEAF, &message_leaf_schema, &m), 1);
	assert_int_equal(keys_world_receive(w->gate, &body), MESSAGE_CERTIFICATE);
	assert_int_equal(message_decode(body, &message_certificate_schema, &made, NULL, &e), 0);
	assert_int_equal(made.id, 3);
	assert_true(made.certificate.len > 200 && made.key.len > 100);
	m.name = "other.example";
	assert_int_equal(ask(w, MESSAGE_LEAF, &message_leaf_schema, &m), 1);
	see_refused(w, 3, "opens");
}

/* The login of the proxy is for a gate whose plan has a proxy with one, and for no other. */
static void test_login_of_the_proxy(void **state)
{
	static const struct plan_proxy proxy = {
		.host = "proxy.example", .port = 3128, .login = true};
	struct keys_world *w = *state;
	const struct message_login m = {.id = 9};
	struct error e = ERROR_INIT;
	struct plan plan = *w->keys.plan;

	assert_int_equal(tell(w, PLAN_PROXY_LOGIN, "user:" KEYS_CANARY, 0), -EPROTO);
	plan.proxies.items = &proxy;
	plan.proxies.count = 1;
	w->keys.plan = &plan;
	w->keys.awaited[PLAN_PROXY_LOGIN] = true;
	/* Asked for before it is here, it waits. */
	assert_int_equal(ask(w, MESSAGE_LOGIN, &message_login_schema, &m), 1);
	assert_int_equal(tell(w, PLAN_PROXY_LOGIN, "user:" KEYS_CANARY, 0), 1);
	(void)see_value(w, 9, "user:" KEYS_CANARY);
	assert_int_equal(ask(w, MESSAGE_LOGIN, &message_login_schema, &m), 1);
	(void)see_value(w, 9, "user:" KEYS_CANARY);
	/* As a secret of the plan it is nothing. */
	struct message_release r = release_ok();

	r.index = PLAN_PROXY_LOGIN;
	assert_int_equal(
		message_send(w->gate, MESSAGE_RELEASE, &message_release_schema, &r, NULL, 0), 0);
	assert_int_equal(keys_receive_gate(&w->keys, &e), -EPROTO);
	see_nothing(w);
}

/* Every type there is, well-formed or empty, from the side that may not send it. */
static void test_all_else_is_refused(void **state)
{
	const struct message_release release = release_ok();
	const struct message_value value = {.value = SPAN_LITERAL(KEYS_CANARY)};

	(void)state;
	for (uint32_t type = 0; type < 64; type++) {
		bool gate_may = type == MESSAGE_LEAF || type == MESSAGE_RELEASE ||
				type == MESSAGE_SIGN || type == MESSAGE_AGAIN ||
				type == MESSAGE_LOGIN;
		bool client_may = type == MESSAGE_VALUE || type == MESSAGE_REFUSED;

		for (int shape = 0; shape < 3; shape++) {
			_cleanup_buf_ struct buf body = BUF_INIT(4096);
			struct keys_world w;
			struct error e = ERROR_INIT;

			if (shape == 1)
				schema_encode(&body, &message_release_schema, &release);
			else if (shape == 2)
				schema_encode(&body, &message_value_schema, &value);
			keys_world_init(&w);
			assert_int_equal(channel_send(w.gate, type, buf_span(&body), NULL, 0), 0);
			int r = keys_receive_gate(&w.keys, &e);

			assert_true(gate_may ? r != 0 : r == -EPROTO);
			assert_int_equal(channel_send(w.client, type, buf_span(&body), NULL, 0), 0);
			r = keys_receive_client(&w.keys, &e);
			assert_true(client_may ? r != 0 : r == -EPROTO);
			keys_world_fini(&w);
		}
	}
}

static void test_client_answers_only_what_was_asked(void **state)
{
	struct keys_world *w = *state;
	int null = 0;
	struct error e = ERROR_INIT;

	assert_int_equal(tell(w, 0, KEYS_CANARY, 0), 1);
	assert_int_equal(tell(w, 0, "canary-unasked-for", 0), -EPROTO);
	assert_int_equal(tell(w, 2, KEYS_CANARY, 0), -EPROTO);
	assert_int_equal(tell(w, UINT64_MAX, KEYS_CANARY, 0), -EPROTO);
	/* And brings no descriptor along. */
	assert_int_equal(channel_send(w->client, MESSAGE_VALUE, SPAN_LITERAL("x"), &null, 1), 0);
	assert_int_equal(keys_receive_client(&w->keys, &e), -EPROTO);
}

static void test_values_are_wiped(void **state)
{
	struct keys_world *w = *state;
	struct locked_value v = {NULL, 0, 0};

	/* The packet's own buffer is gone when it has been handled: the next short message
	 * would show it behind its end. */
	assert_int_equal(tell(w, 0, KEYS_CANARY, 0), 1);
	assert_int_equal(locked_value_set(&v, SPAN_LITERAL(KEYS_CANARY), 5), 0);
	assert_true(locked_value_is_good(&v, 4));
	assert_false(locked_value_is_good(&v, 5));
	locked_value_wipe(&v);
	assert_null(v.ptr);
	assert_false(locked_value_is_good(&v, 0));
	locked_value_wipe(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_value_for_its_place_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again_is_what_was_given, setup, teardown),
		cmocka_unit_test_setup_teardown(test_former_values_are_given_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_aws_key_signs_and_stays, setup, teardown),
		cmocka_unit_test(test_signature_of_the_documentation),
		cmocka_unit_test_setup_teardown(test_waits_for_a_value_and_asks_for_an_expired_one,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_waits_ends_with_a_reason, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_more_wait_than_there_is_room, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_leaf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_login_of_the_proxy, setup, teardown),
		cmocka_unit_test(test_all_else_is_refused),
		cmocka_unit_test_setup_teardown(test_client_answers_only_what_was_asked, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_values_are_wiped, setup, teardown),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
