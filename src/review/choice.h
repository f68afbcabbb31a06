/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a session's changes lands, and as what.
 *
 * Every change has three sides: what the session departed from (its origin), what stands in the
 * workspace now, and what the session made of it.
 *
 *	origin == the session's	   nothing is left of it: it landed before, or only the user
 *				   changed the file.  SETTLED
 *	origin == the workspace's  the ordinary case
 *	all three differ	   a conflict: nothing lands before the user has decided
 *
 * Content and mode are compared apart, so that one side may have changed the one and the other the
 * other.  The origin is what basis.h says, or what the recorder kept (first.h).  Where neither
 * knows, a file of the workspace that was changed after the session began is taken for one that the
 * user changed, and so is one that is gone though the session's was copied from it and its folder
 * was changed since.
 */
#ifndef BAWN_CHOICE_H
#define BAWN_CHOICE_H

#include "basis.h"
#include "first.h"
#include "land.h"
#include "merge3.h"
#include "pathspec.h"
#include "review.h"

enum choice_state {
	CHOICE_LANDS,
	CHOICE_SETTLED,
	CHOICE_LEFT, /* not meant this time; stays pending, as all that follow */
	CHOICE_OURS, /* in conflict, and the user keeps the workspace's */
	CHOICE_CONFLICT,
	CHOICE_HELD,
	CHOICE_DROPPED,
};

struct choice {
	struct change *change;
	enum choice_state state;
	bool released;     /* it was held */
	bool partial;      /* only some of its hunks land */
	bool both_changed; /* it was a conflict, and was decided */
	bool knows_origin;
	struct object origin;
	ssize_t first;       /* the entry that knows it; -1: basis does, or nobody */
	const char *why;     /* words: of a conflict, or why it is left */
	const char *decided; /* "theirs", "merge" */
	struct object lands; /* as it will stand */
	int content;         /* what is merged or picked; -1: the layer's own file */
	bool follows;        /* its state is that of what is in it or around it, else `meant` */
	enum choice_state meant;
	const char *meant_why;
	bool counted; /* as text */
	size_t added, removed;
};

struct choices {
	struct arena arena;
	const struct review *review;
	struct view view;
	struct changes changes;
	struct basis basis;
	struct first first;
	int session; /* its folder */
	struct choice *items;
	size_t count;
};

#define CHOICES_INIT ((struct choices){.view = VIEW_INIT, .first = FIRST_INIT, .session = -1})

enum { CHOICE_TEXT_MAX = 8 << 20 }; /* what is larger is not merged, and its lines not counted */

/* The session's changes, each hashed and judged. */
int choices_read(const struct review *r, struct choices *ret, struct error *e);
void choices_fini(struct choices *c);
#define _cleanup_choices_ _cleanup_(choices_fini)

struct pathspecs {
	struct pathspec *items;
	size_t count;
};

/* The paths of an option (OPTION_COUNT: the arguments), as they are meant where we stand. */
int choices_specs(struct choices *c, const struct invocation *i, enum option_id id,
		  struct pathspecs *ret, struct error *e);

/* What is not named is left; -ENOENT and a sentence when one names nothing. */
int choices_pick(struct choices *c, const struct pathspecs *specs, struct error *e);
/* Held changes of these names land; none may be left that is not held. */
int choices_release(struct choices *c, const struct pathspecs *specs, struct error *e);

/* One, at the terminal. */
void choice_release(struct choices *c, struct choice *x);

enum choice_side { CHOICE_OURS_SIDE, CHOICE_THEIRS_SIDE, CHOICE_MERGE };

/* Decides conflicts of these names.  A merge that clashes stays a conflict, with words that say
 * where, unless `markers`. */
int choices_decide(struct choices *c, const struct pathspecs *specs, enum choice_side side,
		   bool markers, struct error *e);

/* Directories follow what is in them: a new one lands with the first thing in it, and a removed one
 * stays while something in it does.  May be called again after other choices. */
void choices_settle(struct choices *c);

/* Lines added and removed by each that lands. */
int choices_count_lines(struct choices *c, struct error *e);

size_t choices_in(const struct choices *c, enum choice_state state);

/* What a side of a change holds, as text: -EFBIG, -EILSEQ (not text). */
int choice_read(const struct choices *c, const struct choice *x, enum change_side side,
		struct buf *into);

/* Lands this instead of the layer's file; `partial`: the rest of it stays pending. */
int choice_set_content(struct choice *x, struct span text, bool partial);

/* --- steps ---------------------------------------------------------------------------- */

struct choice_steps {
	struct choices *choices;
	struct land_step *items;
	size_t *from; /* which choice */
	size_t count;
};

int choices_steps(struct choices *c, struct choice_steps *ret, struct error *e);
int choices_open(void *steps, size_t i); /* as land_how.open, with the steps as its context */

/* Before it lands: what the session departs from.  A landing that is rolled back gives files
 * another time of change, which would look as if the user had changed them. */
int choices_pin(struct choices *c, struct error *e);

/* After it landed: what the session departs from now. */
int choices_rebase(struct choices *c, struct error *e);

/* Whether anything is pending behind what lands. */
bool choices_leave_something(const struct choices *c);

#endif
