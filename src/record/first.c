/* SPDX-License-Identifier: Apache-2.0 */
#include "first.h"

#include "attributes.h"
#include "clock.h"
#include "fd.h"
#include "fnv.h"
#include "open.h"
#include "subvolume.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const first_why_words[FIRST_WHY_COUNT] = {
	[FIRST_WHY_NOT] = "",
	[FIRST_WHY_LARGE] = "it is larger than what is kept for a merge",
	[FIRST_WHY_LIMIT] = "the session had kept as much as it may",
	[FIRST_WHY_UNREADABLE] = "it could not be read",
	[FIRST_WHY_FAILED] = "there was no room to keep it",
	[FIRST_WHY_UNSEEN] = "it was changed without a call that was seen",
};

static const uint32_t first_magic = 0x31564642;      /* "BFV1" */
static const uint32_t first_magic_born = 0x32564642; /* "BFV2" */
static const uint32_t first_magic_has = 0x33564642;  /* "BFV3" */

static const char first_file[] = "index", first_file_unseen[] = "unseen";

enum { FIRST_CHECK = 4, FIRST_PACKED_MAX = 1 << 20, FIRST_OUT_MAX = 4 * FIRST_PATH_MAX };

/* --- an entry ------------------------------------------------------------------------- */

int64_t first_born(int dir, const char *name)
{
	struct statx st = {.stx_mask = 0};

	if (statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME))
		return 0;
	int64_t born = CLOCK_NS(st.stx_btime);

	/* Files of an image may have been made in 1970. */
	return born ? born : 1;
}

void first_entry_put(struct buf *into, const struct first_entry *e)
{
	size_t start = into->len, path = strlen(e->path), text = strlen(e->text);
	size_t fixed = e->has_len ? FIRST_HEAD_HAS : e->born ? FIRST_HEAD_BORN : FIRST_HEAD;
	size_t length = fixed + path + text + FIRST_CHECK;
	const uint32_t head[] = {e->has_len ? first_magic_has
				 : e->born  ? first_magic_born
					    : first_magic,
				 (uint32_t)length,
				 e->kind,
				 e->flags,
				 e->why,
				 e->mode,
				 e->uid,
				 e->gid,
				 e->links,
				 (uint32_t)path,
				 (uint32_t)text,
				 e->has_len};
	const uint64_t numbers[] = {
		e->size, e->dev, e->ino, (uint64_t)e->mtime, (uint64_t)e->ctime, (uint64_t)e->atime,
		e->at};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(head); i++)
		buf_put_u32(into, head[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(numbers); i++)
		buf_put_u64(into, numbers[i]);
	buf_put(into, e->digest, sizeof(e->digest));
	if (fixed > FIRST_HEAD)
		buf_put_u64(into, (uint64_t)e->born);
	if (fixed > FIRST_HEAD_BORN)
		buf_put_u64(into, e->has_at);
	buf_put(into, e->path, path);
	buf_put(into, e->text, text);
	if (buf_error(into) == 0)
		buf_put_u32(into, fnv_bytes(FNV_START, into->ptr + start, into->len - start));
}

/* Below the workspace, and nowhere else. */
static bool first_is_path(struct span path)
{
	if (path.len == 0 || path.len > FIRST_PATH_MAX || memchr(path.ptr, 0, path.len))
		return false;
	for (size_t at = 0; at <= path.len;) {
		const uint8_t *end = memchr(path.ptr + at, '/', path.len - at);
		size_t len = end ? (size_t)(end - path.ptr) - at : path.len - at;

		if (len == 0 || (len == 1 && path.ptr[at] == '.') ||
		    (len == 2 && path.ptr[at] == '.' && path.ptr[at + 1] == '.'))
			return false;
		at += len + 1;
	}
	return true;
}

/* The workspace's own folder, of which only mode and time are kept. */
static bool first_is_top(const struct first_entry *e, struct span path)
{
	return e->kind == FIRST_DIR && path.len == 1 && path.ptr[0] == '.';
}

