/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_refs.h"

#include "array.h"
#include "basis.h"
#include "clock.h"
#include "fd.h"
#include "git_place.h"
#include "git_refs.h"
#include "git_store.h"
#include "sha256.h"
#include "str.h"
#include "undo_direct.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFS_STORE_MS = 10000 };

struct undo_ref {
	const char *path, *name; /* path of its file; name within the repository */
	struct git_name left, back, now;
	size_t step; /* the step of its file, or else of packed-refs */
	bool own;    /* the step is that of its file */
};

void undo_refs_fini(struct undo_refs *r)
{
	free(r->items);
	free(r->added);
	r->items = NULL;
	r->added = NULL;
	r->item_count = r->added_count = 0;
}

/* --- what there is --------------------------------------------------------------------- */

static size_t refs_gitdir(const struct undo_ref *one)
{
	return (size_t)(one->name - one->path) - 1;
}

static bool refs_are_of_one(const struct undo_ref *a, const struct undo_ref *b)
{
	return refs_gitdir(a) == refs_gitdir(b) && strncmp(a->path, b->path, refs_gitdir(a)) == 0;
}

/* NAME in the repository of a ref; false: the path is too long. */
static bool refs_beside(const struct undo_ref *one, const char *name, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%.*s/%s", (int)refs_gitdir(one), one->path, name) <
	       PATH_MAX;
}

static ssize_t refs_step(const struct undo_refs *r, const struct undo_ref *one, const char *name)
{
	char path[PATH_MAX];

	return refs_beside(one, name, path) ? journal_find_step(land_undo_journal(r->kept), path)
					    : -1;
}

static int refs_on_ref(void *context, const char *path, const struct git_name *left,
		       const struct git_name *back)
{
	struct undo_refs *r = context;
	const char *own = arena_str(r->arena, path);
	const char *name = own ? git_rest(own) : NULL;

	if (!own || !ARRAY_GROW(r->items, r->item_count))
		return -ENOMEM;
	if (!name || !str_after(name, "refs/"))
		return -EBADMSG;
	struct undo_ref one = {.path = own, .name = name, .left = *left, .back = *back};
	ssize_t step = journal_find_step(land_undo_journal(r->kept), own);

	/* If it is a folder of refs on one side, it is no file of this one. */
	one.own = step >= 0 && r->steps[step].before.type != OBJECT_DIR &&
		  r->steps[step].after.type != OBJECT_DIR;
	if (!one.own)
		step = refs_step(r, &one, "packed-refs");
	if (step < 0)
		return -EBADMSG;
	one.step = (size_t)step;
	r->items[r->item_count++] = one;
	return 0;
}

static int refs_open(const struct view *base, const struct undo_ref *one, struct git_refs *ret)
{
	_cleanup_free_ char *gitdir = strndup(one->path, refs_gitdir(one));

	return gitdir ? git_refs_open(base, gitdir, ret) : -ENOMEM;
}

/* --- judging --------------------------------------------------------------------------- */

static bool refs_is_stood_on(const struct undo_refs *r, const struct undo_ref *one);

/* A packed ref goes with this undo: the refs of one repository are r->items[from..to]. */
static bool refs_gives_way(const struct undo_refs *r, size_t from, size_t to, const char *name)
{
	for (size_t i = from; i < to; i++)
		if (!r->items[i].back.len && str_equal(r->items[i].name, name))
			return !refs_is_stood_on(r, &r->items[i]);
	return false;
}

/* A packed ref that stays is in the place of a folder that this ref needs, or has its own folder
 * there. */
static bool refs_is_barred(const struct undo_refs *r, const struct git_refs *refs, size_t from,
			   size_t to, const char *ref)
{
	char name[GIT_REF_NAME_MAX];

	if (strlen(ref) >= sizeof(name))
		return true;
	for (size_t i = git_refs_below(refs, ref);
	     i < refs->packed_count && git_refs_is_below(refs->packed[i].name, ref); i++)
		if (!refs_gives_way(r, from, to, refs->packed[i].name))
			return true;
	memcpy(name, ref, strlen(ref) + 1);
	for (char *slash; (slash = strrchr(name, '/'));) {
		*slash = '\0';
		if (git_refs_packed(refs, name) && !refs_gives_way(r, from, to, name))
			return true;
	}
	return false;
}

