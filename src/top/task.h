/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn top` lets other programs of bawn do: an act on a session is the verb that a person
 * would have typed, and what it says is shown.  So no session can hold the screen up, and nothing
 * is done in two ways.
 */
#ifndef BAWN_TOP_TASK_H
#define BAWN_TOP_TASK_H

#include "buf.h"

#include <sys/types.h>

enum { TASK_WORDS_MAX = 16, TASK_SAID_MAX = 1 << 20 };

struct task {
	pid_t pid; /* 0: it does not run */
	int in, out;
	struct buf said; /* where it is too much, its beginning is left out, up to a line's end */
	bool cut;        /* it was */
	int status;      /* exit code of the last that ran */
};

#define TASK_INIT ((struct task){.in = -1, .out = -1, .said = BUF_INIT(TASK_SAID_MAX)})

void task_fini(struct task *t); /* kills it if it runs */

/*
 * Starts a program of bawn ("bawn", "bawn-history"...) with these words, NULL at their end.  Its
 * output and its errors come to `out`; with `talks` we can write to it at `in`.
 */
int task_start(struct task *t, const char *program, const char *const *words, bool talks);

/* Reads what came.  1: it has ended, and `said` and `status` are whole; 0: it goes on. */
int task_read(struct task *t);

/* Runs it with our own terminal and waits for its end: the exit code, or -errno.  `signals` is a
 * signalfd; what would end us ends the program first, and is then in *ret_signal (else 0). */
int task_run_here(const char *program, const char *const *words, int signals, int *ret_signal);

#endif
