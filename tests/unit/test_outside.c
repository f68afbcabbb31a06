/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the user's ends in time, prints no more than it may, and is no shell. */
#include "cmocka_lead.h"

#include "outside.h"

#include <stdio.h>
#include <time.h>

static int run(const char *const *argv, int milliseconds, struct buf *into, int *ret_status)
{
	struct error e = ERROR_INIT;

	return outside_run(argv, milliseconds, into, ret_status, &e);
}

static void test_output_and_status(void **state)
{
	const char *const words[] = {"printf", "%s", "$HOME; a  b", NULL};
	const char *const fails[] = {"sh", "-c", "echo no >/dev/null; exit 3", NULL};
	_cleanup_buf_ struct buf out = BUF_INIT(64);
	int status = -1;

	(void)state;
	assert_int_equal(run(words, 5000, &out, &status), 0);
	assert_int_equal(status, 0);
	assert_string_equal(buf_str(&out), "$HOME; a  b");
	buf_clear(&out);
	assert_int_equal(run(fails, 5000, &out, &status), 0);
	assert_int_equal(status, 3);
	assert_int_equal(out.len, 0);
}

static void test_input_is_empty(void **state)
{
	const char *const words[] = {"cat", NULL};
	_cleanup_buf_ struct buf out = BUF_INIT(64);
	int status = -1;

	(void)state;
	assert_int_equal(run(words, 5000, &out, &status), 0);
	assert_int_equal(out.len, 0);
}

static void test_bounds(void **state)
{
	const char *const endless[] = {"yes", NULL};
	const char *const slow[] = {"sleep", "60", NULL};
	const char *const silent[] = {"sh", "-c", "exec >&-; exec sleep 60", NULL};
	const char *const none[] = {"no-such-program-of-bawn", NULL};
	_cleanup_buf_ struct buf out = BUF_INIT(1000);
	int status = -1;
	time_t begun = time(NULL);

	(void)state;
	assert_int_equal(run(endless, 5000, &out, &status), -EMSGSIZE);
	out = (buf_fini(&out), BUF_INIT(1000));
	assert_int_equal(run(slow, 100, &out, &status), -ETIME);
	assert_int_equal(run(silent, 100, &out, &status), -ETIME);
	assert_int_equal(run(none, 100, &out, &status), -ENOENT);
	assert_true(time(NULL) - begun < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_status),
		cmocka_unit_test(test_input_is_empty),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
