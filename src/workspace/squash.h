/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sealed layers become one that shows the same, so that lookups stay quick.
 *
 * The new layer has hard links to the files of the old ones, which nobody writes again.  Folders
 * are made anew, with the mode and times of the topmost one.  A name that one layer removed (a
 * whiteout) stays removed, and a folder that hides what is beneath it (opaque) goes on hiding it.
 * We do not look at the tree below all layers, and it may change.
 *
 * The old layers stay as they are; layers_collect removes them when nothing names them.
 */
#ifndef BAWN_SQUASH_H
#define BAWN_SQUASH_H

#include "layers.h"

/* Merges all layers of the stack but its last `keep` into a new one, if there are at least two, and
 * puts it in their place.  The caller holds the lock, and writes the stack. */
int squash_stack(const struct layers *l, struct stack *s, size_t keep, struct error *e);

/* Makes one new layer of the whole stack, also if it is one already: to take things out of it.  Its
 * files are those of the old layers: nobody may write them. */
int squash_all(const struct layers *l, struct stack *s, struct error *e);

/* Calls squash_stack if the stack has more than `most` layers.  A stack that cannot be squashed
 * stays as it is, unless it is full: then that is an error. */
int squash_if_long(const struct layers *l, struct stack *s, size_t keep, size_t most,
		   struct error *e);

#endif
