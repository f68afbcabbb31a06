/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landing: a set of changes goes to a tree, all of them or none.
 *
 * A landing is a list of steps.  Each says what is at a path now (we check that by digest, type,
 * mode) and what shall be there.  A journal, in a folder of bawn, goes with it:
 *
 *	stage	copies new content to temporary files beside the tree (a folder
 *		`.bawn-landing-ID` at its top, on its filesystem; for something that is mounted in
 *		the tree, at the top of that: land_how.at), hashes it, and syncs it; writes the
 *		steps into the journal, and syncs that
 *	swap	exchanges each path with its temporary file (renameat2), in an order in which
 *		directories are there before what is in them; checks that what came out is
 *		what was expected; syncs the directories
 *	commit	writes that into the journal, and syncs it.  A process that finds the journal rolls
 *		back before this, and forward after it
 *	keep	moves what came out to the journal's folder, from where `undo` lands it
 *
 * We follow no link and leave the tree by no path: every step works in a directory that was opened
 * beneath the tree, and is held open.
 */
#ifndef BAWN_LAND_H
#define BAWN_LAND_H

#include "changes.h"

#include <limits.h>

/* What a file or folder has besides its mode and time. */
struct land_has {
	uint32_t uid, gid;      /* as far as we may set them */
	struct span attributes; /* all attributes, as attributes.h writes them */
};

struct land_step {
	const char *path;     /* below the tree; checked: no part is empty, "." or "..", no NUL */
	struct object before; /* what must be there; files and links hashed, or ABSENT */
	struct object after;  /* what shall be there: FILE, DIR, LINK or ABSENT; mode 0777 */
	int source;           /* for a FILE: its content, at offset 0; -1: `open` opens it */
	size_t kept;          /* for undo only: the number of the kept object, from 1 */
	size_t file;      /* FILEs with the same number, from 1, become one file with these names */
	const char *twin; /* for a FILE: it becomes another name of the file here; or NULL */
	/* A FILE or DIR gets this.  NULL: a file gets what its source has, or what was there; a
	 * folder that stays keeps what it has. */
	const struct land_has *has;
};

struct land_undo;

struct land_how {
	int tree;    /* the workspace's folder */
	int journal; /* bawn's own folder for it: sessions/NAME/journal */
	/* Something is mounted there, and all steps are on it (land_at); NULL: they are on the
	 * tree's own mount. */
	const char *at;
	const char *what; /* "apply", "undo" or "redo", kept in the journal */
	const char *of;   /* the session, likewise; NULL: not known */
	/* For undo and redo: the steps belong to this.  The kept object itself comes back if the
	 * filesystem allows that, with its times, and is then no longer kept. */
	const struct land_undo *undo;
	/* Modes land whole, with the bits beyond 0777: for what was there before. */
	bool whole_modes;
	/* Opens the content of step i: returns a descriptor, which land closes, or -errno. */
	int (*open)(void *context, size_t i);
	/* Opens the folder that step i makes, for its attributes user.*: the same.  A folder that
	 * cannot be opened brings none.  NULL: no folder does. */
	int (*open_folder)(void *context, size_t i);
	/* The time that a folder shall have; `now` is the one that it has ("" is the tree's own
	 * folder); 0: this landing's time.  NULL: always that. */
	int64_t (*folder_time)(void *context, const char *path, int64_t now);
	/* The last question before land swaps anything: a negative answer ends it, and nothing is
	 * changed. */
	int (*decide)(void *context);
	void (*progress)(void *context, size_t done, size_t all);
	void *context;
};

struct land_result {
	size_t landed;
	uint64_t number;  /* what came out is in kept-N, with this N */
	size_t conflict;  /* -EEXIST, -ESTALE: the step whose `before` is not there */
	bool is_conflict; /* the failure is about that step */
	bool unfinished;  /* it landed, but the journal is left: land_recover must finish it */
	bool aside; /* something that somebody wrote meanwhile was moved to bawn-set-aside-ID */
};

/*
 * 0; -ESTALE: something at a path is not what was expected, and nothing was changed; other errors:
 * nothing was changed either.  The journal is left only if rolling back failed, too (-EIO and
 * similar), and the error says so: land_recover goes on from there.
 */
int land(const struct land_how *how, const struct land_step *steps, size_t count,
	 struct land_result *ret, struct error *e);

/*
 * From the beginning of a landing on, SIGINT, SIGHUP and SIGTERM wait: half a landing in the tree
 * is worse than a short wait.  A signal that comes before anything is swapped calls the landing off
 * (-EINTR); after that the landing is finished.  The caller does the rest, reports, and calls this
 * to let the signals come.
 */
void land_let_signals(void);

/* A landing can rename only on one mount.  Finds the folder where the mount of this path begins: ""
 * is the tree's own; for a path that is not there, that of its folder.  0 or -errno. */
int land_at(int tree, const char *path, char ret[PATH_MAX]);

enum land_way { LAND_NOTHING, LAND_ROLLED_BACK, LAND_FINISHED };

struct land_found {
	enum land_way way;
	char aside[PATH_MAX]; /* the folder in the tree with what was in the way */
};

/* A landing was cut short, and nobody has settled it yet.  A landing that is under way does not
 * count. */
bool land_is_cut_short(int journal);

/* Rolls back or finishes an interrupted landing.  Code that opens a workspace calls this first. */
int land_recover(int tree, int journal, struct land_found *ret, struct error *e);

/* Opens the steps that undo the last landing in the journal, with their content; -ENOENT: there is
 * none.  A kept landing that cannot be read is passed over, and counted in *unread. */
int land_undo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e);
/* The same for the last undo that was not redone, whatever was applied since. */
int land_redo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e);
/* Replaces *u by the one before it, of the same kind; -ENOENT: there is none, and *u is NULL. */
int land_undo_before(int journal, struct land_undo **u, size_t *unread, struct error *e);
/* All of it that could be undone was, and the user left the rest: it is no longer the last one.
 * land_undo_pass marks it so. */
bool land_undo_is_passed(const struct land_undo *u);
int land_undo_pass(const struct land_undo *u);
const struct land_step *land_undo_steps(const struct land_undo *u, size_t *ret_count);
int land_undo_content(void *undo, size_t i); /* as land_how.open */
/* Step i left an index of git, and the index that is there now says the same. */
bool land_undo_is_refreshed(const struct land_undo *u, size_t i, int tree);
void land_undo_free(struct land_undo **u);

#endif
