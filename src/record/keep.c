/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
	KEEP_LEVEL = 3,
	KEEP_TIDY_SESSIONS = 64,
	KEEP_TIDY_LEAST = 64 << 10, /* compressing less than that saves nearly nothing */
	KEEP_TIDY_BYTES = 32 << 20, /* a segment at most, which is half a second */
};

/* Before the name of a folder that is being removed. */
#define KEEP_GONE ".gone-"

static void keep_free_context(ZSTD_CCtx **context)
{
	(void)ZSTD_freeCCtx(*context);
}

/* Calls `each` for every file in the folder, and for what somebody who was killed has left half made;
 * the first that is not 0 ends it. */
static int keep_walk(int folder, int (*each)(void *context, int folder, const char *name),
		     void *context)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_open(folder, ".", &r);

	for (const struct dirent *entry; r == 0 && (entry = dir_next(dir, NULL));)
		r = each(context, folder, entry->d_name);
	return r;
}

static int keep_add_size(void *context, int folder, const char *name)
{
	uint64_t *sum = context;
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*sum += (uint64_t)st.st_blocks * 512;
	return 0;
}

uint64_t keep_size(const struct store *s, const struct store_session *session)
{
	_cleanup_fd_ int folder = store_open_session(s, session, NULL);
	uint64_t sum = 0;

	if (folder >= 0)
		(void)keep_walk(folder, keep_add_size, &sum);
	return sum;
}

/* --- compressing ---------------------------------------------------------------------- */

/* The whole of it, with its size and a checksum, in memory. */
static int keep_squeeze(struct span plain, struct buf *ret)
{
	_cleanup_(keep_free_context) ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(plain.len);
	void *room = context ? malloc(bound) : NULL;

	if (!room)
		return -ENOMEM;
	*ret = (struct buf){room, 0, bound, bound, 0};
	if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, KEEP_LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
		return -EINVAL;
	size_t size = ZSTD_compress2(context, room, bound, plain.ptr, plain.len);

	if (ZSTD_isError(size))
		return -EIO;
	ret->len = size;
	return 0;
}

