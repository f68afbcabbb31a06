/* SPDX-License-Identifier: Apache-2.0 */
/* Taking single changes out of a session that has ended. */
#ifndef BAWN_FORGET_H
#define BAWN_FORGET_H

#include "changes.h"

/*
 * The view's path is what the base has there again: what its last layer has is removed, and where
 * that is not enough (a layer beneath has it too, or a directory above hides the base) the base's
 * own is put there, or a whiteout.  The caller holds the session.  -ENOTDIR: a directory above it
 * is gone from the view, -EISDIR: it is a directory that only a whole layer could bring back; then
 * nothing was done.
 */
int forget_change(const struct view *v, const struct change *c);

#endif
