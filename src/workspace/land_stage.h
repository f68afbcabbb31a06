/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: what shall land is made beside the tree. */
#ifndef BAWN_LAND_STAGE_H
#define BAWN_LAND_STAGE_H

#include "land_parts.h"

/* All of it is on the disk, and the journal's steps know their inodes. */
int land_stage_all(struct landing *l, struct land_result *ret, struct error *e);

#endif
