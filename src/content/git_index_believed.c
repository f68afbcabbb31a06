/* SPDX-License-Identifier: Apache-2.0 */
#include "git_index_believed.h"

#include "str.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	BELIEVED_HEAD = 8,     /* of an extension: four letters and a length */
	BELIEVED_STAGE = 0x30, /* in git_index.kept: first byte */
	BELIEVED_ADDED = 0x20, /* third byte: intent-to-add, which is in no tree */
	BELIEVED_MODE_AT = 4,
	BELIEVED_DEPTH = 4096,
	BELIEVED_MOST = 1 << 30,
	BELIEVED_NUMBER = 10, /* digits */
	BELIEVED_VERSIONS = 3,
};

/* A folder of the entries: its tree, or none when one of them is in no tree. */
struct believed_dir {
	size_t path, len; /* in believed.paths */
	uint32_t count;
	bool whole;
	struct git_name tree;
};

struct believed {
	struct buf paths, dirs; /* dirs: struct believed_dir, in the order of their ends */
	struct buf open;        /* struct believed_open, the innermost last */
	uint8_t name;
};

/* One whose entries are being read. */
struct believed_open {
	size_t len; /* of its path, without a slash */
	uint32_t count;
	bool whole;
	struct buf text; /* of the tree */
};

static struct believed_open *believed_last(struct believed *b)
{
	return (struct believed_open *)(void *)(b->open.ptr + b->open.len) - 1;
}

static size_t believed_depth(const struct believed *b)
{
	return b->open.len / sizeof(struct believed_open);
}

static int believed_enter(struct believed *b, size_t len)
{
	const struct believed_open one = {
		.len = len, .whole = true, .text = BUF_INIT(BELIEVED_MOST)};

	if (believed_depth(b) >= BELIEVED_DEPTH)
		return -EPROTO;
	buf_put(&b->open, &one, sizeof(one));
	return buf_error(&b->open);
}

static void believed_put(struct believed_open *o, uint32_t mode, struct span name,
			 const struct git_name *object)
{
	buf_putf(&o->text, "%o ", mode);
	buf_put(&o->text, name.ptr, name.len);
	buf_put(&o->text, "", 1);
	buf_put(&o->text, object->bytes, object->len);
}

/* The innermost folder ends: it is an entry of the one that it is in. */
static int believed_leave(struct believed *b, const char *path)
{
	struct believed_open *o = believed_last(b);
	struct believed_dir d = {b->paths.len, o->len, o->count, o->whole, {.len = 0}};
	int r = buf_error(&o->text);

	git_name_of(GIT_KIND_TREE, buf_span(&o->text), b->name, &d.tree);
	buf_put(&b->paths, path, o->len);
	buf_put(&b->dirs, &d, sizeof(d));
	buf_fini(&o->text);
	b->open.len -= sizeof(*o);
	if (believed_depth(b)) {
		struct believed_open *above = believed_last(b);
		size_t from = above->len + (above->len > 0);

		believed_put(above, 040000,
			     (struct span){(const uint8_t *)path + from, d.len - from}, &d.tree);
		above->count += d.count;
		above->whole = above->whole && d.whole;
	}
	return r < 0 ? r : buf_error(&b->paths) < 0 ? -ENOMEM : buf_error(&b->dirs);
}

/* An entry that is a folder, in the innermost one. */
static int believed_folder(struct believed *b, const char *path, size_t len,
			   const struct git_name *tree)
{
	struct believed_open *above = believed_last(b);
	const struct believed_dir d = {b->paths.len, len, 1, true, *tree};
	size_t from = above->len + (above->len > 0);

	buf_put(&b->paths, path, len);
	buf_put(&b->dirs, &d, sizeof(d));
	above->count++;
	believed_put(above, 040000, (struct span){(const uint8_t *)path + from, len - from}, tree);
	return buf_error(&b->paths) < 0 ? -ENOMEM : buf_error(&b->dirs);
}

static bool believed_is_in(const char *path, const struct git_index *x, size_t len)
{
	return len == 0 || (x->path.len > len && memcmp(path, buf_str(&x->path), len) == 0 &&
			    buf_str(&x->path)[len] == '/');
}

/* `path`: that of the entry before. */
static int believed_entry(struct believed *b, const struct git_index *x, const char *path)
{
	const char *at = buf_str(&x->path);
	const size_t own = x->path.len - git_index_is_folder(x);
	int r = 0;

	while (r == 0 && !believed_is_in(path, x, believed_last(b)->len))
		r = believed_leave(b, path);
	for (;;) {
		size_t len = believed_last(b)->len;
		const char *slash = strchr(at + len + (len > 0), '/');

		if (r < 0 || !slash || (size_t)(slash - at) >= own)
			break;
		r = believed_enter(b, (size_t)(slash - at));
	}
	if (r < 0)
		return r;
	struct believed_open *o = believed_last(b);
	size_t from = o->len + (o->len > 0);
	struct git_name object = {.len = b->name};

	memcpy(object.bytes, x->object.ptr, b->name);
	/* A folder is there as one, or by what is in it. */
	if (git_index_is_folder(x))
		return from < own ? believed_folder(b, at, own, &object) : -EPROTO;
	o->count++;
	o->whole = o->whole && !(x->kept[0] & BELIEVED_STAGE) && !(x->kept[2] & BELIEVED_ADDED);
	believed_put(o, git_u32(x->kept + BELIEVED_MODE_AT),
		     (struct span){(const uint8_t *)at + from, x->path.len - from}, &object);
	return 0;
}

