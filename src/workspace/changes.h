/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack of layers changes of the tree beneath it, read from the layers themselves.  Nothing
 * is run, no link is followed, and every descriptor comes from open_beneath: the layers are the
 * agent's doing.
 *
 *	view		a base tree and layers upon it, opened; what the box sees as one
 *	changes		the list of what differs between the base and the view: one entry for
 *			each file, link or special thing, and for each directory that is new,
 *			gone or has another mode.  Sorted by path, byte by byte
 *
 * An object is what stands at a path on one side.  `ABSENT` on the side before is an addition,
 * after a removal.
 */
#ifndef BAWN_CHANGES_H
#define BAWN_CHANGES_H

#include "git_place.h"
#include "arena.h"
#include "layers.h"
#include "sha256.h"

enum {
	CHANGES_MAX = 1 << 20,
	CHANGES_NAMES_MAX = 8 << 20, /* names that are looked at, in all layers together */
	CHANGES_BYTES_MAX = 1 << 30, /* of paths and what links say */
	CHANGES_DEPTH_MAX = 400,     /* as of a manifest; what is deeper is dropped, and listed */
	/* The digest of a larger file is not that of its bytes: changes_hash. */
	CHANGES_HASH_PLAIN_MAX = 256 << 20,
};

/* Of a view that is a part of one: whose version stands at a path. */
enum view_side {
	VIEW_OF_LAYERS,
	VIEW_OF_BASE,
	VIEW_OF_NOBODY, /* nothing stands there */
	VIEW_OF_FILE,   /* another one: *ret_fd, which is borrowed */
};

struct view_part {
	enum view_side (*says)(const void *context, const char *path, int *ret_fd);
	const void *context;
};

struct view {
	int base; /* the workspace's own folder; -1: nothing is beneath */
	int layers[STACK_MAX];
	size_t count;                 /* lowest first */
	const struct view_part *part; /* NULL: all that the layers have counts */
};

#define VIEW_INIT ((struct view){.base = -1})

/* `base` is copied. */
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
	OBJECT_DEVICE, /* a whiteout of a layer is none: it is ABSENT */
	OBJECT_TYPE_COUNT,
};

extern const char *const object_type_words[OBJECT_TYPE_COUNT];

/* enum object_type, of a mode as stat has it. */
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
	bool hashed; /* files: digest is the content's; links: of what they say */
	uint8_t digest[SHA256_SIZE];
	const char *link; /* what a link says; NULL for others */
};

enum change_kind {
	CHANGE_ADDED,
	CHANGE_CHANGED, /* content; or another type altogether */
	CHANGE_DELETED,
	/* `from` has the same content and is deleted; its own entry is not listed, and `before` is
	 * what stood there.  Nothing stood at `path`. */
	CHANGE_RENAMED,
	CHANGE_MODE, /* nothing but its mode */
	CHANGE_KIND_COUNT,
};

extern const char *const change_kind_words[CHANGE_KIND_COUNT];

/* In the order in which they are shown. */
enum change_group {
	CHANGE_ORDINARY,
	CHANGE_FLAGGED, /* lands, and is worth a look: hold.h */
	CHANGE_LEAVE,   /* left out: its tool makes it again, and nothing waits for it: hold.h */
	CHANGE_HELD,    /* lands only when it is released by name: hold.h */
	CHANGE_DROPPED, /* never lands: special files, modes beyond 0777, odd attributes, ... */
	CHANGE_GROUP_COUNT,
};

extern const char *const change_group_words[CHANGE_GROUP_COUNT];

/* One version of a file that is held, which a commit or an index brings: hold_commits.c. */
struct brought {
	const char *path; /* below the workspace */
	const char *rule, *why;
	char object[2 * 32 + 1]; /* the version; "" of a removal */
	char commit[2 * 32 + 1]; /* the first that was found to have it; "" for an index */
	uint32_t mode;           /* git's; 0 of a removal */
	bool seen;               /* the same stands in the tree, of the same kind */
	bool yours;              /* the same stands in the user's folder: it is released already */
	bool removed;
	const char *before, *after; /* of one that is not seen: text; NULL: not to be shown */
	bool released;              /* for who decides about it */
};

