/* SPDX-License-Identifier: Apache-2.0 */
/* The paths that a person named on the command line of a verb. */
#ifndef BAWN_PICKS_H
#define BAWN_PICKS_H

#include "pathspec.h"
#include "review.h"

struct picks {
	struct pathspec *specs;
	size_t count;
};

/* `words` are the verb's arguments, or some of them; what is made is the review's. */
int picks_read(struct review *r, char *const *words, size_t count, struct picks *ret,
	       struct error *e);

/* All is picked when nothing was named. */
bool picks_has(const struct picks *p, const char *path);

/* Whether a change is meant: by its path or by the one that it came from. */
bool picks_has_change(const struct picks *p, const struct change *c);

#endif
