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
#include "watch_crowd.h"
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
	WATCH_REFUSED_MAX = 1024, /* bytes of a path, when nothing was changed */
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
	int timer; /* for repeats, and for programs that have made no call yet */
	struct loop_handle timer_handle;
	int64_t timer_at; /* 0: not set */
	bool paused;
	bool started; /* the first program was executed */
	bool ending;  /* we asked for its end */
	bool shares;  /* it shows folders of the user as they are */
	int64_t now;
	int64_t folded;           /* when repeats were last written */
	struct watch_vains vains; /* attempts in vain since then */
	uint64_t missed;          /* processes whose end we do not see, as told so far */
	struct watch_map map;
	struct covers covers;
	bool covered_calls; /* some cover has a call that we have not settled */
	struct watch_processes processes;
	struct watch_root root;
	struct watch_outsides outsides;
	struct watch_moves moves;
	struct watch_order order;
	struct notify_call asked[WATCH_ASKED_MAX]; /* calls that we received, and that wait */
	size_t asked_count;
	struct watch_connects unix_connects;
	struct watch_fold fold;
	struct watch_crowd crowd;
	struct watch_call call; /* the call at hand */
	struct watch_connect connects[WATCH_CONNECTS];
	size_t connect_next;
	uint8_t listened[(UINT16_MAX + 1) / 8]; /* bit: a program has listened at this port */
};

/* What a call does to its paths, for touched.h. */
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
	bool failed; /* it is certain to fail, and we answered so */
	bool has_mode, has_flags;
};

/* The paths of a call, by the first names of what is mounted twice (twice.h). */
struct watch_names {
	struct span path, to;
	char room[2][PATH_MAX];
};

void watch_names(const struct watch *w, struct watch_names *ret);

/* A program begins to listen at a port. */
int watch_event_listens(struct watch *w, const struct watch_process *p, uint16_t port);

/* Whether the call makes, in a repository of the user, something that git obeys. */
bool watch_is_held(const struct watch *w, enum watch_touch touch);

/* Whether the call makes something, and fails if something is there. */
bool watch_makes_new(const struct watch_call *c, const struct watch_file *f);

/* Starts the child that keeps the plan's covers.  watch_covers_wait then waits until all are on;
 * false: they are not, and the box ends. */
int watch_covers_start(struct watch *w, struct error *e);
bool watch_covers_wait(struct watch *w);

/* Before a call goes on: makes sure that no cover is off, as far as anybody can know. */
void watch_covers_sync(struct watch *w);

/*
 * Judges the call at hand before it goes on: 0, or the errno for a call that names something
 * covered.  A program whose memory says something else a moment later escapes this. *wanted: it
 * gets an event.
 */
int watch_covered(struct watch *w, struct watch_file *f, pid_t thread, bool *wanted);

/* A thread makes another call, or time has passed (thread 0): looks how calls ended that were to
 * make or remove something at a cover's place.  True: some are not known yet. */
bool watch_covered_settle(struct watch *w, pid_t thread);

/* Opens what is at a path of the box, without links on the way (O_PATH): the descriptor, or
 * -errno. */
int watch_open_path(struct watch *w, const char *path);

/* Whether something is mounted there: then the kernel neither removes nor renames it. */
bool watch_is_mount(struct watch *w, const char *path);

/* Whether a read of this path is of interest; *ret_refused: the box cannot have it. */
bool watch_is_of_interest(struct watch *w, const char *path, bool *ret_refused);

/* The errno that the call at hand is certain to end in: the caller has to answer with it.  0:
 * nobody knows. */
int watch_fails(struct watch *w, const struct profile_watched *what, const struct notify_call *call,
		struct watch_file *f);

/* Keeps what the call at hand is about to change (first_keep.h), if we can reach it.  0, or the
 * errno that the call has to be answered with. */
int watch_first(struct watch *w, const struct profile_watched *what, struct watch_file *f);

/* Whether it is outside, or may be (watch_outside.h), and not in the box or one of its layers. */
bool watch_is_withheld(struct watch *w, const char *path);

/* All return 0 or -errno, like writer_end. */
int watch_event_file(struct watch *w, const struct watch_process *p, const struct watch_file *f);
int watch_event_call(struct watch *w, const struct watch_process *p, const char *name, int number);
int watch_event_exec(struct watch *w, struct watch_process *p);
int watch_event_ran(struct watch *w, struct watch_process *p);
int watch_event_exit(struct watch *w, const struct watch_process *p, int status);
int watch_event_repeats(void *context, const struct watch_fold_entry *entry);

/* Writes how many attempts on nothing were left out, if any, and begins the next second. */
int watch_event_vain(struct watch *w);

/*
 * Whether the call at hand is one of too many that lead to nothing.  0: it is not.  Else the errno
 * that it has to be answered with; *ret_counted: it was counted, and gets no event.
 */
int watch_vain_judge(struct watch *w, const struct watch_process *p, struct watch_file *f,
		     bool *ret_counted);

/* The box has all the processes that it may have. */
int watch_event_crowd(struct watch *w);
#define WATCH_CROWDED "the box has all the processes and threads that it may have, or nearly all"

/* Tells processes whose end we will not see. */
int watch_event_missed(struct watch *w, uint64_t count);

/* An exec that failed: it did not happen, and no program of that name ran. */
int watch_event_tried(struct watch *w, struct watch_process *p);

#endif
