/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which changes of a list a person reads one by one, and which we tell in a few words:
 *
 *	directories	have a line only if nothing in them has one
 *	git's own	objects, refs, index and logs: we tell them by commits and refs
 *	heaps		trees that a package manager or a build owns (node_modules, .venv, target),
 *			and folders that git ignored before the session: one line each
 *	renames		a file that is gone, and a new one that is much like it: one change
 *
 * Only ordinary changes fold; in a heap also flagged ones (we tell them by their rules), and the
 * parts of one thing that is held: that is a heap of its own, which says what it waits for.  A
 * change that is held for itself, or dropped, keeps its own line wherever it is, and is no half of
 * a rename.
 *
 * The session cannot decide what folds.  A file that the user's git tracks has its own line in any
 * folder, and so has a file that was moved into a heap from outside: its old name is gone.  A file
 * that marks a heap counts if it was there before the session, or if all of the folder is new.
 * What the user had in a folder that was no heap before is shown.
 *
 * `bawn diff`, `bawn apply` and `bawn discard` fold and count only by this, so that all of them
 * show the same.
 */
#ifndef BAWN_FOLDING_H
#define BAWN_FOLDING_H

#include "changes.h"
#include "makers.h"
#include "text.h"

/* What happens to a change on the screen. */
enum diff_fate {
	DIFF_SHOWN,
	DIFF_SILENT, /* a directory whose content has lines; or the old name of a renamed file */
	DIFF_GIT,    /* git's own file: one group of lines for all */
	DIFF_MOVED,  /* in a directory that moved as a whole */
	DIFF_HEAP,   /* in a tree that is one line */
	DIFF_AWAY,   /* not meant this time */
};

enum { FOLDING_FEW = 3 }; /* so few files are no heap */

struct heap {
	const char *path; /* begins with the folder's path */
	size_t len;
	bool ignored; /* git ignores it */
	bool owned;   /* a package manager owns it */
	bool was;     /* it was such a tree before the session */
	bool made;    /* only a file or a name that the session made says that it is one */
	/* It waits for this held change; NULL: it lands.  `why`: what is said of all of it, or
	 * NULL. */
	const char *with, *why;
	size_t files;
	size_t kinds[CHANGE_KIND_COUNT];
	uint64_t bytes; /* of the files as they are after, or were before */
	uint32_t next;  /* the next in its bucket, counted from 1 */
};

struct folding {
	uint8_t *fates;    /* enum diff_fate of each change */
	uint32_t *heap_of; /* for DIFF_HEAP: which of the heaps */
	/* For a file that was renamed and edited: the change that removed the old name, counted
	 * from 1; 0: it is none.  And how much of it is the same, in percent. */
	uint32_t *from;
	uint8_t *alike;
	struct heap *heaps;
	size_t heap_count;
	const struct makers *makers; /* of the list of changes; NULL: nobody knows */
};

struct folding_how {
	const struct changes *changes;
	const struct view *view;
	/* Which changes are meant; NULL: all. */
	bool (*meant)(const void *context, size_t i);
	/* The person wants to look into this folder; NULL: into none. */
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

/* The change is about a file, a link or a special file; else about a directory. */
bool folding_is_file(const struct change *c);

/* It is one of a repository's own files, whatever the repository's name is. */
bool folding_is_gits(const struct change *c);

/* Which of git's own files it is that are told together; *ret_len: the length of the path up to and
 * with ".git". */
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

/* It has so many files that it is one line. */
bool heap_is_one(const struct heap *h);
/* A line for each of them, the word for what happened in a column of its own behind `lead`:
 * "added    node_modules/ (632 files, 4.2 MB; made by npm; git ignores it)".  More than a few of one name are one
 * line.  Returns how many heaps these are. */
size_t heaps_put(struct buf *into, const struct folding *f, const char *lead);
/* The same for heaps that wait for a held change, which they name; `with`: only for this one, NULL:
 * any. */
size_t heaps_put_waiting(struct buf *into, const struct folding *f, const char *lead,
			 const char *with);

/* A change that stands for both halves of a rename; it borrows from them. */
struct change folding_joined(const struct folding *f, const struct changes *c, size_t i);

/* --- folding_own.c --- */

/* Takes files that the user's git tracks, by their names now or before, out of heaps. */
void folding_keep_tracked(const struct folding_how *how, struct folding *f);
/* Takes files out of heaps that a folder which the session made may have from one that it emptied:
 * names show that. */
void folding_keep_moved(const struct folding_how *how, struct folding *f);

/* --- alike.c --- */

/* Finds files that were renamed and edited among what is DIFF_SHOWN: fills `from` and `alike`. */
int alike_find(const struct changes *c, const struct view *v, struct folding *f);

/* --- how many --------------------------------------------------------------------------- */

/* One way of counting, for every screen. */
struct tally {
	size_t files, folders, commits;
	bool cut;                /* there may be more commits */
	size_t heaped, heaps;    /* files in so many heaps */
	size_t waiting;          /* of those, in what waits for a held change */
	const struct heap *heap; /* the first of them */
	size_t git;              /* git's own files; told only if there is nothing else */
};

void tally_add(struct tally *t, const struct folding *f, const struct changes *c);
/* Puts "2 files, 1 commit, and 632 files in node_modules/". */
void tally_put(struct buf *into, const struct tally *t);
bool tally_is_empty(const struct tally *t);

#endif
