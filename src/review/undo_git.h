/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of git's own files undo leaves, whether it undoes a landing or a direct session.
 *
 * Objects stay with their repository: what the user has committed, branched or staged since may
 * need them, and git removes what nothing does.  git's other files belong together: if HEAD or the
 * index goes back without the refs, the repository is broken.  So if one of them was changed since
 * that says what the repository is (not a log, not the message of a commit), all of them stay.
 */
#ifndef BAWN_UNDO_GIT_H
#define BAWN_UNDO_GIT_H

#include "git_place.h"

/* Paths that undo may take back, by number, and what we know of each. */
struct undo_git {
	size_t count;
	void *context;
	const char *(*path)(const void *context, size_t i);
	ssize_t (*find)(const void *context, const char *path); /* or negative */
	bool (*stays)(const void *context, size_t i);           /* it was changed since */
	bool (*goes)(const void *context, size_t i); /* nothing will be there after undo */
	void (*leave)(void *context, size_t i);      /* also called for one that stays */
};

/* Leaves all files of a repository of which a file stays that says what it is; 0 or -ENOMEM. */
int undo_git_leave(const struct undo_git *g);

/* The number of the repository of a path among objects, or negative. */
ssize_t undo_git_repository(const struct undo_git *g, const char *path);

/* The repository goes, too: it came with the object, and nothing of it stays. */
bool undo_git_goes(const struct undo_git *g, const char *path);

#endif
