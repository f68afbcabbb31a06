/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder that a session's record is written to, made before it starts:
 *
 *	STATE/record/20261115-084532-calm-otter
 *
 * when it began (UTC) and its name; with -2, -3... where that is taken.  0700, and out of every
 * box's sight, as all of STATE.  What is in it is the recorder's (src/recorder/recorder.h).
 */
#ifndef BAWN_RECORD_FOLDER_H
#define BAWN_RECORD_FOLDER_H

#include "error.h"
#include "host.h"

enum { RECORD_FOLDER_NAME_MAX = 64 };

struct record_folder {
	int all, own;                          /* -1: not made */
	const char *session;                   /* its name */
	char name[RECORD_FOLDER_NAME_MAX + 1]; /* the folder's, in `all` */
};

#define RECORD_FOLDER_INIT ((struct record_folder){.all = -1, .own = -1})

/* The folder of all records, for reading, so that it can be synced; -ENOENT when it is not there
 * and may not be made. */
int record_folder_open(const struct host *h, bool create, struct arena *arena, struct error *e);

int record_folder_make(const char *state_dir, const char *session, struct record_folder *ret,
		       struct error *e);
/* Writes down, beside the record of a session that has ended, how many files and commits it left
 * changed, in words: `bawn sessions --all` and `bawn show` say it.  It is no part of what is sealed. */
#define RECORD_FOLDER_CHANGED "changed"
int record_folder_say_changed(const char *state_dir, const char *name, struct span words);
void record_folder_fini(struct record_folder *f);
#define _cleanup_record_folder_ _cleanup_(record_folder_fini)

#endif
