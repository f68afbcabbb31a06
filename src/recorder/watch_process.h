/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who does what in the box.  An execution is one program from its exec to its end, with a number
 * that is never used again.  What a process does that was only forked counts for the execution that
 * it was forked from; we look that up once and keep it.
 *
 * A fork has the memory of its parent, and an exec makes a new one: the program's file and the
 * place of the stack tell which execution a process belongs to (its mark), whoever its parent is by
 * now.  If its parent has ended, so that pid 1 is in its place, or has become another program, we
 * find the execution by the mark; if that fails too, it has none.  Groups and sessions say nothing:
 * a process may join those of others.
 *
 * A process cannot fake the signs that an exec has happened: the kernel clears a flag of a forked
 * process at its first exec; later ones have another file, or the memory that it had before is
 * gone.
 *
 * We know a process by its pid while its pidfd says that it lives.  If there is no descriptor left
 * for it, we know it by its pid and the time when it began, and see its end a second later.  What
 * we read of it in /proc counts only when that time is still the same.  We remember a thread for a
 * second; then we ask again for its process.
 */
#ifndef BAWN_WATCH_PROCESS_H
#define BAWN_WATCH_PROCESS_H

#include "buf.h"
#include "loop.h"

#include <sys/stat.h>
#include <sys/types.h>

enum {
	WATCH_SLOTS = 4096,       /* of the table by pid; each has a list */
	WATCH_THREADS = 1024,     /* that we remember; we ask again for others */
	WATCH_ANCESTORS_MAX = 64, /* that we look up for one process */
	WATCH_MARKS = 4096,       /* of executions that we remember, ended ones too */
	WATCH_SPARE = 64,         /* descriptors that we keep free for all else */
	WATCH_PROCESSES_MAX = 1 << 16,
};

/* By what we know a program's memory. */
struct watch_mark {
	uint64_t exec;
	uint64_t stack;         /* where it begins; 0: unknown */
	uint64_t device, inode; /* of the program's file */
};

/* What an exec said, until we know how it ended. */
struct watch_exec {
	struct buf path, argv, cwd; /* argv: texts, each ended by a NUL */
	uint64_t cut;               /* bytes of argv that are missing */
	const char *reason;         /* why there is no path; NULL */
	bool unread;                /* we cannot read its path */
	pid_t thread;               /* the thread that made the call */
	bool cannot;                /* there is no such program: it fails */
	bool forked;                /* the process had not executed anything yet */
	struct watch_mark was;      /* if not: its mark at that time */
	int memory;                 /* if not: its memory at that time; -1 */
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
	uint64_t exec;            /* its execution; 0: from before the first */
	bool confined;            /* it, or an ancestor, has confined itself further */
	bool owner;               /* the execution is this process's own, not its parent's */
	struct watch_exec *asked; /* the exec that we have not settled; NULL: none */
};

struct watch_thread {
	pid_t thread, process;
	int64_t since;
};

/* A process has ended; status as in wait(2), or -1 when nobody knows it. */
typedef int (*watch_exit_fn)(void *context, struct watch_process *p, int status);

/* A process descends from this one, whose last exec is not settled: settles it. */
typedef void (*watch_settle_fn)(void *context, struct watch_process *p);

struct watch_processes {
	struct loop *loop;
	struct watch_process *slots[WATCH_SLOTS];
	struct watch_thread threads[WATCH_THREADS];
	size_t count;
	size_t most;     /* descriptors that we may have; 0: any number */
	size_t unheld;   /* processes without a pidfd */
	uint64_t missed; /* how many there have been */
	struct watch_mark marks[WATCH_MARKS];
	uint64_t mark_next;
	bool confined; /* some process has confined itself */
	bool ports;    /* some process has made rules about ports for that */
	pid_t first;   /* pid 1 of the box, the first that we see; nothing is above it */
	uint64_t last_exec;
	watch_exit_fn on_exit;
	watch_settle_fn settle;
	void *context;
};

/* Call it on zeroed memory: most of its pages are never touched. */
void watch_processes_init(struct watch_processes *all, struct loop *loop, watch_exit_fn on_exit,
			  watch_settle_fn settle, void *context);
void watch_processes_fini(struct watch_processes *all);

/* Reads a file of /proc/PID, as much as fits: its length, or -errno. */
ssize_t watch_proc_read(pid_t pid, const char *name, char *text, size_t size);

/* The process of this thread; NULL: it is gone, or there is no memory. */
struct watch_process *watch_process_of(struct watch_processes *all, pid_t thread, int64_t now);

/* Notes that the process confines itself further, and with it all that it starts. */
void watch_process_confine(struct watch_process *p);

/* The process has become another program: gives it a new execution, and returns its parent's
 * number. */
uint64_t watch_process_execed(struct watch_processes *all, struct watch_process *p);

/* The process has ended, or counts as ended: does what its pidfd would cause. */
int watch_process_end(struct watch_process *p);

/* What the kernel says of a living process, or of a zombie. */
struct watch_look {
	uint64_t stack; /* where it begins; 0: unknown, or it has none any more */
	bool forked;    /* it has not executed anything since it was forked */
	bool loading;   /* its memory is new and not complete: an exec is running */
	bool ended;
};

/* 0, or -errno: it is gone. */
int watch_process_look(const struct watch_process *p, struct watch_look *ret);

/* The process asks for this exec: notes how we will know whether it happened. */
void watch_process_asks(const struct watch_process *p, struct watch_exec *x);

/* Whether the exec has happened: 1, 0, or -errno when nobody can tell any more. */
int watch_process_has_execed(const struct watch_process *p);

/* Looks at what a link of its folder ("exe", "root") leads to; 0 or -errno. */
int watch_process_stat(const struct watch_process *p, const char *name, struct stat *ret);

/* Sets the mark of its execution; file: the program's, or NULL. */
void watch_process_mark(struct watch_process *p, uint64_t stack, const struct stat *file);

/* Finds the ends of processes without a pidfd.  0, or what `on_exit` returns. */
int watch_processes_sweep(struct watch_processes *all);

/*
 * Whether an open file was moved out of what the box sees, while a process had it open or as its
 * folder.  Then nothing leads to it from the root, and the kernel says that its name is "/".  says:
 * the name that the kernel says.
 */
bool watch_is_adrift(const char *says, int fd);
#define WATCH_ADRIFT "it was moved out of what the box is shown"

/* The same by that name alone; for nearly all it says no, and nothing is opened for them. */
bool watch_may_be_adrift(const char *says);

/* Reads a link of a thread's own folder ("cwd", "exe", "fd/3"): the length, or -errno; -ESTALE: it
 * leads to something adrift.  Use the calling thread: the first one of its process may have
 * ended. */
ssize_t watch_thread_link(pid_t thread, const char *name, char *into, size_t size);

/* Opens what the link leads to (O_PATH): the descriptor, or -errno. */
int watch_thread_open(pid_t thread, const char *name);

void watch_exec_free(struct watch_exec *x);

#endif
