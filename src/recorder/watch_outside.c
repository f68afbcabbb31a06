/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_outside.h"

#include "array.h"
#include "buf.h"
#include "clock.h"
#include "fd.h"
#include "fnv.h"
#include "open.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WATCH_OUTSIDE_LINKS = 40,
	WATCH_OUTSIDE_MOUNTS = 1 << 20,
	WATCH_OUTSIDE_CHUNK = 32 << 10,
};

/* --- mounts --------------------------------------------------------------------------- */

/* Filesystems that keep their files here.  We do not enter one that is not in this list. */
static const char *const watch_outside_local[] = {
	"ext2",   "ext3",    "ext4",       "xfs",     "btrfs",    "bcachefs", "f2fs",     "zfs",
	"jfs",    "tmpfs",   "ramfs",      "rootfs",  "devtmpfs", "overlay",  "sysfs",    "proc",
	"cgroup", "cgroup2", "securityfs", "debugfs", "tracefs",  "configfs", "devpts",   "mqueue",
	"vfat",   "exfat",   "ntfs3",      "iso9660", "udf",      "erofs",    "squashfs",
};

/* Compares a name of the table, in which \040 is a blank. */
static bool watch_outside_is_name(const char *said, size_t len, const char *place)
{
	for (size_t i = 0; i < len; place++) {
		char c = said[i++];

		if (c == '\\' && i + 3 <= len) {
			c = (char)((said[i] - '0') << 6 | (said[i + 1] - '0') << 3 |
				   (said[i + 2] - '0'));
			i += 3;
		}
		if (c != *place || c == '\0')
			return false;
	}
	return *place == '\0';
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw" */
bool watch_outside_is_local(const char *mounts, const char *place)
{
	bool local = false;

	for (const char *line = mounts, *end; *line; line = *end ? end + 1 : end) {
		const char *at = line;

		end = strchrnul(line, '\n');
		for (int i = 0; i < 4 && at < end; i++)
			at += strcspn(at, " \n") + 1;
		const char *kind = at < end ? memmem(at, (size_t)(end - at), " - ", 3) : NULL;

		if (!kind || !watch_outside_is_name(at, strcspn(at, " "), place))
			continue;
		size_t len = strcspn(kind += 3, " \n");

		/* The last one covers those before it. */
		local = false;
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(watch_outside_local); i++)
			local |= strlen(watch_outside_local[i]) == len &&
				 memcmp(kind, watch_outside_local[i], len) == 0;
	}
	return local;
}

static bool watch_outside_may_enter(const char *place)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WATCH_OUTSIDE_MOUNTS);

	return fd_read_file_at(AT_FDCWD, "/proc/self/mountinfo", &text) == 0 &&
	       watch_outside_is_local(buf_str(&text), place);
}

/* --- lists ---------------------------------------------------------------------------- */

static uint64_t watch_outside_hash(const char *name)
{
	return fnv64_bytes(FNV64_START, name, strlen(name));
}

static int watch_outside_order(const void *a, const void *b)
{
	const struct watch_outside_name *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static void watch_outside_forget(struct watch_outside_folder *f)
{
	free(f->path);
	free(f->names);
	*f = (struct watch_outside_folder){.path = NULL};
}

static void watch_outside_put(struct watch_outside_folder *f, const struct dirent64 *d)
{
	if (f->count == WATCH_OUTSIDE_NAMES || !ARRAY_GROW(f->names, f->count)) {
		f->partly = true;
		return;
	}
	f->names[f->count++] =
		(struct watch_outside_name){watch_outside_hash(d->d_name), d->d_type};
}

static void watch_outside_list(struct watch_outside_folder *f, int folder)
{
	static _Alignas(struct dirent64) char chunk[WATCH_OUTSIDE_CHUNK];
	_cleanup_fd_ int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && !f->partly && (n = getdents64(fd, chunk, sizeof(chunk))) > 0)
		for (ssize_t at = 0; at < n && !f->partly;) {
			const struct dirent64 *d = (const void *)(chunk + at);

			watch_outside_put(f, d);
			at += d->d_reclen;
		}
	f->partly |= n != 0;
	if (f->count)
		qsort(f->names, f->count, sizeof(*f->names), watch_outside_order);
}

