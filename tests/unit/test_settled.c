/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which changes are no longer the session's doing, and of which the user has his own since: a
 * wrong answer hides a change, or says of the user's that it is the session's.
 */
#include "cmocka_lead.h"

#include "first_lead.h"

#include "basis.h"
#include "settled.h"

#include <errno.h>

enum { BEGAN = 1000 };

struct world {
	struct first_lead lead;
	struct basis basis;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	lead_open(&w->lead);
	w->basis = BASIS_INIT;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	basis_fini(&w->basis);
	lead_close(&w->lead);
	free(w);
	return 0;
}

static struct object object(unsigned int type, uint8_t digest)
{
	return (struct object){.type = type,
			       .mode = type == OBJECT_ABSENT ? 0 : 0644,
			       .size = type == OBJECT_FILE ? 4 : 0,
			       .ctime = BEGAN + 1,
			       .layer = -1,
			       .hashed = type == OBJECT_FILE,
			       .digest = {digest}};
}

static struct change change(const char *path, struct object before, struct object after)
{
	return (struct change){
		.path = path, .kind = CHANGE_CHANGED, .before = before, .after = after};
}

static void origin(struct world *w, const char *path, struct object o)
{
	struct error e = ERROR_INIT;

	assert_int_equal(basis_set(&w->basis, path, &o), 0);
	assert_int_equal(basis_write(w->lead.session, &w->basis, &e), 0);
}

/* How many are left. */
static size_t drop(struct world *w, struct change *items, size_t count)
{
	const struct view view = {.base = w->lead.tree};
	const struct layers_session session = {.name = LEAD_SESSION, .began = BEGAN};
	struct changes c = {.items = items, .count = count};
	struct review r = REVIEW_INIT;
	struct error e = ERROR_INIT;
	struct branch_strays strays;

	r.layers = w->lead.layers;
	r.tree = w->lead.tree;
	if (settled_drop(&r, &session, &view, &c, &strays, &e) < 0)
		fail_msg("%s", e.text);
	return c.count;
}

static void test_what_landed(void **state)
{
	struct world *w = *state;
	const struct object one = object(OBJECT_FILE, 1), two = object(OBJECT_FILE, 2),
			    three = object(OBJECT_FILE, 3), none = object(OBJECT_ABSENT, 0);
	struct object closed = two, early = three;

	closed.mode = 0600;
	early.ctime = BEGAN;
	const struct {
		struct object origin, before, after;
		bool left, both;
	} rows[] = {
		/* It landed, and the user may do with it what he likes. */
		{two, two, two, false, false},
		{two, three, two, false, false},
		{two, none, two, false, false},
		{none, three, none, false, false},
		/* The session has another one; the user has not, or has. */
		{one, one, two, true, false},
		{one, three, two, true, true},
		{one, none, two, true, true},
		{none, none, two, true, false},
		{none, three, two, true, true},
		{one, one, none, true, false},
		{one, three, none, true, true},
		/* Its mode alone. */
		{two, two, closed, true, false},
		/* Since before the session began it is not the user's doing meanwhile. */
		{one, early, two, true, false},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct change c = change("a", rows[i].before, rows[i].after);

		origin(w, "a", rows[i].origin);
		size_t left = drop(w, &c, 1);

		if (left != rows[i].left || c.both != rows[i].both)
			fail_msg("row %zu: left %zu, both %d", i, left, c.both);
	}
}

/* Of something else, and of what is renamed, the entry says nothing. */
static void test_what_did_not(void **state)
{
	struct world *w = *state;
	const struct object one = object(OBJECT_FILE, 1), two = object(OBJECT_FILE, 2);
	struct change other = change("b", one, two), renamed = change("a", one, two);

	renamed.kind = CHANGE_RENAMED;
	origin(w, "a", two);
	assert_int_equal(drop(w, &other, 1), 1);
	assert_int_equal(drop(w, &renamed, 1), 1);
	renamed.kind = CHANGE_CHANGED;
	assert_int_equal(drop(w, &renamed, 1), 0);
}

/* Those that are left keep their order and their place. */
static void test_some_of_many(void **state)
{
	struct world *w = *state;
	const struct object one = object(OBJECT_FILE, 1), two = object(OBJECT_FILE, 2);
	struct change all[] = {change("a", one, two), change("b", one, two), change("c", one, two),
			       change("d", one, two)};

	origin(w, "a", two);
	origin(w, "c", two);
	assert_int_equal(drop(w, all, BAWN_ARRAY_SIZE(all)), 2);
	assert_string_equal(all[0].path, "b");
	assert_string_equal(all[1].path, "d");
	assert_int_equal(drop(w, NULL, 0), 0);
}

