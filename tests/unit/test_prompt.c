/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person answers: only a letter that was asked for counts, and whatever else there is (an
 * empty line, the end, half a line) is the answer that does nothing.
 */
#include "cmocka_lead.h"

#include "prompt.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* What it makes of these bytes, how often it explained itself, and what it has left unread. */
static char answer(const char *typed, size_t len, size_t *ret_helped, char rest[64])
{
	char said[4096];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(send(ends[1], typed, len, 0), (ssize_t)len);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	const struct prompt p = {.tty = ends[0], .text = text_open(ends[0])};
	char key = prompt_key(&p, "Land it?", "nya", "HELP");
	ssize_t n = recv(ends[1], said, sizeof(said) - 1, MSG_DONTWAIT);

	assert_true(n > 0);
	said[n] = '\0';
	assert_non_null(strstr(said, "Land it?"));
	*ret_helped = 0;
	for (const char *at = said; (at = strstr(at, "HELP")); at++)
		(*ret_helped)++;
	n = recv(ends[0], rest, 63, MSG_DONTWAIT);
	rest[n > 0 ? n : 0] = '\0';
	(void)close(ends[0]);
	(void)close(ends[1]);
	return key;
}

static void test_answers(void **state)
{
	static const struct {
		const char *typed;
		char key;
		size_t helped;
		const char *rest;
	} rows[] = {
		{"y\n", 'y', 0, ""},
		{"a\nmore\n", 'a', 0, "more\n"},
		{"Yes\ny\n", 'y', 0, "y\n"},
		{"   y\n", 'y', 0, ""},
		{"N\n", 'n', 0, ""},
		{"\ny\n", 'n', 0, "y\n"},
		{"   \ny\n", 'n', 0, "y\n"},
		{"", 'n', 0, ""},
		{"y", 'n', 0, ""},
		{"?\ny\n", 'y', 1, ""},
		{"x\n?\n1\na\n", 'a', 3, ""},
		{"x\n", 'n', 1, ""},
		{"x y\n\n", 'n', 1, ""},
		/* What is one bit away from a letter is none. */
		{"\x19\nY\n", 'y', 1, ""},
		{"[\n@\nZ\n", 'n', 3, ""},
	};
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char rest[64];
		size_t helped = 0;
		char key = answer(rows[i].typed, strlen(rows[i].typed), &helped, rest);

		if (key != rows[i].key || helped != rows[i].helped)
			fail_msg("row %zu: '%c', explained %zu times", i, key, helped);
		assert_string_equal(rest, rows[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
