/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a branch takes back.
 *
 * The user may commit while the session runs.  git in the box then sees the branch where the user
 * moved it, but an older index.  The session's next commit follows the user's, and its tree does
 * not have what the user did.  `git merge` believes that the session meant this, because its commit
 * comes after.  So we read from the user's own log where the branch was when the session began, and
 * since then.  Take a file that the user's commits changed meanwhile.  If the session's commit has
 * it as it was before them, or made from that, then the session takes the user's change back.
 */
#include "hold_commits.h"

#include "linediff.h"
#include "str.h"

#include <string.h>

enum { TAKEN_SHORT = 7, TAKEN_LOG_MAX = 4 << 20, TAKEN_BASES_MAX = 64, TAKEN_TEXT_MAX = 1 << 20 };

struct hold_taken {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct git_name tree; /* the tree of the session's commit */
	struct hold_words words;
};

/* The time of "A U Thor <a@u.example> 1700000000 +0100\tcommit: words"; 0: it has none. */
static uint64_t taken_time(struct span words)
{
	const uint8_t *tab = memchr(words.ptr, '\t', words.len);
	struct span who = {words.ptr, tab ? (size_t)(tab - words.ptr) : words.len};
	const uint8_t *end = memrchr(who.ptr, '>', who.len);
	uint64_t seconds = 0;

	if (!end || end + 2 >= who.ptr + who.len)
		return 0;
	struct reader r = reader_of(span_skip(who, (size_t)(end + 2 - who.ptr)));

	return reader_decimal(&r, &seconds) ? seconds : 0;
}

/* Writes where the user's branch was when the session began, and since, the oldest first.  Returns
 * how many. */
static size_t taken_bases(struct hold_judge *j, const struct hold_repo *repo, const char *name,
			  struct git_name ret[TAKEN_BASES_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	uint64_t began = (uint64_t)(j->rules->since / INT64_C(1000000000));
	char dir[PATH_MAX], path[PATH_MAX];
	size_t count = 0;

	if (!git_join(dir, repo->gitdir, "logs") || !git_join(path, dir, name) ||
	    hold_read_path(&j->before, path, TAKEN_LOG_MAX, &text) < 0)
		return 0;
	for (struct span left = buf_span(&text); left.len > 0 && count < TAKEN_BASES_MAX;) {
		const uint8_t *end = memchr(left.ptr, '\n', left.len);
		struct span line = {left.ptr, end ? (size_t)(end - left.ptr) : left.len};
		struct git_log_line one;

		left = span_skip(left, line.len + (end != NULL));
		if (git_log_parse(line, &one) && !git_name_is_null(&one.old) &&
		    taken_time(one.words) > began)
			ret[count++] = one.old;
	}
	return count;
}

/* Reads a file of a tree as text; 1: it is no text, or too long. */
static int taken_read(struct hold_taken *t, uint32_t mode, const struct git_name *object,
		      struct buf *into)
{
	enum git_kind kind = GIT_KIND_BLOB;
	int r = mode ? git_store_read(t->repo->walk.store, object, TAKEN_TEXT_MAX, &kind, into) : 0;

	if (r == -E2BIG || (r == 0 && (kind != GIT_KIND_BLOB || lines_is_binary(buf_span(into)))))
		return 1;
	return r;
}

/* *ret: how many lines differ. */
static int taken_distance(const struct buf *a, const struct buf *b, size_t *ret)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(LINEDIFF_ARENA);
	struct lines before, after;
	struct linediff d;
	int r = lines_cut(buf_span(a), &arena, &before);

	if (r == 0)
		r = lines_cut(buf_span(b), &arena, &after);
	if (r == 0)
		r = linediff(&before, &after, &arena, &d);
	if (r == 0)
		*ret = d.added + d.removed;
	return r;
}

/*
 * All three differ.  1: the session's file is nearer to what the user had before than to what the
 * user made of it, so it takes the change back.  If it is no text, nobody can know: 1.
 */
