/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the changes of boxes are kept: one folder for each workspace, in bawn's state directory.
 * No box sees it.
 *
 *	STATE/workspaces/NAME-HASH/
 *	    path		the workspace it belongs to
 *	    folder		which folder that is, whatever its path (adopt.h)
 *	    lock		flock: held while anything named here is made, changed or removed
 *	    home/		the private home's lowest part
 *	    home.stack		the layers upon it that sessions have left, lowest first
 *	    kept/NAME		the layers upon the system NAME that are kept, likewise
 *	    journal/		of apply and undo, and what they replaced (land.h)
 *	    layers/ID/		a layer: up/ is an overlayfs upper directory, work/ its scratch;
 *				points/: what this box's mounts in the home stand on
 *	    sessions/NAME/	a session that has changes, or runs; flock of this folder: it runs
 *		session		what it is (struct layers_session), replaced whole
 *		interrupted	there where its last box was: layers_session_was_interrupted
 *		command		that it last ran, escaped: for who chooses (src/review/which.h)
 *		first/		first versions of files, kept by the recorder (src/record/first.h);
 *				first/tree: the whole workspace, where btrfs could (subvolume.h);
 *				first/makers: who made the files of a folder (src/record/makers.h)
 *		basis, basis.d/	what landed of it (basis.h)
 *		worktree/	of one with a branch of its own: which paths are its own
 *				(branch_held.h), as its last start had them
 *				(of a linked worktree: a second session, by the same name, stands in
 *				the folder of its repository: shared.h)
 *	    snapshots/NAME	a snapshot (struct layers_snapshot)
 *	    known/		what the sessions of snapshots knew, where they know it no more
 *				(known.h)
 *
 * A stack is a list of layers.  The last one of a session's stack is the upper directory of its
 * box.  All others, and every layer that a snapshot names, are sealed: nobody writes them again.
 * layers_collect removes a layer that no stack and no snapshot names.
 *
 * Everything is made 0700.  The agent wrote what is beneath up/: we open it through open_beneath
 * only, and believe nothing in it.
 */
#ifndef BAWN_LAYERS_H
#define BAWN_LAYERS_H

#include "error.h"
#include "span.h"

#include <limits.h>

enum {
	LAYER_ID_LEN = 16, /* hexadecimal digits, random */
	STACK_MAX = 64,    /* most layers; from LAYERS_SQUASH on lookups become slower */
	LAYERS_SQUASH = 16,
	LAYERS_NAME_MAX = 63, /* of a session or snapshot: [a-z0-9][a-z0-9._-]* */
	LAYERS_BRANCH_MAX = 200,
	LAYERS_START_MAX = 64,  /* a commit's name */
	LAYERS_PATH_MAX = 1024, /* of a repository, where a worktree is linked to it */
};

struct stack {
	char ids[STACK_MAX][LAYER_ID_LEN + 1];
	size_t count;
};

enum layers_stand {
	LAYERS_HERE,    /* in layers/ */
	LAYERS_AFAR,    /* in memory, and kept in layers/: afar.h */
	LAYERS_NOWHERE, /* overlayfs cannot use this filesystem, and there is no other place */
};

/* One workspace's folder, opened. */
struct layers {
	int dir;
	unsigned int stand;       /* enum layers_stand */
	char path[PATH_MAX];      /* of the folder */
	char all_path[PATH_MAX];  /* where the layers are */
	char workspace[PATH_MAX]; /* the workspace that it belongs to */
	char was[PATH_MAX]; /* the path before a rename that was found just now (adopt.h); or "" */
};

#define LAYERS_INIT ((struct layers){.dir = -1})

enum layers_mode {
	LAYERS_REVIEW, /* writes go to the stack `project` */
	LAYERS_DIRECT, /* writes land at once; `project` is empty */
	LAYERS_MODE_COUNT,
};

extern const char *const layers_mode_words[LAYERS_MODE_COUNT];

