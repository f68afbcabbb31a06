/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lands of a session: what nobody else changed.  What the user changed as well is a conflict
 * until he decides, and whatever is chosen lands whole, with the folders that it needs, and with
 * nothing that was not chosen.
 */
#include "cmocka_lead.h"

#include "choice_lead.h"

#include <errno.h>

/* --- three sides ----------------------------------------------------------------------- */

/* One side: nothing, or a file of this content and mode. */
struct side {
	char letter; /* 0: nothing */
	uint32_t mode;
};

static const struct side sides[] = {{0, 0},      {'a', 0644}, {'b', 0644}, {'c', 0644},
				    {'a', 0600}, {'b', 0600}, {'a', 0755}};

enum { SIDES = BAWN_ARRAY_SIZE(sides) };

static bool is_same(struct side a, struct side b)
{
	return a.letter == b.letter && a.mode == b.mode;
}

/* Who changed it decides; false when both did. */
static bool pick(uint32_t was, uint32_t mine_is, uint32_t theirs_is, uint32_t *ret)
{
	*ret = theirs_is == was ? mine_is : theirs_is;
	return theirs_is == was || mine_is == was || theirs_is == mine_is;
}

/* What the header says of three sides, of which the last two differ. */
static enum choice_state expect(struct side o, struct side m, struct side t, struct side *ret)
{
	uint32_t letter = 0, mode = 0;

	*ret = t;
	if (is_same(t, o))
		return CHOICE_SETTLED;
	if (is_same(m, o))
		return CHOICE_LANDS;
	/* Only its mode is the user's. */
	if (!t.letter && m.letter == o.letter)
		return CHOICE_LANDS;
	if (!o.letter || !m.letter || !t.letter)
		return CHOICE_CONFLICT;
	bool content = pick((uint8_t)o.letter, (uint8_t)m.letter, (uint8_t)t.letter, &letter);

	if (!pick(o.mode, m.mode, t.mode, &mode) || !content)
		return CHOICE_CONFLICT;
	*ret = (struct side){(char)letter, mode};
	return CHOICE_LANDS;
}

/* Of each path another text, so that nothing looks as if it had been renamed. */
static const char *text_of(const char *path, struct side s)
{
	static char text[64];

	(void)snprintf(text, sizeof(text), "%s: %c\n", path, s.letter);
	return text;
}

static void put_side(int dir, const char *path, struct side s)
{
	put_at(dir, path, text_of(path, s));
	assert_int_equal(fchmodat(dir, path, s.mode, 0), 0);
}

static void each_case(struct world *w, void (*act)(struct world *w, const char *path, struct side o,
						   struct side m, struct side t))
{
	for (size_t i = 0; i < (size_t)SIDES * SIDES * SIDES; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "n%03zu", i);
		act(w, path, sides[i / SIDES / SIDES], sides[i / SIDES % SIDES], sides[i % SIDES]);
	}
}

static void put_case(struct world *w, const char *path, struct side o, struct side m, struct side t)
{
	origin_is(&w->lead, path, o.letter ? text_of(path, o) : NULL, o.mode);
	if (m.letter)
		put_side(mine(w), path, m);
	if (t.letter)
		put_side(theirs(w), path, t);
	else if (m.letter)
		whiteout_in(&w->lead, path);
}

static void judge_case(struct world *w, const char *path, struct side o, struct side m,
		       struct side t)
{
	struct side lands;
	enum choice_state want = expect(o, m, t, &lands);

	assert_int_equal(is_changed(w, path), !is_same(m, t));
	if (is_same(m, t))
		return;
	const struct choice *x = choice_at(w, path);

	if (x->state != want)
		fail_msg("%s: %d, not %d (%c%o, %c%o, %c%o)", path, x->state, want, o.letter ?: '-',
			 o.mode, m.letter ?: '-', m.mode, t.letter ?: '-', t.mode);
	assert_int_equal(x->why != NULL, want == CHOICE_CONFLICT);
}

static void check_landed(struct world *w, const char *path, struct side o, struct side m,
			 struct side t)
{
	struct side lands;
	enum choice_state was = is_same(m, t) ? CHOICE_SETTLED : expect(o, m, t, &lands);
	struct side stands = was == CHOICE_LANDS ? lands : m;

