/* SPDX-License-Identifier: Apache-2.0 */
/* The key that detaches, in every way that a terminal spells it, whole and in pieces. */
#include "cmocka_lead.h"

#include "detach_key.h"

#include <stdlib.h>
#include <string.h>

#define CTRL(c) ((c)-64)

struct row {
	int key;
	const char *typed;
	int before; /* -1: it is not there */
};

static const struct row rows[] = {
	{CTRL('\\'), "\x1c", 0},
	{CTRL('\\'),
	 "ab\x1c"
	 "cd",
	 2},
	{CTRL('\\'), "abc", -1},
	{CTRL('\\'), "", -1},
	{-1, "\x1c\x1b[92;5u", -1},
	{CTRL('\\'), "a\x1b[92;5u", 1},
	{CTRL('\\'), "\x1b[92;5:1u", 0},
	{CTRL('\\'), "\x1b[92;5:2u", 0},
	{CTRL('\\'), "\x1b[92;5:3u", -1},  /* let go */
	{CTRL('\\'), "\x1b[92;69u", 0},    /* Caps Lock */
	{CTRL('\\'), "\x1b[92;197u", 0},   /* and Num Lock */
	{CTRL('\\'), "\x1b[92:124;5u", 0}, /* with the shifted letter */
	{CTRL('\\'), "\x1b[92;5;28u", 0},  /* with its text */
	{CTRL('\\'), "\x1b[92;6u", -1},    /* and Shift */
	{CTRL('\\'), "\x1b[92;7u", -1},    /* and Alt */
	{CTRL('\\'), "\x1b[92u", -1},
	{CTRL('\\'), "\x1b[93;5u", -1},
	{CTRL('\\'), "\x1b[27;5;92~", 0},
	{CTRL('\\'), "\x1b[27;6;92~", -1},
	{CTRL('\\'), "\x1b[27;5;92u", -1},
	{CTRL('Q'), "\x1b[113;5u", 0},
	{CTRL('Q'), "\x1b[81;5u", 0},
	{CTRL('Q'), "\x1b[27;5;113~", 0},
	{CTRL('Q'), "\x1c", -1},
	{CTRL('['), "\x1b", 0},
	/* A paste. */
	{CTRL('\\'), "\x1b[200~\x1c\x1b[92;5u", -1},
	{CTRL('\\'), "\x1b[200~x\x1b[201~\x1c", 13},
	{CTRL('\\'), "\x1b[200~x\x1b[201~\x1b[92;5u", 13},
	/* What breaks off. */
	{CTRL('\\'), "\x1b[92\x1c", 4},
	{CTRL('\\'), "\x1b\x1c", 1},
	{CTRL('\\'), "\x1b[9\x1b[92;5u", 3},
	{CTRL('\\'), "\x1b[1111111111111111111111111111111111111111111;5u\x1c", 48},
	{CTRL('\\'), "\x1b[1;2;3;4;5u", -1},
	{CTRL('\\'), "\x1bO\x1c", 2},
	{CTRL('\\'), "\x1b[A\x1c", 3},
};

static void test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct detach_key d = DETACH_KEY_INIT(rows[i].key);
		size_t len = strlen(rows[i].typed), before = 0;
		bool found = detach_key_feed(&d, (const uint8_t *)rows[i].typed, len, &before);

		print_message("# row %zu\n", i);
		assert_int_equal(found, rows[i].before >= 0);
		assert_int_equal(before, found ? (size_t)rows[i].before : len);
	}
}

/* However it is cut the key is found at the same byte, and never more than all is passed on. */
static void test_in_pieces(void **state)
{
	const char *said = getenv("BAWN_TEST_SEED");
	unsigned int seed = said ? (unsigned int)strtoul(said, NULL, 10) : 19;

	(void)state;
	print_message("# seed %u\n", seed);
	srandom(seed);
	for (size_t turn = 0; turn < 200 * BAWN_ARRAY_SIZE(rows); turn++) {
		const struct row *row = &rows[turn % BAWN_ARRAY_SIZE(rows)];
		struct detach_key d = DETACH_KEY_INIT(row->key);
		size_t len = strlen(row->typed), at = 0, passed = 0;
		bool found = false;

		while (at < len && !found) {
			size_t piece = 1 + (size_t)random() % (len - at), before = 0;

			found = detach_key_feed(&d, (const uint8_t *)row->typed + at, piece,
						&before);
			assert_in_range(before, 0, piece);
			passed += before;
			at += piece;
		}
		assert_int_equal(found, row->before >= 0);
		/* The pieces before the last of a report have gone. */
		if (found)
			assert_true(passed >= (size_t)row->before);
		else
			assert_int_equal(passed, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
