/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was changed while a direct session ran, and not as the recorder saw it: by the session in a
 * way that was not seen, or by somebody else.  Nobody can tell which, so undo says of each what
 * becomes of it.  It is known in two ways:
 *
 *	the comparison at the end of the session found it (`unseen`, first.h)
 *	what was kept of a file is younger than the session: when the recorder first saw it
 *	change, it had been changed already.  This is known of a session that was killed, too
 */
#ifndef BAWN_UNDO_UNSEEN_H
#define BAWN_UNDO_UNSEEN_H

#include "undo_direct.h"

/* Into u->unseen, by path, when steps and skipped are known; what is skipped is named there.  0 or
 * -errno. */
int undo_unseen_read(struct undo_direct *u, const struct layers_session *s);

#endif
