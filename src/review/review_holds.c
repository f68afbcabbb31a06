/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of holds as the user's policy, the workspace's own and the administrator's have it now:
 * not as it was when the session began, so that a rule that was tightened meanwhile counts.
 */
#include "review.h"

#include "prepare.h"

int review_holds(const struct review *r, struct hold_rules **ret, struct error *e)
{
	_cleanup_prepared_ struct prepared made = PREPARED_INIT;
	struct invocation_value value = {.id = OPTION_WORKSPACE, .value = r->layers.workspace};
	/* The workspace may lie above the folder that this was called in. */
	const struct invocation about = {.values = &value, .value_count = 1};
	int code = prepare_rules(&about, &made, e);

	return code < 0 ? code : prepare_holds(&made.plan, ret, e);
}
