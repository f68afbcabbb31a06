/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a session in a linked worktree the second one (src/workspace/shared.h): begun, held and settled
 * together with the first, by layering.c.  The lock of the worktree's layers is taken before that of the
 * repository's folder, never behind it.
 */
#ifndef BAWN_SHARING_H
#define BAWN_SHARING_H

#include "layers.h"
#include "prepare.h"

struct sharing {
	struct layers layers; /* of the folder that the repository is in */
	struct layers_session session;
	int hold; /* its lock, while the box runs */
	int tree; /* that folder */
};

/* Where the plan has a repository: opens its layers, and finishes a landing there that was cut short.
 * Else *ret is NULL, and all that follows does nothing. */
int sharing_open(const struct prepared *p, struct sharing **ret, struct error *e);

/* Goes on with what the session left there, or begins; the session `of` says that it has one then. */
int sharing_begin(struct sharing *s, struct layers_session *of, const struct prepared *p,
		  struct error *e);

/* Nothing is done where none was begun. */
int sharing_end(struct sharing *s, bool forget, struct error *e);

/* Makes the folder of its first versions (src/record/first.h): *ret_dir is open, or -1 where it has none. */
int sharing_first(const struct sharing *s, int *ret_dir, struct error *e);

/* The lock that says that it runs; -1: there is none. */
int sharing_hold(const struct sharing *s);

bool sharing_is_taken(const struct sharing *s, const char *name);

void sharing_free(struct sharing **s);

#endif
