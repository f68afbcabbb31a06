/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever saw one thing does not apply another: with --seen only that lands which is as it was
 * shown, with the folders on the way to it.
 */
#include "cmocka_lead.h"

#include "first_lead.h"

#include "seen.h"

#include <errno.h>

enum { ITEMS_MAX = 8 };

struct world {
	struct first_lead lead;
	struct review review;
	struct change changes[ITEMS_MAX];
	struct choice items[ITEMS_MAX];
	struct choices c;
	bool shown[ITEMS_MAX];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	lead_open(&w->lead);
	w->review = REVIEW_INIT;
	w->review.layers = w->lead.layers;
	w->review.runs = true;
	(void)snprintf(w->review.session.name, sizeof(w->review.session.name), "%s", LEAD_SESSION);
	w->c = CHOICES_INIT;
	w->c.review = &w->review;
	w->c.session = w->lead.session;
	w->c.items = w->items;
	w->c.changes.items = w->changes;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	lead_close(&w->lead);
	free(w);
	return 0;
}

static struct object object(unsigned int type, uint8_t digest)
{
	return (struct object){.type = type,
			       .mode = type == OBJECT_ABSENT ? 0 : 0644,
			       .hashed = type == OBJECT_FILE || type == OBJECT_LINK,
			       .digest = {digest},
			       .layer = -1};
}

/* In the order of paths. */
static struct choice *add(struct world *w, const char *path, struct object before,
			  struct object after)
{
	size_t i = w->c.count++;

	w->c.changes.count = w->c.count;
	w->changes[i] = (struct change){
		.path = path, .kind = CHANGE_CHANGED, .before = before, .after = after};
	w->items[i] = (struct choice){.change = &w->changes[i], .state = CHOICE_LANDS};
	w->shown[i] = true;
	return &w->items[i];
}

static struct choice *add_file(struct world *w, const char *path)
{
	return add(w, path, object(OBJECT_FILE, 1), object(OBJECT_FILE, 2));
}

static bool is_shown(const void *context, size_t i)
{
	return ((const struct world *)context)->shown[i];
}

static void show(struct world *w)
{
	struct error e = ERROR_INIT;

	assert_int_equal(seen_keep(&w->review, NULL, &w->c.changes, is_shown, w, &e), 0);
}

static int check(struct world *w, bool leave)
{
	struct error e = ERROR_INIT;

	return seen_check(&w->c, leave, &e);
}

static bool lands(struct world *w, struct choice *x)
{
	x->state = CHOICE_LANDS;
	assert_int_equal(check(w, true), 0);
	if (x->state != CHOICE_LANDS)
		assert_string_equal(x->why, "it is not as you saw it");
	return x->state == CHOICE_LANDS;
}

static void test_nothing_was_shown(void **state)
{
	struct world *w = *state;
	struct choice *x = add_file(w, "a");

	assert_int_equal(check(w, true), -ENODATA);
	assert_int_equal(check(w, false), 0);
	assert_int_equal(x->state, CHOICE_LANDS);
	x->state = CHOICE_KEPT;
	assert_int_equal(check(w, true), -ENODATA);
	/* Nothing would land in any case. */
	x->state = CHOICE_SETTLED;
	assert_int_equal(check(w, true), 0);
}

static void test_files(void **state)
{
	struct world *w = *state;
	struct choice *a = add_file(w, "a"), *b = add_file(w, "b");

	w->shown[1] = false;
	show(w);
	_cleanup_basis_ struct basis kept = BASIS_INIT;
	struct error e = ERROR_INIT;

	/* It is written down as it is, and nothing else is. */
	assert_int_equal(basis_read_seen(w->lead.session, &kept, &e), 0);
	assert_int_equal(kept.count, 1);
	assert_memory_equal(kept.items[0].object.digest, w->changes[0].after.digest, SHA256_SIZE);
	assert_true(lands(w, a));
	assert_false(lands(w, b));
	/* Its content is another, or its mode, or what it is. */
	w->changes[0].after.digest[31] ^= 1;
	assert_false(lands(w, a));
	w->changes[0].after.digest[31] ^= 1;
	w->changes[0].after.mode = 0755;
	assert_false(lands(w, a));
	w->changes[0].after = object(OBJECT_LINK, 2);
	assert_false(lands(w, a));
	w->changes[0].after = object(OBJECT_ABSENT, 0);
	assert_false(lands(w, a));
	w->changes[0].after = object(OBJECT_FILE, 2);
	assert_true(lands(w, a));
	/* It was shown again, as it is now; and what was shown before is not forgotten. */
	w->changes[0].after.digest[0] = 3;
	show(w);
	assert_true(lands(w, a));
	w->shown[0] = false;
	w->shown[1] = true;
	show(w);
	assert_true(lands(w, a));
	assert_true(lands(w, b));
}

/* Without --seen it is said, and lands. */
static void test_only_said(void **state)
{
	struct world *w = *state;
	struct choice *x = add_file(w, "a");

	show(w);
	w->changes[0].after.digest[0] = 3;
	assert_int_equal(check(w, false), 0);
	assert_int_equal(x->state, CHOICE_LANDS);
}

