/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts on names that lead to nothing.  A program can invent such names without end, at no cost:
 * so for each program we write only so many bytes of them in a second, and count the others, with
 * the program.  One program does not use up the share of another.
 *
 * What exists, in the box or outside, is finite: an attempt on that always gets its event.  The
 * recorder itself answered the attempts that are only counted: they cannot have succeeded.
 */
#ifndef BAWN_WATCH_VAIN_H
#define BAWN_WATCH_VAIN_H

#include "base.h"

enum {
	WATCH_VAIN_PROGRAMS = 8,    /* each has a share in a second; all others have one */
	WATCH_VAIN_MAX = 512 << 10, /* bytes of events of each share */
	WATCH_VAIN_EVENT = 256,     /* bytes of an event without its paths */
};

struct watch_vain {
	uint64_t exec; /* 0: for all others */
	size_t bytes;
	uint64_t left; /* events that were not written */
};

struct watch_vains {
	struct watch_vain of[WATCH_VAIN_PROGRAMS + 1];
	size_t count;
};

#endif
