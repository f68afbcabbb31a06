/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BAWN_SETTLED_H
#define BAWN_SETTLED_H

#include "branch_stray.h"
#include "first.h"
#include "review.h"

/* Takes out of the list what is not the session's doing: what landed before and only the user has
 * changed since, and what the session left as it found it (choice.h: SETTLED).  *ret_strays: its
 * commits that are on no branch. */
int settled_drop(const struct review *r, const struct layers_session *s, const struct view *v,
		 struct changes *c, struct branch_strays *ret_strays, struct error *e);

/*
 * What stood at a path when the session first changed it, by an entry of which only size and times
 * may be known.  `now` is what stands there: another file that was renamed to the name has the time
 * of change of the one that it replaced, but not its number.  False: that is not known.
 */
bool settled_object_of(const struct first_entry *entry, const struct object *now,
		       struct object *ret);

/*
 * Marks an object of git's that had landed, or that the session found, and that the user's `git gc`
 * took away since; `origin` is what the session departed from.  It is not the session's doing, but
 * the session may build on it: it lands again where something else of git's does.
 */
bool settled_mark_pruned(struct change *c, const struct object *origin);
/* Something of git's is the session's doing, beside what was pruned. */
bool settled_builds(const struct change *c);

#endif
