/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of a plan that the gate can open: the session's CA is limited to them.
 * The limit is wider than any single verdict (it knows no ports and no actions), never
 * narrower: the gate opens a connection only because of a rule about requests or because
 * of a secret, and each of these names its host.
 */
#ifndef BAWN_LIMIT_H
#define BAWN_LIMIT_H

#include "address.h"
#include "arena.h"
#include "error.h"
#include "plan.h"

struct limit_name {
	const char *text; /* this name, and with `below` all beneath it */
	bool below;
};

struct limit {
	bool any; /* some rule opens every name: there is no limit */
	LIST_OF(struct limit_name) names;
	LIST_OF(struct address) addresses;
};

/* Strings are the plan's; lists come from the arena. */
int limit_of_plan(const struct plan *plan, struct arena *arena, struct limit *ret_limit,
		  struct error *e);

bool limit_has(const struct limit *l, const char *host);

#endif
