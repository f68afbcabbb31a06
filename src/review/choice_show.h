/* SPDX-License-Identifier: Apache-2.0 */
/* What apply would do, for a person and for a program. */
#ifndef BAWN_CHOICE_SHOW_H
#define BAWN_CHOICE_SHOW_H

#include "choice.h"
#include "folding.h"
#include "json.h"
#include "new_commits.h"
#include "text.h"

/* Lists what lands, what is kept back and why, and conflicts with what can be done about them.
 * `asks`: the person is asked about each held change next, and sees it then. */
void choices_show(const struct text *t, const struct choices *c, bool asks);

/* --- choice_fold.c: changes of one state, as `bawn diff` folds and counts them --- */

/* "2 files, 1 commit (+40 -3 lines)", of what lands. */
void choices_put_sum(struct buf *into, const struct choices *c);
/* "2 files", of those in a state. */
void choices_put_tally(struct buf *into, const struct choices *c, enum choice_state state);
/* All that lands: commits, files, heaps, and what is flagged, by its rules. */
void choices_put_landing(const struct text *t, struct buf *into, const struct choices *c);

/* What goes with a held change, which is no file of git's: lines, and one for a folder of it. */
void choices_put_with(struct buf *into, const struct choices *c, const struct choice *lead);
/* The change at i is one of these. */
bool choices_go_with(const struct choices *c, const struct choice *lead, size_t i);

/* The array of all that is not settled. */
void choices_put_json(struct json *j, const struct choices *c);

/* It is told by what it goes with. */
bool choice_goes_with(const struct choice *x);

/* One line: its kind, its path, what it is. */
void choice_put_line(struct buf *into, const struct choice *x);
/* Why it is flagged, held or the like, in lines of their own; nothing where there is no reason. */
void choice_put_reason(const struct text *t, struct buf *into, const struct choice *x);

/* What a commit or the index brings, and how it is released. */
void brought_put(struct buf *into, const struct brought *b);
void brought_put_json(struct json *j, const struct change *c);

/* How many are held for themselves; *ret_with: how many files, which are none of git's, go with
 * them. */
size_t choices_held(const struct choices *c, size_t *ret_with);

/* Objects of git's, which nobody reads one by one: how many, and where. */
struct show_objects {
	size_t count;
	const char *path; /* of the first one */
	bool elsewhere;   /* some are of another repository */
};

void show_objects_add(struct show_objects *o, const char *path);
/* "3 objects in .git/objects" */
void show_objects_put(struct buf *into, const struct show_objects *o);

#endif
