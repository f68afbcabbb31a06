/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up addresses: each leads back to the name that it was made up for, in both families, and no
 * other address leads to any.
 */
#include "cmocka_lead.h"

#include "made_up.h"

#include <stdio.h>

enum { NAMES = 70000 };

static struct name name_of(uint32_t i)
{
	char text[32];
	struct name n;

	(void)snprintf(text, sizeof(text), "n%u.test", i);
	assert_int_equal(name_parse(span_of_str(text), &n), 0);
	return n;
}

static void forget(struct made_up *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		free(m->by_number[i]);
	free(m->by_hash);
	free(m->by_number);
}

/* As many as there may be. */
static void test_all(void **state)
{
	struct made_up m = {.count = 0};

	(void)state;
	for (uint32_t i = 0; i < NAMES; i++) {
		struct name name = name_of(i);
		struct made_up_name *n = made_up_get(&m, &name);

		assert_int_equal(n != NULL, i < MADE_UP_MAX);
	}
	assert_int_equal(m.count, MADE_UP_MAX);
	for (uint32_t i = 0; i < MADE_UP_MAX; i++) {
		struct name name = name_of(i);
		struct made_up_name *n = made_up_get(&m, &name);
		struct address v4 = made_up_v4(n), v6 = made_up_v6(n);

		assert_int_equal(n->number, i + 1);
		assert_ptr_equal(made_up_by_number(&m, i + 1), n);
		assert_ptr_equal(made_up_find(&m, &v4), n);
		assert_ptr_equal(made_up_find(&m, &v6), n);
		assert_true(address_is_v4(&v4) && v4.bytes[12] == 198 && v4.bytes[13] == 18);
		assert_false(address_is_v4(&v6));
	}
	assert_int_equal(m.count, MADE_UP_MAX);
	assert_null(made_up_by_number(&m, 0));
	assert_null(made_up_by_number(&m, MADE_UP_MAX + 1));
	forget(&m);
}

/* One bit of it is another: it is another's, or nobody's. */
static void test_others(void **state)
{
	struct made_up m = {.count = 0};
	struct made_up_name *all[300];

	(void)state;
	for (uint32_t i = 0; i < BAWN_ARRAY_SIZE(all); i++) {
		struct name name = name_of(i);

		all[i] = made_up_get(&m, &name);
		assert_non_null(all[i]);
	}
	for (uint32_t i = 0; i < BAWN_ARRAY_SIZE(all); i++)
		for (int bit = 0; bit < 256; bit++) {
			struct address a = bit < 128 ? made_up_v4(all[i]) : made_up_v6(all[i]);
			uint32_t number = all[i]->number;

			a.bytes[bit % 128 / 8] ^= (uint8_t)(1 << bit % 8);
			if (bit % 128 >= 112)
				number ^= 1u << (8 * (15 - bit % 128 / 8) + bit % 8);
			else
				number = 0;
			assert_ptr_equal(made_up_find(&m, &a),
					 number && number <= BAWN_ARRAY_SIZE(all) ? all[number - 1]
										  : NULL);
		}
	forget(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
