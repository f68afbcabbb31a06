/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs wanted what the box was refused: hosts, files and system calls, for the end of the
 * session.  The record has each of these events with its time; here they are added up by program,
 * so that nobody has to read the record to know who asked.
 *
 * A program is called by the last part of the path that it was executed by, which is the box's own
 * word.  What finds no place any more is counted.
 */
#ifndef BAWN_TALLY_H
#define BAWN_TALLY_H

#include "message_gate.h"
#include "span.h"

struct tally;

struct tally *tally_new(void); /* NULL: no memory; all below take that for "nobody asks" */
void tally_free(struct tally *t);

/* The execution is this program. */
void tally_name(struct tally *t, uint64_t exec, struct span path);

/* The execution (0: nobody knows which) was refused it. */
void tally_add(struct tally *t, enum message_wanted what, uint64_t exec, struct span name);

/* It is there already, whoever wanted it. */
bool tally_has(const struct tally *t, enum message_wanted what, struct span name);

/* One event for each program and thing, as MESSAGE_EVENT_WANTED has it. */
void tally_tell(const struct tally *t,
		void (*tell)(void *context, const struct message_event *event), void *context);

#endif
