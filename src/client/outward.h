/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process beside a session that sends its record outward, bawn-otlp, where the user's
 * environment names a collector (src/wire/otlp_settings.h).  Nothing waits for it: it is started
 * when the box runs already, and at the session's end it gets a bounded time, which a collector
 * that answers never uses up.
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

/* Without it the session goes on, and its record waits to be sent. */
void outward_start(struct outward *o);

/* Waits until all is sent, at most two seconds; t gets what is left. */
void outward_end(struct outward *o, const struct text *t);

#endif