	assert_int_equal(mode_at(mine(w), path), stands.mode);
	if (stands.letter)
		assert_string_equal(text_at(mine(w), path), text_of(path, stands));
	/* It landed, so nothing is left of it. */
	if (was == CHOICE_LANDS && is_changed(w, path))
		assert_int_equal(state_of(w, path), CHOICE_SETTLED);
	if (was == CHOICE_CONFLICT)
		assert_int_equal(state_of(w, path), CHOICE_CONFLICT);
}

static void every_three_sides_are_judged_and_land(void **state)
{
	struct world *w = *state;

	each_case(w, put_case);
	origins_written(&w->lead);
	read_choices(w);
	each_case(w, judge_case);
	assert_true(choices_leave_something(&w->choices));
	land_choices(w);
	read_choices(w);
	each_case(w, check_landed);
}

/* --- trees, and which of it are meant ---------------------------------------------------- */

enum { TREES = 16, NODES = 3 + 9 + 27 };

/* A node of the three levels of names a, b, c: 0 nothing, 1 a file, 2 a folder. */
static size_t node_parent(size_t i)
{
	return i < 3 ? SIZE_MAX : i / 3 - 1;
}

static void node_path(size_t i, char ret[16])
{
	size_t parent = node_parent(i);
	char above[16] = "";

	if (parent != SIZE_MAX)
		node_path(parent, above);
	(void)snprintf(ret, 16, "%.12s%s%c", above, parent == SIZE_MAX ? "" : "/",
		       (char)('a' + i % 3));
}

static void draw_tree(unsigned int *seed, uint8_t nodes[NODES])
{
	for (size_t i = 0; i < NODES; i++) {
		size_t up = node_parent(i);

		nodes[i] = (uint8_t)((uint32_t)rand_r(seed) / 7 % 4);
		nodes[i] = nodes[i] == 3 ? 2 : nodes[i];
		if (up != SIZE_MAX && nodes[up] != 2)
			nodes[i] = 0;
	}
}

static void make_node(int dir, const char *path, uint8_t kind, const char *who)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%s of %s\n", path, who);
	if (kind == 2)
		assert_int_equal(mkdirat(dir, path, 0755), 0);
	else if (kind == 1)
		put_at(dir, path, text);
}

static void make_trees(struct world *w, const uint8_t base[NODES], const uint8_t after[NODES])
{
	for (size_t i = 0; i < NODES; i++) {
		size_t up = node_parent(i);
		char path[16];

		node_path(i, path);
		make_node(mine(w), path, base[i], "mine");
		if (after[i])
			make_node(theirs(w), path, after[i], "theirs");
		else if (base[i] && (up == SIZE_MAX || after[up] == 2))
			whiteout_in(&w->lead, path);
	}
}

static bool node_is_changed(const uint8_t base[NODES], const uint8_t after[NODES], size_t i)
{
	return base[i] != after[i] || base[i] == 1;
}

static bool node_is_within(size_t i, size_t top)
{
	for (; i != SIZE_MAX; i = node_parent(i))
		if (i == top)
			return true;
	return false;
}

/* Each as it is after: what is meant, and the folders that it needs. */
static void model(const uint8_t base[NODES], const uint8_t after[NODES], const bool meant[NODES],
		  bool ret[NODES])
{
	for (size_t i = 0; i < NODES; i++)
		ret[i] = meant[i] && node_is_changed(base, after, i);
	for (size_t i = NODES; i-- > 0;) {
		size_t up = node_parent(i);

		if (ret[i] && after[i] && up != SIZE_MAX && base[up] != 2)
			ret[up] = true;
	}
}

