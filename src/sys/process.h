/* SPDX-License-Identifier: Apache-2.0 */
/* What a process can give up about itself, and how it receives signals. */
#ifndef BAWN_PROCESS_H
#define BAWN_PROCESS_H

#include "base.h"
#include "span.h"

#include <signal.h>
#include <sys/types.h>

/* What the kernel adds to the text of a link in /proc when that name is gone.  A file's real
 * name can end so as well. */
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

/* Drops only the capabilities that it has: enough for a process that starts no program. */
int process_lose_capabilities(void);

/* Keeps only these of the capabilities that it has: a set of 1 << CAP_*. */
int process_keep_capabilities(uint64_t kept);

/* One user and one group of a user namespace, each with its number there and outside. */
struct process_ids {
	uid_t uid, outside_uid;
	gid_t gid, outside_gid;
};

/* Maps the ids of the namespace that we just entered.  self: /proc/self, for a caller that
 * cannot open it any more; -1: this opens it. */
int process_map_ids(int self, const struct process_ids *ids);

/* Blocks every signal of set and returns a signalfd for it, or -errno. */
int process_signalfd(const sigset_t *set);

/*
 * Raises our limit of open files to the hard limit.  Messages need that too: the kernel counts
 * descriptors on their way through sockets for the whole user, and compares the count with the
 * limit of the sender.  Returns the new limit; 0: unknown.
 */
size_t process_raise_files(void);

/* Closes what our caller left open, but 0, 1 and 2.  What came through an exec has no close-on-exec; all that we
 * opened has it. */
void process_close_inherited(void);

/* Default actions and an empty mask, as a program expects to be started. */
void process_reset_signals(void);

/*
 * For a process that has started and will mostly wait: gives back what it has freed, and drops
 * the pages of its own code and constants.  Those stay in the page cache, which all sessions
 * share, and the kernel maps the few that are needed again; the rest no longer counts as this
 * process's memory.
 */
void process_forget_start(void);

/* Takes the owner's bits out of the umask, so that what we write our owner can read again; and what
 * the umask was before, for a command that is started for the user. */
void process_take_mask(void);
mode_t process_user_mask(void);

/* Allow-nothing Landlock and the keeper's kind of confinement: no files, no new privileges,
 * not dumpable, filtered. */
int process_confine(struct span bpf);

#endif
