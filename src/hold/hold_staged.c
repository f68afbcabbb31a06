/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's index has of the files that are held.  A session that stages a workflow brings it in
 * git's objects: the file does not land, but git could take it from there.  So we compare the
 * session's index with the user's, both sorted by path.  We judge each entry that is new or has
 * another object as a file that a commit brings.
 *
 * A sparse index has folders among its entries.  We follow their trees like those of commits, and
 * compare them with what the user's index has there, a tree or files.
 *
 * A split index has its entries in a sharedindex, and we do not put the two together.  It is held,
 * unless its entries are byte for byte the user's.
 *
 * git believes what the index says beside its entries without a check.  So that must agree with the
 * entries: above all the tree of a folder, from which git makes the next commit.
 *
 * An entry can also tell git not to look at its file (assume-unchanged, skip-worktree): then no
 * `git status` shows what is in the file.
 */
#include "hold_commits.h"

#include "git_index_believed.h"
#include "git_place.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { STAGED_INDEX_MAX = 64 << 20, STAGED_LIST_MAX = 512 << 20 };

/* Bits and offsets in the bytes that git_index.h keeps of an entry. */
enum {
	STAGED_ASSUMED = 0x80,
	STAGED_SKIPPED = 0x40,
	STAGED_STAGE = 0x30,
	STAGED_MODE_AT = 4,
	STAGED_SUMMED = 3,
	STAGED_FILE = 0100644,
	STAGED_TYPE = 0170000,
	STAGED_FOLDER = 040000,
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

	/* An entry without a mode is still there. */
	*ret_mode = mode ? mode : STAGED_FILE;
	*ret = (struct git_name){.len = (uint8_t)x->object.len};
	memcpy(ret->bytes, x->object.ptr, x->object.len);
}

struct hold_staged {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct hold_news news;
	struct hold_words hidden;
	bool outside; /* an entry leads elsewhere: `hidden` then has only that path */
	/* For a sparse index: the entries of the user's, sorted by path. */
	struct arena arena;
	struct staged_had *had;
	size_t had_count;
};

/* The same as git's verify_path, which git does not call when it reads an index.  `git checkout .`
 * would write a file with such a name elsewhere than beneath the top. */
static bool staged_is_outside(const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strcspn(at, "/") == 4 && strncasecmp(at, ".git", 4) == 0)
			return true;
	}
	return !str_path_is_plain(path);
}

/* Judges a file of the session's index. */
static int staged_file(struct hold_staged *s, const struct git_difference *d)
{
	if (!s->outside && staged_is_outside(d->path)) {
		s->outside = true;
		s->hidden = (struct hold_words){.count = 0};
		hold_words_note(&s->hidden, d->path);
		return 0;
	}
	if (d->old_mode && git_name_equal(&d->old, &d->object))
		return 0;
	int r = hold_judge_brought(s->j, s->repo, &s->news, d);

	/* If git has no object, it cannot take the file from there. */
	return r == -ENOENT ? 0 : r;
}

static int staged_entry(struct hold_staged *s, const struct git_index *was,
			const struct git_index *is)
{
	struct git_difference d = {.path = buf_str(&is->path)};

	if (!s->outside && staged_is_hidden(is) && !(was && staged_is_hidden(was)))
		hold_words_note(&s->hidden, d.path);
	staged_side(is, &d.mode, &d.object);
	if (was)
		staged_side(was, &d.old_mode, &d.old);
	return staged_file(s, &d);
}

/* Notes an entry of the user's that the session's index does not have (`git rm --cached`).  `next`
 * is the entry after it: if that is another stage of the path, the path is not lost. */
static int staged_gone(struct hold_staged *s, const struct git_index *was,
		       const struct git_index *next)
{
	struct git_difference d = {.path = buf_str(&was->path)};

	if ((was->kept[0] & STAGED_STAGE) != 0 || (next && str_equal(d.path, buf_str(&next->path))))
		return 0;
	staged_side(was, &d.old_mode, &d.old);
	return hold_note_gone(s->j, s->repo, &s->news, &d);
}

