/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of `bawn undo`:
 *
 *	review_undo.c	which landing or session, what of it, and doing it
 *	undo_land.c	landing what was chosen
 *	undo_show.c	telling
 */
#ifndef BAWN_UNDO_PARTS_H
#define BAWN_UNDO_PARTS_H

#include "choice_show.h"
#include "decision.h"
#include "land_undo.h"
#include "prompt.h"
#include "review.h"
#include "undo_direct.h"
#include "undo_refs.h"

/* What was changed while a session ran, and not seen (undo_unseen.h). */
struct undo_unseen {
	const char *session, *path, *why;
};

struct undo {
	const struct invocation *i;
	struct review review;
	struct progress progress;
	struct decision decision;
	struct prompt prompt;
	struct text out;
	int journal;
	struct land_undo *kept;
	size_t unread;  /* landings that were passed over: what was kept of them cannot be read */
	bool is_direct; /* of this session, not of an apply */
	bool is_later;  /* one after `session` was looked at */
	struct layers_session session;
	char running[sizeof(((struct layers_session *)0)->name)]; /* a direct one; "": none */
	struct undo_direct direct;
	const struct land_step *all; /* what could be taken back */
	size_t all_count;
	bool *changed;      /* each of them: it is not as it was left */
	bool *left;         /* each of them: not meant, or as it was already */
	bool *valued;       /* each of them: not it is done, but what its refs need */
	bool *stands;       /* each of them: a branch that the user is on, and left */
	struct object *now; /* each of them: what stands there */
	size_t changed_count, left_count;
	size_t unnamed; /* of what a direct session did: stays, and was not asked for */
	struct show_objects objects; /* of git's, that stay */
	size_t objects_left;         /* and are among the left: nothing is to be done */
	struct undo_unseen *unseen;  /* also of sessions that were passed over */
	size_t unseen_count;
	size_t unseen_more, unseen_last; /* too many to be named: of all, and of the last session */
	struct arena unseen_words;
	struct undo_opened opened; /* its paths are in there, too */
	struct undo_refs refs;
	struct land_step *steps; /* what is */
	size_t *from;            /* each: which of all */
	size_t count;
	uint64_t number;    /* of the landing that this is */
	size_t landings;    /* of a direct session: as many, each redone by itself (undo_land.h) */
	const char **taken; /* a ref that was taken back, of each repository */
	size_t taken_count;
	bool json, dry, redo, done;
};

/* Folders that a direct session closed are opened first. */
bool undo_opens(const struct undo *u);

/* The workspace's own folder gets its mode or time back. */
bool undo_has_top(const struct undo *u);

/* Nothing of it is left that could be taken back later. */
bool undo_is_whole(const struct undo *u);

/* It is done by the values of refs. */
bool undo_is_valued(const struct undo *u, size_t i);

/* How many are done. */
size_t undo_count(const struct undo *u);

void undo_show(const struct undo *u, bool changed, const char *title);
void undo_show_stands(const struct undo *u);
void undo_show_skipped(const struct undo *u);

/* What was changed and not seen, also while sessions ran that were passed over. */
void undo_show_unseen(const struct undo *u);

/* What was changed and not seen while this session ran is told, whether it is this one that is
 * undone or not.  How much of that there is, is no reason not to undo. */
void undo_note_unseen(struct undo *u);
enum { UNDO_UNSEEN_MAX = 10000, UNDO_UNSEEN_BYTES = 64 << 20 };

/* A direct session is at work in the folder. */
void undo_show_running(const struct undo *u);

/* Something that was kept cannot be read. */
bool undo_is_unread(const struct undo *u);
void undo_show_unread(const struct undo *u);

void undo_put_json(const struct undo *u);

#endif
