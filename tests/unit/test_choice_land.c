/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From choices to steps: folders follow what is in them, a step says what stands there and what
 * shall, and afterwards it is written down what the session departs from.
 */
#include "cmocka_lead.h"

#include "choice_lead.h"

#include <errno.h>

static void origin_folder(struct world *w, const char *path, uint32_t mode)
{
	const struct object dir = {.type = OBJECT_DIR, .mode = mode, .layer = -1};

	assert_int_equal(basis_set(&w->lead.basis, path, &dir), 0);
}

static void read_with_origins(struct world *w)
{
	origins_written(&w->lead);
	read_choices(w);
}

static void decide(struct world *w, const char *name, enum choice_side side)
{
	char copy[64];
	char *names[] = {copy};
	struct error e = ERROR_INIT;

	(void)snprintf(copy, sizeof(copy), "%s", name);
	const struct pathspecs specs = specs_of(w, names, 1);

	assert_int_equal(choices_decide(&w->choices, &specs, side, false, &e), 0);
}

static void pick_one(struct world *w, const char *name)
{
	char copy[64];
	char *names[] = {copy};
	struct error e = ERROR_INIT;

	(void)snprintf(copy, sizeof(copy), "%s", name);
	const struct pathspecs specs = specs_of(w, names, 1);

	assert_int_equal(choices_pick(&w->choices, &specs, &e), 0);
}

static void expect_why(const struct world *w, const char *path, enum choice_state state,
		       const char *why)
{
	const struct choice *x = choice_at(w, path);

	if (x->state != state)
		fail_msg("%s: %d, not %d (%s)", path, x->state, state, x->why ?: "");
	if (why)
		assert_string_equal(x->why, why);
}

static const struct basis_entry *known_at(const struct basis *b, const char *path)
{
	static const struct basis_entry none;
	const struct basis_entry *known = basis_find(b, path);

	assert_non_null(known);
	return known ? known : &none;
}

/* --- folders ----------------------------------------------------------------------------- */

#define NOT_IN "the directory that it is in does not land"
#define STAYS "something that is in it stays"

/* The user has a file where the session made a folder. */
static void put_folder_in_conflict(struct world *w)
{
	put_at(mine(w), "d", "mine\n");
	file_at(theirs(w), "d/e/x", "theirs\n");
	origin_is(&w->lead, "d", NULL, 0);
	read_with_origins(w);
}

static void nothing_lands_in_a_folder_that_does_not(void **state)
{
	struct world *w = *state;

	put_folder_in_conflict(w);
	settle(w);
	expect_why(w, "d", CHOICE_CONFLICT, NULL);
	expect_why(w, "d/e", CHOICE_LEFT, NULL);
	expect_why(w, "d/e/x", CHOICE_LEFT, NOT_IN);
	/* Once it is decided they follow. */
	decide(w, "d", CHOICE_THEIRS_SIDE);
	settle(w);
	expect_why(w, "d", CHOICE_LANDS, NULL);
	expect_why(w, "d/e", CHOICE_LANDS, NULL);
	expect_why(w, "d/e/x", CHOICE_LANDS, NULL);
	land_choices(w);
	assert_string_equal(text_at(mine(w), "d/e/x"), "theirs\n");
}

static void a_folder_that_was_kept_keeps_what_is_in_it(void **state)
{
	struct world *w = *state;

	put_folder_in_conflict(w);
	decide(w, "d", CHOICE_OURS_SIDE);
	land_choices(w);
	expect_why(w, "d", CHOICE_OURS, NULL);
	expect_why(w, "d/e/x", CHOICE_LEFT, NOT_IN);
	assert_string_equal(text_at(mine(w), "d"), "mine\n");
	assert_true(choices_leave_something(&w->choices));
}

