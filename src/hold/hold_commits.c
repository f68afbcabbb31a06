/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commits bring.  A session that commits a workflow brings it in git's objects: the file in
 * the tree is held, but git could take it from the commit.  So the move of a ref is held with what
 * it brings.
 *
 *	a ref that moved    we compare its tree with the tree where it was
 *	a ref that is new   we compare its tree with those of the commits that it starts from
 *	both                and each new commit on the way with its parents: a file that
 *	                    one commit brings and the next removes is still there
 *
 * We judge every file that differs as if it were in the tree: by its name and by its content.  Refs
 * are files below refs/, lines of packed-refs, HEAD and similar files (MERGE_HEAD, AUTO_MERGE), and
 * the lines of the log in which git keeps its stashes.
 *
 * A ref that becomes symbolic is held for that alone: what git writes to it, by a commit or a
 * fetch, it writes to the other ref.
 *
 * What belongs to a held ref waits with it: HEAD that names it, its log, the index.  What cannot be
 * read within the limits of git_store.h and git_walk.h is held, and the reason says so.
 */
#include "hold_commits.h"

#include "fnv.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COMMITS_TIPS_MAX = 1000,
	COMMITS_LINES_MAX = 4096, /* of a log or of FETCH_HEAD */
	COMMITS_FILE_MAX = 4 << 20,
	COMMITS_SHORT = 7,
	COMMITS_NOTED = 256,          /* buckets of paths, by their sums */
	COMMITS_TEXT_MAX = 64 << 10,  /* most bytes to show of a file that only a commit has */
	COMMITS_SHOWN_MAX = 32 << 20, /* most bytes to show of all such files */
	COMMITS_BROUGHT_MAX = 1000, /* most versions that one ref brings and the user can release */
	COMMITS_LINK = 0120000,
	COMMITS_MODULE = 0160000,
	COMMITS_TYPE = 0170000,
};

/* --- what the user had ------------------------------------------------------------------ */

static int commits_no_memory(struct hold_judge *j)
{
	return error_set(j->error, -ENOMEM, "no memory to look into commits");
}

struct commits_tips {
	struct hold_repo *repo;
	size_t count;
};

static int commits_on_tip(void *context, const char *name, const struct git_ref_value *value)
{
	struct commits_tips *t = context;

	(void)name;
	if (value->object.len == 0 || t->count++ >= COMMITS_TIPS_MAX)
		return 0;
	return git_walk_know(&t->repo->walk, &value->object);
}

/* Marks what the user had.  HEAD is first, so that it counts however many refs there are. */
static int commits_know(struct hold_repo *repo)
{
	struct commits_tips tips = {repo, 0};
	struct git_name head;
	int r = 0;

	if (repo->knows)
		return 0;
	repo->knows = true;
	if (git_refs_value(&repo->before, "", "HEAD", &head) == 0)
		r = git_walk_know(&repo->walk, &head);
	return r < 0 ? r : git_refs_each(&repo->before, commits_on_tip, &tips);
}

/* --- what one of them brings -------------------------------------------------------------- */

static unsigned int commits_type(uint32_t mode)
{
	return mode == 0                                 ? OBJECT_ABSENT
	       : (mode & COMMITS_TYPE) == COMMITS_LINK   ? OBJECT_LINK
	       : (mode & COMMITS_TYPE) == COMMITS_MODULE ? OBJECT_DIR
							 : OBJECT_FILE;
}

/* This version stands in a tree: of the same kind, and it says the same.  A removed one (mode 0):
 * nothing stands there. */
static bool commits_stands(const struct view *v, const char *path, uint32_t mode,
			   const struct git_name *object)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char link[PATH_MAX];
	struct git_name is;
	struct object o;
	int r = view_look(v, path, &o);

	if (!mode)
		return r == -ENOENT || r == -ENOTDIR || (r == 0 && o.type == OBJECT_ABSENT);
	if (r < 0 || o.type != commits_type(mode) ||
	    (o.type == OBJECT_FILE && !(o.mode & 0100) != !(mode & 0100)))
		return false;
	if (o.type == OBJECT_LINK && hold_read_link(v, path, link) == 0)
		git_name_of(GIT_KIND_BLOB, span_of_str(link), object->len, &is);
	else if (hold_read_path(v, path, HOLD_READ_MAX, &text) == 0)
		git_name_of(GIT_KIND_BLOB, buf_span(&text), object->len, &is);
	else
		return false;
	return git_name_equal(&is, object);
}

/* In the final tree. */
static bool commits_is_seen(const struct hold_judge *j, const char *path, uint32_t mode,
			    const struct git_name *object)
{
	return commits_stands(j->view, path, mode, object);
}

/* Text of one side, for who wants to read it; NULL when there is none, or it is too long. */
static const char *commits_text(struct hold_judge *j, enum change_side side)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMMITS_TEXT_MAX);

	if (j->brought_shown > COMMITS_SHOWN_MAX ||
	    hold_read_brought(j, side, COMMITS_TEXT_MAX, &text) < 0 ||
	    (text.len > 0 && memchr(text.ptr, '\0', text.len)))
		return NULL;
	j->brought_shown += text.len;
	return arena_strn(&j->changes->arena, buf_str(&text), text.len);
}