/* It is as the landing left it, or as it was before. */
static bool refs_is_known(const struct undo_refs *u, const struct git_refs *refs, size_t from,
			  size_t to, struct undo_ref *one)
{
	int r = git_refs_value(refs, "", one->name, &one->now);

	if (r < 0)
		one->now.len = 0;
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EISDIR)
		return false;
	if (!one->now.len && one->back.len && refs_is_barred(u, refs, from, to, one->name))
		return false;
	return git_name_equal(&one->now, &one->left) || git_name_equal(&one->now, &one->back);
}

/* If we put the landing's files back, this ref would not be what it was. */
static bool refs_needs_value(const struct undo_refs *r, const struct git_refs *refs,
			     const struct undo_ref *one)
{
	const struct land_step *s = &r->steps[one->step];
	const struct git_ref *packed = git_refs_packed(refs, one->name);
	const struct git_name none = {.len = 0};
	ssize_t all = refs_step(r, one, "packed-refs");

	if (!basis_same(&r->now[one->step], &s->before) ||
	    (all >= 0 && !basis_same(&r->now[all], &r->steps[all].before)))
		return true;
	return one->own && s->after.type == OBJECT_ABSENT && all < 0 &&
	       !git_name_equal(packed ? &packed->object : &none, &one->back);
}

/* The object comes back with this undo, or may come in a pack. */
static bool refs_is_brought(const struct undo_refs *r, const struct undo_ref *one)
{
	char hex[GIT_HEX_MAX + 1], name[GIT_HEX_MAX + sizeof("objects//")];

	git_name_hex(&one->back, hex);
	(void)snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	ssize_t step = refs_step(r, one, name);

	if (step >= 0 && r->steps[step].after.type == OBJECT_FILE)
		return true;
	for (size_t i = 0; i < r->count; i++)
		if (r->steps[i].after.type == OBJECT_FILE &&
		    git_place_of(r->steps[i].path) == GIT_PLACE_PACK)
			return true;
	return false;
}

/* Its former object is not in the repository any more: `git gc` pruned it. */
static bool refs_is_pruned(const struct undo_refs *r, struct git_store *s,
			   const struct undo_ref *one)
{
	return s && one->back.len && !git_name_equal(&one->now, &one->back) &&
	       git_store_has(s, &one->back) == -ENOENT && !refs_is_brought(r, one);
}

/* Judges the refs of one repository. */
static void refs_judge(struct undo_refs *r, const struct git_refs *refs, size_t from, size_t to)
{
	_cleanup_git_store_ struct git_store *store = NULL;
	bool known = true, values = false;
	char objects[PATH_MAX];

	if (refs_beside(&r->items[from], "objects", objects))
		(void)git_store_open(refs->view, refs->view, objects,
				     clock_ms(CLOCK_MONOTONIC) + REFS_STORE_MS, &store);
	for (size_t i = from; i < to; i++) {
		struct undo_ref *one = &r->items[i];
		bool is = refs_is_known(r, refs, from, to, one) && !refs_is_pruned(r, store, one);

		if (!is) {
			r->changed[one->step] = true;
			r->left[one->step] = false;
		}
		known = known && is;
		values = values || refs_needs_value(r, refs, one);
	}
	for (size_t i = from; known && values && i < to; i++) {
		size_t step = r->items[i].step;
		ssize_t packed = refs_step(r, &r->items[i], "packed-refs");

		r->valued[step] = true;
		r->changed[step] = r->left[step] = false;
		if (packed < 0)
			continue;
		r->valued[packed] = true;
		r->changed[packed] = r->left[packed] = false;
	}
}

