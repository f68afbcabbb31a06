/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's index, as far as it says which content stands at which path.  The rest of it (times,
 * inodes, caches) is rewritten by every `git status`, so that two indexes can differ in their bytes
 * and mean the same.
 *
 * Versions 2 to 4; object names of 20 or 32 bytes.  A sparse one (`sdir`) has folders among its
 * entries, whose paths end in a slash and whose objects are trees.  One that is split over two files
 * (`link`) is not read.
 *
 *	struct git_index x = GIT_INDEX_INIT;
 *	int r = git_index_open(&x, bytes);
 *	while (r == 0 && git_index_next(&x))
 *		... x.path, x.object ...
 *	git_index_close(&x);
 */
#ifndef BAWN_GIT_INDEX_H
#define BAWN_GIT_INDEX_H

#include "buf.h"
#include "sha256.h"

enum { GIT_INDEX_PATH_MAX = 1 << 16 };

struct git_index {
	struct buf path;    /* of the entry, without its end */
	struct span object; /* what stands there */
	uint8_t kept[8];    /* flags that a person sets, stage, mode */
	struct span bytes;  /* without the checksum at its end */
	size_t at, name;    /* name: bytes of an object's name */
	uint32_t version, left;
	bool sparse; /* it may have folders among its entries */
};

#define GIT_INDEX_INIT ((struct git_index){.path = BUF_INIT((size_t)2 * GIT_INDEX_PATH_MAX)})

/* Reads it once to its end, so that every entry is known to be one, and stands before the first.
 * 0; -EPROTO: it is none; -ENOTSUP: one of a kind that is not read. */
int git_index_open(struct git_index *x, struct span bytes);

/* The next entry, in the order of paths and stages; false behind the last. */
bool git_index_next(struct git_index *x);

/* Of the entry: 0, or the side of a merge that is under way; its mode, git's; and when its file was
 * changed last, as git saw it, in nanoseconds since 1970, with the low half of its size. */
unsigned int git_index_stage(const struct git_index *x);
uint32_t git_index_mode(const struct git_index *x);
int64_t git_index_time(const struct git_index *x, uint32_t *ret_size);

/* The entry is a folder. */
bool git_index_is_folder(const struct git_index *x);

/* Byte for byte the same entries, and extensions but for caches of what is in the folder; of one
 * that is not read too.  `name`: bytes of an object's name. */
bool git_index_is_same(struct span a, struct span b, size_t name);

/* Before the first entry again. */
void git_index_rewind(struct git_index *x);

void git_index_close(struct git_index *x);

/* A digest of its entries: path, mode, object, stage and flags that a person sets.  0; -EPROTO: it
 * is none; -ENOTSUP: one of a kind that is not read. */
int git_index_digest(struct span bytes, uint8_t ret[SHA256_SIZE]);

/* Whether a path is one that git may have an index at, wherever a repository is.  Whether it is one
 * is told by what is in it. */
bool git_index_is_path(const char *path);

#endif
