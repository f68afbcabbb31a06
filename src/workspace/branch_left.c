/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_left.h"

#include "array.h"
#include "branch_held.h"
#include "clock.h"
#include "fd.h"
#include "git_index.h"
#include "git_refs.h"
#include "git_walk.h"
#include "str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LEFT_MS = 20000,
	LEFT_ARENA = 256 << 20,
	LEFT_FILE_MAX = 64 << 20, /* larger files count as not committed */
	LEFT_INDEX_MAX = 256 << 20,
};

/* What a tree has at a path. */
struct left_entry {
	const char *path;
	uint32_t mode;
	struct git_name object;
	bool other; /* the index has another one there */
};

struct left_list {
	struct left_entry *items; /* sorted by path */
	size_t count;
};

struct branch_left {
	struct arena arena;
	const struct view *view;
	struct view base;
	struct git_walk walk;
	char ref[LAYERS_BRANCH_MAX + sizeof("refs/heads/")];
	struct left_list files; /* files of the commit */
	/* Files that differ from where it began, and from the user's branch. */
	struct left_list since, ahead;
	bool on_branch, has_mine;
	bool has_landed;           /* the branch is where it began, or where the user has it */
	bool refs_asked, refs_are; /* the user has the commits of all its other refs */
	bool index_is;             /* the index is the same as the commit */
	bool strays_asked;
	struct branch_strays strays;
	struct buf index; /* bytes of the index */
	int64_t index_time;
};

static int left_order(const void *a, const void *b)
{
	return strcmp(((const struct left_entry *)a)->path, ((const struct left_entry *)b)->path);
}

static struct left_entry *left_find(const struct left_list *l, const char *path)
{
	const struct left_entry key = {.path = path};

	return l->count ? bsearch(&key, l->items, l->count, sizeof(key), left_order) : NULL;
}

struct left_filling {
	struct branch_left *b;
	struct left_list *into;
};

static int left_on_difference(void *context, const struct git_difference *d)
{
	const struct left_filling *f = context;
	struct left_list *l = f->into;
	const char *path = arena_str(&f->b->arena, d->path);

	if (!path || !ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	l->items[l->count++] =
		(struct left_entry){.path = path, .mode = d->mode, .object = d->object};
	return 0;
}

static int left_compare(struct branch_left *b, const struct git_name *old,
			const struct git_name *tree, struct left_list *into)
{
	struct left_filling f = {b, into};
	int r = git_walk_trees(&b->walk, old, tree, left_on_difference, NULL, &f);

	if (r == 0 && into->count)
		qsort(into->items, into->count, sizeof(*into->items), left_order);
	return r;
}

/* The tree of a commit, whose name is hexadecimal; none if it is not a name. */
static int left_tree(struct branch_left *b, const char *hex, struct git_name *ret)
{
	struct git_name name;

	*ret = (struct git_name){.len = 0};
	return git_name_parse(span_of_str(hex), &name) ? git_walk_tree(&b->walk, &name, ret) : 0;
}

/* --- the index --------------------------------------------------------------------------- */

static int left_read_index(struct branch_left *b)
{
	_cleanup_fd_ int fd = view_openat(b->view, ".git/index", O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	b->index_time = CLOCK_NS(st.st_mtim);
	return fd_read_all(fd, &b->index);
}

/* Every entry is the same as the commit's, and none is missing. */
static bool left_index_is(struct branch_left *b)
{
	struct git_index x = GIT_INDEX_INIT;
	size_t count = 0;
	bool is = left_read_index(b) == 0 && git_index_open(&x, buf_span(&b->index)) == 0;

	while (is && git_index_next(&x)) {
		const struct left_entry *e = left_find(&b->files, buf_str(&x.path));

		count++;
		is = e && !git_index_is_folder(&x) && git_index_stage(&x) == 0 &&
		     git_index_mode(&x) == e->mode && x.object.len == e->object.len &&
		     memcmp(x.object.ptr, e->object.bytes, x.object.len) == 0;
	}
	git_index_close(&x);
	return is && count == b->files.count;
}

/* git itself wrote that file from the object, or compared the two: filters may have changed its
 * bytes. */
static bool left_index_knows(const struct branch_left *b, const struct left_entry *e,
			     const struct object *o)
{
	struct git_index x = GIT_INDEX_INIT;
	bool knows = false;
	int r = b->index.len ? git_index_open(&x, buf_span(&b->index)) : -ENOENT;

	while (r == 0 && !knows && git_index_next(&x)) {
		uint32_t size = 0;
		int64_t time = git_index_time(&x, &size);

		knows = str_equal(buf_str(&x.path), e->path) && git_index_stage(&x) == 0 &&
			x.object.len == e->object.len &&
			memcmp(x.object.ptr, e->object.bytes, x.object.len) == 0 &&
			time == o->mtime && size == (uint32_t)o->size && time < b->index_time;
	}
	git_index_close(&x);
	return knows;
}

/* --- one change -------------------------------------------------------------------------- */

static bool left_file_is(const struct branch_left *b, const struct change *c,
			 const struct left_entry *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LEFT_FILE_MAX);
	const struct object *o = &c->after;
	struct git_name name;

	if (!S_ISREG(e->mode) || ((e->mode & 0100) != 0) != ((o->mode & 0100) != 0))
		return false;
	_cleanup_fd_ int fd = changes_open(b->view, c, CHANGE_AFTER);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return false;
	git_name_of(GIT_KIND_BLOB, buf_span(&text), e->object.len, &name);
	return git_name_equal(&name, &e->object) || left_index_knows(b, e, o);
}

static bool left_link_is(const struct change *c, const struct left_entry *e)
{
	struct git_name name;

	if (!S_ISLNK(e->mode) || !c->after.link)
		return false;
	git_name_of(GIT_KIND_BLOB, span_of_str(c->after.link), e->object.len, &name);
	return git_name_equal(&name, &e->object);
}

/* git notes in this file something that is under way; if it is gone, that is over. */
static bool left_is_note(const char *rest)
{
	static const char *const folders[] = {"rebase-merge", "rebase-apply", "sequencer"};
	bool is = str_equal(rest, "index.lock") || str_equal(rest, "HEAD.lock") ||
		  rest[strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders) && !is; i++) {
		const char *after = str_after(rest, folders[i]);

		is = after && (*after == '/' || *after == '\0');
	}
	return is;
}

