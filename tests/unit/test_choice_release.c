/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is held lands only by its own name: a file by its path, a version that only a commit has by
 * PATH@OBJECT, a ref by its path or once all that it brings is released.  A name that could mean
 * two things releases neither.  And of a session with a branch of its own only that branch lands.
 */
#include "cmocka_lead.h"

#include "choice_lead.h"

#include <errno.h>

#define FIRST "1111111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SECOND "1111111bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define REF ".git/refs/heads/main"
#define LOG ".git/logs/refs/heads/main"

/* A held file, another one, and a ref with its log, which brings `brings`. */
static void hold_all(struct world *w, struct brought *brings, size_t count)
{
	static const char *const held[] = {"run", "dir/run", REF, LOG};

	put_at(theirs(w), "run", "run\n");
	file_at(theirs(w), "dir/run", "dir/run\n");
	put_at(theirs(w), "plain", "plain\n");
	file_at(mine(w), ".git/refs/heads/x", "x\n");
	file_at(theirs(w), REF, FIRST "\n");
	file_at(theirs(w), LOG, "log\n");
	read_choices(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(held); i++) {
		choice_at(w, held[i])->state = CHOICE_HELD;
		choice_at(w, held[i])->change->group = CHANGE_HELD;
	}
	choice_at(w, REF)->change->brings = brings;
	choice_at(w, REF)->change->brings_count = count;
	choice_at(w, LOG)->change->with = REF;
}

static int release(struct world *w, const char *name)
{
	char copy[128];
	char *names[] = {copy};
	struct error e = ERROR_INIT;

	(void)snprintf(copy, sizeof(copy), "%s", name);
	const struct pathspecs specs = specs_of(w, names, 1);

	return choices_release(&w->choices, &specs, &e);
}

static bool is_held(const struct world *w, const char *path)
{
	const struct choice *x = choice_at(w, path);

	assert_int_equal(x->released, x->state != CHOICE_HELD);
	return x->state == CHOICE_HELD;
}

static void a_file_is_released_by_its_own_path(void **state)
{
	struct world *w = *state;

	hold_all(w, NULL, 0);
	/* It may be held once it is known what lands.  Here it is not. */
	assert_int_equal(release(w, "plain"), 0);
	assert_int_equal(choices_check_ahead(&w->choices, &(struct error){.code = 0}), -ENOENT);
	assert_false(choice_at(w, "plain")->released);
	assert_int_equal(release(w, "nothing"), -ENOENT);
	/* A folder releases what was shown, and nothing was. */
	assert_int_equal(release(w, "dir"), -ENODATA);
	assert_int_equal(release(w, "."), -ENOENT);
	assert_int_equal(release(w, "ru*"), -ENOENT);
	assert_true(is_held(w, "run") && is_held(w, "dir/run") && is_held(w, REF));
	assert_int_equal(release(w, "run"), 0);
	assert_false(is_held(w, "run"));
	assert_true(is_held(w, "dir/run") && is_held(w, REF) && is_held(w, LOG));
	assert_false(choice_at(w, "plain")->released);
}

/* With it what goes with it. */
/* Written down as shown, as it is now. */
static void show(struct world *w, const char *path)
{
	_cleanup_basis_ struct basis seen = BASIS_INIT;
	struct error e = ERROR_INIT;

	assert_int_equal(basis_read_seen(w->choices.session, &seen, &e), 0);
	assert_int_equal(basis_set(&seen, path, &choice_at(w, path)->change->after), 0);
	assert_int_equal(basis_write_seen(w->choices.session, &seen, &e), 0);
}

static void a_folder_and_a_rule_release_what_was_shown(void **state)
{
	struct world *w = *state;

	hold_all(w, NULL, 0);
	choice_at(w, "run")->change->rule = "some";
	choice_at(w, "dir/run")->change->rule = "some";
	assert_int_equal(release(w, "some"), -ENODATA);
	show(w, "dir/run");
	assert_int_equal(release(w, "some"), 0);
	assert_true(is_held(w, "run") && !is_held(w, "dir/run"));
	/* A rule's name that is a path of the session's means neither. */
	choice_at(w, "run")->change->rule = "plain";
	show(w, "run");
	assert_int_equal(release(w, "plain"), -EINVAL);
	assert_true(is_held(w, "run"));
	/* What changed since it was shown stays. */
	choice_at(w, "run")->change->rule = "other";
	choice_at(w, "run")->change->after.digest[0] ^= 1;
	assert_int_equal(release(w, "other"), -ENODATA);
	choice_at(w, "run")->change->after.digest[0] ^= 1;
	assert_int_equal(release(w, "other"), 0);
	assert_false(is_held(w, "run"));
}

