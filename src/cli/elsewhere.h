/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that read records and layers are other programs': bawn-history (src/history) and
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

/* A program, and its verbs.  `confine` takes from the process what the verb does not need, before the
 * verb runs, and may ask what was left open in the command line; -ECANCELED: the person wants nothing.
 * NULL: nothing. */
struct elsewhere_program {
	const char *name;
	int (*confine)(struct invocation *i, struct error *e);
	const struct verb_act *verbs;
	size_t count;
};

/* Does the verb, or becomes the program whose verb it is.  Returns the exit code. */
int elsewhere_or_here(struct invocation *i, const struct elsewhere_program *own);

/* The main of such a program. */
int elsewhere_main(int argc, char **argv, const struct elsewhere_program *own);

/* Filtered, and with no way to new rights; no filter on a kernel that has none. */
int elsewhere_filter(struct span bpf, struct error *e);

#endif
