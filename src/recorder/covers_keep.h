/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the child share: covers_keep.c serves and mounts, covers_outside.c follows
 * hidden things under their other names. */
#ifndef BAWN_COVERS_KEEP_H
#define BAWN_COVERS_KEEP_H

#include "covers.h"
#include "covers_held.h"

#include <linux/limits.h>

enum {
	KEEP_CHANNEL = 3, /* the child's descriptors, in this order */
	KEEP_EVENTS,
	KEEP_HEARD, /* the recorder's inotify */
	KEEP_PROC,  /* the host's /proc, then the box's */
	KEEP_SELF,  /* our own descriptors, in the host's /proc */
	KEEP_COUNT,
};

struct channel;
struct keep_object;

struct keep {
	struct covers *all;
	int empty_dir, empty_file; /* the empty things that hide others */
	struct covers_held *held;  /* of each cover: what it was just laid upon; mount 0: none */
	int last;                  /* the number of the folder that we listened to last */
	size_t folders;            /* how many folders we listen to */
	size_t failed;             /* the cover that is being laid */
	int top;                   /* the host's root folder */
	int *roots;                /* for each mount of the plan: what it shows, from outside; -1 */
	struct keep_object *objects; /* the hidden things, under whatever name */
	size_t object_count;
	bool look; /* one of them may have another name */
	struct {
		uint32_t cookie;
		char name[NAME_MAX + 1];
	} moved; /* the last rename away from the name of something hidden */
	/* For covers in an overlay: a folder outside, by its inotify number, and the cover behind
	 * it. */
	struct keep_way {
		int number;
		size_t cover;
	} ways[COVERS_FOLDERS_MAX];
	size_t way_count;
	struct channel *channel; /* to the recorder; NULL until we serve it */
};

void keep_say(struct covers_report report);

/* Looks at the cover, lays it when it is off, and reports what happened. */
void keep_renew(struct keep *k, size_t index);

/* Makes the overlay that the cover is in look up again every name that nobody uses. */
int keep_forget(const struct cover *c);

/* Listens to a folder, or to a name in it: its inotify number, 0 or -errno.  Only
 * keep_listen_folder returns 0: the folder is another user's, and we cannot listen to it. */
int keep_listen(struct keep *k, int dir, const char *name, uint32_t flags);
int keep_listen_folder(struct keep *k, int dir);

/* Copies the next name on the way; *at is then behind it.  -ENOENT: there is none. */
int keep_part(const char **at, char into[NAME_MAX + 1]);

/* --- covers_outside.c ----------------------------------------------------------------- */

/* Opens what each mount shows; must run before we enter the box's mount namespace. */
int keep_outside_start(struct keep *k);

/* Listens to the folders on the way to something hidden, and follows what is there now.  1:
 * something is there.  0: nothing.  Or -errno. */
int keep_outside_find(struct keep *k, size_t index);

/* Handles an event: something may have been renamed away from a hidden name. */
void keep_outside_moved(struct keep *k, const struct inotify_event *event);

/* Something hidden may have another name: covers that one, or the box ends. */
void keep_outside_look(struct keep *k);

#endif
