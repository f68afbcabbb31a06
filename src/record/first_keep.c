/* SPDX-License-Identifier: Apache-2.0 */
#include "first_keep.h"

#include "clock.h"
#include "fd.h"
#include "hash.h"
#include "open.h"
#include "str.h"
#include "subvolume.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_OUT_MAX = 4 * FIRST_PATH_MAX, FIRST_KEEP_TRIES = 1000 };

static int64_t first_time(struct timespec t)
{
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- begin ---------------------------------------------------------------------------- */

static int first_keep_open_files(struct first_keep *k)
{
	struct stat st;

	k->index = openat(k->dir, "index", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			  0600);
	k->data = openat(k->dir, "data", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (k->index < 0 || k->data < 0 || fstat(k->data, &st) < 0)
		return -errno;
	k->packed = (uint64_t)st.st_size;
	return 0;
}

static void first_keep_know(struct first_keep *k, const char *path, unsigned int effects)
{
	char whole[FIRST_PATH_MAX + 4096];
	int n = snprintf(whole, sizeof(whole), "%s/%s", k->inside, path);

	if (n > 0 && (size_t)n < sizeof(whole))
		touched_add(&k->known, (struct span){(const uint8_t *)whole, (size_t)n}, effects);
}

static int first_keep_remember(void *context, size_t i, const struct first_entry *e)
{
	struct first_keep *k = context;

	(void)i;
	if (e->flags & FIRST_APART && e->at >= k->number)
		k->number = e->at + 1;
	/* What a direct session left may be changed by anybody since; it is looked at again. */
	if (!k->direct)
		first_keep_know(k, e->path, e->flags & FIRST_META ? TOUCHED_META : TOUCHED_MADE);
	return 0;
}

/* A session that goes on has first versions already. */
static int first_keep_resume(struct first_keep *k, struct error *e)
{
	_cleanup_first_ struct first f = FIRST_INIT;
	int r = first_open(k->dir, &f, e);

	return r < 0 ? r : first_each(&f, first_keep_remember, k);
}

/* Made after its folder was, and before anything was kept in it. */
static void first_keep_open_tree(struct first_keep *k)
{
	struct statx st = {.stx_mask = 0};

	if (statx(k->dir, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
		return;
	k->tree_made = st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
	k->tree = open_beneath(k->dir, SUBVOLUME_CHECKPOINT, O_PATH | O_DIRECTORY, 0);
}

int first_keep_begin(struct first_keep *k, int dir, const struct plan *plan, struct error *e)
{
	const struct plan_mount *m = dir < 0 ? NULL : plan_writable_workspace(plan);
	struct stat st;

	*k = FIRST_KEEP_INIT;
	if (!m) {
		fd_close(&dir);
		return 0;
	}
	k->dir = dir;
	k->inside = m->target;
	k->direct = m->upper[0] == '\0';
	k->limit = FIRST_KEEP_LIMIT;
	k->out = BUF_INIT(FIRST_OUT_MAX);
	k->room = malloc(FIRST_KEEP_MERGE);
	if (k->direct)
		first_keep_open_tree(k);
	int r = k->room ? touched_init(&k->known) : -ENOMEM;

	if (r == 0) {
		k->workspace = open_no_links(m->source, O_PATH | O_DIRECTORY);
		r = k->workspace < 0 ? k->workspace : fstat(k->workspace, &st) < 0 ? -errno : 0;
	}
	if (r == 0 && m->ino != 0 && (st.st_ino != m->ino || st.st_dev != m->dev))
		return error_set(e, -ESTALE, "%s is not the folder that was meant", m->source);
	if (r == 0)
		r = first_keep_resume(k, e);
	if (r == 0)
		r = first_keep_open_files(k);
	return r < 0 ? error_sys(e, r, "keeping first versions of files") : 0;
}

void first_keep_fini(struct first_keep *k)
{
	fd_close(&k->dir);
	fd_close(&k->index);
	fd_close(&k->data);
	fd_close(&k->workspace);
	fd_close(&k->tree);
	touched_fini(&k->known);
	buf_fini(&k->out);
	free(k->room);
	*k = FIRST_KEEP_INIT;
}

/* --- contents ------------------------------------------------------------------------- */

static void first_keep_lack(struct first_keep *k, struct first_entry *e, enum first_why why)
{
	e->why = why;
	if (why == FIRST_WHY_LARGE)
		return;
	k->why = k->unkept++ == 0 ? why : k->why;
}

static void first_keep_hash(struct first_entry *e, int fd)
{
	struct hash digest;

	if (e->size > FIRST_KEEP_HASHED || hash_file(fd, &digest) < 0)
		return;
	memcpy(e->digest, digest.bytes, sizeof(e->digest));
	e->flags |= FIRST_HASHED;
}

/* Read whole, hashed and put behind the others. */
static void first_keep_pack(struct first_keep *k, struct first_entry *e, int fd)
{
	size_t len = 0;

	while (len < FIRST_KEEP_MERGE) {
		ssize_t n = pread(fd, k->room + len, FIRST_KEEP_MERGE - len, (off_t)len);

		if (n < 0) {
			first_keep_lack(k, e, FIRST_WHY_UNREADABLE);
			return;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len >= e->size)
			break;
	}
	struct hash digest;

	e->size = len;
	hash_of((struct span){k->room, len}, &digest);
	memcpy(e->digest, digest.bytes, sizeof(e->digest));
	e->flags |= FIRST_HASHED;
	ssize_t n = len ? pwrite(k->data, k->room, len, (off_t)k->packed) : 0;

	if (n < 0 || (size_t)n != len) {
		first_keep_lack(k, e, FIRST_WHY_FAILED);
		return;
	}
	e->flags |= FIRST_PACKED;
	e->at = k->packed;
	k->packed += len;
	k->kept += len;
}

static int first_keep_copy(struct first_keep *k, int from, int to, uint64_t size)
{
	uint64_t done = 0;
	bool range = true;

	while (done < size) {
		ssize_t n = range ? copy_file_range(from, NULL, to, NULL, size - done, 0)
				  : read(from, k->room, FIRST_KEEP_MERGE);

		if (n < 0 && range && errno != ENOSPC && errno != EDQUOT && errno != EIO) {
			range = false;
			continue;
		}
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		int r = range ? 0 : fd_write_all(to, k->room, (size_t)n);

		if (r < 0)
			return r;
		done += (uint64_t)n;
	}
	return 0;
}

/* A file of its own: shares the blocks where the filesystem can, else has a copy of them. */
static void first_keep_apart(struct first_keep *k, struct first_entry *e, int fd)
{
	char name[17];
	_cleanup_fd_ int file = -1;

	/* A recorder that was killed may have left one that no entry names. */
	for (int i = 0; file < 0 && i < FIRST_KEEP_TRIES; i++, k->number += file < 0) {
		(void)snprintf(name, sizeof(name), "%016llx", (unsigned long long)k->number);
		file = openat(k->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			      0600);
		if (file < 0 && errno != EEXIST)
			break;
	}
	if (file < 0) {
		first_keep_lack(k, e, FIRST_WHY_FAILED);
		return;
	}
	e->at = k->number++;
	bool shared = ioctl(file, FICLONE, fd) == 0;
	bool room = shared || (e->size <= k->limit && k->kept <= k->limit - e->size);
	int r = shared ? 0 : room ? first_keep_copy(k, fd, file, e->size) : -EFBIG;

	if (r < 0) {
		(void)unlinkat(k->dir, name, 0);
		first_keep_lack(k, e,
				!room          ? FIRST_WHY_LIMIT
				: r == -ESTALE ? FIRST_WHY_UNREADABLE
					       : FIRST_WHY_FAILED);
		return;
	}
	e->flags |= FIRST_APART;
	k->kept += shared ? 0 : e->size;
}

/*
 * The snapshot has it as it is: the same inode, which nobody has touched since.  What was touched
 * in the moment in which the snapshot was made is not taken for it.
 */
static bool first_keep_is_in_tree(const struct first_keep *k, const struct first_entry *e,
				  const char *path)
{
	_cleanup_fd_ int fd = k->tree < 0 || e->ctime >= k->tree_made
				      ? -1
				      : open_beneath(k->tree, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == e->ino &&
	       (uint64_t)st.st_size == e->size && first_time(st.st_ctim) == e->ctime &&
	       first_time(st.st_mtim) == e->mtime;
}

static void first_keep_content(struct first_keep *k, struct first_entry *e, const char *path)
{
	if (first_keep_is_in_tree(k, e, path)) {
		e->flags |= FIRST_IN_TREE;
		return;
	}
	_cleanup_fd_ int fd =
		open_beneath(k->workspace, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	/* Another one by now, or not to be read. */
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != e->ino || st.st_dev != e->dev)
		first_keep_lack(k, e, FIRST_WHY_UNREADABLE);
	else if (e->size <= (k->direct ? FIRST_KEEP_PACKED : FIRST_KEEP_MERGE) &&
		 k->kept <= k->limit)
		first_keep_pack(k, e, fd);
	else if (k->direct)
		first_keep_apart(k, e, fd);
	else {
		first_keep_lack(k, e,
				e->size > FIRST_KEEP_MERGE ? FIRST_WHY_LARGE : FIRST_WHY_LIMIT);
		first_keep_hash(e, fd);
	}
}

/* --- a path --------------------------------------------------------------------------- */

static void first_keep_put(struct first_keep *k, const struct first_entry *e)
{
	buf_clear(&k->out);
	k->out.error = 0;
	first_entry_put(&k->out, e);
	if (buf_error(&k->out) || fd_write_all(k->index, k->out.ptr, k->out.len) < 0)
		k->why = k->unkept++ == 0 ? FIRST_WHY_FAILED : k->why;
}

static void first_keep_stat(struct first_entry *e, const struct stat *st)
{
	e->kind = S_ISREG(st->st_mode)   ? FIRST_FILE
		  : S_ISDIR(st->st_mode) ? FIRST_DIR
		  : S_ISLNK(st->st_mode) ? FIRST_LINK
					 : FIRST_OTHER;
	e->mode = st->st_mode & 07777;
	e->uid = st->st_uid;
	e->gid = st->st_gid;
	e->links = (uint32_t)st->st_nlink;
	e->size = (uint64_t)st->st_size;
	e->dev = st->st_dev;
	e->ino = st->st_ino;
	e->mtime = first_time(st->st_mtim);
	e->ctime = first_time(st->st_ctim);
	e->atime = first_time(st->st_atim);
}

/* What stands there, without its content: 0; -ELOOP: there is a link on the way; or -errno.  text
 * is for what a link says. */
static int first_keep_look(const struct first_keep *k, const char *path, struct first_entry *ret,
			   char text[FIRST_PATH_MAX])
{
	_cleanup_fd_ int fd = open_beneath(k->workspace, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	text[0] = '\0';
	*ret = (struct first_entry){
		.flags = k->direct ? FIRST_DIRECT : 0, .path = path, .text = text};
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	first_keep_stat(ret, &st);
	if (ret->kind == FIRST_LINK) {
		ssize_t n = readlinkat(fd, "", text, FIRST_PATH_MAX - 1);

		text[n > 0 ? n : 0] = '\0';
	}
	return 0;
}

/* The part below the workspace; NULL: it lies elsewhere, or is too long, or the workspace. */
static const char *first_keep_below(const struct first_keep *k, struct span path)
{
	size_t len = strlen(k->inside);

	if (k->dir < 0 || path.len <= len + 1 || path.len - len > FIRST_PATH_MAX ||
	    memcmp(path.ptr, k->inside, len) != 0 || path.ptr[len] != '/')
		return NULL;
	return (const char *)path.ptr + len + 1;
}

/* A name in a folder is about to change, and so is the folder's time. */
static void first_keep_folder(struct first_keep *k, struct span path)
{
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	while (path.len > 0 && path.ptr[path.len - 1] != '/')
		path.len--;
	path.len -= path.len > 0;
	if (!k->direct || path.len < strlen(k->inside))
		return;
	if (path.len > strlen(k->inside)) {
		char name[FIRST_PATH_MAX + 4096];
		int n = snprintf(name, sizeof(name), "%.*s", (int)path.len, (const char *)path.ptr);

		if (n > 0 && (size_t)n < sizeof(name))
			(void)first_keep_path(k, (struct span){(const uint8_t *)name, (size_t)n},
					      FIRST_CHANGE_META);
		return;
	}
	if (!k->top && first_keep_look(k, ".", &e, text) == 0 && e.kind == FIRST_DIR) {
		e.flags |= FIRST_META;
		first_keep_put(k, &e);
	}
	k->top = true;
}

bool first_keep_path(struct first_keep *k, struct span path, enum first_change change)
{
	const char *below = first_keep_below(k, path);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (!below)
		return true;
	bool meta = change == FIRST_CHANGE_META;
	unsigned int known = touched_effects(&k->known, path);

	if (known & (meta ? TOUCHED_MADE | TOUCHED_META : TOUCHED_MADE))
		return true;
	int r = first_keep_look(k, below, &e, text);

	if (r == -ELOOP)
		return false;
	bool through = e.kind == FIRST_LINK && change == FIRST_CHANGE_THROUGH;

	if (r < 0 || through)
		return !through;
	touched_add(&k->known, path, meta ? TOUCHED_META : TOUCHED_MADE);
	/* Also of what is written where it is: undo puts another file there. */
	if (!meta)
		first_keep_folder(k, path);
	if (meta)
		e.flags |= FIRST_META;
	else if (e.kind == FIRST_FILE)
		first_keep_content(k, &e, below);
	first_keep_put(k, &e);
	return true;
}

bool first_keep_is_folder(const struct first_keep *k, struct span path)
{
	const char *below = first_keep_below(k, path);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	return below && first_keep_look(k, below, &e, text) == 0 && e.kind == FIRST_DIR;
}

void first_keep_moved(struct first_keep *k, struct span from, struct span to, bool exchanged)
{
	const char *below = first_keep_below(k, from), *then = first_keep_below(k, to);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (!below || !then || first_keep_look(k, below, &e, text) < 0)
		return;
	e.kind = FIRST_MOVED;
	e.flags |= exchanged ? FIRST_EXCHANGED : 0;
	e.text = then;
	first_keep_folder(k, from);
	first_keep_put(k, &e);
	/* In the real folder names mean other things from here on. */
	if (k->direct) {
		touched_fini(&k->known);
		(void)touched_init(&k->known);
	}
}

/* --- end ------------------------------------------------------------------------------ */

struct first_leave {
	struct first_keep *k;
	const struct first *f;
	int64_t deadline;
};

static void first_keep_left(struct first_leave *l, const char *path)
{
	struct first_keep *k = l->k;
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (first_keep_look(k, path, &e, text) < 0)
		return;
	e.flags |= FIRST_END;
	_cleanup_fd_ int fd =
		e.kind == FIRST_FILE && clock_ms(CLOCK_BOOTTIME) < l->deadline
			? open_beneath(k->workspace, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
			: -1;

	if (fd >= 0)
		first_keep_hash(&e, fd);
	first_keep_put(k, &e);
}

static int first_keep_on_entry(void *context, size_t i, const struct first_entry *e)
{
	struct first_leave *l = context;
	struct first_entry earlier;

	/* Once for each path: with its earliest entry. */
	if (!(e->flags & FIRST_END) && e->kind != FIRST_MOVED &&
	    first_find(l->f, e->path, &earlier) == (ssize_t)i)
		first_keep_left(l, e->path);
	return 0;
}

int first_keep_end(struct first_keep *k)
{
	_cleanup_first_ struct first f = FIRST_INIT;
	struct error e = ERROR_INIT;

	if (k->dir < 0)
		return 0;
	int r = k->direct ? first_open(k->dir, &f, &e) : 0;
	struct first_leave l = {
		.k = k, .f = &f, .deadline = clock_ms(CLOCK_BOOTTIME) + FIRST_KEEP_PATIENCE_MS};

	if (r == 0 && k->direct)
		r = first_each(&f, first_keep_on_entry, &l);
	if (fdatasync(k->data) < 0 || fdatasync(k->index) < 0)
		return -errno;
	return r;
}
