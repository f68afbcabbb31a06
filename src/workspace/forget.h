/* SPDX-License-Identifier: Apache-2.0 */
/* Taking single changes out of a session that has ended. */
#ifndef BAWN_FORGET_H
#define BAWN_FORGET_H

#include "changes.h"

/*
 * The view's path is what the base has there again: what its last layer has is removed, and where
 * that is not enough (a layer beneath has it too, or a directory above hides the base) the base's
 * own is put there, a directory without what is in it, or a whiteout.  The caller holds the session.
 * -ENOTDIR: what it is in is no directory of the view; then nothing was done.
 */
int forget_change(const struct view *v, const struct change *c);

/* What else comes back. */
struct forget_back {
	bool (*is_meant)(void *context, const char *path);
	void *context;
};

/* Directories above a path that are gone from the view are there again, with what is meant to come
 * back; the rest of what they had stays gone. */
int forget_above(const struct view *v, const char *path, const struct forget_back *back);

#endif
