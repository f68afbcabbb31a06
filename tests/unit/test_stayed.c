/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as landed because something else did: undo gives each path the entry that it had
 * before, redo the other one, and neither touches what the session has done since.
 */
#include "cmocka_lead.h"

#include "stayed.h"
#include "str.h"

#include <limits.h>

static struct object file_of(uint8_t first)
{
	return (struct object){
		.type = OBJECT_FILE, .mode = 0644, .size = 1, .hashed = true, .digest = {first}};
}

static bool all_are_meant(const void *context, const char *path)
{
	(void)context;
	(void)path;
	return true;
}

static bool one_is_meant(const void *context, const char *path)
{
	return str_equal(context, path);
}

/* 0: there is no such entry. */
static unsigned int digest_in(const struct basis *b, const char *path)
{
	const struct basis_entry *e = basis_find(b, path);

	return e ? e->object.digest[0] : 0;
}

static void turn(const struct stayed_turn *t, struct basis *stayed, struct basis *b)
{
	struct basis into = BASIS_INIT;

	assert_int_equal(stayed_turn(t, stayed, b, &into), 0);
	basis_fini(stayed);
	*stayed = into;
}

static void test_turns(void **state)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT, b = BASIS_INIT;
	const struct object was = file_of(1), is = file_of(2), other = file_of(9);
	const struct stayed_turn undo = {.from = 5, .to = 6, .is_meant = all_are_meant};
	const struct stayed_turn redo = {.from = 6, .to = 7, .is_meant = all_are_meant};

	(void)state;
	assert_int_equal(stayed_note(&stayed, 5, "a", &was, &is), 0);
	assert_int_equal(stayed_note(&stayed, 5, "new/one", NULL, &is), 0);
	assert_int_equal(stayed_note(&stayed, 4, "a", &other, &was), 0);
	assert_int_equal(stayed.count, 5);
	assert_int_equal(basis_set(&b, "a", &is), 0);
	assert_int_equal(basis_set(&b, "new/one", &is), 0);
	assert_int_equal(basis_set(&b, "c", &other), 0);
	turn(&undo, &stayed, &b);
	assert_int_equal(digest_in(&b, "a"), 1);
	assert_int_equal(digest_in(&b, "new/one"), 0);
	assert_int_equal(digest_in(&b, "c"), 9);
	assert_int_equal(b.count, 2);
	assert_int_equal(digest_in(&stayed, "6/was/a"), 2);
	assert_int_equal(digest_in(&stayed, "6/is/a"), 1);
	assert_int_equal(digest_in(&stayed, "6/was/new/one"), 2);
	assert_int_equal(digest_in(&stayed, "6/is/new/one"), 0);
	/* Those of other landings are as they were. */
	assert_int_equal(digest_in(&stayed, "4/was/a"), 9);
	assert_int_equal(digest_in(&stayed, "4/is/a"), 1);
	assert_int_equal(stayed.count, 5);
	turn(&redo, &stayed, &b);
	assert_int_equal(digest_in(&b, "a"), 2);
	assert_int_equal(digest_in(&b, "new/one"), 2);
	assert_int_equal(b.count, 3);
	assert_int_equal(digest_in(&stayed, "7/is/new/one"), 2);
	assert_int_equal(digest_in(&stayed, "7/was/new/one"), 0);
	assert_int_equal(stayed.count, 5);
}

/* The session has landed again since, or run: what it departs from now is not touched. */
static void test_what_has_moved_on_stays(void **state)
{
	const struct object was = file_of(1), is = file_of(2), other = file_of(9);
	const struct stayed_turn undo = {.from = 5, .to = 6, .is_meant = all_are_meant};

	(void)state;
	for (int i = 0; i < 3; i++) {
		_cleanup_basis_ struct basis stayed = BASIS_INIT, b = BASIS_INIT;

		/* It has another entry, or none; or has one where there was to be none. */
		assert_int_equal(stayed_note(&stayed, 5, "a", &was, i < 2 ? &is : NULL), 0);
		if (i != 1)
			assert_int_equal(basis_set(&b, "a", &other), 0);
		turn(&undo, &stayed, &b);
		assert_int_equal(digest_in(&b, "a"), i != 1 ? 9 : 0);
		assert_int_equal(stayed.count, 0);
	}
}

static void test_what_is_not_meant_stays(void **state)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT, b = BASIS_INIT;
	const struct object was = file_of(1), is = file_of(2);
	const struct stayed_turn undo = {
		.from = 5, .to = 6, .is_meant = one_is_meant, .context = "b"};

	(void)state;
	assert_int_equal(stayed_note(&stayed, 5, "a", &was, &is), 0);
	assert_int_equal(stayed_note(&stayed, 5, "b", &was, &is), 0);
	assert_int_equal(basis_set(&b, "a", &is), 0);
	assert_int_equal(basis_set(&b, "b", &is), 0);
	turn(&undo, &stayed, &b);
	assert_int_equal(digest_in(&b, "a"), 2);
	assert_int_equal(digest_in(&b, "b"), 1);
	assert_int_equal(digest_in(&stayed, "5/was/a"), 1);
	assert_int_equal(digest_in(&stayed, "5/is/a"), 2);
	assert_int_equal(digest_in(&stayed, "6/is/b"), 1);
	assert_int_equal(stayed.count, 4);
}

static void test_old_ones_are_forgotten(void **state)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT;
	const struct object o = file_of(1);

	(void)state;
	assert_int_equal(stayed_note(&stayed, 1, "a", &o, &o), 0);
	assert_int_equal(stayed_note(&stayed, 2, "a", &o, &o), 0);
	assert_int_equal(stayed_note(&stayed, 40, "a", &o, &o), 0);
	assert_int_equal(basis_set(&stayed, "3/other/a", &o), 0);
	stayed_forget_old(&stayed, 65); /* 64 before it are kept */
	assert_int_equal(stayed.count, 6);
	assert_null(basis_find(&stayed, "3/other/a"));
	stayed_forget_old(&stayed, 66);
	assert_int_equal(stayed.count, 4);
	assert_null(basis_find(&stayed, "1/is/a"));
	assert_non_null(basis_find(&stayed, "2/is/a"));
	stayed_forget_old(&stayed, 104);
	assert_int_equal(stayed.count, 2);
	stayed_forget_old(&stayed, 105);
	assert_int_equal(stayed.count, 0);
}

/* A name that is cut would be another path's. */
static void test_longest_names(void **state)
{
	static char path[PATH_MAX + 64];
	const size_t room = PATH_MAX + 40 - 1;
	const struct object o = file_of(1);

	(void)state;
	for (int over = 0; over < 2; over++) {
		_cleanup_basis_ struct basis stayed = BASIS_INIT;
		size_t len = room - strlen("5/is/") + (size_t)over;

		memset(path, 'x', len);
		path[len] = '\0';
		assert_int_equal(stayed_note(&stayed, 5, path, NULL, &o), over ? -ENAMETOOLONG : 0);
		assert_int_equal(stayed.count, over ? 0 : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_what_has_moved_on_stays),
		cmocka_unit_test(test_what_is_not_meant_stays),
		cmocka_unit_test(test_old_ones_are_forgotten),
		cmocka_unit_test(test_longest_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
