/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts on names that lead to nothing.  Such names are without end, and cost who asks for them
 * nothing: of each program only so much of them is written down in a second, and the others are
 * counted, with the program.  One program does not use up what another one has.
 *
 * What stands there, in the box or outside, has an end: an attempt on that always has its event.
 * What is only counted was answered by the recorder: it cannot have happened after all.
 */
#ifndef BAWN_WATCH_VAIN_H
#define BAWN_WATCH_VAIN_H

#include "base.h"

enum {
	WATCH_VAIN_PROGRAMS = 8, /* that have a share of their own in a second; others have one */
	WATCH_VAIN_MAX = 512 << 10, /* bytes of events of each share */
	WATCH_VAIN_EVENT = 256,     /* of which an event has so many, and those of its paths */
};

struct watch_vain {
	uint64_t exec; /* 0: of all others */
	size_t bytes;
	uint64_t left; /* events that were not written */
};

struct watch_vains {
	struct watch_vain of[WATCH_VAIN_PROGRAMS + 1];
	size_t count;
};

#endif
