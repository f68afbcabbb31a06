/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be done with a request, as a value: src/gate/exchange_decide.c. */
#include "rules_ask.h"

#include "exchange_parts.h"

#define POLICY "network: [{allow: a.test, methods: [GET, POST, PUT], paths: [/v1/**]}]\n"
#define ANOTHER "it asks to be taken for another method or path"

static const struct {
	const char *method, *authority, *target, *field, *value;
	uint64_t length; /* of the body */
	bool websocket;
	enum exchange_act act;
	unsigned int status;
	const char *reason; /* how it begins */
} rows[] = {
	/* by rule */
	{.method = "GET", .target = "/v1/x", .act = EXCHANGE_GO},
	{.method = "POST", .target = "/v1/x?q", .length = 5, .act = EXCHANGE_GO},
	{.method = "GET", .authority = "a.test:443", .target = "/v1/x", .act = EXCHANGE_GO},
	{.method = "DELETE", .target = "/v1/x", .act = EXCHANGE_REFUSE, .status = 403},
	{.method = "GET", .target = "/v2/x", .act = EXCHANGE_REFUSE, .status = 403},
	{.method = "OPTIONS", .target = "*", .act = EXCHANGE_REFUSE, .status = 403},
	/* for another host, or another port */
	{.method = "GET",
	 .authority = "b.test",
	 .target = "/v1/x",
	 .act = EXCHANGE_REFUSE,
	 .status = 421,
	 .reason = "the request is for another host"},
	{.method = "GET",
	 .authority = "a.test:444",
	 .target = "/v1/x",
	 .act = EXCHANGE_REFUSE,
	 .status = 421},
	{.method = "GET",
	 .authority = "10.0.0.1",
	 .target = "/v1/x",
	 .act = EXCHANGE_REFUSE,
	 .status = 421},
	/* a path that is none comes first */
	{.method = "GET",
	 .authority = "b.test",
	 .target = "v1",
	 .act = EXCHANGE_REFUSE,
	 .status = 400},
	/* taken for another */
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-http-method-override",
	 .value = "put",
	 .act = EXCHANGE_GO},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "X_HTTP.Method-Override",
	 .value = "DELETE",
	 .act = EXCHANGE_REFUSE,
	 .status = 403},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-original-url",
	 .value = "/v2/x",
	 .act = EXCHANGE_REFUSE,
	 .status = 403},
	{.method = "POST",
	 .target = "/v1/x?_method=PUT&_method=PUT",
	 .act = EXCHANGE_REFUSE,
	 .status = 403,
	 .reason = ANOTHER},
	/* what is only nearly called so says nothing */
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-http-methot",
	 .value = "DELETE",
	 .act = EXCHANGE_GO},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-http-metho",
	 .value = "DELETE",
	 .act = EXCHANGE_GO},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-http-methods",
	 .value = "DELETE",
	 .act = EXCHANGE_GO},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "y-original-url",
	 .value = "/v2/x",
	 .act = EXCHANGE_GO},
	{.method = "POST",
	 .target = "/v1/x",
	 .field = "x-original-ur",
	 .value = "/v2/x",
	 .act = EXCHANGE_GO},
	{.method = "POST", .target = "/v1/x?_methot=DELETE", .act = EXCHANGE_GO},
	/* a body where the method has none */
	{.method = "GET",
	 .target = "/v1/x",
	 .length = 1,
	 .act = EXCHANGE_REFUSE,
	 .status = 403,
	 .reason = "it is a GET or HEAD with a body"},
	{.method = "GET",
	 .target = "/v1/x",
	 .websocket = true,
	 .act = EXCHANGE_REFUSE,
	 .status = 403,
	 .reason = "the rule for it does not say"},
};

