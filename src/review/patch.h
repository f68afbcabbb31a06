/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing at the terminal, file by file and hunk by hunk.  What is not chosen is left; of a file
 * of which some hunks are chosen, what stands there with those lands.
 */
#ifndef BAWN_PATCH_H
#define BAWN_PATCH_H

#include "choice.h"
#include "prompt.h"

/* All of one change, as `bawn diff` shows it: for who is asked about it. */
void patch_show(const struct prompt *p, const struct choices *c, const struct choice *x);

/* All that would land, in the picture that `bawn diff` has; and it counts as seen. */
int patch_show_all(const struct prompt *p, struct choices *c, struct error *e);

int patch_choose(const struct prompt *p, struct choices *c, struct error *e);

/* What is flagged, rule by rule; the rest stays as it is chosen. */
void patch_choose_rules(const struct prompt *p, struct choices *c);

#endif
