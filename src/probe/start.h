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
 * that the plan openly goes without.
 */
int probe_start(const struct plan *plan, struct error *e);

#endif
