/* SPDX-License-Identifier: Apache-2.0 */
/* What a process can give up about itself, and how it is told of signals. */
#ifndef BAWN_PROCESS_H
#define BAWN_PROCESS_H

#include "base.h"
#include "span.h"

#include <signal.h>
#include <sys/types.h>

/* What the kernel puts behind the name that a link of /proc says, when that name is gone.  A file
 * can be called so as well. */
#define PROCESS_GONE " (deleted)"

int process_no_new_privs(void);
int process_not_dumpable(void);
int process_die_with_parent(void);

/* Installs a filter of profile.h; the caller needs no_new_privs or CAP_SYS_ADMIN. */
int process_filter(struct span bpf);

/* Whether system calls of this process are filtered already. */
bool process_is_filtered(void);

/* Empties the bounding, ambient, inheritable, permitted and effective sets and locks the
 * secure bits, so that being uid 0 means nothing. */
int process_drop_capabilities(void);

/* Those that it has, and nothing else: enough for who starts no program. */
int process_lose_capabilities(void);

/* Of those that it has these alone: a set of 1 << CAP_*. */
int process_keep_capabilities(uint64_t kept);

/* One user and one group of a user namespace, each by its name there and outside. */
struct process_ids {
	uid_t uid, outside_uid;
	gid_t gid, outside_gid;
};

/* Of the namespace that was just entered.  self: /proc/self, for who could not open it for writing
 * any more; -1: it is opened. */
int process_map_ids(int self, const struct process_ids *ids);

/* Blocks every signal of set and returns a signalfd for it, or -errno. */
int process_signalfd(const sigset_t *set);

/*
 * As many open files as this user may have.  Also what our messages need: descriptors that are on
 * their way through sockets are counted for the user as a whole, and compared with the limit of
 * who sends one more.  How many there may be then; 0: that is not known.
 */
size_t process_raise_files(void);

/* Default actions and an empty mask, as a program expects to be started. */
void process_reset_signals(void);

/*
 * For a process that has done its start and will mostly wait: unmaps the pages of its own code.
 * They stay in the page cache, which all sessions share, and the few that are needed come back
 * by themselves; the rest no longer counts as this process's memory.
 */
void process_forget_start(void);

/* Allow-nothing Landlock and the keeper's kind of confinement: no files, no new privileges,
 * not dumpable, filtered. */
int process_confine(struct span bpf);

#endif
