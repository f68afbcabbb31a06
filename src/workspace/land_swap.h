/* SPDX-License-Identifier: Apache-2.0 */
/* Swapping: what was staged takes its place. */
#ifndef BAWN_LAND_SWAP_H
#define BAWN_LAND_SWAP_H

#include "land_parts.h"

/* All of it is on the disk, and was looked at once more. */
int land_swap_all(struct landing *l, struct land_result *ret, struct error *e);

#endif
