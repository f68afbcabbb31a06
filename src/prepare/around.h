/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a session's box exists, whoever starts it writes down where it can write, and what was a
 * workspace by itself (src/host/folder_notes.h); and asks the person about a repository around the
 * current folder that a session may have made.
 */
#ifndef BAWN_AROUND_H
#define BAWN_AROUND_H

#include "prepare.h"

/* Writes that down.  by_hand: the user named the workspace. */
int around_note(const struct prepared *p, bool by_hand, struct error *e) BAWN_MUST_USE;

/* Nobody saw the end of a direct session that was killed: looks now at what it removed, and prints
 * what it wrote that would run later.  True: there was one, so that the plan may be another one
 * now. */
bool around_look(const struct prepared *p);

/* Asks at a terminal, if there is something to ask.  *ret_taken: the repository is the workspace
 * from now on, so that the plan is another one.  It asks for an answer once. */
int around_ask(const struct prepared *p, bool *ret_taken, struct error *e) BAWN_MUST_USE;

#endif