/* Every folder that the entries have, with the tree that it is. */
static int believed_read(struct believed *b, struct git_index *x)
{
	_cleanup_buf_ struct buf last = BUF_INIT((size_t)2 * GIT_INDEX_PATH_MAX);
	int r = believed_enter(b, 0);

	while (r == 0 && git_index_next(x)) {
		/* A path has no NUL: what stands behind one would be of another name. */
		r = believed_entry(b, x, buf_str(&last));
		buf_clear(&last);
		buf_put(&last, x->path.ptr, x->path.len);
		buf_put(&last, "", 1);
	}
	while (r == 0 && believed_depth(b))
		r = believed_leave(b, buf_str(&last));
	return r;
}

static void believed_fini(struct believed *b)
{
	while (believed_depth(b)) {
		buf_fini(&believed_last(b)->text);
		b->open.len -= sizeof(struct believed_open);
	}
	buf_fini(&b->paths);
	buf_fini(&b->dirs);
	buf_fini(&b->open);
}

/* --- what is said of them ---------------------------------------------------------------- */

/* The next extension; false: there is none. */
static bool believed_extension(struct span *left, struct span *ret_name, struct span *ret)
{
	if (left->len < BELIEVED_HEAD)
		return false;
	size_t len = git_u32(left->ptr + 4);

	if (len > left->len - BELIEVED_HEAD)
		return false;
	*ret_name = (struct span){left->ptr, 4};
	*ret = (struct span){left->ptr + BELIEVED_HEAD, len};
	*left = span_skip(*left, BELIEVED_HEAD + len);
	return true;
}

/* A number up to a letter that ends it; -1 is one too. */
static int believed_number(struct span *text, char end, unsigned int base, long *ret)
{
	char digits[BELIEVED_NUMBER + 2];
	size_t n = 0;
	char *behind;

	while (n < text->len && n < sizeof(digits) - 1 && text->ptr[n] != (uint8_t)end) {
		digits[n] = (char)text->ptr[n];
		n++;
	}
	digits[n] = '\0';
	if (n == 0 || n == text->len || text->ptr[n] != (uint8_t)end || digits[0] == '+' ||
	    digits[0] == ' ')
		return -EPROTO;
	*ret = strtol(digits, &behind, (int)base);
	*text = span_skip(*text, n + 1);
	return *behind ? -EPROTO : 0;
}

struct believed_node {
	size_t len; /* of the path */
	long left;  /* children that follow */
};

