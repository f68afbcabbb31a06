/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a session left only files for which nobody waits. */
#ifndef BAWN_LEFTOVER_H
#define BAWN_LEFTOVER_H

#include "layers.h"

/*
 * Nothing but compiled Python whose source is there (compiled.h), git's index with other times and
 * nothing else, what a git gc that was ended left, and folders that are new for these.  Looks at a few files at most: a session with
 * more has something.  What cannot be looked at is something, too.
 */
bool leftover_is_all(const struct layers *l, const struct layers_session *s);

#endif
