/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of changes_read, each of which knows one thing:
 *
 *	changes.c	walks the layers and lists what may have changed
 *	changes_content.c	looks into files: what is the same leaves the list; digests
 *	changes_land.c	says what of it cannot land
 *	changes_rename.c	finds what was only moved
 */
#ifndef BAWN_CHANGES_PARTS_H
#define BAWN_CHANGES_PARTS_H

#include "view.h"

/* Leaves out of the list what the predicate says. */
void changes_leave_out(struct changes *c, bool (*is_out)(const struct change *one));

/* Drops what is the same on both sides; fills digests as `how` says. */
int changes_settle(const struct view *v, const struct changes_how *how, struct changes *c,
		   struct error *e);

/* What of an entry cannot land: group, why, without.  `dir` has it, by its name. */
void changes_judge(struct changes *c, struct change *one, int dir, const char *name);

/* Which files of the list the session tied by hard links: those of which it has two names.  Further
 * names are those of our own layers and snapshots, and none of the session's. */
int changes_tie(struct changes *c);

/* Of a file whose content is the same: what is left of the change, if anything. */
void changes_judge_mode(struct change *one);

/* The list does not have it: for changes_leave_out. */
static inline bool changes_is_out(const struct change *one)
{
	return one->kind == CHANGE_KIND_COUNT;
}

/* Makes one RENAMED of an ADDED and a DELETED of the same content. */
int changes_pair(const struct view *v, const struct changes_how *how, struct changes *c,
		 struct error *e);

/* Whether the two sides of a file say something else: 1, 0, or -errno.  Two indexes of git's are
 * compared by their entries. */
int changes_differs(const struct view *v, const struct change *one);

/* Fills a file's digest; 0, -ESTALE, -EACCES or another -errno. */
int changes_digest(const struct view *v, struct change *one, enum change_side side);

#endif
