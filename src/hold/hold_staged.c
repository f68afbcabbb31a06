/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's index has of the files that are held.  A session that stages a workflow brings it in
 * git's objects: the file stays out, and git would take it from there.  So the index as it would
 * be is compared with the user's own, both sorted by path, and each entry that is new or has
 * another object is judged as a file that a commit brings.
 *
 * One that is split has its entries in a sharedindex, which we do not put together: it is held,
 * unless the user's was split or sparse already.
 *
 * What the index says beside its entries is believed by git without a look, so that must be as they
 * say: the tree of a folder, of which the next commit is made, above all.
 *
 * An entry can also say that git shall not look at its file (assume-unchanged, skip-worktree): what
 * the file says then is in no `git status`.
 */
#include "hold_commits.h"

#include "git_index_believed.h"
#include "git_place.h"
#include "str.h"

#include <stdio.h>
#include <strings.h>

enum { STAGED_INDEX_MAX = 64 << 20 };

/* In the bytes that git_index.h keeps of an entry. */
enum {
	STAGED_ASSUMED = 0x80,
	STAGED_SKIPPED = 0x40,
	STAGED_STAGE = 0x30,
	STAGED_MODE_AT = 4,
	STAGED_SUMMED = 3,
	STAGED_FILE = 0100644,
};

static int staged_compare(const struct git_index *a, const struct git_index *b)
{
	size_t len = a->path.len < b->path.len ? a->path.len : b->path.len;
	int order = memcmp(buf_str(&a->path), buf_str(&b->path), len);

	if (order == 0)
		order = (a->path.len > b->path.len) - (a->path.len < b->path.len);
	return order ? order : (a->kept[0] & STAGED_STAGE) - (b->kept[0] & STAGED_STAGE);
}

static bool staged_is_hidden(const struct git_index *x)
{
	return x->kept[0] & STAGED_ASSUMED || x->kept[2] & STAGED_SKIPPED;
}

static void staged_side(const struct git_index *x, uint32_t *ret_mode, struct git_name *ret)
{
	uint32_t mode = git_u32(x->kept + STAGED_MODE_AT);

	/* An entry is there, whatever it says. */
	*ret_mode = mode ? mode : STAGED_FILE;
	*ret = (struct git_name){.len = (uint8_t)x->object.len};
	memcpy(ret->bytes, x->object.ptr, x->object.len);
}

struct hold_staged {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct hold_news news;
	struct hold_words hidden;
	bool outside; /* an entry leads elsewhere: `hidden` has it first */
};

/* As git's own verify_path, which git does not ask when it reads an index: a name that is no place
 * beneath the top would be written elsewhere by `git checkout .`. */
static bool staged_is_outside(const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strcspn(at, "/") == 4 && strncasecmp(at, ".git", 4) == 0)
			return true;
	}
	return !str_path_is_plain(path);
}

static int staged_entry(struct hold_staged *s, const struct git_index *was,
			const struct git_index *is)
{
	struct git_difference d = {.path = buf_str(&is->path)};

	if (!s->outside && staged_is_outside(d.path)) {
		s->outside = true;
		s->hidden = (struct hold_words){.count = 0};
		hold_words_note(&s->hidden, d.path);
		return 0;
	}
	if (!s->outside && staged_is_hidden(is) && !(was && staged_is_hidden(was)))
		hold_words_note(&s->hidden, d.path);
	if (was && span_equal(was->object, is->object))
		return 0;
	staged_side(is, &d.mode, &d.object);
	if (was)
		staged_side(was, &d.old_mode, &d.old);
	int r = hold_judge_brought(s->j, s->repo, &s->news, &d);

	/* What git has no object for cannot be taken from there. */
	return r == -ENOENT ? 0 : r;
}

static int staged_walk(struct hold_staged *s, struct git_index *before, struct git_index *after)
{
	bool had = git_index_next(before);
	int r = 0;

	while (r == 0 && git_index_next(after)) {
		while (had && staged_compare(before, after) < 0)
			had = git_index_next(before);
		r = staged_entry(s, had && staged_compare(before, after) == 0 ? before : NULL,
				 after);
	}
	return r;
}

/* Which folders have a part of a repository. */
static int staged_parts(const struct hold_staged *s, struct git_index *x, bool is,
			struct hold_parts *into)
{
	char path[PATH_MAX];
	int r = 0;

	while (r == 0 && git_index_next(x) && !hold_is_late_soon(s->j)) {
		if (snprintf(path, sizeof(path), "%s%s", s->repo->prefix, buf_str(&x->path)) >=
		    (int)sizeof(path))
			continue;
		for (const char *at = path; r == 0 && at; at = strchr(at, '/')) {
			size_t len = at == path ? 0 : (size_t)(at - path);

			at += *at == '/';
			unsigned int part = git_part_of(at, strcspn(at, "/"));

			if (part)
				r = hold_part_note(into, path, len, is ? 0 : part, is ? part : 0);
		}
	}
	git_index_rewind(x);
	return r;
}

static int staged_on_undo(void *context, const char *path, uint32_t mode,
			  const struct git_name *object)
{
	struct hold_staged *s = context;
	const struct git_difference d = {.path = path, .mode = mode, .object = *object};
	int r = hold_judge_brought(s->j, s->repo, &s->news, &d);

	return r == -ENOENT ? 0 : r;
}

/* What stands beside the entries.  -EBADMSG: *ret_folder is said to be another tree than it is. */
static int staged_believed(struct hold_staged *s, struct git_index *x, struct buf *ret_folder)
{
	git_index_rewind(x);
	int r = git_index_believed(x, ret_folder);

	return r < 0 ? r : git_index_undo(x, staged_on_undo, s);
}

