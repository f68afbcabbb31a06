/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as it travels: its bytes in a memfd that nobody can change any more. */
#ifndef BAWN_PLAN_SEAL_H
#define BAWN_PLAN_SEAL_H

#include "error.h"
#include "plan.h"

/* The descriptor, or -errno. */
int plan_seal(const struct plan *plan, struct error *e);

#endif
