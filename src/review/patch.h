/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing at the terminal, file by file and hunk by hunk.  What is not chosen is left.  If some
 * hunks of a file are chosen, the workspace's file with these hunks lands. */
#ifndef BAWN_PATCH_H
#define BAWN_PATCH_H

#include "choice.h"
#include "prompt.h"

/* Shows all of one change, as `bawn diff` does: for a person who is asked about it. */
void patch_show(const struct prompt *p, const struct choices *c, const struct choice *x);

/* Shows all that would land, as `bawn diff` does, and marks it as seen. */
int patch_show_all(const struct prompt *p, struct choices *c, struct error *e);

int patch_choose(const struct prompt *p, struct choices *c, struct error *e);

/* Asks about flagged changes, rule by rule; the rest stays as it is chosen. */
void patch_choose_rules(const struct prompt *p, struct choices *c);

#endif