int undo_refs_judge(struct undo_refs *r)
{
	const struct view base = {.base = r->tree};
	size_t to = 0;
	int code = land_undo_refs(r->kept, refs_on_ref, r);

	/* If we do not understand the list, we ignore it. */
	if (code == -EBADMSG)
		r->item_count = 0;
	for (size_t from = 0; from < r->item_count && code != -ENOMEM; from = to) {
		struct git_refs refs = GIT_REFS_INIT;

		for (to = from + 1; to < r->item_count; to++)
			if (!refs_are_of_one(&r->items[from], &r->items[to]))
				break;
		code = refs_open(&base, &r->items[from], &refs);
		if (code == 0 && !refs.bad)
			refs_judge(r, &refs, from, to);
		git_refs_close(&refs);
	}
	return code == -ENOMEM ? code : 0;
}

/* --- what stays ------------------------------------------------------------------------ */

static bool refs_is_done(const struct undo_refs *r, size_t step)
{
	return !r->left[step] && !r->changed[step];
}

static bool refs_goes(const struct undo_refs *r, const struct undo_ref *one)
{
	return refs_is_done(r, one->step) && !one->back.len && one->now.len;
}

/* The branch of a HEAD; "": it is on none. */
static void refs_head(int fd, char ret[GIT_REF_NAME_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(GIT_REF_NAME_MAX);
	struct git_name object;

	if (fd < 0 || fd_read_all(fd, &text) < 0 ||
	    git_ref_parse(buf_span(&text), &object, ret) != 1)
		ret[0] = '\0';
}

/* The branch that is being rebased, while HEAD is on none. */
static void refs_rebased(const struct view *base, const struct undo_ref *of, const char *folder,
			 char ret[GIT_REF_NAME_MAX])
{
	static const char *const notes[] = {"rebase-merge/head-name", "rebase-apply/head-name"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(notes) && !ret[0]; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(GIT_REF_NAME_MAX);
		char inner[PATH_MAX], path[PATH_MAX];

		if (snprintf(inner, sizeof(inner), "%s%s", folder, notes[i]) >=
			    (int)sizeof(inner) ||
		    !refs_beside(of, inner, path))
			continue;
		_cleanup_fd_ int fd = view_openat(base, path, O_RDONLY);

		if (fd >= 0 && fd_read_all(fd, &text) == 0)
			(void)snprintf(ret, GIT_REF_NAME_MAX, "%.*s",
				       (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	}
}

/* Who may be on a branch: the repository's own HEAD, and those of its worktrees. */
struct refs_user {
	const struct undo_refs *r;
	const struct view base;
	const struct undo_ref *of;
	bool is;
};

/* The step of one of git's files in `folder` of the repository; -1: the landing has none. */
static ssize_t refs_step_in(const struct refs_user *u, const char *folder, const char *name)
{
	char inner[PATH_MAX];

	return snprintf(inner, sizeof(inner), "%s%s", folder, name) < (int)sizeof(inner)
		       ? refs_step(u->r, u->of, inner)
		       : -1;
}

/* The landing changed what is checked out there as well, so that goes back with the branch.  So it
 * is where HEAD was on the branch when it landed, and the index did not have to change.  A
 * repository without an index has nothing checked out. */
static bool refs_moves_with(const struct refs_user *u, const char *folder)
{
	static const char *const files[] = {"HEAD", "index", "logs/HEAD"};
	char inner[PATH_MAX], path[PATH_MAX];
	struct object o;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++) {
		ssize_t step = refs_step_in(u, folder, files[i]);

		if (step >= 0 && !u->r->changed[step])
			return true;
	}
	if (snprintf(inner, sizeof(inner), "%sHEAD", folder) < (int)sizeof(inner) &&
	    refs_beside(u->of, inner, path) && view_look(&u->base, path, &o) == 0 &&
	    o.type == OBJECT_FILE && o.ctime < land_undo_journal(u->r->kept)->stamp)
		return true;
	return snprintf(inner, sizeof(inner), "%sindex", folder) < (int)sizeof(inner) &&
	       refs_beside(u->of, inner, path) && view_look(&u->base, path, &o) == 0 &&
	       o.type == OBJECT_ABSENT;
}

/* Sets u->is if the HEAD in `folder` will be on the branch, and the branch goes, or moves while the
 * checkout stays. */
static void refs_ask_head(struct refs_user *u, const char *folder)
{
	ssize_t head = refs_step_in(u, folder, "HEAD");
	bool moves = head >= 0 && refs_is_done(u->r, (size_t)head);
	char inner[PATH_MAX], path[PATH_MAX], branch[GIT_REF_NAME_MAX];

	if (snprintf(inner, sizeof(inner), "%sHEAD", folder) >= (int)sizeof(inner) ||
	    !refs_beside(u->of, inner, path))
		return;
	_cleanup_fd_ int fd = !moves ? view_openat(&u->base, path, O_RDONLY)
			      : u->r->steps[head].after.type == OBJECT_FILE
				      ? land_undo_content(u->r->kept, (size_t)head)
				      : -1;

	refs_head(fd, branch);
	if (fd >= 0)
		refs_rebased(&u->base, u->of, folder, branch);
	u->is = u->is || (str_equal(branch, u->of->name) &&
			  (!u->of->back.len || !refs_moves_with(u, folder)));
}

static int refs_on_worktree(void *context, const char *name)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "worktrees/%s/", name) < (int)sizeof(folder))
		refs_ask_head(context, folder);
	return 0;
}

