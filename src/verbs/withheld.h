/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the user that a box does not get: their names, never their values. */
#ifndef BAWN_WITHHELD_H
#define BAWN_WITHHELD_H

#include "buf.h"
#include "plan.h"
#include "text.h"

/*
 * Puts "DEBUG FOO", the names of all that are set outside and not in the plan.  Returns how many.
 */
size_t withheld_names(const struct plan *plan, char *const *variables, struct buf *into);

/* For a command that failed: prints keys that bawn knows by name, that are set outside, and whose
 * hosts the plan allows, each with the line that lets the box use it.  At most two. */
void withheld_summary(const struct plan *plan, char *const *variables, const struct text *t);

#endif
