/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes in the workspace that no event of the session explains: told at its end, whatever else
 * is kept quiet, for it is an alarm.
 */
#ifndef BAWN_UNATTRIBUTED_H
#define BAWN_UNATTRIBUTED_H

#include "message_gate.h"
#include "text.h"

enum { UNATTRIBUTED_SHOWN_MAX = 5 };

struct unattributed {
	const struct text *live; /* where a word of progress goes; NULL for nowhere */
	bool comparing;          /* that word was said */
	uint64_t count;
	char *lines[UNATTRIBUTED_SHOWN_MAX]; /* "changed  PATH" */
	size_t shown;
};

void unattributed_fini(struct unattributed *u);

/* Whether the event was one of ours. */
bool unattributed_on_event(struct unattributed *u, const struct message_event *event);

/* What to look at, and where; nothing when there is none. */
void unattributed_summary(const struct unattributed *u, const struct text *t, const char *session);

#endif
