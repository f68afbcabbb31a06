/* SPDX-License-Identifier: Apache-2.0 */
/* Ports as a person writes them. */
#include "cmocka_lead.h"

#include "published.h"

static void is(const char *text, unsigned int inside, unsigned int outside, bool everywhere,
	       const char *words)
{
	_cleanup_buf_ struct buf b = BUF_INIT(256);
	struct error e = ERROR_INIT;
	struct published p;

	assert_int_equal(published_parse(text, &p, &e), 0);
	assert_int_equal(p.inside, inside);
	assert_int_equal(p.outside, outside);
	assert_int_equal(p.everywhere, everywhere);
	published_words(&b, &p);
	assert_string_equal(buf_str(&b), words);
}

static void each_form_is_read(void **state)
{
	(void)state;
	is("3000", 3000, 0, false, "127.0.0.1:3000, or another port where that is taken");
	is("3000:8080", 3000, 8080, false, "127.0.0.1:8080");
	is("1:65535", 1, 65535, false, "127.0.0.1:65535");
	is("3000:127.0.0.2:80", 3000, 80, false, "127.0.0.2:80");
	is("3000:192.0.2.1:80", 3000, 80, true, "192.0.2.1:80");
	is("3000:0.0.0.0:80", 3000, 80, true, "0.0.0.0:80");
	is("3000:[::1]:80", 3000, 80, false, "[::1]:80");
	is("3000:[2001:db8::1]:80", 3000, 80, true, "[2001:db8::1]:80");
	is("3000:[::]:80", 3000, 80, true, "[::]:80");
}

static void nothing_else_is(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"0",
		"65536",
		"-1",
		"+1",
		" 1",
		"1 ",
		"3000:",
		"3000:0",
		"3000:x",
		"3000:65536",
		"3000:80:",
		"3000:1.2.3:80",
		"3000::80",
		"3000:[::1]",
		"3000:[::1",
		"3000:[::1]80",
		"3000:[::1]:",
		"3000:[x]:80",
		"3000:::1:80",
		"3000:[192.0.2.1]:80",
		"18446744073709551617",
		"3000:192.0.2.1:80:1",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		struct error e = ERROR_INIT;
		struct published p;

		if (published_parse(bad[i], &p, &e) == 0)
			fail_msg("'%s' is read as a port", bad[i]);
		assert_int_equal(e.code, -EINVAL);
		assert_true(strlen(e.next) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_read),
		cmocka_unit_test(nothing_else_is),
	};

	return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