/* A folder gives way to a file only with all that is in it, which may not be meant. */
static void check_tree(const struct world *w, unsigned int seed, const uint8_t base[NODES],
		       const uint8_t after[NODES], const bool lands[NODES])
{
	for (size_t i = 0; i < NODES; i++) {
		const uint8_t kind = lands[i] ? after[i] : base[i];
		char path[16], text[64];
		struct stat st;

		node_path(i, path);
		(void)snprintf(text, sizeof(text), "%s of %s\n", path,
			       lands[i] ? "theirs" : "mine");
		uint8_t is = fstatat(mine(w), path, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0
			     : S_ISDIR(st.st_mode)                                ? 2
										  : 1;

		if (is != kind || (is == 1 && !str_equal(text_at(mine(w), path), text)))
			fail_msg("seed %u: %s is %d '%s', not %d '%s'", seed, path, is,
				 is == 1 ? text_at(mine(w), path) : "", kind, text);
	}
}

static void one_tree(unsigned int seed)
{
	unsigned int draws = seed;
	uint8_t base[NODES], after[NODES];
	bool meant[NODES] = {false}, lands[NODES];
	char names[3][16];
	char *arguments[3];
	struct error e = ERROR_INIT;
	void *state = NULL;
	int count = 0;

	(void)world_setup(&state);
	struct world *w = state;

	draw_tree(&draws, base);
	draw_tree(&draws, after);
	make_trees(w, base, after);
	read_choices(w);
	for (size_t i = 0; i < NODES && count < 3; i++) {
		if (!node_is_changed(base, after, i) || rand_r(&draws) / 7 % 4 != 0)
			continue;
		node_path(i, names[count]);
		arguments[count] = names[count];
		count++;
		for (size_t n = 0; n < NODES; n++)
			meant[n] = meant[n] || node_is_within(n, i);
	}
	if (count > 0) {
		const struct pathspecs specs = specs_of(w, arguments, count);

		assert_int_equal(choices_pick(&w->choices, &specs, &e), 0);
		model(base, after, meant, lands);
		land_choices(w);
		check_tree(w, seed, base, after, lands);
	}
	/* And then the rest. */
	memset(meant, true, sizeof(meant));
	read_choices(w);
	land_choices(w);
	check_tree(w, seed, base, after, meant);
	read_choices(w);
	assert_int_equal(choices_in(&w->choices, CHOICE_LANDS), 0);
	assert_false(choices_leave_something(&w->choices));
	(void)world_teardown(&state);
}

static void what_is_meant_lands_with_what_it_needs(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= TREES; seed++)
		one_tree(seed);
}

/* --- where nobody knows what the session found -------------------------------------------- */

static void expect_state(const struct world *w, const char *path, enum choice_state state,
			 const char *why)
{
	const struct choice *x = choice_at(w, path);

	if (x->state != state)
		fail_msg("%s: %d, not %d (%s)", path, x->state, state, x->why ?: "");
	if (why)
		assert_string_equal(x->why, why);
}

/* What was made so far was there when the session began. */
static void begin(struct world *w)
{
	next_tick();
	w->lead.review.session.began = now();
	next_tick();
}

static void what_was_changed_since_is_the_users(void **state)
{
	struct world *w = *state;

	put_at(mine(w), "early", "mine\n");
	put_at(mine(w), "early-dir", "mine\n");
	assert_int_equal(mkdirat(mine(w), "old-dir", 0755), 0);
	begin(w);
	put_at(mine(w), "late", "mine\n");
	put_at(mine(w), "late-copied", "mine\n");
	put_at(mine(w), "late-gone", "mine\n");
	assert_int_equal(mkdirat(mine(w), "late-dir", 0755), 0);
	put_at(theirs(w), "early", "theirs\n");
	put_at(theirs(w), "late", "theirs\n");
	put_at(theirs(w), "late-copied", "theirs\n");
	copied_in(&w->lead, "late-copied");
	whiteout_in(&w->lead, "late-gone");
	put_at(theirs(w), "late-dir", "theirs\n");
	put_at(theirs(w), "old-dir", "theirs\n");
	read_choices(w);
	expect_state(w, "early", CHOICE_LANDS, NULL);
	expect_state(w, "late", CHOICE_CONFLICT, "you and the session both wrote it");
	expect_state(w, "late-copied", CHOICE_CONFLICT, "you changed it, and so did the session");
	expect_state(w, "late-gone", CHOICE_CONFLICT,
		     "you changed it or put it there, and the session removed it");
	expect_state(w, "late-dir", CHOICE_CONFLICT, NULL);
	expect_state(w, "old-dir", CHOICE_LANDS, NULL);
}

