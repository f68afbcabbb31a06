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
#include "branch_stray.h"
#include "first.h"
#include "git_object.h"
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
	CHOICE_LEAVE, /* left out: nothing waits for it, and its tool makes it again */
	CHOICE_KEPT,  /* git's own: the workspace's stays, and nothing is pending (choice_git.c) */
};

struct choice {
	struct change *change;
	enum choice_state state;
	bool released;     /* it was held */
	bool partial;      /* only some of its hunks land */
	bool rest;         /* KEPT, and not all of it found a name beside: that stays pending */
	bool both_changed; /* it was a conflict, and was decided */
	bool knows_origin;
	bool was_other; /* it is not known, but that it is not what stands there now */
	struct object origin;
	ssize_t first;       /* the entry that knows it; -1: basis does, or nobody */
	const char *why;     /* words: of a conflict, or why it is left */
	const char *decided; /* "theirs", "merge" */
	struct object lands; /* as it will stand */
	int content;         /* what is merged or picked; -1: the layer's own file */
	bool follows;        /* its state is that of what is in it or around it, else `meant` */
	enum choice_state meant;
	const char *meant_why;
	enum choice_state passed; /* LEFT: what it would be, had it not been passed over */
	const char *passed_why;
	/* Held, or pointed out, because of what lands and what does not (choice_judge.c): what was said
	 * of it before, and what it was.  NULL: it is as it was judged at first. */
	const struct change *was;
	enum choice_state was_state;
	const char *ahead;   /* it was released by this word though it is not held yet */
	bool committed, old; /* of a session with a branch of its own: branch_left.h */
	bool counted;        /* as text */
	size_t added, removed;
};

/* The value of a ref of the session's, by another name than it has there. */
struct choice_beside {
	const char *path;
	const char *branch; /* its name as a branch, in path; NULL: it is none */
	bool is_named;      /* we named it; else it is the session's own name */
	bool merges;        /* it is about the branch that is checked out */
	size_t of;          /* lands while this one is KEPT */
	struct object before, lands;
	char text[GIT_HEX_MAX + 2]; /* all of it, lands.size bytes */
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
	struct choice_beside *beside;
	size_t beside_count;
	struct branch_strays strays; /* of a session with a branch of its own */
	const char *busy; /* what the user is in the middle of, in the repository at the top */
};

#define CHOICES_INIT ((struct choices){.view = VIEW_INIT, .first = FIRST_INIT, .session = -1})

enum { CHOICE_TEXT_MAX = 8 << 20 }; /* what is larger is not merged, and its lines not counted */

/* The session's changes, each hashed and judged. */
int choices_read(const struct review *r, struct choices *ret, struct error *e);
void choices_fini(struct choices *c);

struct pathspecs {
	struct pathspec *items;
	size_t count;
};

/* The paths of an option (OPTION_COUNT: the arguments), as they are meant where we stand. */
int choices_specs(struct choices *c, const struct invocation *i, enum option_id id,
		  struct pathspecs *ret, struct error *e);

/* What is not named is left; -ENOENT and a sentence when one names nothing.  Folders around what is
 * named are judged as if they were named themselves. */
int choices_pick(struct choices *c, const struct pathspecs *specs, struct error *e);

/* It is passed over this time.  It may still have to land with what is in it: then it is what it was
 * before, a conflict for one. */
void choice_pass(struct choice *x, const char *why);

/* Folders that were passed over, and that something which lands is in: conflicts and held ones of
 * them are so again. */
void choices_call_above(struct choices *c);
/* --- choice_release.c ---
 * Held changes of these names land, and refs whose commits bring nothing else that is held; none
 * may be named that is not held. */
int choices_release(struct choices *c, const struct pathspecs *specs, struct error *e);

/* One, at the terminal; refs follow by choices_release_brought, which says whether one did. */
void choices_release_at(struct choices *c, struct choice *x);
bool choices_release_brought(struct choices *c);

