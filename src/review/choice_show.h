/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what apply would do, for a person and for a program. */
#ifndef BAWN_CHOICE_SHOW_H
#define BAWN_CHOICE_SHOW_H

#include "choice.h"
#include "folding.h"
#include "json.h"
#include "new_commits.h"
#include "text.h"

/* Lists what lands, what is kept back and why, and conflicts with what the user can do.  `asks`: we
 * ask the person next about each held change, and show it then. */
void choices_show(const struct text *t, const struct choices *c, bool asks);

/* --- choice_fold.c: changes of one state, as `bawn diff` folds and counts them --- */

/* Puts "2 files, 1 commit (+40 -3 lines)", for what lands. */
void choices_put_sum(struct buf *into, const struct choices *c);
/* Puts "2 files", for those in a state. */
void choices_put_tally(struct buf *into, const struct choices *c, enum choice_state state);
/* Puts all that lands: commits, files, heaps, and what is flagged, by its rules. */
void choices_put_landing(const struct text *t, struct buf *into, const struct choices *c);

/* Puts what waits with a held change and is no file of git: lines, with one for a folder. */
void choices_put_with(struct buf *into, const struct choices *c, const struct choice *lead);
/* The change at i waits with `lead` in this way. */
bool choices_go_with(const struct choices *c, const struct choice *lead, size_t i);

/* Puts the array of all that is not settled. */
void choices_put_json(struct json *j, const struct choices *c);

/* The change that it waits with speaks for it. */
bool choice_goes_with(const struct choice *x);

/* Puts one line: its kind, its path, what it is. */
void choice_put_line(struct buf *into, const struct choice *x);
/* Puts why it is flagged, held or left, in lines of their own; nothing if there is no reason. */
void choice_put_reason(const struct text *t, struct buf *into, const struct choice *x);

/* Puts what a commit or the index brings, and how the user releases it. */
void brought_put(struct buf *into, const struct brought *b);
void brought_put_json(struct json *j, const struct change *c);

/*
 * How many are held for themselves; *ret_with: how many files, that are not git's, wait with them.
 */
size_t choices_held(const struct choices *c, size_t *ret_with);

/* Objects of git, which nobody reads one by one: how many, and where. */
struct show_objects {
	size_t count;
	const char *path; /* of the first one */
	bool elsewhere;   /* some belong to another repository */
};

void show_objects_add(struct show_objects *o, const char *path);
/* "3 objects in .git/objects" */
void show_objects_put(struct buf *into, const struct show_objects *o);

#endif