/* The session's was copied from one that is gone: by the user, if its folder was changed. */
static void what_is_gone_since_was_the_users(void **state)
{
	struct world *w = *state;

	assert_int_equal(mkdirat(mine(w), "still", 0755), 0);
	assert_int_equal(mkdirat(mine(w), "changed", 0755), 0);
	begin(w);
	put_at(mine(w), "changed/other", "x\n");
	assert_int_equal(unlinkat(mine(w), "changed/other", 0), 0);
	file_at(theirs(w), "still/x", "theirs\n");
	file_at(theirs(w), "changed/x", "theirs\n");
	file_at(theirs(w), "changed/new", "new\n");
	file_at(theirs(w), "gone/dir/x", "theirs\n");
	copied_in(&w->lead, "still/x");
	copied_in(&w->lead, "changed/x");
	copied_in(&w->lead, "gone/dir/x");
	read_choices(w);
	expect_state(w, "still/x", CHOICE_LANDS, NULL);
	expect_state(w, "changed/new", CHOICE_LANDS, NULL);
	expect_state(w, "changed/x", CHOICE_CONFLICT, "you removed it, and the session changed it");
	/* The nearest folder that is there is the top, in which `changed` was not put. */
	expect_state(w, "gone/dir/x", CHOICE_LANDS, NULL);
	put_at(mine(w), "top", "x\n");
	read_choices(w);
	expect_state(w, "gone/dir/x", CHOICE_CONFLICT, NULL);
	expect_state(w, "still/x", CHOICE_LANDS, NULL);
}

/* What is in a folder that was moved there keeps its own times. */
static void a_folder_that_came_since_is_the_users(void **state)
{
	struct world *w = *state;

	file_at(mine(w), "before/in/x", "x\n");
	file_at(mine(w), "still/x", "x\n");
	file_at(mine(w), "written/x", "x\n");
	file_at(mine(w), "deep/written/x", "x\n");
	file_at(mine(w), "deep/written/gone", "x\n");
	begin(w);
	assert_int_equal(renameat(mine(w), "before", mine(w), "came"), 0);
	put_at(mine(w), "written/y", "y\n");
	put_at(mine(w), "deep/written/y", "y\n");
	file_at(theirs(w), "came/in/x", "theirs\n");
	file_at(theirs(w), "still/x", "theirs\n");
	file_at(theirs(w), "written/x", "theirs\n");
	file_at(theirs(w), "deep/written/x", "theirs\n");
	whiteout_in(&w->lead, "deep/written/gone");
	read_choices(w);
	expect_state(w, "came/in/x", CHOICE_CONFLICT, NULL);
	expect_state(w, "still/x", CHOICE_LANDS, NULL);
	/* It was written in, and so was the folder above it: it may have been moved there. */
	expect_state(w, "written/x", CHOICE_CONFLICT, NULL);
	expect_state(w, "deep/written/x", CHOICE_LANDS, NULL);
	expect_state(w, "deep/written/gone", CHOICE_LANDS, NULL);
}

/* --- what the recorder kept ---------------------------------------------------------------- */

static void first_versions_are_origins(void **state)
{
	struct world *w = *state;

	put_at(mine(w), "same", "old\n");
	put_at(mine(w), "changed", "old\n");
	lead_keep(&w->lead.lead, "same");
	lead_keep(&w->lead.lead, "changed");
	lead_keep(&w->lead.lead, "made");
	lead_keep(&w->lead.lead, "dir");
	put_at(mine(w), "changed", "mine\n");
	put_at(mine(w), "made", "mine\n");
	put_at(theirs(w), "same", "theirs\n");
	put_at(theirs(w), "changed", "theirs\n");
	put_at(theirs(w), "made", "theirs\n");
	file_at(theirs(w), "dir/x", "theirs\n");
	read_choices(w);
	expect_state(w, "same", CHOICE_LANDS, NULL);
	expect_state(w, "changed", CHOICE_CONFLICT, NULL);
	expect_state(w, "made", CHOICE_CONFLICT, NULL);
	assert_true(choice_at(w, "dir/x")->knows_origin);
	assert_int_equal(choice_at(w, "dir/x")->origin.type, OBJECT_ABSENT);
	/* Its content can be had. */
	char text[16] = "";
	_cleanup_fd_ int fd = choice_open_origin(&w->choices, choice_at(w, "changed"));

	assert_int_equal(read(fd, text, sizeof(text) - 1), 4);
	assert_string_equal(text, "old\n");
}

/* --- names --------------------------------------------------------------------------------- */

