/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box gives and keeps, in at most eight lines before a command starts: where it runs, what
 * it can write, read and reach, which secrets it has, whether the folder is trusted and the session
 * recorded.
 */
#ifndef BAWN_BANNER_H
#define BAWN_BANNER_H

#include "plan.h"
#include "text.h"

void banner_print(const struct text *t, const struct plan *plan, const char *session);

/* Prints one line at the end, for a session that was no full box. */
void banner_summary(const struct text *t, const struct plan *plan);

#endif
