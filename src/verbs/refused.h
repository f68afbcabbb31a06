/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was refused during a run: told once when it happens, and summed up at the end.  The gate
 * tells what it refused and why.  The recorder tells at the end which programs wanted that, and
 * which files and system calls they were refused.
 */
#ifndef BAWN_REFUSED_H
#define BAWN_REFUSED_H

#include "message_gate.h"
#include "plan.h"
#include "text.h"

enum { REFUSED_CHANGES_MAX = 32, REFUSED_WANTED_MAX = 256 };

/* Something that the gate refused; without a record this is all that we know. */
struct refused_item {
	unsigned int kind;
	uint64_t port, count;
	char *host, *reason, *line, *origin;
};

/* One thing that one program wanted. */
struct refused_wanted {
	enum message_wanted what;
	uint64_t count;
	char *name, *program; /* "": not known */
};

struct refused {
	const struct text *live; /* where a line goes when it happens; NULL: nowhere */
	struct refused_item *items;
	size_t count;
	uint64_t left_out; /* how many refusals are beyond the list */
	struct refused_wanted *wanted;
	size_t wanted_count;
	uint64_t unwanted[MESSAGE_WANTED_COUNT]; /* of `wanted`: how many are beyond the list */
	char *changes[REFUSED_CHANGES_MAX];      /* changes of the rules while it ran, in words */
	size_t change_count;
	uint64_t changes_left_out;
	char *lost; /* which part of bawn ended, in words */
};

void refused_fini(struct refused *r);

/* For client_options.on_event; the context is a struct refused. */
void refused_on_event(void *context, const struct message_event *event, bool quiet);

/* "example.net:8080"; for a request its method, host and path. */
void refused_name(const struct refused_item *item, char *text, size_t size);

/* What `bawn why` is to be asked about it: the host, with its port where that is not 443. */
void refused_question(const struct refused_item *item, char *text, size_t size);

/* Prints the end of the session (refused_summary.c): by program, each with its way out; nothing if
 * nothing was refused. */
void refused_summary(const struct refused *r, const struct plan *plan, const struct text *t);

/* Prints that a part of bawn ended, even if bawn is quiet. */
void refused_alarm(const struct refused *r, const struct text *t);

#endif
