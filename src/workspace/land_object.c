/* SPDX-License-Identifier: Apache-2.0 */
/* One thing on the disk: looked at, copied, moved.  Nothing here follows a link. */
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LAND_CHUNK = 1 << 15, LAND_CLONE_LEAST = 1 << 16, LAND_ATTRIBUTES_MAX = 1 << 16 };

static unsigned int type_of(uint16_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return OBJECT_FILE;
	case S_IFDIR:
		return OBJECT_DIR;
	case S_IFLNK:
		return OBJECT_LINK;
	case S_IFIFO:
		return OBJECT_FIFO;
	case S_IFSOCK:
		return OBJECT_SOCKET;
	default:
		return OBJECT_DEVICE;
	}
}

static int64_t time_of(const struct statx_timestamp *t)
{
	return t->tv_sec * 1000000000 + t->tv_nsec;
}

int land_look(int dir, const char *name, struct land_seen *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	struct statx st;

	*ret = (struct land_seen){.o = {.type = OBJECT_ABSENT}};
	if (statx(dir, name, flags, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret = (struct land_seen){
		.o = {.type = type_of(st.stx_mode),
		      .mode = st.stx_mode & 07777,
		      .size = S_ISDIR(st.stx_mode) ? 0 : st.stx_size,
		      .mtime = time_of(&st.stx_mtime),
		      .ino = st.stx_ino},
		.ctime = time_of(&st.stx_ctime),
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

static bool is_zero(const uint8_t *at, size_t len)
{
	return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

/* Where the source has holes the copy has them too. */
static int copy_chunk(int to, const uint8_t *chunk, size_t len, uint64_t at, bool sparse)
{
	if (to < 0 || (sparse && is_zero(chunk, len)))
		return 0;
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(to, chunk + done, len - done, (off_t)(at + done));

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int land_copy(int from, int to, uint8_t ret[SHA256_SIZE], uint64_t *ret_size)
{
	uint8_t chunk[LAND_CHUNK];
	struct sha256 hash;
	struct stat st;
	uint64_t at = 0;

	if (fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESTALE;
	bool sparse = (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size;
	/* What the copy then has is what is hashed. */
	if (to >= 0 && st.st_size >= LAND_CLONE_LEAST && ioctl(to, FICLONE, from) == 0) {
		from = to;
		to = -1;
	}
	sha256_begin(&hash);
	for (;;) {
		ssize_t n = pread(from, chunk, sizeof(chunk), (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		int r = copy_chunk(to, chunk, (size_t)n, at, sparse);

		if (r < 0)
			return r;
		sha256_add(&hash, (struct span){chunk, (size_t)n});
		at += (uint64_t)n;
	}
	sha256_end(&hash, ret);
	*ret_size = at;
	return to >= 0 && sparse && ftruncate(to, (off_t)at) < 0 ? -errno : 0;
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
	char names[4096];
	ssize_t len = flistxattr(from, names, sizeof(names));

	if (len <= 0)
		return len == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	_cleanup_free_ char *value = malloc(LAND_ATTRIBUTES_MAX);

	if (!value)
		return -ENOMEM;
	for (const char *name = names; name < names + len; name += strlen(name) + 1) {
		if (!str_after(name, "user.") || str_after(name, "user.overlay."))
			continue;
		ssize_t n = fgetxattr(from, name, value, LAND_ATTRIBUTES_MAX);

		if (n < 0 && errno != ENODATA)
			return -errno;
		if (n >= 0 && fsetxattr(to, name, value, (size_t)n, 0) < 0)
			return -errno;
	}
	return 0;
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
	int64_t ns = mtime % 1000000000;
	int64_t s = mtime / 1000000000;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

	if (ns < 0) {
		ns += 1000000000;
		s--;
	}
	times[1] = (struct timespec){(time_t)s, (long)ns};
	return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH)) < 0
		       ? -errno
		       : 0;
}

/* Owner (where we may), attributes and mode; times come last. */
static int clone_rest(int from, int to, const struct land_seen *s)
{
	int r = land_copy_attributes(from, to);

	if (fchown(to, s->uid, s->gid) < 0 && fchown(to, (uid_t)-1, s->gid) < 0 && errno != EPERM)
		return -errno;
	return r < 0 ? r : land_chmod(to, s->o.mode);
}

static int clone_file(int from, const char *name, int to, const char *to_name,
		      const struct land_seen *s, uint8_t *ret_digest)
{
	_cleanup_fd_ int in = land_open(from, name);
	_cleanup_fd_ int out =
		in < 0 ? in
		       : open_beneath(to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
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

	/* One that cannot be read has no attributes that could be. */
	if (in == -EACCES)
		return 0;
	return in < 0 ? in : out < 0 ? out : clone_rest(in, out, s);
}

int land_clone(int from, const char *name, int to, const char *to_name, uint8_t *ret_digest)
{
	char text[PATH_MAX];
	struct land_seen s;
	int r = land_look(from, name, &s);

	if (r < 0)
		return r;
	switch (s.o.type) {
	case OBJECT_ABSENT:
		return -ENOENT;
	case OBJECT_FILE:
		r = clone_file(from, name, to, to_name, &s, ret_digest);
		break;
	case OBJECT_DIR:
		r = clone_dir(from, name, to, to_name, &s);
		break;
	case OBJECT_LINK:
		r = land_link(from, name, text, ret_digest);
		r = r < 0 ? r : symlinkat(text, to, to_name) < 0 ? -errno : 0;
		break;
	case OBJECT_FIFO:
	case OBJECT_SOCKET:
		r = mknodat(to, to_name,
			    (s.o.type == OBJECT_FIFO ? S_IFIFO : S_IFSOCK) | (s.o.mode & 0777),
			    0) < 0
			    ? -errno
			    : 0;
		break;
	default:
		return -EOPNOTSUPP;
	}
	return r < 0 ? r : land_touch(to, to_name, s.o.mtime);
}

int land_is_empty(int dir, const char *name)
{
	int fd = open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int r = d ? 1 : fd < 0 ? fd : -errno;

	if (!d) {
		fd_close(&fd);
		return r;
	}
	while (r == 1) {
		errno = 0;
		const struct dirent *at = readdir(d);

		if (!at) {
			r = errno ? -errno : 1;
			break;
		}
		r = str_equal(at->d_name, ".") || str_equal(at->d_name, "..");
	}
	(void)closedir(d);
	return r;
}

int land_move(int from, const char *name, int to, const char *to_name)
{
	struct land_seen there;

	if (renameat2(from, name, to, to_name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A filesystem without that promise: between this look and the rename somebody may come. */
	int r = land_look(to, to_name, &there);

	if (r < 0 || there.o.type != OBJECT_ABSENT)
		return r < 0 ? r : -EEXIST;
	return renameat(from, name, to, to_name) < 0 ? -errno : 0;
}
