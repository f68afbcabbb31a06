/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as the box sees them: made absolute and cleaned, and what the plan says about the place.
 *
 * Cleaning is by the letters alone ("a/../b" is "b"), and no link is followed but those that the
 * plan itself made: where a path really leads is found out by watch_real.h.
 */
#ifndef BAWN_WATCH_PATH_H
#define BAWN_WATCH_PATH_H

#include "plan.h"

enum { WATCH_PATH_MAX = 4096 }; /* of the kernel, with a NUL */

enum watch_place {
	WATCH_PLACE_WORKSPACE,
	WATCH_PLACE_GRANTED, /* named by the user: files.read, files.write */
	WATCH_PLACE_SYSTEM,  /* programs, tools, and what was made up for the box */
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

/* The plan's mounts, ready to be asked often. */
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

/* The plan mounts something at this very place. */
bool watch_map_is_mount(const struct watch_map *m, const char *path);

/* One of the plan's marked paths, or beneath one. */
bool watch_map_is_marked(const struct watch_map *m, const char *path);

/*
 * Of folder (absolute; only looked at when path is not) and path, cleaned.  The length; 0: it
 * does not fit into size.
 */
size_t watch_path_join(const char *folder, const char *path, char *into, size_t size);

#endif
