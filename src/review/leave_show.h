/* SPDX-License-Identifier: Apache-2.0 */
/* What is left out, in words. */
#ifndef BAWN_LEAVE_SHOW_H
#define BAWN_LEAVE_SHOW_H

#include "buf.h"
#include "changes.h"

/* Puts one line for each reason why something is left out, with how many files it is about,
 * escaped; `away` (may be NULL): those that are not meant. */
void leave_put(struct buf *into, const struct changes *c,
	       bool (*away)(const void *context, size_t i), const void *context);

#endif
