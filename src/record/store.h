/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a user, for readers:
 *
 *	RECORD/ledger, seal, verification	ledger.h
 *	RECORD/20261115-084532-calm-otter/	one session: its start (UTC) and name; with -2, -3
 *						after it when that exists already
 *		000001.log, 000002.log...	its segments (segment.h); the chain goes on from
 *						one to the next
 *
 * The recorder holds a lock (flock) on the session's folder while it is alive.  A reader that asks
 * whether it is alive takes a shared lock for a moment; a recorder that starts waits for it.
 */
#ifndef BAWN_STORE_H
#define BAWN_STORE_H

#include "error.h"
#include "frame.h"
#include "segment.h"

enum {
	STORE_FOLDER_SIZE = 64, /* of a session's folder's name, with its NUL */
	STORE_STAMP = 15,       /* "20261115-084532" */
	STORE_SESSIONS_MAX = 1 << 20,
};

struct store_session {
	char folder[STORE_FOLDER_SIZE];
	char name[STORE_FOLDER_SIZE]; /* calm-otter */
	int64_t start;                /* seconds since 1970, as the folder says */
};

struct store {
	int dir;
	struct store_session *sessions; /* oldest first */
	size_t count;
};

#define STORE_INIT ((struct store){.dir = -1})

/* Takes the folder of all records, and lists it. */
int store_open(int dir, struct store *ret, struct error *e);
void store_fini(struct store *s);
#define _cleanup_store_ _cleanup_(store_fini)

/* Whether a name is one of a session's folder; fills ret (NULL: only asks). */
bool store_parse_folder(const char *folder, struct store_session *ret);

/*
 * The session that a person means: `last`, a whole folder name, a name (the newest of it), or
 * the beginning of one of these that fits one session only.  NULL and an error when there is
 * none, or more than one.  `last` is a session if there is one, not the record of a verb (apply,
 * undo, ...).
 */
const struct store_session *store_find(const struct store *s, const char *typed, struct error *e);

/* Whether it is a session's record.  The record of a verb (apply, undo, snapshot) has the verb's name,
 * and that of a run without a box `host`, which no session is called. */
bool store_is_session(const struct store_session *session);
bool store_is_verb(const char *name);

/* Whether `one` is newer.  Folder names have the start in whole seconds; of two that started in
 * the same second, the folder made last is newer.  Of two with one name, the number after it
 * decides. */
bool store_is_newer(const struct store *s, const struct store_session *one,
		    const struct store_session *other);

/* Its folder, for reading; a descriptor, or -errno. */
int store_open_session(const struct store *s, const struct store_session *session, struct error *e);

/* Whether its recorder is alive. */
bool store_is_running(const struct store *s, const struct store_session *session);

/* How many segments there are, from 1 on without a gap; and 0 or the number of one after the
 * gap. */
uint32_t store_count_segments(int folder, uint32_t *ret_behind);

/* --- frame by frame ------------------------------------------------------------------- */

struct store_cursor {
	int folder;
	struct segment segment;
	uint32_t number; /* of the segment, from 1; 0: none is open yet */
	uint64_t offset; /* in its frames, of the next one */
	/* The event that was read last, which the next has to follow: number and hash, in
	 * hexadecimal.  After store_seek there is none, and any event may come. */
	bool linked;
	uint64_t seq;
	char head[HASH_HEX];
	char why[256]; /* when BAD */
};

#define STORE_CURSOR_INIT ((struct store_cursor){.folder = -1, .segment = SEGMENT_INIT})

int store_cursor_open(const struct store *s, const struct store_session *session,
		      struct store_cursor *ret, struct error *e);
void store_cursor_close(struct store_cursor *c);
#define _cleanup_store_cursor_ _cleanup_(store_cursor_close)

/*
 * DONE: a frame, whose spans are good until the next call.  MORE: no further frame now; a running
 * session may add some, so the caller may call again at any time.  BAD: these
 * are no frames, they cannot be read, or one does not follow the one before it (why).  verify.h
 * checks seals.
 */
enum feed store_next(struct store_cursor *c, struct frame *ret);

/* Goes to a frame's place: number and offset as they were before it was read; 0, 0 is the first. */
enum feed store_seek(struct store_cursor *c, uint32_t number, uint64_t offset);

/* Says that the next event must follow this one. */
void store_link(struct store_cursor *c, uint64_t seq, const char head[HASH_HEX]);

#endif