/* The item of this version; NULL: there is none.  A release is for what the user saw, so each
 * version of a file is an item. */
static struct brought *commits_have(struct hold_news *n, const struct brought *b)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->items[i].mode == b->mode && str_equal(n->items[i].object, b->object) &&
		    str_equal(n->items[i].path, b->path))
			return &n->items[i];
	return NULL;
}

/* Adds an item; NULL: no memory. */
static struct brought *commits_put(struct hold_judge *j, struct hold_news *n,
				   const struct brought *b)
{
	/* The array doubles when it is full.  The arena keeps the old one. */
	if ((n->count & (n->count - 1)) == 0) {
		struct brought *more = arena_alloc(&j->changes->arena,
						   (n->count ? 2 * n->count : 1) * sizeof(*more));

		if (!more)
			return NULL;
		if (n->count)
			memcpy(more, n->items, n->count * sizeof(*more));
		n->items = more;
	}
	n->items[n->count] = *b;
	return &n->items[n->count++];
}

static int commits_add(struct hold_judge *j, struct hold_news *n, const char *path,
		       const struct hold_said *said)
{
	const struct git_difference *d = j->brought;
	struct brought one = {.path = path,
			      .rule = said->rule,
			      .why = said->why,
			      .mode = d->mode,
			      .removed = !d->mode};

	/* git takes nothing from it that is not there: the user wrote it, or let it land before. */
	one.yours = d->mode && commits_stands(&j->before, path, d->mode, &d->object);
	one.released = one.yours;
	if (d->mode)
		git_name_hex(&d->object, one.object);
	if (n->bad || commits_have(n, &one))
		return 0;
	if (n->count == COMMITS_BROUGHT_MAX) {
		n->bad = "it brings more files that are held than can be listed";
		return 0;
	}
	git_name_hex(&n->commit, one.commit);
	one.path = arena_str(&j->changes->arena, path);
	one.seen = commits_is_seen(j, path, d->mode, &d->object);
	/* Show the version that the user sees nowhere else. */
	if (!one.seen) {
		one.before = commits_text(j, CHANGE_BEFORE);
		one.after = commits_text(j, CHANGE_AFTER);
	}
	return one.path && commits_put(j, n, &one) ? 0 : commits_no_memory(j);
}

/* --- what no change shows ----------------------------------------------------------------- */

struct hold_noted {
	struct hold_noted *next;
	const char *path;
};

/* Notes a path once, although several commits have it. */
static int commits_note_once(struct hold_judge *j, struct hold_words *w, const char *path)
{
	if (!w->noted)
		w->noted = arena_alloc(&j->arena, COMMITS_NOTED * sizeof(struct hold_noted *));
	if (!w->noted)
		return commits_no_memory(j);
	struct hold_noted **at =
		&w->noted[fnv_bytes(FNV_START, path, strlen(path)) % COMMITS_NOTED];

	for (const struct hold_noted *n = *at; n; n = n->next)
		if (str_equal(n->path, path))
			return 0;
	struct hold_noted *one = arena_alloc(&j->arena, sizeof(*one));
	const char *kept = one ? arena_str(&j->arena, path) : NULL;

	if (!kept)
		return commits_no_memory(j);
	*one = (struct hold_noted){*at, kept};
	*at = one;
	hold_words_note(w, path);
	return 0;
}

static int commits_from_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A change has this path, or had it before the session renamed the file. */
static bool commits_is_changed(struct hold_judge *j, const char *path)
{
	if (changes_find(j->changes, path))
		return true;
	if (!j->froms) {
		j->froms = arena_alloc(&j->arena, (j->changes->count + 1) * sizeof(*j->froms));
		for (size_t i = 0; j->froms && i < j->changes->count; i++)
			if (j->changes->items[i].from)
				j->froms[j->from_count++] = j->changes->items[i].from;
		if (j->froms && j->from_count > 1)
			qsort(j->froms, j->from_count, sizeof(*j->froms), commits_from_order);
	}
	return j->froms && j->from_count &&
	       bsearch(&path, j->froms, j->from_count, sizeof(*j->froms), commits_from_order);
}

/* The user sees on the screens what git would take from there, because it is in the tree.  For
 * commits on the way a change at that path is enough. */
static bool commits_is_shown(struct hold_judge *j, struct hold_repo *repo,
			     const struct hold_news *n, const char *path)
{
	const struct git_difference *d = j->brought;
	struct git_name object;

	if (!n->last &&
	    (d->mode ? changes_find(j->changes, path) != NULL : commits_is_changed(j, path)))
		return true;
	if ((n->last || d->mode) && commits_is_seen(j, path, d->mode, &d->object))
		return true;
	/* The branch has it, and the branch is shown with it. */
	int mode = n->told.len ? git_walk_lookup(&repo->walk, &n->told, d->path, &object) : -1;

	return mode >= 0 && (uint32_t)mode == d->mode &&
	       (!mode || git_name_equal(&object, &d->object));
}