/* HEAD will be on this branch, or the HEAD of a worktree that stays. */
static bool refs_is_stood_on(const struct undo_refs *r, const struct undo_ref *one)
{
	struct refs_user u = {.r = r, .base = {.base = r->tree}, .of = one};
	char path[PATH_MAX];

	if (!str_after(one->name, "refs/heads/"))
		return false;
	refs_ask_head(&u, "");
	if (!u.is && refs_beside(one, "worktrees", path))
		(void)view_list(&u.base, path, refs_on_worktree, &u);
	return u.is;
}

/* What a log or the message of a commit is about goes: then they go with it. */
static bool refs_goes_with(const struct undo_refs *r, size_t i)
{
	const char *path = r->steps[i].path, *rest = git_rest(path);
	const char *about = str_after(rest, "logs/");
	char of[PATH_MAX];
	int n = snprintf(of, sizeof(of), "%.*s%s", (int)(rest - path), path,
			 about ? about : "HEAD");
	ssize_t step = n > 0 && n < (int)sizeof(of)
			       ? journal_find_step(land_undo_journal(r->kept), of)
			       : -1;

	return step >= 0 && refs_is_done(r, (size_t)step) &&
	       r->steps[step].after.type == OBJECT_ABSENT;
}

/* git writes this file for itself, and it says nothing about what the repository is. */
static bool refs_is_aside(const char *path)
{
	const char *rest = git_rest(path), *log = rest ? str_after(rest, "logs/") : NULL;

	return rest && (log ? !str_equal(log, "refs/stash")
			    : git_is_in_objects(path) || str_equal(rest, "COMMIT_EDITMSG") ||
					str_equal(rest, "info/refs"));
}

/* Leaves a branch and its log; and packed-refs, if the branch is in it. */
static void refs_stay(struct undo_refs *r, const struct undo_ref *one)
{
	char log[GIT_REF_NAME_MAX + sizeof("logs/")];
	int n = snprintf(log, sizeof(log), "logs/%s", one->name);
	ssize_t step = n > 0 && n < (int)sizeof(log) ? refs_step(r, one, log) : -1;

	r->left[one->step] = r->stands[one->step] = true;
	if (step >= 0)
		r->left[step] = true;
	ssize_t packed = refs_step(r, one, "packed-refs");

	if (packed >= 0 && !r->valued[packed] && r->now[one->step].type != OBJECT_FILE)
		r->left[packed] = true;
}

/* The packed-refs of the landing stays, so a ref that had no file would not get its value without
 * one. */
static void refs_value_without_packed(struct undo_refs *r, const struct undo_ref *one)
{
	ssize_t packed = refs_step(r, one, "packed-refs");

	if (one->own && packed >= 0 && r->left[packed] && refs_is_done(r, one->step) &&
	    r->steps[one->step].after.type == OBJECT_ABSENT)
		r->valued[one->step] = true;
}

