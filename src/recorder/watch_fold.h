/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the same thing is done again and again, the record has one event, and another one that says
 * how often.  We write the first time at once; we count repeats for a second at most, or until the
 * execution ends, and then write them with their count.  Nothing that was counted is lost: an entry
 * that has to make room is written first.
 */
#ifndef BAWN_WATCH_FOLD_H
#define BAWN_WATCH_FOLD_H

#include "keyed.h"

enum { WATCH_FOLD_SLOTS = 2048 };

struct watch_fold_entry {
	uint64_t hash;
	uint64_t exec;
	pid_t pid;
	unsigned int kind; /* enum note_kind */
	const char *op;    /* the operation, or the name of a call; static */
	bool refused, failed;
	uint64_t repeats; /* since we last wrote it */
	bool listed;      /* it is in `repeating` */
	char *text;       /* path, and after its NUL the other path */
	size_t path_len, to_len, room;
};

/* Writes an entry's repeats; 0 or -errno. */
typedef int (*watch_fold_fn)(void *context, const struct watch_fold_entry *entry);

struct watch_fold {
	struct watch_fold_entry entries[WATCH_FOLD_SLOTS];
	struct keyed key;
	size_t used;
	uint16_t repeating[WATCH_FOLD_SLOTS]; /* the entries that have repeats, and some others */
	size_t repeating_count;
	watch_fold_fn write;
	void *context;
};

/* Call it on zeroed memory: most of its pages are never touched. */
int watch_fold_init(struct watch_fold *f, watch_fold_fn write, void *context);
void watch_fold_fini(struct watch_fold *f);

/* 1: it is a repeat, and counted.  0: it is new, and the caller writes it now.  Or -errno. */
int watch_fold_add(struct watch_fold *f, const struct watch_fold_entry *what, struct span path,
		   struct span to);

/* Writes what was counted: for one execution, or for all (exec 0), which it then forgets. */
int watch_fold_flush(struct watch_fold *f, uint64_t exec);

#endif
