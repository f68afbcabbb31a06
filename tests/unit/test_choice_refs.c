/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which name can be had for a ref of the session's, and what a ref was when the session found it: a
 * wrong answer replaces a ref of the user's, or makes one that git cannot have.
 */
#include "cmocka_lead.h"

#include "choice_lead.h"

#include "choice_git.h"

#include <errno.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

static struct git_name name_of(const char *hex)
{
	struct git_name name = {.len = 0};

	if (hex)
		assert_true(git_name_parse(span_of_str(hex), &name));
	return name;
}

/* Reads the session, and opens the refs of the repository at the top. */
static void open_repository(struct world *w, struct git_repository *g)
{
	origins_written(&w->lead);
	read_choices(w);
	*g = (struct git_repository){.c = &w->choices};
	g->base.base = mine(w);
	(void)snprintf(g->path, sizeof(g->path), ".git/");
	(void)snprintf(g->common, sizeof(g->common), ".git/");
	assert_int_equal(git_open_refs(g), 0);
	assert_int_equal(git_open_refs(g), 0);
}

static void expect_room(const struct git_repository *g, const char *ref, enum git_room want,
			const char *hex)
{
	const struct git_name want_name = name_of(hex);
	struct git_name name;
	enum git_room room = git_room(g, ref, &name);

	if (room != want || !git_name_equal(&name, &want_name))
		fail_msg("%s: room %d, not %d", ref, room, want);
}

