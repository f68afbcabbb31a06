/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who does what in the box.  An execution is one program from its exec to its end, with a number
 * that is never given again.  A process that was only forked does what it does as the execution
 * that it was forked from; which one that is, is looked up once and kept.
 *
 * A fork has the memory of its parent, and an exec makes a new one: file and place of the stack
 * tell which execution a process is of (its mark), whoever its parent is by now.  One whose parent
 * has ended, so that pid 1 is in its place, or has become another program, is found by its mark;
 * where there is none it is nobody's.  Groups and sessions say nothing: a process may join those of
 * others.
 *
 * Whether an exec has happened is told by what a process cannot make up: the kernel clears a flag
 * of a forked process at its first exec; later ones have another file, or the memory that it had
 * before is gone.
 *
 * A process is known by its pid while its pidfd says that it lives; where there is no descriptor
 * left for one, by its pid and the time at which it began, and its end is seen a second later. What
 * is read of it in /proc counts only when that time is still the same.  A thread is known for a
 * second; then its process is asked for again.
 */
#ifndef BAWN_WATCH_PROCESS_H
#define BAWN_WATCH_PROCESS_H

#include "buf.h"
#include "loop.h"

#include <sys/stat.h>
#include <sys/types.h>

enum {
	WATCH_SLOTS = 4096,       /* of the table by pid; a slot has a list */
	WATCH_THREADS = 1024,     /* that are remembered; others are asked for again */
	WATCH_ANCESTORS_MAX = 64, /* that are looked up for one process */
	WATCH_MARKS = 4096,       /* of executions, ended ones too, that are remembered */
	WATCH_SPARE = 64,         /* descriptors that are kept free for all else */
	WATCH_PROCESSES_MAX = 1 << 16,
};

/* What a program's memory is known by. */
struct watch_mark {
	uint64_t exec;
	uint64_t stack;         /* where it begins; 0: unknown */
	uint64_t device, inode; /* of the program's file */
};

/* What was said at exec, until it is known what came of it. */
struct watch_exec {
	struct buf path, argv, cwd; /* argv: texts, each ended by a NUL */
	uint64_t cut;               /* bytes of argv that are not here */
	const char *reason;         /* why there is no path; NULL */
	bool unread;                /* its path cannot be read from here */
	pid_t thread;               /* that asked */
	bool cannot;                /* there is no such program: it fails */
	bool forked;                /* the process had not executed anything yet */
	struct watch_mark was;      /* and else this */
	int memory;                 /* and this; -1 */
	int64_t since;
};

struct watch_process {
	struct watch_process *next; /* in its slot */
	struct watch_processes *all;
	pid_t pid;
	int pidfd;      /* -1: there was no room for one */
	uint64_t start; /* when it began, in ticks */
	uint64_t stack; /* of its execution; 0: unknown */
	struct loop_handle handle;
	uint64_t exec;            /* its execution; 0: it is from before the first */
	bool confined;            /* it, or one it comes from, has confined itself further */
	bool owner;               /* the execution is this process's own, not its parent's */
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
	size_t most;     /* descriptors that there may be; 0: any number */
	size_t unheld;   /* processes without a pidfd */
	uint64_t missed; /* so many there have been */
	struct watch_mark marks[WATCH_MARKS];
	uint64_t mark_next;
	bool confined; /* some process has confined itself */
	bool ports;    /* some process has made rules about ports for that */
	pid_t first;   /* pid 1 of the box, which is the first to be seen; above it is nothing */
	uint64_t last_exec;
	watch_exit_fn on_exit;
	watch_settle_fn settle;
	void *context;
};

/* In zeroed memory: most of its pages are never touched. */
void watch_processes_init(struct watch_processes *all, struct loop *loop, watch_exit_fn on_exit,
			  watch_settle_fn settle, void *context);
void watch_processes_fini(struct watch_processes *all);

/* The text of a file of /proc/PID, as much as fits: its length, or -errno. */
ssize_t watch_proc_read(pid_t pid, const char *name, char *text, size_t size);

/* The process that this thread is of; NULL: it is gone, or there is no memory. */
struct watch_process *watch_process_of(struct watch_processes *all, pid_t thread, int64_t now);

/* The process confines itself further, and with it all that it starts. */
void watch_process_confine(struct watch_process *p);

/* The process has become another program: a new execution, whose parent's number is returned. */
uint64_t watch_process_execed(struct watch_processes *all, struct watch_process *p);

/* The process has ended, or is taken to have: as when its pidfd says so. */
int watch_process_end(struct watch_process *p);

/* What the kernel says of a process that lives, or of a zombie. */
struct watch_look {
	uint64_t stack; /* where it begins; 0: unknown, or it has none any more */
	bool forked;    /* it has not executed anything since it was forked */
	bool loading;   /* its memory is new, and not all there: an exec is under way */
	bool ended;
};

/* 0 or -errno: it is gone. */
int watch_process_look(const struct watch_process *p, struct watch_look *ret);

/* The exec that is asked for by this process: what it is known by until it has happened. */
void watch_process_asks(const struct watch_process *p, struct watch_exec *x);

/* Whether what was asked for has happened: 1, 0, or -errno when nobody can tell any more. */
int watch_process_has_execed(const struct watch_process *p);

/* What a link of its folder ("exe", "root") leads to; 0 or -errno. */
int watch_process_stat(const struct watch_process *p, const char *name, struct stat *ret);

/* What its execution is known by from here on; the execution's file, or NULL. */
void watch_process_mark(struct watch_process *p, uint64_t stack, const struct stat *file);

/* The ends of those that have no pidfd.  0, or as `on_exit` says. */
int watch_processes_sweep(struct watch_processes *all);

/*
 * Of an open file, and what the kernel says is its name: whether it was moved out of what the box
 * is shown, while somebody stood in it or had it open.  Nothing leads to it from the root any more,
 * and the kernel says "/".
 */
bool watch_is_adrift(const char *says, int fd);
#define WATCH_ADRIFT "it was moved out of what the box is shown"

/* By that name alone; nearly all say that they are not, and nothing is opened for them. */
bool watch_may_be_adrift(const char *says);

/* A link of a thread's own folder ("cwd", "exe", "fd/3"); the length, or -errno: -ESTALE where it
 * leads to what is adrift.  Of the one that asks, for the first of a process may have ended. */
ssize_t watch_thread_link(pid_t thread, const char *name, char *into, size_t size);

/* What it leads to, as a bare handle; or -errno. */
int watch_thread_open(pid_t thread, const char *name);

void watch_exec_free(struct watch_exec *x);

#endif