/* --- other refs --------------------------------------------------------------------------- */

struct left_refs {
	struct branch_left *b;
	/* NULL: the user's refs become known.  Else these are the user's, and we ask about the
	 * session's. */
	const struct git_refs *users;
};

static int left_on_ref(void *context, const char *name, const struct git_ref_value *value)
{
	const struct left_refs *r = context;
	struct git_news news;

	if (!value->object.len || value->symbolic[0])
		return 0;
	if (!r->users)
		return git_walk_know(&r->b->walk, &value->object);
	if (str_equal(name, r->b->ref))
		return 0;
	struct git_ref_value users;

	/* A name is work, too: a new tag or branch at a commit that the user has.  And a tag has
	 * its own object. */
	if (git_refs_look(r->users, "", name, &users) < 0 || !git_ref_is_there(&users) ||
	    (!str_after(name, "refs/heads/") && !git_ref_same(&users, value)))
		return -ENODATA;
	int code = git_walk_news(&r->b->walk, &value->object, &news);

	if (code < 0)
		return code;
	code = news.count > 0 || news.cut ? -ENODATA : 0;
	git_news_free(&news);
	return code;
}

static int left_each_ref(struct branch_left *b)
{
	struct git_refs users = GIT_REFS_INIT, own = GIT_REFS_INIT;
	struct left_refs of = {b, NULL};
	int r = git_refs_open(&b->base, ".git", &users);

	if (r == 0)
		r = git_refs_each(&users, left_on_ref, &of);
	of.users = &users;
	if (r == 0)
		r = git_refs_open(b->view, ".git", &own);
	if (r == 0)
		r = git_refs_each(&own, left_on_ref, &of);
	git_refs_close(&own);
	git_refs_close(&users);
	return r;
}

/*
 * The user has refs of the same names as the session's, except for its branch, and the session's
 * name no commit that the user's refs and that branch do not reach: the session packed them, or the
 * user went on since.
 */
static bool left_refs_are(struct branch_left *b)
{
	struct git_name tip;

	if (b->refs_asked)
		return b->refs_are;
	b->refs_asked = true;
	char hex[GIT_HEX_MAX + 1];

	b->refs_are = branch_commit(b->view, b->ref, hex) == 0 &&
		      git_name_parse(span_of_str(hex), &tip) &&
		      git_walk_know(&b->walk, &tip) == 0 && left_each_ref(b) == 0;
	return b->refs_are;
}

const struct branch_strays *branch_strays(struct branch_left *b)
{
	if (!b->strays_asked &&
	    branch_strays_read(b->view, &b->base, b->walk.store, b->ref, &b->strays) < 0)
		b->strays = (struct branch_strays){.waits = true, .unknown = true};
	b->strays_asked = true;
	return &b->strays;
}

/* One of the repository's own files says nothing new; `rest` follows .git/. */
static bool left_git_is(struct branch_left *b, const struct change *c, const char *rest)
{
	/* Files that git writes with each commit, or as a side effect. */
	static const char *const beside[] = {"ORIG_HEAD",   "COMMIT_EDITMSG", "FETCH_HEAD",
					     "AUTO_MERGE",  "gc.log",         "info/refs",
					     BRANCH_BROUGHT};

	/* Only the log of HEAD knows commits that are on no branch. */
	if (str_equal(rest, "logs/HEAD"))
		return branch_strays(b)->count == 0 && !b->strays.unknown;
	if (c->after.type == OBJECT_DIR || str_after(rest, "logs/") || str_after(rest, "objects/"))
		return true;
	if (str_equal(rest, "packed-refs") ||
	    (str_after(rest, "refs/") && !str_equal(rest, b->ref)))
		return left_refs_are(b);
	if (str_equal(rest, "HEAD"))
		return b->on_branch;
	if (str_equal(rest, "index"))
		return b->index_is;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(beside); i++)
		if (str_equal(rest, beside[i]))
			return true;
	return c->after.type == OBJECT_ABSENT && left_is_note(rest);
}

