/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs wanted what the box was refused: hosts, files and system calls, for the end of the
 * session.  The record has each of these events with its time; here we add them up by program, so
 * that nobody has to read the record to know who asked.
 *
 * We call a program by the last part of the path that it was executed by, which the box itself
 * chose.  When there is no place left, we only count.
 */
#ifndef BAWN_WISHES_H
#define BAWN_WISHES_H

#include "message_gate.h"
#include "span.h"

struct wishes;

struct wishes *wishes_new(void); /* NULL: no memory; all below then do nothing */
void wishes_free(struct wishes *t);

/* Notes the program of an execution. */
void wishes_name(struct wishes *t, uint64_t exec, struct span path);

/* Notes that the execution (0: nobody knows which) was refused it. */
void wishes_add(struct wishes *t, enum message_wanted what, uint64_t exec, struct span name);

/* Whether it is there already, whoever wanted it. */
bool wishes_has(const struct wishes *t, enum message_wanted what, struct span name);

/* Tells one event for each program and thing, as in MESSAGE_EVENT_WANTED. */
void wishes_tell(const struct wishes *t,
		 void (*tell)(void *context, const struct message_event *event), void *context);

#endif