static int staged_all(struct hold_staged *s, struct git_index *before, struct git_index *after,
		      struct buf *ret_folder)
{
	struct hold_parts parts = {.arena = ARENA_INIT((size_t)HOLD_PART_BYTES)};
	int r = before->left ? staged_parts(s, before, false, &parts) : 0;

	if (r == 0)
		r = staged_parts(s, after, true, &parts);
	s->j->parts = &parts;
	if (r == 0)
		r = staged_walk(s, before, after);
	if (r == 0)
		r = staged_believed(s, after, ret_folder);
	s->j->parts = NULL;
	arena_fini(&parts.arena);
	return r == -ENOMEM && !s->j->error->code ? hold_no_memory(s->j) : r;
}

static int staged_say(struct hold_judge *j, const struct hold_staged *s, const char *gitdir,
		      struct hold_verdict *v)
{
	if (s->outside)
		return hold_say(j, v,
				"it has %s, which is no place in the folder: git checkout and git "
				"restore would write there",
				s->hidden.list);
	int r = hold_follow_head(j, gitdir, &s->news, v);

	/* It is told for itself when it has more than the branch brings. */
	if (r == 0 && s->news.count && !v->with) {
		v->most = HOLD_HOLD;
		return hold_say_news(j, &s->news, v, "git's index");
	}

	if (r < 0 || v->most == HOLD_HOLD)
		return r;
	if (s->news.hidden.count && s->hidden.count == 0)
		return hold_say_hidden(j, &s->news, v, "git's index");
	if (s->hidden.count == 0)
		return 0;
	v->most = HOLD_FLAG;
	return s->hidden.count > STAGED_SUMMED
		       ? hold_say(j, v,
				  "git status would not say when these change: %s and %zu more "
				  "(assume-unchanged, skip-worktree)",
				  s->hidden.list, s->hidden.count - STAGED_SUMMED)
		       : hold_say(j, v,
				  "git status would not say when it changes: %s "
				  "(assume-unchanged, skip-worktree)",
				  s->hidden.list);
}

/* The entries of a split index that come with the session. */
static bool staged_is_shared(const char *name)
{
	return strncasecmp(name, "sharedindex.", strlen("sharedindex.")) == 0;
}

static bool staged_has_shared(const struct hold_judge *j, const char *gitdir)
{
	size_t len = strlen(gitdir);

	for (size_t i = 0; i < j->changes->count; i++) {
		const char *rest = str_after(j->changes->items[i].path, gitdir);

		if (rest && (len == 0 || *rest++ == '/') && staged_is_shared(rest) &&
		    j->changes->items[i].after.type != OBJECT_ABSENT)
			return true;
	}
	return false;
}

/* Split or sparse: the user's own was so, and no entries come with it. */
static bool staged_was_odd(struct hold_judge *j, const char *path, const char *gitdir)
{
	_cleanup_buf_ struct buf was = BUF_INIT(STAGED_INDEX_MAX);
	struct git_index before = GIT_INDEX_INIT;
	int r = hold_read_path(&j->before, path, STAGED_INDEX_MAX, &was);

	if (r == 0)
		r = git_index_open(&before, buf_span(&was));
	git_index_close(&before);
	return r == -ENOTSUP && !staged_has_shared(j, gitdir);
}

int hold_by_staged(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	_cleanup_buf_ struct buf was = BUF_INIT(STAGED_INDEX_MAX), is = BUF_INIT(STAGED_INDEX_MAX);
	_cleanup_buf_ struct buf folder = BUF_INIT(STAGED_INDEX_MAX);
	struct git_index before = GIT_INDEX_INIT, after = GIT_INDEX_INIT;
	struct hold_staged s = {.j = j, .news.checked_out = true};
	char gitdir[PATH_MAX];
	const char *rest = NULL;
	int r = hold_read_path(j->view, c->path, STAGED_INDEX_MAX, &is);

	if (!hold_gitdir_of(j, c->path, gitdir, &rest)) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (staged_is_shared(rest))
		return hold_say(j, v, "%s, and it cannot be looked into", v->why);
	s.repo = hold_repo_of(j, gitdir);
	if (!s.repo)
		return error_set(j->error, -ENOMEM, "no memory to look into git's index");
	if (r == 0)
		r = git_index_open(&after, buf_span(&is));
	/* Bytes can be an index by either length of names: git reads it by that of the repository.
	 */
	if (r == 0 && after.name != s.repo->len)
		r = -EPROTO;
	bool odd = r == -ENOTSUP;

	if (r == 0) {
		/* Without one that can be read, all of it is new. */
		if (hold_read_path(&j->before, c->path, STAGED_INDEX_MAX, &was) < 0 ||
		    git_index_open(&before, buf_span(&was)) < 0)
			before.left = 0;
		r = staged_all(&s, &before, &after, &folder);
	}
	git_index_close(&before);
	git_index_close(&after);
	if (r < 0 && j->error->code)
		return r;
	const char *middle =
		r == 0 && !s.outside && !s.news.count ? hold_middle(j, c->path, rest) : NULL;

	if (middle)
		return hold_say_with(j, v, middle);
	if (r == 0)
		return staged_say(j, &s, gitdir, v);
	if (r == -EBADMSG)
		return hold_say(
			j, v,
			"it says of the folder %.*s that it is another tree than its files: "
			"git commit would take that tree",
			HOLD_WORD_MAX, folder.len ? buf_str(&folder) : "at the top");
	if (odd && staged_was_odd(j, c->path, gitdir))
		v->most = HOLD_FLAG;
	return hold_say(j, v, "%s, and it cannot be looked into", v->why);
}
