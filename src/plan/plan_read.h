/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as every process of a session gets it: its bytes in a memfd that cannot change. */
#ifndef BAWN_PLAN_READ_H
#define BAWN_PLAN_READ_H

#include "plan.h"

/* The descriptor, or -errno. */
int plan_seal(const struct plan *plan, struct error *e);

/* -EPERM when it is not sealed, -EFBIG for an impossible size, else as plan_decode.  The plan
 * points into a mapping that lasts as long as the process; fd may be closed. */
int plan_read(int fd, const struct plan **ret_plan, struct arena *arena, struct error *e);

/* Maps the bytes after the same checks, without decoding them.  The caller calls munmap. */
int plan_map(int fd, struct span *ret_bytes, struct error *e);

#endif
