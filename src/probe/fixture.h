/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probes work on: files, sockets, servers, queues and a terminal
 * of our own, outside the box.  A separate process owns them and removes them
 * when its pipe closes, so that nothing is left even when
 * `bawn verify` is killed.
 *
 * Below a new folder in $TMPDIR or /tmp:
 *
 *	private/	not shown in the box; a file and sockets
 *	exhibit/	shown read-only; exhibit/hidden is hidden, exhibit/socket listens
 *	twin/		the same content, not shown: the controls work on it
 *	moving/		shown writable; exchanged for other/ when `go` appears in it
 */
#ifndef BAWN_FIXTURE_H
#define BAWN_FIXTURE_H

#include "buf.h"
#include "error.h"

struct fixture {
	int pid;
	int hold; /* closing it ends the fixture */
};

#define FIXTURE_INIT ((struct fixture){.pid = -1, .hold = -1})

/* Makes everything and appends its facts.  home is the user's; runtime may be NULL. */
int fixture_start(struct fixture *f, const char *home, const char *runtime, struct buf *facts,
		  struct error *e);
void fixture_stop(struct fixture *f);

#endif
