/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that the session moved to a held name is deleted only with what is held: else its only
 * copy could go.  Where it went is followed through every rename, and no other deletion waits.
 */
#include "cmocka_lead.h"

#include "first_lead.h"

#include "moved.h"

#include <errno.h>

static const char hook[] = "hooks/run";

struct world {
	struct first_lead lead;
	struct change items[3];
	struct changes changes;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	lead_open(&w->lead);
	/* Sorted by path: what is held, what is deleted. */
	w->items[0] = (struct change){.path = hook,
				      .kind = CHANGE_ADDED,
				      .group = CHANGE_HELD,
				      .rule = "hooks",
				      .after = {.type = OBJECT_FILE}};
	w->items[1] = (struct change){
		.path = "src/a", .kind = CHANGE_DELETED, .before = {.type = OBJECT_FILE}};
	/* Something else is held in any case. */
	w->items[2] = (struct change){
		.path = "zz", .kind = CHANGE_ADDED, .group = CHANGE_HELD, .rule = "other"};
	w->changes = (struct changes){.arena = ARENA_INIT(1 << 20), .items = w->items, .count = 3};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	arena_fini(&w->changes.arena);
	lead_close(&w->lead);
	free(w);
	return 0;
}

static void enter(struct world *w, unsigned int kind, unsigned int flags, const char *path,
		  const char *to)
{
	const struct first_entry e = {
		.kind = kind, .flags = flags, .path = path, .text = to ? to : ""};

	lead_put(&w->lead, &e);
}

static void stood(struct world *w, const char *path)
{
	enter(w, FIRST_FILE, 0, path, NULL);
}

static void move(struct world *w, const char *from, const char *to)
{
	enter(w, FIRST_MOVED, 0, from, to);
}

static bool waits(struct world *w)
{
	struct error e = ERROR_INIT;
	struct change *x = &w->items[1];
	const unsigned int before = x->group;

	if (moved_hold(w->lead.session, &w->changes, &e) < 0)
		fail_msg("%s", e.text);
	if (x->moved) {
		assert_int_equal(x->group, CHANGE_HELD);
		assert_string_equal(x->with, hook);
		assert_string_equal(x->rule, "hooks");
		assert_non_null(strstr(x->why, hook));
	} else {
		assert_int_equal(x->group, before);
		assert_null(x->with);
	}
	assert_int_equal(w->items[0].group, CHANGE_HELD);
	assert_false(w->items[0].moved);
	return x->moved;
}

static void test_moved(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src/a", hook);
	assert_true(waits(w));
}

static void test_deleted(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src/b", hook);
	assert_false(waits(w));
}

static void test_moved_elsewhere(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src/a", "src/b");
	assert_false(waits(w));
}

static void test_moved_step_by_step(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src/a", "tmp/x");
	move(w, "src/a", "other"); /* nothing is there any more */
	move(w, "tmp/x", "y");
	move(w, "y", hook);
	assert_true(waits(w));
}

static void test_moved_with_its_folders(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src/a", "src/run");
	move(w, "src", "deep/down/d");
	move(w, "deep/down", "up");
	move(w, "up/d", "hooks");
	assert_true(waits(w));
}

/* What was moved before the file was written down was another one. */
static void test_moved_before(void **state)
{
	struct world *w = *state;

	move(w, "src/a", hook);
	stood(w, "src/a");
	assert_false(waits(w));
}

static void test_exchanged(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	enter(w, FIRST_MOVED, FIRST_EXCHANGED, "src/a", hook);
	assert_false(waits(w));
}

/* Nothing goes into itself; and what goes to a name that begins alike does. */
static void test_into_itself(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	move(w, "src", "src/d");
	move(w, "src", "src");
	move(w, "src", "src2");
	move(w, "src2/a", hook);
	assert_true(waits(w));
}

/* A rename may have failed: what is at the new name is not forgotten, nor what is beneath it. */
static void test_onto_something(void **state)
{
	struct world *w = *state;

	stood(w, "src/a");
	stood(w, "lib/a");
	move(w, "lib", "src");
	move(w, "src/a", hook);
	assert_true(waits(w));
}

static void test_what_cannot_wait(void **state)
{
	static const struct {
		unsigned int held_group, held_type, kind, type, group;
	} rows[] = {
		{CHANGE_ORDINARY, OBJECT_FILE, CHANGE_DELETED, OBJECT_FILE, CHANGE_ORDINARY},
		{CHANGE_FLAGGED, OBJECT_FILE, CHANGE_DELETED, OBJECT_FILE, CHANGE_ORDINARY},
		{CHANGE_HELD, OBJECT_DIR, CHANGE_DELETED, OBJECT_FILE, CHANGE_ORDINARY},
		{CHANGE_HELD, OBJECT_FILE, CHANGE_CHANGED, OBJECT_FILE, CHANGE_ORDINARY},
		{CHANGE_HELD, OBJECT_FILE, CHANGE_DELETED, OBJECT_DIR, CHANGE_ORDINARY},
		{CHANGE_HELD, OBJECT_FILE, CHANGE_DELETED, OBJECT_FILE, CHANGE_DROPPED},
		{CHANGE_HELD, OBJECT_FILE, CHANGE_DELETED, OBJECT_FILE, CHANGE_HELD},
	};
	struct world *w = *state;
	struct error e = ERROR_INIT;

	stood(w, "src/a");
	move(w, "src/a", hook);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		w->items[0].group = rows[i].held_group;
		w->items[0].after.type = rows[i].held_type;
		w->items[1].kind = rows[i].kind;
		w->items[1].before.type = rows[i].type;
		w->items[1].group = rows[i].group;
		assert_int_equal(moved_hold(w->lead.session, &w->changes, &e), 0);
		assert_false(w->items[1].moved);
		assert_int_equal(w->items[1].group, rows[i].group);
	}
	/* One that is flagged waits like any other. */
	w->items[0].group = CHANGE_HELD;
	w->items[1].group = CHANGE_FLAGGED;
	assert_true(waits(w));
}

static void test_nothing_was_kept(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	assert_false(waits(w));
	assert_int_equal(moved_hold(-1, &w->changes, &e), 0);
	assert_int_equal(unlinkat(w->lead.first, "index", 0), 0);
	assert_int_equal(unlinkat(w->lead.first, "data", 0), 0);
	assert_int_equal(unlinkat(w->lead.session, "first", AT_REMOVEDIR), 0);
	assert_false(waits(w));
	/* What cannot be read is not taken for nothing. */
	put_at(w->lead.session, "first", "no folder");
	assert_int_equal(moved_hold(w->lead.session, &w->changes, &e), -ENOTDIR);
	assert_int_equal(e.code, -ENOTDIR);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_moved),
		ONE(test_deleted),
		ONE(test_moved_elsewhere),
		ONE(test_moved_step_by_step),
		ONE(test_moved_with_its_folders),
		ONE(test_moved_before),
		ONE(test_exchanged),
		ONE(test_into_itself),
		ONE(test_onto_something),
		ONE(test_what_cannot_wait),
		ONE(test_nothing_was_kept),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
