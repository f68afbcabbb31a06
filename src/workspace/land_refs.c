/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of git's refs before and after a landing, in kept-N/refs: for each ref that it could
 * have moved
 *
 *	BEFORE AFTER PATH NUL
 *
 * the object that the ref named before and after ("-": there was no such ref), and the path of the
 * file that it has, or would have.  If a ref has its own file, that counts, else packed-refs.  So
 * `git gc`, which moves refs from the one to the other, changes nothing.
 *
 * Without this file undo compares the bytes of files.
 */
#include "fd.h"
#include "git_place.h"
#include "git_refs.h"
#include "land_parts.h"
#include "land_undo.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

enum { REFS_FILE_MAX = 4096 };

static const char refs_packed[] = "packed-refs";

/* The repository that we looked at last. */
struct refs_of {
	const struct landing *l;
	const struct view base;
	char gitdir[PATH_MAX];
	bool open, packs; /* packs: this landing writes packed-refs */
	struct git_refs before, after;
	struct buf text;
};

static void refs_close(struct refs_of *r)
{
	if (r->open) {
		git_refs_close(&r->before);
		git_refs_close(&r->after);
	}
	r->open = false;
}

/*
 * Reads packed-refs on both sides.  The repository's folder is the first `len` bytes of the path.
 */
static int refs_open(struct refs_of *r, const char *path, size_t len)
{
	_cleanup_buf_ struct buf text = BUF_INIT(GIT_REFS_BYTES_MAX);
	char packed[PATH_MAX], name[LAND_NAME_SIZE];

	if (r->open && strlen(r->gitdir) == len && strncmp(r->gitdir, path, len) == 0)
		return 0;
	refs_close(r);
	if (len >= sizeof(r->gitdir))
		return -ENAMETOOLONG;
	memcpy(r->gitdir, path, len);
	r->gitdir[len] = '\0';
	int code = git_refs_open(&r->base, r->gitdir, &r->before);

	r->after = GIT_REFS_INIT;
	r->open = true;
	if (code < 0 || !git_join(packed, r->gitdir, refs_packed))
		return code < 0 ? code : -ENAMETOOLONG;
	ssize_t i = journal_find_step(&r->l->j, packed);

	r->packs = i >= 0;
	if (r->packs && r->l->j.steps[i].after.type == OBJECT_FILE) {
		land_name((size_t)i, false, name);
		code = fd_read_file_at(r->l->stage, name, &text);
		if (code == 0)
			code = git_refs_parse(buf_span(&text), &r->after);
	}
	return code == 0 && (r->before.bad || r->after.bad) ? -EBADMSG : code;
}

/* Reads the file of a ref.  0; -EBADMSG: it is a symbolic ref, or not a ref. */
static int refs_read(int dir, const char *name, struct git_name *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(REFS_FILE_MAX);
	char symbolic[GIT_REF_NAME_MAX];
	_cleanup_fd_ int fd = land_open(dir, name);
	int r = fd < 0 ? fd : fd_read_all(fd, &text);

	if (r == 0)
		r = git_ref_parse(buf_span(&text), ret, symbolic);
	return r > 0 ? -EBADMSG : r;
}

static void refs_put_name(struct buf *into, const struct git_name *name)
{
	char hex[GIT_HEX_MAX + 1] = "-";

	if (name->len)
		git_name_hex(name, hex);
	buf_put_str(into, hex);
	buf_put_char(into, ' ');
}

static void refs_put(struct refs_of *r, const char *path, const struct git_name *before,
		     const struct git_name *after)
{
	refs_put_name(&r->text, before);
	refs_put_name(&r->text, after);
	buf_put_str(&r->text, path);
	buf_put_char(&r->text, '\0');
}

static struct git_name refs_find(const struct git_refs *refs, const char *name)
{
	const struct git_ref *found = git_refs_packed(refs, name);

	return found ? found->object : (struct git_name){.len = 0};
}

/* Step `i` (-1: none) has a folder on one side. */
static bool refs_is_folder(const struct refs_of *r, ssize_t i)
{
	return i >= 0 && (r->l->j.steps[i].before.type == OBJECT_DIR ||
			  r->l->j.steps[i].after.type == OBJECT_DIR);
}