/* Folders around what is named are judged as if they were named themselves. */
static void a_pick_calls_the_conflict_above_it(void **state)
{
	struct world *w = *state;

	put_folder_in_conflict(w);
	put_at(theirs(w), "other", "x\n");
	read_choices(w);
	pick_one(w, "d/e/x");
	expect_why(w, "other", CHOICE_LEFT, NULL);
	expect_why(w, "d", CHOICE_CONFLICT, "you and the session both wrote it");
	/* One without words of its own is left, and lands when it is needed. */
	expect_why(w, "d/e", CHOICE_LEFT, NULL);
	settle(w);
	expect_why(w, "d/e/x", CHOICE_LEFT, NOT_IN);
	decide(w, "d", CHOICE_THEIRS_SIDE);
	land_choices(w);
	assert_string_equal(text_at(mine(w), "d/e/x"), "theirs\n");
	assert_int_equal(mode_at(mine(w), "other"), 0);
}

/* The same of a conflict that is in a folder in conflict. */
static void a_conflict_calls_the_one_above_it(void **state)
{
	struct world *w = *state;

	put_folder_in_conflict(w);
	choice_at(w, "d/e/x")->state = CHOICE_CONFLICT;
	choice_pass(choice_at(w, "d"), NULL);
	assert_int_equal(state_of(w, "d"), CHOICE_LEFT);
	choices_call_above(&w->choices);
	expect_why(w, "d", CHOICE_CONFLICT, "you and the session both wrote it");
	/* What is left calls nothing. */
	choice_pass(choice_at(w, "d"), NULL);
	choice_pass(choice_at(w, "d/e/x"), NULL);
	choice_pass(choice_at(w, "d/e"), NULL);
	choices_call_above(&w->choices);
	assert_int_equal(state_of(w, "d"), CHOICE_LEFT);
}

/* What is passed over twice is still what it was at first. */
static void what_is_passed_is_remembered(void **state)
{
	struct choice x = {.state = CHOICE_HELD, .why = "first"};

	(void)state;
	choice_pass(&x, NULL);
	assert_int_equal(x.state, CHOICE_LEFT);
	assert_string_equal(x.why, "first");
	choice_pass(&x, "second");
	assert_int_equal(x.passed, CHOICE_HELD);
	assert_string_equal(x.passed_why, "first");
	assert_string_equal(x.why, "second");
}

/* The session removed a folder, and the user changed a file in it. */
static void a_removed_folder_stays_with_what_stays(void **state)
{
	struct world *w = *state;

	file_at(mine(w), "d/e/x", "mine\n");
	file_at(mine(w), "d/y", "y\n");
	whiteout_in(&w->lead, "d");
	origin_is(&w->lead, "d/e/x", "old\n", 0644);
	read_with_origins(w);
	settle(w);
	expect_why(w, "d/e/x", CHOICE_CONFLICT, NULL);
	expect_why(w, "d/e", CHOICE_LEFT, STAYS);
	expect_why(w, "d", CHOICE_LEFT, STAYS);
	expect_why(w, "d/y", CHOICE_LANDS, NULL);
	decide(w, "d/e/x", CHOICE_OURS_SIDE);
	settle(w);
	expect_why(w, "d", CHOICE_LEFT, STAYS);
	land_choices(w);
	assert_string_equal(text_at(mine(w), "d/e/x"), "mine\n");
	assert_int_equal(mode_at(mine(w), "d/y"), 0);
	/* Told otherwise, all of it goes. */
	read_choices(w);
	decide(w, "d/e/x", CHOICE_THEIRS_SIDE);
	land_choices(w);
	assert_int_equal(mode_at(mine(w), "d"), 0);
}

/* What the session removed and the user made again since is settled, and keeps its folder. */
static void a_folder_stays_with_what_the_user_made_again(void **state)
{
	struct world *w = *state;

	file_at(mine(w), "d/x", "mine\n");
	whiteout_in(&w->lead, "d");
	origin_is(&w->lead, "d/x", NULL, 0);
	read_with_origins(w);
	assert_int_equal(state_of(w, "d/x"), CHOICE_SETTLED);
	land_choices(w);
	expect_why(w, "d", CHOICE_LEFT, STAYS);
	assert_string_equal(text_at(mine(w), "d/x"), "mine\n");
}

