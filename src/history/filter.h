/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events a person wants to see.  It only looks at one event; the index says where to look.
 *
 *	path	src/main.c	that file, wherever it is; or what is beneath a folder of that
 *				name
 *		/etc		that path and what is beneath it
 *		*.c		a pattern, for the whole path
 *	host	evil.test	that host; evil.test:8443 only at that port
 *		*.test		a pattern
 *	process	12		the execution of that number
 *		git		every execution of a program of that name
 */
#ifndef BAWN_FILTER_H
#define BAWN_FILTER_H

#include "event_read.h"

enum { FILTER_LIST_MAX = 16 };

/* When there are several of one kind, one of them has to match. */
struct filter_list {
	const char *items[FILTER_LIST_MAX];
	size_t count;
};

struct filter {
	struct filter_list kinds, hosts, paths, processes, verdicts;
	int64_t since, until; /* seconds since 1970; 0: no limit */
};

static inline bool filter_is_empty(const struct filter *f)
{
	return f->kinds.count + f->hosts.count + f->paths.count + f->processes.count +
			       f->verdicts.count ==
		       0 &&
	       f->since == 0 && f->until == 0;
}

bool filter_path(const char *wanted, struct span path);
bool filter_host(const char *wanted, struct span host, uint64_t port);
/* The same, at any port. */
bool filter_host_anywhere(const char *wanted, struct span host);
/* Whether the program has one of these names, which may be patterns. */
bool filter_program(const struct filter_list *l, struct span program);

/* 0 and the number; -EINVAL: it is a program's name. */
int filter_process(const char *wanted, uint64_t *ret_exec);

/* Whether the filter wants the event.  program: of its execution, as far as it is known. */
bool filter_lets(const struct filter *f, const struct event *ev, struct span program);

/* Reads the time of --since and --until: 2026-11-15, 2026-11-15T08:45[:32] (local), 08:45, 10m, 2h,
 * 3d (ago). */
int filter_time(const char *typed, int64_t now, int64_t *ret, struct error *e);

#endif
