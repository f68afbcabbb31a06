/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the watch share: watch.c serves, watch_event.c writes. */
#ifndef BAWN_WATCH_PARTS_H
#define BAWN_WATCH_PARTS_H

#include "covers.h"
#include "note.h"
#include "profile.h"
#include "watch.h"
#include "watch_call.h"
#include "watch_connect.h"
#include "watch_fold.h"
#include "watch_move.h"
#include "watch_order.h"
#include "watch_outside.h"
#include "watch_path.h"
#include "watch_process.h"
#include "watch_real.h"
#include "watch_vain.h"

enum {
	WATCH_CONNECTS = 256,
	WATCH_ASKED_MAX = 64,
	WATCH_REFUSED_MAX = 1024, /* bytes of a path, where nothing was changed */
};

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
	bool ending;  /* the box was told to */
	bool shares;  /* folders of the user are shown as they are */
	int64_t now;
	int64_t folded;           /* when repeats were last written */
	struct watch_vains vains; /* since then */
	uint64_t missed; /* processes whose end is not seen, of which the record was told */
	struct watch_map map;
	struct covers covers;
	bool covered_calls; /* some cover has a call that is not settled */
	struct watch_processes processes;
	struct watch_root root;
	struct watch_outsides outsides;
	struct watch_moves moves;
	struct watch_order order;
	struct notify_call asked[WATCH_ASKED_MAX]; /* calls that were received, and wait */
	size_t asked_count;
	struct watch_connects unix_connects;
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
	bool failed; /* it is certain to, and was answered so */
	bool has_mode, has_flags;
};

/* The paths of a call, by the first names of what is mounted twice (twice.h). */
struct watch_names {
	struct span path, to;
	char room[2][PATH_MAX];
};

void watch_names(const struct watch *w, struct watch_names *ret);

/* Whether it makes, in a repository of the user, what git obeys. */
bool watch_is_held(const struct watch *w, enum watch_touch touch);

/* Whether it makes something, and fails where something is. */
bool watch_makes_new(const struct watch_call *c, const struct watch_file *f);

/* Who keeps the plan's covers on is started; later: all are on, or the box ends (false). */
int watch_covers_start(struct watch *w, struct error *e);
bool watch_covers_wait(struct watch *w);

/* Before a call goes on: no cover is off, as far as anybody can know. */
void watch_covers_sync(struct watch *w);

/*
 * The call that is looked at, before it goes on: whether it names what is covered, from the outside
 * or by the kernel's word.  Else the error that it has to be answered with.  A program whose memory
 * says something else a moment later is not held by this.  *wanted: it has an event.
 */
int watch_covered(struct watch *w, struct watch_file *f, pid_t thread, bool *wanted);

/* A thread makes another call, or time has passed (0): what came of calls that were to make
 * something of the covers', or to take it away.  True: of some it is not known yet. */
bool watch_covered_settle(struct watch *w, pid_t thread);

/* What stands at a path of the box, without links on the way: a descriptor to look at it, or -errno. */
int watch_open_path(struct watch *w, const char *path);

/* Something is mounted there: the kernel neither removes nor renames it. */
bool watch_is_mount(struct watch *w, const char *path);

/* What is read: whether it is of interest; *ret_refused: it cannot be had. */
bool watch_is_of_interest(struct watch *w, const char *path, bool *ret_refused);

/* The call that is looked at, before it goes on: the error that it is certain to end in, with which
 * it has to be answered.  0: nobody knows. */
int watch_fails(struct watch *w, const struct profile_watched *what, const struct notify_call *call,
		struct watch_file *f);

/* What the call is about to change is kept as it is (first_keep.h), where it can be reached.  0, or
 * the error with which it has to be answered. */
int watch_first(struct watch *w, const struct profile_watched *what, struct watch_file *f);

/* It lies outside, or may (watch_outside.h), and not in the box, of however many layers that is. */
bool watch_is_withheld(struct watch *w, const char *path);

/* All: 0 or -errno, as writer_end. */
int watch_event_file(struct watch *w, const struct watch_process *p, const struct watch_file *f);
int watch_event_call(struct watch *w, const struct watch_process *p, const char *name, int number);
int watch_event_exec(struct watch *w, struct watch_process *p);
int watch_event_ran(struct watch *w, struct watch_process *p);
int watch_event_exit(struct watch *w, const struct watch_process *p, int status);
int watch_event_repeats(void *context, const struct watch_fold_entry *entry);

/* What was left out of attempts on nothing, if anything; the next second begins. */
int watch_event_vain(struct watch *w);

/*
 * The call that is looked at, before it goes on: whether it is one of too many that lead to
 * nothing.  0: it is not.  Else it has to be answered with this error; *ret_counted: it is counted,
 * and has no event.
 */
int watch_vain_judge(struct watch *w, const struct watch_process *p, struct watch_file *f,
		     bool *ret_counted);

/* Processes whose end will not be seen. */
int watch_event_missed(struct watch *w, uint64_t count);

/* A pointless exec: it did not happen, and nothing of that name came of it. */
int watch_event_tried(struct watch *w, struct watch_process *p);

#endif
