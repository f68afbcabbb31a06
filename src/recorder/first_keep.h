/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps first versions (first.h), while whoever is about to change something waits.
 *
 *	review	digest, mode and times, and the content of files up to FIRST_KEEP_MERGE: the base
 *		of a three-way merge.  What is looked at is what the box sees: overlayfs goes on
 *		with the file that it once found, and copies that one to the layer, though the
 *		user may have put another in its place since (a save by rename, a pull)
 *	direct	all that is needed to put it back: content of any size (that of the snapshot
 *		where there is one, a clone where the filesystem can, else a copy with the same
 *		holes), up to `limit` bytes of copies in a session; access lists and attributes
 *		user.* (attributes.h)
 *
 * Everything is opened beneath a folder that is held, the workspace's own or the box's view of it,
 * and never through a link.  A path is looked at once; after that it costs a look into a table.
 *
 * What is not kept: times of access, and others before a caller sets them; other extended attributes
 * (capabilities, labels), and those of what cannot be read; and what a racing thread of the caller
 * says to the kernel after it said something else to us (watch.h).
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
	FIRST_KEEP_MERGE = 1 << 20,    /* bytes of a file that are kept in review mode */
	FIRST_KEEP_PACKED = 256 << 10, /* larger ones are files of their own */
	FIRST_KEEP_HASHED = 64 << 20,  /* larger ones are known by size, times and inode */
	FIRST_KEEP_PATIENCE_MS = 2000, /* for digests of what the session leaves */
	FIRST_KEEP_STAMP_MS = 100,     /* between two times that the index gets */
	FIRST_KEEP_MOVES = 1 << 16,    /* of files, in review mode: entries of a run */
	/* Bytes of entries in direct mode, before those of the end.  It is what `bawn undo` can go
	 * through: a session could rename a folder to and fro until nobody can any more. */
	FIRST_KEEP_INDEX = FIRST_INDEX_MAX / 2,
	FIRST_KEEP_UNSEEN = 16 << 20, /* bytes of entries of what was not seen */
};
#define FIRST_KEEP_LIMIT (2ull << 30) /* bytes of a session in direct mode */

struct first_keep {
	int dir, data; /* -1: nothing is kept */
	struct first_index index, unseen;
	int workspace;
	int seen;    /* review: the workspace as the box sees it; -1: not yet */
	int *layers; /* review: those of the session, lowest first */
	size_t layer_count;
	int tree;           /* the snapshot of the workspace; -1: there is none */
	int64_t tree_made;  /* not after it, nanoseconds since 1970 */
	const char *inside; /* the workspace, as the box sees it */
	char *own;          /* of first_keep_begin_shared: that, allocated; or NULL */
	struct twice twice; /* direct: who asks uses the first names */
	bool direct;
	int64_t began;        /* nanoseconds since 1970 */
	bool top;             /* the workspace's own folder is known */
	struct touched known; /* MADE: with content, META: without; by absolute path */
	struct first_taken taken;
	uint64_t packed; /* bytes of data */
	uint64_t kept, limit;
	uint64_t enter_limit;   /* bytes of the index */
	int64_t stamp;          /* when its time is set again */
	uint64_t number;        /* of the next file of its own */
	unsigned int moves;     /* of files that were entered */
	uint64_t unkept;        /* files whose content is not kept though it should be */
	enum first_why why;     /* of the first of these */
	enum first_why refused; /* see first_keep_path */
	uint8_t *room;          /* for the content of one file */
	struct buf attributes;  /* of one thing */
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

/* `dir` is taken; -1: nothing is kept.  The plan must outlive it.  0, or -errno and a sentence. */
int first_keep_begin(struct first_keep *k, int dir, const struct plan *plan, struct error *e);
/* The same for the repository of a linked worktree, which the plan has a layer for: paths are below
 * the folder that .git is in. */
int first_keep_begin_shared(struct first_keep *k, int dir, const struct plan *plan,
			    struct error *e);
void first_keep_fini(struct first_keep *k);

/* The box's root, before the first path is asked for: its view of the workspace is opened.  In
 * review mode nothing is kept before. */
void first_keep_see(struct first_keep *k, int root);

/* What is about to change at a path. */
enum first_change {
	FIRST_CHANGE_META,    /* mode, owner */
	FIRST_CHANGE_CONTENT, /* anything */
};

/*
 * path: absolute, without links, as inside.  True when it is known now, or is none of the
 * workspace's; false: there is a link on the way all the same.
 *
 * Direct: what cannot be kept or entered sets `refused` (a content that cannot be read, no room,
 * too many entries), and is not known: what would change it must not go on, for nothing could bring
 * it back.  So does first_keep_moved.
 */
bool first_keep_path(struct first_keep *k, struct span path, enum first_change change);

/* A folder is about to be renamed; exchanged: with what stands at `to`. */
void first_keep_moved(struct first_keep *k, struct span from, struct span to, bool exchanged);
/* Review: a file is.  Only where it is the user's, or came there from where it was. */
void first_keep_moved_file(struct first_keep *k, struct span from, struct span to);

/*
 * Direct: the box is about to take something away, or to put something there (first_taken.h).
 * fails: not where something is.
 */
void first_keep_gone(struct first_keep *k, struct span path);
void first_keep_came(struct first_keep *k, struct span path, bool fails);

/* Whether it is a folder of the workspace. */
bool first_keep_is_folder(const struct first_keep *k, struct span path);
/* Or anything, as far as can be seen. */
bool first_keep_is_there(const struct first_keep *k, struct span path);

/* The box is gone: in direct mode, how each path was left. */
int first_keep_end(struct first_keep *k) BAWN_MUST_USE;

/* Direct, after that: a path below the workspace was changed while the session ran, and no call was
 * seen that did it; undo says so.  mode: what it was, or 0: nothing.  0 or -errno. */
int first_keep_unseen(struct first_keep *k, const char *path, uint32_t mode);

#endif
