/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cgroups of version 2: the one place where we may make some, and one that we made.
 *
 * A place is the cgroup that we stand in, or one above it, that the user may write and that hands
 * down the controllers which are wanted.  The kernel does not hand memory down from a cgroup that has
 * processes.  So a cgroup in which nobody stands but us counts, too: we step into a child of it
 * first.  A cgroup of a unit of systemd is systemd's alone, unless it was delegated; we never
 * look above the nearest unit.
 *
 * Who made a cgroup holds a lock on its folder.  One of ours without a lock belongs to a session that
 * was killed, and whoever makes the next one removes it.
 */
#ifndef BAWN_CGROUP_H
#define BAWN_CGROUP_H

#include "base.h"
#include "buf.h"

#include <limits.h>
#include <sys/types.h>

enum {
	CGROUP_CPU = 1 << 0,
	CGROUP_MEMORY = 1 << 1,
	CGROUP_PIDS = 1 << 2,
	CGROUP_IO = 1 << 3,
};

enum { CGROUP_NAME = 96 };

struct cgroup_place {
	char path[PATH_MAX];
	unsigned int enable; /* controllers that it does not hand down yet */
	bool aside;          /* we stand in it, and have to step into a child */
};

/* The cgroup of version 2 of a process, from the mount on: "/user.slice/...".  0 or -errno. */
int cgroup_of(pid_t pid, char ret[PATH_MAX]);

/* The same with the mount: the path of its folder. */
int cgroup_path_of(pid_t pid, char ret[PATH_MAX]);

/* The controllers that the cgroup at this path has; 0 where it cannot be read. */
unsigned int cgroup_controllers_of(const char *path);

/*
 * Finds the place for the process `self`, which stands in the cgroup `own` below `mount`.
 *
 *	-ENOENT		there are no cgroups of version 2
 *	-EACCES		none that this user may write
 *	-EOPNOTSUPP	there is one, without one of the controllers
 *	-EBUSY		there is one, and other programs stand in it
 */
int cgroup_find(const char *mount, const char *own, pid_t self, unsigned int wanted,
		struct cgroup_place *ret);

/* The same for this process. */
int cgroup_find_own(unsigned int wanted, struct cgroup_place *ret);

/* Removes the cgroups that sessions left when they were killed, in this place. */
void cgroup_sweep(const char *place);

/* The same in each place in which cgroup_find would look for this process. */
void cgroup_sweep_own(void);

struct cgroup {
	int place, dir; /* their folders; the second is locked */
	int outside;    /* the folder that we stepped into; -1: we did not */
	unsigned int enabled;
	char name[CGROUP_NAME], outside_name[CGROUP_NAME];
};

#define CGROUP_INIT ((struct cgroup){.place = -1, .dir = -1, .outside = -1})

/* Makes a cgroup for a session of this name; cgroup_remove even after a failure. */
int cgroup_make(const struct cgroup_place *place, const char *session, struct cgroup *c);

/* Removes it, and what was made for it; its processes have ended.  A place above us goes on handing down
 * the controllers that we had it hand down, and one that we stood in does while other sessions have
 * cgroups in it. */
void cgroup_remove(struct cgroup *c);

/* Whether a path is that of a session's cgroup which cgroup_make made. */
bool cgroup_is_ours(const char *path);

/* Of a file like memory.pressure: for how much of the last ten seconds some process waited, in hundredths
 * of a percent.  False: the text does not say. */
bool cgroup_pressure(struct span text, uint64_t *ret);

/* A number after a word at the beginning of a line, as in memory.events; 0: it is not there. */
uint64_t cgroup_count(struct span text, const char *word);

#endif