struct layers_session {
	char name[LAYERS_NAME_MAX + 1];
	unsigned int mode;              /* enum layers_mode */
	uint64_t dev, ino;              /* the workspace's folder: layers_session_mark */
	int64_t began;                  /* nanoseconds since 1970: before its first box */
	int64_t ended;                  /* after its last box; 0: it runs, or was killed */
	struct stack project;           /* lowest first; the last is the box's upper directory */
	struct stack home;              /* the stack of its last box's home */
	char from[LAYERS_NAME_MAX + 1]; /* the snapshot that it was forked from, or "" */
	char stands_on[LAYERS_NAME_MAX + 1]; /* the system that it stands on, or "" */
	struct stack root; /* layers upon that system; of a box the last two: mount points, and
			    * what is written */
	bool keep;         /* what is written to it is kept, for the workspace */
	char branch[LAYERS_BRANCH_MAX + 1]; /* of --worktree, or "" */
	char start[LAYERS_START_MAX + 1];   /* of one with a branch: branch_held.h */
	/* Of a session in a linked worktree: shared.h. */
	char repository[LAYERS_PATH_MAX]; /* the folder that has the other one, with its commits */
	char linked[NAME_MAX + 1];        /* of that one: what the repository calls the worktree */
};

struct layers_snapshot {
	char name[LAYERS_NAME_MAX + 1];
	char session[LAYERS_NAME_MAX + 1];
	int64_t made;
	bool live; /* copied while the session ran */
	struct stack project, home, root;
	char stands_on[LAYERS_NAME_MAX + 1];
	int64_t first; /* how many bytes first/index had then; 0: not known */
	char branch[LAYERS_BRANCH_MAX + 1], start[LAYERS_START_MAX + 1]; /* the session's */
	int64_t began; /* the session; 0: an older bawn made it */
};

/*
 * Opens the folder of a workspace (an absolute, normal path) in the state directory, which is open
 * as `state` and has the path state_path.  -ENOENT, without a sentence: there is none and `create`
 * is false.
 */
int layers_open(int state, const char *state_path, const char *workspace, bool create,
		struct layers *ret, struct error *e);
/* Where it is, or would be (mostly: two workspaces can have the same hash); dir is -1. */
int layers_place(const char *state_path, const char *workspace, struct layers *ret);

void layers_close(struct layers *l);
#define _cleanup_layers_ _cleanup_(layers_close)

/* Locks everything that is named here, until the descriptor is closed.  It first finishes a restore
 * that was cut short (snapshot.h). */
int layers_lock(const struct layers *l, struct error *e) BAWN_MUST_USE;

/* Opens the folder journal.  It lives longer than the sessions whose changes landed. */
int layers_journal(const struct layers *l, bool create);

bool layers_is_name(const char *name);

/* --- sessions ------------------------------------------------------------------------- */

/* -ENOENT, without a sentence: there is none. */
int layers_session_read(const struct layers *l, const char *name, struct layers_session *ret,
			struct error *e);
int layers_session_write(const struct layers *l, const struct layers_session *s, struct error *e);

/* Opens its folder sessions/NAME; makes it if `create`. */
int layers_session_dir(const struct layers *l, const char *name, bool create);

/* Makes and opens the folder of a session's first versions (src/record/first.h): a descriptor, or -errno. */
int layers_session_first(const struct layers *l, const char *name);

/* Some of what it changed is no longer its own, or comes from a run that nobody saw: who made the files
 * of a folder (src/record/makers.h) is not known any more. */
void layers_session_forget_makers(const struct layers *l, const char *name);

/*
 * layers_session_mark writes down which folder the session works on; layers_session_is_of says
 * whether this is that one.  A folder is known by its inode and by when it was made.  The number of
 * its device counts only if that time is not known: on btrfs, and wherever disks are found in
 * another order, the number changes with a restart of the machine.
 */
int layers_session_mark(struct layers_session *s, int tree) BAWN_MUST_USE;
bool layers_session_is_of(const struct layers_session *s, int tree);

/* Removes all of a session but its layers (layers_collect removes those). */
int layers_session_remove(const struct layers *l, const char *name, struct error *e);

/* Takes the lock that says that it runs: returns the descriptor, or -EBUSY if somebody has it. */
int layers_session_hold(const struct layers *l, const char *name);
bool layers_session_runs(const struct layers *l, const char *name);

/*
 * When its last box ended.  Nobody saw the end of a session that was killed: it ended when it last
 * began to change something, which is the time of first/index (src/recorder/first_keep.h), or a
 * moment later.  0: not known.
 */
int64_t layers_session_end(const struct layers *l, const struct layers_session *s);

/*
 * Whether its last box came to an end that nobody meant: bawn or the machine was killed, or a part of
 * it was lost.  sessions/NAME/interrupted says so; of one that nobody has settled yet (settle.h) that it
 * has no end.  The caller knows that it does not run.
 */
