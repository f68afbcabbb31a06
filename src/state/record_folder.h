/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder for the record of a session, made before the session starts:
 *
 *	STATE/record/20261115-084532-calm-otter
 *
 * This is the time of the start (UTC) and the session's name; -2, -3... follow when that name is
 * taken.  Its mode is 0700, and no box sees it, like all of STATE. src/recorder/recorder.h says
 * what the recorder writes in it.
 */
#ifndef BAWN_RECORD_FOLDER_H
#define BAWN_RECORD_FOLDER_H

#include "error.h"
#include "host.h"

enum { RECORD_FOLDER_NAME_MAX = 64 };

struct record_folder {
	int all, own;                          /* -1: not made */
	const char *session;                   /* its name */
	char name[RECORD_FOLDER_NAME_MAX + 1]; /* the folder's name in `all` */
};

#define RECORD_FOLDER_INIT ((struct record_folder){.all = -1, .own = -1})

/* Opens the folder of all records for reading, so that it can be synced: the descriptor, or
 * -errno.  -ENOENT: it does not exist, and create is false. */
int record_folder_open(const struct host *h, bool create, struct arena *arena, struct error *e);

int record_folder_make(const char *state_dir, const char *session, struct record_folder *ret,
		       struct error *e);
/* Writes beside the record of an ended session, in words, how many files and commits the session
 * changed: `bawn sessions --all` and `bawn show` print it.  The seal of the record does not cover
 * it. */
#define RECORD_FOLDER_CHANGED "changed"
int record_folder_say_changed(const char *state_dir, const char *name, struct span words);
void record_folder_fini(struct record_folder *f);
#define _cleanup_record_folder_ _cleanup_(record_folder_fini)

#endif
