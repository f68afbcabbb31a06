/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events speak of is found again by whatever name it has later, and nothing else is.
 */
#include "cmocka_lead.h"

#include "touched.h"

#include <stdio.h>

static struct span s(const char *text)
{
	return span_of_str(text);
}

static bool explains(struct touched *t, const char *path, unsigned int effects)
{
	assert_int_equal(touched_settle(t), 0);
	return touched_explains(t, s(path), effects);
}

static void test_a_path_is_explained_by_what_was_done_to_it(void **state)
{
	_cleanup_touched_ struct touched t;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	assert_false(explains(&t, "/w/a", TOUCHED_ANY));
	touched_add(&t, s("/w/a"), TOUCHED_MADE);
	touched_add(&t, s("/w/b"), TOUCHED_META);
	touched_add(&t, s("/w/d/c"), TOUCHED_GONE);
	assert_true(explains(&t, "/w/a", TOUCHED_MADE));
	assert_false(explains(&t, "/w/a", TOUCHED_GONE));
	assert_true(explains(&t, "/w/b", TOUCHED_META));
	/* chmod does not explain other content */
	assert_false(explains(&t, "/w/b", TOUCHED_MADE));
	assert_true(explains(&t, "/w/d/c", TOUCHED_GONE));
	assert_false(explains(&t, "/w/d/cc", TOUCHED_ANY));
	assert_false(explains(&t, "/w/d", TOUCHED_ANY));
	/* the folder itself is known to have had something happen in it */
	assert_true(touched_effects(&t, s("/w/d")) & TOUCHED_CHILD);
	assert_int_equal(touched_effects(&t, s("/x")), 0);
}

static void test_effects_add_up(void **state)
{
	_cleanup_touched_ struct touched t;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_add(&t, s("/w/a"), TOUCHED_MADE);
	touched_add(&t, s("/w/a"), TOUCHED_GONE);
	assert_int_equal(touched_effects(&t, s("/w/a")), TOUCHED_MADE | TOUCHED_GONE);
	assert_int_equal(t.count, 2); /* and its folder */
}

static void test_names_beneath_a_renamed_folder(void **state)
{
	_cleanup_touched_ struct touched t;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_add(&t, s("/w/tmp/pkg/index.js"), TOUCHED_MADE);
	touched_renamed(&t, s("/w/tmp/pkg"), s("/w/mods/pkg"));
	touched_renamed(&t, s("/w/mods"), s("/w/node_modules"));
	assert_true(explains(&t, "/w/node_modules/pkg/index.js", TOUCHED_MADE));
	assert_true(explains(&t, "/w/mods/pkg/index.js", TOUCHED_MADE));
	assert_false(explains(&t, "/w/node_modules/pkg/other.js", TOUCHED_MADE));
	assert_false(explains(&t, "/w/node_modules/pkgx/index.js", TOUCHED_MADE));
	/* both ends themselves */
	assert_true(explains(&t, "/w/node_modules", TOUCHED_MADE));
	assert_true(explains(&t, "/w/mods", TOUCHED_GONE));
}

static void test_what_was_removed_after_a_rename(void **state)
{
	_cleanup_touched_ struct touched t;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_renamed(&t, s("/w/old"), s("/w/.trash"));
	touched_add(&t, s("/w/.trash/file"), TOUCHED_GONE);
	assert_true(explains(&t, "/w/old/file", TOUCHED_GONE));
	assert_false(explains(&t, "/w/old/kept", TOUCHED_GONE));
	/* a later name says nothing about what was made by this one */
	touched_add(&t, s("/w/.trash/new"), TOUCHED_MADE);
	assert_false(explains(&t, "/w/old/new", TOUCHED_MADE));
}

static void test_names_through_symbolic_links(void **state)
{
	_cleanup_touched_ struct touched t;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_linked(&t, s("/w/link"), s("real/../dir"));
	touched_linked(&t, s("/w/sub/up"), s("../link"));
	touched_linked(&t, s("/home/u/p"), s("/w"));
	touched_add(&t, s("/w/link/a"), TOUCHED_MADE);
	touched_add(&t, s("/w/sub/up/b"), TOUCHED_MADE);
	touched_add(&t, s("/home/u/p/c"), TOUCHED_MADE);
	assert_true(explains(&t, "/w/dir/a", TOUCHED_MADE));
	assert_true(explains(&t, "/w/dir/b", TOUCHED_MADE));
	assert_true(explains(&t, "/w/c", TOUCHED_MADE));
	assert_false(explains(&t, "/w/dir/c", TOUCHED_MADE));
}