static bool first_is_right(const struct first_entry *e, struct span path, struct span text)
{
	unsigned int where = e->flags & (FIRST_PACKED | FIRST_APART | FIRST_IN_TREE);

	if (e->kind >= FIRST_KIND_COUNT || e->flags & ~(unsigned int)FIRST_FLAGS ||
	    e->why >= FIRST_WHY_COUNT || !(first_is_path(path) || first_is_top(e, path)) ||
	    text.len > FIRST_PATH_MAX || (text.len > 0 && memchr(text.ptr, 0, text.len)))
		return false;
	if (where & (where - 1) || (where && e->kind != FIRST_FILE))
		return false;
	if (e->has_len && (!(e->flags & FIRST_LISTED) || e->has_len > ATTRIBUTES_MAX ||
			   e->has_at > INT64_MAX - (uint64_t)e->has_len))
		return false;
	if (where & FIRST_PACKED && (e->size > FIRST_PACKED_MAX || e->at > INT64_MAX - e->size))
		return false;
	if (e->kind == FIRST_MOVED)
		return first_is_path(text);
	return e->kind == FIRST_LINK || text.len == 0;
}

ssize_t first_entry_take(struct span bytes, struct first_entry *ret, struct buf *scratch)
{
	struct reader in = reader_of(bytes);
	uint32_t head[12];

	memset(ret, 0, sizeof(*ret));
	if (bytes.len < FIRST_HEAD + FIRST_CHECK)
		return 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(head); i++)
		head[i] = reader_u32(&in);
	bool has = head[0] == first_magic_has, born = head[0] == first_magic_born;
	uint32_t fixed = has ? FIRST_HEAD_HAS : born ? FIRST_HEAD_BORN : FIRST_HEAD;

	if ((!born && !has && head[0] != first_magic) || head[9] > FIRST_PATH_MAX ||
	    head[10] > FIRST_PATH_MAX || head[1] != fixed + head[9] + head[10] + FIRST_CHECK)
		return -EPROTO;
	if (bytes.len < head[1])
		return 0;
	*ret = (struct first_entry){.kind = head[2],
				    .flags = head[3],
				    .why = head[4],
				    .mode = head[5],
				    .uid = head[6],
				    .gid = head[7],
				    .links = head[8]};
	ret->size = reader_u64(&in);
	ret->dev = reader_u64(&in);
	ret->ino = reader_u64(&in);
	ret->mtime = (int64_t)reader_u64(&in);
	ret->ctime = (int64_t)reader_u64(&in);
	ret->atime = (int64_t)reader_u64(&in);
	ret->at = reader_u64(&in);
	memcpy(ret->digest, reader_take(&in, SHA256_SIZE).ptr, SHA256_SIZE);
	ret->born = born || has ? (int64_t)reader_u64(&in) : 0;
	ret->has_at = has ? reader_u64(&in) : 0;
	ret->has_len = head[11];
	struct span path = reader_take(&in, head[9]), text = reader_take(&in, head[10]);

	if (reader_u32(&in) != fnv_bytes(FNV_START, bytes.ptr, head[1] - FIRST_CHECK) || in.bad ||
	    has != (head[11] != 0) || (born && !ret->born) || !first_is_right(ret, path, text))
		return -EPROTO;
	buf_clear(scratch);
	buf_put(scratch, path.ptr, path.len);
	buf_put_char(scratch, '\0');
	buf_put(scratch, text.ptr, text.len);
	if (buf_error(scratch))
		return buf_error(scratch);
	ret->path = scratch->ptr;
	ret->text = scratch->ptr + path.len + 1;
	return head[1];
}

/* --- writing -------------------------------------------------------------------------- */

