/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sessions of a folder have changes, and the person named none: at a terminal we show a
 * short numbered list, and the person chooses by a number.
 *
 * We ask before bawn-review reads what an agent wrote, and before a pager has the terminal.  The
 * list needs only bawn's own files.  A second bawn-review, which is confined, says how much each
 * session changed.
 */
#ifndef BAWN_WHICH_H
#define BAWN_WHICH_H

#include "verbs.h"

/* For diff, apply and discard without --session: asks, and uses the answer as --session.  Without a
 * terminal it shows the list, and the verb refuses.  False: the person wants none of them. */
bool which_ask(struct invocation *i);

/* Of --session: the beginning of a name, or a label, becomes the session's own name.  What fits none
 * stays as it is, for the verb to say so. */
int which_settle(struct invocation *i, struct error *e);

#endif
