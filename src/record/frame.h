/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a record, byte by byte.  docs/RECORD.md says the same for users.
 *
 * A file of frames, with nothing before, between or after them.  A frame is one line:
 *
 *	offset	bytes	what
 *	0	8	length of the event in bytes, hexadecimal, lower case: 00000002 to 0000ffff
 *	8	1	space
 *	9	64	hash of the event: SHA-256 of a zero byte and the event (a leaf of
 *			RFC 6962), hexadecimal, lower case
 *	73	1	space
 *	74	length	the event
 *	...	1	newline
 *
 * An event is a JSON object on one line, in UTF-8, without insignificant white space.  Its
 * first members are always these, in this order and spelling:
 *
 *	{"seq":N,"prev":"HASH","boot":N,"wall":"TIME","kind":"WORD"
 *
 *	seq	1, 2, 3...
 *	prev	hash of the event before; of the first, 64 zeros
 *	boot	nanoseconds of the boot clock (it goes on during suspend, and never back)
 *	wall	the clock on the wall, UTC, as 2026-11-15T05:52:20.123456789Z
 *	kind	a word of lower-case letters and '-'
 *
 * and then the members of the kind.  Text that the agent chose (a path, an argument) is a string
 * if it is valid UTF-8, with controls and invisible characters escaped; other bytes are
 * {"b64":"..."}.  A reader gets the original bytes from both.
 *
 * A reader of frames is strict: each of these has one spelling.  When a file ends within
 * a frame, everything before that frame is still good.
 */
#ifndef BAWN_FRAME_H
#define BAWN_FRAME_H

#include "buf.h"
#include "feed.h"
#include "hash.h"

enum {
	FRAME_HEAD = 74,
	FRAME_EVENT_MIN = 2,
	FRAME_EVENT_MAX = 0xffff,
	FRAME_MAX = FRAME_HEAD + FRAME_EVENT_MAX + 1,
	FRAME_KIND_MAX = 24,
	FRAME_WALL_SIZE = 30, /* of the time on the wall, without a NUL */
};

/* A frame; spans point into the bytes that were read. */
struct frame {
	size_t len;        /* of the whole frame */
	struct span event; /* JSON */
	struct hash hash;  /* of the event; the head has the same */
	struct span hex;   /* the same, as it is written there */
	uint64_t seq;
	struct span prev; /* hexadecimal, as it is written */
	uint64_t boot;
	struct span wall, kind;
	struct span rest; /* of the event after its kind: ",..." and the last brace */
	const char *why;  /* when BAD */
};

/* DONE, MORE (the bytes end within a frame) or BAD. */
enum feed frame_read(struct span bytes, struct frame *ret);

/* NULL, or why it cannot follow the event of that number and hash. */
const char *frame_follows(const struct frame *f, uint64_t seq, const char head[HASH_HEX]);

/* The text of the second that was last written; all zeros to begin with. */
struct frame_clock {
	int64_t second;
	char wall[FRAME_WALL_SIZE];
};

/* Writes the event's first members with the current time, up to the kind.  The caller writes the
 * others and the last brace. */
void frame_begin(struct buf *event, struct frame_clock *clock, uint64_t seq,
		 const struct hash *prev, const char *kind);

/* Head, event and newline; ret_hash is the event's. */
void frame_put(struct buf *into, struct span event, struct hash *ret_hash);

/* ,"key":"text" or ,"key":{"b64":"..."} */
void frame_put_bytes(struct buf *event, const char *key, struct span bytes);
/* The value alone. */
void frame_put_value(struct buf *event, struct span bytes);
/* How many bytes from the start fit into `room` as a value, without cutting a character. */
size_t frame_value_fits(struct span bytes, size_t room);
void frame_put_u64(struct buf *event, const char *key, uint64_t value);
void frame_put_hash(struct buf *event, const char *key, const struct hash *hash);

/* The string member of this name in `rest`, as it is written; empty when there is none.  For
 * members that we wrote ourselves and that have no escapes in them. */
struct span frame_plain_member(const struct frame *f, const char *key);
/* A hash likewise. */
bool frame_hash_member(const struct frame *f, const char *key, struct hash *ret);
/* The mac at the end of an event, and the bytes before it, which it covers. */
bool frame_split_mac(const struct frame *f, struct span *ret_covered, struct hash *ret_mac);
/* Digits likewise; -ENOENT. */
int frame_number_member(const struct frame *f, const char *key, uint64_t *ret) BAWN_MUST_USE;

#endif