static void test_rings_of_names_come_to_an_end(void **state)
{
	_cleanup_touched_ struct touched t;
	char a[64], b[64];

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_linked(&t, s("/w/x"), s("x"));
	touched_linked(&t, s("/w/loop"), s("."));
	for (unsigned int i = 0; i < 200; i++) {
		(void)snprintf(a, sizeof(a), "/w/r%u", i % 20);
		(void)snprintf(b, sizeof(b), "/w/r%u", (i * 7 + 1) % 20);
		touched_renamed(&t, s(a), s(b));
	}
	assert_false(explains(&t, "/w/r3/none", TOUCHED_ANY));
	assert_false(explains(&t, "/w/y", TOUCHED_ANY));
}

static void test_the_other_names_of_a_path(void **state)
{
	_cleanup_touched_ struct touched t;
	_cleanup_buf_ struct buf name = BUF_INIT(8192);
	size_t at = 0;

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	touched_renamed(&t, s("/w/a"), s("/w/c"));
	touched_renamed(&t, s("/w/b"), s("/w/c"));
	assert_int_equal(touched_settle(&t), 0);
	assert_true(touched_other_name(&t, s("/w/c/f"), true, &at, &name));
	assert_true(touched_other_name(&t, s("/w/c/f"), true, &at, &name));
	assert_false(touched_other_name(&t, s("/w/c/f"), true, &at, &name));
	at = 0;
	assert_true(touched_other_name(&t, s("/w/a/f"), false, &at, &name));
	assert_string_equal(buf_str(&name), "/w/c/f");
}

/* However many come, memory stays bounded and what did not fit is counted. */
static void test_more_than_fits(void **state)
{
	_cleanup_touched_ struct touched t;
	char path[64];

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	for (unsigned int i = 0; i < TOUCHED_PATHS_MAX + 1000; i++) {
		int n = snprintf(path, sizeof(path), "/w/d/%u", i);

		touched_add(&t, (struct span){(const uint8_t *)path, (size_t)n}, TOUCHED_MADE);
	}
	assert_int_equal(t.count, TOUCHED_PATHS_MAX);
	assert_int_equal(t.capacity, 2 * TOUCHED_PATHS_MAX);
	assert_int_equal(t.left_out, 1001); /* with the folder */
	assert_true(explains(&t, "/w/d/77", TOUCHED_MADE));
	assert_false(explains(&t, "/w/d/1048999", TOUCHED_MADE));
}

/* Pairs that do not fit still explain what lies beneath, coarsely. */
static void test_more_pairs_than_fit(void **state)
{
	_cleanup_touched_ struct touched t;
	char from[64], to[64];

	(void)state;
	assert_int_equal(touched_init(&t), 0);
	for (unsigned int i = 0; i < TOUCHED_PAIRS_MAX + 10; i++) {
		(void)snprintf(from, sizeof(from), "/w/f%u", i);
		(void)snprintf(to, sizeof(to), "/w/t%u", i);
		touched_renamed(&t, s(from), s(to));
	}
	assert_int_equal(t.pair_count, TOUCHED_PAIRS_MAX);
	(void)snprintf(to, sizeof(to), "/w/t%d/x", TOUCHED_PAIRS_MAX + 5);
	assert_true(explains(&t, to, TOUCHED_MADE));
	assert_false(explains(&t, "/w/t7/x", TOUCHED_MADE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_path_is_explained_by_what_was_done_to_it),
		cmocka_unit_test(test_effects_add_up),
		cmocka_unit_test(test_names_beneath_a_renamed_folder),
		cmocka_unit_test(test_what_was_removed_after_a_rename),
		cmocka_unit_test(test_names_through_symbolic_links),
		cmocka_unit_test(test_rings_of_names_come_to_an_end),
		cmocka_unit_test(test_the_other_names_of_a_path),
		cmocka_unit_test(test_more_than_fits),
		cmocka_unit_test(test_more_pairs_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
