/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a name for the layers that a session, and the home of its workspace, have now.
 *
 * A snapshot of a session that does not run costs a line of text: its layers are sealed, and a new
 * one is laid on top for what comes next.  Of one that runs, and is paused meanwhile (the caller
 * sees to that), the layer that it writes is copied: what it has open goes on writing the old one.
 *
 * Three kinds have names of ours:
 *
 *	start-SESSION-N		what was there when the session began; made at each start, and
 *				gone again when nothing was written
 *	before-restore-N	what was there before a restore, so that it can be taken back
 *	restoring		a restore that is under way: whoever takes the lock finishes it
 *				(layers_lock), so that it is done whole or not at all
 *
 * Whoever calls these holds the lock, but for snapshot_copy.
 */
#ifndef BAWN_SNAPSHOT_H
#define BAWN_SNAPSHOT_H

#include "layers.h"

enum {
	SNAPSHOT_STARTS_MAX = 8,  /* start-* that are kept, newest first */
	SNAPSHOT_BEFORES_MAX = 8, /* likewise before-restore-* */
};

/* A name that a person may give. */
bool snapshot_is_name(const char *name);
bool snapshot_is_automatic(const char *name);

/* PREFIX-N, for an N that is greater than all that there are. */
int snapshot_next_name(const struct layers *l, const char *prefix, char ret[LAYERS_NAME_MAX + 1],
		       struct error *e);

/* Of a session that does not run; s is written too.  -EEXIST: there is one of that name. */
int snapshot_take(const struct layers *l, struct layers_session *s, const char *name,
		  struct layers_snapshot *ret, struct error *e);

/* Upon a stack of sealed layers, one to write to, which looks like the last (or like `like`). */
int snapshot_push(const struct layers *l, struct stack *s, int like, struct error *e);

/* As a session begins: what it will write to goes to layers that are empty, and start-SESSION-N
 * names what is beneath.  s->home is the home before it; the caller writes s. */
int snapshot_at_start(const struct layers *l, struct layers_session *s, struct error *e);

/* At a session's end, when nothing was written: as if it had never begun. */
void snapshot_forget_start(const struct layers *l, const char *session);

/* Of a session that runs, and is paused; `alive` is called now and then (apart.h).  The lock is
 * taken by itself, after copying. */
int snapshot_copy(const struct layers *l, const struct layers_session *s, const char *name,
		  int (*alive)(void *context), void *context, struct layers_snapshot *ret,
		  struct error *e);

/*
 * The session of the snapshot is again as it was then, and so is the home, unless `home` is false.
 * What it was is kept as the snapshot *ret_before.  -EBUSY: it runs.
 */
int snapshot_restore(const struct layers *l, const struct layers_snapshot *from, bool home,
		     struct layers_snapshot *ret_before, struct error *e);

/* Finishes a restore that was cut off; 1 when there was one. */
int snapshot_finish(const struct layers *l, struct error *e);

/*
 * A new session of that name, which has what the snapshot has, and a home of its own.  It knows
 * what the other one had found in the workspace until then (first/), and what of that had landed
 * (basis), unless something landed or was taken back since.
 */
int snapshot_fork(const struct layers *l, const struct layers_snapshot *from, const char *name,
		  struct layers_session *ret, struct error *e);

#endif