/* --- sparse ones ------------------------------------------------------------------------- */

/* An entry of the user's. */
struct staged_had {
	const char *path;
	uint32_t mode;
	struct git_name object;
	bool hidden;
};

static int staged_order(const void *a, const void *b)
{
	return strcmp(((const struct staged_had *)a)->path, ((const struct staged_had *)b)->path);
}

static int staged_list(struct hold_staged *s, struct git_index *before)
{
	const char *last = NULL;

	s->had = calloc((size_t)before->left + 1, sizeof(*s->had));
	if (!s->had)
		return -ENOMEM;
	while (git_index_next(before)) {
		struct staged_had *one = &s->had[s->had_count];

		one->path = arena_str(&s->arena, buf_str(&before->path));
		if (!one->path)
			return -ENOMEM;
		/* Of the stages of a path only the first counts. */
		if (last && str_equal(last, one->path))
			continue;
		last = one->path;
		staged_side(before, &one->mode, &one->object);
		one->hidden = staged_is_hidden(before);
		s->had_count++;
	}
	if (s->had_count > 1)
		qsort(s->had, s->had_count, sizeof(*s->had), staged_order);
	return 0;
}

static const struct staged_had *staged_find(const struct hold_staged *s, const char *path)
{
	const struct staged_had key = {.path = path};

	return s->had_count ? bsearch(&key, s->had, s->had_count, sizeof(key), staged_order) : NULL;
}

/* What the user's index has at a path, as an entry or in a folder; *ret_hidden: git does not look
 * at it.  Returns the mode, 0 for nothing, or -errno. */
static int staged_had_at(struct hold_staged *s, const char *path, struct git_name *ret,
			 bool *ret_hidden)
{
	char folder[PATH_MAX];
	const struct staged_had *one = staged_find(s, path);

	*ret_hidden = one && one->hidden;
	if (one) {
		*ret = one->object;
		return (int)one->mode;
	}
	for (const char *at = path; (at = strchr(at, '/')); at++) {
		size_t len = (size_t)(at - path) + 1;

		if (len >= sizeof(folder))
			return -ENAMETOOLONG;
		memcpy(folder, path, len);
		folder[len] = '\0';
		one = at[1] ? staged_find(s, folder) : NULL;
		if (!one)
			continue;
		int mode = git_walk_lookup(&s->repo->walk, &one->object, at + 1, ret);

		*ret_hidden = mode > 0;
		return mode;
	}
	return 0;
}

/* git looks at none of the user's files in this folder. */
static bool staged_was_hidden(const struct hold_staged *s, const char *folder)
{
	size_t from = 0, to = s->had_count;
	bool is = false;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strcmp(s->had[middle].path, folder) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < s->had_count && str_after(s->had[from].path, folder); from++) {
		is = s->had[from].hidden;
		if (!is)
			return false;
	}
	return is;
}

struct staged_tree {
	struct hold_staged *s;
	const char *folder; /* with its slash */
	struct buf path;
	bool listed; /* the user's index may have files of this folder */
};

static const char *staged_join(struct staged_tree *t, const char *path)
{
	buf_clear(&t->path);
	buf_put_str(&t->path, t->folder);
	buf_put_str(&t->path, path);
	return buf_error(&t->path) ? NULL : buf_str(&t->path);
}

static int staged_on_difference(void *context, const struct git_difference *found)
{
	struct staged_tree *t = context;
	struct git_difference d = *found;
	bool hidden;

	if (!d.mode)
		return 0;
	d.path = staged_join(t, found->path);
	if (!d.path)
		return -E2BIG;
	if (t->listed) {
		int mode = staged_had_at(t->s, d.path, &d.old, &hidden);

		if (mode < 0)
			return mode;
		d.old_mode = (uint32_t)mode;
	}
	return staged_file(t->s, &d);
}

