/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack of layers changes of the tree beneath it, read from the layers themselves.  We run
 * nothing, follow no link, and open everything by open_beneath, because an agent wrote the layers.
 *
 *	view		a base tree and layers upon it, opened; what the box sees as one
 *	changes		the list of what differs between the base and the view: one entry for
 *			each file, link or special thing, and for each directory that is new,
 *			gone or has another mode.  Sorted by path, byte by byte
 *
 * An object is what is at a path on one side.  `ABSENT` on the side before means an addition, on
 * the side after a removal.
 */
#ifndef BAWN_CHANGES_H
#define BAWN_CHANGES_H

#include "git_place.h"
#include "arena.h"
#include "layers.h"
#include "sha256.h"

enum {
	CHANGES_MAX = 1 << 20,
	CHANGES_NAMES_MAX = 8 << 20, /* most names that we look at, in all layers together */
	CHANGES_BYTES_MAX = 1 << 30, /* most bytes of paths and of link targets */
	CHANGES_DEPTH_MAX = 400,     /* as in a manifest; what is deeper is dropped, and listed */
	/* The digest of a larger file is not that of its bytes: changes_hash. */
	CHANGES_HASH_PLAIN_MAX = 256 << 20,
};

/* For a view that shows only a part of the changes: which version is at a path. */
enum view_side {
	VIEW_OF_LAYERS,
	VIEW_OF_BASE,
	VIEW_OF_NOBODY, /* nothing is there */
	VIEW_OF_FILE,   /* another file: *ret_fd, which is borrowed */
};

struct view_part {
	enum view_side (*says)(const void *context, const char *path, int *ret_fd);
	const void *context;
};

struct view {
	int base; /* the workspace's folder; -1: nothing is beneath the layers */
	int layers[STACK_MAX];
	size_t count;                 /* lowest first */
	const struct view_part *part; /* NULL: the layers count as a whole */
};

#define VIEW_INIT ((struct view){.base = -1})

/* Copies the descriptor `base`. */
int view_open(const struct layers *l, const struct stack *s, int base, struct view *ret,
	      struct error *e);
void view_close(struct view *v);
#define _cleanup_view_ _cleanup_(view_close)

enum object_type {
	OBJECT_ABSENT,
	OBJECT_FILE,
	OBJECT_DIR,
	OBJECT_LINK,
	OBJECT_FIFO,
	OBJECT_SOCKET,
	OBJECT_DEVICE, /* not a whiteout of a layer, which is ABSENT */
	OBJECT_TYPE_COUNT,
};

extern const char *const object_type_words[OBJECT_TYPE_COUNT];

/* The enum object_type of a mode of stat. */
unsigned int object_type_of(unsigned int mode);

struct object {
	unsigned int type; /* enum object_type */
	uint32_t mode;     /* 07777 */
	uint32_t uid, gid;
	uint64_t size;
	uint64_t dev, ino;
	int64_t mtime, ctime; /* nanoseconds since 1970 */
	uint32_t links;
	int layer;   /* index in the view, -1: in the base */
	bool hashed; /* the digest is known: of a file's content, of a link's target */
	uint8_t digest[SHA256_SIZE];
	const char *link; /* target of a link; NULL for others */
};

enum change_kind {
	CHANGE_ADDED,
	CHANGE_CHANGED, /* another content, or another type */
	CHANGE_DELETED,
	/* `from` was deleted and had the same content.  The list has no entry for `from`; `before`
	 * is what was there.  Nothing was at `path`. */
	CHANGE_RENAMED,
	CHANGE_MODE, /* only the mode changed */
	CHANGE_KIND_COUNT,
};

extern const char *const change_kind_words[CHANGE_KIND_COUNT];

/* In the order of the screens. */
enum change_group {
	CHANGE_ORDINARY,
	CHANGE_FLAGGED, /* lands, and the screens point it out: hold.h */
	CHANGE_LEAVE,   /* left out: its tool makes it again, and nothing waits for it: hold.h */
	CHANGE_HELD,    /* lands only when the user releases it: hold.h */
	CHANGE_DROPPED, /* never lands: special files, modes beyond 0777, odd attributes, ... */
	CHANGE_GROUP_COUNT,
};

extern const char *const change_group_words[CHANGE_GROUP_COUNT];

/* One version of a held file that a commit or an index brings: hold_commits.c. */
struct brought {
	const char *path; /* below the workspace */
	const char *rule, *why;
	char object[2 * 32 + 1]; /* the version; "" of a removal */
	char commit[2 * 32 + 1]; /* the first that was found to have it; "" for an index */
	uint32_t mode;           /* git's; 0 of a removal */
	bool seen;               /* the same stands in the tree, of the same kind */
	bool yours;              /* the same stands in the user's folder: it is released already */
	bool removed;
	const char *before, *after; /* if it is not seen: its text; NULL: nothing to show */
	bool released;              /* set by the code that decides about it */
};

