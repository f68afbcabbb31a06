/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of rows_start.c, which init tries inside the finished box before the first
 * command of every session.  A box that lets one of them through is not
 * started.  Libc only, no allocation, no fork.
 */
#ifndef BAWN_START_H
#define BAWN_START_H

#include "error.h"
#include "plan.h"

/*
 * How many held, or -EPERM with the probe that found the box open.  Skips probes of a layer
 * that the plan goes without.  filtered: there was a filter of system calls before ours, as
 * in a container; then its refusals count as well, because it may answer first.
 */
int probe_start(const struct plan *plan, bool filtered, struct error *e);

#endif