struct change {
	const char *path;  /* below the workspace; any bytes but NUL; never empty, no "." or ".." */
	const char *from;  /* of RENAMED; else NULL */
	unsigned int kind; /* enum change_kind */
	unsigned int group; /* enum change_group */
	/* Of a hold or flag the rule's name and which later command would run it; of what is
	 * dropped, why.  NULL: nothing to say. */
	const char *rule, *why;
	/* What git would take from it of what is held; it lands when all of that is released. */
	struct brought *brings;
	size_t brings_count;
	/* Held only because the change at this path is, and goes with it; NULL: for itself. */
	const char *with;
	bool moved; /* the session moved it there, and it is named by itself */
	bool part;  /* of what lands as one thing, and is told by what it goes with (hold.h) */
	/* Of what lands as one thing: so many bytes of the path are the thing, 0: it is of none.  Of a
	 * part of it: its `why` is about all of it. */
	size_t whole;
	bool tells;
	/* A branch whose commits take back what the user committed meanwhile. */
	bool takes_back;
	/* Lands only with the change at this path: without that, a ref would be gone.  NULL: alone.
	 */
	const char *needs;
	/* What it is within a repository whose own file it is, in `path`: as git_rest says, and of
	 * repositories of other names by what is in them (hold.h).  NULL: it is none. */
	const char *git;
	/* So many bytes of the path are the outermost folder that git ignores, as the user's own files
	 * said before the session (hold.h); 0: git looks at it. */
	size_t ignored;
	/* Part of it does not land although the rest does (a setuid bit, an attribute): words. */
	const char *without;
	/* Bits of the mode after that are the mask of its access list, and not what that gives the
	 * group.  The list does not land, so neither do they. */
	uint32_t masked;
	struct object before, after;
	/* git's object, which the user's gc took away since it landed or was found (settled.h). */
	bool pruned;
	bool edited;    /* RENAMED, and not the same: only of one that stands for two (folding.h) */
	bool both;      /* the user changed it since, too; where that was looked for */
	bool copied_up; /* the layer's file was made from one beneath it, not new */
	bool exchanged_parent; /* a directory above it was replaced (opaque): removals follow */
};

/* One of many that nobody reads one by one: an object, a pack, a folder of them. */
bool change_is_git_object(const struct change *c);

struct changes {
	struct arena arena;
	struct change *items;
	size_t count;
	uint64_t bytes; /* of all files after */
	bool moved;     /* something changed while it was read: the list may be short of it */
	bool unread;    /* so it may of what a direct session changed: first versions are damaged */
};

/*
 * Reads the changes.  What counts as one is always told by the content itself, never by times.
 * With `hash`, files are hashed on both sides and renames are found; with `lazy` as well, only
 * files that a rename could be about are hashed, and others stay `hashed == false`.  What cannot
 * be read is dropped if it is after, and stays unhashed if it is before.
 * progress (may be NULL) is called now and then with the number of files looked at so far.
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
 * Whether anything is changed at all: 1, 0 or -errno.  As changes_read has it, but that an index of
 * git's which a `git status` wrote anew is none.  It ends at the first change.  Of more equal files
 * than these it says 1 without reading them all: who asks does not wait for long.
 */
enum { CHANGES_ANY_FILES = 4096, CHANGES_ANY_BYTES = 256 << 20 };
int changes_any(const struct view *v);

#define _cleanup_changes_ _cleanup_(changes_fini)

/* The change at this very path, or NULL. */
struct change *changes_find(const struct changes *c, const char *path);

/* Opens a side, a file, for reading; -ESTALE when it is not the object that was read.  Of what was
 * RENAMED the side before is at `from`. */
enum change_side { CHANGE_BEFORE, CHANGE_AFTER };
int changes_open(const struct view *v, const struct change *c, enum change_side side);

/* One path as the view has it, whether it changed or not: 0 (ret->type may be ABSENT) or -errno.
 * `link` stays NULL: readlinkat of view_openat(O_PATH). */
int view_look(const struct view *v, const char *path, struct object *ret);
/* Opens that, for reading, or O_PATH when flags say so; a directory as its topmost layer has it. */
int view_openat(const struct view *v, const char *path, int flags);
/* The names in a directory as the view has it, "." and ".." left out, in any order; a negative
 * answer of `found` ends it. */
int view_list(const struct view *v, const char *path, int (*found)(void *context, const char *name),
	      void *context);

/*
 * Hashes what the descriptor has from its start; *ret_size: how much that was.  Up to
 * CHANGES_HASH_PLAIN_MAX bytes it is the SHA-256 of the content.  A larger file may be a hole of 8
 * EB: its digest is that of its size and of each block of 4 KiB that is not all zeros, with its
 * number (both 64 bits, little endian).  So holes need not be read, and it is the content alone
 * that decides.
 */
int changes_hash(int fd, uint8_t ret[SHA256_SIZE], uint64_t *ret_size);

/* What the view has at a path, with the digest of a file or of what a link says. */
int view_look_hashed(const struct view *v, const char *path, struct object *ret);

#endif
