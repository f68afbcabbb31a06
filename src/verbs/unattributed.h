/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in the workspace that no event of the session explains.  They are told at its end,
 * whatever else is quiet, because this is an alarm. */
#ifndef BAWN_UNATTRIBUTED_H
#define BAWN_UNATTRIBUTED_H

#include "message_gate.h"
#include "text.h"

enum { UNATTRIBUTED_SHOWN_MAX = 5 };

struct unattributed {
	const struct text *live; /* where a word about progress goes; NULL: nowhere */
	bool comparing;          /* that word was printed */
	uint64_t count;
	char *lines[UNATTRIBUTED_SHOWN_MAX]; /* "changed  PATH" */
	size_t shown;
};

void unattributed_fini(struct unattributed *u);

/* True: the event was one of ours, and is handled. */
bool unattributed_on_event(struct unattributed *u, const struct message_event *event);

/* Prints what to look at, and where; nothing if there is none. */
void unattributed_summary(const struct unattributed *u, const struct text *t, const char *session);

#endif
