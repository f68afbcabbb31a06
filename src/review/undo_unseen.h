/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed while a direct session ran, and the recorder did not see: the session changed it in
 * a way that was not seen, or somebody else did.  Nobody can know which, so undo says of each what
 * becomes of it.  We know it in two ways:
 *
 *	the comparison at the end of the session found it (`unseen`, first.h)
 *	what was kept of a file is younger than the session: when the recorder first saw it
 *	change, it had been changed already.  This is known of a session that was killed, too
 */
#ifndef BAWN_UNDO_UNSEEN_H
#define BAWN_UNDO_UNSEEN_H

#include "undo_direct.h"

/* Fills u->unseen, sorted by path, when steps and skipped are known; what is skipped is named
 * there.  0 or -errno. */
int undo_unseen_read(struct undo_direct *u, const struct layers_session *s);

#endif