static void test_what_is_decided_is_a_value(void **state)
{
	struct try_outcome o = TRY(.user = POLICY);
	const struct plan plan = {.cwd = "/"};
	struct gate *g = calloc(1, sizeof(*g));
	struct made_up_name name = {.number = 1};
	struct flow flow = {.gate = g, .name = &name, .port = 443};
	struct intercept i = {.gate = g, .flow = &flow, .tls = true};

	(void)state;
	assert_non_null(g);
	assert_int_equal(o.r, 0);
	assert_int_equal(name_parse(SPAN_LITERAL("a.test"), &name.name), 0);
	g->plan = &plan;
	g->rules = ask_rules(&o.policy);
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(rows); n++) {
		const char *authority = rows[n].authority ? rows[n].authority : "a.test";
		struct http_message m = {.method = span_of_str(rows[n].method),
					 .scheme = SPAN_LITERAL("https"),
					 .authority = span_of_str(authority),
					 .target = span_of_str(rows[n].target),
					 .websocket = rows[n].websocket,
					 .length = rows[n].length};
		struct exchange x = {.intercept = &i};

		m.body = rows[n].length > 0 ? HTTP_MESSAGE_LENGTH : m.body;
		if (rows[n].field)
			assert_int_equal(http_message_add(&m, span_of_str(rows[n].field),
							  span_of_str(rows[n].value)),
					 0);
		const struct exchange_step step = exchange_decide(&x, &m);
		const char *reason = rows[n].reason ? rows[n].reason : "";

		if (step.act != rows[n].act || step.status != rows[n].status ||
		    strncmp(step.why.reason, reason, strlen(reason)) != 0)
			fail_msg("%s %s: %u %u %s", rows[n].method, rows[n].target, step.act,
				 step.status, step.why.reason);
		/* Whatever becomes of it, the record can name it. */
		assert_string_equal(x.method, rows[n].method);
		assert_non_null(x.path);
		assert_non_null(x.what);
		free(x.path);
		free(x.other.path);
		free(x.what);
	}
	rules_free(g->rules);
	free(g);
	try_fini(&o);
}

/* Other rules come while it is under way: what it asked for is judged again, all of it. */
static void test_judged_by_the_rules_that_come(void **state)
{
	static const char before[] = "network: [{allow: a.test, methods: [GET, POST, PUT], "
				     "paths: [/v1/**], websocket: true}]\n";
	static const struct {
		const char *method, *field, *value;
		uint64_t length;
		bool websocket;
		const char *then;
		bool still;
	} changes[] = {
		{.method = "GET", .then = before, .still = true},
		{.method = "GET", .then = "network: [{allow: a.test}]\n", .still = true},
		{.method = "GET", .then = "network: [{deny: a.test}]\n"},
		{.method = "GET", .then = "network: [{allow: a.test, paths: [/v2/**]}]\n"},
		{.method = "POST", .then = "network: [{allow: a.test, methods: [GET]}]\n"},
		{.method = "GET",
		 .then = "network: [{allow: a.test}, {deny: a.test, paths: [/v1/x]}]\n"},
		{.method = "GET", .websocket = true, .then = POLICY},
		{.method = "GET", .websocket = true, .then = before, .still = true},
		/* By the method that it asks to be taken for. */
		{.method = "POST",
		 .field = "x-http-method-override",
		 .value = "PUT",
		 .then = "network: [{allow: a.test, methods: [POST]}]\n"},
		{.method = "POST",
		 .field = "x-original-url",
		 .value = "/v1/y",
		 .then = "network: [{allow: a.test, paths: [/v1/x]}]\n"},
	};
	struct made_up_name name = {.number = 1};

	(void)state;
	assert_int_equal(name_parse(SPAN_LITERAL("a.test"), &name.name), 0);
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(changes); n++) {
		struct try_outcome first = TRY(.user = before), then = TRY(.user = changes[n].then);
		struct gate *g = calloc(1, sizeof(*g));
		struct flow flow = {.gate = g, .name = &name, .port = 443};
		struct intercept i = {.gate = g, .flow = &flow, .tls = true};
		struct exchange x = {.intercept = &i};
		struct http_message m = {.method = span_of_str(changes[n].method),
					 .scheme = SPAN_LITERAL("https"),
					 .authority = SPAN_LITERAL("a.test"),
					 .target = SPAN_LITERAL("/v1/x"),
					 .websocket = changes[n].websocket};
		struct rules_verdict v;

		assert_non_null(g);
		g->plan = &plan_none;
		if (changes[n].field)
			assert_int_equal(http_message_add(&m, span_of_str(changes[n].field),
							  span_of_str(changes[n].value)),
					 0);
		g->rules = ask_rules(&first.policy);
		assert_int_equal(exchange_decide(&x, &m).act, EXCHANGE_GO);
		rules_free(g->rules);
		/* Of the message nothing is left. */
		memset(&m, 0, sizeof(m));
		g->rules = ask_rules(&then.policy);
		g->changes++;
		if (exchange_is_allowed_still(&x, &v) != changes[n].still)
			fail_msg("row %zu: %s", n, v.reason);
		assert_int_equal(x.changes, 1);
		rules_free(g->rules);
		free(x.path);
		free(x.other.path);
		free(x.what);
		free(g);
		try_fini(&first);
		try_fini(&then);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_decided_is_a_value),
		cmocka_unit_test(test_judged_by_the_rules_that_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
