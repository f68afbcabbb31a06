/* SPDX-License-Identifier: Apache-2.0 */
/* What a landing needs to know about the landing that it undoes. */
#ifndef BAWN_LAND_UNDO_H
#define BAWN_LAND_UNDO_H

#include "git_object.h"
#include "journal.h"
#include "land.h"

/* The folder in which the object of step i has the name i; and the journal. */
int land_undo_dir(const struct land_undo *u);
const struct journal *land_undo_journal(const struct land_undo *u);

/* Calls `found` for each ref that it could have moved, by the path of the ref's file: the object
 * that it left, and the one before (none: no such ref).  0 or -errno, also that of `found`. */
int land_undo_refs(const struct land_undo *u,
		   int (*found)(void *context, const char *path, const struct git_name *left,
				const struct git_name *back),
		   void *context);

#endif
