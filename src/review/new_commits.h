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

/* Where not all are known. */
#define NEW_COMMITS_CUT \
	"there are more commits than could be looked at: 'git log' has them once they landed"

struct new_commit {
	char name[8];        /* seven digits */
	const char *gitdir;  /* of its repository */
	const char *subject; /* the first line of what it says; any bytes */
	const char *author;
};

/* Commits of the user's that a branch had and would not have any more. */
struct lost_commits {
	const char *gitdir, *branch;
	size_t change; /* the ref's */
	size_t count;
	bool cut;
	struct new_commit first; /* the newest */
};

struct new_commits {
	struct arena arena;
	struct lost_commits *lost;
	size_t lost_count;
	struct new_commit *items; /* of a repository the newest first */
	size_t count;
	bool cut; /* there may be more: too many, or they take too long */
};

/* `meant` says which changes of refs count; NULL: all do.  `strays` count with the log of HEAD.  0 or -ENOMEM: what cannot be read is
 * left out. */
int new_commits_read(const struct view *v, const struct changes *c,
		     bool (*meant)(const void *context, size_t i), const void *context,
		     const struct branch_strays *strays, struct new_commits *ret);
/* "2 commits of yours come off main: 1234567 subject, and 1 more", not yet escaped. */
void lost_commits_put(struct buf *into, const struct lost_commits *l);
void new_commits_fini(struct new_commits *n);
#define _cleanup_new_commits_ _cleanup_(new_commits_fini)

#endif
