/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a direct session did, turned round: from the first versions that the recorder kept (first.h)
 * comes the tree as it was (undo_former.h), and the steps that bring it back.  What is not as the
 * session left it is the user's own, and is skipped and named; so is what was not kept.  A folder
 * that was renamed goes back with what is in it, but for what is the user's own, which stays.
 */
#ifndef BAWN_UNDO_DIRECT_H
#define BAWN_UNDO_DIRECT_H

#include "first.h"
#include "land.h"
#include "review.h"
#include "undo_former.h"

struct undo_skipped {
	const char *path, *why;
};

/* The workspace's own folder, which no step is about. */
struct undo_top {
	bool has_mode, has_time;    /* it has not what it had, but what the session left; mode:
				  * or access list, or attributes */
	uint32_t mode;              /* that it had */
	int64_t time, left;         /* that it had; that the session left */
	const struct land_has *has; /* that it had; NULL: not known */
};

/* Folders that undo itself opened, and that were as the session left them: so they still are. */
struct undo_opened {
	const char **items;
	size_t count;
};

struct undo_direct {
	struct arena arena;
	const struct undo_opened *opened;
	struct first first;
	struct former_list former;
	int tree; /* the review's */
	struct undo_top top;
	struct land_step *steps;
	size_t *sources; /* of former, for each step */
	int64_t *times;  /* of each of former: what a folder that stays shall have; 0: nothing */
	size_t count;
	struct undo_skipped *skipped;
	size_t skipped_count;
	struct first found;          /* what the comparison found (undo_unseen.h) */
	struct undo_skipped *unseen; /* what was changed and not seen, and what becomes of it */
	size_t unseen_count;
	struct land_step *opening; /* folders that have to be opened before all else */
	size_t opening_count;
};

#define UNDO_DIRECT_INIT ((struct undo_direct){.first = FIRST_INIT, .found = FIRST_INIT})

/* `opened` must outlive it; NULL: none were. */
int undo_direct_read(const struct review *r, const struct layers_session *s,
		     const struct undo_opened *opened, struct undo_direct *ret, struct error *e);
int undo_direct_content(const struct undo_direct *u, size_t i);
/* As land_how.folder_time: what a folder had, when it is as the session left it; of one that the
 * session did not change, what it has. */
int64_t undo_direct_folder_time(const struct undo_direct *u, const char *path, int64_t now);
/* The workspace's folder gets its mode back, before all else: it may be closed for writing.  And its
 * time, when all is done.  0 or -errno. */
int undo_direct_top_mode(const struct undo_direct *u);
int undo_direct_top_time(const struct undo_direct *u);
void undo_direct_fini(struct undo_direct *u);

/* What stands at a path of the tree, hashed; ABSENT where nothing does. */
int undo_look(int tree, const char *path, struct object *ret);

/* What was not hashed while a call waited for it is hashed now, from what was kept. */
void undo_hash(const struct first *first, struct first_entry *f);

/* Of a folder without a first version: it came into the layer as it was when something in it
 * changed.  Had the session changed its mode, that would be known; another mode is the user's own
 * doing, since. */
bool undo_is_only_folder(const struct first *first, const struct object *before,
			 const struct object *after);

/* What the recorder kept, as an object; false when it does not say enough to compare with.  `now`
 * is what stands there. */
bool undo_object_of(const struct first_entry *f, const struct object *now, struct object *ret);

#endif