/* A file that is new, and stays in the layer, keeps no folder of the workspace's. */
static void a_new_file_keeps_no_folder(void **state)
{
	struct world *w = *state;

	file_at(mine(w), "d/x", "mine\n");
	file_at(theirs(w), "e/n", "new\n");
	whiteout_in(&w->lead, "d");
	read_choices(w);
	/* As if it had been renamed into the folder that goes. */
	struct choice *n = choice_at(w, "e/n");

	n->change->path = "d/n";
	choice_pass(n, NULL);
	settle(w);
	expect_why(w, "d", CHOICE_LANDS, NULL);
}

/* A folder that the session found, and the user removed, lands with what is new in it. */
static void a_folder_that_the_user_removed_comes_back(void **state)
{
	struct world *w = *state;

	file_at(theirs(w), "d/x", "theirs\n");
	origin_folder(w, "d", 0755);
	read_with_origins(w);
	assert_int_equal(state_of(w, "d"), CHOICE_SETTLED);
	land_choices(w);
	assert_int_equal(state_of(w, "d"), CHOICE_LANDS);
	assert_string_equal(text_at(mine(w), "d/x"), "theirs\n");
}

static void a_new_folder_stays_with_all_that_is_in_it(void **state)
{
	struct world *w = *state;

	file_at(theirs(w), "d/e/x", "theirs\n");
	assert_int_equal(mkdirat(theirs(w), "empty", 0755), 0);
	read_choices(w);
	choice_at(w, "d/e/x")->state = CHOICE_HELD;
	settle(w);
	expect_why(w, "d/e", CHOICE_LEFT, NULL);
	expect_why(w, "d", CHOICE_LEFT, NULL);
	expect_why(w, "empty", CHOICE_LANDS, NULL);
	choice_at(w, "d/e/x")->state = CHOICE_LANDS;
	settle(w);
	expect_why(w, "d/e", CHOICE_LANDS, NULL);
	expect_why(w, "d", CHOICE_LANDS, NULL);
}

static void what_it_needs_must_land(void **state)
{
	static const struct {
		enum choice_state of, want;
	} rows[] = {
		{CHOICE_LANDS, CHOICE_LANDS},  {CHOICE_SETTLED, CHOICE_LANDS},
		{CHOICE_LEFT, CHOICE_LEFT},    {CHOICE_CONFLICT, CHOICE_LEFT},
		{CHOICE_DROPPED, CHOICE_LEFT},
	};
	struct world *w = *state;

	put_at(theirs(w), "a", "a\n");
	put_at(theirs(w), "b", "b\n");
	read_choices(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		choice_at(w, "a")->change->needs = "b";
		choice_at(w, "b")->state = rows[i].of;
		settle(w);
		expect_why(w, "a", rows[i].want, NULL);
	}
	choice_at(w, "a")->change->needs = "gone";
	settle(w);
	expect_why(w, "a", CHOICE_LANDS, NULL);
}

/* --- lines ------------------------------------------------------------------------------- */