int hold_judge_brought(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		       const struct git_difference *d)
{
	_cleanup_buf_ struct buf link = BUF_INIT(PATH_MAX);
	struct hold_said said = {.level = HOLD_NOT};
	char path[PATH_MAX];

	if (hold_is_late(j))
		return -ETIME;
	if (snprintf(path, sizeof(path), "%s%s", repo->prefix, d->path) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	struct change c = {.path = path,
			   .kind = !d->old_mode ? CHANGE_ADDED
				   : !d->mode   ? CHANGE_DELETED
						: CHANGE_CHANGED};

	c.before.type = commits_type(d->old_mode);
	c.after.type = commits_type(d->mode);
	c.before.mode = d->old_mode & 0777;
	c.after.mode = d->mode & 0777;
	/* A submodule is only the name of a commit in another repository. */
	if (c.after.type == OBJECT_DIR || (!d->mode && c.before.type == OBJECT_DIR))
		return d->mode ? hold_judge_module(j, repo, path, d, n) : 0;
	if (c.after.type == OBJECT_LINK) {
		int r = hold_read_blob(repo, &d->object, PATH_MAX, &link);

		if (r < 0)
			return r;
		c.after.link = buf_str(&link);
	}
	/* The caller may still read a log or a list of refs in these buffers. */
	struct buf after = j->after, old = j->old;

	j->after = j->old = BUF_INIT(HOLD_READ_MAX);
	j->brought = d;
	j->brought_by = repo;
	int r = hold_look_above(j, path);

	if (r == 0)
		r = j->judge(j, &c, &said);
	buf_fini(&j->after);
	buf_fini(&j->old);
	j->after = after;
	j->old = old;

	if (r == 0 && said.level == HOLD_HOLD)
		r = commits_add(j, n, path, &said);
	else if (r == 0 && said.level == HOLD_FLAG && !changes_find(j->changes, path))
		r = commits_note_once(j, &n->flagged, path);
	if (r == 0 && n->checked_out && !commits_is_shown(j, repo, n, path))
		r = commits_note_once(j, d->mode ? &n->hidden : &n->gone, path);
	j->brought = NULL;
	return r;
}

int hold_note_gone(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		   const struct git_difference *d)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", repo->prefix, d->path) >= (int)sizeof(path) ||
	    commits_type(d->old_mode) == OBJECT_DIR)
		return 0;
	j->brought = d;
	bool shown = commits_is_shown(j, repo, n, path);

	j->brought = NULL;
	return shown ? 0 : commits_note_once(j, &n->gone, path);
}

struct commits_context {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct hold_news *news;
	const struct git_name *others; /* trees of the other parents, which may have the file */
	size_t other_count;
	bool looks; /* we only look around; nothing is judged yet */
	int failed; /* -errno when we had no memory; the error is set */
};

/* Looks at the folders above a path before anything is judged: what is there may name a file that
 * comes before it in the order of names. */
