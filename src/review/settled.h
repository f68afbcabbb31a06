/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BAWN_SETTLED_H
#define BAWN_SETTLED_H

#include "review.h"

/* Takes out of the list what is not the session's doing: what landed before and only the user has
 * changed since, and what the session left as it found it (choice.h: SETTLED). */
int settled_drop(const struct review *r, const struct layers_session *s, const struct view *v,
		 struct changes *c, struct error *e);

#endif
