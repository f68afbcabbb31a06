/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the user's that a box does not get: their names, never what they say. */
#ifndef BAWN_WITHHELD_H
#define BAWN_WITHHELD_H

#include "buf.h"
#include "plan.h"
#include "text.h"

/* "DEBUG FOO", of all that are set outside and not in the plan; how many there are. */
size_t withheld_names(const struct plan *plan, char *const *variables, struct buf *into);

/* A command that failed: keys that bawn knows by name, that are set outside, and whose hosts the
 * plan leads to, each with the line that lets the box use it.  At most two. */
void withheld_summary(const struct plan *plan, char *const *variables, const struct text *t);

#endif
