/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn's state directory, and in it the folder of a workspace (layers.h) with the private home of
 * its boxes.  STATE/workspaces/NAME-HASH/home is the lowest part of that home; what boxes write
 * there is in layers above it.
 */
#ifndef BAWN_HOME_STORE_H
#define BAWN_HOME_STORE_H

#include "error.h"
#include "host.h"
#include "layers.h"

enum { HOME_STORE_RESERVE = 2 << 20 };

/*
 * Opens the state directory (O_PATH): the descriptor, or -errno.  Refuses a directory that is not
 * the user's or that others can write.  -ENOENT, without a sentence: it does not exist, and create
 * is false.
 */
int home_store_state(const struct host *h, bool create, struct arena *arena, struct error *e);

/*
 * Finds the private home of h's workspace.  With create false it makes nothing: then dir is -1 when
 * the workspace has no folder, and ino is 0 when it has no home.  It adds the true path of the
 * state directory to h->guarded.
 */
int home_store_open(struct host *h, bool create, struct arena *arena, struct layers *ret_layers,
		    struct host_object *ret_store, struct error *e);

/* When the disk is nearly full, removes the reserve: a file in the state directory that only takes
 * room (HOME_STORE_RESERVE bytes).  Each start of a session makes it.  The verbs that decide about
 * changes call this first, so that `bawn discard` has room for its record, and can then free
 * more. */
void home_store_make_room(const struct host *h);

#endif
