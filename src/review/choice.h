/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a session's changes lands, and as what.
 *
 * Every change has three sides: what the session started from (its origin), what is in the
 * workspace now, and what the session made of it.
 *
 *	origin == the session's	   nothing is left of it: it landed before, or only the user
 *				   changed the file.  SETTLED
 *	origin == the workspace's  the ordinary case
 *	all three differ	   a conflict: nothing lands before the user has decided
 *
 * We compare content and mode separately, so that one side may have changed the content and the
 * other the mode.  The origin is what basis.h says, or what the recorder kept (first.h).  If
 * neither knows, we assume that the user changed a file of the workspace that was changed after the
 * session began.  We assume the same of a file that is gone, although the session's was copied from
 * it, if its folder was changed since.
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
	CHOICE_LEFT, /* not meant this time; it stays pending, and so do all below */
	CHOICE_OURS, /* in conflict, and the user keeps the workspace's version */
	CHOICE_CONFLICT,
	CHOICE_HELD,
	CHOICE_DROPPED,
	CHOICE_LEAVE, /* left out: nothing waits for it, and its tool makes it again */
	/* Git's own file: the workspace's stays, and nothing is pending (choice_git.c). */
	CHOICE_KEPT,
};

/* What choices_together may change of a choice. */
struct choice_apart {
	enum choice_state state;
	bool rest, both_changed;
	const char *why, *decided;
};

struct choice {
	struct change *change;
	enum choice_state state;
	bool released;     /* it was held */
	bool partial;      /* only some of its hunks land */
	bool rest;         /* KEPT, but not all of it got a name beside: the rest stays pending */
	bool both_changed; /* it was a conflict, and the user decided */
	bool knows_origin;
	bool was_other; /* the origin is not known, only that it is not what is there now */
	struct object origin;
	ssize_t first;   /* the entry of first.h that has the origin; -1: basis has it, or nobody */
	const char *why; /* words about a conflict, or why it is left */
	const char *decided; /* how the user decided: "ours", "theirs", "merge" */
	struct object lands; /* what will be there */
	int content;         /* merged or picked content; -1: the layer's own file */
	bool follows;        /* its state follows what is in it or around it; else `meant` counts */
	enum choice_state meant;
	const char *meant_why;
	/* LEFT: the state that it would have if it had not been passed over. */
	enum choice_state passed;
	const char *passed_why;
	/* It is held, or flagged, because of what lands and what does not (choice_judge.c): the
	 * change as it was before, and its state then.  NULL: the first judgement still counts. */
	const struct change *was;
	enum choice_state was_state;
	const char *ahead; /* the word that released it although it is not held yet */
	/* choices_together changed it, and its state to `together`: what it was.  NULL: no. */
	const struct choice_apart *apart;
	enum choice_state together;
	bool committed, old; /* for a session with a branch of its own: branch_left.h */
	bool counted;        /* its lines were counted */
	size_t added, removed;
};

/* A value of one of the session's refs, under another name than it has there. */
struct choice_beside {
	const char *path;
	const char *branch; /* its name as a branch, in path; NULL: it is not a branch */
	bool is_named;      /* we named it; else it has the session's own name */
	bool off;           /* it does not land: another name was found for it since */
	bool merges;        /* it is about the branch that is checked out */
	size_t of;          /* it lands while this choice is KEPT */
	struct object before, lands;
	char text[GIT_HEX_MAX + 2]; /* the content of its file, lands.size bytes */
};

struct choices {
	struct arena arena;
	const struct review *review;
	struct view view;
	struct changes changes;
	struct basis basis;
	struct first first;
	int session; /* the session's folder */
	struct choice *items;
	size_t count;
	struct choice_beside *beside;
	size_t beside_count;
	bool is_together;            /* choices_together was called, and choices_apart was not */
	size_t apart_count;          /* beside_count before that */
	struct branch_strays strays; /* for a session with a branch of its own */
	const char *busy; /* what the user is in the middle of, in the repository at the top */
};

#define CHOICES_INIT ((struct choices){.view = VIEW_INIT, .first = FIRST_INIT, .session = -1})

enum { CHOICE_TEXT_MAX = 8 << 20 }; /* a larger file is not merged, and its lines are not counted */

/* Reads the session's changes, each hashed and judged. */
int choices_read(const struct review *r, struct choices *ret, struct error *e);
void choices_fini(struct choices *c);

struct pathspecs {
	struct pathspec *items;
	size_t count;
};

/* Reads the paths of an option (OPTION_COUNT: the arguments), from the folder where we are. */
int choices_specs(struct choices *c, const struct invocation *i, enum option_id id,
		  struct pathspecs *ret, struct error *e);

/* Leaves what is not named; -ENOENT and a sentence: a path names nothing.  Folders around what is
 * named are judged as if they were named, too. */
int choices_pick(struct choices *c, const struct pathspecs *specs, struct error *e);

/* Passes a change over this time.  It may still have to land with what is in it: then it is what it
 * was before, a conflict for example. */
void choice_pass(struct choice *x, const char *why);

/*
 * Makes folders that were passed over conflicts or held again, if something that lands is in them.
 */
void choices_call_above(struct choices *c);
/* --- choice_release.c --- Held changes of these names land, and refs whose commits bring nothing
 * else that is held.  It is an error to name one that is not held. */