void undo_refs_leave(struct undo_refs *r)
{
	for (size_t i = 0; i < r->item_count; i++) {
		const struct undo_ref *one = &r->items[i];
		ssize_t head = refs_step(r, one, "HEAD");

		if (!refs_is_done(r, one->step) || !one->now.len ||
		    git_name_equal(&one->now, &one->back) || !refs_is_stood_on(r, one))
			continue;
		/* Without its HEAD the rest would be no repository. */
		if (head >= 0 && r->steps[head].after.type == OBJECT_ABSENT)
			r->changed[one->step] = true;
		else
			refs_stay(r, one);
	}
	for (size_t i = 0; i < r->item_count; i++)
		refs_value_without_packed(r, &r->items[i]);
	for (size_t i = 0; i < r->count; i++) {
		struct land_step *s = &r->steps[i];

		if (!r->changed[i] || r->left[i] || r->now[i].type == OBJECT_DIR ||
		    !refs_is_aside(s->path))
			continue;
		if (s->after.type == OBJECT_ABSENT && refs_goes_with(r, i))
			s->before = r->now[i];
		else
			r->left[i] = true;
		r->over += r->left[i];
		r->changed[i] = false;
	}
}

/* --- what is done ---------------------------------------------------------------------- */

static int refs_add(struct undo_refs *r, const struct undo_added *a)
{
	if (!ARRAY_GROW(r->added, r->added_count))
		return -ENOMEM;
	r->added[r->added_count++] = *a;
	return 0;
}

static struct object refs_text_object(struct span text, uint32_t mode)
{
	struct object ret = {
		.type = OBJECT_FILE, .mode = mode, .hashed = true, .layer = -1, .size = text.len};
	struct sha256 sum;

	sha256_begin(&sum);
	sha256_add(&sum, text);
	sha256_end(&sum, ret.digest);
	return ret;
}

/* Adds the file of a ref: with its former value, or none. */
static int refs_add_file(struct undo_refs *r, const struct undo_ref *one)
{
	struct undo_added a = {.step = {.path = one->path, .source = -1}};
	char hex[GIT_HEX_MAX + 1];
	int code = undo_look(r->tree, one->path, &a.step.before);

	if (code < 0)
		return code;
	if (one->back.len) {
		git_name_hex(&one->back, hex);
		char *text = arena_printf(r->arena, "%s\n", hex);

		if (!text)
			return -ENOMEM;
		a.text = span_of_str(text);
		a.step.after = refs_text_object(a.text, a.step.before.type == OBJECT_FILE
								? a.step.before.mode & 0777
								: 0644);
	} else if (a.step.before.type == OBJECT_ABSENT) {
		return 0;
	}
	if (one->own)
		r->now[one->step] = a.step.after;
	return refs_add(r, &a);
}

static int refs_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of refs that go. */
struct refs_drop {
	const char **names;
	size_t count;
};

/* This line of packed-refs is about one of them. */
static bool refs_is_dropped(const struct refs_drop *d, struct span line)
{
	char name[GIT_REF_NAME_MAX];
	const char *key = name;
	const uint8_t *blank = memchr(line.ptr, ' ', line.len);
	struct span rest =
		blank ? span_skip(line, (size_t)(blank - line.ptr) + 1) : (struct span){NULL, 0};

	if (rest.len > 0 && rest.ptr[rest.len - 1] == '\n')
		rest.len--;
	if (line.ptr[0] == '#' || rest.len == 0 || rest.len >= sizeof(name))
		return false;
	memcpy(name, rest.ptr, rest.len);
	name[rest.len] = '\0';
	return bsearch(&key, d->names, d->count, sizeof(*d->names), refs_order) != NULL;
}

/* Copies the text without their lines.  Returns how many lines there were. */
static size_t refs_drop(const struct refs_drop *d, struct span text, struct buf *out)
{
	size_t count = 0;
	bool drops = false;

	while (text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		const struct span line = {text.ptr, end ? (size_t)(end - text.ptr) + 1 : text.len};

		/* A line with ^ is about the line before it. */
		if (line.ptr[0] != '^') {
			drops = refs_is_dropped(d, line);
			count += drops;
		}
		if (!drops)
			buf_put(out, line.ptr, line.len);
		text = span_skip(text, line.len);
	}
	return count;
}

