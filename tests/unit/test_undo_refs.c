/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refs go back to what they said, in whatever file that stands by now.  A ref that the user moved
 * since stays where he moved it, no other one is touched, and no branch goes on which he stands.
 */
#include "cmocka_lead.h"

#include "first_lead.h"

#include "basis.h"
#include "git_refs.h"
#include "sha256.h"
#include "str.h"
#include "undo_direct.h"
#include "undo_refs.h"

#include <sys/mman.h>

enum { REFS = 5, LANDED = 4, FILES = REFS + 2, WORLDS = 120 };

/* The last one is the user's alone. */
static const char *const names[REFS] = {"refs/heads/a", "refs/heads/b", "refs/heads/c",
					"refs/tags/t", "refs/heads/user"};

struct ref {
	char value; /* 0: there is none */
	bool packed;
};

struct repository {
	struct ref refs[REFS];
	size_t on; /* which one HEAD is */
};

struct world {
	struct first_lead lead;
	int journal;
	struct arena arena;
	struct land_undo *kept;
	struct undo_refs refs;
	struct land_step *steps;
	size_t count;
};

/* The objects that refs can be of: it only matters whether they are there. */
static void put_objects(const struct world *w)
{
	for (int value = 'a'; value <= 'e'; value++) {
		char path[64], rest[39];

		memset(rest, value, 38);
		rest[38] = '\0';
		(void)snprintf(path, sizeof(path), ".git/objects/%c%c", value, value);
		assert_int_equal(mkdirat(w->lead.tree, path, 0755), 0);
		(void)snprintf(path, sizeof(path), ".git/objects/%c%c/%s", value, value, rest);
		put_at(w->lead.tree, path, "object");
	}
}

static void world_open(struct world *w)
{
	static const char *const folders[] = {".git", ".git/objects", ".git/refs",
					      ".git/refs/heads", ".git/refs/tags"};

	*w = (struct world){.arena = ARENA_INIT(1 << 20)};
	lead_open(&w->lead);
	w->journal = layers_journal(&w->lead.layers, true);
	assert_true(w->journal >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdirat(w->lead.tree, folders[i], 0755), 0);
	put_at(w->lead.tree, ".git/index", "index");
	put_objects(w);
}

static void world_close(struct world *w)
{
	undo_refs_fini(&w->refs);
	free(w->refs.now);
	free(w->refs.changed);
	free(w->steps);
	land_undo_free(&w->kept);
	arena_fini(&w->arena);
	(void)close(w->journal);
	lead_close(&w->lead);
}

/* --- a repository, as files -------------------------------------------------------------- */

static void hex_of(char value, char ret[41])
{
	memset(ret, value, 40);
	ret[40] = '\0';
}

/* "": there is no such file. */
static void packed_text(const struct repository *r, struct buf *into)
{
	static const size_t order[REFS] = {0, 1, 2, 4, 3};
	char hex[41];

	for (size_t i = 0; i < REFS; i++) {
		const struct ref *one = &r->refs[order[i]];

		if (!one->value || !one->packed)
			continue;
		if (into->len == 0)
			buf_put_str(into, "# pack-refs with: peeled fully-peeled sorted \n");
		hex_of(one->value, hex);
		buf_putf(into, "%s %s\n", hex, names[order[i]]);
		if (str_after(names[order[i]], "refs/tags/"))
			buf_putf(into, "^%s\n", hex);
	}
}

static const char *file_path(size_t i, char ret[64])
{
	(void)snprintf(ret, 64, ".git/%s", i == 0 ? "HEAD" : i == 1 ? "packed-refs" : names[i - 2]);
	return ret;
}

static void file_text(const struct repository *r, size_t i, struct buf *into)
{
	char hex[41];

	if (i == 0) {
		buf_putf(into, "ref: %s\n", names[r->on]);
	} else if (i == 1) {
		packed_text(r, into);
	} else if (r->refs[i - 2].value && !r->refs[i - 2].packed) {
		hex_of(r->refs[i - 2].value, hex);
		buf_putf(into, "%s\n", hex);
	}
}

static void write_repository(const struct world *w, const struct repository *r)
{
	for (size_t i = 0; i < FILES; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		char path[64];

		file_text(r, i, &text);
		if (text.len > 0)
			put_at(w->lead.tree, file_path(i, path), buf_str(&text));
		else
			(void)unlinkat(w->lead.tree, file_path(i, path), 0);
	}
}

