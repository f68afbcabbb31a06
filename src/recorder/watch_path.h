/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as the box sees them: made absolute and cleaned, and what the plan says about the place.
 *
 * Cleaning uses the letters alone ("a/../b" is "b"), and follows only links that the plan itself
 * made: watch_real.h finds where a path really leads.
 */
#ifndef BAWN_WATCH_PATH_H
#define BAWN_WATCH_PATH_H

#include "plan.h"

enum { WATCH_PATH_MAX = 4096 }; /* the kernel's, with a NUL */

enum watch_place {
	WATCH_PLACE_WORKSPACE,
	WATCH_PLACE_GRANTED, /* the user named it: files.read, files.write */
	WATCH_PLACE_SYSTEM,  /* programs, tools, and what bawn made up for the box */
	WATCH_PLACE_HOME,    /* the private home */
	WATCH_PLACE_OWN,     /* /tmp, /run, /proc, /dev */
	WATCH_PLACE_HIDDEN,  /* not shown at all */
};

struct watch_mount {
	const char *target;
	size_t len;
	const struct plan_mount *mount;
	enum watch_place place;
};

/* The plan's mounts, ready for many lookups. */
struct watch_map {
	struct watch_mount *mounts;
	size_t count;
	const struct plan *plan;
};

struct watch_where {
	enum watch_place place;
	bool writable; /* by the plan */
};

int watch_map_init(struct watch_map *m, const struct plan *plan);
void watch_map_fini(struct watch_map *m);

struct watch_where watch_map_find(const struct watch_map *m, const char *path);

/* Whether the plan mounts something at this very place. */
bool watch_map_is_mount(const struct watch_map *m, const char *path);

/* Whether path is one of the plan's marked paths, or beneath one. */
bool watch_map_is_marked(const struct watch_map *m, const char *path);

/*
 * Joins folder (absolute; used only when path is not) and path, and cleans the result: its length;
 * 0: it does not fit into size.
 */
size_t watch_path_join(const char *folder, const char *path, char *into, size_t size);

#endif
