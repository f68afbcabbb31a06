/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --to.  It is opened before the process confines itself (history_confine.h).  After
 * that the process has no right to any name in that folder: else somebody who takes over a process
 * that reads records could write what the user runs next.  A child that was forked before waits for
 * one word, and gives the file its name, or removes it; it reads nothing else and ends with the
 * process.
 *
 *	export		FILE.part is written, and takes the place of FILE; a device or a pipe is
 *			written as it is
 *	anchor, proof, key	FILE must be new
 */
#ifndef BAWN_HISTORY_OUTPUT_H
#define BAWN_HISTORY_OUTPUT_H

#include "verbs.h"

/* Opens the file, if there is one. */
int history_output_prepare(const struct invocation *i, struct error *e);

/* The descriptor to write to: the file, or standard output. */
int history_output_fd(void);

/* Ends it.  0 when r is 0 and the file has its name, synced; else r, or -errno, and nothing is left
 * of it.  Standard output stays open. */
int history_output_close(int r, struct error *e);

#endif
