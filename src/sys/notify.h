/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications of a system call filter (seccomp_unotify(2)): a call waits until whoever holds
 * the listener has answered it.  When nobody holds it any more, such calls answer ENOSYS.
 *
 * Where the caller is let go on, the kernel reads its memory again, so what was seen there is
 * what the caller said, not what it did.  Its registers (number, arguments) are fixed.
 */
#ifndef BAWN_NOTIFY_H
#define BAWN_NOTIFY_H

#include "span.h"

#include <sys/types.h>

struct notify_call {
	uint64_t id;
	pid_t thread; /* as the receiver sees it; 0: not to be seen from here */
	int number;
	uint64_t args[6];
};

/* Installs a filter, as process_filter; its listener, or -errno. */
int notify_listen(struct span bpf);

/* Lets caller and receiver take turns on one processor, which is much faster; best effort. */
void notify_take_turns(int listener);

/* Waits for the next one.  -ENOENT: it was called off, and -EINTR: try again. */
int notify_receive(int listener, struct notify_call *ret_call);

/* Its caller still waits. */
bool notify_is_there(int listener, uint64_t id);

/* The call goes on.  -ENOENT: its process has been killed, and it does not happen; so as long as
 * this says 0, what was read of the process since it came was this process's.  -EIO: it could not
 * be answered, and waits for ever. */
int notify_continue(int listener, uint64_t id);

/* The call answers 0: somebody has done it for the caller. */
int notify_done(int listener, uint64_t id);

/* The call answers this errno (positive). */
int notify_refuse(int listener, uint64_t id, int error);

/* A string of the process, at most size - 1 bytes and a NUL.  The length; -ENAMETOOLONG: there was
 * no end by then (what was read is there); -EFAULT. */
ssize_t notify_read_string(pid_t pid, uint64_t at, char *into, size_t size);

/* So many bytes as can be read there; -errno when none can. */
ssize_t notify_read(pid_t pid, uint64_t at, void *into, size_t size);

#endif