static int commits_look_above(struct commits_context *c, const struct git_difference *d)
{
	char path[PATH_MAX];

	if (hold_is_late(c->j))
		return -ETIME;
	if (snprintf(path, sizeof(path), "%s%s", c->repo->prefix, d->path) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	int r = hold_look_above(c->j, path);

	if (r < 0 && c->j->error->code)
		c->failed = r;
	return r;
}

static int commits_on_difference(void *context, const struct git_difference *d)
{
	struct commits_context *c = context;
	struct git_name object;

	if (c->looks)
		return commits_look_above(c, d);
	for (size_t i = 0; i < c->other_count; i++) {
		int mode = git_walk_lookup(&c->repo->walk, &c->others[i], d->path, &object);

		if (mode < 0)
			return mode;
		if ((uint32_t)mode == d->mode && (!mode || git_name_equal(&object, &d->object)))
			return 0;
	}
	/* Most objects are only named here.  Without this check git would find too late that one is
	 * missing. */
	int r = !d->mode || c->repo->partial || (d->mode & COMMITS_TYPE) == COMMITS_MODULE
			? 0
			: git_store_has(c->repo->walk.store, &d->object);

	if (r < 0) {
		c->repo->walk.last = d->object;
		return r;
	}
	r = hold_judge_brought(c->j, c->repo, c->news, d);
	if (r < 0 && c->j->error->code)
		c->failed = r;
	return r;
}

static int commits_on_folder(void *context, const char *path, unsigned int was, unsigned int is)
{
	struct commits_context *c = context;
	char whole[PATH_MAX];
	int len = snprintf(whole, sizeof(whole), "%s%s", c->repo->prefix, path);

	if (len < 0 || len >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	/* "sub/": the path of the top ends in a slash. */
	len -= len > 0 && whole[len - 1] == '/';
	return hold_part_note(c->j->parts, whole, (size_t)len, was, is);
}

/* Compares a tree with one or several commits: judges what differs from all of them. */
static int commits_compare(struct commits_context *c, const struct git_name *tree,
			   const struct git_name *bases, size_t count)
{
	static const struct git_name none = {.len = 0};
	struct git_name trees[GIT_PARENTS_MAX];
	size_t have = 0;

	for (size_t i = 0; i < count && i < GIT_PARENTS_MAX; i++) {
		int r = git_walk_tree(&c->repo->walk, &bases[i], &trees[have]);

		/* A ref that was at a blob had no files. */
		if (r < 0 && r != -EINVAL)
			return r;
		have += r == 0;
	}
	c->others = trees + 1;
	c->other_count = have > 1 ? have - 1 : 0;
	struct hold_parts parts = {.arena = ARENA_INIT((size_t)HOLD_PART_BYTES)};

	c->j->parts = &parts;
	int r = git_walk_trees(&c->repo->walk, have ? &trees[0] : &none, tree,
			       commits_on_difference, commits_on_folder, c);

	c->j->parts = NULL;
	arena_fini(&parts.arena);
	return r;
}

/* Judges what a tree brings that no commit has: a tag may name one, and `git checkout TAG -- .`
 * takes its files.  We compare it with what the ref was, or with HEAD. */
static int commits_look_tree(struct commits_context *c, const struct git_name *old,
			     const struct git_name *new)
{
	struct git_name tree, head;
	int r = git_walk_tree(&c->repo->walk, new, &tree);

	/* A blob has no file name by which a rule could hold it. */
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	bool has = old->len == 0 && git_refs_value(&c->repo->before, "", "HEAD", &head) == 0;

	c->news->commit = tree;
	c->news->is_tree = true;
	return commits_compare(c, &tree, old->len ? old : &head, old->len || has ? 1 : 0);
}

/* Judges what a ref brings that was at `old` (length 0: it is new). */
static int commits_look(struct commits_context *c, const struct git_name *old,
			const struct git_name *new)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	struct git_commit tip;
	int r = c->repo->trouble;

	c->news->is_tree = false;
	if (r == 0)
		r = git_walk_commit(&c->repo->walk, new, &c->news->commit, &tip);
	if (r == -EINVAL)
		return commits_look_tree(c, old, new);
	const struct git_name top = c->news->commit;

	if (r == 0)
		r = commits_know(c->repo);
	if (r == 0)
		r = git_walk_news(&c->repo->walk, new, &news);
	if (r == 0) {
		struct git_name head;
		bool fallback = old->len == 0 && news.base_count == 0 && news.cut &&
				git_refs_value(&c->repo->before, "", "HEAD", &head) == 0;

		const struct git_name *bases = old->len ? old : fallback ? &head : news.bases;
		size_t count = old->len || fallback ? 1 : news.base_count;

		c->looks = true;
		r = commits_compare(c, &tip.tree, bases, count);
		c->looks = false;
		c->news->last = true;
		if (r == 0)
			r = commits_compare(c, &tip.tree, bases, count);
		c->news->last = false;
	}
	for (size_t i = 0; r == 0 && i < news.count; i++) {
		const struct git_news_commit *one = &news.items[i];

		if (git_name_equal(&one->name, &top) && one->commit.parent_count == 1 && old->len &&
		    git_name_equal(&one->commit.parents[0], old))
			continue;
		c->news->commit = one->name;
		r = commits_compare(c, &one->commit.tree, one->commit.parents,
				    one->commit.parent_count);
	}
	c->news->commit = top;
	c->news->cut = c->news->cut || news.cut;
	return r;
}

/* --- what is said of it ------------------------------------------------------------------- */

static int commits_say_brought(struct hold_judge *j, const struct hold_news *n,
			       struct hold_verdict *v, const char *who)
{
	struct hold_words w = {.count = 0};

	/* The reason names a path once, although there are several versions of the file. */
	for (size_t i = 0; i < n->count; i++) {
		size_t had = 0;

		while (had < i && !str_equal(n->items[had].path, n->items[i].path))
			had++;
		if (had == i)
			hold_words_note(&w, n->items[i].path);
	}
	v->brings = n->items;
	v->brings_count = n->count;
	if (w.count > HOLD_WORDS_TOLD)
		return hold_say(j, v,
				"%s brings %s and %zu more that are held: git would take "
				"them from there",
				who, w.list, w.count - HOLD_WORDS_TOLD);
	return hold_say(j, v, "%s brings %s, which %s held: git would take %s from there", who,
			w.list, w.count == 1 ? "is" : "are", w.count == 1 ? "it" : "them");
}

static int commits_say_words(struct hold_judge *j, struct hold_verdict *v, const char *who,
			     const struct hold_words *w, const char *what)
{
	v->most = HOLD_FLAG;
	if (w->count > HOLD_WORDS_TOLD)
		return hold_say(j, v, "%s %s: %s and %zu more", who, what, w->list,
				w->count - HOLD_WORDS_TOLD);
	return hold_say(j, v, "%s %s: %s", who, what, w->list);
}

int hold_say_hidden(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		    const char *who)
{
	char both[HOLD_WORDS_LIST + 96];

	if (!n->hidden.count)
		return commits_say_words(j, v, who, &n->gone, "is without files that stay here");
	(void)snprintf(both, sizeof(both),
		       "is without %s%s, and has files in versions that no change here shows",
		       n->gone.list, n->gone.count > HOLD_WORDS_TOLD ? " and more" : "");
	return commits_say_words(j, v, who, &n->hidden,
				 n->gone.count ? both
					       : "has files in versions that no change here shows");
}

int hold_say_news(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		  const char *who)
{
	/* The user cannot release what was not read by the names of what was. */
	if (n->cut)
		return hold_say(j, v, "%s brings more commits than can be looked into", who);
	if (n->count)
		return commits_say_brought(j, n, v, who);
	if (n->hidden.count || n->gone.count)
		return hold_say_hidden(j, n, v, who);
	if (n->flagged.count)
		return commits_say_words(j, v, who, &n->flagged,
					 "brings files that your commands run");
	v->most = HOLD_NOT;
	return 0;
}

void hold_news_settle(struct hold_news *n)
{
	for (size_t i = 0; i < n->count; i++)
		if (!n->items[i].yours)
			return;
	n->count = 0;
}

int hold_judge_commit(struct hold_judge *j, struct hold_repo *repo, const struct git_name *old,
		      const struct git_name *new, struct hold_news *n)
{
	struct commits_context c = {.j = j, .repo = repo, .news = n};
	char hex[GIT_HEX_MAX + 1];
	int r = git_name_equal(old, new) ? 0 : commits_look(&c, old, new);

	hold_news_settle(n);

	if (r == 0 || c.failed)
		return c.failed;
	if (r == -ENOMEM)
		return commits_no_memory(j);
	git_name_hex(&repo->walk.last, hex);
	n->bad = arena_printf(&j->changes->arena,
			      "what it brings cannot be looked into: of object %.*s, %s",
			      COMMITS_SHORT, hex, git_store_words(r));
	return n->bad ? 0 : commits_no_memory(j);
}

int hold_say_commit(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v)
{
	char hex[GIT_HEX_MAX + 1], who[COMMITS_SHORT + 16];

	git_name_hex(&n->commit, hex);
	(void)snprintf(who, sizeof(who), "the %s %.*s", n->is_tree ? "tree" : "commit",
		       COMMITS_SHORT, hex);
	if (n->bad) {
		v->why = n->bad;
		v->takes_back = n->takes_back;
		return 0;
	}
	return hold_say_news(j, n, v, who);
}

/* --- refs by their names ------------------------------------------------------------------ */

static struct hold_ref **commits_place(struct hold_repo *repo, const char *name)
{
	return &repo->by_name[fnv_bytes(FNV_START, name, strlen(name)) % HOLD_REF_PLACES];
}

static struct hold_ref *commits_find(struct hold_repo *repo, const char *own, const char *name)
{
	struct hold_ref *r = repo->by_name ? *commits_place(repo, name) : repo->refs;

	while (r && !(str_equal(r->name, name) && str_equal(r->own, own)))
		r = repo->by_name ? r->same : r->next;
	return r;
}

static void commits_hang(struct hold_repo *repo, struct hold_ref *ref)
{
	struct hold_ref **place = commits_place(repo, ref->name);

	ref->same = *place;
	*place = ref;
}

/* Adds a ref to the list, and to the buckets once there are many. */
static int commits_note(struct hold_judge *j, struct hold_repo *repo, struct hold_ref *ref)
{
	ref->next = repo->refs;
	repo->refs = ref;
	repo->ref_count++;
	if (repo->by_name) {
		commits_hang(repo, ref);
	} else if (repo->ref_count > HOLD_REF_FEW) {
		repo->by_name = arena_alloc(&j->arena, HOLD_REF_PLACES * sizeof(struct hold_ref *));
		if (!repo->by_name)
			return commits_no_memory(j);
		for (struct hold_ref *r = repo->refs; r; r = r->next)
			commits_hang(repo, r);
	}
	return 0;
}

/* Each ref takes memory and time: all beyond the limit share one verdict. */
static int commits_many(struct hold_judge *j, struct hold_repo *repo, struct hold_ref **ret)
{
	if (!repo->many)
		repo->many = arena_alloc(&j->arena, sizeof(*repo->many));
	if (!repo->many)
		return commits_no_memory(j);
	repo->many->name = repo->many->own = "";
	repo->many->news.bad = "more refs are new than can be looked into";
	repo->refs_held = true;
	*ret = repo->many;
	return 0;
}

static bool commits_is_held(const struct hold_ref *ref)
{
	return ref->news.count > 0 || ref->news.bad || ref->news.cut;
}

/* Judges a ref once, although its file, HEAD, its log and the index all ask. */
static int commits_ref(struct hold_judge *j, struct hold_repo *repo, const char *own,
		       const char *name, struct hold_ref **ret)
{
	*ret = commits_find(repo, own, name);
	if (*ret || repo->ref_count >= HOLD_REF_MAX)
		return *ret ? 0 : commits_many(j, repo, ret);
	struct hold_ref *ref = arena_alloc(&j->arena, sizeof(*ref));
	struct git_name old = {.len = 0}, new = {.len = 0}, head = {.len = 0};

	if (!ref || !(ref->name = arena_str(&j->arena, name)) ||
	    !(ref->own = arena_str(&j->arena, own)))
		return commits_no_memory(j);
	*ret = ref;
	if (commits_note(j, repo, ref) < 0)
		return -ENOMEM;
	int r = hold_alias(j, repo, own, name, &ref->news.bad);

	repo->refs_held = repo->refs_held || ref->news.bad;
	if (r < 0 || ref->news.bad || git_refs_value(&repo->after, own, name, &new) < 0)
		return r;
	if (git_refs_value(&repo->before, own, name, &old) < 0)
		old.len = 0;
	ref->news.checked_out = git_refs_value(&repo->after, "", "HEAD", &head) == 0 &&
				git_name_equal(&head, &new) && !str_after(name, "refs/remotes/") &&
				str_after(name, "refs/heads/");
	r = hold_judge_commit(j, repo, &old, &new, &ref->news);
	if (r == 0)
		r = hold_judge_taken(j, repo, name, &old, &new, &ref->news);
	repo->refs_held = repo->refs_held || commits_is_held(ref);
	return r;
}

/* The change that moves a ref: that of its own file, or of packed-refs. */
static const struct change *commits_mover(struct hold_judge *j, const struct hold_repo *repo,
					  const char *own, const char *name)
{
	char path[PATH_MAX];
	const struct change *c = NULL;

	if (git_join(path, *own && !str_after(name, "refs/") ? own : repo->gitdir, name))
		c = changes_find(j->changes, path);
	if ((!c || c->after.type == OBJECT_ABSENT) && git_join(path, repo->gitdir, "packed-refs"))
		c = changes_find(j->changes, path);
	return c && c->after.type != OBJECT_ABSENT ? c : NULL;
}

/* If the ref is held, this change waits with it; else the verdict is that it may land. */
static int commits_follow(struct hold_judge *j, struct hold_repo *repo, const char *own,
			  const char *name, const struct hold_news *news, struct hold_verdict *v)
{
	const struct change *mover = commits_mover(j, repo, own, name);
	struct hold_ref *ref = NULL;
	int r = mover ? commits_ref(j, repo, own, name, &ref) : 0;

	v->most = HOLD_NOT;
	if (r < 0 || !ref)
		return r;
	if (!commits_is_held(ref)) {
		struct hold_verdict loses = {.most = HOLD_NOT};

		/* The ref may be held for the commits that it no longer reaches. */
		if (!news || !news->count)
			r = hold_lost_ref(j, repo, name, &loses);
		if (r < 0 || loses.most != HOLD_HOLD)
			return r;
	}
	for (size_t i = 0; news && i < news->count; i++)
		if (!commits_have(&ref->news, &news->items[i]))
			return 0;
	v->most = HOLD_HOLD;
	v->with = mover->path;
	return hold_say(j, v, "it belongs to %.200s, which is held", name);
}

int hold_follow_head(struct hold_judge *j, const char *gitdir, const struct hold_news *news,
		     struct hold_verdict *v)
{
	struct hold_repo *repo = hold_repo_of(j, gitdir);
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX], name[GIT_REF_NAME_MAX];
	struct git_name object;

	v->most = HOLD_NOT;
	if (!repo || !git_join(path, gitdir, "HEAD") ||
	    hold_read_path(j->view, path, COMMITS_FILE_MAX, &text) < 0)
		return 0;
	int kind = git_ref_parse(buf_span(&text), &object, name);

	return kind < 0 ? 0 : commits_follow(j, repo, gitdir, kind == 1 ? name : "HEAD", news, v);
}

