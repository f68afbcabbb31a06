/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dozen forbidden things, tried inside the finished box before the first
 * command of every session.  A box that lets one of them through is not
 * started.  Libc only, no allocation, no fork; about twenty system calls.
 */
#ifndef BAWN_START_H
#define BAWN_START_H

#include "error.h"
#include "plan.h"

/*
 * How many held, or -EPERM with the probe that found the box open.  Skips what rests on a layer
 * that the plan openly goes without.  filtered: a filter of system calls was there before ours, as
 * in a container; then its refusals count as well, since it answers before ours may.
 */
int probe_start(const struct plan *plan, bool filtered, struct error *e);

#endif
