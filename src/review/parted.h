/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder in the workspace with a .git or a .bawn.yaml is a workspace by itself.  Where a session
 * takes that away the folder stays one: bawn remembers it (src/host/folder_notes.h), so that the
 * next session there does not have the repository around.
 */
#ifndef BAWN_PARTED_H
#define BAWN_PARTED_H

#include "review.h"

/* Something that stood at a path below the workspace is gone.  What cannot be written down is no
 * reason to say that nothing landed: it is said. */
void parted_note(const struct review *r, const char *path);

#endif
