/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file or folder had besides content, mode and time before a direct session: its owner, its
 * access list and attributes user.* (attributes.h).  It comes from the first versions, if the
 * recorder could read it; or from the file itself, if the session only moved it with its folder.
 */
#ifndef BAWN_UNDO_ATTRIBUTES_H
#define BAWN_UNDO_ATTRIBUTES_H

#include "undo_direct.h"

/* What the former file or folder had; NULL: not known, or it was no file or folder.  It is in the
 * arena. */
const struct land_has *undo_has_of(struct undo_direct *u, const struct former *f,
				   const struct object *was);
const struct land_has *undo_has_of_entry(struct undo_direct *u, const struct first_entry *e);

/* What is at a path has this.  If it cannot be read, the answer is yes. */
bool undo_has_now(int tree, const char *path, const struct land_has *has);

/* Its data and holes are where the kept version has them.  A version that was kept in one piece had
 * no holes.  If we do not know, the answer is yes. */
bool undo_has_holes(const struct undo_direct *u, const struct former *f);

/* It has what an entry says.  If we do not know, the answer is yes. */
bool undo_has_as_entry(const struct first *first, int tree, const char *path,
		       const struct first_entry *e);

#endif
