/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that cannot stand in the state directory, because its filesystem holds none: a container's
 * own (overlayfs), NFS.  They stand in memory then, in a folder of /dev/shm that is the user's
 * alone, and what is named on disk is also kept on disk:
 *
 *	STATE/workspaces/NAME/afar	the folder's name, random
 *	/dev/shm/bawn-UID/NAME/ID/	a layer, as in layers.h
 *	/dev/shm/bawn-UID/NAME/.loaded	all that is kept on disk is here
 *	STATE/workspaces/NAME/layers/ID	a layer as it is kept (copy.h: COPY_KEPT)
 *
 * A layer is kept before a session or a snapshot that names it is written down, and again when the
 * session has ended.  When the machine has been started anew the next command brings all of them
 * back.  So what a session wrote is lost only if the machine goes down before the session ends.
 */
#ifndef BAWN_AFAR_H
#define BAWN_AFAR_H

#include "layers.h"

/* Finds where the layers of l stand (l->stand, l->all_path), and brings them there. */
int afar_find(struct layers *l, bool create, struct error *e);

/* Keeps a stack's layers on disk that are not yet; `again`: and the last of it as it is now. */
int afar_keep(const struct layers *l, const struct stack *s, bool again, struct error *e);

/* What stands there no more is kept no more. */
int afar_forget(const struct layers *l, const char *id);

#endif
