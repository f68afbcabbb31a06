/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who does what in the box.  An execution is one program from its exec to its end, with a number
 * that is never given again.  A process that was only forked does what it does as its parent's
 * execution; which one that is, is looked up once, by its parent, and kept.
 *
 * Where the parent has ended already, so that pid 1 is in its place, it is the leader of the
 * process group, or of the session, that is asked.
 *
 * A process is known by its pid while its pidfd says that it lives, and looked into through a
 * descriptor of its own folder in /proc: what is kept of one process is never taken for another
 * that got the same number.  A thread is known for a second; then its process is asked for again.
 */
#ifndef BAWN_WATCH_PROCESS_H
#define BAWN_WATCH_PROCESS_H

#include "buf.h"
#include "loop.h"

#include <sys/types.h>

enum {
	WATCH_SLOTS = 4096,       /* of the table by pid; a slot has a list */
	WATCH_THREADS = 1024,     /* that are remembered; others are asked for again */
	WATCH_ANCESTORS_MAX = 64, /* that are looked up for one process */
	WATCH_PROCESSES_MAX = 1 << 16,
};

/* What was said at exec, until it is known what came of it. */
struct watch_exec {
	struct buf path, argv, cwd; /* argv: texts, each ended by a NUL */
	uint64_t cut;               /* bytes of argv that are not here */
	const char *reason;         /* why there is no path; NULL */
	pid_t thread;               /* that asked */
	uint64_t stack;             /* of the process when it asked */
	int64_t since;
};

struct watch_process {
	struct watch_process *next; /* in its slot */
	struct watch_processes *all;
	pid_t pid;
	int pidfd;  /* -1: there was no room for one; then it is known for a second only */
	int folder; /* /proc/PID, or -1 */
	struct loop_handle handle;
	uint64_t exec; /* its execution; 0: it is from before the first */
	bool confined; /* it, or one it comes from, has confined itself further */
	bool owner;    /* the execution is this process's own, not its parent's */
	int64_t since;
	struct watch_exec *asked; /* NULL: nothing is open */
};

struct watch_thread {
	pid_t thread, process;
	int64_t since;
};

/* A process has ended; status as wait(2), or -1 when nobody knows it. */
typedef int (*watch_exit_fn)(void *context, struct watch_process *p, int status);

/* Somebody descends from this process, whose last exec is still open: settles that. */
typedef void (*watch_settle_fn)(void *context, struct watch_process *p);

struct watch_processes {
	struct loop *loop;
	struct watch_process *slots[WATCH_SLOTS];
	struct watch_thread threads[WATCH_THREADS];
	size_t count;
	bool confined; /* some process has confined itself */
	pid_t first;   /* pid 1 of the box, which is the first to be seen; above it is nothing */
	uint64_t last_exec;
	watch_exit_fn on_exit;
	watch_settle_fn settle;
	void *context;
};

void watch_processes_init(struct watch_processes *all, struct loop *loop, watch_exit_fn on_exit,
			  watch_settle_fn settle, void *context);
void watch_processes_fini(struct watch_processes *all);

/* The process that this thread is of; NULL: it is gone, or there is no memory. */
struct watch_process *watch_process_of(struct watch_processes *all, pid_t thread, int64_t now);

/* The process confines itself further, and with it all that it starts. */
void watch_process_confine(struct watch_process *p);

/* The process has become another program: a new execution, whose parent's number is returned. */
uint64_t watch_process_execed(struct watch_processes *all, struct watch_process *p);

/* The process has ended, or is taken to have: as when its pidfd says so. */
int watch_process_end(struct watch_process *p);

/* Where its stack begins: another place after every exec.  0: unknown. */
uint64_t watch_process_stack(const struct watch_process *p);

/* A link of its folder ("cwd", "exe", "fd/3"); the length, or -errno. */
ssize_t watch_process_link(const struct watch_process *p, const char *name, char *into,
			   size_t size);

void watch_exec_free(struct watch_exec *x);

#endif
