/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Undoing what a direct session did: from the first versions that the recorder kept (first.h) we
 * compute the tree as it was (undo_former.h), and the steps that bring it back.  What is not as the
 * session left it belongs to the user: we skip it and name it; so we do with what was not kept.  A
 * renamed folder goes back with its content, except for what belongs to the user, which stays.
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

/* The workspace's own folder.  No step is about it. */
struct undo_top {
	/* It has what the session left, not what it had before; mode: or access list, or
	 * attributes. */
	bool has_mode, has_time;
	uint32_t mode;              /* the mode that it had */
	int64_t time, left;         /* the time that it had; the one that the session left */
	const struct land_has *has; /* what it had; NULL: not known */
};

/* Folders that undo itself opened.  They were as the session left them, so they count as that
 * still. */
struct undo_opened {
	const char **items;
	size_t count;
};

struct undo_direct {
	struct arena arena;
	const struct undo_opened *opened;
	struct first first;
	struct former_list former;
	int tree; /* the review's descriptor */
	struct undo_top top;
	struct land_step *steps;
	size_t *sources; /* for each step: which of former */
	int64_t *times;  /* for each of former: the time for a folder that stays; 0: none */
	size_t count;
	struct undo_skipped *skipped;
	size_t skipped_count;
	struct first found;          /* what the comparison found (undo_unseen.h) */
	struct undo_skipped *unseen; /* what changed unseen, and what becomes of it */
	size_t unseen_count;
	struct land_step *opening; /* folders that we must open before all else */
	size_t opening_count;
};

#define UNDO_DIRECT_INIT ((struct undo_direct){.first = FIRST_INIT, .found = FIRST_INIT})

/* `opened` must live longer; NULL: none were opened. */
int undo_direct_read(const struct review *r, const struct layers_session *s,
		     const struct undo_opened *opened, struct undo_direct *ret, struct error *e);
int undo_direct_content(const struct undo_direct *u, size_t i);
/* For land_how.folder_time: the time that a folder had, if it is as the session left it; if the
 * session did not change it, the time that it has. */
int64_t undo_direct_folder_time(const struct undo_direct *u, const char *path, int64_t now);
/* undo_direct_top_mode gives the workspace's folder its mode back, before all else: it may be
 * closed for writing.  undo_direct_top_time gives it its time, when all is done.  0 or -errno. */
int undo_direct_top_mode(const struct undo_direct *u);
int undo_direct_top_time(const struct undo_direct *u);
void undo_direct_fini(struct undo_direct *u);

/* Looks at a path of the tree, hashed; ABSENT if nothing is there. */
int undo_look(int tree, const char *path, struct object *ret);

/* Hashes from the kept content what the recorder did not hash while a call waited. */
void undo_hash(const struct first *first, struct first_entry *f);

/*
 * For a folder without a first version: it came into the layer as it was, because something in it
 * changed.  If the session had changed its mode, we would know it; another mode is the user's
 * change since.
 */
bool undo_is_only_folder(const struct first *first, const struct object *before,
			 const struct object *after);

/* What the recorder kept, as an object; false: it does not say enough to compare.  `now` is what is
 * there. */
bool undo_object_of(const struct first_entry *f, const struct object *now, struct object *ret);

#endif