static int first_index_open_file(struct first_index *x, int dir, const char *name)
{
	struct stat st;

	x->out = BUF_INIT(FIRST_OUT_MAX);
	x->fd = open_file(dir, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (x->fd < 0)
		return x->fd;
	if (fstat(x->fd, &st) < 0)
		return -errno;
	x->len = (uint64_t)st.st_size;
	return 0;
}

int first_index_open(struct first_index *x, int dir)
{
	return first_index_open_file(x, dir, first_file);
}

int first_index_open_unseen(struct first_index *x, int dir)
{
	return first_index_open_file(x, dir, first_file_unseen);
}

void first_index_close(struct first_index *x)
{
	fd_close(&x->fd);
	buf_fini(&x->out);
}

static void first_index_cut(struct first_index *x)
{
	x->torn = ftruncate(x->fd, (off_t)x->len) < 0;
}

enum first_why first_index_put(struct first_index *x, const struct first_entry *e, uint64_t limit)
{
	buf_clear(&x->out);
	x->out.error = 0;
	first_entry_put(&x->out, e);
	if (x->torn)
		first_index_cut(x);
	if (x->torn || buf_error(&x->out))
		return FIRST_WHY_FAILED;
	if (x->out.len > limit || x->len > limit - x->out.len)
		return FIRST_WHY_LIMIT;
	if (fd_write_all(x->fd, x->out.ptr, x->out.len) < 0) {
		first_index_cut(x);
		return FIRST_WHY_FAILED;
	}
	x->len += x->out.len;
	return FIRST_WHY_NOT;
}

/* --- reading -------------------------------------------------------------------------- */

static int first_load(struct first *f, const char *name)
{
	_cleanup_fd_ int fd = open_file(f->dir, name, O_RDONLY, 0);
	struct stat st;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	size_t all = (size_t)st.st_size, most = all < FIRST_INDEX_MAX ? all : FIRST_INDEX_MAX;

	f->unread = all - most;
	f->bytes = malloc(most + 1);
	if (!f->bytes)
		return -ENOMEM;
	while (f->len < most) {
		ssize_t n = pread(fd, f->bytes + f->len, most - f->len, (off_t)f->len);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		f->len += (size_t)n;
	}
	return 0;
}

/* The next place after `at` where an entry may begin. */
static size_t first_next(const struct first *f, size_t at)
{
	const char *found = memmem(f->bytes + at + 1, f->len - at - 1, "BFV", 3);

	return found ? (size_t)(found - f->bytes) : f->len;
}

static int first_order(const void *a, const void *b, void *paths)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(((char **)paths)[x], ((char **)paths)[y]);

	return order ? order : x < y ? -1 : x > y;
}

/* Finds the entries; their names are copied, because they have to end in NUL. */
static int first_arrange(struct first *f)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(2 * FIRST_PATH_MAX + 2);
	size_t most = f->len / (FIRST_HEAD + FIRST_CHECK) + 1, used = 0;
	struct first_entry e;
	ssize_t n;

	f->at = calloc(most, sizeof(*f->at));
	f->paths = calloc(most, sizeof(*f->paths));
	f->texts = calloc(most, sizeof(*f->texts));
	f->sorted = calloc(most, sizeof(*f->sorted));
	f->names = malloc(f->len + 2);
	if (!f->at || !f->paths || !f->texts || !f->sorted || !f->names)
		return -ENOMEM;
	for (size_t at = 0, next; at < f->len; at = next) {
		n = first_entry_take((struct span){(const uint8_t *)f->bytes + at, f->len - at}, &e,
				     &scratch);
		next = n > 0 ? at + (size_t)n : first_next(f, at);
		if (n <= 0) {
			f->unread += next - at; /* cut off, or damaged */
			continue;
		}
		size_t path = strlen(e.path) + 1, text = strlen(e.text) + 1;

		f->at[f->count] = at;
		f->paths[f->count] = memcpy(f->names + used, e.path, path);
		f->texts[f->count] = memcpy(f->names + used + path, e.text, text);
		f->sorted[f->count] = (uint32_t)f->count;
		used += path + text;
		f->count++;
	}
	qsort_r(f->sorted, f->count, sizeof(*f->sorted), first_order, f->paths);
	return 0;
}