/* What lands as one thing: no part by itself, and all of it only where all of it was shown. */
static void one_thing_is_released_as_one(void **state)
{
	struct world *w = *state;

	hold_all(w, NULL, 0);
	choice_at(w, "run")->change->rule = "some";
	choice_at(w, "dir/run")->change->with = "run";
	choice_at(w, "dir/run")->change->part = true;
	assert_int_equal(release(w, "dir/run"), -ENOENT);
	assert_int_equal(release(w, "dir"), -ENOENT);
	show(w, "run");
	assert_int_equal(release(w, "some"), -ENODATA);
	show(w, "dir/run");
	assert_int_equal(release(w, "some"), 0);
	assert_true(!is_held(w, "run") && !is_held(w, "dir/run") && is_held(w, REF));
}

/* What is left out lands when it is named. */
static void what_is_left_out_is_released_by_its_path(void **state)
{
	struct world *w = *state;

	hold_all(w, NULL, 0);
	choice_at(w, "plain")->state = CHOICE_LEAVE;
	choice_at(w, "plain")->change->group = CHANGE_LEAVE;
	assert_int_equal(release(w, "plain"), 0);
	assert_int_equal(choice_at(w, "plain")->state, CHOICE_LANDS);
}

static void a_ref_is_released_by_its_own_path(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST}};
	struct world *w = *state;

	hold_all(w, brings, 1);
	assert_int_equal(release(w, REF), 0);
	assert_false(is_held(w, REF));
	assert_false(is_held(w, LOG));
	assert_true(is_held(w, "run"));
}

/* Who released what the file says released the version of a commit that is the same. */
static void a_ref_lands_once_all_that_it_brings_is_released(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST, .seen = true},
				   {.path = "dir/run", .object = SECOND, .seen = true}};
	struct world *w = *state;

	hold_all(w, brings, 2);
	assert_int_equal(release(w, "run"), 0);
	assert_true(brings[0].released);
	assert_false(brings[1].released);
	assert_true(is_held(w, REF) && is_held(w, LOG) && is_held(w, "dir/run"));
	assert_int_equal(release(w, "dir/run"), 0);
	assert_false(is_held(w, REF));
	assert_false(is_held(w, LOG));
}

/* In whatever order, and if it is one alone. */
static void a_ref_waits_for_the_first_of_what_it_brings(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST, .seen = true},
				   {.path = "dir/run", .object = SECOND, .seen = true}};
	struct world *w = *state;

	hold_all(w, brings, 2);
	assert_int_equal(release(w, "dir/run"), 0);
	assert_true(is_held(w, REF) && is_held(w, "run"));
	choice_at(w, REF)->change->brings_count = 1;
	assert_int_equal(release(w, "run"), 0);
	assert_false(is_held(w, REF));
}

/* A version that the file has not is not released by the file. */
static void another_version_is_released_by_its_object(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST},
				   {.path = "run", .object = "", .removed = true}};
	struct world *w = *state;

	hold_all(w, brings, 2);
	assert_int_equal(release(w, "run"), 0);
	assert_false(is_held(w, "run"));
	assert_true(is_held(w, REF));
	assert_int_equal(release(w, "run@111111"), -ENOENT); /* too short */
	assert_int_equal(release(w, "run@2222222"), -ENOENT);
	assert_int_equal(release(w, "dir/run@1111111"), -ENOENT);
	assert_int_equal(release(w, "run1111111"), -ENOENT);
	assert_false(brings[0].released || brings[1].released);
	assert_int_equal(release(w, "run@1111111"), 0);
	assert_true(brings[0].released);
	assert_true(is_held(w, REF));
	assert_int_equal(release(w, "run@removed"), 0);
	assert_false(is_held(w, REF));
}

static void a_file_that_is_in_no_tree_is_named_with_its_version(void **state)
{
	struct brought brings[] = {{.path = "gone", .object = FIRST}};
	struct world *w = *state;

	hold_all(w, brings, 1);
	assert_int_equal(release(w, "gone"), -ENOENT);
	assert_true(is_held(w, REF));
}

static void a_name_of_two_things_releases_neither(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST},
				   {.path = "run", .object = SECOND}};
	struct world *w = *state;

	hold_all(w, brings, 2);
	assert_int_equal(release(w, "run@1111111"), -EINVAL);
	assert_int_equal(release(w, "run@1111111a"), 0);
	assert_true(brings[0].released);
	assert_false(brings[1].released);
	/* A file of the session's is called so as well. */
	put_at(theirs(w), "run@1111111b", "trap\n");
	hold_all(w, brings, 2);
	brings[0].released = false;
	assert_int_equal(release(w, "run@1111111b"), -EINVAL);
	assert_false(brings[1].released);
	/* Or one that a commit brings. */
	brings[0].path = "run@1111111bb";
	assert_int_equal(release(w, "run@1111111bb"), -EINVAL);
	assert_true(is_held(w, REF));
}

