/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes.h"

#include "str.h"

#include <limits.h>
#include <sys/xattr.h>

enum {
	ATTRIBUTES_NAMES = 64 << 10, /* the kernel's limit: of a value, and of all names */
	ATTRIBUTES_COUNT = 4096,
};

static bool attributes_is_own(const char *name)
{
	return str_equal(name, "system.posix_acl_access") ||
	       str_equal(name, "system.posix_acl_default") ||
	       (str_after(name, "user.") && !str_after(name, "user.overlay."));
}

static int attributes_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the names that we keep, sorted.  How many, or -errno. */
static ssize_t attributes_names(int fd, char bytes[ATTRIBUTES_NAMES],
				const char *names[ATTRIBUTES_COUNT])
{
	ssize_t len = flistxattr(fd, bytes, ATTRIBUTES_NAMES);
	size_t count = 0;

	if (len < 0)
		return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	for (const char *at = bytes; at < bytes + len; at += strlen(at) + 1) {
		if (!attributes_is_own(at))
			continue;
		if (count == ATTRIBUTES_COUNT)
			return -EMSGSIZE;
		names[count++] = at;
	}
	if (count > 1)
		qsort(names, count, sizeof(*names), attributes_compare);
	return (ssize_t)count;
}

int attributes_read(int fd, struct buf *into)
{
	static char bytes[ATTRIBUTES_NAMES], value[ATTRIBUTES_NAMES];
	static const char *names[ATTRIBUTES_COUNT];
	ssize_t count = attributes_names(fd, bytes, names);

	for (ssize_t i = 0; i < count; i++) {
		ssize_t n = fgetxattr(fd, names[i], value, sizeof(value));

		if (n < 0 && errno == ENODATA)
			continue; /* removed in the meantime */
		if (n < 0)
			return -errno;
		buf_put_u32(into, (uint32_t)strlen(names[i]));
		buf_put_u32(into, (uint32_t)n);
		buf_put_str(into, names[i]);
		buf_put(into, value, (size_t)n);
	}
	return count < 0 ? (int)count : buf_error(into) ? -EMSGSIZE : 0;
}

/* Reads the next attribute of a list: 1, 0 at the end, or -EBADMSG. */
static int attributes_next(struct reader *in, char name[XATTR_NAME_MAX + 1], struct span *ret)
{
	if (reader_left(in) == 0)
		return 0;
	uint32_t len = reader_u32(in), size = reader_u32(in);
	struct span text = reader_take(in, len);

	*ret = reader_take(in, size);
	if (in->bad || len > XATTR_NAME_MAX || len == 0 || memchr(text.ptr, 0, len))
		return -EBADMSG;
	memcpy(name, text.ptr, len);
	name[len] = '\0';
	return attributes_is_own(name) ? 1 : -EBADMSG;
}

/* 1: the list has this name, 0: it has not, or -EBADMSG. */
static int attributes_has(struct span list, const char *name)
{
	struct reader in = reader_of(list);
	char other[XATTR_NAME_MAX + 1];
	struct span value;
	int r;

	while ((r = attributes_next(&in, other, &value)) > 0)
		if (str_equal(other, name))
			return 1;
	return r;
}

/* Whether the error means: not on this filesystem, or we may not. */
static bool attributes_is_refused(int code)
{
	return code == EOPNOTSUPP || code == EPERM || code == EACCES;
}

int attributes_set(int fd, struct span list)
{
	static char bytes[ATTRIBUTES_NAMES];
	static const char *names[ATTRIBUTES_COUNT];
	struct reader in = reader_of(list);
	char name[XATTR_NAME_MAX + 1];
	struct span value;
	ssize_t count = attributes_names(fd, bytes, names);
	int r = 0;

	for (ssize_t i = 0; i < count; i++) {
		r = attributes_has(list, names[i]);
		if (r < 0)
			return r;
		if (r == 0 && fremovexattr(fd, names[i]) < 0 && errno != ENODATA &&
		    !attributes_is_refused(errno))
			return -errno;
	}
	while (count >= 0 && (r = attributes_next(&in, name, &value)) > 0)
		if (fsetxattr(fd, name, value.ptr, value.len, 0) < 0 &&
		    !attributes_is_refused(errno))
			return -errno;
	return count < 0 ? (int)count : r;
}
