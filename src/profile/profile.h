/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filters, assembled at build time from profile_table.h. */
#ifndef BAWN_PROFILE_H
#define BAWN_PROFILE_H

#include "profile_watch.h"
#include "span.h"

enum profile_kind {
	PROFILE_BOX,
	PROFILE_BOX_DEBUG,
	PROFILE_BOX_CLOSED, /* a box without a network namespace: no internet sockets at all */
	PROFILE_BOX_SYSTEM, /* on a system of its own: pretends to change owners and users */
	PROFILE_BOX_SYSTEM_DEBUG,
	PROFILE_KEEPER,
	PROFILE_GATE,
	PROFILE_SIGNER,
	PROFILE_KEYS,
	PROFILE_RESOLVER,
	PROFILE_RECORDER,
	PROFILE_SENDER,
	PROFILE_COVERS, /* who keeps covers on (recorder/covers.h) */
	PROFILE_SYNCER, /* of the recorder's files (recorder/syncer.h) */
	PROFILE_SCREEN, /* of a session's terminal (screen/screen.h) */
	PROFILE_READER, /* bawn-history */
	PROFILE_REVIEW, /* bawn-review, but for `bawn system`, which starts makers */
	PROFILE_MAKER,  /* makes a system: pretends as in a box on one, and allows all else */
};

/* An array of struct sock_filter, as bytes. */
struct span profile_bpf(enum profile_kind kind);

/* The same for a watched box; empty for a profile that is no box's. */
struct span profile_watched_bpf(enum profile_kind kind, enum profile_watch watch);

/* A profile's name as the plan has it: "box", and what is watched: "box-debug+reads". */
const char *profile_name(enum profile_kind kind, enum profile_watch watch);

/* The profile of that name; -ENOENT. */
int profile_by_name(const char *name, enum profile_kind *ret_kind, enum profile_watch *ret_watch);

enum profile_verdict {
	PROFILE_ALLOWED, /* the filter asks nobody */
	PROFILE_REFUSED,
	PROFILE_WATCHED,
	PROFILE_PRETENDED, /* the filter answers with success, and nothing is done */
};

struct profile_answer {
	enum profile_verdict verdict;
	int error;                             /* refused: with this errno, positive */
	const char *name;                      /* of the call; NULL: unknown */
	const struct profile_watched *watched; /* if it is watched */
};

/* What this profile's table says about a call.  The filter does the same. */
struct profile_answer profile_judge(enum profile_kind kind, enum profile_watch watch, int number,
				    const uint64_t args[6]);

#endif
