/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: makes what shall land beside the tree. */
#ifndef BAWN_LAND_STAGE_H
#define BAWN_LAND_STAGE_H

#include "land_parts.h"

/* Afterwards all of it is on the disk, and the journal's steps have their inodes. */
int land_stage_all(struct landing *l, struct land_result *ret, struct error *e);

#endif