/* --- landing ----------------------------------------------------------------------------- */

struct texts {
	struct buf items[FILES];
};

static int open_text(void *context, size_t i)
{
	const struct texts *t = context;
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, t->items[i].ptr, t->items[i].len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct object object_of(struct span text)
{
	struct object o = {
		.type = OBJECT_FILE, .mode = 0644, .size = text.len, .hashed = true, .layer = -1};
	struct sha256 sum;

	sha256_begin(&sum);
	sha256_add(&sum, text);
	sha256_end(&sum, o.digest);
	return o;
}

/* Whether anything did. */
static bool land_repository(struct world *w, const struct repository *before,
			    const struct repository *after)
{
	struct texts texts;
	struct land_step steps[FILES];
	char paths[FILES][64];
	const struct land_how how = {.tree = w->lead.tree,
				     .journal = w->journal,
				     .what = "apply",
				     .open = open_text,
				     .context = &texts};
	struct land_result result;
	struct error e = ERROR_INIT;
	size_t count = 0;

	for (size_t i = 0; i < FILES; i++) {
		_cleanup_buf_ struct buf was = BUF_INIT(4096);
		struct buf is = BUF_INIT(4096);

		file_text(before, i, &was);
		file_text(after, i, &is);
		if (str_equal(buf_str(&was), buf_str(&is))) {
			buf_fini(&is);
			continue;
		}
		steps[count] = (struct land_step){.path = file_path(i, paths[count]), .source = -1};
		assert_int_equal(undo_look(w->lead.tree, paths[count], &steps[count].before), 0);
		if (is.len > 0)
			steps[count].after = object_of(buf_span(&is));
		texts.items[count++] = is;
	}
	if (count > 0 && land(&how, steps, count, &result, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < count; i++)
		buf_fini(&texts.items[i]);
	return count > 0;
}

/* --- undo -------------------------------------------------------------------------------- */

static void judge(struct world *w)
{
	struct error e = ERROR_INIT;
	size_t unread = 0;

	assert_int_equal(land_undo_open(w->journal, &w->kept, &unread, &e), 0);
	const struct land_step *steps = land_undo_steps(w->kept, &w->count);

	w->steps = calloc(w->count, sizeof(*steps));
	memcpy(w->steps, steps, w->count * sizeof(*steps));
	bool *marks = calloc(4 * w->count, sizeof(*marks));

	w->refs = (struct undo_refs){.arena = &w->arena,
				     .tree = w->lead.tree,
				     .kept = w->kept,
				     .steps = w->steps,
				     .count = w->count,
				     .now = calloc(w->count, sizeof(struct object)),
				     .changed = marks,
				     .left = marks + w->count,
				     .valued = marks + 2 * w->count,
				     .stands = marks + 3 * w->count};
	for (size_t i = 0; i < w->count; i++) {
		assert_int_equal(undo_look(w->lead.tree, steps[i].path, &w->refs.now[i]), 0);
		w->refs.changed[i] = !basis_same(&w->refs.now[i], &steps[i].before);
	}
	assert_int_equal(undo_refs_judge(&w->refs), 0);
}

static void put_step(const struct world *w, const struct land_step *s, struct span text)
{
	struct object is;

	assert_int_equal(undo_look(w->lead.tree, s->path, &is), 0);
	assert_true(basis_same(&is, &s->before));
	if (s->after.type == OBJECT_ABSENT)
		assert_int_equal(unlinkat(w->lead.tree, s->path, 0), 0);
	else if (s->after.type == OBJECT_DIR)
		assert_int_equal(mkdirat(w->lead.tree, s->path, s->after.mode), 0);
	else
		put_at(w->lead.tree, s->path, text.ptr ? (const char *)text.ptr : "");
}

/* Where one file stays all of the repository does: undo_git.h. */
static void leave_repository(const struct world *w)
{
	bool stays = false;

	for (size_t i = 0; i < w->count; i++)
		stays = stays || w->refs.changed[i];
	for (size_t i = 0; stays && i < w->count; i++)
		w->refs.left[i] = true;
}

static void undo(struct world *w)
{
	struct undo_refs *r = &w->refs;

	undo_refs_leave(r);
	leave_repository(w);
	assert_int_equal(undo_refs_add(r), 0);
	for (size_t i = 0; i < r->added_count; i++) {
		const struct undo_added *a = &r->added[i];
		_cleanup_buf_ struct buf text = BUF_INIT(4096);

		buf_put(&text, a->text.ptr, a->text.len);
		(void)buf_str(&text);
		if (a->step.after.type == OBJECT_FILE) {
			const struct object o = object_of(a->text);

			assert_true(basis_same_content(&o, &a->step.after));
		}
		put_step(w, &a->step, buf_span(&text));
	}
	for (size_t i = 0; i < w->count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);

		if (r->left[i] || r->changed[i] || r->valued[i])
			continue;
		if (w->steps[i].after.type == OBJECT_FILE) {
			_cleanup_fd_ int fd = land_undo_content(w->kept, i);

			assert_true(fd >= 0);
			assert_int_equal(fd_read_all(fd, &text), 0);
			(void)buf_str(&text);
		}
		put_step(w, &w->steps[i], buf_span(&text));
	}
}

/* What a ref is now; 0: there is none. */
static char value_of(const struct world *w, const char *name)
{
	const struct view base = {.base = w->lead.tree};
	struct git_refs refs = GIT_REFS_INIT;
	struct git_name value;
	char hex[GIT_HEX_MAX + 1] = "";

	assert_int_equal(git_refs_open(&base, ".git", &refs), 0);
	assert_null(refs.bad);
	if (git_refs_value(&refs, "", name, &value) == 0)
		git_name_hex(&value, hex);
	git_refs_close(&refs);
	return hex[0];
}

/* --- the property ------------------------------------------------------------------------ */

static uint32_t draw(unsigned int *seed, uint32_t below)
{
	return (uint32_t)rand_r(seed) / 7 % below;
}

static void draw_refs(unsigned int *seed, struct repository *r)
{
	for (size_t i = 0; i < LANDED; i++)
		r->refs[i] = (struct ref){"\0abc"[draw(seed, 4)], draw(seed, 2)};
}

/* What the user did since. */
static void draw_user(unsigned int *seed, struct repository *r)
{
	size_t one = draw(seed, REFS);

	if (draw(seed, 2))
		for (size_t i = 0; i < REFS; i++)
			r->refs[i].packed = true;
	if (draw(seed, 3) == 0)
		r->refs[one] = (struct ref){"\0d"[draw(seed, 2)], draw(seed, 2)};
	r->on = draw(seed, 3);
}

/* It has a file of its own on one side, and another one on the other. */
static bool has_file(const struct repository *before, const struct repository *after, size_t i)
{
	const struct ref a = before->refs[i], b = after->refs[i];
	char was = a.packed ? 0 : a.value, is = b.packed ? 0 : b.value;

	return was != is;
}

/* The landing could have moved it. */
static bool is_landed(const struct repository *before, const struct repository *after, size_t i)
{
	return before->refs[i].value != after->refs[i].value || has_file(before, after, i);
}

static void one_world(unsigned int seed)
{
	struct repository before = {.refs = {[4] = {'e', seed % 2}}, .on = 4}, after, now;
	unsigned int draws = seed;
	bool known = true;
	struct world w;

	world_open(&w);
	draw_refs(&draws, &before);
	after = before;
	draw_refs(&draws, &after);
	now = after;
	draw_user(&draws, &now);
	write_repository(&w, &before);
	if (land_repository(&w, &before, &after)) {
		write_repository(&w, &now);
		judge(&w);
		for (size_t i = 0; i < LANDED; i++)
			known = known && (!is_landed(&before, &after, i) ||
					  now.refs[i].value == after.refs[i].value ||
					  now.refs[i].value == before.refs[i].value);
		undo(&w);
		for (size_t i = 0; i < REFS; i++) {
			char back = before.refs[i].value, was = now.refs[i].value;
			char is = value_of(&w, names[i]);
			bool stands = was && was != back && now.on == i;
			/* The user stands on one of packed-refs, which stays whole. */
			bool with =
				now.on < LANDED && now.refs[now.on].value &&
				before.refs[now.on].value != now.refs[now.on].value &&
				(!has_file(&before, &after, now.on) || now.refs[now.on].packed) &&
				!has_file(&before, &after, i);

			if (with && is == was)
				continue;

			if (is != (known && is_landed(&before, &after, i) && !stands ? back : was))
				fail_msg("seed %u: %s is %c, was %c, before %c", seed, names[i],
					 is ?: '-', was ?: '-', back ?: '-');
		}
	}
	world_close(&w);
}

static void refs_go_back_by_what_they_said(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= WORLDS; seed++)
		one_world(seed);
}

