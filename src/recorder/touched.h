/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths in events: they tell at the end of a session whether a change on disk has an event
 * (reconcile.h).
 *
 * Whoever writes an event of a file says here what it did: touched_add for what it did to a path,
 * touched_renamed or touched_linked for the two paths of a rename or a symbolic link.  Paths are as
 * in the event: absolute, as the box names them, without "." and "..", links not followed.
 *
 * A path is 57 bits of a keyed hash and 7 bits of what was done to it: 8 bytes, in a table that is
 * at least half empty; 1,048,576 paths are 16 MB, and it takes no more.  The key is the session's
 * own, so that nobody can choose a name that has the hash of another.  Only the two paths of a pair
 * are kept as text, because what is beneath them has other names before and after.
 *
 * `left_out` counts the paths that came when the table was full, so that no loss is hidden: then
 * the caller has to say that it does not know.
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
	TOUCHED_DEPTH = 8,           /* renames and links between two names of a thing */
};

/* What was done to a path; a set. */
enum touched_effect {
	TOUCHED_MADE = 1 << 0,  /* made, written, shortened; or moved or linked to here */
	TOUCHED_META = 1 << 1,  /* mode, owner, attributes */
	TOUCHED_GONE = 1 << 2,  /* removed, or moved away */
	TOUCHED_CHILD = 1 << 3, /* something in it was made or removed; set by touched_add */
	TOUCHED_MOVED = 1 << 4, /* one end of a rename for whose pair there was no room */
	TOUCHED_IS_PAIR = 1 << 5,
	TOUCHED_TIMES = 1 << 6, /* its times were set to now */
	TOUCHED_ANY = TOUCHED_MADE | TOUCHED_META | TOUCHED_GONE | TOUCHED_TIMES,
};

struct touched_pair {
	uint64_t from, to;                         /* hashes */
	uint32_t from_at, to_at, from_len, to_len; /* places in the text */
	bool link; /* `from` is a symbolic link that leads to `to`; else a rename */
};

struct touched {
	struct keyed key;
	uint64_t *slots;
	size_t capacity, count;
	struct touched_pair *pairs;
	size_t pair_count;
	uint32_t *by_from, *by_to; /* the pairs sorted by their hashes, once settled */
	struct buf text;
	uint64_t folder;   /* hash of the last path's directory */
	uint64_t left_out; /* paths that did not fit */
};

int touched_init(struct touched *t); /* 0, or -errno: there is no key */
void touched_fini(struct touched *t);
#define _cleanup_touched_ _cleanup_(touched_fini)

void touched_add(struct touched *t, struct span path, unsigned int effects);

/* Adds a rename, and its two effects: `from` is gone, `to` is made. */
void touched_renamed(struct touched *t, struct span from, struct span to);

/* Adds a symbolic link and its text, which may be relative to its folder. */
void touched_linked(struct touched *t, struct span link, struct span says);

/* Call it when nothing more is added; then touched_explains works.  0 or -errno. */
int touched_settle(struct touched *t);

/* What was done to this very path: a set of enum touched_effect. */
unsigned int touched_effects(const struct touched *t, struct span path);

/*
 * Whether one of these effects was on this path: by this name, by one that it had before a folder
 * above it was renamed (or, for something that is gone, after), or by one that leads there through
 * symbolic links.
 */
bool touched_explains(const struct touched *t, struct span path, unsigned int effects);

/* Finds the next name that this path had before (`back`) or has after a rename of itself or of a
 * folder above it; `at` starts at 0.  False: there are no more. */
bool touched_other_name(const struct touched *t, struct span path, bool back, size_t *at,
			struct buf *ret);

#endif
