/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as landed although the user's version stayed, because the session's landed beside it
 * (basis.h: `stayed`).  When that is undone, it is pending again; when it is redone, it is not.
 */
#ifndef BAWN_STAYED_H
#define BAWN_STAYED_H

#include "basis.h"

/* Notes that landing `number` gave a path the entry `is`; `was`: what it had, NULL: none. */
int stayed_note(struct basis *stayed, uint64_t number, const char *path, const struct object *was,
		const struct object *is);

/* When `number` lands: forgets landings of which nothing is kept any more. */
void stayed_forget_old(struct basis *stayed, uint64_t number);

/* Landing `to` undoes landing `from`: each path that is meant, and still has in `b` what it got
 * then, gets what it had before. */
struct stayed_turn {
	uint64_t from, to;
	bool (*is_meant)(const void *context, const char *path);
	const void *context;
};

int stayed_turn(const struct stayed_turn *t, const struct basis *stayed, struct basis *b,
		struct basis *into);

#endif
