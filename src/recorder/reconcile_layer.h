/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies beneath the layer that a box writes to in review mode, for who wants to know what an
 * entry of that layer changes: the workspace's own folder, and the sealed layers upon it.
 *
 * That folders replaced as a whole (opaque ones) hide what is beneath them in sealed layers is not
 * looked at: who asks compares sizes and times, and does not take one file for another.
 */
#ifndef BAWN_RECONCILE_LAYER_H
#define BAWN_RECONCILE_LAYER_H

#include "compare.h"
#include "plan.h"

#include <sys/stat.h>

struct reconcile_layer {
	int *beneath; /* highest first; the last is the folder itself */
	size_t count;
};

/* Of a workspace whose mount has layers.  0 or -errno. */
int reconcile_layer_open(struct reconcile_layer *l, const struct plan_mount *m);
void reconcile_layer_close(struct reconcile_layer *l);

/* What an entry of the layer is, held against what stands beneath it. */
enum reconcile_found {
	RECONCILE_NEW,   /* nothing, or something else altogether */
	RECONCILE_SAME,  /* it was copied up, and nothing changed */
	RECONCILE_OTHER, /* ret_kind says what */
};

/* path: below the workspace.  since: when the session began. */
enum reconcile_found reconcile_layer_look(const struct reconcile_layer *l, const char *path,
					  const struct manifest_entry *e, int64_t since,
					  enum compare_kind *ret_kind);

#endif