/* What does not land is not asked about. */
static void test_other_states(void **state)
{
	struct world *w = *state;
	struct choice *x = add_file(w, "a");

	w->shown[0] = false;
	show(w);
	for (unsigned int s = 0; s <= CHOICE_KEPT; s++) {
		x->state = s;
		assert_int_equal(check(w, true), 0);
		assert_int_equal(x->state, s == CHOICE_LANDS ? CHOICE_LEFT : s);
	}
	/* Unless what is its own lands beside the user's. */
	struct choice_beside beside[] = {{.of = 1}};

	w->c.beside = beside;
	w->c.beside_count = 1;
	x->state = CHOICE_KEPT;
	assert_int_equal(check(w, true), 0);
	assert_int_equal(x->state, CHOICE_KEPT);
	beside[0].of = 0;
	assert_int_equal(check(w, true), 0);
	assert_int_equal(x->state, CHOICE_LEFT);
}

/* Who saw a new file did not see that an old one is gone. */
static void test_renames(void **state)
{
	struct world *w = *state;
	struct choice *x = add(w, "b", object(OBJECT_FILE, 2), object(OBJECT_FILE, 2));

	show(w);
	w->changes[0].kind = CHANGE_RENAMED;
	w->changes[0].from = "a";
	assert_false(lands(w, x));
	show(w);
	assert_true(lands(w, x));
	w->changes[0].from = "c";
	assert_false(lands(w, x));
}

static void test_what_has_no_digest(void **state)
{
	struct world *w = *state;
	struct choice *x = add_file(w, "a");

	show(w);
	assert_true(lands(w, x));
	/* Shown as something that cannot be read: what was seen before is no more. */
	w->changes[0].after.hashed = false;
	show(w);
	w->changes[0].after.hashed = true;
	assert_false(lands(w, x));
	w->changes[0].after = object(OBJECT_FIFO, 0);
	show(w);
	assert_false(lands(w, x));
	w->changes[0].after = object(OBJECT_ABSENT, 0);
	assert_false(lands(w, x));
	show(w);
	assert_true(lands(w, x));
}

static void test_folders(void **state)
{
	struct world *w = *state;
	const struct object none = object(OBJECT_ABSENT, 0), dir = object(OBJECT_DIR, 0);
	struct choice *d = add(w, "d", none, dir), *e = add(w, "d/e", none, dir);
	struct choice *f = add_file(w, "d/e/f");

	/* Who sees the file sees that its folders are new. */
	w->shown[0] = w->shown[1] = false;
	show(w);
	assert_true(lands(w, f));
	assert_true(lands(w, d));
	assert_true(lands(w, e));
	/* But not that one stands in the place of something else. */
	w->changes[1].after.mode = 0700;
	e->state = CHOICE_LANDS;
	assert_false(lands(w, f));
	w->changes[1].after.mode = 0644;
	e->state = CHOICE_LANDS;
	assert_true(lands(w, f));
	w->changes[0].after.mode = 0700;
	assert_false(lands(w, f));
	/* It landed before. */
	d->state = CHOICE_SETTLED;
	e->state = CHOICE_LANDS;
	assert_true(lands(w, f));
}

static void test_a_folder_in_the_place_of_a_file(void **state)
{
	struct world *w = *state;
	struct choice *d = add(w, "d", object(OBJECT_FILE, 1), object(OBJECT_DIR, 0));
	struct choice *f = add_file(w, "d/f");

	w->shown[0] = false;
	show(w);
	d->state = CHOICE_LEFT;
	assert_false(lands(w, f));
	w->shown[0] = true;
	show(w);
	assert_true(lands(w, f));
	/* A folder that was there brings nothing. */
	w->changes[0].before = object(OBJECT_DIR, 0);
	w->changes[0].after.mode = 0700;
	assert_true(lands(w, f));
}

/* An object is what its name says; one that is changed is none. */
static void test_objects(void **state)
{
	static const char path[] = ".git/objects/aa/11111111111111111111111111111111111111";
	struct world *w = *state;
	struct choice *x = add(w, path, object(OBJECT_ABSENT, 0), object(OBJECT_FILE, 1));

	w->shown[0] = false;
	show(w);
	assert_true(lands(w, x));
	w->changes[0].before = object(OBJECT_FILE, 2);
	assert_false(lands(w, x));
	w->changes[0].after = object(OBJECT_ABSENT, 0);
	assert_true(lands(w, x));
}

/* What was shown after the end cannot have changed. */
static void test_after_the_end(void **state)
{
	struct world *w = *state;
	struct choice *x = add_file(w, "a");
	struct stat st;

	show(w);
	assert_int_equal(fstatat(w->lead.session, BASIS_SEEN_NAME, &st, 0), 0);
	w->review.runs = false;
	w->review.session.ended = CLOCK_NS(st.st_mtim);
	/* It is not even read then, unless --seen asks. */
	put_at(w->lead.session, BASIS_SEEN_NAME, "damaged");
	const struct timespec times[2] = {st.st_mtim, st.st_mtim};

	assert_int_equal(utimensat(w->lead.session, BASIS_SEEN_NAME, times, 0), 0);
	assert_int_equal(check(w, false), 0);
	assert_true(check(w, true) < 0);
	w->review.session.ended++;
	assert_true(check(w, false) < 0);
	w->review.session.ended = 0;
	assert_true(check(w, false) < 0);
	w->review.session.ended = CLOCK_NS(st.st_mtim);
	w->review.runs = true;
	assert_true(check(w, false) < 0);
	assert_int_equal(x->state, CHOICE_LANDS);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_nothing_was_shown), ONE(test_files),
		ONE(test_only_said),         ONE(test_other_states),
		ONE(test_renames),           ONE(test_what_has_no_digest),
		ONE(test_folders),           ONE(test_a_folder_in_the_place_of_a_file),
		ONE(test_objects),           ONE(test_after_the_end),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
