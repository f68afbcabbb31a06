/* SPDX-License-Identifier: Apache-2.0 */
/* Removes single changes from a session that has ended. */
#ifndef BAWN_FORGET_H
#define BAWN_FORGET_H

#include "changes.h"

/*
 * Makes the view's path again what the base has there: removes what its last layer has.  If that is
 * not enough (a layer beneath has it too, or a directory above hides the base), it puts the base's
 * own there, a directory without its content, or a whiteout.  The caller holds the session.
 * -ENOTDIR: the path is in something that is not a directory of the view; then nothing was done.
 */
int forget_change(const struct view *v, const struct change *c);

/* Which other paths come back. */
struct forget_back {
	bool (*is_meant)(void *context, const char *path);
	void *context;
};

/* Makes the directories above a path again that are gone from the view, with the paths that come
 * back.  What else they had stays gone. */
int forget_above(const struct view *v, const char *path, const struct forget_back *back);

#endif