/* --- cases ------------------------------------------------------------------------------- */

static ssize_t step_of(const struct world *w, const char *path)
{
	return journal_find_step(land_undo_journal(w->kept), path);
}

/* The branch that a worktree of the user's has checked out stays, with its log. */
static void a_branch_of_a_worktree_stays(void **state)
{
	const struct repository before = {.refs = {[4] = {'e', false}}, .on = 4};
	struct repository after = before;
	struct world w;

	(void)state;
	world_open(&w);
	after.refs[0].value = 'a';
	after.refs[1].value = 'b';
	write_repository(&w, &before);
	assert_true(land_repository(&w, &before, &after));
	assert_int_equal(mkdirat(w.lead.tree, ".git/worktrees", 0755), 0);
	assert_int_equal(mkdirat(w.lead.tree, ".git/worktrees/w", 0755), 0);
	put_at(w.lead.tree, ".git/worktrees/w/HEAD", "ref: refs/heads/a\n");
	judge(&w);
	undo(&w);
	assert_int_equal(value_of(&w, "refs/heads/a"), 'a');
	assert_int_equal(value_of(&w, "refs/heads/b"), 0);
	assert_true(w.refs.stands[step_of(&w, ".git/refs/heads/a")]);
	assert_false(w.refs.stands[step_of(&w, ".git/refs/heads/b")]);
	world_close(&w);
}

