/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: commas, nesting, escapes, and the ends of what it can do. */
#include "cmocka_lead.h"

#include "json.h"

static void test_compact(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct json j = JSON_INIT(&b, false);

	json_open(&j, '{');
	json_key_str(&j, "name", "calm-otter");
	json_key_u64(&j, "big", UINT64_MAX);
	json_key_bool(&j, "yes", true);
	json_key(&j, "list");
	json_open(&j, '[');
	json_i64(&j, INT64_MIN);
	json_open(&j, '{');
	json_close(&j, '}');
	json_open(&j, '[');
	json_close(&j, ']');
	json_bool(&j, false);
	json_close(&j, ']');
	json_key_str(&j, "last", "");
	json_close(&j, '}');
	assert_int_equal(buf_error(&b), 0);
	assert_string_equal(buf_str(&b),
			    "{\"name\":\"calm-otter\",\"big\":18446744073709551615,\"yes\":true,"
			    "\"list\":[-9223372036854775808,{},[],false],\"last\":\"\"}");
}

static void test_pretty(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct json j = JSON_INIT(&b, true);

	json_open(&j, '{');
	json_key_str(&j, "a", "b");
	json_key(&j, "c");
	json_open(&j, '[');
	json_u64(&j, 1);
	json_u64(&j, 2);
	json_close(&j, ']');
	json_key(&j, "empty");
	json_open(&j, '{');
	json_close(&j, '}');
	json_close(&j, '}');
	assert_string_equal(buf_str(&b), "{\n  \"a\": \"b\",\n  \"c\": [\n    1,\n    2\n  ],\n"
					 "  \"empty\": {}\n}\n");
}

static void expect_json(struct span in, const char *want)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct json j = JSON_INIT(&b, false);

	json_span(&j, in);
	assert_string_equal(buf_str(&b), want);
}

static void test_strings(void **state)
{
	(void)state;
	expect_json(SPAN_LITERAL("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
	expect_json(SPAN_LITERAL("\n\t\0\177"), "\"\\u000a\\u0009\\u0000\\u007f\"");
	expect_json(SPAN_LITERAL("caf\303\251"), "\"caf\303\251\"");
	expect_json(SPAN_LITERAL("\342\200\256"), "\"\\u202e\"");
	expect_json(SPAN_LITERAL("\363\240\201\201"), "\"\\udb40\\udc41\"");
	expect_json(SPAN_LITERAL("\377x"), "\"\\\\xffx\"");
	expect_json((struct span){NULL, 0}, "\"\"");
}

static void test_too_deep_is_an_error(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct json j = JSON_INIT(&b, false);

	for (int i = 0; i < JSON_DEPTH - 1; i++)
		json_open(&j, '[');
	assert_int_equal(buf_error(&b), 0);
	json_open(&j, '[');
	assert_int_equal(buf_error(&b), -E2BIG);
}

static void test_closing_what_is_not_open_is_an_error(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct json j = JSON_INIT(&b, false);

	json_close(&j, '}');
	assert_int_equal(buf_error(&b), -EINVAL);
}

static void test_full_buffer_is_an_error(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf b = BUF_INIT(10);
	struct json j = JSON_INIT(&b, true);

	json_open(&j, '{');
	json_key_str(&j, "far too long", "for ten bytes");
	json_close(&j, '}');
	assert_int_equal(buf_error(&b), -EMSGSIZE);
	assert_true(b.len <= 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_too_deep_is_an_error),
		cmocka_unit_test(test_closing_what_is_not_open_is_an_error),
		cmocka_unit_test(test_full_buffer_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
