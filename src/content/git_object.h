/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's objects, as bytes: what a commit, a tag and a tree say, how an object stands in a pack, and
 * how a delta makes one of another.  Names are SHA-1 or SHA-256, 20 or 32 bytes.  Whatever is not
 * as git writes it is -EBADMSG: who asks treats it as an object that brings anything.
 *
 *	loose	objects/ab/cdef...: zlib of "blob 12\0" and the content
 *	pack	objects/pack/pack-X.pack: for each object a number (type, size; seven bits a byte),
 *		for a delta where its base is, and zlib of the content or of the delta
 *	idx	pack-X.idx, version 2: 256 counts by first byte, names, CRCs, offsets of 31 bits,
 *		offsets of 64 bits for those that need it
 */
#ifndef BAWN_GIT_OBJECT_H
#define BAWN_GIT_OBJECT_H

#include "buf.h"

enum {
	GIT_NAME_MAX = 32,
	GIT_HEX_MAX = 2 * GIT_NAME_MAX,
	GIT_PARENTS_MAX = 16,
};

enum git_kind {
	GIT_KIND_NONE,
	GIT_KIND_COMMIT,
	GIT_KIND_TREE,
	GIT_KIND_BLOB,
	GIT_KIND_TAG,
	GIT_KIND_OFS = 6, /* a delta upon what stands so far before it in the pack */
	GIT_KIND_REF,     /* a delta upon what has this name */
	GIT_KIND_COUNT,
};

extern const char *const git_kind_words[GIT_KIND_COUNT]; /* NULL for deltas */

/* The name of an object; len 0: none. */
struct git_name {
	uint8_t len;
	uint8_t bytes[GIT_NAME_MAX];
};

static inline bool git_name_equal(const struct git_name *a, const struct git_name *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* All zeros, by which git says that there is nothing. */
bool git_name_is_null(const struct git_name *n);

/* 40 or 64 digits at the start of the text, in capitals or not, and no digit behind them. */
bool git_name_parse(struct span text, struct git_name *ret);
void git_name_hex(const struct git_name *n, char ret[GIT_HEX_MAX + 1]);

/* The name that an object of this content has; `len` says by which sum. */
void git_name_of(enum git_kind kind, struct span content, uint8_t len, struct git_name *ret);

/* "blob 12\0": how long it is, or -EBADMSG. */
int git_loose_head(struct span text, enum git_kind *ret_kind, uint64_t *ret_size);

struct git_commit {
	struct git_name tree, parents[GIT_PARENTS_MAX];
	size_t parent_count;
	int64_t when; /* seconds, as its committer says; 0: it does not */
};

int git_commit_parse(struct span text, struct git_commit *ret);
int git_tag_parse(struct span text, struct git_name *ret);

/* All zeros but `left` and `len`. */
struct git_tree {
	struct span left;
	uint8_t len; /* of a name */
	/* The entry that was read last. */
	uint32_t mode;
	struct span name; /* not empty; neither a slash nor NUL in it */
	struct git_name object;
};

/* 1: there is an entry; 0: the end; -EBADMSG. */
int git_tree_next(struct git_tree *t);

/* How an object begins in a pack. */
struct git_entry {
	enum git_kind kind;
	uint64_t size; /* of what is compressed */
	uint64_t back; /* OFS: so far before it */
	struct git_name base;
	size_t head; /* bytes of all this */
};

int git_entry_parse(struct span text, uint8_t len, struct git_entry *ret);

/* Puts what the delta makes of the base; -E2BIG when that is more than `into` takes. */
int git_delta(struct span base, struct span delta, struct buf *into);

/* What an index of a pack says by numbers; `len` as of a name. */
enum { GIT_IDX_HEAD = 8, GIT_IDX_FAN = 256 * 4 };
uint32_t git_u32(const uint8_t *p);

/* --- refs ------------------------------------------------------------------------------ */

/* A line of a log: what stood there, what came, and the rest of it. */
struct git_log_line {
	struct git_name old, new;
	struct span words;
};

bool git_log_parse(struct span line, struct git_log_line *ret);

/* packed-refs: all zeros but `left`. */
struct git_packed {
	struct span left;
	/* What was read last. */
	struct git_name object;
	struct span name;
};

/* 1: there is a ref; 0: the end; -EBADMSG: a line that is none. */
int git_packed_next(struct git_packed *p);

#endif