static void lines_are_counted(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_at(mine(w), "a", "1\n2\n3\n");
	put_at(theirs(w), "a", "1\n3\n4\n5\n");
	put_at(theirs(w), "new", "1\n2\n");
	put_at(mine(w), "gone", "1\n");
	whiteout_in(&w->lead, "gone");
	put_at(mine(w), "data", "a\n");
	put_at(theirs(w), "data", "\x01\x02\n");
	_cleanup_fd_ int fd = openat(theirs(w), "data", O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "\0\0\0", 3, 0), 3);
	put_at(mine(w), "mode", "m\n");
	put_at(theirs(w), "mode", "m\n");
	assert_int_equal(fchmodat(theirs(w), "mode", 0755, 0), 0);
	read_choices(w);
	choice_at(w, "new")->state = CHOICE_LEFT;
	assert_int_equal(choices_count_lines(&w->choices, &e), 0);
	assert_true(choice_at(w, "a")->counted);
	assert_int_equal(choice_at(w, "a")->added, 2);
	assert_int_equal(choice_at(w, "a")->removed, 1);
	assert_int_equal(choice_at(w, "gone")->removed, 1);
	assert_int_equal(choice_at(w, "gone")->added, 0);
	assert_false(choice_at(w, "new")->counted);
	assert_false(choice_at(w, "data")->counted);
	assert_false(choice_at(w, "mode")->counted);
	/* What is picked of it counts, and not the layer's file. */
	assert_int_equal(choice_set_content(choice_at(w, "a"), span_of_str("1\n2\n3\n4\n"), true),
			 0);
	assert_int_equal(choices_count_lines(&w->choices, &e), 0);
	assert_int_equal(choice_at(w, "a")->added, 1);
	assert_int_equal(choice_at(w, "a")->removed, 0);
}

/* --- steps ------------------------------------------------------------------------------- */

static size_t count_steps(const struct choice_steps *s, const char *path)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += str_equal(s->items[i].path, path);
	return count;
}

static const struct land_step *step_at(const struct choice_steps *s, const char *path)
{
	size_t i = 0;

	assert_int_equal(count_steps(s, path), 1);
	while (!str_equal(s->items[i].path, path))
		i++;
	return &s->items[i];
}

static struct choice_steps steps_of(struct world *w)
{
	struct choice_steps steps;
	struct error e = ERROR_INIT;

	settle(w);
	assert_int_equal(choices_steps(&w->choices, &steps, &e), 0);
	return steps;
}

/* Bits of an access list's mask do not land, but for a folder that is there. */
static void masked_bits_do_not_land(void **state)
{
	struct world *w = *state;

	put_at(theirs(w), "f", "f\n");
	assert_int_equal(mkdirat(theirs(w), "new", 0755), 0);
	assert_int_equal(mkdirat(mine(w), "d", 0700), 0);
	assert_int_equal(mkdirat(theirs(w), "d", 0755), 0);
	origin_folder(w, "d", 0700);
	read_with_origins(w);
	for (size_t i = 0; i < w->choices.count; i++)
		w->choices.items[i].change->masked = 0040;
	const struct choice_steps s = steps_of(w);

	assert_int_equal(step_at(&s, "f")->after.mode, 0604);
	assert_int_equal(step_at(&s, "new")->after.mode, 0715);
	assert_int_equal(step_at(&s, "d")->after.mode, 0755);
}

static void a_rename_is_two_steps(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_at(mine(w), "old", "the same content\n");
	whiteout_in(&w->lead, "old");
	put_at(theirs(w), "new", "the same content\n");
	read_choices(w);
	assert_int_equal(choice_at(w, "new")->change->kind, CHANGE_RENAMED);
	const struct choice_steps s = steps_of(w);

	assert_int_equal(s.count, 2);
	assert_int_equal(step_at(&s, "old")->before.type, OBJECT_FILE);
	assert_int_equal(step_at(&s, "old")->after.type, OBJECT_ABSENT);
	assert_int_equal(step_at(&s, "new")->before.type, OBJECT_ABSENT);
	assert_int_equal(step_at(&s, "new")->after.type, OBJECT_FILE);
	/* Both are what the session departs from, afterwards. */
	assert_int_equal(choices_rebase(&w->choices, 1, &e), 0);
	assert_int_equal(known_at(&w->choices.basis, "old")->object.type, OBJECT_ABSENT);
	assert_int_equal(known_at(&w->choices.basis, "new")->object.type, OBJECT_FILE);
	/* git's objects only ever come. */
	choice_at(w, "new")->change->from = ".git/objects/aa/"
					    "11111111111111111111111111111111111111";
	const struct choice_steps one = steps_of(w);

	assert_int_equal(one.count, 1);
	assert_int_equal(count_steps(&one, "new"), 1);
}

