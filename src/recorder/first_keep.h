/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps first versions (first.h).  The process that is about to change something waits meanwhile.
 *
 *	review	digest, mode and times, and the content of files up to FIRST_KEEP_MERGE: the base
 *		of a three-way merge.  We look at what the box sees: overlayfs goes on
 *		with the file that it once found, and copies that one to the layer, though the
 *		user may have put another in its place since (a save by rename, a pull)
 *	direct	all that is needed to put it back: content of any size (that of the snapshot
 *		if there is one, a clone if the filesystem can, else a copy with the same
 *		holes), up to `limit` bytes of copies in a session; access lists and attributes
 *		user.* (attributes.h)
 *
 * We open everything beneath a folder that we hold, the workspace's own or the box's view of it,
 * and never through a link.  We look at a path once; after that it costs a look into a table.
 *
 * What we do not keep: times of access, and other times before a caller sets them; other extended
 * attributes (capabilities, labels), and those of what we cannot read.  And a racing thread of the
 * caller may tell the kernel another path than the one that it told us (watch.h).
 */
#ifndef BAWN_FIRST_KEEP_H
#define BAWN_FIRST_KEEP_H

#include "attributes.h"
#include "first.h"
#include "first_taken.h"
#include "plan.h"
#include "touched.h"
#include "twice.h"

enum {
	FIRST_KEEP_MERGE = 1 << 20,    /* review: larger files are not kept */
	FIRST_KEEP_PACKED = 256 << 10, /* larger ones get a file of their own */
	FIRST_KEEP_HASHED = 64 << 20,  /* larger ones are known by size, times and inode */
	FIRST_KEEP_PATIENCE_MS = 2000, /* for digests of what the session leaves */
	FIRST_KEEP_STAMP_MS = 100,     /* between two times that the index gets */
	FIRST_KEEP_MOVES = 1 << 16,    /* review: renames of files that one run enters */
	/* Direct: bytes of entries, without those of the end.  `bawn undo` can read this many: a
	 * session could rename a folder back and forth until undo cannot. */
	FIRST_KEEP_INDEX = FIRST_INDEX_MAX / 2,
	FIRST_KEEP_UNSEEN = 16 << 20, /* bytes of entries about changes whose call we did not see */
};
#define FIRST_KEEP_LIMIT (2ull << 30) /* direct: bytes that a session keeps */

struct first_keep {
	int dir, data; /* -1: nothing is kept */
	struct first_index index, unseen;
	int workspace;
	int seen;    /* review: the workspace as the box sees it; -1: not yet */
	int *layers; /* review: the session's layers, lowest first */
	size_t layer_count;
	int tree;           /* the snapshot of the workspace; -1: there is none */
	int64_t tree_made;  /* the snapshot is not older than this, nanoseconds since 1970 */
	const char *inside; /* the workspace, as the box sees it */
	char *own;          /* of first_keep_begin_shared: that, allocated; or NULL */
	struct twice twice; /* direct: who asks uses the first names */
	bool direct;
	int64_t began;        /* nanoseconds since 1970 */
	bool top;             /* the workspace's own folder is entered */
	struct touched known; /* MADE: with content, META: without; by absolute path */
	struct first_taken taken;
	uint64_t packed; /* bytes of data */
	uint64_t kept, limit;
	uint64_t enter_limit;   /* limit for bytes of the index */
	int64_t stamp;          /* when we set the index's time again */
	uint64_t number;        /* for the next file of its own */
	unsigned int moves;     /* renames of files that were entered */
	uint64_t unkept;        /* files whose content should be kept and is not */
	enum first_why why;     /* why, for the first of these */
	enum first_why refused; /* see first_keep_path */
	uint8_t *room;          /* for the content of one file */
	struct buf attributes;  /* of the thing at hand */
};

#define FIRST_KEEP_INIT                                  \
	((struct first_keep){.dir = -1,                  \
			     .index = FIRST_INDEX_INIT,  \
			     .unseen = FIRST_INDEX_INIT, \
			     .data = -1,                 \
			     .workspace = -1,            \
			     .seen = -1,                 \
			     .tree = -1,                 \
			     .twice = TWICE_INIT,        \
			     .attributes = BUF_INIT(ATTRIBUTES_MAX)})

/* Takes `dir`; -1: nothing is kept.  The plan must outlive it.  0, or -errno and a sentence. */
int first_keep_begin(struct first_keep *k, int dir, const struct plan *plan, struct error *e);
/* The same for the repository of a linked worktree, which the plan has a layer for: paths are below
 * the folder that .git is in. */
int first_keep_begin_shared(struct first_keep *k, int dir, const struct plan *plan,
			    struct error *e);
void first_keep_fini(struct first_keep *k);

/* Opens the box's view of the workspace, beneath the box's root.  Comes before the first path.  In
 * review mode nothing is kept before it. */
void first_keep_see(struct first_keep *k, int root);

/* What is about to change at a path. */
enum first_change {
	FIRST_CHANGE_META,    /* mode, owner */
	FIRST_CHANGE_CONTENT, /* anything */
};

/*
 * Keeps the first version of a path: absolute, without links, as the box names it.  True: it is
 * known now, or is not in the workspace.  False: there is a link on the way all the same.
 *
 * Direct: when it cannot be kept or entered (we cannot read the content, no room, too many
 * entries), sets `refused`, and the path stays unknown.  The change must not go on, because nothing
 * could bring the file back.  first_keep_moved does the same.
 */
bool first_keep_path(struct first_keep *k, struct span path, enum first_change change);

/* A folder is about to be renamed; exchanged: it and what is at `to` exchange their names. */
void first_keep_moved(struct first_keep *k, struct span from, struct span to, bool exchanged);
/* Review: a file is about to be renamed.  Enters it only when the file is the user's, or was moved
 * there from where the user had it. */
void first_keep_moved_file(struct first_keep *k, struct span from, struct span to);

/*
 * Direct: the box is about to remove something, or to put something there (first_taken.h).  fails:
 * the call fails if something is there.
 */
void first_keep_gone(struct first_keep *k, struct span path);
void first_keep_came(struct first_keep *k, struct span path, bool fails);

/* Whether the path is a folder of the workspace. */
bool first_keep_is_folder(const struct first_keep *k, struct span path);
/* Whether anything of the workspace is there, as far as we can see. */
bool first_keep_is_there(const struct first_keep *k, struct span path);

/* The box is gone.  Direct: enters how each path was left.  0 or -errno. */
int first_keep_end(struct first_keep *k) BAWN_MUST_USE;

/* Direct, after first_keep_end: a path below the workspace changed while the session ran, and we
 * saw no call that did it; enters that, so that undo says so.  mode: what was there; 0: nothing.  0
 * or -errno. */
int first_keep_unseen(struct first_keep *k, const char *path, uint32_t mode);

#endif
