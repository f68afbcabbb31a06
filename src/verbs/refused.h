/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate refused during a run: told once as it happens, and summed up at the end. */
#ifndef BAWN_REFUSED_H
#define BAWN_REFUSED_H

#include "message_gate.h"
#include "text.h"

enum { REFUSED_CHANGES_MAX = 32 };

struct refused_item;

struct refused {
	const struct text *live; /* where a line goes as it happens; NULL for nowhere */
	struct refused_item *items;
	size_t count;
	uint64_t left_out;                  /* refusals beyond the list */
	char *changes[REFUSED_CHANGES_MAX]; /* of the rules, while it ran; in words */
	size_t change_count;
	uint64_t changes_left_out;
	char *lost; /* a part of bawn that ended; in words */
};

void refused_fini(struct refused *r);

/* For client_options.on_event; the context is a struct refused. */
void refused_on_event(void *context, const struct message_event *event, bool quiet);

/* Hosts, how often, why, and the bundles that open them; nothing when nothing was refused. */
void refused_summary(const struct refused *r, const struct text *t);

/* A part of bawn that ended: said whatever is quiet. */
void refused_alarm(const struct refused *r, const struct text *t);

#endif
