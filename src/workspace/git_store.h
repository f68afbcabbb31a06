/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a repository, read out of a view: loose ones, packs, and the stores that the
 * user's own alternates name.  git is not run.  An agent may have written the files, so we believe
 * nothing: an object counts only if its content has the sum in its name, in every place where the
 * store has it, because git may read any of these.
 *
 * There are limits for size, for the length of a chain of deltas, and for time.
 */
#ifndef BAWN_GIT_STORE_H
#define BAWN_GIT_STORE_H

#include "changes.h"
#include "git_object.h"

enum {
	GIT_STORE_OBJECT_MAX = 64 << 20, /* bytes of an object, or of the base of a delta */
	GIT_STORE_PACKS_MAX = 256,
	GIT_STORE_CHAIN_MAX = 4096,
};

struct git_store;

/*
 * `objects` is the folder of that name.  `before` is the view without the session's changes: we
 * follow its alternates, and it has what the session removed.  Both views must live as long.  After
 * the deadline (of the monotonic clock, in ms) every answer is -ETIME.
 */
int git_store_open(const struct view *v, const struct view *before, const char *objects,
		   int64_t deadline, struct git_store **ret);
void git_store_close(struct git_store **s);
#define _cleanup_git_store_ _cleanup_(git_store_close)

bool git_store_is_late(const struct git_store *s);

/* 0: it is there, whatever its content; -ENOENT: it is not. */
int git_store_has(struct git_store *s, const struct git_name *name);

/* 0; -ENOENT: there is none; -EBADMSG: it is not an object, or not what its name says; -E2BIG:
 * larger than `max`; -ETIME: it took too long; or another -errno. */
int git_store_read(struct git_store *s, const struct git_name *name, size_t max,
		   enum git_kind *ret_kind, struct buf *into);

/*
 * The same for one place: every object of the pack of this name (without its ending), and one loose
 * object.  git does not check sums when it reads, so a pack, or a loose object, can put other bytes
 * in the place of the user's.
 */
int git_store_verify_pack(struct git_store *s, const char *name, uint8_t len);
int git_store_verify_loose(struct git_store *s, const struct git_name *name);

/* Why an object could not be read, in words. */
const char *git_store_words(int code);

#endif
