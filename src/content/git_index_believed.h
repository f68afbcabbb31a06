/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an index says beside its entries, and git believes without a look: of which tree a folder is
 * (TREE, from which the next commit is made), where the entries stand (IEOT and EOIE, by which
 * several threads read them), and which versions a conflict had (REUC).
 */
#ifndef BAWN_GIT_INDEX_BELIEVED_H
#define BAWN_GIT_INDEX_BELIEVED_H

#include "git_index.h"
#include "git_object.h"

/* All of it is as the entries say, before the first of which it stands.  0; -EBADMSG: it is not,
 * and *ret_path, unless NULL, gets the folder of which it says another tree, "" for the top;
 * -EPROTO, -ENOMEM. */
int git_index_believed(struct git_index *x, struct buf *ret_path);

/* A version of a file that a conflict had: its path, its mode and its name. */
typedef int git_index_on_undo(void *context, const char *path, uint32_t mode,
			      const struct git_name *object);

/* Each of them.  0, -EPROTO, or what the callback says. */
int git_index_undo(const struct git_index *x, git_index_on_undo *on, void *context);

#endif