static const struct believed_dir *believed_find(const struct believed *b, struct span path)
{
	const struct believed_dir *dirs = (const void *)b->dirs.ptr;

	/* Few are asked for, but by an agent's index all of them may be: see believed_sort. */
	for (size_t from = 0, to = b->dirs.len / sizeof(*dirs); from < to;) {
		size_t at = from + (to - from) / 2;
		size_t len = dirs[at].len < path.len ? dirs[at].len : path.len;
		int order = len ? memcmp(b->paths.ptr + dirs[at].path, path.ptr, len) : 0;

		if (order == 0)
			order = (dirs[at].len > path.len) - (dirs[at].len < path.len);
		if (order == 0)
			return &dirs[at];
		if (order < 0)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

static int believed_order(const void *left, const void *right, void *context)
{
	const struct believed *b = context;
	const struct believed_dir *x = left, *y = right;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = len ? memcmp(b->paths.ptr + x->path, b->paths.ptr + y->path, len) : 0;

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* One line of TREE, whose folder is `path`. */
static int believed_node(const struct believed *b, struct span *text, struct span path,
			 long *ret_children)
{
	long count;
	int r = believed_number(text, ' ', 10, &count);

	if (r == 0)
		r = believed_number(text, '\n', 10, ret_children);
	if (r < 0 || *ret_children < 0 || count < -1)
		return -EPROTO;
	if (count < 0)
		return 0;
	const struct believed_dir *d = believed_find(b, path);

	if (text->len < b->name)
		return -EPROTO;
	bool same = d && d->whole && d->count == (uint32_t)count &&
		    memcmp(d->tree.bytes, text->ptr, b->name) == 0;

	*text = span_skip(*text, b->name);
	return same ? 0 : -EBADMSG;
}

/* Folders, each before those within it. */
static int believed_trees(const struct believed *b, struct span text, struct buf *path)
{
	_cleanup_buf_ struct buf nodes = BUF_INIT(BELIEVED_DEPTH * sizeof(struct believed_node));
	bool first = true;
	int r = 0;

	while (r == 0 && text.len > 0) {
		struct believed_node *above = NULL;
		const uint8_t *end = memchr(text.ptr, '\0', text.len);

		while (nodes.len) {
			above = (struct believed_node *)(void *)(nodes.ptr + nodes.len) - 1;
			if (above->left > 0)
				break;
			nodes.len -= sizeof(*above);
		}
		if (!end || (!first && !nodes.len) || first != (end == text.ptr))
			return -EPROTO;
		path->len = first ? 0 : above->len;
		if (path->len)
			buf_put(path, "/", 1);
		buf_put(path, text.ptr, (size_t)(end - text.ptr));
		if (!first)
			above->left--;
		struct believed_node one = {.len = path->len};

		first = false;
		text = span_skip(text, (size_t)(end - text.ptr) + 1);
		r = believed_node(b, &text, buf_span(path), &one.left);
		buf_put(&nodes, &one, sizeof(one));
		if (buf_error(path) || buf_error(&nodes))
			return -EPROTO;
	}
	return r;
}

/* Where each block of entries begins: version, then offset and count. */
static int believed_blocks(struct git_index *x, struct span text, size_t first, uint32_t count)
{
	struct git_index at = *x;
	int r = 0;

	at.path = BUF_INIT((size_t)2 * GIT_INDEX_PATH_MAX);
	at.at = first;
	at.left = count;
	text = text.len >= 4 && git_u32(text.ptr) == 1 ? span_skip(text, 4)
						       : (struct span){NULL, 1};
	while (r == 0 && text.len >= BELIEVED_HEAD) {
		uint32_t entries = git_u32(text.ptr + 4);

		if (git_u32(text.ptr) != at.at || entries > at.left)
			r = -EPROTO;
		for (uint32_t i = 0; r == 0 && i < entries; i++)
			r = git_index_next(&at) ? 0 : -EPROTO;
		text = span_skip(text, BELIEVED_HEAD);
	}
	if (r == 0 && (text.len || at.left))
		r = -EPROTO;
	git_index_close(&at);
	return r;
}

int git_index_believed(struct git_index *x, struct buf *ret_path)
{
	_cleanup_(believed_fini) struct believed b = {.paths = BUF_INIT(BELIEVED_MOST),
						      .dirs = BUF_INIT(BELIEVED_MOST),
						      .open = BUF_INIT(BELIEVED_MOST),
						      .name = (uint8_t)x->name};
	size_t first = x->at;
	uint32_t count = x->left;
	int r = believed_read(&b, x);

	if (r < 0)
		return r;
	if (b.dirs.len)
		qsort_r(b.dirs.ptr, b.dirs.len / sizeof(struct believed_dir),
			sizeof(struct believed_dir), believed_order, &b);
	struct span left = span_skip(x->bytes, x->at), name, text;

	while (r == 0 && believed_extension(&left, &name, &text)) {
		if (memcmp(name.ptr, "TREE", 4) == 0)
			r = believed_trees(&b, text, ret_path);
		else if (memcmp(name.ptr, "IEOT", 4) == 0)
			r = believed_blocks(x, text, first, count);
		else if (memcmp(name.ptr, "EOIE", 4) == 0)
			r = text.len >= 4 && git_u32(text.ptr) == x->at ? 0 : -EPROTO;
	}
	return r;
}

int git_index_undo(const struct git_index *x, git_index_on_undo *on, void *context)
{
	struct span left = span_skip(x->bytes, x->at), name, text;
	int r = 0;

	while (r == 0 && believed_extension(&left, &name, &text)) {
		if (memcmp(name.ptr, "REUC", 4) != 0)
			continue;
		while (r == 0 && text.len > 0) {
			const uint8_t *end = memchr(text.ptr, '\0', text.len);
			const char *path = (const char *)text.ptr;
			long modes[BELIEVED_VERSIONS] = {0};

			if (!end)
				return -EPROTO;
			text = span_skip(text, (size_t)(end - text.ptr) + 1);
			for (size_t i = 0; r == 0 && i < BELIEVED_VERSIONS; i++)
				r = believed_number(&text, '\0', 8, &modes[i]);
			for (size_t i = 0; r == 0 && i < BELIEVED_VERSIONS; i++) {
				struct git_name object = {.len = (uint8_t)x->name};

				if (!modes[i])
					continue;
				if (text.len < x->name)
					return -EPROTO;
				memcpy(object.bytes, text.ptr, x->name);
				text = span_skip(text, x->name);
				r = on(context, path, (uint32_t)modes[i], &object);
			}
		}
	}
	return r;
}
