/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of one session: chosen before it starts, named in its plan (session_plan.h), settled
 * when its box is gone.
 *
 *	layering_choose	takes the lock of the workspace's layers, and decides whether to go on
 *			with an earlier session
 *	layering_begin	makes the layers, and the session's plan, which names them; it gives back
 *			the lock, and holds the session's own until layering_end
 *	layering_end	puts what was written in its place, and counts it
 */
#ifndef BAWN_LAYERING_H
#define BAWN_LAYERING_H

#include "land.h"
#include "layers.h"
#include "prepare.h"
#include "sharing.h"
#include "text.h"
#include "waiting.h"

enum { LAYERING_LISTED = 4 };

struct layering {
	const struct layers *layers;
	const char *state; /* bawn's state directory */
	struct layers_session session;
	int lock, hold;
	int tree;                /* the workspace's folder; -1: it has none */
	struct sharing *sharing; /* of a linked worktree: its repository; or NULL */
	const char *branch;      /* of --worktree, or NULL */
	bool interrupted;        /* its box was lost: nobody meant its end */
	bool goes_on;            /* with an earlier session, whose name is session.name */
	struct waiting has;      /* what of that was changed outside meanwhile */
	enum waiting_count left; /* after layering_count, and how many they are in words */
	struct buf counted;
	size_t waiting;                                   /* other sessions that have changes */
	char names[LAYERING_LISTED][LAYERS_NAME_MAX + 1]; /* names of the first of them */
	char stray[LAYERS_NAME_MAX + 1]; /* one that worked on another folder of this path, or "" */
};

enum { LAYERING_WORDS_MAX = 64 << 10 };

#define LAYERING_INIT       \
	((struct layering){ \
		.lock = -1, .hold = -1, .tree = -1, .counted = BUF_INIT(LAYERING_WORDS_MAX)})

/* Does nothing for the host backend; then layering_end does nothing either. */
int layering_choose(struct layering *g, const struct invocation *i, const struct prepared *p,
		    struct error *e);
/* *ret_plan: the session's plan, in the arena of p; without layers it is the command's, p->plan. */
int layering_begin(struct layering *g, const char *name, struct prepared *p,
		   const struct plan **ret_plan, struct error *e);

/* This run of it has no record: who made its files is not known any more. */
void layering_unseen(const struct layering *g);

/* Makes the folder of its first versions (src/record/first.h): *ret_dir is open, or -1 where it has none.
 * In direct mode with a snapshot of the workspace, where there can be one. */
int layering_first(const struct layering *g, const struct plan *plan, int *ret_dir,
		   struct error *e);

/* When the workspace was renamed since its last session: says so on standard error. */
void layering_say_renamed(const struct layers *l);

/* Says on standard error what became of a landing that was cut short; nothing if there was none. */
void layering_say_recovered(const struct layers *l, const struct land_found *found);

/* The command that a session last ran, escaped; "" if nobody knows. */
void layering_command(const struct layers *l, const char *session, char *into, size_t size);

/* Whether a session of this name has changes: then a new one takes another name. */
bool layering_is_taken(const struct layering *g, const char *name);

/* `forget`: nothing of it is kept, as for a verification.  *ret_kept: there are changes. */
int layering_end(struct layering *g, bool forget, bool *ret_kept, struct error *e);

/* Prints one or two lines for a person: which session it goes on with, and which others wait. */
void layering_print_choice(const struct layering *g, const struct text *t);
/* After the end of a session that was kept: counts how much it changed.  For a direct session it
 * also prints what the session wrote that would run later, even when all else is quiet. */
void layering_count(struct layering *g);
/* Prints what is kept and how to see and land it.  `ran`: false when nobody knows whether the
 * command ran: then we do not say that it did. */
void layering_print_kept(const struct layering *g, bool ran, const struct text *t);

void layering_fini(struct layering *g);
#define _cleanup_layering_ _cleanup_(layering_fini)

#endif