static int staged_on_folder(void *context, const char *path, unsigned int was, unsigned int is)
{
	struct staged_tree *t = context;
	const char *whole = staged_join(t, path);
	char at[PATH_MAX];
	int len = whole ? snprintf(at, sizeof(at), "%s%s", t->s->repo->prefix, whole) : -1;

	if (len < 0 || len >= (int)sizeof(at))
		return -ENAMETOOLONG;
	len -= len > 0 && at[len - 1] == '/';
	return hold_part_note(t->s->j->parts, at, (size_t)len, was, is);
}

/* Judges a folder of the session's index: compares it with the tree, or the files, that the user's
 * has there. */
static int staged_folder(struct hold_staged *s, const struct git_index *is)
{
	static const struct git_name none = {.len = 0};
	struct staged_tree t = {
		.s = s, .folder = buf_str(&is->path), .path = BUF_INIT(GIT_INDEX_PATH_MAX)};
	struct git_name old = none, tree = {.len = (uint8_t)is->object.len};
	_cleanup_free_ char *plain = strndup(t.folder, is->path.len - 1);
	const struct staged_had *one = staged_find(s, t.folder);
	bool hidden = false;

	if (!plain)
		return -ENOMEM;
	int mode = one ? (int)one->mode : staged_had_at(s, plain, &old, &hidden);

	if (mode < 0)
		return mode;
	if (staged_is_outside(plain))
		return staged_file(s, &(struct git_difference){.path = plain});
	memcpy(tree.bytes, is->object.ptr, is->object.len);
	if (one)
		old = one->object;
	else if ((mode & STAGED_TYPE) != STAGED_FOLDER) {
		t.listed = true;
		old = none;
		if (!s->outside && !staged_was_hidden(s, t.folder))
			hold_words_note(&s->hidden, t.folder);
	}
	int r = git_walk_trees(&s->repo->walk, &old, &tree, staged_on_difference, staged_on_folder,
			       &t);

	buf_fini(&t.path);
	return r;
}

static int staged_walk_sparse(struct hold_staged *s, struct git_index *before,
			      struct git_index *after)
{
	int r = s->repo->trouble;

	if (r == 0)
		r = staged_list(s, before);
	while (r == 0 && git_index_next(after)) {
		struct git_difference d = {.path = buf_str(&after->path)};
		bool hidden = false;

		if (git_index_is_folder(after)) {
			r = staged_folder(s, after);
			continue;
		}
		int mode = staged_had_at(s, d.path, &d.old, &hidden);

		if (mode < 0)
			return mode;
		d.old_mode = (uint32_t)mode;
		staged_side(after, &d.mode, &d.object);
		if (!s->outside && staged_is_hidden(after) && !hidden)
			hold_words_note(&s->hidden, d.path);
		r = staged_file(s, &d);
	}
	return r;
}

static int staged_walk(struct hold_staged *s, struct git_index *before, struct git_index *after)
{
	if (before->sparse || after->sparse)
		return staged_walk_sparse(s, before, after);
	bool had = git_index_next(before);
	int r = 0;

	while (r == 0 && git_index_next(after)) {
		while (r == 0 && had && staged_compare(before, after) < 0) {
			r = staged_gone(s, before, after);
			had = git_index_next(before);
		}
		bool same = had && staged_compare(before, after) == 0;

		if (r == 0)
			r = staged_entry(s, same ? before : NULL, after);
		had = same ? git_index_next(before) : had;
	}
	for (; r == 0 && had; had = git_index_next(before))
		r = staged_gone(s, before, NULL);
	return r;
}

/* Notes which folders have a part of a repository. */
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

