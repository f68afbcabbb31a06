/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a live session, amended: by `bawn allow` and `bawn deny`, or by reading
 * the policy files again.  Pure: a list in, another list out; a plan in, another plan out.
 *
 * The user's last word counts.  So a rule of `bawn deny` counts as one with named ports, also when
 * it names none, and so wins over every rule for the same host.  A later `bawn allow` takes
 * it back as far as it reaches, and the other way round.  Other rules are never
 * removed: when one of them wins over an allow, the allow has no effect, and the verdict says so
 * (rules.h).
 */
#ifndef BAWN_AMEND_H
#define BAWN_AMEND_H

#include "arena.h"
#include "plan.h"

/* The origins of rules that were made while the session ran. */
#define AMEND_ALLOW "bawn allow"
#define AMEND_DENY "bawn deny"

struct amend_list {
	const struct plan_rule *items;
	size_t count;
};

/* Adds one rule, whose origin is one of the two.  -ENOMEM, or -E2BIG beyond PLAN_RULES_MAX. */
int amend_add(struct amend_list *list, const struct plan_rule *rule, struct arena *arena);

/*
 * The rules of the files as they are now, with what the command line of the session and the
 * two verbs have added to the old ones.
 */
int amend_reload(const struct amend_list *now, const struct amend_list *files, struct arena *arena,
		 struct amend_list *ret_list);

/* The same plan with these rules instead of its own; it points into plan and list. */
struct plan amend_plan(const struct plan *plan, const struct amend_list *list);

#endif
