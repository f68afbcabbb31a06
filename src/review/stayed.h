/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as landed though the user's version stayed, because the session's landed beside it
 * (basis.h: `stayed`).  Once that is taken back it is pending again, and is not when it is redone.
 */
#ifndef BAWN_STAYED_H
#define BAWN_STAYED_H

#include "basis.h"

/* Landing `number` gave a path the entry `is`; `was`: what it had, NULL: none. */
int stayed_note(struct basis *stayed, uint64_t number, const char *path, const struct object *was,
		const struct object *is);

/* What nothing is kept of any more, when `number` lands. */
void stayed_forget_old(struct basis *stayed, uint64_t number);

/* Landing `to` takes back landing `from`: each path that is meant, and has in `b` what it got then,
 * has there what it had before. */
struct stayed_turn {
	uint64_t from, to;
	bool (*is_meant)(const void *context, const char *path);
	const void *context;
};

int stayed_turn(const struct stayed_turn *t, const struct basis *stayed, struct basis *b,
		struct basis *into);

#endif
