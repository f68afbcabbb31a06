/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at, copies and moves one object on the disk.  Nothing here follows a link. */
#include "attributes.h"
#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	LAND_CHUNK = 1 << 15,
	LAND_CLONE_LEAST = 1 << 16,
	LAND_ATTRIBUTES_MAX = 64 << 10, /* the kernel's limit for a value, and for all names */
};

int land_look(int dir, const char *name, struct land_seen *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	struct statx st;

	*ret = (struct land_seen){.o = {.type = OBJECT_ABSENT}};
	if (statx(dir, name, flags, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret = (struct land_seen){
		.o = {.type = object_type_of(st.stx_mode),
		      .mode = st.stx_mode & 07777,
		      .size = S_ISDIR(st.stx_mode) ? 0 : st.stx_size,
		      .mtime = CLOCK_NS(st.stx_mtime),
		      .ino = st.stx_ino},
		.ctime = CLOCK_NS(st.stx_ctime),
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.links = st.stx_nlink,
		.mount = st.stx_mask & STATX_MNT_ID
				 ? st.stx_mnt_id
				 : (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
	};
	return 0;
}

bool land_is(const struct journal_object *o, const struct land_seen *s)
{
	if (o->type == OBJECT_ABSENT || o->type != s->o.type || o->ino != s->o.ino)
		return false;
	return o->type == OBJECT_DIR || (o->size == s->o.size && o->mtime == s->o.mtime);
}

int land_open(int dir, const char *name)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
	int fd = open_beneath(dir, name, flags | O_NOATIME, 0);

	return fd == -EPERM ? open_beneath(dir, name, flags, 0) : fd;
}

/* Copies one run of bytes; -ESTALE: the file was cut short meanwhile. */
static int copy_run(int from, int to, uint64_t at, uint64_t end)
{
	uint8_t chunk[LAND_CHUNK];

	while (at < end) {
		size_t want = end - at < sizeof(chunk) ? (size_t)(end - at) : sizeof(chunk);
		ssize_t n = pread(from, chunk, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		for (ssize_t done = 0; done < n;) {
			ssize_t put =
				pwrite(to, chunk + done, (size_t)(n - done), (off_t)at + done);

			if (put < 0 && errno != EINTR)
				return -errno;
			done += put > 0 ? put : 0;
		}
		at += (uint64_t)n;
	}
	return 0;
}

/* Copies the data.  The copy has holes where the source has them. */
static int copy_runs(int from, int to, uint64_t size)
{
	for (uint64_t at = 0, end; at < size; at = end) {
		off_t data = lseek(from, (off_t)at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);

		/* The filesystem does not know its holes: copy all. */
		at = data < 0 ? at : (uint64_t)data;
		end = hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
		int r = copy_run(from, to, at, end);

		if (r < 0)
			return r;
	}
	return ftruncate(to, (off_t)size) < 0 ? -errno : 0;
}

int land_copy(int from, int to, uint8_t ret[SHA256_SIZE], uint64_t *ret_size)
{
	struct stat st;

	if (fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESTALE;
	if (to < 0)
		return changes_hash(from, ret, ret_size);
	if (st.st_size < LAND_CLONE_LEAST || ioctl(to, FICLONE, from) < 0) {
		int r = copy_runs(from, to, (uint64_t)st.st_size);

		if (r < 0)
			return r;
	}
	/* We hash the copy, so a write to the source meanwhile has no effect. */
	return changes_hash(to, ret, ret_size);
}

void land_digest(const char *text, uint8_t ret[SHA256_SIZE])
{
	struct sha256 hash;

	sha256_begin(&hash);
	sha256_add(&hash, span_of_str(text));
	sha256_end(&hash, ret);
}

int land_link(int dir, const char *name, char ret[PATH_MAX], uint8_t ret_digest[SHA256_SIZE])
{
	ssize_t n = readlinkat(dir, name, ret, PATH_MAX - 1);

	if (n < 0)
		return errno == EINVAL ? -ESTALE : -errno;
	ret[n] = '\0';
	land_digest(ret, ret_digest);
	return 0;
}

int land_copy_attributes(int from, int to)
{
	static char names[LAND_ATTRIBUTES_MAX], value[LAND_ATTRIBUTES_MAX];
	ssize_t len = flistxattr(from, names, sizeof(names));
	int copied = 0;

	if (len <= 0)
		return len == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	for (const char *name = names; name < names + len; name += strlen(name) + 1) {
		if (!str_after(name, "user.") || str_after(name, "user.overlay."))
			continue;
		ssize_t n = fgetxattr(from, name, value, sizeof(value));

		if (n < 0 && errno != ENODATA)
			return -errno;
		/* A filesystem without attributes takes none. */
		if (n >= 0 && fsetxattr(to, name, value, (size_t)n, 0) < 0 && errno != EOPNOTSUPP)
			return -errno;
		copied++;
	}
	return copied;
}

int land_put_has(int fd, const struct land_has *has)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_uid != has->uid || st.st_gid != has->gid) &&
	    fchown(fd, has->uid, has->gid) < 0 && fchown(fd, (uid_t)-1, has->gid) < 0 &&
	    errno != EPERM)
		return -errno;
	return attributes_set(fd, has->attributes);
}

int land_read_has(int fd, struct buf *into)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	buf_put_u32(into, st.st_uid);
	buf_put_u32(into, st.st_gid);
	return attributes_read(fd, into);
}

