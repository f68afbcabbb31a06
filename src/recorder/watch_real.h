/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a path of the box really leads.  A program can name a file in many ways: through links of
 * its own, through /proc/self/root, /proc/PID/cwd and /proc/self/fd/3, with dots after a link.  We
 * record the file itself, and compare it with the plan.
 *
 * We look it up in the root of the box's first process, which all of its processes have.  Nearly
 * every path has no link in it: that is one open, which the kernel ends at the first link (and
 * nowhere else).  If there is one, the kernel follows it; but through /proc the kernel would take
 * us for the caller, so there we go step by step as the caller would.
 *
 * The caller goes on by itself and may have changed something meanwhile: the result is as
 * `reported` as the path was.
 */
#ifndef BAWN_WATCH_REAL_H
#define BAWN_WATCH_REAL_H

#include "watch_call.h"
#include "watch_root.h"

enum watch_real {
	WATCH_REAL_PLAIN,    /* it has no link: its cleaned letters are its name */
	WATCH_REAL_NAME,     /* it has this name */
	WATCH_REAL_REMOVED,  /* it had this name, and was removed */
	WATCH_REAL_NAMELESS, /* no file: a pipe, a socket, memory */
	WATCH_REAL_UNKNOWN,
};

/*
 * raw: absolute, as it was said, after its folder; it is the same again afterwards.  follow: also
 * follow a link at its end.  It does not matter whether something is at the end.  into: its name,
 * for NAME and REMOVED.  *ret_missing becomes true when a part is not there: with follow also the
 * end, else only its folder.
 */
enum watch_real watch_real_find(int root, pid_t thread, char *raw, bool follow,
				char into[WATCH_CALL_PATH], bool *ret_missing);

/* The same for the paths of a call: path and to become the true names; said, unsure, nameless and
 * reason tell the rest. */
void watch_real_call(int root, const struct profile_watched *what, const struct notify_call *call,
		     struct watch_call *c);

/* Where the last part begins that a call could make or remove; WATCH_REAL_NO_LAST: there is
 * none. */
#define WATCH_REAL_NO_LAST SIZE_MAX
size_t watch_real_last(const char *raw, size_t *ret_end);

/* The name of an open file: its length; 0: it has none, or none that fits. */
size_t watch_real_name(int fd, char *into, size_t size);

#endif
