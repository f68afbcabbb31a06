/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What undo of a direct session says of what was changed while it ran and was not seen: each path
 * once, and what becomes of it.
 */
#include "cmocka_lead.h"

#include "undo_lead.h"

static void end(struct world *w)
{
	next_tick();
	w->session.ended = now();
	next_tick();
}

static const char *undo(struct world *w)
{
	struct review r = REVIEW_INIT;
	struct error e = ERROR_INIT;

	r.layers = w->lead.layers;
	r.tree = w->lead.tree;
	if (undo_direct_read(&r, &w->session, NULL, &w->undo, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < w->undo.unseen_count; i++)
		buf_putf(&w->said, "%s: %s\n", w->undo.unseen[i].path, w->undo.unseen[i].why);
	return buf_str(&w->said);
}

#define COMES                                                                                  \
	"what comes back is what stood there when bawn first saw it change, which may not be " \
	"what it was before\n"

/* What was kept is younger than the session: somebody had changed it before. */
static void test_what_was_kept_late(void **state)
{
	struct world *w = *state;

	put_at(w->lead.tree, "early", "one");
	put_at(w->lead.tree, "late", "one");
	put_at(w->lead.tree, "same", "one");
	put_at(w->lead.tree, "mode", "one");
	put_at(w->lead.tree, "many", "one");
	assert_int_equal(linkat(w->lead.tree, "many", w->lead.tree, "names", 0), 0);
	next_tick();
	w->session.began = now();
	next_tick();
	put_at(w->lead.tree, "late", "two");
	put_at(w->lead.tree, "same", "two");
	/* Its first entry is an early one, by whatever name. */
	lead_keep_meta(&w->lead, "mode");
	assert_int_equal(fchmodat(w->lead.tree, "mode", 0600, 0), 0);
	lead_keep(&w->lead, "many");
	put_at(w->lead.tree, "many", "two");
	for (const char *const *p =
		     (const char *const[]){"early", "late", "same", "mode", "names", "made", NULL};
	     *p; p++)
		lead_keep(&w->lead, *p);
	for (const char *const *p =
		     (const char *const[]){"early", "late", "mode", "names", "made", NULL};
	     *p; p++)
		put_at(w->lead.tree, *p, "three");
	for (const char *const *p = (const char *const[]){"early", "late", "same", "mode", "many",
							  "names", "made", NULL};
	     *p; p++)
		lead_leave(&w->lead, *p);
	end(w);
	const char *said = undo(w);

	assert_string_equal(said, "late: " COMES "same: it stays as it is; what it was "
				  "before was not kept\n");
}

static void unseen(struct world *w, const char *path, unsigned int kind)
{
	struct first_index x = FIRST_INDEX_INIT;

	assert_int_equal(first_index_open_unseen(&x, w->lead.first), 0);
	assert_int_equal(first_index_put(&x,
					 &(struct first_entry){.kind = kind,
							       .flags = FIRST_DIRECT,
							       .why = FIRST_WHY_UNSEEN,
							       .path = path,
							       .text = ""},
					 FIRST_INDEX_MAX),
			 FIRST_WHY_NOT);
	first_index_close(&x);
}

/* What the comparison found. */
static void test_what_was_not_seen(void **state)
{
	struct world *w = *state;

	put_at(w->lead.tree, "comes", "one");
	put_at(w->lead.tree, "changed", "one");
	put_at(w->lead.tree, "since", "one");
	assert_int_equal(mkdirat(w->lead.tree, "d", 0755), 0);
	put_at(w->lead.tree, "d/moved", "one");
	put_at(w->lead.tree, "new", "one");
	unseen(w, "comes", FIRST_FILE);
	unseen(w, "comes", FIRST_FILE);
	unseen(w, "goes", FIRST_FILE);
	unseen(w, "changed", FIRST_FILE);
	unseen(w, "gone", FIRST_LINK);
	unseen(w, "since", FIRST_FILE);
	unseen(w, "new", FIRST_ABSENT);
	unseen(w, "new-and-gone", FIRST_ABSENT);
	unseen(w, "d/moved", FIRST_FILE);
	unseen(w, ".", FIRST_DIR);
	lead_keep(&w->lead, "comes");
	put_at(w->lead.tree, "comes", "two");
	lead_keep(&w->lead, "goes");
	put_at(w->lead.tree, "goes", "two");
	lead_keep(&w->lead, "since");
	put_at(w->lead.tree, "since", "two");
	lead_move(&w->lead, "d", "e", false);
	lead_leave(&w->lead, "comes");
	lead_leave(&w->lead, "goes");
	lead_leave(&w->lead, "since");
	lead_leave(&w->lead, "e/moved");
	end(w);
	put_at(w->lead.tree, "since", "by the user");
	const char *said = undo(w);

	assert_string_equal(said, ".: it stays as it is; what it was before was not kept\n"
				  "changed: it stays as it is; what it was before was not kept\n"
				  "comes: " COMES
				  "goes: it goes from here; what it was before was not kept\n"
				  "gone: it stays as it is; what it was before was not kept\n"
				  "new: it is new, and stays\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_kept_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_not_seen, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