/* What the recorder kept says it too, and where both do the later one counts. */
static void test_what_was_found(void **state)
{
	struct world *w = *state;
	struct object now;
	const struct view view = {.base = w->lead.tree};

	put_at(w->lead.tree, "a", "text");
	lead_keep(&w->lead, "a");
	assert_int_equal(view_look_hashed(&view, "a", &now), 0);
	struct change c = change("a", now, now);

	assert_int_equal(drop(w, &c, 1), 0);
	c.after.digest[0] ^= 1;
	assert_int_equal(drop(w, &c, 1), 1);
	/* Without digests they are made, where the size could be the same. */
	c.after = now;
	c.after.hashed = false;
	assert_int_equal(drop(w, &c, 1), 0);
	c.after.size++;
	c.after.hashed = false;
	assert_int_equal(drop(w, &c, 1), 1);
	assert_false(c.after.hashed);
	/* The user has it as the session found it. */
	c.before.hashed = false;
	assert_int_equal(drop(w, &c, 1), 1);
	assert_false(c.both);
	c.after = now;
	origin(w, "a", object(OBJECT_FILE, 7));
	assert_int_equal(drop(w, &c, 1), 1);
}

static void test_folders(void **state)
{
	struct world *w = *state;
	const struct object dir = object(OBJECT_DIR, 0), file = object(OBJECT_FILE, 1);
	struct change same = change("d", dir, dir), made = change("d", file, dir);

	/* It came into the layer with something in it. */
	assert_int_equal(drop(w, &same, 1), 0);
	assert_int_equal(drop(w, &made, 1), 1);
}

#define OBJECT_PATH ".git/objects/aa/11111111111111111111111111111111111111"

static void test_pruned(void **state)
{
	const struct object one = object(OBJECT_FILE, 1), none = object(OBJECT_ABSENT, 0);
	struct change c = change(OBJECT_PATH, none, one);
	struct change there = change(OBJECT_PATH, one, one), file = change("a", none, one);
	struct change linked = change(OBJECT_PATH, none, object(OBJECT_LINK, 1));

	(void)state;
	assert_true(settled_mark_pruned(&c, &one));
	assert_true(c.pruned);
	assert_false(settled_builds(&c));
	assert_false(settled_mark_pruned(&c, &none)); /* the session made it */
	assert_false(c.pruned);
	assert_true(settled_builds(&c));
	assert_false(settled_mark_pruned(&there, &one));
	assert_false(settled_mark_pruned(&file, &one));
	assert_false(settled_builds(&file));
	assert_false(settled_mark_pruned(&linked, &one));
}

/* What was pruned lands again only where something of git's builds on it. */
static void test_pruned_with_others(void **state)
{
	struct world *w = *state;
	const struct object one = object(OBJECT_FILE, 1), two = object(OBJECT_FILE, 2),
			    none = object(OBJECT_ABSENT, 0);

	origin(w, OBJECT_PATH, one);
	struct change with[] = {change(OBJECT_PATH, none, one),
				change(".git/refs/heads/main", one, two)};
	struct change without[] = {change(OBJECT_PATH, none, one), change("a", one, two)};

	assert_int_equal(drop(w, with, 2), 2);
	assert_true(with[0].pruned);
	assert_int_equal(drop(w, without, 2), 1);
	assert_string_equal(without[0].path, "a");
}

static void test_no_session(void **state)
{
	struct world *w = *state;
	const struct layers_session session = {.name = "other"};
	struct changes c = {.count = 0};
	struct review r = REVIEW_INIT;
	struct error e = ERROR_INIT;
	const struct view view = VIEW_INIT;
	struct branch_strays strays;

	r.layers = w->lead.layers;
	assert_int_equal(settled_drop(&r, &session, &view, &c, &strays, &e), -ENOENT);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_what_landed),        ONE(test_what_did_not), ONE(test_some_of_many),
		ONE(test_what_was_found),     ONE(test_folders),      cmocka_unit_test(test_pruned),
		ONE(test_pruned_with_others), ONE(test_no_session),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
