/* SPDX-License-Identifier: Apache-2.0 */
/* `workspace.snapshots`: a socket at which a program of the box asks for a snapshot of it. */
#include "build_parts.h"

void build_ask(struct build *b)
{
	const struct policy *p = b->policy;

	if (!p->snapshots || b->plan.backend == PLAN_BACKEND_HOST ||
	    b->plan.workspace_access != PLAN_ACCESS_WRITE)
		return;
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_SOCKET,
		.target = PLAN_ASK_SOCKET,
		.role = "ask",
		.origin = p->snapshots_origin,
	};
}
