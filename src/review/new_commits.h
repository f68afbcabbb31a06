/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commits that a session made: those that its branches, tags and HEAD have and none of the
 * user's refs had.  We read them from the layers, with limits on number and time, and do not run
 * git.
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
	const char *subject; /* the first line of its message; any bytes */
	const char *author;
};

/* Commits of the user that a branch had and would lose. */
struct lost_commits {
	const char *gitdir, *branch;
	size_t change; /* the change of the ref */
	size_t count;
	bool cut;
	struct new_commit first; /* the newest */
};

struct new_commits {
	struct arena arena;
	struct lost_commits *lost;
	size_t lost_count;
	struct new_commit *items; /* the newest of a repository first */
	size_t count;
	bool cut; /* there may be more: too many, or they take too long */
};

/* `meant` says which changes of refs count; NULL: all do.  `strays` count with the log of HEAD.  0
 * or -ENOMEM: what cannot be read is left out. */
int new_commits_read(const struct view *v, const struct changes *c,
		     bool (*meant)(const void *context, size_t i), const void *context,
		     const struct branch_strays *strays, struct new_commits *ret);
/* Puts "2 commits of yours come off main: 1234567 subject, and 1 more", not escaped yet. */
void lost_commits_put(struct buf *into, const struct lost_commits *l);
void new_commits_fini(struct new_commits *n);
#define _cleanup_new_commits_ _cleanup_(new_commits_fini)

#endif