static void what_was_renamed_was_the_sessions_to_rename(void **state)
{
	static const char *const names[] = {"plain", "changed", "over", "under"};
	struct world *w = *state;
	char from[32];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		(void)snprintf(from, sizeof(from), "%s-old", names[i]);
		put_at(mine(w), from, from);
		put_at(theirs(w), names[i], from);
		whiteout_in(&w->lead, from);
	}
	origin_is(&w->lead, "plain-old", "plain-old", 0644);
	origin_is(&w->lead, "changed-old", "another", 0644);
	origin_is(&w->lead, "over-old", "over-old", 0644);
	origin_is(&w->lead, "over", "what stood there", 0644);
	origin_is(&w->lead, "under-old", "under-old", 0644);
	origin_is(&w->lead, "under", NULL, 0);
	origins_written(&w->lead);
	read_choices(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		assert_int_equal(choice_at(w, names[i])->change->kind, CHANGE_RENAMED);
	expect_state(w, "plain", CHOICE_LANDS, NULL);
	expect_state(w, "changed", CHOICE_CONFLICT, "you changed it, and the session renamed it");
	expect_state(w, "over", CHOICE_CONFLICT,
		     "you removed what the session put it in the place of");
	expect_state(w, "under", CHOICE_LANDS, NULL);
}

/* The session only wrote in a folder, and the user put a file in its place. */
static void a_folder_that_was_replaced_is_a_conflict(void **state)
{
	const struct object dir = {.type = OBJECT_DIR, .mode = 0755, .layer = -1};
	struct world *w = *state;

	put_at(mine(w), "d", "mine\n");
	put_at(mine(w), "quiet", "mine\n");
	file_at(theirs(w), "d/x", "theirs\n");
	file_at(theirs(w), "quiet/x", "theirs\n");
	assert_int_equal(basis_set(&w->lead.basis, "d", &dir), 0);
	assert_int_equal(basis_set(&w->lead.basis, "quiet", &dir), 0);
	origin_is(&w->lead, "quiet/x", "theirs\n", 0644);
	origins_written(&w->lead);
	read_choices(w);
	expect_state(w, "d", CHOICE_CONFLICT,
		     "you put something else there, and the session wrote in it");
	/* Nothing of it is the session's any more. */
	expect_state(w, "quiet", CHOICE_SETTLED, NULL);
}

#define LOOSE ".git/objects/aa/11111111111111111111111111111111111111"

static void what_git_pruned_lands_with_what_builds_on_it(void **state)
{
	const struct object dir = {.type = OBJECT_DIR, .mode = 0755, .layer = -1};
	struct world *w = *state;

	file_at(theirs(w), LOOSE, "object\n");
	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(mkdirat(mine(w), ".git/objects", 0755), 0);
	assert_int_equal(basis_set(&w->lead.basis, ".git/objects/aa", &dir), 0);
	origin_is(&w->lead, LOOSE, "object\n", 0644);
	origins_written(&w->lead);
	read_choices(w);
	expect_state(w, LOOSE, CHOICE_SETTLED, NULL);
	file_at(theirs(w), ".git/objects/bb/22222222222222222222222222222222222222", "more\n");
	read_choices(w);
	expect_state(w, LOOSE, CHOICE_LANDS, NULL);
}

/* What is held stays so, whoever changed it as well; its conflict is told once it is released. */
static void what_is_held_is_judged_when_it_is_released(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	char name[] = ".vscode/tasks.json";
	char *names[] = {name};

	file_at(mine(w), name, "{}\n");
	file_at(theirs(w), name,
		"{\"tasks\": [{\"command\": \"x\", \"runOptions\": {\"runOn\": "
		"\"folderOpen\"}}]}\n");
	origin_is(&w->lead, name, "[]\n", 0644);
	origins_written(&w->lead);
	read_choices(w);
	assert_int_equal(choice_at(w, name)->change->group, CHANGE_HELD);
	expect_state(w, name, CHOICE_HELD, NULL);
	assert_null(choice_at(w, name)->why);
	const struct pathspecs specs = specs_of(w, names, 1);

	assert_int_equal(choices_release(&w->choices, &specs, &e), 0);
	assert_true(choice_at(w, name)->released);
	expect_state(w, name, CHOICE_CONFLICT, "you and the session both wrote it");
}

/* --- conflicts ------------------------------------------------------------------------------ */

static void put_three(struct world *w, const char *path, const char *was, const char *mine_is,
		      const char *theirs_is)
{
	origin_is(&w->lead, path, was, 0644);
	if (mine_is)
		put_at(mine(w), path, mine_is);
	if (theirs_is)
		put_at(theirs(w), path, theirs_is);
	else
		whiteout_in(&w->lead, path);
}