static void what_lands_beside_makes_its_folders_once(void **state)
{
	struct world *w = *state;
	struct choice_beside beside[] = {
		{.path = ".git/refs/heads/bawn/one",
		 .text = "1\n",
		 .lands = {.type = OBJECT_FILE, .size = 2}},
		{.path = ".git/refs/heads/bawn/two",
		 .text = "2\n",
		 .lands = {.type = OBJECT_FILE, .size = 2}},
		{.path = ".git/refs/not/x", .text = "3\n", .of = 1, .lands = {.type = OBJECT_FILE}},
	};

	file_at(mine(w), ".git/refs/x", "x\n");
	put_at(theirs(w), "a", "a\n");
	put_at(theirs(w), "b", "b\n");
	read_choices(w);
	w->choices.items[0].state = CHOICE_KEPT;
	w->choices.beside = beside;
	w->choices.beside_count = BAWN_ARRAY_SIZE(beside);
	assert_int_equal(choices_in(&w->choices, CHOICE_LANDS), 3);
	assert_int_equal(choices_in(&w->choices, CHOICE_KEPT), 1);
	struct choice_steps s;
	struct error e = ERROR_INIT;

	assert_int_equal(choices_steps(&w->choices, &s, &e), 0);
	assert_int_equal(s.count, 5);
	assert_int_equal(step_at(&s, ".git/refs/heads")->after.type, OBJECT_DIR);
	assert_int_equal(step_at(&s, ".git/refs/heads/bawn")->after.type, OBJECT_DIR);
	assert_int_equal(count_steps(&s, ".git/refs"), 0);
	assert_int_equal(count_steps(&s, ".git/refs/not/x"), 0);
	for (size_t i = 0; i < s.count; i++) {
		char text[3] = "";

		if (s.items[i].after.type != OBJECT_FILE || s.from[i] < w->choices.count)
			continue;
		_cleanup_fd_ int fd = choices_open(&s, i);

		assert_int_equal(read(fd, text, sizeof(text)), 2);
		assert_string_equal(text, beside[s.from[i] - w->choices.count].text);
	}
	w->choices.beside = NULL;
	w->choices.beside_count = 0;
}

/* --- afterwards -------------------------------------------------------------------------- */

static void expect_kept(const struct world *w, const char *path, const char *text)
{
	const struct object *known = &known_at(&w->choices.basis, path)->object;
	char kept[64] = "";
	_cleanup_fd_ int fd = basis_content(w->choices.session, known);

	assert_true(fd >= 0);
	assert_true(read(fd, kept, sizeof(kept) - 1) >= 0);
	assert_string_equal(kept, text);
}

/* Only some hunks of it land: the session departs from those, and the rest is pending. */
static void what_lands_in_part_leaves_the_rest(void **state)
{
	struct world *w = *state;

	put_at(mine(w), "a", "1\n2\n3\n");
	put_at(theirs(w), "a", "0\n2\n4\n");
	put_at(theirs(w), "b", "b\n");
	read_choices(w);
	assert_int_equal(choice_set_content(choice_at(w, "a"), span_of_str("0\n2\n3\n"), true), 0);
	assert_true(choices_leave_something(&w->choices));
	land_choices(w);
	assert_string_equal(text_at(mine(w), "a"), "0\n2\n3\n");
	expect_kept(w, "a", "0\n2\n3\n");
	expect_kept(w, "b", "b\n");
	read_choices(w);
	assert_int_equal(state_of(w, "a"), CHOICE_LANDS);
	land_choices(w);
	assert_string_equal(text_at(mine(w), "a"), "0\n2\n4\n");
	expect_kept(w, "a", "0\n2\n4\n");
}

