/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call asks for, read out of the memory of who makes it.  Everything is bounded, and a
 * pointer that leads nowhere is a reason, never a failure: the kernel will answer the caller.
 */
#ifndef BAWN_WATCH_CALL_H
#define BAWN_WATCH_CALL_H

#include "notify.h"
#include "profile_watch.h"
#include "watch_path.h"
#include "watch_process.h"

enum {
	WATCH_CALL_PATH = 2 * WATCH_PATH_MAX, /* of a folder and a path beneath it */
	WATCH_ARGV_MAX = 16 << 10,            /* bytes of argv that are kept */
	WATCH_ARGV_LOOK = 2 << 20,            /* and counted */
	WATCH_ARGC_LOOK = 1 << 16,
	WATCH_ADDRESS = 16,
};

struct watch_call {
	char path[WATCH_CALL_PATH]; /* absolute, cleaned; "" where it is not known */
	char to[WATCH_CALL_PATH];   /* likewise; of a symbolic link what it says, as it is */
	size_t path_len, to_len;
	const char *reason; /* why a path is not known; NULL */
	uint64_t flags, mode;
};

/* path and to of the call, and flags and mode where it has them.  0; -ENOENT: it is about no file
 * (a socket address of another kind). */
int watch_call_read(const struct profile_watched *w, const struct notify_call *call,
		    const struct watch_process *p, struct watch_call *ret);

/* One path of the call as it was said, behind its folder and with its links and dots: what the
 * kernel would look up in the caller's root.  The length; 0: it cannot be known. */
size_t watch_call_said(const struct notify_call *call, const struct watch_process *p, int dir_arg,
		       int path_arg, char into[WATCH_CALL_PATH]);

/* What an exec names: path as above, argv and cwd.  NULL: no memory. */
struct watch_exec *watch_call_read_exec(const struct profile_watched *w,
					const struct notify_call *call,
					const struct watch_process *p, struct watch_call *scratch);

/* The address that a connect names, v4 mapped; -ENOENT: none of the internet. */
int watch_call_read_address(const struct profile_watched *w, const struct notify_call *call,
			    uint8_t ret_address[WATCH_ADDRESS], uint16_t *ret_port);

#endif
