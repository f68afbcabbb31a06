/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn-history may do.  It confines itself before it reads the first record, which has names
 * and bytes that an agent chose: it reads files, writes in the folder of records (Landlock) and to
 * what was opened for --to before (history_output.h), and has no call to start a program, make a
 * socket, send a signal or look into another process (the profile READER).
 */
#ifndef BAWN_HISTORY_CONFINE_H
#define BAWN_HISTORY_CONFINE_H

#include "verbs.h"

/* Does nothing for `bawn record send`, which reads no record: it becomes bawn-otlp, which confines
 * itself (otlp_main.c). */
int history_confine(struct invocation *i, struct error *e);

#endif
