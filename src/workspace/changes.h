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

#include "arena.h"
#include "layers.h"
#include "sha256.h"

enum {
	CHANGES_MAX = 1 << 20,
	CHANGES_DEPTH_MAX = 400, /* as of a manifest; what is deeper is an error with its path */
};

struct view {
	int base; /* the workspace's own folder; -1: nothing is beneath */
	int layers[STACK_MAX];
	size_t count; /* lowest first */
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
	OBJECT_DEVICE, /* a whiteout is none: it is ABSENT */
	OBJECT_TYPE_COUNT,
};

extern const char *const object_type_words[OBJECT_TYPE_COUNT];

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
	CHANGE_RENAMED, /* `from` has the same content and is deleted; its own entry is not listed
			 */
	CHANGE_MODE,    /* nothing but its mode */
	CHANGE_KIND_COUNT,
};

extern const char *const change_kind_words[CHANGE_KIND_COUNT];

/* In the order in which they are shown. */
enum change_group {
	CHANGE_ORDINARY,
	CHANGE_FLAGGED, /* lands, and is worth a look: hold.h */
	CHANGE_HELD,    /* lands only when it is released by name: hold.h */
	CHANGE_DROPPED, /* never lands: special files, modes beyond 0777, odd attributes, ... */
	CHANGE_GROUP_COUNT,
};

extern const char *const change_group_words[CHANGE_GROUP_COUNT];

struct change {
	const char *path;  /* below the workspace; any bytes but NUL; never empty, no "." or ".." */
	const char *from;  /* of RENAMED; else NULL */
	unsigned int kind; /* enum change_kind */
	unsigned int group; /* enum change_group */
	/* Of a hold or flag the rule's name and which later command would run it; of what is
	 * dropped, why.  NULL: nothing to say. */
	const char *rule, *why;
	/* Part of it does not land although the rest does (a setuid bit, an attribute): words. */
	const char *without;
	struct object before, after;
	bool copied_up;        /* the layer's file was made from one beneath it, not new */
	bool exchanged_parent; /* a directory above it was replaced (opaque): removals follow */
};

struct changes {
	struct arena arena;
	struct change *items;
	size_t count;
	uint64_t bytes; /* of all files after */
};

/*
 * Reads the changes; `count` files are hashed on both sides when `hash`.  Renames are found when
 * hashed.  progress (may be NULL) is called now and then with the number so far.
 */
struct changes_how {
	bool hash;
	void (*progress)(void *context, size_t done);
	void *context;
};

int changes_read(const struct view *v, const struct changes_how *how, struct changes *ret,
		 struct error *e);
void changes_fini(struct changes *c);
#define _cleanup_changes_ _cleanup_(changes_fini)

/* The change at this very path, or NULL. */
struct change *changes_find(const struct changes *c, const char *path);

/* Opens a side for reading; -ESTALE when it is not the object that was read. */
enum change_side { CHANGE_BEFORE, CHANGE_AFTER };
int changes_open(const struct view *v, const struct change *c, enum change_side side);

/* One path as the view has it, whether it changed or not: 0 (ret->type may be ABSENT) or -errno. */
int view_look(const struct view *v, const char *path, struct object *ret);
/* Opens that, for reading, or O_PATH when flags say so. */
int view_openat(const struct view *v, const char *path, int flags);

/* Hashes what the descriptor has from its start; *ret_size: how much that was. */
int changes_hash(int fd, uint8_t ret[SHA256_SIZE], uint64_t *ret_size);

#endif
