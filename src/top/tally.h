/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn-history` tells us of the records of sessions that run (src/history/history_tally.c),
 * which has the form of its lines.  It reads records confined; we read its numbers.
 */
#ifndef BAWN_TOP_TALLY_H
#define BAWN_TOP_TALLY_H

#include "buf.h"
#include "model.h"

/* Puts one line, without its newline, into the row that it is about.  NULL: it is about none. */
struct model_row *tally_take(struct model *m, const char *line);

#endif
