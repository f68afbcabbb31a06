/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of one session: each run that continued it has its name and its folder, and its own
 * record. */
#ifndef BAWN_SHOW_RUNS_H
#define BAWN_SHOW_RUNS_H

#include "inquiry.h"
#include "past.h"

enum { SHOW_RUNS_MAX = 64 };

struct show_run {
	const struct store_session *session;
	struct index_place place;
	int64_t began, finished; /* seconds since 1970; finished 0: not known */
	bool ended, has_exit, has_signal, running;
	uint64_t exit, signal;
};

struct show_runs {
	struct show_run items[SHOW_RUNS_MAX]; /* the newest first, which is the inquiry's own */
	size_t count, left_out;               /* left_out: earlier ones, too many */
	char unread[512];                     /* what is wrong with one of them; or "" */
};

/* Finds the runs of the inquiry's session, and brings them into the index; `alone`: that record
 * only. */
int show_runs_find(struct inquiry *q, bool alone, struct show_runs *ret, struct error *e);

/* index_sum over all of them. */
int show_runs_sum(struct inquiry *q, const struct show_runs *runs, enum index_what what,
		  size_t most, int (*found)(void *context, const struct index_deed *deed),
		  void *context, struct error *e);

#endif
