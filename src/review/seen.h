/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person has seen of a session.  `bawn diff` writes down the digests of what it showed;
 * `bawn apply` says what is not so any more: whoever reads one thing does not apply another without
 * a word.  With --seen only what is as it was seen lands, and nothing where nothing was written
 * down.  What was shown after the end of a session cannot change: of that it says nothing, and
 * --seen asks only what was shown.
 */
#ifndef BAWN_SEEN_H
#define BAWN_SEEN_H

#include "choice.h"

/* These were shown; `shown` says which.  That it cannot be written down is an error while the
 * session runs. */
int seen_keep(const struct review *r, const struct view *v, const struct changes *c,
	      bool (*shown)(const void *context, size_t i), const void *context, struct error *e);

/* What was shown of the session so far. */
int seen_read(const struct choices *c, struct basis *ret, struct error *e);

/* The change is in it, as it is now. */
bool seen_has(const struct basis *seen, const struct change *c);

/* Says on stderr which changes that land are not as they were seen; with `leave`, they do not, and
 * it is an error where nothing was seen. */
int seen_check(struct choices *c, bool leave, struct error *e);

#endif
