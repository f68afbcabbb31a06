/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries bytes from one descriptor to another until the first ends.  Used for
 * what must not enter the box itself: files, sockets, other people's terminals.
 */
#ifndef BAWN_PUMP_H
#define BAWN_PUMP_H

#include "loop.h"

struct pump {
	struct loop *loop;
	int from, to; /* owned when own_from / own_to */
	bool own_from, own_to;
	bool done;
	bool eof;
	struct loop_handle reader, writer;
	bool from_waits, to_waits; /* epoll takes them; regular files are always ready */
	size_t at, len;
	char bytes[32 << 10];
};

/* The pump is the caller's and must stay where it is; heap or static. */
int pump_start(struct pump *p, struct loop *loop, int from, bool own_from, int to, bool own_to);

/* Without the loop: until the end of from. */
void pump_finish(struct pump *p);
void pump_stop(struct pump *p);

#endif
