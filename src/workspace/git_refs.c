/* SPDX-License-Identifier: Apache-2.0 */
#include "git_refs.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { REFS_HOPS_MAX = 5, REFS_DEPTH_MAX = 32, REFS_FILE_MAX = 4096 };

static int refs_order(const void *a, const void *b)
{
	return strcmp(((const struct git_ref *)a)->name, ((const struct git_ref *)b)->name);
}

/* Reads the text of a file of the view, shorter than `max`. */
static int refs_read(const struct view *v, const char *path, size_t max, struct buf *into)
{
	struct object o;
	int r = view_look(v, path, &o);

	*into = BUF_INIT(max);
	if (r < 0 || o.type != OBJECT_FILE)
		return r < 0 ? r : -ENOENT;
	_cleanup_fd_ int fd = view_openat(v, path, O_RDONLY);

	return fd < 0 ? fd : fd_read_all(fd, into);
}

static int refs_take_packed(struct git_refs *r, struct span text)
{
	struct git_packed p = {.left = text};
	size_t lines = 1;
	int more = 0;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	lines = lines < GIT_REFS_MAX ? lines : GIT_REFS_MAX;
	r->packed = arena_alloc(&r->arena, lines * sizeof(*r->packed));
	if (!r->packed)
		return -ENOMEM;
	while ((more = git_packed_next(&p)) > 0) {
		if (r->packed_count == lines || p.name.len >= GIT_REF_NAME_MAX) {
			r->bad = "it has more refs than can be looked at, or longer names";
			break;
		}
		struct git_ref *one = &r->packed[r->packed_count++];

		one->object = p.object;
		one->name = arena_strn(&r->arena, (const char *)p.name.ptr, p.name.len);
		if (!one->name)
			return -ENOMEM;
	}
	if (more < 0)
		r->bad = "it has a line that is no ref";
	if (r->packed_count > 1)
		qsort(r->packed, r->packed_count, sizeof(*r->packed), refs_order);
	return 0;
}

int git_refs_open(const struct view *v, const char *gitdir, struct git_refs *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX];

	*ret = (struct git_refs){.arena = ARENA_INIT((size_t)4 * GIT_REFS_BYTES_MAX), .view = v};
	if (snprintf(ret->gitdir, sizeof(ret->gitdir), "%s", gitdir) >= (int)sizeof(ret->gitdir) ||
	    !git_join(path, gitdir, "packed-refs"))
		return -ENAMETOOLONG;
	int r = refs_read(v, path, GIT_REFS_BYTES_MAX, &text);

	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0) {
		ret->bad = "it cannot be read";
		return r == -ENOMEM ? r : 0;
	}
	return refs_take_packed(ret, buf_span(&text));
}

int git_refs_parse(struct span text, struct git_refs *ret)
{
	*ret = (struct git_refs){.arena = ARENA_INIT((size_t)4 * GIT_REFS_BYTES_MAX)};
	return refs_take_packed(ret, text);
}

void git_refs_close(struct git_refs *r)
{
	arena_fini(&r->arena);
	*r = GIT_REFS_INIT;
}

const struct git_ref *git_refs_packed(const struct git_refs *r, const char *name)
{
	const struct git_ref key = {.name = name};

	return r->packed_count == 0
		       ? NULL
		       : bsearch(&key, r->packed, r->packed_count, sizeof(*r->packed), refs_order);
}

bool git_refs_is_before(const char *ref, const char *name)
{
	size_t len = strlen(name);
	int order = strncmp(ref, name, len);

	return order < 0 || (order == 0 && (uint8_t)ref[len] < '/');
}

