/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sealed layers become one that shows the same, so that lookups stay quick.
 *
 * The new layer is made of hard links to the files of the old ones, which nobody writes again;
 * folders are made anew, each with what its topmost one is.  A name that one layer took away
 * (a whiteout) stays taken away, and a folder that hides what lies beneath it (opaque) goes on
 * hiding it: what is in the tree below all layers is not looked at, and may change.
 *
 * The old layers are left as they are; whoever no longer names them may collect them.
 */
#ifndef BAWN_SQUASH_H
#define BAWN_SQUASH_H

#include "layers.h"

/* Merges all of the stack but its last `keep` layers into a new one, when there are at least
 * two, and puts it in their place.  The caller holds the lock, and writes the stack down. */
int squash_stack(const struct layers *l, struct stack *s, size_t keep, struct error *e);

/* The whole stack becomes one new layer, also when it was one: to take things out of it.  Its files
 * are those of the old layers: nobody may write them. */
int squash_all(const struct layers *l, struct stack *s, struct error *e);

/* squash_stack when the stack has more than `most` layers; one that cannot be squashed stays as it
 * is, unless there is no room in it any more. */
int squash_if_long(const struct layers *l, struct stack *s, size_t keep, size_t most,
		   struct error *e);

#endif
