/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the box has all the processes that it may have.  The kernel refuses one more inside the
 * call that would make it, and tells nobody.  So we look, by the host's /proc: a second after a call
 * of the box, and then less and less often until its next one, in the end once in about a minute. A
 * box that does nothing costs next to nothing.  Where the box has a cgroup, that counts and tells the
 * keeper (limiting.h), and we do not look.
 */
#ifndef BAWN_WATCH_CROWD_H
#define BAWN_WATCH_CROWD_H

#include "plan.h"

#include <sys/types.h>

enum { WATCH_CROWD_MS = 1000, WATCH_CROWD_MOST_MS = 64 * WATCH_CROWD_MS };

struct watch_crowd {
	uint64_t most; /* that the plan gives; 0: any number, or somebody else counts */
	int64_t wait;  /* nanoseconds between two looks */
	int64_t at;    /* when the next one is; 0: nobody knows the box yet */
	bool told;
};

void watch_crowd_init(struct watch_crowd *c, const struct plan *plan);

/* The box made a call: true, where the next look has become one that is in WATCH_CROWD_MS. */
bool watch_crowd_stir(struct watch_crowd *c, int64_t now);

/* Looks, if it is time.  True: the box has all that it may have, or nearly, and that is new.  first:
 * its pid 1. */
bool watch_crowd_look(struct watch_crowd *c, pid_t first, int64_t now);

#endif
