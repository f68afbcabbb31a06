/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include "fd.h"
#include "open.h"
#include "seal.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the file ------------------------------------------------------------------------- */

enum { LEDGER_ENTRY_MAX = 1024 }; /* bytes of one entry; at most one is not synced */

/* The end of the ledger: after its last whole frame. */
struct ledger_tail {
	uint64_t seq, begun;
	struct hash hash;
	off_t size; /* of all whole frames */
	off_t torn; /* bytes after them */
};

enum { LEDGER_KEY_TEXT = 32 + HASH_HEX };

int ledger_open(int dir, struct error *e)
{
	_cleanup_fd_ int fd = open_file(dir, "ledger", O_RDWR | O_CREAT | O_APPEND, 0600);
	struct stat st;

	if (fd == -ENXIO || fd == -EISDIR || fd == -ELOOP)
		return error_set(e, -EINVAL, "the ledger of your records is no plain file");
	if (fd < 0)
		return error_sys(e, fd, "opening the ledger of your records");
	if (fstat(fd, &st) < 0 || st.st_size > LEDGER_MAX)
		return error_set(e, -EINVAL, "the ledger of your records is too large");
	return TAKE_FD(fd);
}

/* Takes the lock, and waits for other sessions that write.  Closing the descriptor frees it. */
static int ledger_lock(int fd, bool on)
{
	while (flock(fd, on ? LOCK_EX : LOCK_UN) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Finds the last whole frame: it is in the last bytes, at most two frames long.  Frames end with a
 * newline. */
static int ledger_find_tail(int fd, struct ledger_tail *ret)
{
	static uint8_t bytes[2 * FRAME_MAX];
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (fstat(fd, &st) < 0)
		return -errno;
	off_t from = st.st_size > (off_t)sizeof(bytes) ? st.st_size - (off_t)sizeof(bytes) : 0;
	ssize_t n = pread(fd, bytes, sizeof(bytes), from);

	if (n < 0)
		return -errno;
	size_t len = (size_t)n;
	size_t last = len > LEDGER_ENTRY_MAX ? len - LEDGER_ENTRY_MAX : 0;
	/* After a loss of power a page that was not written reads as zeros, also before one that
	 * was. */
	const uint8_t *zero = memchr(bytes + last, '\0', len - last);

	if (zero)
		len = (size_t)(zero - bytes);
	while (len > 0 && bytes[len - 1] != '\n')
		len--;
	ret->size = from + (off_t)len;
	ret->torn = st.st_size - ret->size;
	if (len == 0)
		return from == 0 ? 0 : -EBADMSG;
	const uint8_t *before = memrchr(bytes, '\n', len - 1);
	size_t start = before ? (size_t)(before - bytes) + 1 : 0;
	struct frame f;

	if ((!before && from > 0) ||
	    frame_read((struct span){bytes + start, len - start}, &f) != FEED_DONE)
		return -EBADMSG;
	ret->seq = f.seq;
	ret->hash = f.hash;
	/* Then the seal has the number, and verify says what is wrong with the entry. */
	if (frame_number_member(&f, "begun", &ret->begun) < 0)
		ret->begun = 0;
	return 0;
}

static void ledger_begin_entry(struct buf *event, const struct ledger_tail *tail, const char *kind)
{
	struct frame_clock clock = {.second = 0};

	frame_begin(event, &clock, tail->seq + 1, &tail->hash, kind);
	frame_put_u64(event, "begun", tail->begun);
}

static void ledger_put_session(struct buf *event, const char *session, uint64_t number)
{
	frame_put_bytes(event, "session", span_of_str(session));
	frame_put_u64(event, "number", number);
}

/* Closes the event and writes it; the tail moves on. */
static int ledger_write_entry(int fd, struct buf *event, struct ledger_tail *tail)
{
	_cleanup_buf_ struct buf frame = BUF_INIT(FRAME_MAX);

	buf_put_char(event, '}');
	if (buf_error(event))
		return buf_error(event);
	frame_put(&frame, buf_span(event), &tail->hash);
	int r = buf_error(&frame) ? buf_error(&frame) : fd_write_all(fd, frame.ptr, frame.len);

	if (r == 0) {
		tail->seq++;
		tail->size += (off_t)frame.len;
	}
	return r;
}

/* Cuts off a torn end, and adds the entry `cut`. */
static int ledger_mend(int fd, struct ledger_tail *tail)
{
	_cleanup_buf_ struct buf event = BUF_INIT(FRAME_EVENT_MAX);

	if (tail->torn == 0)
		return 0;
	if (ftruncate(fd, tail->size) < 0)
		return -errno;
	ledger_begin_entry(&event, tail, "cut");
	frame_put_u64(&event, "bytes", (uint64_t)tail->torn);
	tail->torn = 0;
	return ledger_write_entry(fd, &event, tail);
}

static int ledger_prepare(int fd, struct ledger_tail *ret_tail)
{
	int r = ledger_lock(fd, true);

	if (r == 0)
		r = ledger_find_tail(fd, ret_tail);
	return r < 0 ? r : ledger_mend(fd, ret_tail);
}

static int ledger_explain(int r, struct error *e)
{
	if (r == 0)
		return 0;
	if (r == -EBADMSG) {
		(void)error_set(e, r, "the ledger of your records is not what bawn wrote");
		error_next(e, "bawn record verify says where; move it away to begin a new one.");
		return r;
	}
	return error_sys(e, r, "writing the ledger of your records");
}

/* --- the user's key ------------------------------------------------------------------- */

/* Writes a file of ours, whole or not at all. */
static int ledger_put_file(int dir, const char *name, struct span text)
{
	char temporary[40];

	(void)snprintf(temporary, sizeof(temporary), ".%s.new", name);
	int r = fd_replace_at(dir, name, temporary, text, 0600);

	return r < 0 ? r : fsync(dir) < 0 ? -errno : 0;
}

static int ledger_format_key(uint64_t number, const struct hash *key, char text[LEDGER_KEY_TEXT])
{
	char hex[HASH_HEX];

	hash_format(key, hex);
	int len = snprintf(text, LEDGER_KEY_TEXT, "%llu %.*s\n", (unsigned long long)number,
			   HASH_HEX, hex);

	explicit_bzero(hex, sizeof(hex));
	return len;
}

static int ledger_put_key(int dir, const char *name, uint64_t number, const struct hash *key)
{
	char text[LEDGER_KEY_TEXT];
	int len = ledger_format_key(number, key, text);
	int r = ledger_put_file(dir, name, (struct span){(uint8_t *)text, (size_t)len});

	explicit_bzero(text, sizeof(text));
	return r;
}

/* Writes the seal in place.  It never gets shorter and is within one sector, so no reader finds it
 * half written. */
static int ledger_move_key(int dir, uint64_t number, const struct hash *key, int *ret_fd)
{
	char text[LEDGER_KEY_TEXT];
	_cleanup_fd_ int fd = open_file(dir, "seal", O_WRONLY, 0);
	int len = ledger_format_key(number, key, text);
	ssize_t n = fd < 0 ? 0 : pwrite(fd, text, (size_t)len, 0);
	int r = fd < 0 ? fd : n < 0 ? -errno : n == len ? 0 : -EIO;

	explicit_bzero(text, sizeof(text));
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

int ledger_parse_key(struct span text, uint64_t *ret_number, struct hash *ret_key)
{
	const uint8_t *space = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
	char number[24];

	if (!space || (size_t)(space - text.ptr) >= sizeof(number))
		return -EBADMSG;
	struct span hex = span_skip(text, (size_t)(space - text.ptr) + 1);

	(void)snprintf(number, sizeof(number), "%.*s", (int)(space - text.ptr),
		       (const char *)text.ptr);
	/* If the number grew by a digit and power failed, the last newline may be missing. */
	if (hex.len < HASH_HEX || hex.len > HASH_HEX + 1 ||
	    (hex.len > HASH_HEX && hex.ptr[HASH_HEX] != '\n') ||
	    str_parse_u64(number, ret_number) < 0 || hash_parse((const char *)hex.ptr, ret_key) < 0)
		return -EBADMSG;
	return 0;
}

int ledger_read_seal(int dir, uint64_t *ret_number, struct hash *ret_key)
{
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	int r = fd_read_file_at(dir, "seal", &text);

	/* If it grew by a digit and power failed, the last byte is a zero. */
	if (r == 0)
		text.len = strnlen(buf_str(&text), text.len);
	if (r == 0)
		r = ledger_parse_key(buf_span(&text), ret_number, ret_key);
	if (text.ptr)
		explicit_bzero(text.ptr, text.cap);
	return r;
}

/* The first session of all: makes a key, and keeps it twice until the user has taken a copy. */
static int ledger_make_key(int dir, uint64_t *ret_number, struct hash *ret_key)
{
	if (getrandom(ret_key->bytes, HASH_SIZE, 0) != HASH_SIZE)
		return -EIO;
	*ret_number = 0;
	int r = ledger_put_key(dir, "verification", 0, ret_key);

	return r < 0 ? r : ledger_put_key(dir, "seal", 0, ret_key);
}

/* --- entries -------------------------------------------------------------------------- */

/*
 * The user's key for the next session, and its number.  If power failed before the seal
 * moved on, the last entry has the right number: no number is used twice.
 */
static int ledger_take_key(int dir, uint64_t begun, uint64_t *ret_number, struct hash *ret_user)
{
	int r = ledger_read_seal(dir, ret_number, ret_user);

	if (r == -ENOENT)
		r = ledger_make_key(dir, ret_number, ret_user);
	if (r == 0 && *ret_number < begun) {
		seal_skip(ret_user, begun - *ret_number);
		*ret_number = begun;
	}
	return r;
}

int ledger_begin_unsynced(int dir, int ledger, const char *session, struct ledger_begun *ret,
			  struct error *e)
{
	_cleanup_buf_ struct buf event = BUF_INIT(FRAME_EVENT_MAX);
	struct ledger_tail tail = {.seq = 0};
	struct hash user, mac;
	int r = ledger_prepare(ledger, &tail);

	ret->seal = -1;
	if (r == 0)
		r = ledger_take_key(dir, tail.begun, &ret->number, &user);
	if (r == 0) {
		tail.begun = ret->number + 1;
		ledger_begin_entry(&event, &tail, "begin");
		ledger_put_session(&event, session, ret->number);
		seal_ledger(&user, buf_span(&event), &mac);
		seal_take_session(&user, &ret->key);
		frame_put_hash(&event, "mac", &mac);
		r = ledger_write_entry(ledger, &event, &tail);
	}
	/* The entry first, then the seal: a seal that is ahead proves that the ledger was cut. */
	if (r == 0)
		r = ledger_move_key(dir, tail.begun, &user, &ret->seal);
	explicit_bzero(&user, sizeof(user));
	(void)ledger_lock(ledger, false);
	if (r < 0)
		fd_close(&ret->seal);
	return ledger_explain(r, e);
}

int ledger_begin(int dir, int ledger, const char *session, uint64_t *ret_number,
		 struct hash *ret_key, struct error *e)
{
	struct ledger_begun begun;
	int r = ledger_begin_unsynced(dir, ledger, session, &begun, e);

	if (r < 0)
		return r;
	r = fdatasync(ledger) < 0 || fdatasync(begun.seal) < 0 ? -errno : 0;
	fd_close(&begun.seal);
	*ret_number = begun.number;
	*ret_key = begun.key;
	explicit_bzero(&begun, sizeof(begun));
	return ledger_explain(r, e);
}

int ledger_enter_end(int ledger, const struct ledger_end *end, struct error *e)
{
	_cleanup_buf_ struct buf event = BUF_INIT(FRAME_EVENT_MAX);
	struct ledger_tail tail = {.seq = 0};
	int r = ledger_prepare(ledger, &tail);

	if (r == 0) {
		ledger_begin_entry(&event, &tail, "end");
		ledger_put_session(&event, end->session, end->number);
		frame_put_u64(&event, "events", end->events);
		frame_put_hash(&event, "head", &end->head);
		frame_put_hash(&event, "root", &end->root);
		r = ledger_write_entry(ledger, &event, &tail);
	}
	if (r == 0 && fdatasync(ledger) < 0)
		r = -errno;
	(void)ledger_lock(ledger, false);
	return ledger_explain(r, e);
}

int ledger_enter_removed(int ledger, const struct ledger_removed *removed, struct error *e)
{
	_cleanup_buf_ struct buf event = BUF_INIT(FRAME_EVENT_MAX);
	struct ledger_tail tail = {.seq = 0};
	int r = ledger_prepare(ledger, &tail);

	if (r == 0) {
		ledger_begin_entry(&event, &tail, "removed");
		ledger_put_session(&event, removed->session, removed->number);
		frame_put_u64(&event, "events", removed->events);
		frame_put_hash(&event, "head", &removed->head);
		frame_put_u64(&event, "bytes", removed->bytes);
		frame_put_bytes(&event, "reason", span_of_str(removed->reason));
		r = ledger_write_entry(ledger, &event, &tail);
	}
	if (r == 0 && fdatasync(ledger) < 0)
		r = -errno;
	(void)ledger_lock(ledger, false);
	return ledger_explain(r, e);
}

/* --- reading -------------------------------------------------------------------------- */

static const char *const ledger_kinds[LEDGER_KIND_COUNT] = {
	[LEDGER_CUT] = "cut",
	[LEDGER_BEGIN] = "begin",
	[LEDGER_END] = "end",
	[LEDGER_REMOVED] = "removed",
};

/* Reads what an entry has besides its session; NULL, or what is wrong. */
static const char *ledger_read_more(struct ledger_entry *entry)
{
	const struct frame *f = &entry->frame;

	if (entry->kind == LEDGER_BEGIN)
		return frame_split_mac(f, &entry->covered, &entry->mac) ? NULL
									: "a begin without its mac";
	if (frame_number_member(f, "events", &entry->events) < 0 ||
	    !frame_hash_member(f, "head", &entry->head))
		return "an end without its head";
	entry->reason = frame_plain_member(f, "reason");
	if (entry->kind == LEDGER_END && !frame_hash_member(f, "root", &entry->root))
		return "an end without its root";
	return NULL;
}

static const char *ledger_read_entry(struct ledger_reader *r, struct ledger_entry *ret)
{
	const struct frame *f = &ret->frame;
	char prev[HASH_HEX];

	hash_format(&r->prev, prev);
	if (f->seq != r->seq + 1 || memcmp(f->prev.ptr, prev, HASH_HEX) != 0)
		return "an entry does not follow the one before it";
	while (ret->kind < LEDGER_KIND_COUNT &&
	       !span_equal(f->kind, span_of_str(ledger_kinds[ret->kind])))
		ret->kind++;
	if (ret->kind == LEDGER_KIND_COUNT)
		return "an entry of no kind";
	if (frame_number_member(f, "begun", &ret->begun) < 0 || ret->begun < r->begun)
		return "an entry that does not count the sessions";
	if (ret->kind == LEDGER_CUT)
		return NULL;
	ret->session = frame_plain_member(f, "session");
	if (ret->session.len == 0 || ret->session.len > LEDGER_NAME_MAX ||
	    frame_number_member(f, "number", &ret->number) < 0)
		return "an entry that names no session";
	return ledger_read_more(ret);
}

enum feed ledger_next(struct ledger_reader *r, struct ledger_entry *ret)
{
	memset(ret, 0, sizeof(*ret));
	enum feed said =
		frame_read((struct span){r->bytes.ptr + r->at, r->bytes.len - r->at}, &ret->frame);

	if (said == FEED_MORE)
		return said;
	r->why = said == FEED_BAD ? ret->frame.why : ledger_read_entry(r, ret);
	if (r->why)
		return FEED_BAD;
	r->at += ret->frame.len;
	r->seq = ret->frame.seq;
	r->prev = ret->frame.hash;
	r->begun = ret->begun;
	merkle_add(&r->tree, &ret->frame.hash);
	return FEED_DONE;
}