int land_parse_has(struct span bytes, struct land_has *ret)
{
	struct reader in = reader_of(bytes);

	*ret = (struct land_has){.uid = reader_u32(&in), .gid = reader_u32(&in)};
	ret->attributes = reader_take(&in, reader_left(&in));
	return in.bad ? -EBADMSG : 0;
}

int land_chmod(int fd, uint32_t mode)
{
	char path[64];

	if (fchmod(fd, mode) == 0)
		return 0;
	if (errno != EBADF)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode) < 0 ? -errno : 0;
}

int land_touch(int dir, const char *name, int64_t mtime)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, clock_split(mtime)};

	return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH)) < 0
		       ? -errno
		       : 0;
}

/* Copies owner (if we may), attributes and mode; times come last. */
static int clone_rest(int from, int to, const struct land_seen *s)
{
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);
	int r = attributes_read(from, &list);
	const struct land_has has = {.uid = s->uid, .gid = s->gid, .attributes = buf_span(&list)};

	if (r == 0)
		r = land_put_has(to, &has);
	return r < 0 ? r : land_chmod(to, s->o.mode);
}

static int clone_file(int from, const char *name, int to, const char *to_name,
		      const struct land_seen *s, uint8_t *ret_digest)
{
	_cleanup_fd_ int in = land_open(from, name);
	_cleanup_fd_ int out =
		in < 0 ? in
		       : open_beneath(to, to_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	uint64_t size = 0;
	int r = out < 0 ? out : land_copy(in, out, ret_digest, &size);

	if (r == 0)
		r = clone_rest(in, out, s);
	return r < 0 ? r : fsync(out) < 0 ? -errno : 0;
}

static int clone_dir(int from, const char *name, int to, const char *to_name,
		     const struct land_seen *s)
{
	if (mkdirat(to, to_name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int in = open_beneath(from, name, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_fd_ int out = open_beneath(to, to_name, O_RDONLY | O_DIRECTORY, 0);

	/* Of a folder that cannot be read we cannot read attributes either. */
	if (in == -EACCES)
		return 0;
	return in < 0 ? in : out < 0 ? out : clone_rest(in, out, s);
}

int land_clone(int from, const char *source, int to, const char *target, uint8_t *ret_digest)
{
	char text[PATH_MAX];
	struct land_seen s;
	int r = land_look(from, source, &s);

	if (r < 0)
		return r;
	switch (s.o.type) {
	case OBJECT_ABSENT:
		return -ENOENT;
	case OBJECT_FILE:
		r = clone_file(from, source, to, target, &s, ret_digest);
		break;
	case OBJECT_DIR:
		r = clone_dir(from, source, to, target, &s);
		break;
	case OBJECT_LINK:
		r = land_link(from, source, text, ret_digest);
		r = r < 0 ? r : symlinkat(text, to, target) < 0 ? -errno : 0;
		break;
	case OBJECT_FIFO:
	case OBJECT_SOCKET:
		r = mknodat(to, target,
			    (s.o.type == OBJECT_FIFO ? S_IFIFO : S_IFSOCK) | (s.o.mode & 0777),
			    0) < 0
			    ? -errno
			    : 0;
		break;
	default:
		return -EOPNOTSUPP;
	}
	return r < 0 ? r : land_touch(to, target, s.o.mtime);
}

int land_is_empty(int dir, const char *name)
{
	return dir_is_empty(open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0));
}

int land_move(int from, const char *source, int to, const char *target)
{
	struct land_seen there;

	if (renameat2(from, source, to, target, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* This filesystem does not promise that: somebody may come between this look and the
	 * rename. */
	int r = land_look(to, target, &there);

	if (r < 0 || there.o.type != OBJECT_ABSENT)
		return r < 0 ? r : -EEXIST;
	return renameat(from, source, to, target) < 0 ? -errno : 0;
}
