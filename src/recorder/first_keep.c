/* SPDX-License-Identifier: Apache-2.0 */
#include "first_keep.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "first_names.h"
#include "hash.h"
#include "open.h"
#include "subvolume.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* In the table of known paths: an earlier run entered it, so we have to look whether the session
 * still has it. */
#define FIRST_KEEP_EARLIER TOUCHED_GONE
/* Review: a file of the user was moved there. */
#define FIRST_KEEP_CAME TOUCHED_MOVED

enum {
	FIRST_KEEP_TRIES = 1000,
	FIRST_KEEP_DEPTH = 100,
	FIRST_KEEP_BLOCK = 4096, /* a file of this size or more may have a hole */
};

/* --- begin ---------------------------------------------------------------------------- */

static int first_keep_open_files(struct first_keep *k)
{
	struct stat st;

	k->data = open_file(k->dir, "data", O_WRONLY | O_CREAT, 0600);
	if (k->data < 0)
		return k->data;
	if (fstat(k->data, &st) < 0)
		return -errno;
	k->packed = (uint64_t)st.st_size;
	return first_index_open(&k->index, k->dir);
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
	/* Anybody may have changed what a direct session left: we look at it again.  What a review
	 * session changed may have landed since, or been discarded. */
	if (!k->direct)
		first_keep_know(k, e->path, FIRST_KEEP_EARLIER);
	return 0;
}

/* A session that goes on has first versions already. */
static int first_keep_resume(struct first_keep *k, struct error *e)
{
	_cleanup_first_ struct first f = FIRST_INIT;
	int r = first_open(k->dir, &f, e);

	return r < 0 ? r : first_each(&f, first_keep_remember, k);
}

