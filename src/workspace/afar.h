/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that cannot be in the state directory, because overlayfs cannot use its filesystem for
 * them: that of a container (overlayfs), NFS.  Then they are in memory, in a folder of /dev/shm
 * that only the user can read, and layers that a file on disk names are also kept on disk:
 *
 *	STATE/workspaces/NAME/afar	the folder's name, random
 *	/dev/shm/bawn-UID/NAME/ID/	a layer, as in layers.h
 *	/dev/shm/bawn-UID/NAME/.loaded	all that is kept on disk is here
 *	STATE/workspaces/NAME/layers/ID	a layer as it is kept (copy.h: COPY_KEPT)
 *
 * We keep a layer on disk before we write a session or a snapshot that names it, and again when the
 * session has ended.  After a restart of the machine the next command brings all layers back.  So
 * what a session wrote is lost only if the machine goes down before the session ends.
 */
#ifndef BAWN_AFAR_H
#define BAWN_AFAR_H

#include "layers.h"

/* Finds where the layers of l are (l->stand, l->all_path), and brings them there. */
int afar_find(struct layers *l, bool create, struct error *e);

/* Keeps the layers of a stack on disk that are not there yet; `again`: also the last one, as it is
 * now. */
int afar_keep(const struct layers *l, const struct stack *s, bool again, struct error *e);

/* Removes what is kept on disk of a layer that is gone. */
int afar_forget(const struct layers *l, const char *id);

#endif
