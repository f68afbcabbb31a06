/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renames directories within an overlay of the box, for the caller (mover.h): the call does not go
 * on, we answer it.  We take a call when
 *
 *	it renames a directory, and does not exchange two
 *	both parents are in one overlay that the plan mounts: the private home, or the workspace
 *	in review mode.  We look them up in the root of the box's first process, as the kernel
 *	would for the caller (we follow links, and stay inside), and hold descriptors whose
 *	mount has to be that overlay
 *	the caller has this root and these mounts, and neither it nor an ancestor has confined
 *	itself with Landlock, which would not bind us
 *
 * All others go on, and the kernel answers them.  If one call of ours is enough, we make it at
 * once.  If it takes more, or if we have capabilities that the caller has not, a child does it and
 * answers, so that no other caller waits.
 */
#ifndef BAWN_WATCH_MOVE_H
#define BAWN_WATCH_MOVE_H

#include "loop.h"
#include "plan.h"
#include "watch_call.h"
#include "watch_root.h"

enum {
	WATCH_MOVES_MAX = 32, /* under way; more of them answer EXDEV */
	WATCH_MOVE_PLACES = 3,
	WATCH_MOVE_PATIENCE_MS = 60000, /* with those under way when the box has ended */
};

struct watch_move {
	struct watch_moves *all;
	pid_t pid; /* 0: free */
	int pidfd;
	struct loop_handle handle;
	uint64_t call; /* the call that waits */
};

struct watch_moves {
	struct loop *loop;
	const struct plan *plan;
	void (*forget)(void *context); /* called in a child: wipes what is not for it; or NULL */
	void *context;
	int listener; /* the caller closes it */
	bool privileged;
	struct watch_root *root;
	bool looked; /* we have looked for overlays */
	uint64_t mounts[WATCH_MOVE_PLACES];
	size_t mount_count;
	struct watch_move moves[WATCH_MOVES_MAX];
};

void watch_moves_init(struct watch_moves *m, struct loop *loop, const struct plan *plan,
		      struct watch_root *root, void (*forget)(void *context), void *context);

/* 1: it is answered, or will be.  0: it is not for us and has to go on.  Or -errno.  *ret_failed:
 * the -errno that it was answered with; 0: it was done, or may be. */
int watch_moves_take(struct watch_moves *m, const struct watch_processes *all,
		     const struct profile_watched *what, const struct notify_call *call,
		     const struct watch_process *p, int *ret_failed);

/* The box has ended: waits for the moves that still run. */
void watch_moves_finish(struct watch_moves *m);

#endif
