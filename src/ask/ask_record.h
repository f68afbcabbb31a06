/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `bawn record`, one function each.  They return an exit code, or -errno and an
 * error to show; EXIT_USAGE with an error is shown too.
 */
#ifndef BAWN_ASK_RECORD_H
#define BAWN_ASK_RECORD_H

#include "ask.h"

int ask_record_verify(const struct ask *a, const struct invocation *i, struct error *e);
int ask_record_export(const struct ask *a, const struct invocation *i, struct error *e);
int ask_record_send(const struct ask *a, const struct invocation *i, struct error *e);

#endif
