/* SPDX-License-Identifier: Apache-2.0 */
/* A message's fields: found, taken away, kept when their bytes go. */
#include "cmocka_lead.h"

#include "http_message.h"

static void test_find_and_remove(void **state)
{
	static struct http_message m;

	(void)state;
	assert_int_equal(http_message_add(&m, SPAN_LITERAL("a"), SPAN_LITERAL("1")), 0);
	assert_int_equal(http_message_add(&m, SPAN_LITERAL("b"), SPAN_LITERAL("2")), 0);
	assert_int_equal(http_message_add(&m, SPAN_LITERAL("a"), SPAN_LITERAL("3")), 0);
	assert_ptr_equal(http_message_find(&m, "a", 0), &m.fields[0]);
	assert_ptr_equal(http_message_find(&m, "a", 1), &m.fields[2]);
	assert_null(http_message_find(&m, "a", 3));
	assert_null(http_message_find(&m, "c", 0));
	http_message_remove(&m, "a");
	assert_int_equal(m.field_count, 1);
	assert_true(span_equal(m.fields[0].value, SPAN_LITERAL("2")));
}

static void test_too_many(void **state)
{
	static struct http_message m;

	(void)state;
	for (size_t i = 0; i < HTTP_MESSAGE_FIELDS_MAX; i++)
		assert_int_equal(http_message_add(&m, SPAN_LITERAL("n"), SPAN_LITERAL("v")), 0);
	assert_int_equal(http_message_add(&m, SPAN_LITERAL("n"), SPAN_LITERAL("v")), -E2BIG);
}

static void test_kept_when_its_bytes_go(void **state)
{
	static struct http_message m;
	char bytes[] = "GEThttps/xnamevalue";
	size_t len = 0;

	(void)state;
	m.method = (struct span){(uint8_t *)bytes, 3};
	m.scheme = (struct span){(uint8_t *)bytes + 3, 5};
	m.target = (struct span){(uint8_t *)bytes + 8, 2};
	assert_int_equal(http_message_add(&m, (struct span){(uint8_t *)bytes + 10, 4},
					  (struct span){(uint8_t *)bytes + 14, 5}),
			 0);
	_cleanup_free_ void *block = http_message_keep(&m, &len);

	assert_non_null(block);
	assert_int_equal(len, sizeof(bytes) - 1);
	memset(bytes, 'z', sizeof(bytes) - 1);
	assert_true(span_equal(m.method, SPAN_LITERAL("GET")));
	assert_true(span_equal(m.scheme, SPAN_LITERAL("https")));
	assert_int_equal(m.authority.len, 0);
	assert_true(span_equal(m.target, SPAN_LITERAL("/x")));
	assert_true(span_equal(m.fields[0].name, SPAN_LITERAL("name")));
	assert_true(span_equal(m.fields[0].value, SPAN_LITERAL("value")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_and_remove),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_kept_when_its_bytes_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
