/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sessions of a folder have changes, and the person named none: at a terminal a short numbered
 * list is shown, and a number chooses.
 *
 * It is asked before bawn-review reads what an agent wrote, and before a pager has the terminal: the
 * list needs bawn's own files alone, and how much each changed a second bawn-review says, which is
 * confined.
 */
#ifndef BAWN_WHICH_H
#define BAWN_WHICH_H

#include "verbs.h"

/* Of diff, apply and discard without --session: asks, and takes the answer for --session.  Without a
 * terminal the list is shown, and the verb refuses.  False: the person wants none of them. */
bool which_ask(struct invocation *i);

/* Of --session: the beginning of a name, or a label, becomes the session's own name.  What fits none
 * stays as it is, for the verb to say so. */
int which_settle(struct invocation *i, struct error *e);

#endif