static int first_open_file(int dir, const char *name, struct first *ret, struct error *e)
{
	*ret = FIRST_INIT;
	ret->dir = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	int r = ret->dir < 0 ? -errno : first_load(ret, name);

	if (r == 0 && ret->len > 0)
		r = first_arrange(ret);
	if (r < 0) {
		first_close(ret);
		return error_sys(e, r, "reading the first versions of a session");
	}
	return 0;
}

int first_open(int dir, struct first *ret, struct error *e)
{
	return first_open_file(dir, first_file, ret, e);
}

int first_open_unseen(int dir, struct first *ret, struct error *e)
{
	return first_open_file(dir, first_file_unseen, ret, e);
}

void first_close(struct first *f)
{
	fd_close(&f->dir);
	free(f->bytes);
	free(f->at);
	free(f->sorted);
	free(f->paths);
	free(f->texts);
	free(f->names);
	*f = FIRST_INIT;
}

void first_at(const struct first *f, size_t i, struct first_entry *ret)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(2 * FIRST_PATH_MAX + 2);

	(void)first_entry_take(
		(struct span){(const uint8_t *)f->bytes + f->at[i], f->len - f->at[i]}, ret,
		&scratch);
	ret->path = f->paths[i];
	ret->text = f->texts[i];
}

int first_each(const struct first *f,
	       int (*found)(void *context, size_t i, const struct first_entry *e), void *context)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->count; i++) {
		struct first_entry e;

		first_at(f, i, &e);
		r = found(context, i, &e);
	}
	return r < 0 ? r : 0;
}

int first_each_path(const struct first *f, int (*found)(void *context, const char *path),
		    void *context)
{
	const char *told = NULL;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->count; i++) {
		const char *path = f->paths[f->sorted[i]];
		struct first_entry e;

		if (told && strcmp(told, path) == 0)
			continue;
		first_at(f, f->sorted[i], &e);
		if (e.flags & FIRST_END)
			continue;
		told = path;
		r = found(context, path);
	}
	return r < 0 ? r : 0;
}

