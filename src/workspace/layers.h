/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the changes of boxes are kept: one folder for each workspace, in bawn's state directory,
 * never seen from inside.
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
 *		command		that it last ran, escaped: for who chooses (src/review/which.h)
 *		first/		first versions of files, kept by the recorder (src/record/first.h);
 *				first/tree: the whole workspace, where btrfs could (subvolume.h)
 *		basis, basis.d/	what landed of it (basis.h)
 *		worktree/	of one with a branch of its own: which paths are its own
 *				(branch_held.h), as its last start had them
 *				(of a linked worktree: a second session, by the same name, stands in
 *				the folder of its repository: shared.h)
 *	    snapshots/NAME	a snapshot (struct layers_snapshot)
 *
 * A stack is a list of layers.  The last one of a session's stack is the upper directory of its
 * box; all others, and every layer that a snapshot names, are sealed: nobody writes them again.
 * A layer that no stack and no snapshot names is removed by layers_collect.
 *
 * Everything is made 0700.  What lies beneath up/ is the agent's doing: it is opened through
 * open_beneath alone, and nothing in it is believed.
 */
#ifndef BAWN_LAYERS_H
#define BAWN_LAYERS_H

#include "error.h"
#include "span.h"

#include <limits.h>

enum {
	LAYER_ID_LEN = 16, /* hexadecimal digits, random */
	STACK_MAX = 64,    /* layers; LAYERS_SQUASH is where lookups begin to slow down */
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
	LAYERS_AFAR,    /* in memory, and kept in layers/ (afar.h): no layer can stand here */
	LAYERS_NOWHERE, /* none can stand here, and there is no other place */
};

/* One workspace's folder, opened. */
struct layers {
	int dir;
	unsigned int stand;       /* enum layers_stand */
	char path[PATH_MAX];      /* of the folder */
	char all_path[PATH_MAX];  /* where the layers stand */
	char workspace[PATH_MAX]; /* that it belongs to */
	char was[PATH_MAX];       /* its path until now, where it was renamed (adopt.h); or "" */
};

#define LAYERS_INIT ((struct layers){.dir = -1})

enum layers_mode {
	LAYERS_REVIEW, /* writes are kept in the stack `project` */
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
	struct stack home;              /* of its last box, likewise */
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
	int64_t first; /* bytes of first/index that the session had then; 0: not known */
	char branch[LAYERS_BRANCH_MAX + 1], start[LAYERS_START_MAX + 1]; /* the session's */
};

/*
 * The folder of a workspace (absolute, normal path) in the state directory, which is held as
 * `state` and known as state_path.  -ENOENT, without a sentence, when there is none and it may not
 * be made.
 */
int layers_open(int state, const char *state_path, const char *workspace, bool create,
		struct layers *ret, struct error *e);
/* Where it is, or would be (in most cases: two workspaces can meet in one hash); dir is -1. */
int layers_place(const char *state_path, const char *workspace, struct layers *ret);

void layers_close(struct layers *l);
#define _cleanup_layers_ _cleanup_(layers_close)

/* Holds everything that is named here still, until the descriptor is closed.  A restore that was
 * cut off (snapshot.h) is finished first. */
int layers_lock(const struct layers *l, struct error *e) BAWN_MUST_USE;

/* The folder journal: it outlives the sessions whose changes landed. */
int layers_journal(const struct layers *l, bool create);

bool layers_is_name(const char *name);

/* --- sessions ------------------------------------------------------------------------- */

/* -ENOENT, without a sentence, when there is none. */
int layers_session_read(const struct layers *l, const char *name, struct layers_session *ret,
			struct error *e);
int layers_session_write(const struct layers *l, const struct layers_session *s, struct error *e);

/* Its folder sessions/NAME, to open files in; made when create. */
int layers_session_dir(const struct layers *l, const char *name, bool create);

