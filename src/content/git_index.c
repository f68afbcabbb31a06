/* SPDX-License-Identifier: Apache-2.0 */
#include "git_index.h"

#include "str.h"

enum {
	INDEX_HEAD = 12,
	INDEX_STAT = 40,    /* times, device, inode, mode, uid, gid, size */
	INDEX_MODE_AT = 24, /* of the entry */
	INDEX_EXTENDED = 0x4000,
	INDEX_FLAGS = 0xf000, /* assume-valid, extended, stage; the rest is the path's length */
	INDEX_MORE_FLAGS = 0x6000, /* skip-worktree, intent-to-add */
	INDEX_EXTENSION = 8,
	INDEX_TYPE = 0170000,
	INDEX_TREE = 040000, /* of an entry that is a folder */
};

static uint32_t index_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t index_left(const struct git_index *x)
{
	return x->bytes.len - x->at;
}

/* How much of the last path goes: git's own form of a number. */
static int index_varint(struct git_index *x, size_t *ret)
{
	size_t value = 0;

	for (size_t i = 0; index_left(x) > 0 && i < 4; i++) {
		uint8_t c = x->bytes.ptr[x->at++];

		value = (i ? (value + 1) << 7 : 0) | (c & 0x7f);
		if (!(c & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return -EPROTO;
}

/* The path, up to its NUL; before version 4 an entry is filled up to a multiple of 8. */
static int index_path(struct git_index *x, size_t start)
{
	size_t keep = 0;

	if (x->version == 4) {
		size_t gone;
		int r = index_varint(x, &gone);

		if (r < 0 || gone > x->path.len)
			return -EPROTO;
		keep = x->path.len - gone;
	}
	const uint8_t *from = x->bytes.ptr + x->at;
	const uint8_t *end = index_left(x) ? memchr(from, '\0', index_left(x)) : NULL;

	if (!end || (size_t)(end - from) > GIT_INDEX_PATH_MAX)
		return -EPROTO;
	x->path.len = keep;
	buf_put(&x->path, from, (size_t)(end - from));
	x->at += (size_t)(end - from) + 1;
	if (x->version != 4)
		x->at = start + ((x->at - start + 7) & ~(size_t)7);
	if (buf_error(&x->path) || x->at > x->bytes.len)
		return -EPROTO;
	/* One of a split index: its path is in the other file. */
	return x->path.len == 0 ? -ENODATA : 0;
}

static int index_entry(struct git_index *x)
{
	size_t start = x->at;

	memset(x->kept, 0, sizeof(x->kept));
	if (index_left(x) < INDEX_STAT + x->name + 2)
		return -EPROTO;
	const uint8_t *p = x->bytes.ptr + x->at;
	unsigned int flags =
		(unsigned int)p[INDEX_STAT + x->name] << 8 | p[INDEX_STAT + x->name + 1];

	x->at += INDEX_STAT + x->name + 2;
	if (flags & INDEX_EXTENDED) {
		if (x->version < 3 || index_left(x) < 2)
			return -EPROTO;
		x->kept[2] = x->bytes.ptr[x->at] & (INDEX_MORE_FLAGS >> 8);
		x->at += 2;
	}
	/* Of the flags: assume-valid and the stage. */
	x->kept[0] = (uint8_t)((flags & INDEX_FLAGS & ~(unsigned int)INDEX_EXTENDED) >> 8);
	memcpy(x->kept + 4, p + INDEX_MODE_AT, 4);
	x->object = (struct span){p + INDEX_STAT, x->name};
	return index_path(x, start);
}

/* Caches, which are skipped; those that git must understand to read the entries are not. */
static int index_extensions(struct git_index *x)
{
	while (index_left(x) > 0) {
		const uint8_t *p = x->bytes.ptr + x->at;

		if (index_left(x) < INDEX_EXTENSION)
			return -EPROTO;
		uint32_t len = index_u32(p + 4);

		if (len > index_left(x) - INDEX_EXTENSION)
			return -EPROTO;
		/* In lower case: it changes what the entries mean. */
		if (memcmp(p, "sdir", 4) == 0)
			x->sparse = true;
		else if (p[0] < 'A' || p[0] > 'Z')
			return -ENOTSUP;
		x->at += INDEX_EXTENSION + len;
	}
	return 0;
}

void git_index_rewind(struct git_index *x)
{
	x->at = INDEX_HEAD;
	x->left = index_u32(x->bytes.ptr + 8);
	buf_clear(&x->path);
}

static int index_check(struct git_index *x, struct span bytes, size_t name)
{
	bool folders = false;
	int r = 0;

	x->bytes = (struct span){bytes.ptr, bytes.len - name};
	x->name = name;
	x->sparse = false;
	git_index_rewind(x);
	while (r == 0 && x->left > 0) {
		r = index_entry(x);
		folders = folders || git_index_is_folder(x);
		/* A folder is told by its slash as well. */
		if (r == 0 && git_index_is_folder(x) != (x->path.ptr[x->path.len - 1] == '/'))
			r = -EPROTO;
		x->left--;
	}
	if (r == 0)
		r = index_extensions(x);
	return r == 0 && folders && !x->sparse ? -EPROTO : r;
}

bool git_index_is_folder(const struct git_index *x)
{
	return (index_u32(x->kept + 4) & INDEX_TYPE) == INDEX_TREE;
}

unsigned int git_index_stage(const struct git_index *x)
{
	return x->kept[0] >> 4 & 3;
}

uint32_t git_index_mode(const struct git_index *x)
{
	return index_u32(x->kept + 4);
}

int64_t git_index_time(const struct git_index *x, uint32_t *ret_size)
{
	enum { SECONDS = 8, NANOSECONDS = 12, SIZE = 36 };
	const uint8_t *p = x->object.ptr - INDEX_STAT;

	*ret_size = index_u32(p + SIZE);
	return (int64_t)index_u32(p + SECONDS) * 1000000000 + index_u32(p + NANOSECONDS);
}

int git_index_open(struct git_index *x, struct span bytes)
{
	if (bytes.len < INDEX_HEAD + 32 || memcmp(bytes.ptr, "DIRC", 4) != 0)
		return -EPROTO;
	x->version = index_u32(bytes.ptr + 4);
	if (x->version < 2 || x->version > 4)
		return -EPROTO;
	int r = index_check(x, bytes, 20);

	bool split = r == -ENODATA;

	if (r == -EPROTO || split)
		r = index_check(x, bytes, 32);
	if (r == -ENODATA || (split && r < 0))
		r = -ENOTSUP;
	if (r == 0)
		git_index_rewind(x);
	return r;
}

bool git_index_next(struct git_index *x)
{
	if (x->left == 0 || index_entry(x) < 0)
		return false;
	x->left--;
	return true;
}

/* Where the entries end, of one that may be split; 0: they do not. */
static size_t index_end(struct span bytes, size_t name)
{
	struct git_index x = GIT_INDEX_INIT;
	int r = bytes.len < INDEX_HEAD + name || memcmp(bytes.ptr, "DIRC", 4) != 0 ? -EPROTO : 0;

	if (r == 0) {
		x.version = index_u32(bytes.ptr + 4);
		x.bytes = (struct span){bytes.ptr, bytes.len - name};
		x.name = name;
		git_index_rewind(&x);
	}
	while (r == 0 && x.left-- > 0) {
		r = index_entry(&x);
		r = r == -ENODATA ? 0 : r;
	}
	git_index_close(&x);
	return r < 0 ? 0 : x.at;
}

/* The next extension but those that say what is in the folder, or how to read it faster; what is none
 * is the rest.  Its length is 0 at the end. */
static struct span index_meaning(struct span *left)
{
	static const char *const caches[] = {"UNTR", "FSMN", "EOIE", "IEOT"};

	while (left->len > 0) {
		size_t len = left->len < INDEX_EXTENSION ? left->len : index_u32(left->ptr + 4);
		bool whole = len <= left->len - INDEX_EXTENSION && left->len >= INDEX_EXTENSION;
		struct span one = {left->ptr, whole ? INDEX_EXTENSION + len : left->len};
		bool cache = false;

		*left = span_skip(*left, one.len);
		for (size_t i = 0; whole && i < BAWN_ARRAY_SIZE(caches); i++)
			cache = cache || memcmp(one.ptr, caches[i], 4) == 0;
		if (!cache)
			return one;
	}
	return *left;
}

bool git_index_is_same(struct span a, struct span b, size_t name)
{
	size_t end = index_end(a, name);

	if (end == 0 || end != index_end(b, name) || memcmp(a.ptr, b.ptr, end) != 0)
		return false;
	struct span left = {a.ptr + end, a.len - name - end};
	struct span right = {b.ptr + end, b.len - name - end};

	for (;;) {
		struct span x = index_meaning(&left), y = index_meaning(&right);

		if (!span_equal(x, y))
			return false;
		if (x.len == 0)
			return true;
	}
}

void git_index_close(struct git_index *x)
{
	buf_fini(&x->path);
}

int git_index_digest(struct span bytes, uint8_t ret[SHA256_SIZE])
{
	struct git_index x = GIT_INDEX_INIT;
	struct sha256 hash;
	int r = git_index_open(&x, bytes);

	sha256_begin(&hash);
	while (r == 0 && git_index_next(&x)) {
		sha256_add(&hash, (struct span){x.kept, sizeof(x.kept)});
		sha256_add(&hash, x.object);
		sha256_add(&hash, buf_span(&x.path));
		sha256_add(&hash, (struct span){(const uint8_t *)"", 1});
	}
	sha256_end(&hash, ret);
	git_index_close(&x);
	return r;
}

bool git_index_is_path(const char *path)
{
	const char *last = strrchr(path, '/');

	return str_equal(last ? last + 1 : path, "index");
}
