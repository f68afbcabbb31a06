/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include "array.h"
#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- the list ------------------------------------------------------------------------- */

static int store_compare(const void *a, const void *b)
{
	const struct store_session *x = a, *y = b;
	int lengths = (int)strlen(x->folder) - (int)strlen(y->folder);

	/* -2 before -10. */
	if (x->start == y->start && str_equal(x->name, y->name) && lengths != 0)
		return lengths;
	return strcmp(x->folder, y->folder);
}

static int store_list(struct store *s)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_open(s->dir, ".", &r);

	if (!dir)
		return r;
	for (const struct dirent *entry; (entry = dir_next(dir, NULL));) {
		struct store_session session;

		if (!store_parse_folder(entry->d_name, &session) || s->count == STORE_SESSIONS_MAX)
			continue;
		if (!ARRAY_GROW(s->sessions, s->count))
			return -ENOMEM;
		s->sessions[s->count++] = session;
	}
	if (s->count > 0)
		qsort(s->sessions, s->count, sizeof(*s->sessions), store_compare);
	return 0;
}

int store_open(int dir, struct store *ret, struct error *e)
{
	struct store s = {.dir = dir};
	int r = store_list(&s);

	if (r < 0) {
		store_fini(&s);
		return error_sys(e, r, "cannot list the records");
	}
	*ret = s;
	return 0;
}

void store_fini(struct store *s)
{
	free(s->sessions);
	fd_close(&s->dir);
	*s = STORE_INIT;
}

/* --- which one ------------------------------------------------------------------------ */

/* Newest first: takes the first match, unless another name matches as well. */
static const struct store_session *store_find_prefix(const struct store *s, const char *typed,
						     struct error *e)
{
	const struct store_session *found = NULL;

	for (size_t i = s->count; i-- > 0;) {
		const struct store_session *at = &s->sessions[i];
		bool by_name = str_after(at->name, typed) != NULL;

		if (!by_name && !str_after(at->folder, typed))
			continue;
		if (found && !(by_name && str_equal(found->name, at->name))) {
			(void)error_set(e, -ENOTUNIQ, "'%s' may be %s or %s", typed, at->folder,
					found->folder);
			error_next(e, "Say more of it.");
			return NULL;
		}
		found = found ? found : at;
	}
	return found;
}

/* When a session's folder was made, in nanoseconds; 0 where the file system does not say. */
static int64_t store_birth(const struct store *s, const struct store_session *session)
{
	struct statx st;

	if (statx(s->dir, session->folder, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME))
		return 0;
	return CLOCK_NS(st.stx_btime);
}

bool store_is_newer(const struct store *s, const struct store_session *one,
		    const struct store_session *other)
{
	if (one->start != other->start)
		return one->start > other->start;
	/* The list is in the order of their numbers. */
	return str_equal(one->name, other->name) ? one > other
						 : store_birth(s, one) > store_birth(s, other);
}

/* The newest session, or where there is none, the newest record. */
static const struct store_session *store_last(const struct store *s)
{
	size_t at = s->count;

	while (at > 0 && !store_is_session(&s->sessions[at - 1]))
		at--;
	if (at == 0)
		return &s->sessions[s->count - 1];
	const struct store_session *last = &s->sessions[--at];

	while (at-- > 0 && s->sessions[at].start == last->start) {
		const struct store_session *beside = &s->sessions[at];

		if (store_is_session(beside) && store_is_newer(s, beside, last))
			last = beside;
	}
	return last;
}

const struct store_session *store_find(const struct store *s, const char *typed, struct error *e)
{
	if (s->count > 0 && str_equal(typed, "last"))
		return store_last(s);
	for (size_t i = s->count; i-- > 0;)
		if (str_equal(s->sessions[i].folder, typed) ||
		    str_equal(s->sessions[i].name, typed))
			return &s->sessions[i];
	*e = ERROR_INIT;
	const struct store_session *found = typed[0] ? store_find_prefix(s, typed, e) : NULL;

	if (!found && e->code == 0) {
		(void)error_set(e, -ENOENT, "there is no record of a session '%s'", typed);
		error_next(e, s->count ? "'bawn record verify' lists them."
				       : "Nothing has been recorded yet.");
	}
	return found;
}

