/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the watch share: watch.c serves, watch_event.c writes. */
#ifndef BAWN_WATCH_PARTS_H
#define BAWN_WATCH_PARTS_H

#include "note.h"
#include "profile.h"
#include "watch.h"
#include "watch_call.h"
#include "watch_fold.h"
#include "watch_move.h"
#include "watch_path.h"
#include "watch_process.h"

enum { WATCH_CONNECTS = 256 };

struct watch_connect {
	uint8_t address[WATCH_ADDRESS];
	uint16_t port;
	uint64_t exec;
	int64_t when;
};

struct watch {
	struct watch_to to;
	enum profile_kind kind;
	enum profile_watch watch;
	int listener;
	struct loop_handle handle;
	int timer; /* for what waits: repeats, and programs that have not been heard of */
	struct loop_handle timer_handle;
	int64_t timer_at; /* 0: not set */
	bool paused;
	bool started; /* the first program was executed */
	int64_t now;
	int64_t folded; /* when repeats were last written */
	struct watch_map map;
	struct watch_processes processes;
	struct watch_root root;
	struct watch_moves moves;
	struct watch_fold fold;
	struct watch_call call; /* the one that is looked at */
	struct watch_connect connects[WATCH_CONNECTS];
	size_t connect_next;
};

/* What it did to its paths, for touched.h. */
enum watch_touch {
	WATCH_TOUCH_NOT,
	WATCH_TOUCH_MADE,
	WATCH_TOUCH_META,
	WATCH_TOUCH_TIMES,
	WATCH_TOUCH_GONE,
	WATCH_TOUCH_RENAMED,
	WATCH_TOUCH_LINKED,
	WATCH_TOUCH_SYMLINKED,
};

/* What a file event says. */
struct watch_file {
	const char *op;
	enum watch_touch touch;
	bool refused;
	bool has_mode, has_flags;
};

/* What the call is about to change is kept as it is (first_keep.h), where it can be reached. */
void watch_first(struct watch *w, const struct profile_watched *what, const struct watch_file *f);

/* It lies outside, by this very name, and not in the box, of however many layers that is. */
bool watch_is_withheld(struct watch *w, const char *path);

/* Events of those of its arguments that are files which the box does not show. */
int watch_named(struct watch *w, const struct watch_process *p, const struct watch_exec *x);

/* All: 0 or -errno, as writer_end. */
int watch_event_file(struct watch *w, const struct watch_process *p, const struct watch_file *f);
int watch_event_named(struct watch *w, const struct watch_process *p, struct span path);
int watch_event_call(struct watch *w, const struct watch_process *p, const char *name, int number);
int watch_event_exec(struct watch *w, struct watch_process *p);
int watch_event_ran(struct watch *w, const struct watch_process *p);
int watch_event_exit(struct watch *w, const struct watch_process *p, int status);
int watch_event_repeats(void *context, const struct watch_fold_entry *entry);

/* A pointless exec: it did not happen, and nothing of that name came of it. */
int watch_event_tried(struct watch *w, struct watch_process *p);

#endif
