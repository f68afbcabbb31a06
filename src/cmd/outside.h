/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program of the user's, outside the box, and takes what it prints: a password
 * manager, ssh-keygen.  No shell, no input, a deadline, a bound on the output.  Its messages
 * (standard error) and its environment are the user's own.
 *
 * Never in a directory or on a file that the agent can write.
 */
#ifndef BAWN_OUTSIDE_H
#define BAWN_OUTSIDE_H

#include "buf.h"
#include "error.h"

/*
 * argv[0] is looked for on PATH.  0 and *ret_status its exit code; -ENOENT: there is no such
 * program; -ETIME: it was ended at the deadline; -EMSGSIZE: it printed more than `into` takes.
 */
int outside_run(const char *const *argv, int milliseconds, struct buf *into, int *ret_status,
		struct error *e);

#endif
