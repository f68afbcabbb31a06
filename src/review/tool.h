/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff --tool`: the user's own tool for differences.  The user's environment says which one
 * ($BAWN_DIFF_TOOL), or the settings of git that count everywhere (diff.tool, difftool.NAME.cmd);
 * never the repository's own settings, which an agent may write.
 *
 * bawn makes the process that will be the tool before it reads anything of an agent and before the
 * filter, as it does for a pager; the process waits.  It gets files whose names bawn made, in a
 * separate folder, and starts there, with the PATH of a pager.
 */
#ifndef BAWN_TOOL_H
#define BAWN_TOOL_H

#include "diff_parts.h"
#include "parse.h"

/* Does nothing without --tool. */
int tool_begin(const struct invocation *i, struct error *e);

/* Writes both sides of what is shown, and waits for the tool. */
int tool_show(struct diff *d, struct error *e);

/* Removes the folder, and ends a process that still waits. */
void tool_end(void);

#endif
