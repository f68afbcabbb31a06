/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn may remove of what it keeps, when the user asks for room by a rule (`keep` of the
 * policy):
 *
 *	apply		what an apply or undo replaced, kept so that it can be undone (land.h)
 *	direct		first versions of an ended direct session, kept for the same reason
 *	snapshot	one that bawn made by itself, of a session that does not exist any more
 *	record		of a session, or of a verb (src/record)
 *
 * It removes nothing else: no changes that wait to be applied, no running session, no fork, no
 * snapshot that the user named, no private home.  The record of a session that still exists stays,
 * too.
 */
#ifndef BAWN_PRUNE_H
#define BAWN_PRUNE_H

#include "layers.h"

enum prune_kind { PRUNE_APPLY, PRUNE_DIRECT, PRUNE_SNAPSHOT, PRUNE_RECORD, PRUNE_KIND_COUNT };

struct prune_item {
	unsigned int kind; /* enum prune_kind */
	int64_t when;      /* seconds since 1970: when it landed, ended, was made, began */
	uint64_t bytes;    /* on the disk */
};

struct prune_list {
	struct prune_item *items;
	size_t count;
	size_t waiting, running;           /* sessions that stay */
	char (*held)[LAYERS_NAME_MAX + 1]; /* names of sessions that stay, sorted */
	size_t held_count;
};

void prune_list_fini(struct prune_list *l);
#define _cleanup_prune_list_ _cleanup_(prune_list_fini)

/*
 * Lists all that may go, of any age, of every workspace and of the records.  A direct session that
 * ended before `before` does not keep its record.
 */
int prune_look(int state, const char *state_path, int64_t before, struct prune_list *ret,
	       struct error *e);

/* Removes what may go and is older than `before`, in all workspaces; bawn-history removes
 * records. */
int prune_workspaces(int state, const char *state_path, int64_t before, struct error *e);

#endif
