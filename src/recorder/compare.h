/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what is different between two manifests of one tree: the one from the start of a session,
 * which may have been taken while the session was already changing things and may not be complete,
 * and the one from its end.
 *
 * A difference is found in two ways, and either is enough:
 *
 *	the two entries differ, or there is only one of them
 *	ctime says that the inode changed after the session began
 *
 * The kernel itself sets ctime: every write, chmod, link, rename and utimes sets it to the clock,
 * and only who sets the clock can choose it.  So a file that was changed before the walk of the
 * start came to it, and looks the same in both manifests, is found too.  What this cannot find:
 *
 *	a file that was removed before the walk came to its directory. That directory has a newer
 *	time than the session, and is MANIFEST_LATE: the caller has to say so
 *	a change in the same tick of the clock (1 to 10 ms) in which the session began, before
 *	the walk came to it: it looks like a change from just before the session
 *	anything by ctime when the clock was set back meanwhile, or when ctime comes from another
 *	machine's clock (NFS and others): then `clock` is false, and only the first way is used
 *
 * A name may be only in the second manifest, in a directory that the first walk did not read, or
 * read late.  Then the session made it if its ctime says so; else the first walk did not see it.
 */
#ifndef BAWN_COMPARE_H
#define BAWN_COMPARE_H

#include "keyed.h"
#include "manifest.h"

enum compare_kind {
	COMPARE_CREATED,
	COMPARE_CHANGED, /* other content: size, time of writing, or another kind of thing */
	COMPARE_DELETED,
	COMPARE_ATTRIBUTES, /* mode or owner, and nothing else */
	COMPARE_TIMES,      /* only its times: the size is the same, and its mtime says that it was
			     * not written since */
	COMPARE_KIND_COUNT,
};

/* Stands for an entry of the first manifest: it may have existed, and the walk did not look. */
#define COMPARE_UNKNOWN (MANIFEST_NONE - 1)

extern const char *const compare_words[COMPARE_KIND_COUNT];

struct compare_change {
	uint32_t before, after; /* indexes of entries, or MANIFEST_NONE */
	enum compare_kind kind;
	bool settled; /* for the caller: this change is decided */
	bool copied;  /* for the caller: it is in the layer, and no difference */
};

struct compare {
	const struct manifest *before, *after;
	bool clock;
	struct keyed key;
	uint32_t *table; /* entries of `before`, by parent and name; MANIFEST_NONE: empty */
	size_t table_size;
	uint32_t *to_after;  /* for each entry of `before`: the one of `after` */
	uint32_t *to_before; /* for each of `after`: the one of `before`, or COMPARE_UNKNOWN */
	struct compare_change *changes;
	size_t count;
};

/* Both manifests must outlive it. */
int compare_init(struct compare *c, const struct manifest *before, const struct manifest *after,
		 bool clock);
void compare_fini(struct compare *c);
#define _cleanup_compare_ _cleanup_(compare_fini)

int compare_run(struct compare *c); /* fills `changes`; 0 or -ENOMEM */

/* The index of the entry of `before` with this path below the tree, or MANIFEST_NONE. */
uint32_t compare_find(const struct compare *c, struct span path);

/* Whether the two entries differ, and how. */
bool compare_pair(const struct compare *c, uint32_t before, uint32_t after,
		  enum compare_kind *ret_kind);

/* Whether the inode changed after the session began. */
bool compare_is_fresh(const struct compare *c, const struct manifest_entry *e);

#endif
