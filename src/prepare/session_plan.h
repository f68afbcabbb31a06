/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a session: the plan of its command (prepare.h), and what only the session knows: its
 * layers and the mount points above them, its branch, its earlier snapshots.
 *
 * It is a second plan.  The command's stays as the user saw it; the session's is complete from the
 * moment it exists, and nobody changes it.
 */
#ifndef BAWN_SESSION_PLAN_H
#define BAWN_SESSION_PLAN_H

#include "error.h"
#include "layers.h"
#include "plan.h"
#include "worktree.h"

enum { SESSION_PLAN_SHOWN = 24 }; /* snapshots that the box sees, at most */

struct session_plan {
	const struct layers *layers;
	const struct layers_session *session; /* with all its layers */
	const char *points; /* the folder of mount points, which is laid upon the home's layers */
	const struct layers
		*shared; /* of the repository's folder, where the workspace is a linked worktree */
	const struct stack *shared_stack; /* and its layers there; NULL: it has none */
	struct worktree worktree;         /* its branch; .branch NULL: it has none of its own */
};

/* *ret_plan is in the arena and points into the command's plan, too. */
int session_plan_make(const struct session_plan *of, const struct plan *command,
		      struct arena *arena, const struct plan **ret_plan, struct error *e);

#endif