bool branch_is_committed(struct branch_left *b, const struct change *c)
{
	const char *rest = str_after(c->path, ".git");

	if (rest && (*rest == '/' || *rest == '\0'))
		return *rest ? left_git_is(b, c, rest + 1) : c->after.type == OBJECT_DIR;
	if (c->from && left_find(&b->files, c->from))
		return false;
	const struct left_entry *e = left_find(&b->files, c->path);

	switch (c->after.type) {
	case OBJECT_ABSENT:
		return !e;
	case OBJECT_DIR:
		return !e || e->mode == 0160000;
	case OBJECT_FILE:
		return e && left_file_is(b, c, e);
	case OBJECT_LINK:
		return e && left_link_is(c, e);
	default:
		return false;
	}
}

bool branch_is_old(struct branch_left *b, const struct change *c)
{
	const char *paths[] = {c->path, c->from ? c->from : c->path};
	const char *rest = str_after(c->path, ".git/");

	if (rest && str_equal(rest, b->ref))
		return b->has_landed;
	if (rest && git_is_in_objects(c->path))
		return b->has_landed && !branch_strays(b)->waits;
	if (rest && str_equal(rest, "logs/HEAD"))
		return !branch_strays(b)->waits;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		if (left_find(&b->since, paths[i]) &&
		    (!b->has_mine || left_find(&b->ahead, paths[i])))
			return false;
	return branch_is_committed(b, c);
}

/* --- all of it --------------------------------------------------------------------------- */

static void left_read_head(struct branch_left *b)
{
	struct git_refs refs = GIT_REFS_INIT;
	struct git_ref_value head = GIT_REF_NONE;

	if (git_refs_open(b->view, ".git", &refs) == 0)
		(void)git_refs_look(&refs, "", "HEAD", &head);
	b->on_branch = str_equal(head.symbolic, b->ref);
	git_refs_close(&refs);
}

static int left_fill(struct branch_left *b, const char *start, const char *commit)
{
	struct git_name tree, began, mine, none = {.len = 0};
	char own[GIT_HEX_MAX + 1] = "";
	int r = git_store_open(b->view, &b->base, ".git/objects",
			       clock_ms(CLOCK_MONOTONIC) + LEFT_MS, &b->walk.store);

	if (r == 0)
		r = branch_commit(&b->base, b->ref, own);
	if (r == 0)
		r = left_tree(b, commit, &tree);
	if (r == 0)
		r = left_compare(b, &none, &tree, &b->files);
	if (r < 0)
		return r;
	b->has_landed = str_equal(commit, start) || str_equal(commit, own);
	left_read_head(b);
	b->index_is = left_index_is(b);
	r = left_tree(b, start, &began);
	/* The user's `git gc` removed it: then nothing is as it was there. */
	if (r == -ENOENT) {
		began = none;
		r = 0;
	}
	if (r == 0)
		r = left_compare(b, &began, &tree, &b->since);
	b->has_mine = r == 0 && own[0] && left_tree(b, own, &mine) == 0;
	if (b->has_mine)
		r = left_compare(b, &mine, &tree, &b->ahead);
	return r;
}

int branch_left_open(const struct view *v, const struct layers_session *s, struct branch_left **ret)
{
	char commit[GIT_HEX_MAX + 1], ref[LAYERS_BRANCH_MAX + sizeof("refs/heads/")];

	*ret = NULL;
	if (!s->branch[0])
		return 0;
	(void)snprintf(ref, sizeof(ref), "refs/heads/%s", s->branch);
	int r = branch_commit(v, ref, commit);

	if (r < 0 || !commit[0])
		return r;
	_cleanup_branch_left_ struct branch_left *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->arena = ARENA_INIT(LEFT_ARENA);
	b->index = BUF_INIT(LEFT_INDEX_MAX);
	b->view = v;
	b->base = (struct view){.base = v->base};
	memcpy(b->ref, ref, sizeof(ref));
	r = left_fill(b, s->start, commit);
	if (r == -ENOMEM)
		return r;
	/* Else an object cannot be read, or not in time: *ret stays NULL. */
	if (r == 0)
		*ret = TAKE_PTR(b);
	return 0;
}

void branch_left_close(struct branch_left **b)
{
	if (!*b)
		return;
	git_walk_fini(&(*b)->walk);
	git_store_close(&(*b)->walk.store);
	free((*b)->files.items);
	free((*b)->since.items);
	free((*b)->ahead.items);
	buf_fini(&(*b)->index);
	arena_fini(&(*b)->arena);
	free(*b);
	*b = NULL;
}