static int decide(struct world *w, const char *name, enum choice_side side, bool markers)
{
	char copy[64];
	char *names[] = {copy};
	struct error e = ERROR_INIT;

	(void)snprintf(copy, sizeof(copy), "%s", name);
	const struct pathspecs specs = specs_of(w, names, 1);

	return choices_decide(&w->choices, &specs, side, markers, &e);
}

static void conflicts_are_merged(void **state)
{
	struct world *w = *state;

	put_three(w, "clean", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n");
	put_three(w, "clash", "1\n2\n3\n", "1\ntwo\n3\n", "1\nzwei\n3\n");
	put_three(w, "removed", "1\n", NULL, "4\n");
	put_three(w, "taken", "1\n", "2\n", NULL);
	put_three(w, "links", "1\n", "2\n", "3\n");
	assert_int_equal(unlinkat(theirs(w), "links", 0), 0);
	assert_int_equal(symlinkat("to", theirs(w), "links"), 0);
	put_three(w, "data", "1\n", "2\n", "3\n");
	_cleanup_fd_ int fd = openat(theirs(w), "data", O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "\0\0\0\0", 4, 0), 4);
	origins_written(&w->lead);
	read_choices(w);
	assert_int_equal(choices_in(&w->choices, CHOICE_CONFLICT), 6);
	assert_true(choices_can_merge(&w->choices));
	assert_int_equal(decide(w, "*", CHOICE_MERGE, false), 0);
	expect_state(w, "clean", CHOICE_LANDS, NULL);
	assert_string_equal(choice_at(w, "clean")->decided, "merge");
	assert_true(choice_at(w, "clean")->both_changed);
	expect_state(w, "clash", CHOICE_CONFLICT, "both changed line 2");
	expect_state(w, "removed", CHOICE_CONFLICT, "it cannot be merged: you removed it");
	expect_state(w, "taken", CHOICE_CONFLICT, "it cannot be merged: the session removed it");
	expect_state(w, "links", CHOICE_CONFLICT,
		     "it cannot be merged: it is not a file on both sides");
	expect_state(w, "data", CHOICE_CONFLICT, "it cannot be merged: it is not text");
	assert_int_equal(decide(w, "clash", CHOICE_MERGE, true), 0);
	expect_state(w, "clash", CHOICE_LANDS, NULL);
	land_choices(w);
	assert_string_equal(text_at(mine(w), "clean"), "one\n2\n3\n4\nfive\n");
	assert_string_equal(text_at(mine(w), "clash"),
			    "1\n<<<<<<< yours\ntwo\n=======\nzwei\n>>>>>>> one\n3\n");
	assert_string_equal(text_at(mine(w), "taken"), "2\n");
}

/* Without what both came from nothing is put together. */
static void an_unknown_origin_is_not_merged(void **state)
{
	struct world *w = *state;

	begin(w);
	put_at(mine(w), "a", "1\n");
	put_at(theirs(w), "a", "2\n");
	read_choices(w);
	assert_int_equal(decide(w, "a", CHOICE_MERGE, false), 0);
	expect_state(w, "a", CHOICE_CONFLICT,
		     "it cannot be merged: what it was when the session began is not known");
	assert_string_equal(text_at(mine(w), "a"), "1\n");
}

static void only_conflicts_are_decided(void **state)
{
	struct world *w = *state;

	put_three(w, "a", "1\n", "2\n", "3\n");
	put_three(w, "b", "1\n", "1\n", "3\n");
	put_three(w, "c", "1\n", "2\n", "3\n");
	origins_written(&w->lead);
	read_choices(w);
	/* A name is meant; a pattern stands for whatever there is. */
	assert_int_equal(decide(w, "b", CHOICE_OURS_SIDE, false), -ENOENT);
	assert_int_equal(decide(w, "x", CHOICE_OURS_SIDE, false), -ENOENT);
	assert_int_equal(decide(w, "x*", CHOICE_OURS_SIDE, false), 0);
	expect_state(w, "b", CHOICE_LANDS, NULL);
	assert_int_equal(decide(w, "a", CHOICE_OURS_SIDE, false), 0);
	assert_int_equal(decide(w, "c", CHOICE_THEIRS_SIDE, false), 0);
	expect_state(w, "a", CHOICE_OURS, NULL);
	expect_state(w, "c", CHOICE_LANDS, NULL);
	assert_false(choice_at(w, "b")->both_changed);
	/* What was decided may be named again, and stays. */
	assert_int_equal(decide(w, "a", CHOICE_THEIRS_SIDE, false), 0);
	expect_state(w, "a", CHOICE_OURS, NULL);
	assert_false(choices_can_merge(&w->choices));
	land_choices(w);
	assert_string_equal(text_at(mine(w), "a"), "2\n");
	assert_string_equal(text_at(mine(w), "c"), "3\n");
}

