/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What undo leaves of git's own files, whether it takes back what landed or what a direct session
 * did.
 *
 * Objects stay with their repository: what the user has committed, branched or staged since may
 * need them, and git removes what nothing does.  git's other files hang together: a HEAD or an
 * index that goes back without the refs leaves no repository.  So where one was changed since that
 * says what the repository is (not a log, not the words of a commit), all of them stay.
 */
#ifndef BAWN_UNDO_GIT_H
#define BAWN_UNDO_GIT_H

#include "git_place.h"

/* Paths that may be taken back, by number, and what is known of each. */
struct undo_git {
	size_t count;
	void *context;
	const char *(*path)(const void *context, size_t i);
	ssize_t (*find)(const void *context, const char *path); /* or negative */
	bool (*stays)(const void *context, size_t i);           /* it was changed since */
	bool (*goes)(const void *context, size_t i);            /* nothing will be there */
	void (*leave)(void *context, size_t i); /* one that stays may be among them */
};

/* Leaves all of each repository of which a file stays that says what it is; 0 or -ENOMEM. */
int undo_git_leave(const struct undo_git *g);

/* The repository of a path that is among objects: its number, or negative. */
ssize_t undo_git_repository(const struct undo_git *g, const char *path);

/* Whether that goes, too: it came with the object, and nothing of it stays. */
bool undo_git_goes(const struct undo_git *g, const char *path);

#endif
