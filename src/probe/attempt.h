/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts that many rows share.  Libc only, no allocation and no fork: init
 * runs them too.
 */
#ifndef BAWN_ATTEMPT_H
#define BAWN_ATTEMPT_H

#include "probe.h"

probe_fn attempt_call;         /* system call `number` with `args` */
probe_fn attempt_open;         /* open(text, number) */
probe_fn attempt_socket;       /* socket(args[0], args[1], args[2]) */
probe_fn attempt_prctl;        /* PROBE_HELD when prctl(args[0], args[1]) gives `number` */
probe_fn attempt_capabilities; /* PROBE_HELD when every set of this process is empty */
probe_fn attempt_no_core;      /* PROBE_HELD when no core can be written, now or later */

/* Turns a descriptor or -1 into an outcome, and closes the descriptor. */
int attempt_fd(int fd);

/* Turns 0 or -1 into an outcome. */
static inline int attempt_result(int r)
{
	return r < 0 ? -errno : PROBE_DONE;
}

#endif
