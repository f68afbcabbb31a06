/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a direct session changed, which has landed: from the first versions that the recorder kept,
 * and from the tree as it is now.  In new or moved folders we look at what is there, so it does not
 * matter which names it had meanwhile.
 */
#ifndef BAWN_DIRECT_CHANGES_H
#define BAWN_DIRECT_CHANGES_H

#include "review.h"

/*
 * The view is only the tree.  `before` of a change says only whether something was there: the
 * content is in the first versions.  So rules that compare with the content before take it for new.
 */
int direct_changes_read(const struct review *r, struct view *ret_view, struct changes *ret,
			struct error *e);

/* How `bawn diff` shows a direct session: a line for each change. */
enum direct_show {
	DIRECT_SHOW_HELD = 1 << 0, /* only those that would run later */
	DIRECT_SHOW_JSON = 1 << 1,
	/* Shows how many there are.  What is held then goes to standard error: the end of a session
	 * asks for both at once. */
	DIRECT_SHOW_COUNT = 1 << 2,
};
int direct_changes_show(const struct review *r, unsigned int how, struct error *e);

#endif
