/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's board: what the session is now, in the file `state` of the session's folder.  The keeper keeps
 * it true; whoever lists hundreds of sessions reads it and wakes nobody.  Who wants to know whether a session
 * answers asks it (session_talk.h).
 *
 *	"bawn-b1\n"	8 bytes, another number with every change of this or of what follows
 *	sum		8 bytes: of the two lengths and all behind them (FNV, as this machine writes numbers).
 *			Who reads while the keeper writes finds another sum, and asks the session
 *	lengths		4 and 4 bytes
 *	STATE		as the message (message_control.h)
 *	brief plan	plan_brief_schema
 */
#ifndef BAWN_BOARD_H
#define BAWN_BOARD_H

#include "message_control.h"
#include "plan.h"

enum { BOARD_BYTES = 4096 };

#define BOARD_FILE "state"

/* Makes the file in the session's folder: its descriptor, or -errno. */
int board_open(int folder);

/* 0 or -errno: then the board says what it said before.  What does not fit leaves an empty one. */
int board_write(int board, const struct message_session *state, const struct plan *plan);

/*
 * Reads what is written.  Texts and lists of both point into it and into the arena; of the plan only what
 * plan_brief_schema has is set.  -EBADMSG: it is empty, of another version, or was being written.
 */
int board_read(struct span page, struct message_session *ret_state, const struct plan **ret_plan,
	       struct arena *arena);

#endif
