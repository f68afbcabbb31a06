/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications of a system call filter (seccomp_unotify(2)): a call waits until the holder of
 * the listener has answered it.  When no process holds it any more, such calls fail with ENOSYS.
 *
 * When the call goes on, the kernel reads the caller's memory again.  So what we read there is
 * what the caller said, not what it did.  Its registers (number, arguments) cannot change.
 */
#ifndef BAWN_NOTIFY_H
#define BAWN_NOTIFY_H

#include "span.h"

#include <sys/types.h>

struct notify_call {
	uint64_t id;
	pid_t thread; /* as the receiver sees it; 0: the receiver cannot see it */
	int number;
	uint64_t args[6];
};

/* Installs a filter, as process_filter; its listener, or -errno. */
int notify_listen(struct span bpf);

/* Lets caller and receiver take turns on one processor, which is much faster; best effort. */
void notify_take_turns(int listener);

/* Waits for the next call.  -ENOENT: the caller is gone; -EINTR: try again. */
int notify_receive(int listener, struct notify_call *ret_call);

/* Whether its caller still waits. */
bool notify_is_there(int listener, uint64_t id);

/* Lets the call go on.  0: the process was alive, so what was read from it before was really from
 * this process.  -ENOENT: the process was killed, and the call does not happen.  -EIO: the answer
 * failed, and the call waits for ever. */
int notify_continue(int listener, uint64_t id);

/* Makes the call return 0: another process has done it for the caller. */
int notify_done(int listener, uint64_t id);

/* Makes the call fail with this errno (positive). */
int notify_refuse(int listener, uint64_t id, int error);

/* Reads a string of the process, at most size - 1 bytes and a NUL.  The length; -ENAMETOOLONG:
 * it is longer (`into` has what fits); -EFAULT. */
ssize_t notify_read_string(pid_t pid, uint64_t at, char *into, size_t size);

/* Reads as many bytes as possible, at most size.  How many; -errno when none can be read. */
ssize_t notify_read(pid_t pid, uint64_t at, void *into, size_t size);

#endif