/* The place of a path's earliest entry in the order of paths. */
static size_t first_place(const struct first *f, const char *path)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(f->paths[f->sorted[middle]], path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool first_is_at(const struct first *f, size_t place, const char *path)
{
	return place < f->count && strcmp(f->paths[f->sorted[place]], path) == 0;
}

ssize_t first_find(const struct first *f, const char *path, struct first_entry *ret)
{
	ssize_t found = -ENOENT;
	bool whole = false;

	for (size_t at = first_place(f, path); first_is_at(f, at, path); at++) {
		struct first_entry e;

		first_at(f, f->sorted[at], &e);
		if (e.flags & FIRST_END || e.kind == FIRST_MOVED)
			continue;
		if (found < 0 || e.flags & FIRST_AGAIN) {
			*ret = e;
			found = (ssize_t)f->sorted[at];
			whole = false;
		}
		whole = whole || !(ret->flags & FIRST_META);
		if (whole)
			continue; /* unless the path is entered AGAIN */
		/* The session changed its mode first and its content later: this entry has the
		 * content. */
		if (e.flags & FIRST_META || e.ino != ret->ino || e.kind != ret->kind ||
		    (e.born && ret->born && e.born != ret->born))
			continue;
		ret->flags = (e.flags & ~(unsigned int)FIRST_LISTED) | (ret->flags & FIRST_LISTED);
		ret->why = e.why;
		ret->at = e.at;
		ret->size = e.size;
		memcpy(ret->digest, e.digest, sizeof(ret->digest));
		whole = true;
	}
	return found;
}

ssize_t first_find_before(const struct first *f, const char *path, size_t before,
			  struct first_entry *ret)
{
	ssize_t found = -ENOENT;

	for (size_t at = first_place(f, path); first_is_at(f, at, path); at++) {
		struct first_entry e;

		first_at(f, f->sorted[at], &e);
		if (f->sorted[at] >= before || e.flags & (FIRST_END | FIRST_META) ||
		    e.kind == FIRST_MOVED)
			continue;
		*ret = e;
		found = (ssize_t)f->sorted[at];
	}
	return found;
}

int first_each_of(const struct first *f, const char *path,
		  int (*found)(void *context, const struct first_entry *e), void *context)
{
	int r = 0;

	for (size_t at = first_place(f, path); r >= 0 && first_is_at(f, at, path); at++) {
		struct first_entry e;

		first_at(f, f->sorted[at], &e);
		if (!(e.flags & FIRST_END) && e.kind != FIRST_MOVED)
			r = found(context, &e);
	}
	return r < 0 ? r : 0;
}

ssize_t first_find_end(const struct first *f, const char *path, struct first_entry *ret)
{
	ssize_t found = -ENOENT;

	for (size_t at = first_place(f, path); first_is_at(f, at, path); at++) {
		struct first_entry e;

		first_at(f, f->sorted[at], &e);
		if (!(e.flags & FIRST_END))
			continue;
		*ret = e;
		found = (ssize_t)f->sorted[at];
	}
	return found;
}

/* --- contents ------------------------------------------------------------------------- */

static int first_unpack(const struct first *f, const struct first_entry *e)
{
	_cleanup_fd_ int data = open_file(f->dir, "data", O_RDONLY, 0);
	_cleanup_fd_ int file = data < 0 ? -1 : memfd_create("first", MFD_CLOEXEC);

	if (data < 0 || file < 0)
		return data < 0 ? data : -errno;
	_cleanup_free_ char *bytes = malloc(e->size + 1);

	if (!bytes)
		return -ENOMEM;
	ssize_t n = pread(data, bytes, e->size, (off_t)e->at);

	if (n < 0 || (uint64_t)n != e->size)
		return n < 0 ? -errno : -ESTALE;
	int r = fd_write_all(file, bytes, e->size);

	if (r < 0 || lseek(file, 0, SEEK_SET) < 0)
		return r < 0 ? r : -errno;
	return TAKE_FD(file);
}

static int first_in_tree(const struct first *f, const struct first_entry *e)
{
	_cleanup_fd_ int tree = open_beneath(f->dir, SUBVOLUME_CHECKPOINT, O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int fd =
		tree < 0 ? tree
			 : open_beneath(tree, e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_ino != e->ino ||
	    (uint64_t)st.st_size != e->size)
		return -ESTALE;
	return TAKE_FD(fd);
}

int first_content(const struct first *f, const struct first_entry *e)
{
	char name[17];
	struct stat st;

	if (e->flags & FIRST_PACKED)
		return first_unpack(f, e);
	if (e->flags & FIRST_IN_TREE)
		return first_in_tree(f, e);
	if (!(e->flags & FIRST_APART))
		return -ENOENT;
	(void)snprintf(name, sizeof(name), "%016llx", (unsigned long long)e->at);
	_cleanup_fd_ int fd = open_file(f->dir, name, O_RDONLY, 0);

	if (fd < 0)
		return fd;
	/* The recorder ended while it copied this file. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != e->size)
		return -ESTALE;
	return TAKE_FD(fd);
}

int first_attributes(const struct first *f, const struct first_entry *e, struct buf *into)
{
	_cleanup_fd_ int data = -1;
	_cleanup_free_ char *bytes = NULL;

	if (!(e->flags & FIRST_LISTED))
		return -ENODATA;
	if (e->has_len == 0)
		return 0;
	data = open_file(f->dir, "data", O_RDONLY, 0);
	bytes = malloc(e->has_len);
	if (data < 0 || !bytes)
		return data < 0 ? data : -ENOMEM;
	ssize_t n = pread(data, bytes, e->has_len, (off_t)e->has_at);

	if (n < 0 || (size_t)n != e->has_len)
		return n < 0 ? -errno : -ESTALE;
	buf_put(into, bytes, e->has_len);
	return buf_error(into);
}
