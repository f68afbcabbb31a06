/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers in a session's box: at which ports somebody listens there now.  The kernel's table of the
 * box's network is read when somebody asks; nobody polls it.  The record has when each began
 * (src/recorder/watch.c).
 *
 * What the gate listens at is not among them: it is below 1024, which no program of the box can bind.
 * Without nf_tables the gate has other ports, and nobody can tell them apart; then there are none.
 */
#ifndef BAWN_LISTENING_H
#define BAWN_LISTENING_H

#include "session_talk.h"
#include "text.h"

enum {
	LISTENING_MAX = 64,
	LISTENING_FIRST = 1024,
	LISTENING_CHOSEN =
		32768, /* from here on the kernel chooses: no person asks for such a port */
};

struct listening {
	uint16_t ports[LISTENING_MAX]; /* in order, each once */
	size_t count;
};

/* What cannot be read has none. */
void listening_read(const struct session *s, struct listening *ret);

/* The same from the words of /proc/net/tcp and tcp6; adds to `into`. */
void listening_parse(const char *table, struct listening *into);

/* The number behind a key in the words of /proc/net/sockstat; ULONG_MAX: it is not there. */
unsigned long listening_count(const char *counts, const char *key);

/* "a server listens on port 3000 inside: bawn open calm-otter 3000"; "" when nobody does. */
void listening_words(const struct listening *l, const char *session, struct buf *into);

/* Asks the session of this name, and says that in a line, if there is anything to say. */
void listening_say(const char *session, const struct text *to);

#endif
