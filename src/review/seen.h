/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person has seen of a session.  `bawn diff` writes down the digests of what it showed.
 * `bawn apply` says what has changed since: nobody reads one version and applies another without
 * notice.  With --seen only what is as it was seen lands, and nothing if nothing was written down.
 * What was shown after the end of a session cannot change: apply says nothing about that, and
 * --seen asks only whether it was shown.
 */
#ifndef BAWN_SEEN_H
#define BAWN_SEEN_H

#include "choice.h"

/* Writes down what was shown; `shown` says which changes.  If it cannot be written, that is an
 * error while the session runs. */
int seen_keep(const struct review *r, const struct view *v, const struct changes *c,
	      bool (*shown)(const void *context, size_t i), const void *context, struct error *e);

/* Reads what was shown of the session so far. */
int seen_read(const struct choices *c, struct basis *ret, struct error *e);

/* The change was seen, as it is now. */
bool seen_has(const struct basis *seen, const struct change *c);

/* Says on stderr which landing changes are not as they were seen.  With `leave` these do not land,
 * and it is an error if nothing was seen. */
int seen_check(struct choices *c, bool leave, struct error *e);

#endif