struct change {
	const char *path;  /* below the workspace; any bytes but NUL; never empty, no "." or ".." */
	const char *from;  /* the old path, if RENAMED; else NULL */
	unsigned int kind; /* enum change_kind */
	unsigned int group; /* enum change_group */
	/* For a held or flagged change: the rule's name, and which later command would run it.  For
	 * a dropped one: why.  NULL: nothing to say. */
	const char *rule, *why;
	/*
	 * The held files that git would take from it.  It lands when the user released all of them.
	 */
	struct brought *brings;
	size_t brings_count;
	/* It is held only because the change at this path is, and lands with that; NULL: it is held
	 * for itself. */
	const char *with;
	bool moved; /* the session moved it there, and it is named by itself */
	bool part;  /* of what lands as one thing, and is told by what it goes with (hold.h) */
	/* Of what lands as one thing: so many bytes of the path are the thing, 0: it is of none.  Of a
	 * part of it: its `why` is about all of it. */
	size_t whole;
	bool tells;
	/* A branch whose commits undo what the user committed meanwhile. */
	bool takes_back;
	/* It lands only with the change at this path: without that a ref would be gone.  NULL: it
	 * lands alone. */
	const char *needs;
	/*
	 * If it is a file of a repository: its path in the repository, which is the end of `path`,
	 * as git_rest says; for repositories of other names, by what is in them (hold.h).  NULL: it
	 * is no such file.
	 */
	const char *git;
	/* How many bytes of the path are the outermost folder that git ignores, by the user's own
	 * files from before the session (hold.h); 0: git looks at it. */
	size_t ignored;
	/*
	 * What of it does not land although the rest does (a setuid bit, an attribute), in words.
	 */
	const char *without;
	/* Bits of the mode after that are the mask of its access list, and not what the list gives
	 * to the group.  The list does not land, so these bits do not either. */
	uint32_t masked;
	struct object before, after;
	/* git's object, which the user's gc removed since it landed or was found (settled.h). */
	bool pruned;
	bool edited;    /* RENAMED with another content: stands for two (folding.h) */
	bool both;      /* the user changed it, too, since; if we looked for that */
	bool copied_up; /* overlayfs made the layer's file from one beneath it; it is not new */
	bool exchanged_parent; /* a directory above it was replaced (opaque): removals follow */
};

/* Nobody reads these one by one: an object, a pack, a folder of them. */
bool change_is_git_object(const struct change *c);

struct changes {
	struct arena arena;
	struct change *items;
	size_t count;
	uint64_t bytes; /* of all files on the side after */
	bool moved;     /* something changed while we read: the list may not have it */
	bool unread;    /* first versions are damaged: the list may not have all changes */
};

/*
 * Reads the changes.  The content decides what counts as one, never the times.  With `hash`, files
 * are hashed on both sides and renames are found.  With `lazy` as well, only files that may be
 * renamed are hashed, and the others stay `hashed == false`.  What cannot be read is dropped on the
 * side after, and stays unhashed on the side before.  progress (may be NULL) is called now and then
 * with the number of files so far.
 */
struct changes_how {
	bool hash;
	bool lazy;
	void (*progress)(void *context, size_t done);
	void *context;
};

int changes_read(const struct view *v, const struct changes_how *how, struct changes *ret,
		 struct error *e);
void changes_fini(struct changes *c);

/*
 * Whether something changed: 1, 0 or -errno.  It is like changes_read, but an index of git that a
 * `git status` wrote anew is no change.  It ends at the first change.  If there are more equal
 * files than these limits, it says 1 without reading them all: the caller does not wait long.
 */
enum { CHANGES_ANY_FILES = 4096, CHANGES_ANY_BYTES = 256 << 20 };
int changes_any(const struct view *v);

#define _cleanup_changes_ _cleanup_(changes_fini)

/* The change at exactly this path, or NULL. */
struct change *changes_find(const struct changes *c, const char *path);

/* Opens one side, a file, for reading; -ESTALE: it is not the object that was read.  If it was
 * RENAMED, the side before is at `from`. */
enum change_side { CHANGE_BEFORE, CHANGE_AFTER };
int changes_open(const struct view *v, const struct change *c, enum change_side side);

/* Looks at one path of the view, changed or not: 0 (ret->type may be ABSENT) or -errno.  `link`
 * stays NULL: call readlinkat on view_openat(O_PATH). */
int view_look(const struct view *v, const char *path, struct object *ret);
/*
 * Opens it, for reading, or O_PATH if the flags say so.  A directory is that of its topmost layer.
 */
int view_openat(const struct view *v, const char *path, int flags);
/* Calls `found` for each name in a directory of the view, without "." and "..", in any order.  A
 * negative answer of `found` ends it. */
int view_list(const struct view *v, const char *path, int (*found)(void *context, const char *name),
	      void *context);

/*
 * Hashes the content of the descriptor from its start; *ret_size: its length.  Up to
 * CHANGES_HASH_PLAIN_MAX bytes it is the SHA-256 of the content.  A larger file may be a hole of 8
 * EB: its digest is that of its size and of each block of 4 KiB that is not all zeros, with its
 * number (both 64 bits, little endian).  So holes need not be read, and the digest depends only on
 * the content.
 */
int changes_hash(int fd, uint8_t ret[SHA256_SIZE], uint64_t *ret_size);

/* Looks at a path of the view, with the digest of a file or of a link's target. */
int view_look_hashed(const struct view *v, const char *path, struct object *ret);

#endif
