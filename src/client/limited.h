/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup of a session's box: we make it and write the plan's limits, the keeper puts the box into
 * it (src/keeper/limiting.h), and we remove it when the box has ended.  bawn, keeper, gate and
 * recorder stand outside.
 */
#ifndef BAWN_LIMITED_H
#define BAWN_LIMITED_H

#include "box_limits.h"

struct session_store;

/* Makes the cgroup, if the plan has a limit that needs one; c->dir is -1 where it has none.
 * limited_end even after a failure.  session: NULL where it has no name. */
int limited_begin(const struct plan *plan, const struct session_store *session, struct cgroup *c,
		  struct error *e);

/* Gives it to the keeper at the other end of `channel`.  0 or -errno. */
int limited_send(const struct cgroup *c, int channel);

void limited_end(struct cgroup *c);

#endif
