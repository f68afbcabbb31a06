/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: which names the box has taken away.  What stands there at the end somebody else has
 * made, and undo leaves it.
 *
 * All that is heard are calls that are about to go on, and a call may fail.  So of each name it is
 * remembered what stood there when the box was about to take it away: the same thing, found there
 * later, says that the call failed.  And where somebody has made something since, a call of the box
 * that would put something there says nothing by itself; what counts is whether that thing is still
 * there and as it was.
 *
 *	gone	nothing is known, or it is the box's		TAKEN, of what stands there
 *		TAKEN, and another thing or nothing is there	TAKEN, of nothing
 *		OVER, and that thing is as it was		TAKEN, of nothing
 *	came	TAKEN, and that very thing, or nothing is there	forgotten: it is the box's
 *		TAKEN, and another thing is there		OVER, of this thing
 *		OVER, and that thing is not as it was		forgotten
 *	asked	TAKEN: it is the box's when it is that very thing
 *		OVER: it is the box's when that thing is not as it was
 *
 * A thing is known by its device, its number and when it was born, for numbers are given again.
 * Where a filesystem does not tell that, by when it was last changed: then what the box changed
 * after a call that failed is taken for somebody else's, and stays.
 */
#ifndef BAWN_FIRST_TAKEN_H
#define BAWN_FIRST_TAKEN_H

#include "keyed.h"
#include "span.h"

enum {
	FIRST_TAKEN_MAX = 1 << 20,   /* names; of more it is not known */
	FIRST_TAKEN_MOVED = 1 << 16, /* folders; with more all that is known is forgotten */
};

struct first_taken_slot;

/* Beneath it names mean other things since then. */
struct first_taken_folder {
	uint64_t path; /* a hash; 0: empty */
	uint64_t since;
};

struct first_taken {
	struct keyed key;
	struct first_taken_slot *slots;
	size_t capacity, count;
	struct first_taken_folder *moved;
	size_t moved_capacity, moved_count;
	uint64_t moves; /* so many there have been */
};

/* What stands at a name. */
struct first_thing {
	uint64_t is;     /* a hash of what it is known by; 0: nothing is there */
	int64_t changed; /* ctime */
};

int first_taken_init(struct first_taken *t); /* 0 or -errno: there is no key */
void first_taken_fini(struct first_taken *t);

/* A folder is about to be renamed: beneath both paths names mean other things from here on. */
void first_taken_moved(struct first_taken *t, struct span from, struct span to);

/* What is open there; fd < 0: nothing.  0 or -errno. */
int first_taken_look(const struct first_taken *t, int fd, struct first_thing *ret);

/* Whether first_taken_came would say anything of a name, so that it has to be looked at. */
bool first_taken_has(const struct first_taken *t, struct span path);

/* The box is about to take a name away, or to put something there; fails: not where something is.
 */
void first_taken_gone(struct first_taken *t, struct span path, const struct first_thing *now);
void first_taken_came(struct first_taken *t, struct span path, const struct first_thing *now,
		      bool fails);

/* What stands there is not the box's. */
bool first_taken_is(const struct first_taken *t, struct span path, const struct first_thing *now);

#endif
