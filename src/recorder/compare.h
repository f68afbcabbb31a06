/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is different between two manifests of one tree: the one from the start of a session, which
 * may have been taken while the session was already changing things and may not be complete, and
 * the one from its end.
 *
 * A difference is found in two ways, and either is enough:
 *
 *	the two entries differ, or there is only one of them
 *	ctime says that the inode changed after the session began
 *
 * ctime is the kernel's own: every write, chmod, link, rename and utimes sets it to the clock, and
 * nobody but who sets the clock can choose it.  So what was changed before the walk of the start
 * came by, and looks the same in both, is found all the same.  What this cannot find:
 *
 *	a file that was removed before the walk came by.  Its directory has a newer time than the
 *	session then, and is MANIFEST_LATE: who asks has to say so
 *	what was changed in the same tick of the clock (1 to 10 ms) in which the session began,
 *	and before the walk came by: it cannot be told from what was done just before
 *	anything by ctime where the clock was set back meanwhile, or where ctime is another
 *	machine's clock (NFS and its kind): `clock` is false then, and only the first way is used
 *
 * A name that is only in the second manifest, in a directory that was not read for the first, or
 * late, was made in the session if its ctime says so, and else was simply not seen before.
 */
#ifndef BAWN_COMPARE_H
#define BAWN_COMPARE_H

#include "keyed.h"
#include "manifest.h"

enum compare_kind {
	COMPARE_CREATED,
	COMPARE_CHANGED, /* other content: size, time of writing, or another thing altogether */
	COMPARE_DELETED,
	COMPARE_ATTRIBUTES, /* mode or owner, and nothing else */
	COMPARE_TIMES,      /* nothing but its times: the size is the same, and it was not written
			     * since, if its mtime is to be believed */
	COMPARE_KIND_COUNT,
};

/* In place of an entry of the first manifest: it may have been there, and was not looked at. */
#define COMPARE_UNKNOWN (MANIFEST_NONE - 1)

extern const char *const compare_words[COMPARE_KIND_COUNT];

struct compare_change {
	uint32_t before, after; /* entries, or MANIFEST_NONE */
	enum compare_kind kind;
	bool settled; /* for who goes through them: the last word is spoken */
	bool copied;  /* likewise: it is in the layer, and no difference */
};

struct compare {
	const struct manifest *before, *after;
	bool clock;
	struct keyed key;
	uint32_t *table; /* of `before`, by parent and name; MANIFEST_NONE: empty */
	size_t table_size;
	uint32_t *to_after;  /* of each entry of `before` */
	uint32_t *to_before; /* of each entry of `after`; COMPARE_UNKNOWN as well */
	struct compare_change *changes;
	size_t count;
};

/* Both manifests must outlive it. */
int compare_init(struct compare *c, const struct manifest *before, const struct manifest *after,
		 bool clock);
void compare_fini(struct compare *c);
#define _cleanup_compare_ _cleanup_(compare_fini)

int compare_run(struct compare *c); /* fills `changes`; 0 or -ENOMEM */

/* The entry of `before` with this path below the tree, or MANIFEST_NONE. */
uint32_t compare_find(const struct compare *c, struct span path);

/* Whether these two are different, and how. */
bool compare_pair(const struct compare *c, uint32_t before, uint32_t after,
		  enum compare_kind *ret_kind);

/* The inode changed since the session began. */
bool compare_is_fresh(const struct compare *c, const struct manifest_entry *e);

#endif
