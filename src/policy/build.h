/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From policy and facts to the plan.  Pure: nothing here opens, asks or makes
 * anything, so the same policy and the same facts always give the same plan.
 *
 * What must hold of every plan, and is tested as a property:
 *
 *	a mount beneath another comes after it; none covers one that the box is meant
 *	to see
 *	nothing private and none of bawn's own folders can be reached through a
 *	tool folder, and none can be written through anything
 *	a hide wins over everything
 *	no variable that looks like a credential passes unless the user named it
 */
#ifndef BAWN_BUILD_H
#define BAWN_BUILD_H

#include "host.h"
#include "plan.h"
#include "policy.h"

/*
 * argv is NULL-terminated; NULL means the user's own shell.  home_store is the private home
 * outside; its ino is 0 when it does not exist yet (explain).  What the policy's paths lead to
 * must have been looked up with host_name.  All strings live in the arena, the policy or the host.
 */
int plan_build(const struct policy *policy, const struct host *host, const char *const *argv,
	       const struct host_object *home_store, struct arena *arena, struct plan *ret_plan,
	       struct error *e);

/* What the policy says of holds, as the plan has it; 0 or -ENOMEM. */
int plan_holds(const struct policy *policy, struct arena *arena, struct plan *plan);

/* A rule that allows some place of the secret; NULL: none does, and so no box has the secret. */
const struct plan_rule *plan_rule_to(const struct plan_rule *rules, size_t count,
				     const struct policy_secret *s);

#endif
