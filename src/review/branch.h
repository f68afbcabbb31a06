/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): what lands of it is what it committed there,
 * objects and that one ref.  The user's HEAD, index and files stay as they are.
 */
#ifndef BAWN_BRANCH_H
#define BAWN_BRANCH_H

#include "choice.h"

/* Leaves everything else; of a session without a branch, nothing. */
void branch_pick(struct choices *c);

#endif