/* Opens the snapshot.  It was made after its folder, and before anything was kept in it. */
static void first_keep_open_tree(struct first_keep *k)
{
	struct statx st = {.stx_mask = 0};

	if (statx(k->dir, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
		return;
	k->tree_made = CLOCK_NS(st.stx_btime);
	k->tree = open_beneath(k->dir, SUBVOLUME_CHECKPOINT, O_PATH | O_DIRECTORY, 0);
}

/* Opens the session's own layers: the session made what is in one of them. */
static int first_keep_open_layers(struct first_keep *k, const struct plan_mount *m)
{
	char upper[PATH_MAX];
	int n = snprintf(upper, sizeof(upper), "%s/up", m->upper);

	k->layers = calloc(m->layers.count + 1, sizeof(*k->layers));
	if (!k->layers || n < 0 || (size_t)n >= sizeof(upper))
		return k->layers ? -ENAMETOOLONG : -ENOMEM;
	for (size_t i = 0; i <= m->layers.count; i++) {
		const char *path = i < m->layers.count ? m->layers.items[i].text : upper;
		int fd = open_no_links(path, O_PATH | O_DIRECTORY);

		if (fd < 0)
			return fd;
		k->layers[k->layer_count++] = fd;
	}
	return 0;
}

static int first_keep_begin_at(struct first_keep *k, int dir, const struct plan_mount *m,
			       struct error *e)
{
	struct stat st;

	k->dir = dir;
	k->inside = m->target;
	k->direct = m->upper[0] == '\0';
	k->began = clock_ns(CLOCK_REALTIME);
	k->limit = FIRST_KEEP_LIMIT;
	k->enter_limit = k->direct ? FIRST_KEEP_INDEX : FIRST_INDEX_MAX;
	k->room = malloc(FIRST_KEEP_MERGE);
	if (k->direct) {
		first_keep_open_tree(k);
		twice_read(&k->twice, m->source, m->target);
	}
	int r = k->room ? touched_init(&k->known) : -ENOMEM;

	if (r == 0)
		r = first_taken_init(&k->taken);
	if (r == 0) {
		k->workspace = open_no_links(m->source, O_PATH | O_DIRECTORY);
		r = k->workspace < 0 ? k->workspace : fstat(k->workspace, &st) < 0 ? -errno : 0;
	}
	if (r == 0 && !k->direct)
		r = first_keep_open_layers(k, m);
	if (r == 0 && m->ino != 0 && (st.st_ino != m->ino || st.st_dev != m->dev))
		return error_set(e, -ESTALE, "%s is not the folder that was meant", m->source);
	if (r == 0)
		r = first_keep_resume(k, e);
	if (r == 0)
		r = first_keep_open_files(k);
	return r < 0 ? error_sys(e, r, "keeping first versions of files") : 0;
}

int first_keep_begin(struct first_keep *k, int dir, const struct plan *plan, struct error *e)
{
	const struct plan_mount *m = dir < 0 ? NULL : plan_writable_workspace(plan);

	*k = FIRST_KEEP_INIT;
	if (!m) {
		fd_close(&dir);
		return 0;
	}
	return first_keep_begin_at(k, dir, m, e);
}

/* "FOLDER/.git" without its end, allocated. */
static char *first_keep_folder_of(const char *path)
{
	size_t len = strlen(path), end = strlen("/.git");

	return len > end ? strndup(path, len - end) : NULL;
}

int first_keep_begin_shared(struct first_keep *k, int dir, const struct plan *plan, struct error *e)
{
	const struct plan_mount *m = plan_mount_of(plan, PLAN_REPOSITORY);

	*k = FIRST_KEEP_INIT;
	if (!m || !plan_mount_has_layers(m)) {
		fd_close(&dir);
		return error_set(e, -EPROTO, "first versions of a repository, and no layer for it");
	}
	struct plan_mount above = *m;
	_cleanup_free_ char *source = first_keep_folder_of(m->source);
	_cleanup_free_ struct plan_string *sealed = calloc(m->layers.count + 1, sizeof(*sealed));
	_cleanup_free_ char **texts = calloc(m->layers.count + 1, sizeof(*texts));
	int r = source && sealed && texts ? 0 : -ENOMEM;

	k->own = first_keep_folder_of(m->target);
	for (size_t i = 0; r == 0 && i < m->layers.count; i++) {
		texts[i] = first_keep_folder_of(m->layers.items[i].text);
		sealed[i].text = texts[i];
		r = texts[i] ? 0 : -ENOMEM;
	}
	if (r == 0 && k->own) {
		above.source = source;
		above.target = k->own;
		above.layers.items = sealed;
		above.ino = 0; /* what is known is .git itself */
		r = first_keep_begin_at(k, dir, &above, e);
	} else {
		fd_close(&dir);
		r = error_set(e, -ENOMEM, "no memory");
	}
	for (size_t i = 0; texts && i < m->layers.count; i++)
		free(texts[i]);
	return r;
}

void first_keep_see(struct first_keep *k, int root)
{
	if (k->dir >= 0 && !k->direct && k->seen < 0 && root >= 0)
		k->seen = open_in_root(root, k->inside, O_PATH | O_DIRECTORY);
}

void first_keep_fini(struct first_keep *k)
{
	twice_fini(&k->twice);
	for (size_t i = 0; i < k->layer_count; i++)
		fd_close(&k->layers[i]);
	free(k->layers);
	fd_close(&k->seen);
	fd_close(&k->dir);
	first_index_close(&k->index);
	first_index_close(&k->unseen);
	fd_close(&k->data);
	fd_close(&k->workspace);
	fd_close(&k->tree);
	touched_fini(&k->known);
	first_taken_fini(&k->taken);
	free(k->room);
	free(k->own);
	buf_fini(&k->attributes);
	*k = FIRST_KEEP_INIT;
}

/* --- contents ------------------------------------------------------------------------- */

/* What the box sees: in direct mode the real folder. */
static int first_keep_side(const struct first_keep *k)
{
	return k->direct ? k->workspace : k->seen;
}

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

	if (e->size > FIRST_KEEP_HASHED || hash_file(fd, FIRST_KEEP_HASHED, 0, &digest) < 0)
		return;
	memcpy(e->digest, digest.bytes, sizeof(e->digest));
	e->flags |= FIRST_HASHED;
}

/* Reads the whole file, hashes it and appends it to the packed contents. */
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

/* Copies one run of bytes. */
static int first_keep_copy_run(struct first_keep *k, int from, int to, off_t at, off_t end)
{
	off_t in = at, out = at;
	bool range = true;

	while (in < end) {
		size_t want = (size_t)(end - in);
		ssize_t n = range ? copy_file_range(from, &in, to, &out, want, 0)
				  : pread(from, k->room,
					  want < FIRST_KEEP_MERGE ? want : FIRST_KEEP_MERGE, in);

		if (n < 0 && range && errno != ENOSPC && errno != EDQUOT && errno != EIO) {
			range = false;
			continue;
		}
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		for (ssize_t done = 0; !range && done < n;) {
			ssize_t put = pwrite(to, k->room + done, (size_t)(n - done), in + done);

			if (put < 0)
				return -errno;
			done += put;
		}
		in += range ? 0 : n;
	}
	return 0;
}

/* Copies the content with its holes: a file of the user may be larger than the disk. */
static int first_keep_copy(struct first_keep *k, int from, int to, uint64_t size)
{
	struct stat st;

	for (off_t at = 0, end; at < (off_t)size; at = end) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);

		/* The filesystem does not tell holes: copy all of it. */
		at = data < 0 ? at : data;
		end = hole < 0 || hole > (off_t)size ? (off_t)size : hole;
		int r = first_keep_copy_run(k, from, to, at, end);

		if (r < 0)
			return r;
	}
	if (fstat(from, &st) < 0 || ftruncate(to, (off_t)size) < 0)
		return -errno;
	/* Somebody shortened it meanwhile, by another name. */
	return (uint64_t)st.st_size < size ? -ESTALE : 0;
}

