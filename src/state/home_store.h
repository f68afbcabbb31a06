/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn's state directory, and in it the folder of a workspace (layers.h) with the private home that
 * its boxes have: STATE/workspaces/NAME-HASH/home is the lowest part of it, and what boxes write
 * there is in layers upon it.
 */
#ifndef BAWN_HOME_STORE_H
#define BAWN_HOME_STORE_H

#include "error.h"
#include "host.h"
#include "layers.h"

enum { HOME_STORE_RESERVE = 2 << 20 };

/*
 * The state directory itself, for O_PATH: the user's own and nobody else's to write.  -ENOENT
 * when it is not there and may not be made.
 */
int home_store_state(const struct host *h, bool create, struct arena *arena, struct error *e);

/*
 * Finds the private home of h's workspace.  With create false nothing is made; a folder that is not
 * there yet has dir -1, and a home that is not ino 0.  The state directory's true path joins
 * h->guarded.
 */
int home_store_open(struct host *h, bool create, struct arena *arena, struct layers *ret_layers,
		    struct host_object *ret_store, struct error *e);

/* A file of the state directory that only takes room (HOME_STORE_RESERVE), made by whoever starts a
 * session: where the disk is full, who decides about changes gives it up first, so that `bawn
 * discard` can be recorded, and make room. */
void home_store_make_room(const struct host *h);

#endif