int hold_ref_is_held(struct hold_judge *j, struct hold_repo *repo, const char *own,
		     const char *name, bool *ret)
{
	struct hold_ref *ref = NULL;
	int r = commits_ref(j, repo, own, name, &ref);

	*ret = r == 0 && ref && commits_is_held(ref);
	return r;
}

int hold_ask_refs(struct hold_judge *j, struct hold_repo *repo)
{
	struct hold_ref *ref = NULL;
	size_t len = strlen(repo->gitdir);
	int r = 0;

	if (repo->refs_asked)
		return 0;
	repo->refs_asked = true;
	for (size_t i = 0; r == 0 && i < j->changes->count && !hold_is_late(j); i++) {
		const struct change *c = &j->changes->items[i];
		const char *rest = str_after(c->path, repo->gitdir);

		if (rest && c->after.type == OBJECT_FILE && str_after(rest + (len > 0), "refs/"))
			r = commits_ref(j, repo, repo->gitdir, rest + (len > 0), &ref);
	}
	for (size_t i = 0; r == 0 && i < repo->after.packed_count && !hold_is_late(j); i++) {
		const struct git_ref *one = &repo->after.packed[i];
		const struct git_ref *was = git_refs_packed(&repo->before, one->name);

		if (!was || !git_name_equal(&was->object, &one->object))
			r = commits_ref(j, repo, "", one->name, &ref);
	}
	return r;
}

