/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is beneath the layer that a box writes to in review mode: the workspace's own folder, and
 * the sealed layers above it.  It tells what an entry of the box's layer changes.
 *
 * It does not look whether a folder that was replaced as a whole (an opaque one) hides what is
 * beneath it in sealed layers: the caller compares sizes and times, and does not take one file for
 * another.
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

/* Opens what is beneath; the mount must have layers.  0 or -errno. */
int reconcile_layer_open(struct reconcile_layer *l, const struct plan_mount *m);
void reconcile_layer_close(struct reconcile_layer *l);

/* An entry of the layer, compared with what is beneath it. */
enum reconcile_found {
	RECONCILE_NEW,   /* nothing is beneath, or another kind of thing */
	RECONCILE_SAME,  /* it was copied up, and nothing changed */
	RECONCILE_OTHER, /* they differ; ret_kind says how */
};

/* path: below the workspace.  since: when the session began. */
enum reconcile_found reconcile_layer_look(const struct reconcile_layer *l, const char *path,
					  const struct manifest_entry *e, int64_t since,
					  enum compare_kind *ret_kind);

#endif
