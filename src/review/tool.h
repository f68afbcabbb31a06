/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff --tool`: the user's own tool for differences.  Which one it is the user's environment
 * says ($BAWN_DIFF_TOOL), or the settings of git that count everywhere (diff.tool,
 * difftool.NAME.cmd); never the repository's own settings, which an agent may write.
 *
 * The process that will be the tool is made before anything of an agent's is read and before the
 * filter, as a pager is, and waits.  It is given files whose names bawn made, in a folder of their
 * own, and starts there, with the PATH of a pager.
 */
#ifndef BAWN_TOOL_H
#define BAWN_TOOL_H

#include "diff_parts.h"
#include "parse.h"

/* Does nothing where --tool was not said. */
int tool_begin(const struct invocation *i, struct error *e);

/* Writes both sides of what is shown, and waits for the tool. */
int tool_show(struct diff *d, struct error *e);

/* The folder goes, and so does who still waits. */
void tool_end(void);

#endif
