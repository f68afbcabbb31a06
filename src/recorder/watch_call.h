/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call asks for, read from the memory of its caller.  Everything is bounded.  A pointer that
 * leads nowhere is a reason, not a failure: the kernel will answer the caller.
 */
#ifndef BAWN_WATCH_CALL_H
#define BAWN_WATCH_CALL_H

#include "notify.h"
#include "profile_watch.h"
#include "watch_path.h"
#include "watch_process.h"

#include <sys/socket.h>

enum {
	WATCH_CALL_PATH = 2 * WATCH_PATH_MAX, /* a folder and a path beneath it */
	WATCH_ARGV_MAX = 16 << 10,            /* bytes of argv that are kept */
	WATCH_ARGV_LOOK = 2 << 20,            /* bytes that are looked at and counted */
	WATCH_ARGC_LOOK = 1 << 16,
	WATCH_ADDRESS = 16,
};

struct watch_call {
	char path[WATCH_CALL_PATH]; /* absolute, cleaned; "": not known */
	char to[WATCH_CALL_PATH];   /* like path; for a symbolic link its text, as it is */
	size_t path_len, to_len;
	char raw[WATCH_CALL_PATH];    /* folder and path as they were said, with links and dots */
	char raw_to[WATCH_CALL_PATH]; /* the same for `to`; both "" for a bare descriptor */
	char said[WATCH_CALL_PATH];   /* path as it was said, if it leads elsewhere */
	size_t said_len;
	char room[WATCH_CALL_PATH]; /* to work in */
	bool missing;               /* nothing is there that it could act upon: it fails */
	bool unsure;                /* we are not sure where it leads */
	bool nameless;              /* it leads to something that is no file: a pipe, a socket */
	bool deep;                  /* it is beneath path, too deep to have a name */
	bool adrift;                /* its folder was moved out of what the box sees */
	const char *reason;         /* why a path is not known; NULL */
	int error;                  /* then the errno for the call; 0 */
	uint64_t flags, mode;
	uint64_t resolve; /* of openat2; with RESOLVE_IN_ROOT path is the folder, raw beneath it */
};

/*
 * Reads path and to of the call, and flags and mode if it has them.  0; -ENOENT: it is about no
 * file (a socket address of another kind); -EFAULT: we cannot read it.  The kernel might (the page
 * that the kernel shares with a process): so the call must not go on.
 */
int watch_call_read(const struct profile_watched *w, const struct notify_call *call,
		    struct watch_call *ret);

/* Opens the folder that the call begins at (O_PATH): the descriptor, or -errno. */
int watch_call_open_folder(const struct profile_watched *w, const struct notify_call *call);

/* One path of the call as it was said, after its folder and with its links and dots: what the
 * kernel would look up in the caller's root.  Its length; 0: we cannot know. */
size_t watch_call_said(const struct notify_call *call, int dir_arg, int path_arg,
		       char into[WATCH_CALL_PATH]);

/* What an exec names: path as above, argv and cwd.  NULL: no memory. */
struct watch_exec *watch_call_read_exec(const struct profile_watched *w,
					const struct notify_call *call, struct watch_call *scratch);

/* The address of a connect, v4 mapped; -ENOENT: not of the internet. */
int watch_call_address(const struct sockaddr_storage *a, uint8_t ret_address[WATCH_ADDRESS],
		       uint16_t *ret_port);

#endif
