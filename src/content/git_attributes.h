/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers that a .gitattributes names: filter=X, diff=X, merge=X, wherever on a line they
 * stand.  Which files they are for does not matter here, so neither patterns nor macros are
 * understood: words are separated by space and by the quote that may end a pattern.  That finds
 * all that git would, and now and then one more.
 */
#ifndef BAWN_GIT_ATTRIBUTES_H
#define BAWN_GIT_ATTRIBUTES_H

#include "span.h"

enum git_driver { GIT_DRIVER_FILTER, GIT_DRIVER_DIFF, GIT_DRIVER_MERGE, GIT_DRIVER_COUNT };

extern const char *const git_driver_words[GIT_DRIVER_COUNT]; /* sections of git's settings */

/* All zeros but `left`, which is the text. */
struct git_attributes {
	struct span left;
	/* What was found last. */
	enum git_driver driver;
	struct span name; /* not empty */
};

/* Whether there is one more. */
bool git_attributes_next(struct git_attributes *g);

/* git has it without any setting. */
bool git_attributes_is_builtin(enum git_driver driver, struct span name);

#endif
