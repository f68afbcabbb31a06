/* SPDX-License-Identifier: Apache-2.0 */
/* Folders outside of the workspace that the user granted for writing (--write, files.write): how many
 * files a session changed there.  That has landed, so the end of a run says it. */
#ifndef BAWN_WRITTEN_H
#define BAWN_WRITTEN_H

#include "message_gate.h"
#include "plan.h"
#include "text.h"

enum { WRITTEN_MAX = 8 };

struct written {
	struct {
		char *folder; /* its path inside */
		uint64_t count;
	} items[WRITTEN_MAX];
	size_t count;
};

void written_fini(struct written *w);

/* True: the event was one of ours, and is handled. */
bool written_on_event(struct written *w, const struct message_event *event);

/* Prints a line for each that the user named; nothing of folders that a preset or bawn itself gives. */
void written_summary(const struct written *w, const struct plan *plan, const struct text *t);

#endif
