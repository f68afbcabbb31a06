/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn log --tree`: the executions of a session, each beneath the one that started it, with what
 * it did.  It comes from the index, which is brought up to date first. */
#ifndef BAWN_LOG_TREE_H
#define BAWN_LOG_TREE_H

#include "verbs.h"

int log_tree(const struct invocation *i);

#endif
