/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tool that makes a system: started, confined, watched and waited for.
 *
 * An image or an archive is somebody else's data, and the packages of a Debian bring programs that
 * run while it is made.  So a tool that is confined runs in a user and a mount namespace of its
 * own: the user is root there, with no other id, and changes of owner are pretended
 * (PROFILE_MAKER); and every mount is read-only but the folder of the system that is made. Whatever
 * a layer says, and whatever the tool makes of it, nothing else is written, no mode or time
 * changed, no link made.
 *
 * What the tool leaves running holds the lock of the system (systems.h) until it ends.
 */
#ifndef BAWN_SYSTEM_RUN_H
#define BAWN_SYSTEM_RUN_H

#include "error.h"
#include "systems.h"

enum { SYSTEM_ARGUMENTS_MAX = 32 };

/* For the person who waits; called about once a second, never when NULL. */
struct system_watch {
	void (*tick)(void *context, const struct system_new *n);
	void *context;
};

struct system_run {
	const struct system_new *made;
	const struct system_watch *watch; /* or NULL */
	const char *argv[SYSTEM_ARGUMENTS_MAX];
	size_t count;
	bool as_root; /* confined; else it is what the user would start */
};

void system_run_word(struct system_run *run, const char *word);

/*
 * 0 when the tool ended well.  SIGINT, SIGTERM and SIGHUP end the tool, the second one for certain,
 * and are answered with -EINTR, so that what was made can be removed.
 */
int system_run(struct system_run *run, struct error *e);

/* The programs that are needed for it, each with its Debian package. */
struct system_tool {
	const char *name, *package, *what; /* what it makes */
};
enum { SYSTEM_TOOL_COUNT = 3 };
extern const struct system_tool system_tools[SYSTEM_TOOL_COUNT];

/* Where a program is; false: nowhere. */
bool system_tool_find(const char *name, char *into, size_t size);

#endif