size_t git_refs_below(const struct git_refs *r, const char *name)
{
	size_t from = 0, to = r->packed_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (git_refs_is_before(r->packed[middle].name, name))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool git_refs_is_below(const char *ref, const char *name)
{
	const char *rest = str_after(ref, name);

	return rest && *rest == '/';
}

bool git_refs_has_below(const struct git_refs *r, const char *name)
{
	size_t from = git_refs_below(r, name);

	return from < r->packed_count && git_refs_is_below(r->packed[from].name, name);
}

int git_ref_parse(struct span text, struct git_name *ret, char symbolic[GIT_REF_NAME_MAX])
{
	static const char lead[] = "ref:";
	size_t len = sizeof(lead) - 1;

	if (text.len > len && memcmp(text.ptr, lead, len) == 0) {
		while (len < text.len && (text.ptr[len] == ' ' || text.ptr[len] == '\t'))
			len++;
		text = span_skip(text, len);
		while (text.len > 0 && text.ptr[text.len - 1] <= ' ')
			text.len--;
		if (text.len == 0 || text.len >= GIT_REF_NAME_MAX ||
		    memchr(text.ptr, '\0', text.len))
			return -EBADMSG;
		memcpy(symbolic, text.ptr, text.len);
		symbolic[text.len] = '\0';
		return 1;
	}
	return git_name_parse(text, ret) ? 0 : -EBADMSG;
}

/* The name stays in the repository: no part of it leads up. */
static bool refs_is_sound(const char *name)
{
	for (const char *at = name; *at;) {
		size_t part = strcspn(at, "/");

		if (part == 0 || (at[0] == '.' && (part == 1 || (part == 2 && at[1] == '.'))))
			return false;
		at += part;
		at += *at == '/';
	}
	return *name != '\0';
}

/* What one name says, as in git_ref_parse: its file counts before packed-refs. */
static int refs_step(const struct git_refs *r, const char *own, const char *name,
		     struct git_name *ret, char next[GIT_REF_NAME_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX];
	bool shared = str_after(name, "refs/") && !str_after(name, "refs/bisect/") &&
		      !str_after(name, "refs/worktree/");
	const char *dir = shared || !*own ? r->gitdir : own;

	if (!refs_is_sound(name) || !git_join(path, dir, name))
		return -EBADMSG;
	int code = refs_read(r->view, path, REFS_FILE_MAX, &text);

	if (code == 0)
		return git_ref_parse(buf_span(&text), ret, next);
	const struct git_ref *packed =
		code == -ENOENT || code == -ENOTDIR ? git_refs_packed(r, name) : NULL;

	if (!packed)
		return code;
	*ret = packed->object;
	return 0;
}

int git_refs_value(const struct git_refs *r, const char *own, const char *name,
		   struct git_name *ret)
{
	char at[GIT_REF_NAME_MAX], next[GIT_REF_NAME_MAX];

	if (snprintf(at, sizeof(at), "%s", name) >= (int)sizeof(at))
		return -ENAMETOOLONG;
	for (size_t hops = 0; hops < REFS_HOPS_MAX; hops++) {
		int code = refs_step(r, own, at, ret, next);

		if (code <= 0)
			return code;
		memcpy(at, next, sizeof(at));
	}
	return -ELOOP;
}

int git_refs_look(const struct git_refs *r, const char *own, const char *name,
		  struct git_ref_value *ret)
{
	char next[GIT_REF_NAME_MAX];

	*ret = GIT_REF_NONE;
	int code = refs_step(r, own, name, &ret->object, next);

	if (code == 1) {
		memcpy(ret->symbolic, next, strlen(next) + 1);
		if (git_refs_value(r, own, next, &ret->object) < 0)
			ret->object.len = 0;
	}
	if (code < 0)
		*ret = GIT_REF_NONE;
	return code < 0 ? code : 0;
}

/* --- all of them ------------------------------------------------------------------------ */

struct refs_walk {
	const struct git_refs *refs;
	int (*found)(void *context, const char *name, const struct git_ref_value *value);
	void *context;
	char name[GIT_REF_NAME_MAX]; /* name of the folder that is being read */
	size_t depth, count;
};

static int refs_on_name(void *context, const char *entry);

static int refs_list(struct refs_walk *w) /* NOLINT(misc-no-recursion): REFS_DEPTH_MAX */
{
	char path[PATH_MAX];

	if (!git_join(path, w->refs->gitdir, w->name))
		return 0;
	int r = view_list(w->refs->view, path, refs_on_name, w);

	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static int refs_on_name(void *context, const char *entry) /* NOLINT(misc-no-recursion) */
{
	struct refs_walk *w = context;
	size_t len = strlen(w->name);
	char path[PATH_MAX];
	struct object o;
	struct git_ref_value value;
	int n = snprintf(w->name + len, sizeof(w->name) - len, "/%s", entry), r = 0;

	if (n < (int)(sizeof(w->name) - len) && git_join(path, w->refs->gitdir, w->name) &&
	    view_look(w->refs->view, path, &o) == 0) {
		if (o.type == OBJECT_DIR && w->depth < REFS_DEPTH_MAX &&
		    !str_equal(w->name, "refs/replace")) {
			w->depth++;
			r = refs_list(w);
			w->depth--;
		} else if (o.type == OBJECT_FILE && w->count++ < GIT_REFS_MAX &&
			   git_refs_look(w->refs, "", w->name, &value) == 0) {
			r = w->found(w->context, w->name, &value);
		}
	}
	w->name[len] = '\0';
	return r;
}

int git_refs_each(const struct git_refs *r,
		  int (*found)(void *context, const char *name, const struct git_ref_value *value),
		  void *context)
{
	struct refs_walk w = {.refs = r, .found = found, .context = context, .name = "refs"};
	char path[PATH_MAX];
	struct object o;
	int code = refs_list(&w);

	for (size_t i = 0; code == 0 && i < r->packed_count; i++) {
		const struct git_ref *one = &r->packed[i];

		if (str_after(one->name, "refs/replace/") || !refs_is_sound(one->name) ||
		    !git_join(path, r->gitdir, one->name) ||
		    (view_look(r->view, path, &o) == 0 && o.type == OBJECT_FILE))
			continue;
		code = found(context, one->name, &(struct git_ref_value){.object = one->object});
	}
	return code;
}
