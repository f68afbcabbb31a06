/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what changed in the workspace, and in the folders that the user granted for writing,
 * with what the events say.
 *
 *	reconcile_begin	before the box exists: the clock, and the directories
 *	reconcile_scan	once the session is starting: the scanner takes the first look, at
 *			the lowest priority and so perhaps late (compare.h says why that is
 *			enough)
 *	touched		all the while: whoever writes an event of a file notes it there
 *	reconcile_end	the box is gone: the second look, and the difference
 *
 * A difference that an event explains is confirmed.  One that none explains is unattributed:
 * something outside the box did it, or it happened in a way that we did not see.  Each becomes an
 * event "tamper", op "unattributed", with its path.  What explains a difference:
 *
 *	an event of the same effect on this path (a chmod does not explain other content)
 *	one on a name that it had before, or that leads there through links (touched.h)
 *	one on another hard link of the same file
 *	for things in a renamed folder that are the same as before: the rename
 *
 * In direct mode the first version of a changed or removed file of the user must have been kept as
 * well (first_keep.h): else we looked at another file than the one that an event's call led to.
 *
 * A file of the same size whose mtime is not from the session is not called unattributed, but
 * counted and named (an event "file", op "times", of no process).  A caller that sets times makes
 * no event, because unpacking sets them for every file; but a program that writes unseen and then
 * sets the time back looks the same.
 *
 * In review mode the box does not write the workspace's folder but a layer above it, and we look
 * twice at that layer.  What the user does to the folder meanwhile is the user's own.  There,
 * besides:
 *
 *	a whiteout is a removal
 *	a folder that was copied up, because of something in it, is no difference
 *	a file that was copied up is a difference if it is not the same as the one beneath it
 *
 * An event "gap" says what we cannot know: directories that we could not read, files that may have
 * been removed before the first look, a clock that was set back.
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
	RECONCILE_NAMED_MAX = 10000, /* events; more are only counted */
	RECONCILE_SHOWN_MAX = 5,
	RECONCILE_TREES_MAX = 8,
};

struct reconcile_result {
	bool compared;      /* false: there was nothing to compare, or (in the record) it failed */
	uint64_t files;     /* files that we looked at */
	uint64_t confirmed; /* differences that events explain */
	uint64_t unattributed; /* differences that none explains */
	uint64_t times;        /* files whose times changed, and nothing else */
	uint64_t unknown;      /* directories that we do not know in full */
	struct {
		char path[256]; /* for a person; may be cut */
		enum compare_kind kind;
	} shown[RECONCILE_SHOWN_MAX]; /* the first unattributed ones */
	size_t shown_count;
};

/* A folder that is compared. */
struct reconcile_tree {
	int root;                     /* the folder, or its layer; -1: it is not compared */
	struct reconcile_layer layer; /* review mode */
	int failed;                   /* 0, or -errno: we could not open it */
	const char *target;           /* its path inside, from the plan */
	bool clock;                   /* ctime comes from this machine's clock */
	struct manifest before;
	uint64_t changed; /* files and links that changed; not counted in the workspace */
};

struct reconcile {
	const struct plan *plan;
	struct reconcile_tree trees[RECONCILE_TREES_MAX]; /* the workspace first, if there is one */
	size_t count;
	size_t left_out; /* granted folders that were too many */
	int64_t since;   /* when the session began: CLOCK_REALTIME */
	int64_t offset;  /* CLOCK_REALTIME minus CLOCK_BOOTTIME, which nobody can set */
	struct touched touched;
	struct scanner scanner;
	const struct first_kept *kept; /* direct: what was kept; NULL: nobody knows */
	void (*on_progress)(void *context, uint64_t files); /* called each second */
	void *progress_context;
	/* Direct: gets something in the workspace that no event explains: its path below that, and
	 * its mode before the session; 0: nothing was there, or we do not know. */
	void (*on_unattributed)(void *context, const char *path, uint32_t mode);
	void *unattributed_context;
};

#define RECONCILE_INIT ((struct reconcile){.scanner = SCANNER_INIT})

/* Does not compare what the box may not write, nor what we cannot read, and says the latter at the
 * end.  It is an error when a folder is another one than the plan meant.  The plan must outlive
 * it. */
int reconcile_begin(struct reconcile *r, const struct plan *plan, struct error *e);

/* From now on digests can be asked for; records is the folder of all records. */
void reconcile_serve(struct reconcile *r, int records, const struct scanner_to *to);

/* Forks the scanner.  0 or -errno: then digests and what was removed are not known, and the end
 * says so. */
int reconcile_scan(struct reconcile *r);

/* Call it when every process of the box is gone.  0, or -errno when events could not be written;
 * all other failures are in the result and in the record. */
int reconcile_end(struct reconcile *r, struct writer *w,
		  struct reconcile_result *ret) BAWN_MUST_USE;

/* Writes the event of a digest. */
int reconcile_write_digest(struct writer *w, const struct scanner_digest *d) BAWN_MUST_USE;

void reconcile_fini(struct reconcile *r);

#endif
