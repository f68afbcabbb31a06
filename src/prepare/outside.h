/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program of the user, outside the box, and reads what it prints: a password manager,
 * ssh-keygen.  No shell, a deadline, a limit for the output.  Its messages (standard error) and its
 * environment are the user's own.  Its directory is /, and its PATH that of clean_path.h, so that
 * nothing runs that the agent can write.
 */
#ifndef BAWN_OUTSIDE_H
#define BAWN_OUTSIDE_H

#include "buf.h"
#include "error.h"

/* The workspace is this folder, wherever we are. */
void outside_keep_from(const char *workspace);

/*
 * Looks for argv[0] on PATH.  0 and *ret_status its exit code; -ENOENT: there is no such program;
 * -ETIME: we ended it at the deadline; -EMSGSIZE: it printed more than `into` takes.
 */
int outside_run(const char *const *argv, int milliseconds, struct buf *into, int *ret_status,
		struct error *e);

/* The same with bytes on its standard input, at most 32 KiB; and the same without its messages. */
int outside_run_with(const char *const *argv, int milliseconds, struct span input, struct buf *into,
		     int *ret_status, struct error *e);
int outside_quiet(const char *const *argv, int milliseconds, struct buf *into, int *ret_status,
		  struct error *e);

#endif