/* The ref is held, and it brings all that is in `n`. */
static bool commits_cover(struct hold_ref *ref, const struct hold_news *n,
			  const struct git_name *commit)
{
	if (!commits_is_held(ref))
		return false;
	if (git_name_equal(&ref->news.commit, commit))
		return true;
	for (size_t i = 0; i < n->count; i++)
		if (!commits_have(&ref->news, &n->items[i]))
			return false;
	return n->count > 0;
}

int hold_brought_by(struct hold_judge *j, struct hold_repo *repo, const struct git_name *commit,
		    const struct change **ret)
{
	static const struct git_name none = {.len = 0};
	struct hold_news n = {.count = 0};

	*ret = NULL;
	if (!repo->refs_held)
		return 0;
	int r = hold_judge_commit(j, repo, &none, commit, &n);

	for (struct hold_ref *ref = repo->refs; r == 0 && ref && !*ret && !hold_is_late_soon(j);
	     ref = ref->next)
		if (commits_cover(ref, &n, commit))
			*ret = commits_mover(j, repo, ref->own, ref->name);
	return r;
}

/* --- files of refs ------------------------------------------------------------------------ */

/*
 * Judges a file that has names of objects in its lines.  In a log the new name is the second one.
 */
static int commits_by_lines(struct hold_judge *j, struct hold_repo *repo, struct span text,
			    bool log, struct hold_verdict *v)
{
	static const struct git_name none = {.len = 0};
	struct hold_news n = {.count = 0};
	int r = 0;

	for (size_t lines = 0; r == 0 && text.len > 0 && !hold_is_late(j); lines++) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};
		struct git_name object;

		text = span_skip(text, line.len + (end != NULL));
		if (lines >= COMMITS_LINES_MAX) {
			n.bad = "it has more lines than can be looked at";
			break;
		}
		struct git_log_line logged;

		if (log ? !git_log_parse(line, &logged) : !git_name_parse(line, &object)) {
			n.bad = "it has a line that is no ref";
			break;
		}
		if (log)
			object = logged.new;
		if (!git_name_is_null(&object) && !n.bad)
			r = hold_judge_commit(j, repo, &none, &object, &n);
	}
	return r < 0 ? r : hold_say_commit(j, &n, v);
}

