/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn top`: the loop that joins model, display, sessions and tasks. */
#ifndef BAWN_TOP_TOP_H
#define BAWN_TOP_TOP_H

#include "verbs.h"

int top_run(const struct invocation *i);

#endif