/* A branch does not move back beneath what a worktree has checked out, nor beneath what is rebased
 * there; without an index nothing is. */
static void a_branch_does_not_move_beneath_a_worktree(void **state)
{
	static const struct {
		const char *head, *rebased;
		bool index, stays;
	} rows[] = {
		{"ref: refs/heads/a\n", NULL, true, true},
		{"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\n", "refs/heads/a\n", true, true},
		{"ref: refs/heads/a\n", NULL, false, false},
		{"ref: refs/heads/user\n", NULL, true, false},
	};
	const struct repository before = {.refs = {{'a', false}, {'b', false}, [4] = {'e', false}},
					  .on = 4};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct repository after = before;
		struct world w;

		world_open(&w);
		after.refs[0].value = after.refs[1].value = 'c';
		write_repository(&w, &before);
		assert_true(land_repository(&w, &before, &after));
		assert_int_equal(mkdirat(w.lead.tree, ".git/worktrees", 0755), 0);
		assert_int_equal(mkdirat(w.lead.tree, ".git/worktrees/w", 0755), 0);
		put_at(w.lead.tree, ".git/worktrees/w/HEAD", rows[i].head);
		if (rows[i].index)
			put_at(w.lead.tree, ".git/worktrees/w/index", "index");
		if (rows[i].rebased) {
			assert_int_equal(
				mkdirat(w.lead.tree, ".git/worktrees/w/rebase-merge", 0755), 0);
			put_at(w.lead.tree, ".git/worktrees/w/rebase-merge/head-name",
			       rows[i].rebased);
		}
		judge(&w);
		undo(&w);
		assert_int_equal(value_of(&w, "refs/heads/a"), rows[i].stays ? 'c' : 'a');
		assert_int_equal(value_of(&w, "refs/heads/b"), 'b');
		assert_int_equal(w.refs.stands[step_of(&w, ".git/refs/heads/a")], rows[i].stays);
		world_close(&w);
	}
}

/* What git needs as a folder now stays so. */
static void a_ref_does_not_come_back_over_others(void **state)
{
	struct repository before = {.refs = {[0] = {'a', true}, [4] = {'e', false}}, .on = 4};
	struct repository after = before;
	struct world w;

	(void)state;
	world_open(&w);
	after.refs[0].value = 0;
	write_repository(&w, &before);
	assert_true(land_repository(&w, &before, &after));
	put_at(w.lead.tree, ".git/packed-refs",
	       "dddddddddddddddddddddddddddddddddddddddd refs/heads/a/below\n");
	judge(&w);
	undo(&w);
	assert_int_equal(value_of(&w, "refs/heads/a"), 0);
	assert_int_equal(value_of(&w, "refs/heads/a/below"), 'd');
	world_close(&w);
}