/* The list of an open folder, as it is now; NULL: there is no memory, or it is no folder. */
static const struct watch_outside_folder *watch_outside_look(struct watch_outsides *o, int folder,
							     const char *path)
{
	struct watch_outside_folder *f = NULL;
	struct stat st;

	if (fstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return NULL;
	for (size_t i = 0; !f && i < WATCH_OUTSIDE_FOLDERS; i++)
		if (o->folders[i].path && str_equal(o->folders[i].path, path))
			f = &o->folders[i];
	int64_t mtime = CLOCK_NS(st.st_mtim), ctime = CLOCK_NS(st.st_ctim);

	if (f && f->device == st.st_dev && f->inode == st.st_ino && f->mtime == mtime &&
	    f->ctime == ctime)
		return f;
	if (!f)
		f = &o->folders[o->next++ % WATCH_OUTSIDE_FOLDERS];
	watch_outside_forget(f);
	*f = (struct watch_outside_folder){.path = strdup(path),
					   .device = st.st_dev,
					   .inode = st.st_ino,
					   .mtime = mtime,
					   .ctime = ctime};
	if (!f->path)
		return NULL;
	watch_outside_list(f, folder);
	return f;
}

/* --- the way -------------------------------------------------------------------------- */

struct watch_outside_walk {
	struct watch_outsides *all;
	int fd;                  /* where the walk is */
	char at[WATCH_PATH_MAX]; /* the path of that; "": the root */
	size_t len;
	char rest[2 * WATCH_PATH_MAX];
	int links;
};

static bool watch_outside_start(struct watch_outside_walk *w)
{
	fd_close(&w->fd);
	w->at[w->len = 0] = '\0';
	w->fd = w->all->local ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	return w->fd >= 0;
}

/* Enters what the list has; O_DIRECTORY would make an automounter mount something. */
static bool watch_outside_enter(struct watch_outside_walk *w, const char *part)
{
	int fd = open_within(w->fd, part, O_PATH | O_NOFOLLOW);

	if (fd == -EXDEV && watch_outside_may_enter(w->at))
		fd = open_beneath(w->fd, part, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	(void)close(w->fd);
	w->fd = fd;
	return true;
}

/* Puts the text of a link before what is left; the text is of this machine, like all that we
 * walk. */
static bool watch_outside_follow(struct watch_outside_walk *w, const char *part)
{
	char says[WATCH_PATH_MAX], whole[2 * WATCH_PATH_MAX], clean[WATCH_PATH_MAX];
	ssize_t n = readlinkat(w->fd, part, says, sizeof(says) - 1);

	if (n <= 0 || ++w->links > WATCH_OUTSIDE_LINKS)
		return false;
	says[n] = '\0';
	int put = snprintf(whole, sizeof(whole), "%s/%s", says, w->rest);

	/* A text that does not lead up goes on from here. */
	if (says[0] != '/' && !strstr(says, "..") && put >= 0 && (size_t)put < sizeof(whole) &&
	    watch_path_join("/", whole, clean, sizeof(clean)) > 0) {
		memcpy(w->rest, clean, strlen(clean) + 1);
		return true;
	}
	/* We clean by the letters: if a link with dots leads through another link, the result may
	 * be wrong, and then there is an event too many or too few. */
	if (put < 0 || (size_t)put >= sizeof(whole) ||
	    watch_path_join(w->len ? w->at : "/", whole, clean, sizeof(clean)) == 0)
		return false;
	memcpy(w->rest, clean, strlen(clean) + 1);
	return watch_outside_start(w);
}

static bool watch_outside_append(struct watch_outside_walk *w, const char *part)
{
	size_t n = strlen(part);

	if (w->len + n + 2 > sizeof(w->at))
		return false;
	w->at[w->len] = '/';
	memcpy(w->at + w->len + 1, part, n + 1);
	w->len += n + 1;
	return true;
}

/* What a folder has by this name: its type or DT_UNKNOWN; -1: nothing; -2: we do not know. */
static int watch_outside_has(const struct watch_outside_walk *w, const char *part)
{
	const struct watch_outside_folder *f =
		watch_outside_look(w->all, w->fd, w->len ? w->at : "/");
	const struct watch_outside_name want = {.hash = watch_outside_hash(part)};
	const struct watch_outside_name *found =
		f && f->count
			? bsearch(&want, f->names, f->count, sizeof(want), watch_outside_order)
			: NULL;
	char whole[WATCH_PATH_MAX];

	if (found)
		return found->type;
	if (!f || !f->partly)
		return f ? -1 : -2;
	/* A folder that can be searched and not listed: here we may use the plan's own names,
	 * because the box did not choose them. */
	int n = snprintf(whole, sizeof(whole), "%s/%s", w->at, part);

	return n > 0 && (size_t)n < sizeof(whole) && str_path_beneath(w->all->home, whole)
		       ? DT_UNKNOWN
		       : -2;
}

/* Walks one part; THERE: go on. */
static enum watch_outside watch_outside_step(struct watch_outside_walk *w, const char *part,
					     bool last)
{
	int type = watch_outside_has(w, part);
	struct stat st;

	if (type < 0)
		return type == -1 ? WATCH_OUTSIDE_NOTHING : WATCH_OUTSIDE_UNKNOWN;
	if (last)
		return watch_outside_append(w, part) ? WATCH_OUTSIDE_THERE : WATCH_OUTSIDE_UNKNOWN;
	if (type == DT_LNK)
		return watch_outside_follow(w, part) ? WATCH_OUTSIDE_THERE : WATCH_OUTSIDE_UNKNOWN;
	if ((type != DT_DIR && type != DT_UNKNOWN))
		return WATCH_OUTSIDE_NOTHING;
	if (!watch_outside_append(w, part) || !watch_outside_enter(w, part))
		return WATCH_OUTSIDE_UNKNOWN;
	return type == DT_DIR || (fstat(w->fd, &st) == 0 && S_ISDIR(st.st_mode))
		       ? WATCH_OUTSIDE_THERE
		       : WATCH_OUTSIDE_UNKNOWN;
}

enum watch_outside watch_outside_find(struct watch_outsides *o, const char *path,
				      char into[WATCH_PATH_MAX])
{
	struct watch_outside_walk w = {.all = o, .fd = -1};
	enum watch_outside r =
		watch_outside_start(&w) ? WATCH_OUTSIDE_THERE : WATCH_OUTSIDE_UNKNOWN;
	char part[NAME_MAX + 1];

	if (strlen(path) >= WATCH_PATH_MAX)
		r = WATCH_OUTSIDE_UNKNOWN;
	else
		memcpy(w.rest, path, strlen(path) + 1);
	while (r == WATCH_OUTSIDE_THERE) {
		char *at = w.rest + strspn(w.rest, "/");
		size_t n = strcspn(at, "/");

		if (n == 0)
			break;
		if (n > NAME_MAX) {
			r = WATCH_OUTSIDE_NOTHING;
			break;
		}
		memcpy(part, at, n);
		part[n] = '\0';
		at += n + strspn(at + n, "/");
		memmove(w.rest, at, strlen(at) + 1);
		r = watch_outside_step(&w, part, w.rest[0] == '\0');
	}
	if (r == WATCH_OUTSIDE_THERE)
		(void)snprintf(into, WATCH_PATH_MAX, "%s", w.len ? w.at : "/");
	fd_close(&w.fd);
	return r;
}

void watch_outsides_init(struct watch_outsides *o, const struct plan *plan)
{
	o->home = plan->home;
	o->local = watch_outside_may_enter("/");
}

void watch_outsides_fini(struct watch_outsides *o)
{
	for (size_t i = 0; i < WATCH_OUTSIDE_FOLDERS; i++)
		watch_outside_forget(&o->folders[i]);
}