/* Judges a file of refs/, HEAD or a similar file. */
static int commits_by_file(struct hold_judge *j, struct hold_repo *repo, const char *gitdir,
			   const char *name, const struct change *c, struct hold_verdict *v)
{
	struct hold_ref *ref = NULL;
	char symbolic[GIT_REF_NAME_MAX];
	struct git_name object;
	int r = hold_read(j, c, CHANGE_AFTER);

	if (r == -ENOMEM)
		return commits_no_memory(j);
	if (r < 0)
		return hold_say(j, v, "it cannot be looked into (%s)", error_words(r));
	int kind = git_ref_parse(buf_span(&j->after), &object, symbolic);
	const char *middle = str_equal(name, "HEAD") ? hold_middle(j, c->path, name) : NULL;

	if (middle)
		return hold_say_with(j, v, middle);
	bool lines = str_ends_with(name, "_HEAD") || str_equal(name, "AUTO_MERGE");

	/* Some of these can have several lines for git; git fetch leaves an empty file. */
	if (lines && (kind != 1 || strchr(symbolic, '\n')))
		return commits_by_lines(j, repo, buf_span(&j->after), false, v);
	if (kind < 0) {
		const struct hold_dir *dir = hold_dir_find(j, gitdir, strlen(gitdir));

		/* In a new repository it stands for nothing that the user has. */
		if (dir && !dir->was_gitdir)
			v->most = HOLD_NOT;
		return hold_say(j, v, "what it names cannot be read");
	}
	const char *alias = NULL;

	r = kind == 1 ? hold_alias(j, repo, gitdir, name, &alias) : 0;
	if (r < 0 || alias)
		return r < 0 ? r : hold_say(j, v, "%s", alias);
	if (kind == 1)
		return commits_follow(j, repo, gitdir, symbolic, NULL, v);
	r = commits_ref(j, repo, gitdir, name, &ref);
	return r < 0 || !ref ? r : hold_say_commit(j, &ref->news, v);
}

static void commits_join(struct hold_news *into, const struct hold_news *from, struct hold_judge *j,
			 int *r)
{
	for (size_t i = 0; i < from->count && *r == 0; i++)
		if (!commits_have(into, &from->items[i]) && !commits_put(j, into, &from->items[i]))
			*r = commits_no_memory(j);
	/* The reason names one commit: one that brings something held before one that is only
	 * flagged. */
	if (from->count || (into->commit.len == 0 &&
			    (from->hidden.count || from->gone.count || from->flagged.count))) {
		into->commit = from->commit;
		into->is_tree = from->is_tree;
	}
	into->bad = into->bad ? into->bad : from->bad;
	for (size_t i = 0; i < from->flagged.count && i == 0; i++)
		hold_words_note(&into->flagged, from->flagged.list);
	for (size_t i = 0; i < from->hidden.count && i == 0; i++)
		hold_words_note(&into->hidden, from->hidden.list);
	for (size_t i = 0; i < from->gone.count && i == 0; i++)
		hold_words_note(&into->gone, from->gone.list);
	into->cut = into->cut || from->cut;
}

/* Names that mean more to git than a commit. */
static bool commits_is_odd(const char *name)
{
	return !str_after(name, "refs/") || str_after(name, "refs/replace/") ||
	       str_after(name, "refs/bisect/") || strstr(name, "..") || strstr(name, "//");
}