/* Adds packed-refs without the refs that go; `of` is one ref of the repository. */
static int refs_add_packed(struct undo_refs *r, const struct undo_ref *of,
			   const struct refs_drop *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT(GIT_REFS_BYTES_MAX);
	_cleanup_buf_ struct buf out = BUF_INIT(GIT_REFS_BYTES_MAX);
	const struct view base = {.base = r->tree};
	struct undo_added a = {.step = {.source = -1}};
	ssize_t step = refs_step(r, of, "packed-refs");
	char path[PATH_MAX];
	int code = refs_beside(of, "packed-refs", path) ? undo_look(r->tree, path, &a.step.before)
							: -ENAMETOOLONG;

	if (code < 0 || a.step.before.type != OBJECT_FILE)
		return code;
	_cleanup_fd_ int fd = view_openat(&base, path, O_RDONLY);

	code = fd < 0 ? fd : fd_read_all(fd, &text);
	if (code < 0 || refs_drop(d, buf_span(&text), &out) == 0)
		return code;
	char *copy = arena_alloc(r->arena, out.len + 1);

	a.step.path = arena_str(r->arena, path);
	if (!copy || !a.step.path || buf_error(&out) < 0)
		return -ENOMEM;
	memcpy(copy, out.ptr, out.len);
	a.text = (struct span){(const uint8_t *)copy, out.len};
	a.step.after = refs_text_object(a.text, a.step.before.mode & 0777);
	if (step >= 0)
		r->now[step] = a.step.after;
	return refs_add(r, &a);
}

/* Adds the refs of one repository. */
static int refs_add_all(struct undo_refs *r, size_t from, size_t to)
{
	struct refs_drop d = {.names = arena_alloc(r->arena, (to - from) * sizeof(*d.names))};
	int code = d.names ? 0 : -ENOMEM;

	for (size_t i = from; code == 0 && i < to; i++) {
		const struct undo_ref *one = &r->items[i];

		if (!r->valued[one->step] || !refs_is_done(r, one->step) ||
		    git_name_equal(&one->now, &one->back))
			continue;
		if (refs_goes(r, one))
			d.names[d.count++] = one->name;
		code = refs_add_file(r, one);
	}
	if (code < 0 || d.count == 0)
		return code;
	qsort(d.names, d.count, sizeof(*d.names), refs_order);
	return refs_add_packed(r, &r->items[from], &d);
}

int undo_refs_add(struct undo_refs *r)
{
	size_t to = 0;
	int code = 0;

	for (size_t from = 0; code == 0 && from < r->item_count; from = to) {
		for (to = from + 1; to < r->item_count; to++)
			if (!refs_are_of_one(&r->items[from], &r->items[to]))
				break;
		code = refs_add_all(r, from, to);
	}
	return code;
}

int undo_refs_add_folders(struct undo_refs *r, const char *path)
{
	char folder[PATH_MAX];

	if (strlen(path) >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, path, strlen(path) + 1);
	for (char *slash; (slash = strrchr(folder, '/'));) {
		struct undo_added a = {
			.step = {.after = {.type = OBJECT_DIR, .mode = 0755, .layer = -1},
				 .source = -1}};

		*slash = '\0';
		ssize_t step = journal_find_step(land_undo_journal(r->kept), folder);
		bool made = step >= 0 && refs_is_done(r, (size_t)step) &&
			    r->steps[step].after.type == OBJECT_DIR;

		/* The folder came with the landing, and would go. */
		if (step >= 0 && refs_is_done(r, (size_t)step) && !made) {
			r->left[step] = true;
			r->over++;
		}
		for (size_t i = 0; !made && i < r->added_count; i++)
			made = str_equal(r->added[i].step.path, folder);
		int code = made ? 0 : undo_look(r->tree, folder, &a.step.before);

		if (code < 0 || made || a.step.before.type != OBJECT_ABSENT)
			return code;
		a.step.path = arena_str(r->arena, folder);
		code = a.step.path ? refs_add(r, &a) : -ENOMEM;
		if (code < 0)
			return code;
	}
	return 0;
}
