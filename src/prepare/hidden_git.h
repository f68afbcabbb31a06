/* SPDX-License-Identifier: Apache-2.0 */
/* What is hidden by name, and what git has of it: a cover on a file does not hide git's objects. */
#ifndef BAWN_HIDDEN_GIT_H
#define BAWN_HIDDEN_GIT_H

#include "plan.h"

/* Adds a warning for each hidden file that the index of its repository has.  -ENOMEM. */
int hidden_git(struct plan *plan, struct arena *arena);

#endif
