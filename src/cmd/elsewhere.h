/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that read records and layers are other programs': bawn-record (src/ask) and
 * bawn-review (src/review). */
#ifndef BAWN_ELSEWHERE_H
#define BAWN_ELSEWHERE_H

#include "buf.h"
#include "verbs.h"

/* Becomes that program with the words that bawn was given; returns (EXIT_BAWN) only when that
 * fails. */
int elsewhere_run(const struct invocation *i, const char *program);

/*
 * What that program says when it is asked for this verb with these words, up to the buffer's
 * limit.  Returns its exit status, or -errno.  quiet: what it complains about is not shown.
 */
int elsewhere_read(const char *program, const char *const *words, bool quiet, struct buf *into);

/* The other side: the verbs of such a program, and its main. */
struct elsewhere_verb {
	const char *name;
	int (*run)(const struct invocation *i);
};
int elsewhere_main(int argc, char **argv, const char *program, const struct elsewhere_verb *own,
		   size_t count);

#endif
