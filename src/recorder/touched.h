/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths that events speak of, so that at the end of a session a change on disk can be told to
 * have an event or to have none (reconcile.h).
 *
 * Whoever writes an event of a file says here what it did: touched_add for what it did to a path,
 * touched_pair besides for the two paths of a rename or a symbolic link.  Paths are as in the
 * event: absolute, as inside the box, cleaned of "." and "..", links not followed.
 *
 * A path is 57 bits of a keyed hash and 7 of what was done to it: 8 bytes, in a table that is at
 * least half empty; 1,048,576 paths are 16 MB, and no more are taken.  The key is the session's
 * own, so that nobody can choose a name that is taken for another one.  Only the two paths of a
 * pair are kept as text, because what lies beneath them has other names before and after.
 *
 * Nothing is lost in silence: `left_out` counts the paths that came when the table was full, and
 * who asks then has to say that it does not know.
 */
#ifndef BAWN_TOUCHED_H
#define BAWN_TOUCHED_H

#include "buf.h"
#include "keyed.h"
#include "span.h"

enum {
	TOUCHED_PATHS_MAX = 1 << 20,
	TOUCHED_PAIRS_MAX = 1 << 18,
	TOUCHED_TEXT_MAX = 32 << 20, /* bytes of the paths of all pairs */
	TOUCHED_DEPTH = 8,           /* renames and links between two names of one thing */
};

/* What was done to a path; several may be. */
enum touched_effect {
	TOUCHED_MADE = 1 << 0,  /* made, written, cut; or something was moved or linked there */
	TOUCHED_META = 1 << 1,  /* mode, owner, attributes */
	TOUCHED_GONE = 1 << 2,  /* removed, or moved away */
	TOUCHED_CHILD = 1 << 3, /* something in it was made or removed; follows by itself */
	TOUCHED_MOVED = 1 << 4, /* an end of a rename whose pair did not fit */
	TOUCHED_IS_PAIR = 1 << 5,
	TOUCHED_TIMES = 1 << 6, /* its times were set, to now */
	TOUCHED_ANY = TOUCHED_MADE | TOUCHED_META | TOUCHED_GONE | TOUCHED_TIMES,
};

struct touched_pair {
	uint64_t from, to;                         /* hashes */
	uint32_t from_at, to_at, from_len, to_len; /* in the text */
	bool link; /* `from` is a symbolic link that leads to `to`; else a rename */
};

struct touched {
	struct keyed key;
	uint64_t *slots;
	size_t capacity, count;
	struct touched_pair *pairs;
	size_t pair_count;
	uint32_t *by_from, *by_to; /* the pairs in order of their hashes, once settled */
	struct buf text;
	uint64_t folder;   /* hash of the last path's directory */
	uint64_t left_out; /* paths that did not fit */
};

int touched_init(struct touched *t); /* 0 or -errno: there is no key */
void touched_fini(struct touched *t);
#define _cleanup_touched_ _cleanup_(touched_fini)

void touched_add(struct touched *t, struct span path, unsigned int effects);

/* A rename is two effects as well (`from` is gone, `to` is made), which are added here. */
void touched_renamed(struct touched *t, struct span from, struct span to);

/* A symbolic link and what it says, which may be relative to its folder. */
void touched_linked(struct touched *t, struct span link, struct span says);

/* No more is added from here on; touched_explains may be asked. */
int touched_settle(struct touched *t);

/* What was done to this very path: a set of enum touched_effect. */
unsigned int touched_effects(const struct touched *t, struct span path);

/*
 * Whether one of these effects was on this path, by this name, by one that it had before a folder
 * above it was renamed (or, of something that is gone, after), or by one that leads there through
 * symbolic links.
 */
bool touched_explains(const struct touched *t, struct span path, unsigned int effects);

/* The next name that this path had before (`back`) or has after a rename of itself or of a folder
 * above it; `at` starts at 0.  False: there is none any more. */
bool touched_other_name(const struct touched *t, struct span path, bool back, size_t *at,
			struct buf *ret);

#endif
