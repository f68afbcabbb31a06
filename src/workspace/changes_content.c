/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of files.  A file in a layer need not be a change: `touch`, a mode that was put back
 * or an editor that wrote the same bytes leave a copy that equals what is beneath.  We never look
 * at times, because whoever wrote the layer can set them.
 *
 * A file may have any size: we do not read holes, and read a file that grows meanwhile only to the
 * size that it had.
 */
#include "changes_parts.h"
#include "fd.h"
#include "git_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CONTENT_CHUNK = 128 << 10,
	CONTENT_BLOCK = 4096, /* in a large file we leave out blocks that are all zeros */
	CONTENT_PROGRESS = 64,
	CONTENT_INDEX_MAX = 64 << 20,
};

/* Buffers for the two sides.  Their content does not outlive a call. */
static uint8_t content_chunks[2][CONTENT_CHUNK];

_Static_assert(CONTENT_CHUNK % CONTENT_BLOCK == 0, "a chunk is a number of blocks");

/* Reads as much as there is, up to len.  Returns the number of bytes, or -errno. */
static ssize_t content_read(int fd, uint8_t *into, size_t len, uint64_t at)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, into + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int content_size(int fd, uint64_t *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (uint64_t)st.st_size;
	return 0;
}

/* Where the next data is, at or after `at`; `size`: there is none. */
static uint64_t content_data(int fd, uint64_t at, uint64_t size)
{
	off_t next = lseek(fd, (off_t)at, SEEK_DATA);

	if (next < 0)
		return errno == ENXIO ? size : at;
	return (uint64_t)next < size ? (uint64_t)next : size;
}

/* --- digests -------------------------------------------------------------------------- */

static void hash_u64(struct sha256 *s, uint64_t v)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	sha256_add(s, (struct span){bytes, sizeof(bytes)});
}

static bool content_is_zero(const uint8_t *bytes, size_t len)
{
	return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/* Hashes each block that is not all zeros, with its number. */
static void hash_blocks(struct sha256 *s, uint64_t at, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += CONTENT_BLOCK) {
		size_t n = len - i < CONTENT_BLOCK ? len - i : CONTENT_BLOCK;

		if (content_is_zero(bytes + i, n))
			continue;
		hash_u64(s, (at + i) / CONTENT_BLOCK);
		sha256_add(s, (struct span){bytes + i, n});
	}
}

static int hash_large(int fd, struct sha256 *s, uint64_t size, uint8_t *chunk)
{
	hash_u64(s, size);
	for (uint64_t at = 0; at < size;) {
		at = content_data(fd, at, size) / CONTENT_BLOCK * CONTENT_BLOCK;
		size_t want = size - at < CONTENT_CHUNK ? (size_t)(size - at) : CONTENT_CHUNK;
		ssize_t n = content_read(fd, chunk, want, at);

		if (n < 0)
			return (int)n;
		if ((size_t)n < want)
			return -ESTALE;
		hash_blocks(s, at, chunk, want);
		at += want;
	}
	return 0;
}

int changes_hash(int fd, uint8_t ret[SHA256_SIZE], uint64_t *ret_size)
{
	uint8_t *chunk = content_chunks[0];
	struct sha256 s;
	uint64_t size = 0;
	int r = content_size(fd, &size);

	if (r < 0)
		return r;
	sha256_begin(&s);
	if (size > CHANGES_HASH_PLAIN_MAX) {
		r = hash_large(fd, &s, size, chunk);
	} else {
		uint64_t at = 0;

		while (r == 0 && at < size) {
			size_t want =
				size - at < CONTENT_CHUNK ? (size_t)(size - at) : CONTENT_CHUNK;
			ssize_t n = content_read(fd, chunk, want, at);

			if (n < 0 || (size_t)n < want)
				r = n < 0 ? (int)n : -ESTALE;
			else
				sha256_add(&s, (struct span){chunk, want});
			at += want;
		}
	}
	if (r < 0)
		return r;
	sha256_end(&s, ret);
	*ret_size = size;
	return 0;
}

/* Whether two files have the same bytes: 1, 0 or -errno.  Both are read from their start. */
static int changes_same(int a, int b)
{
	uint64_t size[2] = {0, 0};
	int r = content_size(a, &size[0]);

	if (r == 0)
		r = content_size(b, &size[1]);
	if (r < 0)
		return r;
	if (size[0] != size[1])
		return 0;
	for (uint64_t at = 0; at < size[0];) {
		/* A hole in both is the same. */
		uint64_t next[2] = {content_data(a, at, size[0]), content_data(b, at, size[1])};

		at = next[0] < next[1] ? next[0] : next[1];
		ssize_t n = content_read(a, content_chunks[0], CONTENT_CHUNK, at);
		ssize_t m = content_read(b, content_chunks[1], CONTENT_CHUNK, at);

		if (n < 0 || m < 0)
			return n < 0 ? (int)n : (int)m;
		if (n != m || memcmp(content_chunks[0], content_chunks[1], (size_t)n) != 0)
			return 0;
		if (n == 0)
			break;
		at += (size_t)n;
	}
	return 1;
}

