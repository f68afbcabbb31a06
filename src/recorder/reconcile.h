/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed in the workspace, and in the folders that the user granted for writing, held
 * against what the events say.
 *
 *	reconcile_begin	before the box exists: the clock, and the directories
 *	reconcile_scan	once the session is on its way: the scanner takes the first look, at
 *			the lowest priority and so perhaps late (compare.h says why that is
 *			enough)
 *	touched		whoever writes an event of a file says so there, all the while
 *	reconcile_end	the box is gone: the second look, and the difference
 *
 * A difference that an event explains is confirmed.  One that none explains is unattributed: it
 * was done by something outside the box, or by a way that was not seen, and each becomes an event
 * "tamper", op "unattributed", with its path.  What explains a difference:
 *
 *	an event of the same effect on this path (a chmod does not explain other content)
 *	one on a name that it had before, or that leads there through links (touched.h)
 *	one on another hard link of the same file
 *	for what lies in a renamed folder and is the same as before: the rename
 *
 * In direct mode a file of the user's that was changed or removed has to have been kept as well
 * (first_keep.h): else another file was looked at than the one that an event's call led to.
 *
 * Not called unattributed, but counted and named (an event "file", op "times", that is nobody's): a
 * file of the same size whose mtime does not lie in the session.  Times that the caller chooses are
 * no event, because unpacking sets them for every file; but who writes unseen and then sets the
 * time back looks like that.
 *
 * In review mode the box does not write the workspace's folder but a layer upon it, and it is that
 * layer which is looked at twice.  What the user does to the folder meanwhile is the user's own.
 * There, besides:
 *
 *	a whiteout is a removal
 *	a folder that was copied up, because of something in it, is no difference
 *	a file that was copied up is one as far as it is not what lies beneath it
 *
 * What cannot be known is said by an event "gap": directories that could not be read, files that
 * may have been removed before the first look came by, a clock that was set back.
 */
#ifndef BAWN_RECONCILE_H
#define BAWN_RECONCILE_H

#include "compare.h"
#include "error.h"
#include "first_kept.h"
#include "plan.h"
#include "reconcile_layer.h"
#include "scanner.h"
#include "touched.h"
#include "writer.h"

enum {
	RECONCILE_NAMED_MAX = 10000, /* events; the rest is a number */
	RECONCILE_SHOWN_MAX = 5,
	RECONCILE_TREES_MAX = 8,
};

struct reconcile_result {
	bool compared;      /* false: there was nothing to compare, or (in the record) it failed */
	uint64_t files;     /* that were looked at */
	uint64_t confirmed; /* differences that events explain */
	uint64_t unattributed; /* differences that none explains */
	uint64_t times;        /* files whose times changed, and nothing else */
	uint64_t unknown;      /* directories of which not all is known */
	struct {
		char path[256]; /* for a person; may be cut */
		enum compare_kind kind;
	} shown[RECONCILE_SHOWN_MAX]; /* the first that are unattributed */
	size_t shown_count;
};

/* A folder that is compared. */
struct reconcile_tree {
	int root;                     /* itself, or its layer; -1: it is not compared */
	struct reconcile_layer layer; /* of review mode */
	int failed;                   /* 0, or -errno: it could not be opened */
	const char *target;           /* inside; of the plan */
	bool clock;                   /* ctime is by this machine's clock */
	struct manifest before;
};

struct reconcile {
	const struct plan *plan;
	struct reconcile_tree trees[RECONCILE_TREES_MAX]; /* the workspace first, if it is one */
	size_t count;
	size_t left_out; /* granted folders that are too many */
	int64_t since;   /* when the session began: CLOCK_REALTIME */
	int64_t offset;  /* of that clock to the one that is never set */
	struct touched touched;
	struct scanner scanner;
	const struct first_kept *kept; /* direct: what was kept; NULL: nobody knows */
	void (*on_progress)(void *context, uint64_t files); /* now and then, after a second */
	void *progress_context;
	/* Direct: something in the workspace that no event explains.  Its path below that, and what
	 * it was before the session; 0: nothing, or it is not known. */
	void (*on_unattributed)(void *context, const char *path, uint32_t mode);
	void *unattributed_context;
};

#define RECONCILE_INIT ((struct reconcile){.scanner = SCANNER_INIT})

/* The plan must outlive it.  What the box may not write is not compared; neither is what cannot be
 * read, and that is said at the end.  Another folder than was meant is an error. */
int reconcile_begin(struct reconcile *r, const struct plan *plan, struct error *e);

/* Digests can be asked for; records is the folder of all of them. */
void reconcile_serve(struct reconcile *r, int records, const struct scanner_to *to);

/* Forks the scanner.  0 or -errno: then digests and what was removed are not known, which is said
 * at the end. */
int reconcile_scan(struct reconcile *r);

/* When every process of the box is gone.  0, or -errno when events could not be written; whatever
 * else goes wrong is in the result and in the record. */
int reconcile_end(struct reconcile *r, struct writer *w,
		  struct reconcile_result *ret) BAWN_MUST_USE;

/* The event of a digest. */
int reconcile_write_digest(struct writer *w, const struct scanner_digest *d) BAWN_MUST_USE;

void reconcile_fini(struct reconcile *r);

#endif