static void a_name_is_free_where_git_could_have_it(void **state)
{
	static struct git_repository g;
	struct world *w = *state;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/main", A "\n");
	file_at(mine(w), ".git/refs/heads/folder/x", A "\n");
	file_at(mine(w), ".git/refs/heads/other", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/broken", "words\n");
	file_at(mine(w), ".git/packed-refs",
		"# pack-refs with: peeled fully-peeled sorted \n" B " refs/heads/deep/y\n" B
		" refs/heads/packed\n");
	file_at(theirs(w), ".git/refs/heads/new", C "\n");
	file_at(theirs(w), ".git/refs/heads/newer/z", C "\n");
	open_repository(w, &g);
	expect_room(&g, "refs/heads/free", GIT_ROOM_FREE, NULL);
	expect_room(&g, "refs/heads/free/below", GIT_ROOM_FREE, NULL);
	expect_room(&g, "refs/heads/main", GIT_ROOM_HAS, A);
	expect_room(&g, "refs/heads/packed", GIT_ROOM_HAS, B);
	/* Another name, or nothing that git understands, must stay. */
	expect_room(&g, "refs/heads/other", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/broken", GIT_ROOM_TAKEN, NULL);
	/* A ref is no folder, and a folder with refs is no ref. */
	expect_room(&g, "refs/heads/main/below", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/packed/below/more", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/deep", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/folder", GIT_ROOM_TAKEN, NULL);
	/* Nor of what the session brings. */
	expect_room(&g, "refs/heads/new", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/new/below", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/newer", GIT_ROOM_TAKEN, NULL);
	/* What a bad packed-refs has not, nobody knows. */
	g.mine.bad = "bad";
	expect_room(&g, "refs/heads/free", GIT_ROOM_TAKEN, NULL);
	git_close_refs(&g);
}

/* Where the session removed one, and that is settled, its name can be had. */
static void a_name_that_the_session_removed(void **state)
{
	static struct git_repository g;
	struct world *w = *state;

	file_at(mine(w), ".git/refs/heads/gone", A "\n");
	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	whiteout_in(&w->lead, ".git/refs/heads/gone");
	open_repository(w, &g);
	choice_at(w, ".git/refs/heads/gone")->state = CHOICE_LANDS;
	expect_room(&g, "refs/heads/gone", GIT_ROOM_TAKEN, NULL);
	choice_at(w, ".git/refs/heads/gone")->state = CHOICE_SETTLED;
	expect_room(&g, "refs/heads/gone", GIT_ROOM_HAS, A);
	choice_at(w, ".git/refs/heads/gone")->state = CHOICE_KEPT;
	expect_room(&g, "refs/heads/gone", GIT_ROOM_HAS, A);
	git_close_refs(&g);
}

static void expect_beside(const struct git_repository *g, const char *ref, const char *was,
			  const char *value, enum git_found want, const char *want_name)
{
	const struct git_name from = name_of(was), to = name_of(value);
	char name[PATH_MAX] = "";
	enum git_found found = git_find_beside(g, ref, &from, &to, name);

	if (found != want || (want_name && !str_equal(name, want_name)))
		fail_msg("%s: %d as %s, not %d as %s", ref, found, name, want, want_name ?: "");
}

static void names_beside(void **state)
{
	static struct git_repository g;
	struct world *w = *state;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/main", A "\n");
	file_at(theirs(w), ".git/refs/heads/main", C "\n");
	open_repository(w, &g);
	expect_beside(&g, "refs/heads/main", NULL, C, GIT_FOUND, "refs/heads/bawn/one");
	expect_beside(&g, "HEAD", NULL, C, GIT_FOUND, "refs/heads/bawn/one");
	expect_beside(&g, "refs/stash", NULL, C, GIT_FOUND, "refs/heads/bawn/one-stash");
	expect_beside(&g, "refs/tags/v/1", NULL, C, GIT_FOUND, "refs/bawn/one/tags/v/1");
	/* What stands there is another one: a number.  The same: it has its name already. */
	file_at(mine(w), ".git/refs/heads/bawn/one", B "\n");
	expect_beside(&g, "refs/heads/main", NULL, C, GIT_FOUND, "refs/heads/bawn/one-2");
	expect_beside(&g, "refs/heads/main", NULL, B, GIT_FOUND_THERE, "refs/heads/bawn/one");
	/* What the session departed from may be replaced, and nothing else. */
	expect_beside(&g, "refs/heads/main", B, C, GIT_FOUND, "refs/heads/bawn/one");
	expect_beside(&g, "refs/heads/main", A, C, GIT_FOUND, "refs/heads/bawn/one-2");
	for (int i = 2; i <= 9; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), ".git/refs/heads/bawn/one-%d", i);
		expect_beside(&g, "refs/heads/main", NULL, C, GIT_FOUND, path + 5);
		file_at(mine(w), path, B "\n");
	}
	expect_beside(&g, "refs/heads/main", NULL, C, GIT_FOUND_NONE, NULL);
	git_close_refs(&g);
}

/* The user has a branch `bawn`, where the folder would be. */
static void flat_names_beside(void **state)
{
	static struct git_repository g;
	struct world *w = *state;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/bawn", A "\n");
	put_at(theirs(w), "x", "x\n");
	open_repository(w, &g);
	expect_beside(&g, "refs/heads/main", NULL, C, GIT_FOUND, "refs/heads/bawn-one");
	git_close_refs(&g);
}

static void what_lands_beside(void **state)
{
	static struct git_repository g;
	const struct git_name value = name_of(C);
	struct world *w = *state;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/main", A "\n");
	assert_int_equal(mkdirat(mine(w), ".git/refs/heads/bawn", 0755), 0);
	whiteout_in(&w->lead, ".git/refs/heads/bawn");
	file_at(theirs(w), ".git/refs/heads/main", C "\n");
	open_repository(w, &g);
	struct choice *of = choice_at(w, ".git/refs/heads/main");
	struct choice *folder = choice_at(w, ".git/refs/heads/bawn");
	size_t before = w->choices.beside_count;

	of->state = CHOICE_KEPT;
	folder->state = CHOICE_LANDS;
	assert_int_equal(git_add_beside(&g, of, "refs/heads/bawn/one", &value, true, false), 0);
	assert_int_equal(w->choices.beside_count, before + 1);
	const struct choice_beside *b = &w->choices.beside[before];

	assert_string_equal(b->path, ".git/refs/heads/bawn/one");
	assert_string_equal(b->branch, "bawn/one");
	assert_int_equal(b->lands.size, 41);
	assert_memory_equal(b->text, C "\n", 41);
	assert_int_equal(b->before.type, OBJECT_ABSENT);
	uint8_t digest[SHA256_SIZE];
	uint64_t size = 0;
	_cleanup_fd_ int same = openat(theirs(w), ".git/refs/heads/main", O_RDONLY | O_CLOEXEC);

	assert_int_equal(changes_hash(same, digest, &size), 0);
	assert_memory_equal(b->lands.digest, digest, sizeof(digest));
	assert_true(choice_beside_lands(&w->choices, b));
	/* The folder that the session removed stays for it. */
	assert_int_equal(folder->state, CHOICE_KEPT);
	of->state = CHOICE_LANDS;
	assert_false(choice_beside_lands(&w->choices, b));
	/* A further branch has its own name in it; and none is where one lands beside. */
	expect_beside(&g, "refs/heads/side/x", NULL, C, GIT_FOUND, "refs/heads/bawn/one-side-x");
	expect_room(&g, "refs/heads/bawn/one", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/bawn/one/below", GIT_ROOM_TAKEN, NULL);
	expect_room(&g, "refs/heads/bawn", GIT_ROOM_TAKEN, NULL);
	git_close_refs(&g);
}

/* --- what the session found ---------------------------------------------------------------- */

static void expect_found(struct git_repository *g, const char *ref, int known, const char *hex,
			 const char *symbolic)
{
	const struct git_name want = name_of(hex);
	struct git_ref_value value;

	assert_int_equal(git_found(g, ref, &value), known);
	assert_true(git_name_equal(&value.object, &want));
	assert_string_equal(value.symbolic, symbolic ?: "");
}

static void what_a_ref_was(void **state)
{
	static struct git_repository g;
	struct world *w = *state;
	struct git_ref_value value;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/refs/heads/main", A "\n");
	file_at(mine(w), ".git/packed-refs", B " refs/heads/packed\n");
	lead_keep(&w->lead.lead, ".git/refs/heads/main");
	lead_keep(&w->lead.lead, ".git/packed-refs");
	lead_keep(&w->lead.lead, ".git/HEAD");
	file_at(mine(w), ".git/refs/heads/main", B "\n");
	file_at(mine(w), ".git/packed-refs", C " refs/heads/packed\n");
	origin_is(&w->lead, ".git/refs/heads/landed", C "\n", 0644);
	file_at(theirs(w), ".git/refs/heads/main", C "\n");
	open_repository(w, &g);
	expect_found(&g, "refs/heads/main", GIT_KNOWN, A, NULL);
	expect_found(&g, "HEAD", GIT_KNOWN, NULL, "refs/heads/main");
	expect_found(&g, "refs/heads/landed", GIT_KNOWN, C, NULL);
	expect_found(&g, "refs/heads/packed", GIT_KNOWN, B, NULL);
	expect_found(&g, "refs/heads/none", GIT_KNOWN, NULL, NULL);
	/* And on both sides now. */
	git_value(&g, &g.mine, "refs/heads/main", &value);
	assert_int_equal(value.object.bytes[0], 0xbb);
	git_value(&g, &g.theirs, "refs/heads/main", &value);
	assert_int_equal(value.object.bytes[0], 0xcc);
	git_value(&g, &g.mine, "refs/heads/packed", &value);
	assert_int_equal(value.object.bytes[0], 0xcc);
	git_close_refs(&g);
}

/* Where nothing says it, it is not known; as it stands now, where that was found. */
static void what_nobody_knows(void **state)
{
	static struct git_repository g;
	struct world *w = *state;

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	file_at(mine(w), ".git/packed-refs", B " refs/heads/packed\n");
	put_at(theirs(w), "x", "x\n");
	open_repository(w, &g);
	expect_found(&g, "refs/heads/packed", GIT_KNOWN_NOT, NULL, NULL);
	git_close_refs(&g);
	lead_keep(&w->lead.lead, ".git/packed-refs");
	open_repository(w, &g);
	expect_found(&g, "refs/heads/packed", GIT_KNOWN, B, NULL);
	git_close_refs(&g);
}

static void what_head_is(void **state)
{
	struct world *w = *state;
	const struct view base = {.base = mine(w)};
	char branch[GIT_REF_NAME_MAX];

	file_at(mine(w), ".git/HEAD", "ref: refs/heads/main\n");
	git_read_head(&base, ".git/", ".git/", branch);
	assert_string_equal(branch, "refs/heads/main");
	file_at(mine(w), ".git/HEAD", A "\n");
	git_read_head(&base, ".git/", ".git/", branch);
	assert_string_equal(branch, "");
	git_read_head(&base, "none/", "none/", branch);
	assert_string_equal(branch, "");
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		ONE(a_name_is_free_where_git_could_have_it),
		ONE(a_name_that_the_session_removed),
		ONE(names_beside),
		ONE(flat_names_beside),
		ONE(what_lands_beside),
		ONE(what_a_ref_was),
		ONE(what_nobody_knows),
		ONE(what_head_is),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