/* Both are indexes of git with the same entries. */
static bool content_is_index(int a, int b)
{
	_cleanup_buf_ struct buf one = BUF_INIT(CONTENT_INDEX_MAX),
				 other = BUF_INIT(CONTENT_INDEX_MAX);
	uint8_t first[SHA256_SIZE], second[SHA256_SIZE];

	return lseek(a, 0, SEEK_SET) == 0 && lseek(b, 0, SEEK_SET) == 0 &&
	       fd_read_all(a, &one) == 0 && fd_read_all(b, &other) == 0 &&
	       git_index_digest(buf_span(&one), first) == 0 &&
	       git_index_digest(buf_span(&other), second) == 0 &&
	       memcmp(first, second, sizeof(first)) == 0;
}

int changes_differs(const struct view *v, const struct change *one)
{
	_cleanup_fd_ int before = changes_open(v, one, CHANGE_BEFORE);
	_cleanup_fd_ int after = changes_open(v, one, CHANGE_AFTER);

	if (before < 0 || after < 0)
		return before < 0 ? before : after;
	int r = changes_same(before, after);

	if (r == 0 && git_index_is_path(one->path))
		r = content_is_index(before, after);
	return r < 0 ? r : !r;
}

static void hash_link(struct object *o)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, span_of_str(o->link));
	sha256_end(&s, o->digest);
	o->hashed = true;
}

int changes_digest(const struct view *v, struct change *one, enum change_side side)
{
	struct object *o = side == CHANGE_BEFORE ? &one->before : &one->after;

	if (o->type == OBJECT_LINK)
		hash_link(o);
	if (o->hashed || o->type != OBJECT_FILE)
		return 0;
	_cleanup_fd_ int fd = changes_open(v, one, side);
	uint64_t size = 0;

	if (fd < 0)
		return fd;
	int r = changes_hash(fd, o->digest, &size);

	if (r < 0)
		return r;
	/* The digest is of what was read, so the size must be, too. */
	o->size = size;
	o->hashed = true;
	return 0;
}

/* --- what is the same on both sides --------------------------------------------------- */

/* Hashes one side.  A file that is after and cannot be read cannot land either. */
static int settle_side(const struct view *v, struct changes *c, struct change *one,
		       enum change_side side, struct error *e)
{
	int r = changes_digest(v, one, side);

	if (r == -ESTALE) {
		c->moved = true;
		return 0;
	}
	if (r == -EACCES || r == -EPERM) {
		if (side == CHANGE_AFTER) {
			one->group = CHANGE_DROPPED;
			one->why = "it cannot be read";
		}
		return 0;
	}
	return r < 0 ? error_sys(e, r, "cannot read '%s'", one->path) : 0;
}

static int settle_hashed(const struct view *v, struct changes *c, struct change *one,
			 struct error *e)
{
	int r = settle_side(v, c, one, CHANGE_BEFORE, e);

	if (r == 0)
		r = settle_side(v, c, one, CHANGE_AFTER, e);
	if (r < 0 || one->before.type != OBJECT_FILE || one->after.type != OBJECT_FILE)
		return r;
	return one->before.hashed && one->after.hashed && one->before.size == one->after.size &&
	       memcmp(one->before.digest, one->after.digest, SHA256_SIZE) == 0;
}

/* 1: the content is the same; 0: it is not, or we do not know; or -errno. */
static int settle_compared(const struct view *v, struct changes *c, struct change *one,
			   struct error *e)
{
	if (one->before.type != OBJECT_FILE || one->after.type != OBJECT_FILE)
		return 0;
	_cleanup_fd_ int after = changes_open(v, one, CHANGE_AFTER);
	_cleanup_fd_ int before = changes_open(v, one, CHANGE_BEFORE);

	if (after == -EACCES || after == -EPERM) {
		one->group = CHANGE_DROPPED;
		one->why = "it cannot be read";
		return 0;
	}
	if (after == -ESTALE || before == -ESTALE)
		c->moved = true;
	if (after < 0 || before < 0)
		return 0;
	int r = changes_same(before, after);

	return r < 0 ? error_sys(e, r, "cannot read '%s'", one->path) : r;
}

int changes_settle(const struct view *v, const struct changes_how *how, struct changes *c,
		   struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		struct change *one = &c->items[i];
		int same = how->hash && !how->lazy ? settle_hashed(v, c, one, e)
						   : settle_compared(v, c, one, e);

		if (same < 0)
			return same;
		if (same)
			changes_judge_mode(one);
		if (how->progress && i % CONTENT_PROGRESS == 0)
			how->progress(how->context, i);
	}
	changes_leave_out(c, changes_is_out);
	return 0;
}

int view_look_hashed(const struct view *v, const char *path, struct object *ret)
{
	int r = view_look(v, path, ret);

	if (r < 0 || (ret->type != OBJECT_FILE && ret->type != OBJECT_LINK))
		return r;
	_cleanup_fd_ int fd = view_openat(v, path, ret->type == OBJECT_FILE ? O_RDONLY : O_PATH);
	uint8_t words[PATH_MAX];
	struct sha256 s;

	if (fd < 0)
		return fd;
	if (ret->type == OBJECT_FILE) {
		r = changes_hash(fd, ret->digest, &ret->size);
	} else {
		ssize_t n = readlinkat(fd, "", (char *)words, sizeof(words));

		r = n < 0 ? -errno : 0;
		sha256_begin(&s);
		sha256_add(&s, (struct span){words, n < 0 ? 0 : (size_t)n});
		sha256_end(&s, ret->digest);
	}
	ret->hashed = r == 0;
	return r;
}
