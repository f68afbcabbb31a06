/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a list of changes a person reads one by one, and what is told in a few words:
 *
 *	directories	are told by what is in them, unless nothing is
 *	git's own	objects, refs, index and logs: by commits and refs
 *	heaps		trees that a package manager or a build owns (node_modules, .venv, target), and
 *			folders that git ignored before the session: one line each
 *	renames		a file that is gone, and one that came and is much like it: one change
 *
 * Only what is ordinary folds, in a heap what is flagged (that is told by its rules), and what is a
 * part of one thing that is held: that is a heap of its own, which says what it waits for.  What is
 * held for itself or dropped keeps its own line wherever it is, and is no half of a rename.
 *
 * The session has no say in what folds.  What the user's git tracks has its own line in whatever
 * folder, and so has what was moved into a heap from outside: its old name is gone.  A file that
 * marks a heap counts where it stood before the session, or where all of the folder is new; and what
 * the user had in a folder that was no heap before is shown.
 *
 * `bawn diff`, `bawn apply` and `bawn discard` fold and count by this alone, so that all of them show
 * the same.
 */
#ifndef BAWN_FOLDING_H
#define BAWN_FOLDING_H

#include "changes.h"
#include "makers.h"
#include "text.h"

/* What happens to a change on the screen. */
enum diff_fate {
	DIFF_SHOWN,
	DIFF_SILENT, /* a directory, told by what is in it; or the old name of what was renamed */
	DIFF_GIT,    /* git's own, told by one group of lines */
	DIFF_MOVED,  /* in a directory that moved as a whole */
	DIFF_HEAP,   /* in a tree that is one line */
	DIFF_AWAY,   /* not meant */
};

enum { FOLDING_FEW = 3 }; /* so many files are no heap */

struct heap {
	const char *path; /* begins with the folder's */
	size_t len;
	bool ignored; /* by git */
	bool owned;   /* by a package manager */
	bool was;     /* such a tree before the session */
	bool made;    /* only a file or a name of the session's says that it is one */
	/* It waits for this held change; NULL: it lands.  And what is said of all of it, or NULL. */
	const char *with, *why;
	size_t files;
	size_t kinds[CHANGE_KIND_COUNT];
	uint64_t bytes; /* as they are after, or were */
	uint32_t next;  /* in its bucket: counted from 1 */
};

struct folding {
	uint8_t *fates;    /* enum diff_fate of each change */
	uint32_t *heap_of; /* of DIFF_HEAP: which of the heaps */
	/* Of what was renamed and edited: the change by which the old name is gone, counted from 1;
	 * 0: it is none.  And how much of it is the same, in percent. */
	uint32_t *from;
	uint8_t *alike;
	struct heap *heaps;
	size_t heap_count;
	const struct makers *makers; /* of the list of changes; NULL: nobody knows */
};

struct folding_how {
	const struct changes *changes;
	const struct view *view;
	/* Which are meant at all; NULL: all are. */
	bool (*meant)(const void *context, size_t i);
	/* The person asks to look into this folder; NULL: into none. */
	bool (*opens)(const void *context, const char *path, size_t len);
	const struct makers *makers; /* who made what; NULL: nobody knows */
	bool opens_git;              /* and at each of git's own files */
	bool apart;                  /* a removal and an addition are never one rename */
	bool lands;                  /* all that is meant lands: nothing of it waits */
	const void *context;
};

int folding_read(const struct folding_how *how, struct folding *ret);
void folding_fini(struct folding *f);
#define _cleanup_folding_ _cleanup_(folding_fini)

/* Each is a file, a link or the like; else a directory is in it. */
bool folding_is_file(const struct change *c);

/* It is a file of a repository's own, whatever that is called. */
bool folding_is_gits(const struct change *c);

/* Whether it is one of git's own files that are told together; *ret_len: of the path up to ".git"
 * and with it. */
enum folding_git {
	FOLDED_NOT,
	FOLDED_OBJECT,
	FOLDED_PACK,
	FOLDED_REF,
	FOLDED_PACKED,
	FOLDED_HEAD,
	FOLDED_INDEX,
	FOLDED_LOG,
	FOLDED_OTHER,
	FOLDED_COUNT,
};
enum folding_git folding_git_of(const struct change *c, size_t *ret_len);

/* There is so much in it that it is one line. */
bool heap_is_one(const struct heap *h);
/* A line for each of them, the word for what happened in a column of its own behind `lead`:
 * "added    node_modules/ (632 files, 4.2 MB; made by npm; git ignores it)".  More than a few of one name are one
 * line.  Returns how many heaps these are. */
size_t heaps_put(struct buf *into, const struct folding *f, const char *lead);
/* The same of those that wait for a held change, which they name; `with`: for this one, NULL: any. */
size_t heaps_put_waiting(struct buf *into, const struct folding *f, const char *lead,
			 const char *with);

/* A change that stands for both halves of a rename; `ret` borrows. */
struct change folding_joined(const struct folding *f, const struct changes *c, size_t i);

/* --- folding_own.c --- */

/* What the user's git tracks is in no heap, by its name now or before. */
void folding_keep_tracked(const struct folding_how *how, struct folding *f);
/* Nor what a folder that the session made may have from one that it emptied: names say so. */
void folding_keep_moved(const struct folding_how *how, struct folding *f);

/* --- alike.c --- */

/* Finds what was renamed and edited among what is DIFF_SHOWN: fills `from` and `alike`. */
int alike_find(const struct changes *c, const struct view *v, struct folding *f);

/* --- how many --------------------------------------------------------------------------- */

/* One way of counting, on every screen. */
struct tally {
	size_t files, folders, commits;
	bool cut;                /* there may be more commits */
	size_t heaped, heaps;    /* files in so many heaps */
	size_t waiting;          /* of those, in what waits for a held change */
	const struct heap *heap; /* the first of them */
	size_t git;              /* files of git's own; said where there is nothing else */
};

void tally_add(struct tally *t, const struct folding *f, const struct changes *c);
/* "2 files, 1 commit, and 632 files in node_modules/" */
void tally_put(struct buf *into, const struct tally *t);
bool tally_is_empty(const struct tally *t);

#endif
