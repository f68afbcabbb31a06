/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs do the verbs that read records and layers: bawn-history (src/history) and
 * bawn-review (src/review). */
#ifndef BAWN_ELSEWHERE_H
#define BAWN_ELSEWHERE_H

#include "buf.h"
#include "verbs.h"

/* Becomes that program, with the words that bawn got; returns (EXIT_BAWN) only when that fails. */
int elsewhere_run(const struct invocation *i, const char *program);

/*
 * Runs that program with these words and reads what it prints, up to the buffer's limit.  Returns
 * its exit status, or -errno.  quiet: its complaints are not shown.
 */
int elsewhere_read(const char *program, const char *const *words, bool quiet, struct buf *into);

/* A program, and its verbs.  `confine` removes from the process what the verb does not need, before
 * the verb runs, and may ask what the command line left open; -ECANCELED: the person wants
 * nothing.  NULL: it does nothing. */
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

/* Installs the filter, and closes the way to new rights; no filter on a kernel that has none. */
int elsewhere_filter(struct span bpf, struct error *e);

#endif
