/* SPDX-License-Identifier: Apache-2.0 */
#include "segment.h"

#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static void segment_unmap(struct span *bytes)
{
	/* munmap wants a pointer without const. */
	if (bytes->len > 0)
		(void)munmap((void *)(uintptr_t)bytes->ptr, bytes->len);
	*bytes = (struct span){NULL, 0};
}

void segment_close(struct segment *s)
{
	segment_unmap(&s->bytes);
	fd_close(&s->fd);
}

void segment_name(char ret[SEGMENT_NAME_SIZE], uint32_t number, bool packed)
{
	(void)snprintf(ret, SEGMENT_NAME_SIZE, "%06u.log%s", number, packed ? ".zst" : "");
}

static int segment_complain(int code, const char *name, struct error *e)
{
	return code == -EBADMSG ? error_set(e, code, "the segment %s is no regular file", name)
				: error_sys(e, code, "cannot read the segment %s", name);
}

/* The whole of a regular file; -EBADMSG: it is none. */
static int segment_map(int fd, struct span *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_size > SEGMENT_MAX)
		return -EFBIG;
	*ret = (struct span){NULL, 0};
	if (st.st_size == 0)
		return 0;
	void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret = (struct span){at, (size_t)st.st_size};
	return 0;
}

int segment_unpack(struct span packed, struct span *ret, struct error *e)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed.ptr, packed.len);

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
		return error_set(e, -EBADMSG, "this is no zstd frame that says its size");
	if (size == 0 || size > SEGMENT_MAX)
		return error_set(e, -EFBIG, "it would be %llu bytes, which no segment has", size);
	size_t frame = ZSTD_findFrameCompressedSize(packed.ptr, packed.len);

	if (ZSTD_isError(frame) || frame != packed.len)
		return error_set(e, -EBADMSG, "something stands behind its zstd frame");
	void *at = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		return error_sys(e, -errno, "no memory to unpack it");
	struct span bytes = {at, (size_t)size};

	if (ZSTD_decompress(at, (size_t)size, packed.ptr, packed.len) != (size_t)size) {
		segment_unmap(&bytes);
		return error_set(e, -EBADMSG, "it does not unpack");
	}
	*ret = bytes;
	return 0;
}

static int segment_open_packed(int fd, const char *name, struct segment *ret, struct error *e)
{
	struct span packed = {NULL, 0}, bytes = {NULL, 0};
	struct error why = ERROR_INIT;
	int r = segment_map(fd, &packed);

	if (r < 0)
		return segment_complain(r, name, e);
	r = segment_unpack(packed, &bytes, &why);
	segment_unmap(&packed);
	if (r < 0)
		return error_set(e, r, "the segment %s: %s", name, why.text);
	*ret = (struct segment){.bytes = bytes, .fd = -1, .packed = true};
	return 0;
}

int segment_open(int folder, uint32_t number, struct segment *ret, struct error *e)
{
	char name[SEGMENT_NAME_SIZE];
	int r = -ENOENT;

	/* The compressed form may replace the plain one at this moment: so try again. */
	for (int i = 0; i < 3; i++) {
		segment_name(name, number, i == 1);
		_cleanup_fd_ int fd =
			openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		r = fd < 0 ? -errno : 0;
		if (r == -ENOENT)
			continue;
		/* A link, or a socket. */
		if (r == -ELOOP || r == -ENXIO)
			r = -EBADMSG;
		if (r == 0 && i == 1)
			return segment_open_packed(fd, name, ret, e);
		struct span bytes = {NULL, 0};

		r = r < 0 ? r : segment_map(fd, &bytes);
		if (r < 0)
			return segment_complain(r, name, e);
		*ret = (struct segment){.bytes = bytes, .fd = TAKE_FD(fd)};
		return 0;
	}
	return r;
}

int segment_grow(struct segment *s)
{
	struct span bytes = {NULL, 0};
	struct stat st;

	if (s->fd < 0)
		return 0;
	if (fstat(s->fd, &st) < 0)
		return -errno;
	if ((size_t)st.st_size <= s->bytes.len)
		return 0;
	int r = segment_map(s->fd, &bytes);

	if (r < 0)
		return r;
	segment_unmap(&s->bytes);
	s->bytes = bytes;
	return 1;
}