/* A conflict that was decided is one again when it is undone; others are not. */
static void what_was_decided_is_noted(void **state)
{
	_cleanup_basis_ struct basis decided = BASIS_INIT;
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_at(mine(w), "a", "mine\n");
	put_at(theirs(w), "a", "theirs\n");
	put_at(theirs(w), "b", "b\n");
	origin_is(&w->lead, "a", "old\n", 0644);
	read_with_origins(w);
	decide(w, "a", CHOICE_THEIRS_SIDE);
	land_choices(w);
	assert_int_equal(basis_read_decided(w->choices.session, &decided, &e), 0);
	assert_int_equal(decided.count, 1);
	assert_true(basis_same(&known_at(&decided, "a")->object, &choice_at(w, "a")->lands));
}

/* What is kept counts as landed, and can be taken back; what is left of it does not. */
static void what_is_kept_is_noted(void **state)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT;
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_at(theirs(w), "a", "a\n");
	put_at(theirs(w), "b", "b\n");
	put_at(theirs(w), "c", "c\n");
	read_choices(w);
	for (size_t i = 0; i < 3; i++)
		w->choices.items[i].state = CHOICE_KEPT;
	assert_false(choices_leave_something(&w->choices));
	choice_at(w, "b")->rest = true;
	assert_true(choices_leave_something(&w->choices));
	choice_at(w, "c")->state = CHOICE_LEFT;
	assert_int_equal(choices_rebase(&w->choices, 7, &e), 0);
	assert_non_null(basis_find(&w->choices.basis, "a"));
	assert_null(basis_find(&w->choices.basis, "b"));
	assert_null(basis_find(&w->choices.basis, "c"));
	assert_int_equal(basis_read_stayed(w->choices.session, &stayed, &e), 0);
	assert_int_equal(stayed.count, 1);
	assert_non_null(basis_find(&stayed, "7/is/a"));
}

static void what_leaves_something(void **state)
{
	static const struct {
		enum choice_state state;
		enum object_type type;
		bool leaves;
	} rows[] = {
		{CHOICE_LANDS, OBJECT_FILE, false},   {CHOICE_SETTLED, OBJECT_FILE, false},
		{CHOICE_LEFT, OBJECT_FILE, true},     {CHOICE_OURS, OBJECT_FILE, true},
		{CHOICE_CONFLICT, OBJECT_FILE, true}, {CHOICE_HELD, OBJECT_FILE, true},
		{CHOICE_KEPT, OBJECT_FILE, false},    {CHOICE_DROPPED, OBJECT_FIFO, false},
		{CHOICE_DROPPED, OBJECT_FILE, true},  {CHOICE_DROPPED, OBJECT_DIR, true},
		{CHOICE_DROPPED, OBJECT_LINK, true},  {CHOICE_DROPPED, OBJECT_ABSENT, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct change change = {.path = "p", .after.type = rows[i].type};
		struct choice x = {.state = rows[i].state, .change = &change};
		const struct choices c = {.items = &x, .count = 1};

		assert_int_equal(choices_leave_something(&c), rows[i].leaves);
	}
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		ONE(nothing_lands_in_a_folder_that_does_not),
		ONE(a_folder_that_was_kept_keeps_what_is_in_it),
		ONE(a_pick_calls_the_conflict_above_it),
		ONE(a_conflict_calls_the_one_above_it),
		cmocka_unit_test(what_is_passed_is_remembered),
		ONE(a_removed_folder_stays_with_what_stays),
		ONE(a_folder_stays_with_what_the_user_made_again),
		ONE(a_new_file_keeps_no_folder),
		ONE(a_folder_that_the_user_removed_comes_back),
		ONE(a_new_folder_stays_with_all_that_is_in_it),
		ONE(what_it_needs_must_land),
		ONE(lines_are_counted),
		ONE(masked_bits_do_not_land),
		ONE(a_rename_is_two_steps),
		ONE(what_lands_beside_makes_its_folders_once),
		ONE(what_lands_in_part_leaves_the_rest),
		ONE(what_was_decided_is_noted),
		ONE(what_is_kept_is_noted),
		cmocka_unit_test(what_leaves_something),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