int store_open_session(const struct store *s, const struct store_session *session, struct error *e)
{
	int fd = openat(s->dir, session->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? error_sys(e, -errno, "cannot open the record %s", session->folder) : fd;
}

bool store_is_running(const struct store *s, const struct store_session *session)
{
	_cleanup_fd_ int fd = store_open_session(s, session, NULL);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* The number of a segment's file name; else 0. */
static uint32_t store_segment_number(const char *name)
{
	uint32_t number = 0;

	for (; *name >= '0' && *name <= '9' && number < 100000000; name++)
		number = number * 10 + (uint32_t)(*name - '0');
	return number;
}

uint32_t store_count_segments(int folder, uint32_t *ret_behind)
{
	uint32_t count = 0, most = 0;
	char name[SEGMENT_NAME_SIZE];
	_cleanup_dir_ DIR *dir = dir_open(folder, ".", NULL);

	for (const struct dirent *entry; (entry = dir_next(dir, NULL));) {
		uint32_t number = store_segment_number(entry->d_name);

		for (int packed = 0; number > 0 && packed < 2; packed++) {
			segment_name(name, number, packed);
			if (str_equal(name, entry->d_name) && number > most)
				most = number;
		}
	}
	for (bool there = true; there && count < most; count += there) {
		there = false;
		for (int packed = 0; packed < 2 && !there; packed++) {
			segment_name(name, count + 1, packed);
			there = faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		}
	}
	*ret_behind = most > count ? most : 0;
	return count;
}

/* --- frame by frame ------------------------------------------------------------------- */

void store_link(struct store_cursor *c, uint64_t seq, const char head[HASH_HEX])
{
	c->linked = true;
	c->seq = seq;
	memcpy(c->head, head, HASH_HEX);
}

/* No event comes before the first: its `prev` is zeros. */
static void store_link_first(struct store_cursor *c)
{
	static const struct hash none;
	char head[HASH_HEX];

	hash_format(&none, head);
	store_link(c, 0, head);
}

int store_cursor_open(const struct store *s, const struct store_session *session,
		      struct store_cursor *ret, struct error *e)
{
	int folder = store_open_session(s, session, e);

	if (folder < 0)
		return folder;
	*ret = STORE_CURSOR_INIT;
	ret->folder = folder;
	store_link_first(ret);
	return 0;
}

void store_cursor_close(struct store_cursor *c)
{
	segment_close(&c->segment);
	fd_close(&c->folder);
}

static enum feed store_bad(struct store_cursor *c, const char *why)
{
	(void)snprintf(c->why, sizeof(c->why), "segment %u, offset %llu: %s", c->number,
		       (unsigned long long)c->offset, why);
	return FEED_BAD;
}

/* DONE: it is open; MORE: there is none of that number yet. */
static enum feed store_open_segment(struct store_cursor *c, uint32_t number)
{
	struct segment next = SEGMENT_INIT;
	struct error e = ERROR_INIT;
	int r = segment_open(c->folder, number, &next, &e);

	if (r == -ENOENT)
		return FEED_MORE;
	if (r < 0) {
		(void)snprintf(c->why, sizeof(c->why), "%.250s", e.text);
		return FEED_BAD;
	}
	segment_close(&c->segment);
	c->segment = next;
	c->number = number;
	c->offset = 0;
	return FEED_DONE;
}

/* Reads the next frame of what is there now. */
static enum feed store_read(struct store_cursor *c, struct frame *ret)
{
	if (c->offset > c->segment.bytes.len)
		return store_bad(c, "the segment is shorter than it was");
	enum feed said = frame_read(span_skip(c->segment.bytes, c->offset), ret);

	if (said == FEED_BAD)
		return store_bad(c, ret->why);
	if (said != FEED_DONE)
		return said;
	const char *why = c->linked ? frame_follows(ret, c->seq, c->head) : NULL;

	if (why)
		return store_bad(c, why);
	c->offset += ret->len;
	store_link(c, ret->seq, (const char *)ret->hex.ptr);
	return said;
}

enum feed store_next(struct store_cursor *c, struct frame *ret)
{
	if (c->number == 0) {
		enum feed said = store_open_segment(c, 1);

		if (said != FEED_DONE)
			return said;
	}
	for (;;) {
		enum feed said = store_read(c, ret);

		if (said != FEED_MORE)
			return said;
		/* The recorder makes the next segment only when this one is whole. */
		uint32_t number = c->number;
		uint64_t offset = c->offset;
		char name[2][SEGMENT_NAME_SIZE];
		bool next = false;

		for (int packed = 0; packed < 2; packed++) {
			segment_name(name[packed], number + 1, packed);
			next = next ||
			       faccessat(c->folder, name[packed], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		}
		int grown = segment_grow(&c->segment);

		if (grown < 0)
			return store_bad(c, error_words(grown));
		if (grown > 0)
			continue;
		if (!next)
			return FEED_MORE;
		if (offset < c->segment.bytes.len)
			return store_bad(c, "the segment ends within an event");
		said = store_open_segment(c, number + 1);
		if (said != FEED_DONE)
			return said;
	}
}

enum feed store_seek(struct store_cursor *c, uint32_t number, uint64_t offset)
{
	if (number != c->number) {
		enum feed said = number ? store_open_segment(c, number) : FEED_DONE;

		if (said != FEED_DONE)
			return said;
		if (number == 0)
			segment_close(&c->segment);
		c->number = number;
	}
	c->offset = offset;
	c->linked = false;
	if (number == 0 || (number == 1 && offset == 0))
		store_link_first(c);
	return FEED_DONE;
}
