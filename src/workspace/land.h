/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landing: a set of changes comes to a tree, all of them or none.
 *
 * A landing is a list of steps.  Each says what stands at a path now (which is checked, by digest,
 * type, mode) and what shall stand there.  It goes through a journal, in a folder of bawn's own:
 *
 *	stage	new content is copied to temporary files beside the tree (a folder
 *		`.bawn-landing-ID` at its top, on its filesystem; of what is mounted in the tree,
 *		at the top of that: land_how.at), hashed as it is copied, and
 *		synced; the journal says which steps there are, and is synced
 *	swap	each path is exchanged with its temporary file (renameat2), in an order in which
 *		directories are there before what is in them; what came out is checked to be
 *		what was expected; directories are synced
 *	commit	the journal says so, and is synced.  Before this, whoever finds the journal rolls
 *		back; after it, forward
 *	keep	what came out is moved to the journal's folder, from where `undo` lands it
 *
 * No link is followed and no path leaves the tree: every step is taken in a directory that was
 * opened beneath it, and held.
 */
#ifndef BAWN_LAND_H
#define BAWN_LAND_H

#include "changes.h"

#include <limits.h>

/* What a file or folder has besides mode and time. */
struct land_has {
	uint32_t uid, gid;      /* as far as we may */
	struct span attributes; /* all of them: attributes.h */
};

struct land_step {
	const char *path;     /* below the tree; checked: no empty, ".", ".." part, no NUL */
	struct object before; /* what must stand there; files and links hashed, or ABSENT */
	struct object after;  /* what shall stand there: FILE, DIR, LINK or ABSENT; mode 0777 */
	int source;           /* of a FILE: its content, at offset 0; -1: opened by `open` */
	size_t kept;          /* of undo alone: which of what is kept, from 1 */
	size_t file;          /* FILEs with the same number, from 1, become one with these names */
	const char *twin;     /* of a FILE: it shall be the one that is here now; or NULL */
	/* Of a FILE or DIR: it shall have this.  NULL: a file what its source has, or what stood
	 * there; a folder that stays what it has. */
	const struct land_has *has;
};

struct land_undo;

struct land_how {
	int tree;    /* the workspace's folder */
	int journal; /* bawn's own folder for it: sessions/NAME/journal */
	/* Something is mounted there, and all steps lie on it (land_at); NULL: on the tree's own. */
	const char *at;
	const char *what; /* "apply", "undo" or "redo", kept in the journal */
	/* Of undo and redo: the steps are of this.  What is kept comes back itself where the
	 * filesystem allows, with its very times, and is forgotten when it has. */
	const struct land_undo *undo;
	/* Modes land whole, with the bits beyond 0777: of what was there before. */
	bool whole_modes;
	/* The content of step i: a descriptor that we close, or -errno. */
	int (*open)(void *context, size_t i);
	/* The folder that step i makes, for its attributes user.*: likewise; what cannot be opened
	 * brings none.  NULL: none does. */
	int (*open_folder)(void *context, size_t i);
	/* The time that a folder shall have, which has `now` ("" is the tree's own); 0: this
	 * landing's.  NULL: always that. */
	int64_t (*folder_time)(void *context, const char *path, int64_t now);
	/* The last word before anything is swapped: negative ends it, nothing was changed. */
	int (*decide)(void *context);
	void (*progress)(void *context, size_t done, size_t all);
	void *context;
};

struct land_result {
	size_t landed;
	uint64_t number;  /* of what is kept of it: kept-N */
	size_t conflict;  /* -EEXIST, -ESTALE: the step whose `before` does not stand there */
	bool is_conflict; /* the failure is about that step */
	bool unfinished;  /* landed, but the journal is left: land_recover has something to do */
	bool aside;       /* what somebody wrote meanwhile was moved to bawn-set-aside-ID */
};

/* 0; -ESTALE: what stands at a path is not what was expected, and nothing was changed; others
 * likewise.  The journal is left only when even rolling back failed (-EIO and the like), and says
 * so: land_recover goes on from there. */
int land(const struct land_how *how, const struct land_step *steps, size_t count,
	 struct land_result *ret, struct error *e);

/* From the beginning of a landing on, SIGINT, SIGHUP and SIGTERM wait: half of it in the tree is worse
 * than a moment more.  One that comes before anything is swapped calls the landing off (-EINTR); from
 * then on it is finished.  Who landed does the rest, says what came of it and lets them come. */
void land_let_signals(void);

/* What a landing can rename lies on one mount.  The folder where that of this path is mounted: "" is
 * the tree's own; of what is not there, that of its folder.  0 or -errno. */
int land_at(int tree, const char *path, char ret[PATH_MAX]);

enum land_way { LAND_NOTHING, LAND_ROLLED_BACK, LAND_FINISHED };

struct land_found {
	enum land_way way;
	char aside[PATH_MAX]; /* the folder, in the tree, of what somebody was in the way of */
};

/* One was cut short, and nobody has settled it yet; one that is under way is not. */
bool land_is_cut_short(int journal);

/* Whoever opens a workspace calls this first: an interrupted landing is rolled back, or finished.
 */
int land_recover(int tree, int journal, struct land_found *ret, struct error *e);

/* The steps that undo the last landing kept in the journal, with their content; -ENOENT: none.
 * What was kept of a landing and cannot be read is passed over, and counted in *unread. */
int land_undo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e);
/* Likewise of the last undo that is not redone, whatever was applied since. */
int land_redo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e);
/* The one before it, of the same kind, in its place; -ENOENT: none, and *u is NULL. */
int land_undo_before(int journal, struct land_undo **u, size_t *unread, struct error *e);
/* What could be taken back of it was, and the user left the rest: it is no longer the last one. */
bool land_undo_is_passed(const struct land_undo *u);
int land_undo_pass(const struct land_undo *u);
const struct land_step *land_undo_steps(const struct land_undo *u, size_t *ret_count);
int land_undo_content(void *undo, size_t i); /* as land_how.open */
/* Step i left an index of git's, and what stands there now says the same. */
bool land_undo_is_refreshed(const struct land_undo *u, size_t i, int tree);
void land_undo_free(struct land_undo **u);

#endif
