/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises about the order in which the processes of the box take their steps: what a step needs is
 * behind it, and a row that is moved past what it needs, or past what needs it, is found.
 */
#include "cmocka_lead.h"

#include "init.h"
#include "job.h"
#include "launch.h"
#include "str.h"

enum { STEPS_MAX = 64 };

struct table {
	const char *name;
	const struct step *steps;
	const size_t *count;
};

static const struct table tables[] = {
	{"launcher", launch_steps, &launch_step_count},
	{"init", init_steps, &init_step_count},
	{"command", job_steps, &job_step_count},
};

static size_t place_of(const struct step *steps, size_t count, const char *name)
{
	size_t at = 0;

	while (at < count && !str_equal(steps[at].name, name))
		at++;
	return at;
}

/* The first step that is taken before one that it needs; or NULL. */
static const char *too_early(const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; steps[i].needs[n]; n++)
			if (place_of(steps, count, steps[i].needs[n]) >= i)
				return steps[i].name;
	return NULL;
}

static void what_a_step_needs_is_behind_it(void **state)
{
	(void)state;
	for (size_t t = 0; t < BAWN_ARRAY_SIZE(tables); t++) {
		const char *name = too_early(tables[t].steps, *tables[t].count);

		if (name)
			fail_msg("the %s takes the step %s too early", tables[t].name, name);
	}
}

static void a_step_has_a_name_of_its_own_and_does_something(void **state)
{
	(void)state;
	for (size_t t = 0; t < BAWN_ARRAY_SIZE(tables); t++) {
		const struct step *steps = tables[t].steps;
		size_t count = *tables[t].count;

		assert_in_range(count, 1, STEPS_MAX);
		for (size_t i = 0; i < count; i++) {
			assert_non_null(steps[i].take);
			assert_true(steps[i].layer <= STEP_ALWAYS);
			assert_int_equal(place_of(steps, count, steps[i].name), i);
			assert_null(steps[i].needs[STEP_NEEDS_MAX]);
		}
	}
}

/* Whether a table with row `from` moved to `to` is refused. */
static bool refuses_move(const struct table *t, size_t from, size_t to)
{
	struct step moved[STEPS_MAX];
	size_t count = *t->count;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (i != from)
			moved[n++] = t->steps[i];
	memmove(moved + to + 1, moved + to, (count - 1 - to) * sizeof(*moved));
	moved[to] = t->steps[from];
	return too_early(moved, count) != NULL;
}

/* What is given up for good, and what leads up to it: none of these two changes places. */
static void what_is_given_up_has_its_place(void **state)
{
	static const struct {
		const char *earlier, *later;
	} fixed[] = {
		{"ids", "nested-off"},
		{"nested-off", "new-root"},
		{"shares", "new-root"},
		{"apart", "sources"},
		{"sources", "new-root"},
		{"trust", "mounts"},
		{"new-root", "mounts"},
		{"mounts", "proc-masks"},
		{"proc-masks", "enter"},
		{"capture", "descriptors"},
		{"sockets", "descriptors"},
		{"enter", "landlock"},
		{"no-new-privs", "landlock"},
		{"no-new-privs", "seccomp"},
		{"capabilities-first", "seccomp"},
		{"descriptors", "seccomp"},
		{"landlock", "seccomp"},
		{"seccomp", "capabilities"},
		{"capabilities", "hide"},
	};
	const struct table *t = &tables[0];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fixed); i++) {
		size_t earlier = place_of(t->steps, *t->count, fixed[i].earlier);
		size_t later = place_of(t->steps, *t->count, fixed[i].later);

		assert_true(earlier < later && later < *t->count);
		if (!refuses_move(t, earlier, later) || !refuses_move(t, later, earlier))
			fail_msg("%s and %s can change places", fixed[i].earlier, fixed[i].later);
	}
}

/* The command's exec is the last thing, and so is hiding the launcher's. */
static void the_last_step_is_the_last(void **state)
{
	(void)state;
	assert_string_equal(launch_steps[launch_step_count - 1].name, "hide");
	assert_string_equal(job_steps[job_step_count - 1].name, "program");
}

/* --- the loop that takes them ---------------------------------------------------------- */

static int take_one(void *context, struct error *e)
{
	char *taken = context;

	(void)e;
	taken[strlen(taken)] = '1';
	return 0;
}

static int take_none(void *context, struct error *e)
{
	(void)context;
	(void)e;
	return -EBUSY;
}

static int take_and_say(void *context, struct error *e)
{
	(void)context;
	return error_set(e, -EPERM, "a sentence of its own");
}

static void the_first_that_fails_ends_it_and_is_named(void **state)
{
	static const struct step quiet[] = {{"one", STEP_ALWAYS, take_one, {NULL}},
					    {"two", STEP_ALWAYS, take_none, {NULL}},
					    {"three", STEP_ALWAYS, take_one, {NULL}}};
	static const struct step said[] = {{"one", STEP_ALWAYS, take_and_say, {NULL}}};
	const struct plan plan = {.cwd = "/"};
	struct error e = ERROR_INIT;
	char taken[8] = "";

	(void)state;
	assert_int_equal(steps_take(quiet, BAWN_ARRAY_SIZE(quiet), &plan, taken, &e), -EBUSY);
	assert_string_equal(taken, "1");
	assert_true(strncmp(e.text, "two: ", 5) == 0);
	e = ERROR_INIT;
	assert_int_equal(steps_take(said, 1, &plan, taken, &e), -EPERM);
	assert_string_equal(e.text, "a sentence of its own");
}

static void a_layer_that_the_plan_goes_without_is_left_out(void **state)
{
	static const struct step steps[] = {{"one", PLAN_LAYER_CAPS, take_none, {NULL}},
					    {"two", PLAN_LAYER_FDS, take_one, {NULL}}};
	struct plan_without without = {.layer = PLAN_LAYER_CAPS};
	const struct plan plan = {.cwd = "/", .without = {&without, 1}};
	struct error e = ERROR_INIT;
	char taken[8] = "";

	(void)state;
	assert_int_equal(steps_take(steps, BAWN_ARRAY_SIZE(steps), &plan, taken, &e), 0);
	assert_string_equal(taken, "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_step_needs_is_behind_it),
		cmocka_unit_test(a_step_has_a_name_of_its_own_and_does_something),
		cmocka_unit_test(what_is_given_up_has_its_place),
		cmocka_unit_test(the_last_step_is_the_last),
		cmocka_unit_test(the_first_that_fails_ends_it_and_is_named),
		cmocka_unit_test(a_layer_that_the_plan_goes_without_is_left_out),
	};

	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
