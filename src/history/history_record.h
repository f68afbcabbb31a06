/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `bawn record`, one function each.  They return an exit code, or -errno and an error
 * to show; EXIT_USAGE with an error is shown too.
 */
#ifndef BAWN_HISTORY_RECORD_H
#define BAWN_HISTORY_RECORD_H

#include "history.h"

int record_verify(const struct history *a, const struct invocation *i, struct error *e);
int record_export(const struct history *a, const struct invocation *i, struct error *e);
int record_send(const struct history *a, const struct invocation *i, struct error *e);
int record_anchor(const struct history *a, const struct invocation *i, struct error *e);
int record_proof(const struct history *a, const struct invocation *i, struct error *e);
int record_key(const struct history *a, const struct invocation *i, struct error *e);
int record_compress(const struct history *a, const struct invocation *i, struct error *e);
int record_prune(const struct history *a, const struct invocation *i, struct error *e);

/* Reads the whole of a file that the user names, up to a few pages. */
int record_read_file(const char *path, struct buf *into, struct error *e);

#endif
