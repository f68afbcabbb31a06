/* SPDX-License-Identifier: Apache-2.0 */
/* What a landing needs to know of what it undoes. */
#ifndef BAWN_LAND_UNDO_H
#define BAWN_LAND_UNDO_H

#include "git_object.h"
#include "journal.h"
#include "land.h"

/* The folder in which step i's object is called i, and the list. */
int land_undo_dir(const struct land_undo *u);
const struct journal *land_undo_journal(const struct land_undo *u);

/* Each ref that it could have moved: what it left, and what was before, in names of objects (none:
 * no such ref), by the path of the ref's file.  0 or -errno, also the function's. */
int land_undo_refs(const struct land_undo *u,
		   int (*found)(void *context, const char *path, const struct git_name *left,
				const struct git_name *back),
		   void *context);

#endif