static int commits_by_packed(struct hold_judge *j, struct hold_repo *repo, struct hold_verdict *v)
{
	static const struct git_name none = {.len = 0};
	struct hold_news all = {.count = 0};
	struct git_name value;
	int r = 0;

	if (repo->after.bad)
		return hold_say(j, v, "git's list of refs cannot be looked into: %s",
				repo->after.bad);
	for (size_t i = 0; r == 0 && i < repo->after.packed_count && !hold_is_late(j); i++) {
		const struct git_ref *one = &repo->after.packed[i];
		const struct git_ref *was = git_refs_packed(&repo->before, one->name);
		struct hold_ref *ref = NULL;

		if (was && git_name_equal(&was->object, &one->object))
			continue;
		if (commits_is_odd(one->name))
			return hold_say(j, v,
					"it has %.*s, which makes git read other objects "
					"than those that it is asked for",
					2 * HOLD_WORD_MAX, one->name);
		r = commits_ref(j, repo, "", one->name, &ref);
		if (r == 0 && ref)
			commits_join(&all, &ref->news, j, &r);
		/*
		 * If the file of the ref does not land, this line counts instead, so judge it, too.
		 */
		if (r == 0 && (git_refs_value(&repo->after, "", one->name, &value) < 0 ||
			       !git_name_equal(&value, &one->object)))
			r = hold_judge_commit(j, repo, &none, &one->object, &all);
	}
	return r < 0 ? r : hold_say_commit(j, &all, v);
}

/* The log waits with its ref, or with another ref that brings what one of its lines names; or it is
 * held itself. */
static int commits_by_log(struct hold_judge *j, struct hold_repo *repo, const char *gitdir,
			  const char *of, const struct change *c, struct hold_verdict *v)
{
	struct hold_verdict lines = *v;
	int r = str_equal(of, "HEAD") ? hold_follow_head(j, gitdir, NULL, v)
				      : commits_follow(j, repo, gitdir, of, NULL, v);

	if (r < 0 || v->most == HOLD_HOLD)
		return r;
	r = hold_follow_lines(j, repo, c, &lines);
	if (r == 0 && lines.most != HOLD_HOLD)
		return hold_by_log(j, repo, c, of, v);
	*v = lines;
	return r;
}

/* Judges what a changed file of refs, or a log, brings. */
static int commits_brings(struct hold_judge *j, struct hold_repo *repo, const char *gitdir,
			  const char *name, const struct change *c, struct hold_verdict *v)
{
	const char *of = str_after(name, "logs/");

	if (str_equal(name, "packed-refs"))
		return commits_by_packed(j, repo, v);
	if (of && str_equal(of, "refs/stash")) {
		int r = hold_read(j, c, CHANGE_AFTER);

		if (r < 0)
			return hold_say(j, v, "it cannot be looked into (%s)", error_words(r));
		return commits_by_lines(j, repo, buf_span(&j->after), true, v);
	}
	if (of)
		return commits_by_log(j, repo, gitdir, of, c, v);
	return commits_by_file(j, repo, gitdir, name, c, v);
}

/* Judges what such a file no longer has. */
static int commits_loses(struct hold_judge *j, struct hold_repo *repo, const char *name,
			 const struct change *c, struct hold_verdict *v)
{
	if (str_equal(name, "packed-refs"))
		return hold_lost_packed(j, repo, v);
	if (str_after(name, "refs/") || str_equal(name, "logs/refs/stash"))
		return hold_lost_by(j, repo, c->path, name, v);
	v->most = HOLD_NOT;
	return 0;
}

int hold_by_commits(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	struct hold_verdict loses = *v;
	char gitdir[PATH_MAX];
	const char *name = NULL;

	if (!hold_gitdir_of(j, c->path, gitdir, &name)) {
		v->most = HOLD_NOT;
		return 0;
	}
	struct hold_repo *repo = hold_repo_of(j, gitdir);
	int r = repo ? commits_brings(j, repo, gitdir, name, c, v) : commits_no_memory(j);

	if (r < 0 || v->most == HOLD_HOLD)
		return r;
	r = commits_loses(j, repo, name, c, &loses);
	if (loses.most == HOLD_HOLD)
		*v = loses;
	return r;
}

const char *hold_needs(struct hold_judge *j, const struct change *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char gitdir[PATH_MAX], path[PATH_MAX], symbolic[GIT_REF_NAME_MAX];
	const char *name = NULL;
	struct hold_repo *repo = NULL;
	struct git_name object;
	const struct change *mover = NULL;
	bool file = c->after.type == OBJECT_FILE;
	bool head = file && str_ends_with(c->path, "HEAD");
	bool ref = file && (strstr(c->path, "refs/") || str_ends_with(c->path, "packed-refs"));
	bool gone = c->after.type == OBJECT_ABSENT && c->before.type == OBJECT_FILE &&
		    strstr(c->path, "refs/");

	if ((!head && !gone && !ref) || !hold_gitdir_of(j, c->path, gitdir, &name) ||
	    !(repo = hold_repo_of(j, gitdir)))
		return NULL;
	if (ref)
		return hold_bad_pack(j, repo);
	if (gone && str_after(name, "refs/") && git_refs_packed(&repo->after, name) &&
	    git_join(path, repo->gitdir, "packed-refs"))
		mover = changes_find(j->changes, path);
	if (head && hold_read_path(j->view, c->path, COMMITS_FILE_MAX, &text) == 0 &&
	    git_ref_parse(buf_span(&text), &object, symbolic) == 1 &&
	    git_refs_value(&repo->before, gitdir, symbolic, &object) < 0)
		mover = commits_mover(j, repo, gitdir, symbolic);
	return mover ? mover->path : NULL;
}
