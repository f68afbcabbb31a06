/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process beside a session that sends its record outward, bawn-otlp, where the user's
 * environment names a collector (src/wire/otlp_settings.h).  The client starts it when the box
 * already runs, so nothing waits for it.  At the session's end it gets a bounded time; a
 * collector that answers needs less.
 *
 * It has the variables of OpenTelemetry and no others; the box has none of them.
 */
#ifndef BAWN_OUTWARD_H
#define BAWN_OUTWARD_H

#include "base.h"
#include "text.h"

struct outward {
	const char *state;   /* the folder of bawn's state */
	const char *session; /* its folder among the records */
	int fd;              /* our end; -1: not started */
	pid_t pid;
};

#define OUTWARD_INIT ((struct outward){.fd = -1})

bool outward_is_wanted(void);

/* Starts it.  If that fails, the session goes on, and a later one sends the record. */
void outward_start(struct outward *o);

/* Waits until all is sent, at most OUTWARD_LAST_MS, ends the process, and prints to t what is
 * left. */
void outward_end(struct outward *o, const struct text *t);

#endif
