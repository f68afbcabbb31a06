/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BAWN_SETTLED_H
#define BAWN_SETTLED_H

#include "branch_stray.h"
#include "first.h"
#include "review.h"

/*
 * Removes from the list what the session did not do: what landed before and only the user has
 * changed since, and what the session left as it found it (choice.h: SETTLED).  *ret_strays: its
 * commits that are on no branch.
 */
int settled_drop(const struct review *r, const struct layers_session *s, const struct view *v,
		 struct changes *c, struct branch_strays *ret_strays, struct error *e);

/*
 * What was at a path when the session first changed it, by an entry that may have only size and
 * times.  `now` is what is there: another file that was renamed to the name has the time of change
 * of the one that it replaced, but not its inode.  False: we do not know.
 */
bool settled_object_of(const struct first_entry *entry, const struct object *now,
		       struct object *ret);

/*
 * Marks an object of git that had landed, or that the session found, and that the user's `git gc`
 * removed since; `origin` is what the session started from.  The session did not do this, but it
 * may build on the object: the object lands again if something else of git does.  True: it is such
 * an object.
 */
bool settled_mark_pruned(struct change *c, const struct object *origin);
/* It is one of git's own files, changed by the session, and not pruned. */
bool settled_builds(const struct change *c);

#endif
