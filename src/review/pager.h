/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pager for what is longer than the screen, as git has one: $PAGER, else less where it is
 * installed.  It is a program of the user's, with the user's authority, so it is started before
 * anything is read that an agent wrote, and before the filter, after which nothing can be started.
 * What it is given is escaped already.
 *
 * It is never a program of the workspace: it starts in /, and those folders of PATH do not count
 * that are relative or may lie in the workspace.
 */
#ifndef BAWN_PAGER_H
#define BAWN_PAGER_H

#include "parse.h"
#include "text.h"

#include <limits.h>

/* Where standard output is a terminal and a pager is there, standard output leads to it from now
 * on.  What cannot be had is gone without. */
void pager_begin(const struct invocation *i);

/* Standard output as text_open has it, be it by way of the pager. */
struct text pager_text(void);

/* Waits until the person has read it. */
void pager_end(void);

/* Where the workspace may be, or a folder in it; false: nobody knows. */
bool pager_here(const struct invocation *i, char ret[PATH_MAX]);

/* PATH without those folders that may be an agent's; see above.  `ret` is as long as `path`. */
void pager_clean_path(const char *path, const char *here, const char *home, char *ret);

#endif
