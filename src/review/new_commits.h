/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commits that a session made: those that its branches, tags and HEAD have and none of the
 * user's refs had.  Read from the layers, bounded in number and in time; git is not run.
 */
#ifndef BAWN_NEW_COMMITS_H
#define BAWN_NEW_COMMITS_H

#include "branch_stray.h"
#include "changes.h"

enum { NEW_COMMITS_MAX = 1000 };

struct new_commit {
	char name[8];        /* seven digits */
	const char *gitdir;  /* of its repository */
	const char *subject; /* the first line of what it says; any bytes */
	const char *author;
};

struct new_commits {
	struct arena arena;
	struct new_commit *items; /* of a repository the newest first */
	size_t count;
	bool cut; /* there may be more */
};

/* `meant` says which changes of refs count; NULL: all do.  `strays` count with the log of HEAD.  0 or -ENOMEM: what cannot be read is
 * left out. */
int new_commits_read(const struct view *v, const struct changes *c,
		     bool (*meant)(const void *context, size_t i), const void *context,
		     const struct branch_strays *strays, struct new_commits *ret);
void new_commits_fini(struct new_commits *n);
#define _cleanup_new_commits_ _cleanup_(new_commits_fini)

#endif
