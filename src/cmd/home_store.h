/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private homes, one per workspace, in bawn's own state directory:
 *
 *	STATE/homes/NAME-HASH/path	the workspace it belongs to
 *	STATE/homes/NAME-HASH/home/	what the box has as its home
 *
 * NAME is the workspace's last name, HASH the 64-bit FNV-1a of its path; two
 * workspaces that meet in one hash are told apart by `path`, and the second one
 * is NAME-HASH-2.  Everything is made 0700 and opened without following a link.
 *
 * Only home/ is ever the agent's to write.  What it plants there is not trusted:
 * where a mount point belongs and something else stands, that is moved aside in
 * place, never followed and never deleted.
 */
#ifndef BAWN_HOME_STORE_H
#define BAWN_HOME_STORE_H

#include "error.h"
#include "host.h"
#include "plan.h"

/*
 * The state directory itself, for O_PATH: the user's own and nobody else's to write.  -ENOENT
 * when it is not there and may not be made.
 */
int home_store_state(const struct host *h, bool create, struct arena *arena, struct error *e);

/*
 * Finds the private home of h's workspace.  With create false nothing is made, and a home that
 * is not there yet has ino 0 and *ret_fd -1.  The state directory's true path joins h->guarded.
 */
int home_store_open(struct host *h, bool create, struct arena *arena, struct host_object *ret_store,
		    int *ret_fd, struct error *e);

/*
 * Makes the mount points of plan that lie in its home; home is the descriptor from
 * home_store_open.  What had to be moved aside is noted in the plan.
 */
int home_store_make_mount_points(int home, const struct host *h, struct plan *plan,
				 struct arena *arena, struct error *e);

#endif
