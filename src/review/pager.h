/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pager for output that is longer than the screen, as git has one: $PAGER, else less if it is
 * installed.  It is a program of the user, with the user's authority.  So bawn starts it before it
 * reads anything that an agent wrote, and before the filter, after which it can start nothing.
 * What the pager gets is escaped already.
 *
 * It is never a program of the workspace: it starts in /, with the PATH of clean_path.h.
 */
#ifndef BAWN_PAGER_H
#define BAWN_PAGER_H

#include "parse.h"
#include "text.h"

#include <limits.h>

/* If standard output is a terminal and there is a pager, standard output goes to it from now on.
 * If that fails, bawn works without one. */
void pager_begin(const struct invocation *i);

/* Standard output as text_open has it, also when it goes to the pager. */
struct text pager_text(void);

/* Waits until the person has read it. */
void pager_end(void);

/* Where the workspace may be, or a folder in it; false: we do not know. */
bool pager_here(const struct invocation *i, char ret[PATH_MAX]);

#endif