bool layers_session_was_interrupted(const struct layers *l, const struct layers_session *s);
void layers_session_note_interrupted(const struct layers *l, const char *name, bool interrupted);

/* By `ended`; those that ended at once are told apart by their names. */
bool layers_session_ended_before(const struct layers_session *a, const struct layers_session *b);

/* The session has changes of the workspace to show or to undo. */
bool layers_session_has_changes(const struct layers *l, const struct layers_session *s);

/*
 * For a direct session: first versions were kept.  False: we know only of changes that nobody saw.
 */
bool layers_session_has_first(const struct layers *l, const struct layers_session *s);

/* Calls `found` for each, in the order of their names; a negative answer ends it.  -EBADMSG, with a
 * sentence, after all others: one is damaged. */
int layers_each_session(const struct layers *l,
			int (*found)(void *context, const struct layers_session *s), void *context,
			struct error *e);

/* --- layers --------------------------------------------------------------------------- */

/* Opens the folder of all layers; makes it if `create`. */
int layers_all(const struct layers *l, bool create);

/* Makes a new, empty layer. */
int layers_new(const struct layers *l, char ret_id[LAYER_ID_LEN + 1], struct error *e);

/* Gives its up/ the mode and times of the folder `like`, because the box sees them as those of a
 * folder. */
int layers_dress(const struct layers *l, const char *id, int like);

/* Opens up/ of a layer: O_PATH | O_DIRECTORY. */
int layers_open_up(const struct layers *l, const char *id);
/* Opens points/ of a layer in the same way; makes it if it is missing. */
int layers_open_points(const struct layers *l, const char *id);

/* Nothing is in it. */
bool layers_is_empty(const struct layers *l, const char *id);

/* home.stack.  A missing file is an empty stack. */
int layers_home_read(const struct layers *l, struct stack *ret, struct error *e);
int layers_home_write(const struct layers *l, const struct stack *s, struct error *e);

/* kept/NAME: which layers upon a system (systems.h) are kept here.  A missing file is an empty
 * stack; an empty stack is written as no file. */
int layers_kept_read(const struct layers *l, const char *name, struct stack *ret, struct error *e);
int layers_kept_write(const struct layers *l, const char *name, const struct stack *s,
		      struct error *e);

/* Calls `found` for every workspace that has a folder; a negative answer ends it. */
int layers_each_workspace(int state, const char *state_path,
			  int (*found)(void *context, const struct layers *l), void *context,
			  struct error *e);

/* The same, only where a session has ended or a landing may have been cut short: a workspace of which
 * every session runs is passed over with a few looks. */
int layers_each_left(int state, const char *state_path,
		     int (*found)(void *context, const struct layers *l), void *context,
		     struct error *e);

/* Opens the workspace that has a session of this name.  1; 0: there is none; or -errno. */
int layers_find_session(int state, const char *state_path, const char *name, struct layers *ret,
			struct error *e);

bool stack_has(const struct stack *s, const char *id);
int stack_push(struct stack *s, const char *id); /* -E2BIG */

/* Takes the lock that says that somebody fills a layer which nothing names yet: returns the
 * descriptor, or -EBUSY. */
int layers_hold(const struct layers *l, const char *id);

/* Removes layers that nothing names and nobody has locked; the caller holds the lock. */
int layers_collect(const struct layers *l, struct error *e);
/* The two halves of layers_collect.  layers_retire sets aside what nothing names, under the lock.
 * layers_sweep removes what was set aside, which takes time and needs no lock. */
int layers_retire(const struct layers *l, struct error *e);
int layers_sweep(const struct layers *l);

/* --- snapshots ------------------------------------------------------------------------ */

int layers_snapshot_read(const struct layers *l, const char *name, struct layers_snapshot *ret,
			 struct error *e);
int layers_snapshot_write(const struct layers *l, const struct layers_snapshot *s, struct error *e);
int layers_snapshot_remove(const struct layers *l, const char *name, struct error *e);
int layers_each_snapshot(const struct layers *l,
			 int (*found)(void *context, const struct layers_snapshot *s),
			 void *context, struct error *e);

/* For fuzzing and tests: the text of the files. */
int layers_session_parse(struct span text, struct layers_session *ret);
int layers_snapshot_parse(struct span text, struct layers_snapshot *ret);

#endif