static int taken_is_nearer(struct hold_taken *t, const struct git_difference *d, uint32_t mode,
			   const struct git_name *now)
{
	_cleanup_buf_ struct buf was = BUF_INIT(TAKEN_TEXT_MAX), is = BUF_INIT(TAKEN_TEXT_MAX),
				 comes = BUF_INIT(TAKEN_TEXT_MAX);
	size_t to_was = 0, to_is = 0;
	int r = taken_read(t, d->old_mode, &d->old, &was);

	if (r == 0)
		r = taken_read(t, d->mode, &d->object, &is);
	if (r == 0)
		r = taken_read(t, mode, now, &comes);
	if (r == 0)
		r = taken_distance(&was, &comes, &to_was);
	if (r == 0)
		r = taken_distance(&is, &comes, &to_is);
	if (r == -E2BIG)
		return 1;
	return r ? r : to_was <= to_is;
}

/* Notes a file that the user changed, if it is again what it was, or was made from that. */
static int taken_on_difference(void *context, const struct git_difference *d)
{
	struct hold_taken *t = context;
	struct git_name now = {.len = 0};
	int mode = hold_is_late(t->j) ? -ETIME
				      : git_walk_lookup(&t->repo->walk, &t->tree, d->path, &now);

	if (mode < 0)
		return mode;
	if ((uint32_t)mode == d->mode && (!mode || git_name_equal(&now, &d->object)))
		return 0;
	bool again = (uint32_t)mode == d->old_mode && (!mode || git_name_equal(&now, &d->old));
	int r = again ? 1 : taken_is_nearer(t, d, (uint32_t)mode, &now);

	if (r > 0)
		hold_words_note(&t->words, d->path);
	return r < 0 ? r : 0;
}

/* 1: its commits come after the user's.  0: they do not, and git merges the two.  Or -errno. */
static int taken_follows(struct hold_repo *repo, const struct git_name *tip,
			 const struct git_name *user)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	int r = git_walk_news(&repo->walk, tip, &news);

	for (size_t i = 0; r == 0 && news.count && i < news.base_count; i++)
		if (git_name_equal(&news.bases[i], user))
			return 1;
	return r;
}

static int taken_look(struct hold_taken *t, const char *name, const struct git_name *user,
		      const struct git_name *tip)
{
	struct git_name bases[TAKEN_BASES_MAX], commit;
	size_t count = taken_bases(t->j, t->repo, name, bases);
	struct git_commit was, is, comes;
	int r = count ? taken_follows(t->repo, tip, user) : 0;

	if (r <= 0)
		return r;
	r = git_walk_commit(&t->repo->walk, user, &commit, &is);
	if (r == 0)
		r = git_walk_commit(&t->repo->walk, tip, &commit, &comes);
	if (r == 0)
		t->tree = comes.tree;
	for (size_t i = 0; r == 0 && i < count && t->words.count == 0; i++) {
		r = git_walk_commit(&t->repo->walk, &bases[i], &commit, &was);
		if (r == 0)
			r = git_walk_trees(&t->repo->walk, &was.tree, &is.tree, taken_on_difference,
					   NULL, t);
	}
	return r;
}

int hold_judge_taken(struct hold_judge *j, struct hold_repo *repo, const char *name,
		     const struct git_name *user, const struct git_name *tip, struct hold_news *n)
{
	struct hold_taken t = {.j = j, .repo = repo};
	char hex[GIT_HEX_MAX + 1], more[32] = "";

	if (j->rules->since == 0 || n->bad || n->cut || user->len == 0 ||
	    !str_after(name, "refs/heads/") || git_name_equal(user, tip))
		return 0;
	int r = taken_look(&t, name, user, tip);

	/* That the session's commits cannot be read was said before.  The user's own may be cut
	 * short. */
	if (r == -ENOMEM)
		return error_set(j->error, r, "no memory to look into commits");
	if (r < 0 || t.words.count == 0)
		return 0;
	if (t.words.count > HOLD_WORDS_TOLD)
		(void)snprintf(more, sizeof(more), " and %zu more",
			       t.words.count - HOLD_WORDS_TOLD);
	git_name_hex(tip, hex);
	n->bad = arena_printf(&j->changes->arena,
			      "the commit %.*s takes back what you committed since the session "
			      "began: %s%s: it was made from files that are older",
			      TAKEN_SHORT, hex, t.words.list, more);
	n->takes_back = true;
	return n->bad ? 0 : error_set(j->error, -ENOMEM, "no memory to look into commits");
}