static void a_name_that_is_nothing_is_refused(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	char name[] = "other";
	char *names[] = {name};

	put_at(theirs(w), "a", "1\n");
	read_choices(w);
	const struct pathspecs specs = specs_of(w, names, 1);

	assert_int_equal(choices_pick(&w->choices, &specs, &e), -ENOENT);
	expect_state(w, "a", CHOICE_LANDS, NULL);
	/* No name at all means everything. */
	const struct pathspecs none = {.count = 0};

	assert_int_equal(choices_pick(&w->choices, &none, &e), 0);
	expect_state(w, "a", CHOICE_LANDS, NULL);
}

/* A rename is meant by both of its names. */
static void a_rename_is_meant_by_both_names(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	char name[] = "old";
	char *names[] = {name};

	put_at(mine(w), "old", "the same content\n");
	put_at(theirs(w), "new", "the same content\n");
	put_at(theirs(w), "other", "other\n");
	whiteout_in(&w->lead, "old");
	read_choices(w);
	const struct pathspecs specs = specs_of(w, names, 1);

	assert_int_equal(choices_pick(&w->choices, &specs, &e), 0);
	expect_state(w, "new", CHOICE_LANDS, NULL);
	expect_state(w, "other", CHOICE_LEFT, NULL);
}

/* --- before it lands ------------------------------------------------------------------------- */

/* What stands there is written down, where it is not the user's doing since. */
static void what_it_departs_from_is_pinned(void **state)
{
	_cleanup_basis_ struct basis kept = BASIS_INIT;
	struct world *w = *state;
	struct error e = ERROR_INIT;

	put_at(mine(w), "a", "old\n");
	put_at(mine(w), "left", "old\n");
	put_at(mine(w), "moved", "the same content\n");
	begin(w);
	put_at(mine(w), "late", "mine\n");
	put_at(theirs(w), "a", "theirs\n");
	put_at(theirs(w), "left", "theirs\n");
	put_at(theirs(w), "late", "theirs\n");
	put_at(theirs(w), "to", "the same content\n");
	whiteout_in(&w->lead, "moved");
	read_choices(w);
	assert_int_equal(choice_at(w, "to")->change->kind, CHANGE_RENAMED);
	choice_pass(choice_at(w, "left"), NULL);
	assert_int_equal(decide(w, "late", CHOICE_THEIRS_SIDE, false), 0);
	assert_int_equal(choices_pin(&w->choices, &e), 0);
	assert_int_equal(basis_read(w->choices.session, &kept, &e), 0);
	assert_int_equal(kept.count, 2);
	assert_true(basis_same(&kept.items[0].object, &choice_at(w, "a")->change->before));
	assert_string_equal(kept.items[0].path, "a");
	assert_string_equal(kept.items[1].path, "moved");
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		ONE(every_three_sides_are_judged_and_land),
		cmocka_unit_test(what_is_meant_lands_with_what_it_needs),
		ONE(what_was_changed_since_is_the_users),
		ONE(what_is_gone_since_was_the_users),
		ONE(a_folder_that_came_since_is_the_users),
		ONE(first_versions_are_origins),
		ONE(what_was_renamed_was_the_sessions_to_rename),
		ONE(a_folder_that_was_replaced_is_a_conflict),
		ONE(what_git_pruned_lands_with_what_builds_on_it),
		ONE(what_is_held_is_judged_when_it_is_released),
		ONE(conflicts_are_merged),
		ONE(an_unknown_origin_is_not_merged),
		ONE(only_conflicts_are_decided),
		ONE(a_name_that_is_nothing_is_refused),
		ONE(a_rename_is_meant_by_both_names),
		ONE(what_it_departs_from_is_pinned),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