/* Notes a ref whose file step i is about. */
static void refs_note_file(struct refs_of *r, size_t i, const char *ref)
{
	const struct journal_step *s = &r->l->j.steps[i];
	struct git_name before = refs_find(&r->before, ref);
	struct git_name after = refs_find(r->packs ? &r->after : &r->before, ref);
	char name[LAND_NAME_SIZE];

	land_name(i, false, name);
	if ((s->before.type != OBJECT_FILE && s->before.type != OBJECT_ABSENT) ||
	    (s->after.type != OBJECT_FILE && s->after.type != OBJECT_ABSENT) ||
	    (s->before.type == OBJECT_FILE && refs_read(r->l->tree, s->path, &before) < 0) ||
	    (s->after.type == OBJECT_FILE && refs_read(r->l->stage, name, &after) < 0))
		return;
	refs_put(r, s->path, &before, &after);
}

/*
 * Notes a ref that packed-refs has on one or both sides, if its value changes and it has no file.
 */
static void refs_note_packed(struct refs_of *r, const char *ref)
{
	const struct git_name before = refs_find(&r->before, ref);
	const struct git_name after = refs_find(&r->after, ref);
	char path[PATH_MAX];
	struct object o;

	if (git_name_equal(&before, &after) || !git_join(path, r->gitdir, ref) ||
	    !journal_is_path(path))
		return;
	ssize_t step = journal_find_step(&r->l->j, path);

	if ((step >= 0 && !refs_is_folder(r, step)) ||
	    (view_look(&r->base, path, &o) == 0 && o.type == OBJECT_FILE))
		return;
	refs_put(r, path, &before, &after);
}

static void refs_note_pack(struct refs_of *r)
{
	for (size_t i = 0; i < r->before.packed_count; i++)
		refs_note_packed(r, r->before.packed[i].name);
	for (size_t i = 0; i < r->after.packed_count; i++)
		if (!git_refs_packed(&r->before, r->after.packed[i].name))
			refs_note_packed(r, r->after.packed[i].name);
}

/* If this fails, undo compares bytes. */
void land_keep_refs(const struct landing *l)
{
	struct refs_of r = {
		.l = l, .base = {.base = l->tree}, .text = BUF_INIT(2ul * GIT_REFS_BYTES_MAX)};
	int code = 0;

	for (size_t i = 0; code == 0 && i < l->j.count; i++) {
		const char *path = l->j.steps[i].path, *rest = git_rest(path);
		bool pack = rest && str_equal(rest, refs_packed);

		if (!rest || !(pack || str_after(rest, "refs/")) || rest == path)
			continue;
		code = refs_open(&r, path, (size_t)(rest - path) - 1);
		if (code == 0 && pack)
			refs_note_pack(&r);
		else if (code == 0)
			refs_note_file(&r, i, rest);
	}
	refs_close(&r);
	if (code == 0 && r.text.len && buf_error(&r.text) == 0) {
		_cleanup_fd_ int to = open_beneath(l->kept, LAND_REFS,
						   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

		if (to >= 0 && fd_write_all(to, r.text.ptr, r.text.len) < 0)
			(void)unlinkat(l->kept, LAND_REFS, 0);
	}
	buf_fini(&r.text);
}

/* --- reading --------------------------------------------------------------------------- */

/* Takes one word and the blank after it. */
static bool refs_take(struct span *text, struct git_name *ret)
{
	const uint8_t *blank = memchr(text->ptr, ' ', text->len);
	size_t len = blank ? (size_t)(blank - text->ptr) : 0;
	const struct span word = {text->ptr, len};

	*ret = (struct git_name){.len = 0};
	if (len == 0 || (!span_equal(word, span_of_str("-")) && !git_name_parse(word, ret)))
		return false;
	*text = span_skip(*text, len + 1);
	return true;
}

int land_undo_refs(const struct land_undo *u,
		   int (*found)(void *context, const char *path, const struct git_name *left,
				const struct git_name *back),
		   void *context)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2ul * GIT_REFS_BYTES_MAX);
	int r = fd_read_file_at(land_undo_dir(u), LAND_REFS, &text);
	struct span left = buf_span(&text);

	while (r == 0 && left.len > 0) {
		struct git_name before, after;
		bool is = refs_take(&left, &before) && refs_take(&left, &after);
		const uint8_t *end = is ? memchr(left.ptr, '\0', left.len) : NULL;

		if (!end || !journal_is_path((const char *)left.ptr))
			return -EBADMSG;
		r = found(context, (const char *)left.ptr, &after, &before);
		left = span_skip(left, (size_t)(end - left.ptr) + 1);
	}
	return r == -ENOENT ? 0 : r;
}
