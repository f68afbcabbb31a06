/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lands what undo has chosen.  A landing renames, and no rename crosses the border of a mount.  So
 * what a direct session did on something that is mounted in the workspace lands separately, all of
 * it or nothing, and is redone separately.
 */
#ifndef BAWN_UNDO_LAND_H
#define BAWN_UNDO_LAND_H

#include "undo_parts.h"

/* Writes `count` steps from `first` on into the record, before they are done. */
int undo_record(struct undo *u, size_t first, size_t count, struct error *e);

/* Lands what a direct session did, mount by mount.  If one fails, the others still land, and its
 * first versions stay kept. */
int undo_land_all(struct undo *u, struct error *e);

/* Lands the undo of an apply, or a redo: all of it is on one mount, which its journal has. */
int undo_land_kept(struct undo *u, struct error *e);

#endif
