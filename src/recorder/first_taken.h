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
 * A name is one in a folder, and the folder is known by what it is, not by its path: what was taken
 * out of a folder is so wherever the box moves that, and however often.  Of a folder that somebody
 * else made where the box had taken one away, nothing is the box's but what it put there itself: a
 * name in it of which nothing is known is TAKEN, of nothing.  The same is true of a folder that the
 * box made anew, for names that were in the former one are taken away as long as the box does not
 * make them again.
 *
 * A folder that was born while the session ran may come, by a rename, to where one of the user's
 * was, and names in it then are names that were in that one.  So when it is moved first, it is noted
 * what is in it; from then on nothing in it is the box's but that and what the box puts there.
 *
 * A thing is known by its device, its number and when it was born, for numbers are given again.
 * Where a filesystem does not tell that, a file is known by when it was last changed: then what the
 * box changed after a call that failed is taken for somebody else's, and stays.
 */
#ifndef BAWN_FIRST_TAKEN_H
#define BAWN_FIRST_TAKEN_H

#include "keyed.h"
#include "span.h"

enum {
	FIRST_TAKEN_MAX = 1 << 20,  /* names; of more it is not known */
	FIRST_TAKEN_LIST = 1 << 16, /* in a folder that is moved */
};

struct first_taken_slot;

struct first_taken {
	struct keyed key;
	struct first_taken_slot *slots;
	size_t capacity, count;
};

/* What stands at a name. */
struct first_thing {
	uint64_t is;     /* a hash of what it is known by; 0: nothing is there */
	int64_t changed; /* ctime; 0: it is a folder, which changes with what is in it */
};

/* A name, and what stands there. */
struct first_place {
	uint64_t name; /* a hash of the folder and of the name in it */
	bool apart;    /* in that folder only what the box put there is the box's */
	struct first_thing now;
};

int first_taken_init(struct first_taken *t); /* 0 or -errno: there is no key */
void first_taken_fini(struct first_taken *t);

/* What is open there; fd < 0: nothing.  0 or -errno. */
int first_taken_look(const struct first_taken *t, int fd, struct first_thing *ret);

/* The place of a path beneath a folder.  0 or -errno: there is a link on the way, or nothing. */
int first_taken_find(const struct first_taken *t, int top, const char *path,
		     struct first_place *ret);

/* The box is about to take a name away, or to put something there; fails: not where something is.
 */
void first_taken_gone(struct first_taken *t, const struct first_place *at);
void first_taken_came(struct first_taken *t, const struct first_place *at, bool fails);

/* A folder is about to be moved, which may be one that was born since a moment (by CLOCK_REALTIME);
 * else nothing happens, nor where it has too much in it. */
void first_taken_list(struct first_taken *t, int top, const char *path, int64_t since);

/* After these: what goes is a folder, or (exchanged) what comes from there may be one. */
void first_taken_moved(struct first_taken *t, const struct first_place *from,
		       const struct first_place *to, bool exchanged);

/* What stands there is not the box's. */
bool first_taken_is(const struct first_taken *t, const struct first_place *at);

#endif