/*
 * Writes down which folder it works on; whether this is that one.  It is known by its inode and by
 * when it was made.  The number of its device serves only where that is not known: on btrfs, and
 * wherever disks are found in another order, it is another one after the next start of the machine.
 */
int layers_session_mark(struct layers_session *s, int tree) BAWN_MUST_USE;
bool layers_session_is_of(const struct layers_session *s, int tree);

/* All of a session goes but the layers (layers_collect). */
int layers_session_remove(const struct layers *l, const char *name, struct error *e);

/* The lock that says that it runs: the descriptor, or -EBUSY when somebody holds it. */
int layers_session_hold(const struct layers *l, const char *name);
bool layers_session_runs(const struct layers *l, const char *name);

/*
 * When its last box was gone.  Nobody saw the end of one that was killed: it ended when it was last
 * about to change something, which the time of first/index says (src/recorder/first_keep.h), or a
 * moment later.  0: that is not known.
 */
int64_t layers_session_end(const struct layers *l, const struct layers_session *s);

/* By `ended`; those that ended at once are told apart by their names. */
bool layers_session_ended_before(const struct layers_session *a, const struct layers_session *b);

/* Whether the session has something of the workspace to show or to undo. */
bool layers_session_has_changes(const struct layers *l, const struct layers_session *s);

/* Of a direct one: whether something was kept, or (false) only changes are known that nobody saw. */
bool layers_session_has_first(const struct layers *l, const struct layers_session *s);

/* For each, in the order of their names; a negative answer of `found` ends it.  -EBADMSG, with a
 * sentence, after all others: one is damaged. */
int layers_each_session(const struct layers *l,
			int (*found)(void *context, const struct layers_session *s), void *context,
			struct error *e);

/* --- layers --------------------------------------------------------------------------- */

/* The folder of all of them; made when create. */
int layers_all(const struct layers *l, bool create);

/* A new, empty one. */
int layers_new(const struct layers *l, char ret_id[LAYER_ID_LEN + 1], struct error *e);

/* Its up/ is what a folder of the box has as mode and times: those of the folder `like`. */
int layers_dress(const struct layers *l, const char *id, int like);

/* up/ of a layer: O_PATH | O_DIRECTORY. */
int layers_open_up(const struct layers *l, const char *id);
/* points/ of a layer, likewise; made when it is not there. */
int layers_open_points(const struct layers *l, const char *id);

/* Nothing is in it. */
bool layers_is_empty(const struct layers *l, const char *id);

/* home.stack; a missing one is an empty stack. */
int layers_home_read(const struct layers *l, struct stack *ret, struct error *e);
int layers_home_write(const struct layers *l, const struct stack *s, struct error *e);

/* kept/NAME: what is kept of a system (systems.h) here; a missing one is an empty stack, and an
 * empty one is none. */
int layers_kept_read(const struct layers *l, const char *name, struct stack *ret, struct error *e);
int layers_kept_write(const struct layers *l, const char *name, const struct stack *s,
		      struct error *e);

/* For every workspace that has a folder; a negative answer of `found` ends it. */
int layers_each_workspace(int state, const char *state_path,
			  int (*found)(void *context, const struct layers *l), void *context,
			  struct error *e);

/* The workspace that has a session of this name, opened; 1, 0: there is none, or -errno. */
int layers_find_session(int state, const char *state_path, const char *name, struct layers *ret,
			struct error *e);

bool stack_has(const struct stack *s, const char *id);
int stack_push(struct stack *s, const char *id); /* -E2BIG */

/* The lock that says that a layer is being filled, though nothing names it yet: the descriptor, or
 * -EBUSY. */
int layers_hold(const struct layers *l, const char *id);

/* Removes what nothing names, and nobody holds; the caller holds the lock. */
int layers_collect(const struct layers *l, struct error *e);
/* Its two halves: what nothing names is set aside, under the lock; and what was set aside is
 * removed, which takes its time and needs no lock. */
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