/* Judges what is beside the entries.  -EBADMSG: the tree of *ret_folder is not what its entries
 * say. */
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
	/* git does not take what it noted of resolved conflicts. */
	s->news.last = false;
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

	/* It has its own reason if it has more than the branch brings. */
	if (r == 0 && s->news.count && !v->with) {
		v->most = HOLD_HOLD;
		return hold_say_news(j, &s->news, v, "git's index");
	}

	if (r < 0 || v->most == HOLD_HOLD)
		return r;
	if ((s->news.hidden.count || s->news.gone.count) && s->hidden.count == 0)
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

/* The file has the entries of a split index. */
static bool staged_is_shared(const char *name)
{
	return strncasecmp(name, "sharedindex.", strlen("sharedindex.")) == 0;
}

/* Says that nobody can know what is in it. */
static int staged_say_unread(struct hold_judge *j, struct hold_verdict *v)
{
	return hold_say(
		j, v,
		"it cannot be looked into: git commit, git push and git checkout would take "
		"from it whatever it has");
}

/* The index that needs this sharedindex and is held: this waits with it.  NULL: there is none. */
static const char *staged_of_shared(struct hold_judge *j, const char *path, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(STAGED_INDEX_MAX);
	struct git_index x = GIT_INDEX_INIT;
	char index[PATH_MAX];
	int n = snprintf(index, sizeof(index), "%.*sindex", (int)(name - path), path);
	const struct change *c = n < (int)sizeof(index) ? changes_find(j->changes, index) : NULL;
	int r = c ? hold_read_path(j->view, index, STAGED_INDEX_MAX, &text) : -ENOENT;

	if (r == 0)
		r = git_index_open(&x, buf_span(&text));
	git_index_close(&x);
	return r == -ENOTSUP ? c->path : NULL;
}

int hold_by_staged(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	_cleanup_buf_ struct buf was = BUF_INIT(STAGED_INDEX_MAX), is = BUF_INIT(STAGED_INDEX_MAX);
	_cleanup_buf_ struct buf folder = BUF_INIT(STAGED_INDEX_MAX);
	struct git_index before = GIT_INDEX_INIT, after = GIT_INDEX_INIT;
	struct hold_staged s = {
		.j = j, .news.checked_out = true, .arena = ARENA_INIT((size_t)STAGED_LIST_MAX)};
	char gitdir[PATH_MAX];
	const char *rest = NULL;
	int r = hold_read_path(j->view, c->path, STAGED_INDEX_MAX, &is);

	if (!hold_gitdir_of(j, c->path, gitdir, &rest)) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (staged_is_shared(rest)) {
		const char *index = staged_of_shared(j, c->path, rest);

		return index ? hold_say_with(j, v, index) : staged_say_unread(j, v);
	}
	s.repo = hold_repo_of(j, gitdir);
	if (!s.repo)
		return error_set(j->error, -ENOMEM, "no memory to look into git's index");
	if (r == 0)
		r = git_index_open(&after, buf_span(&is));
	/* The bytes can be an index with names of either length: git reads it with the
	 * repository's. */
	if (r == 0 && after.name != s.repo->len)
		r = -EPROTO;
	bool had = hold_read_path(&j->before, c->path, STAGED_INDEX_MAX, &was) == 0;
	struct git_name head;

	s.news.last = true;
	if (git_refs_value(&s.repo->after, gitdir, "HEAD", &head) == 0)
		(void)git_walk_tree(&s.repo->walk, &head, &s.news.told);

	/* Its shared part is another file, and is judged there. */
	bool same = r == -ENOTSUP && had &&
		    git_index_is_same(buf_span(&was), buf_span(&is), s.repo->len);

	if (r == 0) {
		/* If there is none that can be read, all of it is new. */
		if (!had || git_index_open(&before, buf_span(&was)) < 0) {
			before.left = 0;
			before.sparse = false;
		}
		r = staged_all(&s, &before, &after, &folder);
	}
	git_index_close(&before);
	git_index_close(&after);
	free(s.had);
	arena_fini(&s.arena);
	if (same) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (r < 0 && j->error->code)
		return r;
	hold_news_settle(&s.news);
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
	return staged_say_unread(j, v);
}