static int keep_write(int folder, const char *name, struct span bytes)
{
	(void)unlinkat(folder, name, 0);
	_cleanup_fd_ int fd =
		openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : fd_write_all(fd, bytes.ptr, bytes.len);

	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

/* Checks that the file on the disk unpacks to the same bytes. */
static int keep_read_back(int folder, const char *name, struct span plain, struct error *e)
{
	_cleanup_buf_ struct buf file = BUF_INIT(SEGMENT_MAX);
	_cleanup_segment_ struct segment again = SEGMENT_INIT;
	int r = fd_read_file_at(folder, name, &file);

	if (r == 0)
		r = segment_unpack(buf_span(&file), &again.bytes, e);
	return r == 0 && !span_equal(again.bytes, plain) ? -EIO : r;
}

static int keep_compress_segment(int folder, uint32_t number, uint64_t *bytes, struct error *e)
{
	char plain[SEGMENT_NAME_SIZE], packed[SEGMENT_NAME_SIZE], making[SEGMENT_NAME_SIZE + 4];
	_cleanup_segment_ struct segment segment = SEGMENT_INIT;
	_cleanup_buf_ struct buf small = BUF_INIT(0);

	segment_name(plain, number, false);
	segment_name(packed, number, true);
	(void)snprintf(making, sizeof(making), "%s.tmp", packed);
	int r = segment_open(folder, number, &segment, e);

	if (r < 0 || segment.packed || segment.bytes.len == 0)
		return r < 0 ? r : 0;
	*bytes += segment.bytes.len;
	r = keep_squeeze(segment.bytes, &small);
	if (r == 0)
		r = keep_write(folder, making, buf_span(&small));
	if (r == 0)
		r = keep_read_back(folder, making, segment.bytes, e);
	if (r == 0 && renameat(folder, making, folder, packed) < 0)
		r = -errno;
	if (r == 0 && fsync(folder) < 0)
		r = -errno;
	if (r == 0 && unlinkat(folder, plain, 0) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, making, 0);
	return r < 0 ? error_sys(e, r, "compressing %s", plain) : 1;
}

int keep_compress(const struct store *s, const struct store_session *session, uint64_t bytes_max,
		  struct error *e)
{
	uint64_t bytes = 0;
	_cleanup_fd_ int folder = store_open_session(s, session, e);
	uint32_t behind = 0;
	int done = 0;

	if (folder < 0)
		return folder;
	if (flock(folder, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : -errno;
	uint32_t count = store_count_segments(folder, &behind);

	for (uint32_t number = 1; number <= count && (bytes_max == 0 || bytes < bytes_max);
	     number++) {
		int r = keep_compress_segment(folder, number, &bytes, e);

		if (r < 0)
			return r;
		done += r;
	}
	return done;
}

int keep_compress_all(const struct store *s, struct error *e)
{
	int done = 0;

	for (size_t i = 0; i < s->count; i++) {
		int r = keep_compress(s, &s->sessions[i], 0, e);

		if (r < 0)
			return r;
		done += r;
	}
	return done;
}

void keep_tidy(const struct store *s)
{
	size_t first = s->count > KEEP_TIDY_SESSIONS ? s->count - KEEP_TIDY_SESSIONS : 0;

	for (size_t i = first; i < s->count; i++) {
		struct error e = ERROR_INIT;

		/* If compressing fails, the segment stays as it is and can be read. */
		if (keep_size(s, &s->sessions[i]) >= KEEP_TIDY_LEAST &&
		    keep_compress(s, &s->sessions[i], KEEP_TIDY_BYTES, &e) > 0)
			return;
	}
}

/* --- removing ------------------------------------------------------------------------- */

static int keep_unlink(void *context, int folder, const char *name)
{
	(void)context;
	return unlinkat(folder, name, 0) < 0 ? -errno : 0;
}

/* Removes a folder that was renamed to be removed. */
static int keep_remove_gone(int dir, const char *name)
{
	_cleanup_fd_ int folder =
		openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int r = folder < 0 ? -errno : keep_walk(folder, keep_unlink, NULL);

	return r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : r;
}

void keep_sweep(const struct store *s)
{
	_cleanup_dir_ DIR *dir = dir_open(s->dir, ".", NULL);

	for (const struct dirent *entry; (entry = dir_next(dir, NULL));)
		if (str_after(entry->d_name, KEEP_GONE))
			(void)keep_remove_gone(s->dir, entry->d_name);
}

int keep_remove(const struct store *s, const struct store_session *session,
		const struct audit_session *entered, const char *reason, struct error *e)
{
	_cleanup_fd_ int folder = store_open_session(s, session, e);
	char gone[sizeof(KEEP_GONE) + STORE_FOLDER_SIZE];
	int r = folder;

	if (r < 0)
		return r;
	if (flock(folder, LOCK_EX | LOCK_NB) < 0)
		return error_sys(e, errno == EWOULDBLOCK ? -EBUSY : -errno, "%s", session->folder);
	if (entered && !entered->removed) {
		_cleanup_fd_ int ledger = ledger_open(s->dir, e);
		const struct ledger_removed removed = {.session = entered->folder,
						       .number = entered->number,
						       .events = entered->events,
						       .bytes = keep_size(s, session),
						       .head = entered->head,
						       .reason = reason};

		r = ledger < 0 ? ledger : ledger_enter_removed(ledger, &removed, e);
		if (r < 0)
			return r;
	}
	/* Rename it first, so that nobody finds a half-removed session. */
	(void)snprintf(gone, sizeof(gone), KEEP_GONE "%s", session->folder);
	r = renameat(s->dir, session->folder, s->dir, gone) < 0 ? -errno
								: keep_remove_gone(s->dir, gone);
	if (r == 0 && fsync(s->dir) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "removing %s", session->folder) : 0;
}