/* Keeps the content as a file of its own.  It shares the blocks if the filesystem can, else it is a
 * copy.  blocks: their bytes. */
static void first_keep_apart(struct first_keep *k, struct first_entry *e, int fd, uint64_t blocks)
{
	char name[17];
	_cleanup_fd_ int file = -1;

	/* A recorder that was killed may have left a file that no entry names. */
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
	bool room = shared || (blocks <= k->limit && k->kept <= k->limit - blocks);
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
	k->kept += shared ? 0 : blocks;
}

/*
 * Whether the snapshot has the file as it is: the same inode, unchanged since.  False for a file
 * that was changed at the moment when the snapshot was made.
 */
static bool first_keep_is_in_tree(const struct first_keep *k, const struct first_entry *e,
				  const char *path)
{
	_cleanup_fd_ int fd = k->tree < 0 || e->ctime >= k->tree_made
				      ? -1
				      : open_beneath(k->tree, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == e->ino &&
	       (uint64_t)st.st_size == e->size && CLOCK_NS(st.st_ctim) == e->ctime &&
	       CLOCK_NS(st.st_mtim) == e->mtime;
}

static void first_keep_content(struct first_keep *k, struct first_entry *e, const char *path)
{
	if (first_keep_is_in_tree(k, e, path)) {
		e->flags |= FIRST_IN_TREE;
		return;
	}
	_cleanup_fd_ int fd = open_beneath(first_keep_side(k), path,
					   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	/* It is another file by now, or we cannot read it. */
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != e->ino || st.st_dev != e->dev) {
		first_keep_lack(k, e, FIRST_WHY_UNREADABLE);
		return;
	}
	uint64_t blocks = (uint64_t)st.st_blocks * 512;
	bool holes = e->size >= FIRST_KEEP_BLOCK && blocks < e->size;

	if (e->size <= (k->direct ? FIRST_KEEP_PACKED : FIRST_KEEP_MERGE) && k->kept <= k->limit &&
	    !(k->direct && holes))
		first_keep_pack(k, e, fd);
	else if (k->direct)
		first_keep_apart(k, e, fd, holes ? blocks : e->size);
	else {
		first_keep_lack(k, e,
				e->size > FIRST_KEEP_MERGE ? FIRST_WHY_LARGE : FIRST_WHY_LIMIT);
		first_keep_hash(e, fd);
	}
	/* Somebody changed it while we read it: we kept what it was after that. */
	if (k->direct && fstat(fd, &st) == 0)
		e->ctime = CLOCK_NS(st.st_ctim);
}

/* Direct: keeps the access list and the attributes, after the contents.  Nobody knows those of what
 * we cannot read.  When there is no room for them, the change is refused. */
static void first_keep_attributes(struct first_keep *k, struct first_entry *e)
{
	bool folder = e->kind == FIRST_DIR;
	_cleanup_fd_ int fd =
		k->direct && (folder || e->kind == FIRST_FILE)
			? open_beneath(k->workspace, e->path,
				       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
			: -1;
	struct stat st;

	buf_clear(&k->attributes);
	k->attributes.error = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != e->ino || st.st_dev != e->dev ||
	    attributes_read(fd, &k->attributes) < 0)
		return;
	size_t len = k->attributes.len;
	ssize_t n = len ? pwrite(k->data, k->attributes.ptr, len, (off_t)k->packed) : 0;

	if (n < 0 || (size_t)n != len) {
		if (!(e->flags & FIRST_END))
			k->refused = FIRST_WHY_FAILED;
		return;
	}
	e->flags |= FIRST_LISTED;
	e->has_at = len ? k->packed : 0;
	e->has_len = (uint32_t)len;
	k->packed += len;
	k->kept += len;
}

/* --- a path --------------------------------------------------------------------------- */

/* Enters e.  False: that failed. */
static bool first_keep_put(struct first_keep *k, const struct first_entry *e)
{
	bool end = e->flags & FIRST_END;
	enum first_why why = first_index_put(&k->index, e, end ? FIRST_INDEX_MAX : k->enter_limit);

	if (why && k->direct && !end)
		k->refused = why;
	else if (why)
		k->why = k->unkept++ == 0 ? why : k->why;
	return !why;
}

static unsigned int first_keep_kind(mode_t mode)
{
	return S_ISREG(mode)   ? FIRST_FILE
	       : S_ISDIR(mode) ? FIRST_DIR
	       : S_ISLNK(mode) ? FIRST_LINK
			       : FIRST_OTHER;
}

static void first_keep_stat(struct first_entry *e, const struct stat *st)
{
	e->kind = first_keep_kind(st->st_mode);
	e->mode = st->st_mode & 07777;
	e->uid = st->st_uid;
	e->gid = st->st_gid;
	e->links = (uint32_t)st->st_nlink;
	e->size = (uint64_t)st->st_size;
	e->dev = st->st_dev;
	e->ino = st->st_ino;
	e->mtime = CLOCK_NS(st->st_mtim);
	e->ctime = CLOCK_NS(st->st_ctim);
	e->atime = CLOCK_NS(st->st_atim);
}

/* When a file was made that has several names or, in direct mode, may have had them (first.h); 0:
 * unknown. */
static int64_t first_keep_born(const struct first_keep *k, const struct first_entry *e, int fd)
{
	int64_t now = clock_ns(CLOCK_REALTIME_COARSE);
	bool asked = e->kind == FIRST_FILE && (k->direct || e->links > 1);
	int64_t born = asked ? first_born(fd, "") : 0;

	return born < now ? born : 0;
}

/* What is there, without its content.  0; -ELOOP: there is a link on the way; or another -errno.
 * text gets what a link says. */
static int first_keep_look(const struct first_keep *k, int side, const char *path,
			   struct first_entry *ret, char text[FIRST_PATH_MAX])
{
	_cleanup_fd_ int fd = open_beneath(side, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	text[0] = '\0';
	*ret = (struct first_entry){
		.flags = k->direct ? FIRST_DIRECT : 0, .path = path, .text = text};
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	first_keep_stat(ret, &st);
	ret->born = first_keep_born(k, ret, fd);
	if (ret->kind == FIRST_LINK) {
		ssize_t n = readlinkat(fd, "", text, FIRST_PATH_MAX - 1);

		text[n > 0 ? n : 0] = '\0';
	}
	return 0;
}

/* The part below the workspace; NULL: it is elsewhere, or too long, or the workspace itself. */
static const char *first_keep_below(const struct first_keep *k, struct span path)
{
	size_t len = strlen(k->inside);

	if (k->dir < 0 || path.len <= len + 1 || path.len - len > FIRST_PATH_MAX ||
	    memcmp(path.ptr, k->inside, len) != 0 || path.ptr[len] != '/')
		return NULL;
	return (const char *)path.ptr + len + 1;
}

/* Enters the workspace's own folder, once: its mode and time. */
static void first_keep_top(struct first_keep *k)
{
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (k->top)
		return;
	k->top = first_keep_look(k, k->workspace, ".", &e, text) < 0 || e.kind != FIRST_DIR;
	e.flags |= FIRST_META;
	if (!k->top) {
		first_keep_attributes(k, &e);
		k->top = first_keep_put(k, &e);
	}
}

/* A name in a folder is about to change, and so is the folder's time: enters the folder. */
static void first_keep_folder(struct first_keep *k, struct span path)
{
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
	first_keep_top(k);
}

/* Whether a layer has something there: the session, or an earlier run of it, made it. */
static bool first_keep_is_own(const struct first_keep *k, const char *path)
{
	bool own = false;

	for (size_t i = k->layer_count; !own && i-- > 0;) {
		_cleanup_fd_ int fd = open_beneath(k->layers[i], path, O_PATH | O_NOFOLLOW, 0);

		own = fd >= 0;
	}
	return own;
}

/* Whether the layers of earlier runs decide what is at a path, also by having removed the folder
 * that it was in.  The last layer is this run's own. */
static bool first_keep_is_decided(const struct first_keep *k, const char *path)
{
	for (size_t i = k->layer_count ? k->layer_count - 1 : 0; i-- > 0;) {
		char part[FIRST_PATH_MAX], opaque = 0;
		int r = 0;

		(void)snprintf(part, sizeof(part), "%s", path);
		/* From the path itself up to the layer's top. */
		do {
			_cleanup_fd_ int fd =
				open_beneath(k->layers[i], part, O_RDONLY | O_DIRECTORY, 0);
			char *slash = strrchr(part, '/');

			r = fd < 0 ? fd : 0;
			if (r != -ENOENT && (strlen(part) == strlen(path) || r == -ENOTDIR))
				return true;
			if (r == 0 && fgetxattr(fd, "user.overlay.opaque", &opaque, 1) == 1 &&
			    opaque == 'y')
				return true;
			*(slash ? slash : part) = '\0';
		} while (*part);
	}
	return false;
}

/*
 * Review: the box saw something that is the session's already, so it was changed by a name, or in a
 * way, that nobody told us of.  Nobody knows what a file was before.  But when the workspace has a
 * directory or nothing there, no content can be wrong: true.
 */
static bool first_keep_look_beneath(const struct first_keep *k, const char *path,
				    struct first_entry *ret, char text[FIRST_PATH_MAX])
{
	unsigned int again = ret->flags & FIRST_AGAIN;
	int r = first_keep_look(k, k->workspace, path, ret, text);

	ret->flags |= again;
	return r == 0 && (ret->kind == FIRST_DIR || ret->kind == FIRST_ABSENT);
}

/* The change is refused: removes the content that was kept for it.  entered: where the index ended
 * before.  If the folder's own attributes were written after the content, it stays. */
static void first_keep_drop(struct first_keep *k, const struct first_entry *e, uint64_t entered)
{
	char name[17];

	(void)snprintf(name, sizeof(name), "%016llx", (unsigned long long)e->at);
	if (e->flags & FIRST_APART)
		(void)unlinkat(k->dir, name, 0);
	if (e->flags & FIRST_PACKED && k->index.len == entered)
		k->packed = e->at;
}

/* Keeps what is at a path that is not known yet. */
static void first_keep_take(struct first_keep *k, struct span path, struct first_entry *e,
			    bool meta, char text[FIRST_PATH_MAX])
{
	const uint64_t kept = k->kept, unkept = k->unkept, entered = k->index.len;
	const char *below = e->path;

	if (!meta && e->kind == FIRST_FILE)
		first_keep_content(k, e, below);
	if (k->direct && e->size > 0 &&
	    (e->why == FIRST_WHY_UNREADABLE || e->why == FIRST_WHY_FAILED))
		k->refused = e->why;
	if (!k->refused)
		first_keep_attributes(k, e);
	/* Also when a file is written in place: undo puts another file there. */
	if (!meta && !k->refused)
		first_keep_folder(k, path);
	if (meta)
		e->flags |= FIRST_META;
	/* We ask this last, so that nobody can come between. */
	if (!k->refused && (e->kind == FIRST_ABSENT || !first_keep_is_own(k, below) ||
			    first_keep_look_beneath(k, below, e, text)))
		(void)first_keep_put(k, e);
	if (!k->refused) {
		touched_add(&k->known, path, meta ? TOUCHED_META : TOUCHED_MADE);
		return;
	}
	first_keep_drop(k, e, entered);
	k->kept = kept;
	k->unkept = unkept;
}

/* Enters a file that is not the session's as it is; once, however often somebody asks. */
static void first_keep_as_is(struct first_keep *k, const char *path)
{
	char key[FIRST_PATH_MAX + 4096], text[FIRST_PATH_MAX];
	struct first_entry e;

	if (first_keep_look(k, k->seen, path, &e, text) < 0 || e.kind != FIRST_FILE ||
	    first_keep_is_own(k, path))
		return;
	/* No path has two slashes.  Another file by this name gets another key. */
	int n = snprintf(key, sizeof(key), "%s//%s//%llu.%lld.%llu", k->inside, path,
			 (unsigned long long)e.ino, (long long)e.ctime, (unsigned long long)e.size);
	struct span known = {(const uint8_t *)key, n > 0 ? (size_t)n : 0};

	if (n <= 0 || (size_t)n >= sizeof(key) || touched_effects(&k->known, known))
		return;
	touched_add(&k->known, known, TOUCHED_MADE);
	first_keep_content(k, &e, path);
	e.flags |= FIRST_AGAIN;
	first_keep_put(k, &e);
}

/* Review: a ref without a file may be in packed-refs.  What the session found is there, and the
 * user may pack refs again before the session ends. */
static void first_keep_packed_refs(struct first_keep *k, const char *below)
{
	static const char refs[] = "refs/", packed[] = "packed-refs";

	for (const char *at = below; (at = strstr(at, refs)); at++) {
		char path[FIRST_PATH_MAX + sizeof(packed)];

		if (at > below && at[-1] != '/')
			continue;
		(void)snprintf(path, sizeof(path), "%.*s%s", (int)(at - below), below, packed);
		first_keep_as_is(k, path);
	}
}

/* Whether the folder of a name is there: 0.  -ENOENT: it is not, so the call fails; if the call
 * comes again once there is one, we look then.  -ELOOP: there is a link on the way by now. */
static int first_keep_above(const struct first_keep *k, const char *path)
{
	char above[FIRST_PATH_MAX];
	char *slash = NULL;

	(void)snprintf(above, sizeof(above), "%s", path);
	slash = strrchr(above, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	_cleanup_fd_ int fd = open_beneath(first_keep_side(k), above, O_PATH | O_DIRECTORY, 0);

	return fd == -ENOTDIR ? -ENOENT : fd == -ENOENT || fd == -ELOOP ? fd : 0;
}

/* Direct: sets the index's time whenever the session is about to change something.  When a session
 * is killed, nothing else tells when it ended (settle.h). */
static void first_keep_stamp(struct first_keep *k)
{
	int64_t now = clock_ms(CLOCK_BOOTTIME);

	if (!k->direct || now < k->stamp)
		return;
	k->stamp = now + FIRST_KEEP_STAMP_MS;
	(void)futimens(k->index.fd, NULL);
}

bool first_keep_path(struct first_keep *k, struct span path, enum first_change change)
{
	const char *below = first_keep_below(k, path);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (!below) {
		if (k->direct && span_equal(path, span_of_str(k->inside)))
			first_keep_top(k);
		return true;
	}
	first_keep_stamp(k);
	bool meta = change == FIRST_CHANGE_META;
	unsigned int known = touched_effects(&k->known, path);

	if (known & (meta ? TOUCHED_MADE | TOUCHED_META : TOUCHED_MADE))
		return true;
	if (known & FIRST_KEEP_EARLIER && first_keep_is_decided(k, below)) {
		touched_add(&k->known, path, TOUCHED_MADE);
		return true;
	}
	int r = first_keep_look(k, first_keep_side(k), below, &e, text);

	if (r == -ELOOP)
		return false;
	/* Review does not go backwards through the entries: there it does not matter. */
	int above = r == 0 && k->direct && e.kind == FIRST_ABSENT ? first_keep_above(k, below) : 0;

	if (above == -ELOOP)
		return false;
	if (r < 0 || above < 0)
		return true;
	if (!k->direct && !(known & TOUCHED_META))
		e.flags |= FIRST_AGAIN;
	if (!k->direct && e.kind == FIRST_ABSENT)
		first_keep_packed_refs(k, below);
	/* overlayfs copies a file whole before it changes the mode: that copy is its first
	 * version. */
	first_keep_take(k, path, &e, meta && (k->direct || e.kind != FIRST_FILE), text);
	return true;
}

bool first_keep_is_folder(const struct first_keep *k, struct span path)
{
	const char *below = first_keep_below(k, path);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	return below && first_keep_look(k, first_keep_side(k), below, &e, text) == 0 &&
	       e.kind == FIRST_DIR;
}

bool first_keep_is_there(const struct first_keep *k, struct span path)
{
	const char *below = first_keep_below(k, path);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	return below && (first_keep_look(k, first_keep_side(k), below, &e, text) < 0 ||
			 e.kind != FIRST_ABSENT);
}

/* Finds a path's place.  False: it is elsewhere, there is a link on the way, or nobody can tell. */
static bool first_keep_place(const struct first_keep *k, struct span path, struct first_place *ret)
{
	const char *below = k->direct ? first_keep_below(k, path) : NULL;

	return below && first_taken_find(&k->taken, k->workspace, below, ret) == 0;
}

void first_keep_came(struct first_keep *k, struct span path, bool fails)
{
	struct first_place at;

	if (k->taken.count > 0 && first_keep_place(k, path, &at))
		first_taken_came(&k->taken, &at, fails);
}

void first_keep_gone(struct first_keep *k, struct span path)
{
	struct first_place at;

	if (first_keep_place(k, path, &at))
		first_taken_gone(&k->taken, &at);
}

/* Enters one thing in a folder that is about to be moved, without its content. */
static void first_keep_passing(void *context, const char *below)
{
	struct first_keep *k = context;
	char whole[FIRST_PATH_MAX + 4096], text[FIRST_PATH_MAX];
	struct first_entry e;
	int n = snprintf(whole, sizeof(whole), "%s/%s", k->inside, below);
	struct span path = {(const uint8_t *)whole, n > 0 ? (size_t)n : 0};

	if (n <= 0 || (size_t)n >= sizeof(whole) ||
	    touched_effects(&k->known, path) & ~(unsigned int)TOUCHED_CHILD ||
	    first_keep_look(k, k->seen, below, &e, text) < 0 ||
	    (first_keep_is_own(k, below) && !first_keep_look_beneath(k, below, &e, text)))
		return;
	touched_add(&k->known, path, TOUCHED_MADE);
	e.flags |= FIRST_AGAIN;
	(void)first_keep_put(k, &e);
}

/* Calls found for all that is in a folder. */
static void first_keep_beneath(int side, const char *below, unsigned int depth,
			       void (*found)(void *context, const char *path), void *context)
{
	_cleanup_dir_ DIR *dir =
		dir_read(open_beneath(side, below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0), NULL);

	for (const struct dirent *d; (d = dir_next(dir, NULL));) {
		char path[FIRST_PATH_MAX];
		int n = snprintf(path, sizeof(path), "%s/%s", below, d->d_name);

		if (n < 0 || (size_t)n >= sizeof(path))
			continue;
		found(context, path);
		if (d->d_type == DT_DIR && depth < FIRST_KEEP_DEPTH)
			first_keep_beneath(side, path, depth + 1, found, context);
	}
}

void first_keep_moved(struct first_keep *k, struct span from, struct span to, bool exchanged)
{
	const char *below = first_keep_below(k, from), *then = first_keep_below(k, to);
	char text[FIRST_PATH_MAX];
	struct first_entry e, real;
	struct first_place left, came;

	if (!below || !then || first_keep_look(k, first_keep_side(k), below, &e, text) < 0)
		return;
	/* In review mode each file in the folder leaves its path, and overlayfs does not rename. */
	if (!k->direct && e.kind == FIRST_DIR &&
	    first_keep_look(k, k->workspace, below, &real, text) == 0 && real.kind == FIRST_DIR)
		first_keep_beneath(k->seen, below, 0, first_keep_passing, k);
	e.kind = FIRST_MOVED;
	e.flags |= exchanged ? FIRST_EXCHANGED : 0;
	e.text = then;
	first_keep_folder(k, from);
	first_keep_folder(k, to);
	/* From here on names in the real folder mean other things. */
	if (!k->refused && first_keep_put(k, &e) && k->direct) {
		touched_fini(&k->known);
		(void)touched_init(&k->known);
		first_taken_list(&k->taken, k->workspace, below, k->began);
		if (exchanged)
			first_taken_list(&k->taken, k->workspace, then, k->began);
		if (first_keep_place(k, from, &left) && first_keep_place(k, to, &came))
			first_taken_moved(&k->taken, &left, &came, exchanged);
	}
}

void first_keep_moved_file(struct first_keep *k, struct span from, struct span to)
{
	const char *below = k->direct ? NULL : first_keep_below(k, from);
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (!below || !first_keep_below(k, to) || k->moves >= FIRST_KEEP_MOVES ||
	    (!(touched_effects(&k->known, from) & FIRST_KEEP_CAME) &&
	     (first_keep_look(k, k->workspace, below, &e, text) < 0 || e.kind != FIRST_FILE)))
		return;
	k->moves++;
	touched_add(&k->known, to, FIRST_KEEP_CAME);
	first_keep_moved(k, from, to, false);
}

/* --- end ------------------------------------------------------------------------------ */

struct first_leave {
	struct first_keep *k;
	const struct first *f;
	int64_t deadline;
};

/* Whether what is there is not the box's. */
static bool first_keep_was_taken(const struct first_keep *k, const char *path)
{
	struct first_place at;

	return k->taken.count > 0 && first_taken_find(&k->taken, k->workspace, path, &at) == 0 &&
	       first_taken_is(&k->taken, &at);
}

static void first_keep_left(struct first_leave *l, const char *path)
{
	struct first_keep *k = l->k;
	char text[FIRST_PATH_MAX];
	struct first_entry e;

	if (first_keep_look(k, k->workspace, path, &e, text) < 0)
		return;
	if (first_keep_was_taken(k, path))
		e = (struct first_entry){.kind = FIRST_ABSENT,
					 .flags = e.flags & FIRST_DIRECT,
					 .path = e.path,
					 .text = ""};
	e.flags |= FIRST_END;
	_cleanup_fd_ int fd =
		e.kind == FIRST_FILE && clock_ms(CLOCK_BOOTTIME) < l->deadline
			? open_beneath(k->workspace, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
			: -1;

	if (fd >= 0)
		first_keep_hash(&e, fd);
	first_keep_attributes(k, &e);
	(void)first_keep_put(k, &e);
}

static int first_keep_on_path(void *context, const char *path)
{
	struct first_leave *l = context;
	struct first_entry earliest;

	/* The path may only be the other end of a rename: then there is nothing to say. */
	if (first_find(l->f, path, &earliest) >= 0)
		first_keep_left(l, path);
	return 0;
}

/* Marks the path as known.  False: it was, or there is no time to look at it. */
static bool first_keep_is_new(const struct first_leave *l, const char *path)
{
	char whole[FIRST_PATH_MAX + 4096];
	int n = snprintf(whole, sizeof(whole), "%s/%s", l->k->inside, path);
	struct span name = {(const uint8_t *)whole, n > 0 ? (size_t)n : 0};

	if (n <= 0 || (size_t)n >= sizeof(whole) || clock_ms(CLOCK_BOOTTIME) >= l->deadline ||
	    touched_effects(&l->k->known, name) & TOUCHED_MADE)
		return false;
	touched_add(&l->k->known, name, TOUCHED_MADE);
	return true;
}

/* What moved along with a folder: no entry is about it. */
static void first_keep_on_along(void *context, const char *path)
{
	struct first_leave *l = context;
	struct first_entry earliest;

	if (first_keep_is_new(l, path) && first_find(l->f, path, &earliest) < 0)
		first_keep_left(l, path);
}

static int first_keep_on_moved(void *context, size_t i, const struct first_entry *e)
{
	struct first_leave *l = context;

	(void)i;
	if (e->kind != FIRST_MOVED)
		return 0;
	if (first_keep_is_new(l, e->text))
		first_keep_beneath(l->k->workspace, e->text, 0, first_keep_on_along, l);
	if (e->flags & FIRST_EXCHANGED && first_keep_is_new(l, e->path))
		first_keep_beneath(l->k->workspace, e->path, 0, first_keep_on_along, l);
	return 0;
}

/* Enters how things were left that moved with their folder, so that undo can tell them from what
 * somebody moves there later. */
static int first_keep_along(struct first_leave *l)
{
	touched_fini(&l->k->known);
	int r = touched_init(&l->k->known);

	return r < 0 ? r : first_each(l->f, first_keep_on_moved, l);
}

/* Numbers of the files that were changed and had several names. */
struct first_numbers {
	struct first_leave *leave;
	uint64_t *items; /* sorted */
	size_t count;
};

static int first_keep_on_many(void *context, size_t i, const struct first_entry *e)
{
	struct first_numbers *n = context;

	(void)i;
	if (e->kind == FIRST_FILE && e->links > 1 && !(e->flags & FIRST_END))
		n->items[n->count++] = e->ino;
	return 0;
}

static int first_keep_on_name(void *context, const struct first_name *name)
{
	const struct first_numbers *n = context;
	struct first_entry earliest;
	uint64_t ino = name->st.st_ino;

	if (bsearch(&ino, n->items, n->count, sizeof(ino), order_u64) &&
	    first_find(n->leave->f, name->path, &earliest) < 0)
		first_keep_left(n->leave, name->path);
	return 0;
}

/* Who writes a file by one name changes it under all names, also those that nobody told us of.
 * Enters how these are left, so that undo knows them even if the file's number changes. */
static int first_keep_other_names(struct first_leave *l)
{
	struct first_numbers n = {.leave = l, .items = calloc(l->f->count + 1, sizeof(*n.items))};
	int r = n.items ? first_each(l->f, first_keep_on_many, &n) : -ENOMEM;

	if (r == 0 && n.count > 0) {
		qsort(n.items, n.count, sizeof(*n.items), order_u64);
		r = first_names_each(l->k->workspace, first_keep_on_name, &n);
	}
	free(n.items);
	return r;
}

int first_keep_end(struct first_keep *k)
{
	_cleanup_first_ struct first f = FIRST_INIT;
	struct error e = ERROR_INIT;

	if (k->dir < 0)
		return 0;
	/* This descriptor is in the box's own mounts, which go with the box. */
	fd_close(&k->seen);
	int r = k->direct ? first_open(k->dir, &f, &e) : 0;
	struct first_leave l = {
		.k = k, .f = &f, .deadline = clock_ms(CLOCK_BOOTTIME) + FIRST_KEEP_PATIENCE_MS};

	if (r == 0 && k->direct)
		r = first_each_path(&f, first_keep_on_path, &l);
	if (r == 0 && k->direct)
		r = first_keep_along(&l);
	if (r == 0 && k->direct)
		r = first_keep_other_names(&l);
	if (fdatasync(k->data) < 0 || fdatasync(k->index.fd) < 0)
		return -errno;
	return r;
}

int first_keep_unseen(struct first_keep *k, const char *path, uint32_t mode)
{
	const struct first_entry e = {.kind = mode ? first_keep_kind(mode) : FIRST_ABSENT,
				      .flags = FIRST_DIRECT,
				      .why = FIRST_WHY_UNSEEN,
				      .mode = mode & 07777,
				      .path = path,
				      .text = ""};
	int r = k->unseen.fd < 0 ? first_index_open_unseen(&k->unseen, k->dir) : 0;

	if (r < 0)
		return r;
	return first_index_put(&k->unseen, &e, FIRST_KEEP_UNSEEN) ? -ENOSPC : 0;
}
