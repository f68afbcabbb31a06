/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file or folder had besides content, mode and time before a direct session: its owner, its
 * access list and attributes user.* (attributes.h).  From the first versions, where the recorder
 * could read it; from the thing itself, where the session only moved it with its folder.
 */
#ifndef BAWN_UNDO_ATTRIBUTES_H
#define BAWN_UNDO_ATTRIBUTES_H

#include "undo_direct.h"

/* What stood there had; NULL: it is not known, or was no file or folder.  The arena's. */
const struct land_has *undo_has_of(struct undo_direct *u, const struct former *f,
				   const struct object *was);
const struct land_has *undo_has_of_entry(struct undo_direct *u, const struct first_entry *e);

/* Whether what stands at a path has this; what cannot be read may. */
bool undo_has_now(int tree, const char *path, const struct land_has *has);

/* Whether it has its bytes and holes where what was kept of it has them; what was kept in one piece
 * had no holes, and what is not known may be so. */
bool undo_has_holes(const struct undo_direct *u, const struct former *f);

/* Whether it has what an entry says.  What is not known may be so. */
bool undo_has_as_entry(const struct first *first, int tree, const char *path,
		       const struct first_entry *e);

#endif
