/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of changes_read.  Each file knows one thing:
 *
 *	changes.c	walks the layers and lists what may have changed
 *	changes_content.c	looks into files: what is the same leaves the list; digests
 *	changes_land.c	says what of it cannot land
 *	changes_rename.c	finds what was only moved
 */
#ifndef BAWN_CHANGES_PARTS_H
#define BAWN_CHANGES_PARTS_H

#include "view.h"

/* Removes the changes from the list of which the predicate is true. */
void changes_leave_out(struct changes *c, bool (*is_out)(const struct change *one));

/* Removes what is the same on both sides; fills digests as `how` says. */
int changes_settle(const struct view *v, const struct changes_how *how, struct changes *c,
		   struct error *e);

/* Sets what of an entry cannot land: group, why, without.  `dir` has it, under `name`. */
void changes_judge(struct changes *c, struct change *one, int dir, const char *name);

/* Finds files that the session has under two names (hard links).  Other names of a file are those
 * of our layers and snapshots, not the session's. */
int changes_tie(struct changes *c);

/* For a file with the same content: sets what is left of the change, if anything. */
void changes_judge_mode(struct change *one);

/* The change is removed from the list: for changes_leave_out. */
static inline bool changes_is_out(const struct change *one)
{
	return one->kind == CHANGE_KIND_COUNT;
}

/* Makes one RENAMED change of an ADDED and a DELETED one with the same content. */
int changes_pair(const struct view *v, const struct changes_how *how, struct changes *c,
		 struct error *e);

/* Whether the two sides of a file differ: 1, 0, or -errno.  Two indexes of git are compared by
 * their entries. */
int changes_differs(const struct view *v, const struct change *one);

/* Fills a file's digest; 0, -ESTALE, -EACCES or another -errno. */
int changes_digest(const struct view *v, struct change *one, enum change_side side);

#endif
