/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_attributes.h"

#include "attributes.h"
#include "fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads what a path has, or (".") the tree itself: 0 or -errno. */
static int has_read(int tree, const char *path, struct stat *st, struct buf *into)
{
	const struct view base = {.base = tree};
	_cleanup_fd_ int fd = view_openat(&base, path[0] == '.' && !path[1] ? "" : path, O_RDONLY);

	if (fd < 0 || fstat(fd, st) < 0)
		return fd < 0 ? fd : -errno;
	return attributes_read(fd, into);
}

static const struct land_has *has_keep(struct undo_direct *u, uint32_t uid, uint32_t gid,
				       const struct buf *list)
{
	struct land_has *has = arena_alloc(&u->arena, sizeof(*has));
	uint8_t *own = list->len ? arena_alloc(&u->arena, list->len) : NULL;

	if (!has || (list->len && !own))
		return NULL;
	if (own)
		memcpy(own, list->ptr, list->len);
	*has = (struct land_has){.uid = uid, .gid = gid, .attributes = {own, list->len}};
	return has;
}

const struct land_has *undo_has_of_entry(struct undo_direct *u, const struct first_entry *e)
{
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);

	return first_attributes(&u->first, e, &list) < 0 ? NULL
							 : has_keep(u, e->uid, e->gid, &list);
}

const struct land_has *undo_has_of(struct undo_direct *u, const struct former *f,
				   const struct object *was)
{
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);
	ssize_t from = f->meta >= 0 ? f->meta : f->entry;
	struct first_entry e;
	struct stat st;

	if (was->type != OBJECT_FILE && was->type != OBJECT_DIR)
		return NULL;
	if (from >= 0) {
		first_at(&u->first, (size_t)from, &e);
		return undo_has_of_entry(u, &e);
	}
	return f->real && has_read(u->tree, f->real, &st, &list) == 0
		       ? has_keep(u, st.st_uid, st.st_gid, &list)
		       : NULL;
}

bool undo_has_now(int tree, const char *path, const struct land_has *has)
{
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);
	struct stat st;

	if (has_read(tree, path, &st, &list) < 0)
		return true;
	return st.st_uid == has->uid && st.st_gid == has->gid &&
	       span_equal(buf_span(&list), has->attributes);
}

/* Two files have data in the same places; elsewhere they have holes. */
static bool has_same_runs(int a, int b)
{
	for (off_t at = 0;;) {
		off_t x = lseek(a, at, SEEK_DATA), y = lseek(b, at, SEEK_DATA);

		if (x != y || x < 0)
			return x == y;
		x = lseek(a, x, SEEK_HOLE);
		at = lseek(b, y, SEEK_HOLE);
		if (x != at || at < 0)
			return x == at;
	}
}

bool undo_has_holes(const struct undo_direct *u, const struct former *f)
{
	const struct view base = {.base = u->tree};
	struct first_entry e;

	if (f->entry < 0)
		return true;
	first_at(&u->first, (size_t)f->entry, &e);
	_cleanup_fd_ int kept = e.flags & FIRST_APART ? first_content(&u->first, &e) : -1;
	_cleanup_fd_ int now = kept < 0 ? -1 : view_openat(&base, f->path, O_RDONLY);

	return now < 0 || has_same_runs(kept, now);
}

bool undo_has_as_entry(const struct first *first, int tree, const char *path,
		       const struct first_entry *e)
{
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);

	if (first_attributes(first, e, &list) < 0)
		return true;
	const struct land_has has = {.uid = e->uid, .gid = e->gid, .attributes = buf_span(&list)};

	return undo_has_now(tree, path, &has);
}
