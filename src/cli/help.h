/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the tables of verbs.h into words for a person: --help, the manual pages, the completions.
 * Each function writes into a buffer, so that the tests read what a user reads.
 */
#ifndef BAWN_HELP_H
#define BAWN_HELP_H

#include "buf.h"
#include "verbs.h"

enum { HELP_BYTES_MAX = 1 << 20 };

void help_first(struct buf *into); /* `bawn` alone: what it is, and three commands to try */
void help_all(struct buf *into);   /* `bawn --help`: at most a screen */
void help_verb(struct buf *into, const struct verb *v);

/* troff source (man macros) of bawn(1), or of bawn-VERB(1). */
void man_all(struct buf *into);
void man_verb(struct buf *into, const struct verb *v);

/* The script for one shell; 0 or -EINVAL when there is none for it. */
int completion_write(struct buf *into, const char *shell);

/*
 * Breaks text at blanks into lines of at most width columns, each after the first indented by
 * indent blanks (the caller has written what comes before the first).  Ends without a newline.
 */
void help_wrap(struct buf *into, const char *text, size_t indent, size_t width);

/* Reads a command line.  False when there is nothing to run: it was not understood, or asked for
 * the verb's help, which was printed.  *ret_status is then the exit code. */
bool help_or_run(int argc, char **argv, struct invocation *ret, int *ret_status);

/* Prints what one of the above made; EXIT_OK, or EXIT_BAWN when that failed. */
int help_print(const struct buf *b);

#endif