/* The version of a file that only a commit or an index has is released by PATH@OBJECT; that it is
 * removed there, by PATH@removed. */
#define BROUGHT_REMOVED "removed"
enum {
	BROUGHT_SHORT = 12, /* digits of an object that are shown */
	BROUGHT_LEAST = 7,  /* and that must be given */
};

/* This one lands, whatever else it brings or goes with. */
void choice_release(struct choices *c, struct choice *x);

enum choice_side { CHOICE_OURS_SIDE, CHOICE_THEIRS_SIDE, CHOICE_MERGE };

/* Decides conflicts of these names.  A merge that clashes stays a conflict, with words that say
 * where, unless `markers`. */
int choices_decide(struct choices *c, const struct pathspecs *specs, enum choice_side side,
		   bool markers, struct error *e);

/* Whether a conflict is left of which both sides are files. */
bool choices_can_merge(const struct choices *c);

/* Directories follow what is in them: a new one lands with the first thing in it, and a removed one
 * stays while something in it does.  May be called again after other choices. */
int choices_settle(struct choices *c, struct error *e);

/* --- choice_judge.c ---
 * Settles, and judges the user's folder as it will be with what lands: what is held then stays as
 * well, until nothing more is.  -ELOOP and a sentence when that has no end. */
int choices_settle_judged(struct choices *c, struct error *e);

/* Not all lands, or not as the session has it: then what was held at first need not be all. */
bool choices_land_in_part(const struct choices *c);

/* What was released though nothing holds it; -ENOENT and a sentence. */
int choices_check_ahead(const struct choices *c, struct error *e);

/* What becomes of git's inner files that both sides changed; after judging, and again after
 * choices.
 */
int choices_git(struct choices *c, struct error *e);
/* After choices_tell_committed: what is on no branch lands beside. */
int choices_git_strays(struct choices *c, struct error *e);
void choices_git_fini(struct choices *c);
bool choice_is_git_object(const char *path); /* or the folder of objects, or one in it */
bool choice_beside_lands(const struct choices *c, const struct choice_beside *b);

/*
 * A session with a branch of its own (--worktree): what lands of it is what it committed there,
 * objects and that one ref.  The user's HEAD, index and files stay as they are.  Leaves everything
 * else; of a session without a branch, nothing.
 */
void choices_pick_branch(struct choices *c);

/*
 * What the branch has of all this (branch_left.h): once the branch lands, that is no change any
 * more.  What is left then is not committed.
 */
int choices_tell_committed(struct choices *c, struct error *e);
/* It is pending, and no part of what lands by the branch. */
bool choice_is_pending(const struct choices *c, const struct choice *x);

/* What the session departed from, where its content was kept: a descriptor, or -errno. */
int choice_open_origin(const struct choices *c, const struct choice *x);

/* Lines added and removed by each that lands. */
int choices_count_lines(struct choices *c, struct error *e);

/* How many; of those that land, with what lands beside. */
size_t choices_in(const struct choices *c, enum choice_state state);

/* A word of the user's means nothing here.  Where the session is in two places (linked.h) it may in the
 * other: that is said, and is no error. */
bool choices_are_part(const struct choices *c, const char *typed, const char *what);

/* What a side of a change holds, as text; a directory holds none.  -EFBIG, -EILSEQ (not text). */
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
int choices_open_folder(void *steps, size_t i);

/* Before it lands: what the session departs from.  A landing that is rolled back gives files
 * another time of change, which would look as if the user had changed them. */
int choices_pin(struct choices *c, struct error *e);

/* After it landed: what the session departs from now. */
int choices_rebase(struct choices *c, uint64_t number, struct error *e);

/* It never lands as it is, and has content of the session's that nobody else has: it cannot be read,
 * for one.  The session stays for it. */
bool choice_is_stranded(const struct choice *x);

/* Whether anything is pending behind what lands. */
bool choices_leave_something(const struct choices *c);

#endif