/* A ref does not go back to what is not in the repository any more. */
static void a_ref_does_not_go_back_to_what_was_pruned(void **state)
{
	const struct repository before = {.refs = {{'a', false}, {'b', false}, [4] = {'e', false}},
					  .on = 4};
	struct repository after = before;
	struct world w;

	(void)state;
	world_open(&w);
	after.refs[0].value = 'c';
	after.refs[1].value = 'c';
	write_repository(&w, &before);
	assert_true(land_repository(&w, &before, &after));
	assert_int_equal(
		unlinkat(w.lead.tree, ".git/objects/aa/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0),
		0);
	judge(&w);
	undo(&w);
	assert_int_equal(value_of(&w, "refs/heads/a"), 'c');
	assert_int_equal(value_of(&w, "refs/heads/b"), 'c');
	world_close(&w);
}

/* Where packed-refs stays, a branch that had its only line there before does not go with its file:
 * because the user stands on one that came with it, or because he named that branch alone. */
static void a_branch_comes_back_without_packed_refs(void **state)
{
	const struct repository before = {.refs = {[2] = {'c', true}, [4] = {'e', false}}, .on = 4};
	struct repository after = before, now;

	(void)state;
	after.refs[1] = (struct ref){'b', true};
	after.refs[2] = (struct ref){'a', false};
	now = after;
	now.on = 1;
	for (int named = 0; named < 2; named++) {
		struct world w;

		world_open(&w);
		write_repository(&w, &before);
		assert_true(land_repository(&w, &before, &after));
		write_repository(&w, named ? &after : &now);
		judge(&w);
		if (named)
			w.refs.left[step_of(&w, ".git/packed-refs")] = true;
		undo(&w);
		assert_int_equal(value_of(&w, "refs/heads/b"), 'b');
		assert_int_equal(value_of(&w, "refs/heads/c"), 'c');
		world_close(&w);
	}
}

/* `git gc` of the user's wrote the packed-refs that landed, and no ref is another one. */
static void packed_refs_that_was_written_again_is_no_change(void **state)
{
	const struct repository before = {
		.refs = {{'a', false}, [3] = {'a', false}, [4] = {'e', false}}, .on = 4};
	struct repository after = before, now;
	struct world w;

	(void)state;
	after.refs[0].value = 0;
	after.refs[3] = (struct ref){'b', true};
	now = after;
	now.refs[4].packed = true;
	world_open(&w);
	write_repository(&w, &before);
	assert_true(land_repository(&w, &before, &after));
	write_repository(&w, &now);
	judge(&w);
	undo(&w);
	assert_int_equal(value_of(&w, "refs/heads/a"), 'a');
	assert_int_equal(value_of(&w, "refs/tags/t"), 'a');
	assert_int_equal(value_of(&w, "refs/heads/user"), 'e');
	world_close(&w);
}

/* `git gc` removes empty folders: they come again, each once. */
static void folders_on_the_way_are_made(void **state)
{
	struct repository before = {.refs = {[0] = {'a', false}, [4] = {'e', true}}, .on = 4};
	struct repository after = before;
	struct world w;

	(void)state;
	world_open(&w);
	after.refs[0].value = 0;
	write_repository(&w, &before);
	assert_true(land_repository(&w, &before, &after));
	judge(&w);
	assert_int_equal(unlinkat(w.lead.tree, ".git/refs/heads", AT_REMOVEDIR), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(undo_refs_add_folders(&w.refs, ".git/refs/heads/x/y"), 0);
	assert_int_equal(w.refs.added_count, 2);
	assert_string_equal(w.refs.added[0].step.path, ".git/refs/heads/x");
	assert_string_equal(w.refs.added[1].step.path, ".git/refs/heads");
	assert_int_equal(w.refs.added[0].step.after.type, OBJECT_DIR);
	assert_int_equal(w.refs.added[0].step.before.type, OBJECT_ABSENT);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refs_go_back_by_what_they_said),
		cmocka_unit_test(a_branch_of_a_worktree_stays),
		cmocka_unit_test(a_branch_does_not_move_beneath_a_worktree),
		cmocka_unit_test(a_ref_does_not_come_back_over_others),
		cmocka_unit_test(a_ref_does_not_go_back_to_what_was_pruned),
		cmocka_unit_test(a_branch_comes_back_without_packed_refs),
		cmocka_unit_test(packed_refs_that_was_written_again_is_no_change),
		cmocka_unit_test(folders_on_the_way_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
