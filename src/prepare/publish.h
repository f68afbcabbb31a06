/* SPDX-License-Identifier: Apache-2.0 */
/* --publish: ports of the box that are reached from outside, as the client wants them and as the plan says them. */
#ifndef BAWN_PUBLISH_H
#define BAWN_PUBLISH_H

#include "plan.h"
#include "published.h"
#include "verbs.h"

enum { PUBLISH_MAX = 32 };

struct publish {
	struct published items[PUBLISH_MAX];
	size_t count;
};

/* Reads the options, and adds a note for each to the plan. */
int publish_read(const struct invocation *i, struct arena *arena, struct plan *plan,
		 struct publish *ret, struct error *e);

#endif
