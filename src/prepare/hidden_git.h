/* SPDX-License-Identifier: Apache-2.0 */
/* What git has of files that are hidden by name: a cover on a file does not hide git's objects. */
#ifndef BAWN_HIDDEN_GIT_H
#define BAWN_HIDDEN_GIT_H

#include "plan.h"

/* Adds a warning for each hidden file that is in the index of its repository.  0 or -ENOMEM. */
int hidden_git(struct plan *plan, struct arena *arena);

#endif
