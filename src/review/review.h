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
#include "pathspec.h"
#include "session_talk.h"
#include "verbs.h"

/* A workspace with its layers, and the session that is meant. */
struct review {
	struct arena arena;
	struct host host;
	struct session_places places;
	struct layers layers;
	int tree;                      /* the workspace's own folder */
	struct layers_session session; /* name "": none was asked for, and there is none */
	bool runs;
	bool silent; /* says nothing of what it finds */
	bool gone; /* of REVIEW_STRAY: the folder that the session worked on is not there; no tree */
};

#define REVIEW_INIT ((struct review){.layers = LAYERS_INIT, .tree = -1})

/* Which session a verb is about. */
enum review_want {
	REVIEW_NOTHING, /* the workspace alone */
	REVIEW_SESSION, /* --session, or the only one with changes, or the newest that is stopped */
	REVIEW_STRAY,   /* as SESSION, be it of another folder that had this path, or of one that is
			 * gone */
};

/* Finds workspace (--workspace or the current folder), layers and session.  An interrupted landing
 * is rolled back or finished first, and said. */
int review_open(const struct invocation *i, enum review_want want, struct review *ret,
		struct error *e);
/* The same without a session, and nothing more: no landing is finished and nothing is said. */
int review_look(const struct invocation *i, struct review *ret, struct error *e);
/* After that: the session that is meant, of this name or (NULL) as REVIEW_SESSION says. */
int review_choose(struct review *r, const char *name, struct error *e);
void review_close(struct review *r);
#define _cleanup_review_ _cleanup_(review_close)

/* What the session changed, with what is held of it. */
int review_changes(const struct review *r, const struct changes_how *how, struct view *ret_view,
		   struct changes *ret_changes, struct error *e);

/*
 * Something that stood at a path below the workspace is gone.  A folder with a .git or a .bawn.yaml is
 * a workspace by itself; where a session takes that away it stays one (src/host/folder_notes.h), so
 * that the next session there does not have the repository around.  What cannot be written down is
 * no reason to say that nothing landed: it is said.
 */
void review_note_gone(const struct review *r, const char *path);

/* The path itself; of one that is longer than any call takes its two ends, put into `into`. */
enum { REVIEW_PATH_END = 120, REVIEW_PATH_SHOWN = 2 * REVIEW_PATH_END + 40 };
const char *review_shown_path(const char *path, char into[REVIEW_PATH_SHOWN]);

/* The workspace in one line of text, whatever its name has in it. */
const char *review_folder(const struct review *r, struct buf *into);

/*
 * The list of holds as the user's policy, the workspace's own and the administrator's have it now:
 * not as it was when the session began, so that a rule that was tightened meanwhile counts.  See
 * hold_rules_free.
 */
struct hold_rules;
int review_holds(const struct review *r, struct hold_rules **ret, struct error *e);

/* The paths that a person named on the command line of a verb. */
struct picks {
	struct pathspec *specs;
	size_t count;
};

/* `words` are the verb's arguments, or some of them; what is made is the review's. */
int picks_read(struct review *r, char *const *words, size_t count, struct picks *ret,
	       struct error *e);

/* All is picked when nothing was named. */
bool picks_has(const struct picks *p, const char *path);

/* Whether a change is meant: by its path or by the one that it came from. */
bool picks_has_change(const struct picks *p, const struct change *c);

/* What was set aside (layers_retire) is removed by a process of its own, so that nobody waits for
 * it.  When that is killed, whoever ends a session next goes on with it. */
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

#endif