/* What is not held brings nothing that could be released. */
static void only_what_is_held_is_released(void **state)
{
	struct brought brings[] = {{.path = "run", .object = FIRST, .seen = true}};
	struct world *w = *state;

	hold_all(w, brings, 1);
	choice_at(w, REF)->change->group = CHANGE_FLAGGED;
	choice_at(w, REF)->state = CHOICE_LEFT;
	assert_int_equal(release(w, "run"), 0);
	assert_false(brings[0].released);
	assert_int_equal(state_of(w, REF), CHOICE_LEFT);
}

/* --- a branch of its own ------------------------------------------------------------------ */

static void put_branch(struct world *w)
{
	(void)snprintf(w->lead.review.session.branch, sizeof(w->lead.review.session.branch),
		       "bawn/x");
	file_at(mine(w), ".git/refs/heads/main", FIRST "\n");
	put_at(theirs(w), "file", "file\n");
	file_at(theirs(w), ".git/refs/heads/main", SECOND "\n");
	file_at(theirs(w), ".git/refs/heads/bawn/x", SECOND "\n");
	file_at(theirs(w), ".git/logs/refs/heads/bawn/x", "log\n");
	file_at(theirs(w), ".git/logs/HEAD", "log\n");
	file_at(theirs(w), ".git/objects/11/11111bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "o\n");
	file_at(theirs(w), ".git/packed-refs", SECOND " refs/heads/main\n");
	read_choices(w);
	for (size_t i = 0; i < w->choices.count; i++)
		w->choices.items[i].state = CHOICE_LANDS;
}

static void only_the_branch_lands(void **state)
{
	static const char *const land_alone[] = {
		".git/refs/heads/bawn/x", ".git/logs/refs/heads/bawn/x",
		".git/objects/11/11111bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"};
	static const char *const stay[] = {"file", ".git/refs/heads/main", ".git/logs/HEAD",
					   ".git/packed-refs"};
	struct world *w = *state;

	put_branch(w);
	choices_pick_branch(&w->choices);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(land_alone); i++)
		assert_int_equal(state_of(w, land_alone[i]), CHOICE_LANDS);
	/* And the folder of the object.  Others land with what is in them: choices_settle. */
	assert_int_equal(choices_in(&w->choices, CHOICE_LANDS), BAWN_ARRAY_SIZE(land_alone) + 1);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(stay); i++) {
		assert_int_equal(state_of(w, stay[i]), CHOICE_LEFT);
		assert_string_equal(choice_at(w, stay[i])->why, "it is not part of the branch");
	}
}

/* What git packed in the box has the branch in that one file. */
static void a_packed_branch_lands_with_its_file(void **state)
{
	struct world *w = *state;

	put_branch(w);
	assert_int_equal(unlinkat(theirs(w), ".git/refs/heads/bawn/x", 0), 0);
	choices_pick_branch(&w->choices);
	assert_int_equal(state_of(w, ".git/packed-refs"), CHOICE_LANDS);
	assert_int_equal(state_of(w, "file"), CHOICE_LEFT);
}

static void a_session_without_a_branch_lands_whole(void **state)
{
	struct world *w = *state;

	put_branch(w);
	w->lead.review.session.branch[0] = '\0';
	choice_at(w, "file")->state = CHOICE_SETTLED;
	choices_pick_branch(&w->choices);
	assert_int_equal(choices_in(&w->choices, CHOICE_LANDS), w->choices.count - 1);
	/* What is settled is not left. */
	w->lead.review.session.branch[0] = 'b';
	choices_pick_branch(&w->choices);
	assert_int_equal(state_of(w, "file"), CHOICE_SETTLED);
}

/* Of a session with a branch of its own a file does not land because it is released. */
static void a_file_beside_the_branch_is_not_released(void **state)
{
	struct world *w = *state;

	hold_all(w, NULL, 0);
	(void)snprintf(w->lead.review.session.branch, sizeof(w->lead.review.session.branch), "b");
	choice_pass(choice_at(w, "run"), NULL);
	assert_int_equal(release(w, "run"), 0);
	assert_int_equal(state_of(w, "run"), CHOICE_LEFT);
	assert_int_equal(release(w, "dir/run"), 0);
	assert_int_equal(state_of(w, "dir/run"), CHOICE_LANDS);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		ONE(a_file_is_released_by_its_own_path),
		ONE(a_folder_and_a_rule_release_what_was_shown),
		ONE(one_thing_is_released_as_one),
		ONE(what_is_left_out_is_released_by_its_path),
		ONE(a_ref_is_released_by_its_own_path),
		ONE(a_ref_lands_once_all_that_it_brings_is_released),
		ONE(a_ref_waits_for_the_first_of_what_it_brings),
		ONE(another_version_is_released_by_its_object),
		ONE(a_file_that_is_in_no_tree_is_named_with_its_version),
		ONE(a_name_of_two_things_releases_neither),
		ONE(only_what_is_held_is_released),
		ONE(only_the_branch_lands),
		ONE(a_packed_branch_lands_with_its_file),
		ONE(a_session_without_a_branch_lands_whole),
		ONE(a_file_beside_the_branch_is_not_released),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
