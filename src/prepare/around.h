/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever starts a session writes down, before its box is there, where it can write, and what was a
 * workspace by itself (src/host/folder_notes.h); and asks the person about a repository around the
 * current folder that may be a session's doing.
 */
#ifndef BAWN_AROUND_H
#define BAWN_AROUND_H

#include "prepare.h"

/* by_hand: the workspace was named. */
int around_note(const struct prepared *p, bool by_hand, struct error *e) BAWN_MUST_USE;

/* Nobody saw the end of a direct session that was killed: looks now at what it took away, and says
 * what it wrote that would run later.  Whether there was one, so that the plan may be another one. */
bool around_look(const struct prepared *p);

/* At a terminal, where there is something to ask.  *ret_taken: the repository is the workspace from
 * now on, so that the plan is another one.  An answer is asked for once. */
int around_ask(const struct prepared *p, bool *ret_taken, struct error *e) BAWN_MUST_USE;

#endif
