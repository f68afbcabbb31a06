/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of `bawn undo`:
 *
 *	review_undo.c	which landing or session, what of it, and how it is done
 *	undo_land.c	lands what was chosen
 *	undo_show.c	the screens
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

/* What changed while a session ran, and nobody saw (undo_unseen.h). */
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
	char named[LAYERS_NAME_MAX + 1]; /* the session of --session; "": not looked at yet */
	struct land_undo *kept;
	/* Landings that were passed over, because what was kept of them cannot be read. */
	size_t unread;
	bool is_direct; /* it undoes this session, not an apply */
	bool is_later;  /* we looked at a session after `session` */
	struct layers_session session;
	/* A direct session that runs; "": none. */
	char running[sizeof(((struct layers_session *)0)->name)];
	struct undo_direct direct;
	const struct land_step *all; /* what could be undone */
	size_t all_count;
	bool *changed;      /* for each: it is not as it was left */
	bool *left;         /* for each: not meant, or as it was already */
	bool *valued;       /* for each: not this step is done, but what its refs need */
	bool *stands;       /* for each: a branch that the user is on; it is left */
	struct object *now; /* for each: what is there */
	size_t changed_count, left_count;
	size_t unnamed;              /* for a direct session: stays, and was not asked for */
	struct show_objects objects; /* objects of git that stay */
	size_t objects_left; /* how many of these are among the left: there is nothing to do */
	struct undo_unseen *unseen; /* also of sessions that were passed over */
	size_t unseen_count;
	size_t unseen_more, unseen_last; /* too many to be named: of all, and of the last session */
	struct arena unseen_words;
	struct undo_opened opened; /* its paths are in unseen_words, too */
	struct undo_refs refs;
	struct land_step *steps; /* what is done */
	size_t *from;            /* for each: which of all */
	size_t count;
	uint64_t number; /* the number of this landing */
	size_t landings; /* for a direct session: how many, each redone by itself (undo_land.h) */
	const char **taken; /* for each repository: a ref that was undone */
	size_t taken_count;
	bool json, dry, redo, done;
};

/* Undo first opens folders that a direct session closed. */
bool undo_opens(const struct undo *u);

/* The workspace's own folder gets its mode or time back. */
bool undo_has_top(const struct undo *u);

/* Nothing of it is left to undo later. */
bool undo_is_whole(const struct undo *u);

/* It is done by the values of refs. */
bool undo_is_valued(const struct undo *u, size_t i);

/* How many are done. */
size_t undo_count(const struct undo *u);

/* "To undo, applied 2026-11-15 08:45:", "To undo, of the direct session calm-otter, begun ...:" */
void undo_put_title(const struct undo *u, struct buf *into);
void undo_show(const struct undo *u, bool changed, const char *title);
void undo_show_stands(const struct undo *u);
void undo_show_skipped(const struct undo *u);

/* Shows what changed unseen, also while sessions ran that were passed over. */
void undo_show_unseen(const struct undo *u);

/* Notes what changed unseen while this session ran, whether we undo it or another.  Undo goes on
 * however much that is. */
void undo_note_unseen(struct undo *u);
enum { UNDO_UNSEEN_MAX = 10000, UNDO_UNSEEN_BYTES = 64 << 20 };

/* Says that a direct session works in the folder. */
void undo_show_running(const struct undo *u);

/* Something that was kept cannot be read. */
bool undo_is_unread(const struct undo *u);
void undo_show_unread(const struct undo *u);

void undo_put_json(const struct undo *u);

#endif
