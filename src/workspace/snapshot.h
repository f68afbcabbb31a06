/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a name for the layers that a session, and the home of its workspace, have now.
 *
 * A snapshot of a session that does not run costs a line of text: its layers are sealed, and a new
 * one is put on top for later writes.  If the session runs, the caller pauses it, and we copy the
 * layer that it writes: files that it has open go on writing the old one.
 *
 * Three kinds have names of ours:
 *
 *	start-SESSION-N		what was there when the session began; made at each start, and
 *				gone again when nothing was written
 *	before-restore-N	what was there before a restore, so that it can be taken back
 *	restoring		a restore that is under way: whoever takes the lock finishes it
 *				(layers_lock), so that it is done whole or not at all
 *
 * The caller holds the lock, except for snapshot_copy.
 */
#ifndef BAWN_SNAPSHOT_H
#define BAWN_SNAPSHOT_H

#include "layers.h"

enum {
	SNAPSHOT_STARTS_MAX = 8,  /* how many start-* are kept, newest first */
	SNAPSHOT_BEFORES_MAX = 8, /* how many before-restore-* are kept */
};

/* A person may give this name. */
bool snapshot_is_name(const char *name);
bool snapshot_is_automatic(const char *name);
/* It is the one that says what a restore makes. */
bool snapshot_is_restoring(const char *name);

/* PREFIX-N, with an N that is greater than all that there are. */
int snapshot_next_name(const struct layers *l, const char *prefix, char ret[LAYERS_NAME_MAX + 1],
		       struct error *e);

/*
 * Makes a snapshot of a session that does not run, and writes s, too.  -EEXIST: the name is taken.
 */
int snapshot_take(const struct layers *l, struct layers_session *s, const char *name,
		  struct layers_snapshot *ret, struct error *e);

/* Puts a new layer upon a stack of sealed layers, with mode and times of the last one (or of
 * `like`). */
int snapshot_push(const struct layers *l, struct stack *s, int like, struct error *e);

/* At the start of a session: it will write to empty layers, and start-SESSION-N names those
 * beneath.  s->home is the home before it; the caller writes s. */
int snapshot_at_start(const struct layers *l, struct layers_session *s, struct error *e);

/* At the end of a session that wrote nothing: as if it had never begun. */
void snapshot_forget_start(const struct layers *l, const char *session);

/* Makes a snapshot of a session that runs and is paused; `alive` is called now and then (apart.h).
 * It takes the lock itself, after copying. */
int snapshot_copy(const struct layers *l, const struct layers_session *s, const char *name,
		  int (*alive)(void *context), void *context, struct layers_snapshot *ret,
		  struct error *e);

/* Makes the session of the snapshot again what it was then, and also the home, unless `home` is
 * false.  What it was before is kept as the snapshot *ret_before.  -EBUSY: it runs. */
int snapshot_restore(const struct layers *l, const struct layers_snapshot *from, bool home,
		     struct layers_snapshot *ret_before, struct error *e);

/* Finishes a restore that was cut short.  Returns 1 if there was one. */
int snapshot_finish(const struct layers *l, struct error *e);

/*
 * Makes a new session of that name, which has what the snapshot has, and a home of its own.  It
 * knows what the other session had found in the workspace until then (first/), and what of that had
 * landed (basis), unless something landed or was undone since (known.h).
 */
int snapshot_fork(const struct layers *l, const struct layers_snapshot *from, const char *name,
		  struct layers_session *ret, struct error *e);

#endif
