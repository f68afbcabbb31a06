/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a direct session changed, which has landed: from the first versions that the recorder kept,
 * and from the tree as it is now.  What stands in folders that are new, or were moved, is found by
 * looking there, so nothing depends on what it was called on its way.
 */
#ifndef BAWN_DIRECT_CHANGES_H
#define BAWN_DIRECT_CHANGES_H

#include "review.h"

/*
 * The view is the tree alone.  Of a change `before` says only whether something stood there: the
 * content is in the first versions.  So what holds compare with before, they take for new.
 */
int direct_changes_read(const struct review *r, struct view *ret_view, struct changes *ret,
			struct error *e);

/* `bawn diff` of a direct session: a line for each. */
enum direct_show {
	DIRECT_SHOW_HELD = 1 << 0, /* those alone that would run later */
	DIRECT_SHOW_JSON = 1 << 1,
	/* How many they are.  What is held goes to standard error then: the end of a session asks for
	 * both at once. */
	DIRECT_SHOW_COUNT = 1 << 2,
};
int direct_changes_show(const struct review *r, unsigned int how, struct error *e);

#endif