int choices_release(struct choices *c, const struct pathspecs *specs, struct error *e);

/* Releases one change, at the terminal.  choices_release_brought then releases refs that follow,
 * and says whether one did. */
void choices_release_at(struct choices *c, struct choice *x);
bool choices_release_brought(struct choices *c);

/* PATH@OBJECT releases the version of a file that only a commit or an index has; PATH@removed
 * releases its removal there. */
#define BROUGHT_REMOVED "removed"
enum {
	BROUGHT_SHORT = 12, /* how many digits of an object are shown */
	BROUGHT_LEAST = 7,  /* how many digits must be given */
};

/* Makes this one land, whatever else it brings or waits with. */
void choice_release(struct choices *c, struct choice *x);

enum choice_side { CHOICE_OURS_SIDE, CHOICE_THEIRS_SIDE, CHOICE_MERGE };

/* Decides conflicts of these names.  A merge that clashes stays a conflict, with words that say
 * where, unless `markers`. */
int choices_decide(struct choices *c, const struct pathspecs *specs, enum choice_side side,
		   bool markers, struct error *e);

/* There is a conflict left of which both sides are files. */
bool choices_can_merge(const struct choices *c);

/* Makes directories follow what is in them: a new one lands with the first thing in it, and a
 * removed one stays while something in it does.  May be called again after other choices. */
int choices_settle(struct choices *c, struct error *e);

/*
 * --- choice_judge.c --- Settles, and judges the user's folder as it will be after the landing.
 * What is held then stays as well, until nothing more is.  -ELOOP and a sentence: that does not
 * end.
 */
int choices_settle_judged(struct choices *c, struct error *e);

/* Not all lands, or not as the session has it: then the first judgement may not have held all. */
bool choices_land_in_part(const struct choices *c);

/* -ENOENT and a sentence: something was released that nothing holds. */
int choices_check_ahead(const struct choices *c, struct error *e);

/* Decides what becomes of git's own files that both sides changed.  Call it after judging, and
 * again after choices. */
int choices_git(struct choices *c, struct error *e);
/* --- choice_together.c --- What is checked out lands with its index, or neither does.  1: something
 * stays because of that; 0; or -errno and a sentence.  choices_apart takes that back. */
int choices_together(struct choices *c, struct error *e);
void choices_apart(struct choices *c);
/* After choices_tell_committed: lands commits that are on no branch, under names beside. */
int choices_git_strays(struct choices *c, struct error *e);
void choices_git_fini(struct choices *c);
bool choice_is_git_object(const char *path); /* an object, a folder of objects, or one in it */
bool choice_beside_lands(const struct choices *c, const struct choice_beside *b);

/*
 * For a session with a branch of its own (--worktree): only what it committed there lands, that is,
 * objects and that one ref.  The user's HEAD, index and files stay as they are.  Everything else is
 * left.  For a session without a branch it does nothing.
 */
void choices_pick_branch(struct choices *c);

/* Marks what the branch has of all this (branch_left.h): once the branch lands, that is no change
 * any more.  What is left then is not committed. */
int choices_tell_committed(struct choices *c, struct error *e);
/* It is pending, and the branch does not bring it. */
bool choice_is_pending(const struct choices *c, const struct choice *x);

/* Opens what the session started from, if its content was kept: a descriptor, or -errno. */
int choice_open_origin(const struct choices *c, const struct choice *x);

/* Counts the lines that each landing change adds and removes. */
int choices_count_lines(struct choices *c, struct error *e);

/* How many are in a state; CHOICE_LANDS counts what lands beside, too. */
size_t choices_in(const struct choices *c, enum choice_state state);

/* A word of the user's means nothing here.  Where the session is in two places (linked.h) it may in the
 * other: that is said, and is no error. */
bool choices_are_part(const struct choices *c, const char *typed, const char *what);

/* What a side of a change holds, as text; a directory holds none.  -EFBIG, -EILSEQ (not text). */
int choice_read(const struct choices *c, const struct choice *x, enum change_side side,
		struct buf *into);

/* Makes this text land instead of the layer's file; `partial`: the rest of the change stays
 * pending. */
int choice_set_content(struct choice *x, struct span text, bool partial);

/* --- steps ---------------------------------------------------------------------------- */

struct choice_steps {
	struct choices *choices;
	struct land_step *items;
	size_t *from; /* which choice each step is for */
	size_t count;
};

int choices_steps(struct choices *c, struct choice_steps *ret, struct error *e);
int choices_open(void *steps, size_t i); /* for land_how.open, with the steps as its context */
int choices_open_folder(void *steps, size_t i);

/* Before the landing: writes down what the session starts from.  A landing that is rolled back
 * gives files another time of change, and it would look as if the user had changed them. */
int choices_pin(struct choices *c, struct error *e);

/* After the landing: writes down what the session starts from now. */
int choices_rebase(struct choices *c, uint64_t number, struct error *e);

/* It never lands as it is, and has content of the session that exists nowhere else: a file that
 * cannot be read, for example.  The session is kept because of it. */
bool choice_is_stranded(const struct choice *x);

/* Something stays pending after the landing. */
bool choices_leave_something(const struct choices *c);

#endif
