/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: which names the box has removed.  If something is there at the end, somebody else
 * made it, and undo leaves it.
 *
 * We only hear of calls that are about to go on, and a call may fail.  So for each name we remember
 * what was there when the box was about to remove it: if the same thing is there later, the call
 * failed.  And when somebody has made something there since, a call of the box that would put
 * something there says nothing by itself; what counts is whether that thing is still there and
 * unchanged.
 *
 *	gone	nothing is known, or it is the box's		TAKEN, of what is there
 *		TAKEN, and another thing or nothing is there	TAKEN, of nothing
 *		OVER, and that thing is unchanged		TAKEN, of nothing
 *	came	TAKEN, and that very thing, or nothing is there	forgotten: it is the box's
 *		TAKEN, and another thing is there		OVER, of this thing
 *		OVER, and that thing has changed		forgotten
 *	asked	TAKEN: it is the box's when it is that very thing
 *		OVER: it is the box's when that thing has changed
 *
 * A name is a name in a folder, and we know the folder by its inode, not by its path: a name that
 * the box removed from a folder stays removed wherever, and however often, the box moves the
 * folder.  When somebody else made a folder where the box had removed one, only what the box put
 * there itself is the box's: a name in it of which we know nothing is TAKEN, of nothing.  The same
 * is true of a folder that the box made anew: names that were in the former one stay removed as
 * long as the box does not make them again.
 *
 * A folder that was made during the session may come, by a rename, to where one of the user's was.
 * Then names in it are names that were in that one.  So when it is first moved, we note what is in
 * it; from then on only that and what the box puts there is the box's.
 *
 * We know a thing by its device, its number and when it was made, because numbers are used again.
 * If a filesystem does not tell that time, we know a file by when it was last changed: then a file
 * that the box changed after a call that failed counts as somebody else's, and stays.
 */
#ifndef BAWN_FIRST_TAKEN_H
#define BAWN_FIRST_TAKEN_H

#include "keyed.h"
#include "span.h"

enum {
	FIRST_TAKEN_MAX = 1 << 20,  /* names; we do not know more */
	FIRST_TAKEN_LIST = 1 << 16, /* names in a folder that is moved */
};

struct first_taken_slot;

struct first_taken {
	struct keyed key;
	struct first_taken_slot *slots;
	size_t capacity, count;
};

/* What is at a name. */
struct first_thing {
	uint64_t is;     /* a hash of what we know it by; 0: nothing is there */
	int64_t changed; /* ctime; 0: a folder, which changes with what is in it */
};

/* A name, and what is there. */
struct first_place {
	uint64_t name; /* a hash of the folder and of the name in it */
	bool apart;    /* only what the box put into that folder is the box's */
	struct first_thing now;
};

int first_taken_init(struct first_taken *t); /* 0, or -errno: there is no key */
void first_taken_fini(struct first_taken *t);

/* Describes what fd is open on; fd < 0: nothing.  0 or -errno. */
int first_taken_look(const struct first_taken *t, int fd, struct first_thing *ret);

/* The place of a path beneath a folder.  0, or -errno: there is a link on the way, or no folder. */
int first_taken_find(const struct first_taken *t, int top, const char *path,
		     struct first_place *ret);

/* The box is about to remove a name, or to put something there; fails: the call fails if something
 * is there. */
void first_taken_gone(struct first_taken *t, const struct first_place *at);
void first_taken_came(struct first_taken *t, const struct first_place *at, bool fails);

/* A folder is about to be moved: notes what is in it.  Does nothing when the folder is older than
 * `since` (CLOCK_REALTIME), or has too much in it. */
void first_taken_list(struct first_taken *t, int top, const char *path, int64_t since);

/* Comes after these: a folder moves, or (exchanged) what comes back may be one. */
void first_taken_moved(struct first_taken *t, const struct first_place *from,
		       const struct first_place *to, bool exchanged);

/* Whether what is there is not the box's. */
bool first_taken_is(const struct first_taken *t, const struct first_place *at);

#endif
