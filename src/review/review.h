/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs of bawn-review share.  Each is a row of src/cli/verbs.c whose `program` is
 * bawn-review, a row of the table in review_main.c, and a file review_NAME.c.
 */
#ifndef BAWN_REVIEW_H
#define BAWN_REVIEW_H

#include "changes.h"
#include "host.h"
#include "layers.h"
#include "makers.h"
#include "pathspec.h"
#include "progress.h"
#include "session_talk.h"
#include "verbs.h"

/* A workspace with its layers, and the session that a verb is about. */
struct review {
	struct arena arena;
	struct host host;
	struct session_places places;
	struct layers layers;
	int tree;                        /* the workspace's own folder */
	struct layers_session session;   /* name "": none was asked for, and there is none */
	char shown[LAYERS_NAME_MAX + 1]; /* what a person calls it, or else its name */
	struct makers *makers;           /* of its files; NULL: nobody knows */
	struct progress *progress;       /* a word about long work goes there; NULL: nobody waits */
	bool runs;
	bool silent;  /* says nothing of what it finds */
	bool nothing; /* it could not be opened because there is nothing that it could be about */
	bool gone; /* of REVIEW_STRAY: the folder that the session worked on is not there; no tree */
};

#define REVIEW_INIT ((struct review){.layers = LAYERS_INIT, .tree = -1})

/* Which session a verb is about. */
enum review_want {
	REVIEW_NOTHING, /* only the workspace */
	REVIEW_SESSION, /* --session, or the only one with changes, or the newest that has ended */
	/*
	 * As SESSION, also one of another folder that had this path, or of a folder that is gone.
	 */
	REVIEW_STRAY,
};

/* Finds workspace (--workspace or the current folder), layers and session.  It first rolls back or
 * finishes an interrupted landing, and says so. */
int review_open(const struct invocation *i, enum review_want want, struct review *ret,
		struct error *e);
/* The same without a session, and only that: it finishes no landing and says nothing. */
int review_look(const struct invocation *i, struct review *ret, struct error *e);
/* After that: the session that is meant, of this name or (NULL) as REVIEW_SESSION says. */
int review_choose(struct review *r, const char *name, struct error *e);
void review_close(struct review *r);
#define _cleanup_review_ _cleanup_(review_close)

/* A script asks what there is, and there is nothing: an answer like any other, and no failure.  True:
 * the list `key`, empty, was written, with the workspace. */
bool review_put_nothing(const struct invocation *i, const struct review *r, const char *key);

/* What the session changed, with what is held of it. */
int review_changes(const struct review *r, const struct changes_how *how, struct view *ret_view,
		   struct changes *ret_changes, struct error *e);

/*
 * Something at a path below the workspace is gone.  A folder with a .git or a .bawn.yaml is a
 * workspace by itself.  If a session takes that file away, the folder stays one
 * (src/host/folder_notes.h), so that the next session there does not get the repository around it.
 * If that cannot be written, the changes have landed all the same: it says so on the screen.
 */
void review_note_gone(const struct review *r, const char *path);

/* The path itself; if it is longer than any call takes, its two ends, in `into`. */
enum { REVIEW_PATH_END = 120, REVIEW_PATH_SHOWN = 2 * REVIEW_PATH_END + 40 };
const char *review_shown_path(const char *path, char into[REVIEW_PATH_SHOWN]);

/* The workspace in one line of text, whatever letters its name has. */
const char *review_folder(const struct review *r, struct buf *into);

/*
 * Reads the list of holds, as the policies of the user, the workspace and the administrator have it
 * now, not as it was when the session began.  So a rule that was made stricter meanwhile counts.
 * Free it with hold_rules_free.
 */
struct hold_rules;
int review_holds(const struct review *r, struct hold_rules **ret, struct error *e);

/* The paths that a person named on the command line. */
struct picks {
	struct pathspec *specs;
	size_t count;
};

/* `words` are the verb's arguments, or some of them.  The review owns what is made. */
int picks_read(struct review *r, char *const *words, size_t count, struct picks *ret,
	       struct error *e);

/* If nothing was named, all is picked. */
bool picks_has(const struct picks *p, const char *path);

/* The change is picked, by its path or by the one that it came from. */
bool picks_has_change(const struct picks *p, const struct change *c);

/* Removes what was set aside (layers_retire) in another process, so that nobody waits for it.  If
 * that is killed, the end of the next session goes on with it. */
void review_sweep(const struct layers *l);

int review_diff(const struct invocation *i);
int review_apply(const struct invocation *i);
int review_discard(const struct invocation *i);
int review_undo(const struct invocation *i);
int review_snapshot(const struct invocation *i);
int review_snapshots(const struct invocation *i);
int review_restore(const struct invocation *i);
int review_fork(const struct invocation *i);
int review_system(const struct invocation *i);

/* The folder of a session cannot be opened.  Where it is gone, another command has just put another in its place. */
int review_lost(struct error *e, int code, const char *session);

#endif
