/* SPDX-License-Identifier: Apache-2.0 */
/* What merge.c, merge_holds.c and merge_secrets.c share with each other and with nobody else. */
#ifndef BAWN_MERGE_PARTS_H
#define BAWN_MERGE_PARTS_H

#include "grammar.h"
#include "policy.h"

struct merge {
	struct arena *arena;
	struct error *e;
	struct grammar_values values; /* the outcome so far */
	bool secrets_bounded;
	const char *preset; /* its name, "" for none */
	LIST_OF(struct plan_note) notes;
	size_t note_room;
};

extern const char *const merge_only_narrow;

int merge_no_memory(struct error *e);

/* Notes something that was asked for and not given; what and why are in the arena already. */
int merge_note(struct merge *m, const char *what, const char *why, const char *origin);

/* Somebody chose it, as opposed to what comes without being asked for. */
bool merge_is_explicit(enum policy_layer layer);

/* Adds to an error what to do about a ceiling; -EPERM. */
int merge_beyond(struct merge *m);

int merge_narrow_holds(struct merge *m, const struct grammar_value *v);
int merge_ceiling_holds(struct merge *m, const struct grammar_value *c);
int merge_copy_holds(struct merge *m, struct policy *p);

int merge_narrow_secrets(struct merge *m, const struct grammar_value *v);
int merge_ceiling_secrets(struct merge *m, const struct grammar_value *c);
int merge_copy_secrets(struct merge *m, struct policy *p);

#endif
