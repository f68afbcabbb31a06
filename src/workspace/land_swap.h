/* SPDX-License-Identifier: Apache-2.0 */
/* Swapping: what was staged goes to its place. */
#ifndef BAWN_LAND_SWAP_H
#define BAWN_LAND_SWAP_H

#include "land_parts.h"

/* Afterwards all of it is on the disk, and was checked once more. */
int land_swap_all(struct landing *l, struct land_result *ret, struct error *e);

#endif
