/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What undo has chosen lands.  A landing renames, and nothing can be renamed over the border of a
 * mount: what a direct session did on something that is mounted in the workspace lands by itself,
 * all of it or nothing, and is redone by itself.
 */
#ifndef BAWN_UNDO_LAND_H
#define BAWN_UNDO_LAND_H

#include "undo_parts.h"

/* What is done stands in the record, from a step on so many of them, before it is. */
int undo_record(struct undo *u, size_t first, size_t count, struct error *e);

/* What a direct session did, mount by mount: one that fails is in no other's way, and its first
 * versions stay kept. */
int undo_land_all(struct undo *u, struct error *e);

/* An apply, or what was undone: all of it lies on one mount, of which its journal knows. */
int undo_land_kept(struct undo *u, struct error *e);

#endif
