/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tool that makes a system: started, confined, watched and waited for.
 *
 * An image or an archive is somebody else's data, and the packages of a Debian bring programs that
 * run while it is made.  So a confined tool runs in its own user and mount namespace: the user is
 * root there, with no other id; the filter pretends changes of owner (PROFILE_MAKER); and every
 * mount is read-only but the folder of the new system.  Whatever a layer says, the tool can write
 * nothing else, change no mode or time, make no link.
 *
 * A process that the tool leaves running holds the lock of the system (systems.h) until it ends.
 */
#ifndef BAWN_SYSTEM_RUN_H
#define BAWN_SYSTEM_RUN_H

#include "error.h"
#include "systems.h"

enum { SYSTEM_ARGUMENTS_MAX = 32 };

/* For the person who waits.  `tick` is called about once a second, if it is not NULL. */
struct system_watch {
	void (*tick)(void *context, const struct system_new *n);
	void *context;
};

struct system_run {
	const struct system_new *made;
	const struct system_watch *watch; /* or NULL */
	const char *argv[SYSTEM_ARGUMENTS_MAX];
	size_t count;
	bool as_root; /* confined; else it runs as the user would start it */
};

void system_run_word(struct system_run *run, const char *word);

/* 0: the tool ended well.  SIGINT, SIGTERM and SIGHUP end the tool, the second signal for certain.
 * Then the answer is -EINTR, so that the caller can remove what was made. */
int system_run(struct system_run *run, struct error *e);

/* The programs that we need, each with its Debian package. */
struct system_tool {
	const char *name, *package, *what; /* what it makes */
};
enum { SYSTEM_TOOL_COUNT = 3 };
extern const struct system_tool system_tools[SYSTEM_TOOL_COUNT];

/* Finds a program; false: it is nowhere. */
bool system_tool_find(const char *name, char *into, size_t size);

#endif
