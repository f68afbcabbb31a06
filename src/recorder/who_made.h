/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program made the files of which folder of the workspace, for the note makers.h.  Whoever
 * writes the event of a file that was made, or written for the first time, says so here.
 *
 * A file counts for the folders around it: for the first three, and for the outermost that has the
 * name of a folder that tools make (made_name.h), but not for what lies in that one.
 *
 * A program is called by the last part of the path that it was executed by.  An interpreter that runs
 * a file is called by that file's name, or by that of the module: "npm", not "node"; "pip", not
 * "python3".
 */
#ifndef BAWN_WHO_MADE_H
#define BAWN_WHO_MADE_H

#include "makers.h"

struct who_made;

/*
 * first: the folder of the note.  What earlier runs of the session noted is taken in, and the note is
 * empty until who_made_note writes it: where this run is not seen to its end, nobody knows.  inside:
 * the workspace's path in the box; borrowed.  NULL: no memory, or no note; all below take that for
 * "nobody asks".
 */
struct who_made *who_made_new(int first, const char *inside);
void who_made_free(struct who_made *w);

/* The execution is this program; argv: texts, each ended by a NUL. */
void who_made_name(struct who_made *w, uint64_t exec, struct span path, struct span argv);

/* The execution made this file. */
void who_made_add(struct who_made *w, uint64_t exec, struct span path);

/* Writes the note: 0, or -errno, and then it is empty.  Where somebody removed it meanwhile (part of the session landed, and these are no
 * longer its files), it is written to nowhere. */
int who_made_note(const struct who_made *w);

#endif
