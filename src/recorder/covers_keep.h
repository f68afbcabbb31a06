/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the child share: covers_keep.c serves and mounts, covers_outside.c follows what
 * is hidden. */
#ifndef BAWN_COVERS_KEEP_H
#define BAWN_COVERS_KEEP_H

#include "covers.h"
#include "covers_held.h"

#include <linux/limits.h>

enum {
	KEEP_CHANNEL = 3, /* descriptors, and up to here */
	KEEP_EVENTS,
	KEEP_HEARD, /* the recorder's */
	KEEP_PROC,  /* the host's /proc, then the box's */
	KEEP_SELF,  /* our own descriptors, in the host's /proc */
	KEEP_COUNT,
};

struct channel;
struct keep_object;

struct keep {
	struct covers *all;
	int empty_dir, empty_file; /* what hides */
	struct covers_held *held;  /* of each cover: what it was laid upon just now; mount 0: not */
	int last;                  /* number of the folder that was listened to last */
	size_t folders;            /* that are listened to */
	size_t failed;             /* the cover that is being laid */
	int top;                   /* the host's root */
	int *roots;                /* of each mount of the plan: what it shows, from outside; -1 */
	struct keep_object *objects; /* what is hidden, whatever its name is now */
	size_t object_count;
	bool look; /* one of them may have another name */
	struct {
		uint32_t cookie;
		char name[NAME_MAX + 1];
	} moved; /* what was taken away last by the name of something hidden */
	/* Of covers in an overlay: the number of a folder outside, and whose way leads through. */
	struct keep_way {
		int number;
		size_t cover;
	} ways[COVERS_FOLDERS_MAX];
	size_t way_count;
	struct channel *channel; /* to the recorder, once it is served */
};

void keep_say(struct covers_report report);

/* The cover is looked at, and laid where it is off; what becomes of it is said. */
void keep_renew(struct keep *k, size_t index);

/* The overlay that it lies in looks again for every name that nobody uses. */
int keep_forget(const struct cover *c);

/* The number of the folder or, by its name in the folder, of something in it; 0: it is somebody
 * else's, and cannot be listened to; -errno. */
int keep_listen(struct keep *k, int dir, const char *name, uint32_t flags);
int keep_listen_folder(struct keep *k, int dir);

/* The next name on the way; *at is behind it.  -ENOENT: there is none. */
int keep_part(const char **at, char into[NAME_MAX + 1]);

/* --- covers_outside.c ----------------------------------------------------------------- */

/* Before the box's mounts are before our eyes. */
int keep_outside_start(struct keep *k);

/* Listens to the folders on the way to what is hidden, and follows what is there now.  1: something
 * is.  0: nothing.  -errno. */
int keep_outside_find(struct keep *k, size_t index);

/* Something may have been moved by the name of something hidden. */
void keep_outside_moved(struct keep *k, const struct inotify_event *event);

/* Something hidden may have another name: that one is covered, or the box ends. */
void keep_outside_look(struct keep *k);

#endif
