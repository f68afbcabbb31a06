/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a watched box that the recorder answers.  The filter of such a box lets a call
 * through, or the call waits for the recorder (SECCOMP_RET_USER_NOTIF), which answers:
 *
 *	refused	the call's rules refuse it, or it has none: exactly the errno that the filter
 *		without a watch would have given, never anything else
 *	watched	it goes on, after the recorder has looked at its arguments
 *
 * profile_judge decides which, from the same table as the filter.
 */
#ifndef BAWN_PROFILE_WATCH_H
#define BAWN_PROFILE_WATCH_H

/* How much is watched. */
enum profile_watch {
	PROFILE_WATCH_NOTHING, /* the plain filter */
	PROFILE_WATCH_CHANGES, /* executions, changes to files, connections; and refused calls */
	PROFILE_WATCH_NAMES,   /* and what is opened to read, but for what is looked for beneath a
				* folder that is open (who walks through a tree reads in it only),
				* or as compilers look for headers, thousands of them in vain */
	PROFILE_WATCH_READS,   /* and that too */
	PROFILE_WATCH_COUNT,
};

enum profile_seen {
	PROFILE_SEEN_EXEC,
	PROFILE_SEEN_STARTED,  /* a program has started: the recorder can see what exec ran */
	PROFILE_SEEN_OPEN,     /* flags say what for */
	PROFILE_SEEN_OPEN_HOW, /* flags are in memory: struct open_how */
	PROFILE_SEEN_TRUNCATE,
	PROFILE_SEEN_DELETE, /* with AT_REMOVEDIR in its flags, of a folder */
	PROFILE_SEEN_RMDIR,
	PROFILE_SEEN_RENAME,
	PROFILE_SEEN_LINK,
	PROFILE_SEEN_SYMLINK, /* `to` is text, not a path */
	PROFILE_SEEN_MKDIR,
	PROFILE_SEEN_MKNOD,
	PROFILE_SEEN_CHMOD,
	PROFILE_SEEN_CHOWN,
	PROFILE_SEEN_XATTR,
	PROFILE_SEEN_TIMES,    /* set to now: the argument `mode`, the times, is NULL */
	PROFILE_SEEN_BIND,     /* of a socket that becomes a file */
	PROFILE_SEEN_RULES,    /* a Landlock ruleset: `path` points to it, `mode` is its size */
	PROFILE_SEEN_CONFINE,  /* by itself, with Landlock: the recorder does nothing more for it */
	PROFILE_SEEN_CONNECT,  /* `path` is a socket address, `mode` its length */
	PROFILE_SEEN_LISTEN,   /* `dir` is the socket */
	PROFILE_SEEN_DATAGRAM, /* a unix socket that names a path with each message */
};

/* A watched call, and which of its arguments are what; -1: it has no such argument. */
struct profile_watched {
	const char *call;
	int number; /* as in struct profile_call */
	enum profile_seen seen;
	int dir, path;  /* path < 0: dir is the file itself */
	int to_dir, to; /* the other path, of a rename or a link */
	int flags;
	int mode;
};

#endif
