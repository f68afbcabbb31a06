/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refs of a repository as a view has them: files below refs/, and packed-refs for those that
 * have no file.  What a ref says is what git would take it for.
 */
#ifndef BAWN_GIT_REFS_H
#define BAWN_GIT_REFS_H

#include "changes.h"
#include "git_object.h"

#include <limits.h>
#include <stdio.h>

enum { GIT_REFS_MAX = 1 << 17, GIT_REF_NAME_MAX = 1024, GIT_REFS_BYTES_MAX = 32 << 20 };

/* dir/name; the top is "". */
static inline bool git_join(char into[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(into, PATH_MAX, "%s%s%s", dir, *dir ? "/" : "", name) < PATH_MAX;
}

struct git_ref {
	const char *name; /* "refs/heads/main" */
	struct git_name object;
};

struct git_refs {
	struct arena arena;
	const struct view *view;
	char gitdir[PATH_MAX]; /* the one that worktrees share */
	struct git_ref *packed;
	size_t packed_count;
	const char *bad; /* a line of packed-refs that is no ref, in words; NULL: all are */
};

#define GIT_REFS_INIT ((struct git_refs){.packed_count = 0})

/* The view lives as long.  Without a packed-refs there is none of it; 0 or -errno. */
int git_refs_open(const struct view *v, const char *gitdir, struct git_refs *ret);
void git_refs_close(struct git_refs *r);

/* The lines of a packed-refs alone, with no repository behind them. */
int git_refs_parse(struct span text, struct git_refs *ret);

const struct git_ref *git_refs_packed(const struct git_refs *r, const char *name);

/* Of those packed: the first that is not before name/.  And whether a ref lies beneath that name. */
size_t git_refs_below(const struct git_refs *r, const char *name);
bool git_refs_is_below(const char *ref, const char *name);
bool git_refs_is_before(const char *ref, const char *name); /* name/, in the order of their bytes */
bool git_refs_has_below(const struct git_refs *r, const char *name); /* of those packed, name/... */

/* What stands in the file of a ref.  0: an object; 1: it is another name for `symbolic`; -ENOENT;
 * -EBADMSG: neither. */
int git_ref_parse(struct span text, struct git_name *ret, char symbolic[GIT_REF_NAME_MAX]);

/* The object that a name stands for; of a name that stands for another that one's.  `own` is the
 * folder where a worktree has its HEAD ("" for others: the same). */
int git_refs_value(const struct git_refs *r, const char *own, const char *name,
		   struct git_name *ret);

/* What a ref is: an object, or another name for a ref.  Two are the same when both are: who writes
 * to another name writes to what it stands for. */
struct git_ref_value {
	struct git_name object; /* of another name that of what it stands for; len 0: none */
	char symbolic[GIT_REF_NAME_MAX]; /* "": it is an object */
};

#define GIT_REF_NONE ((struct git_ref_value){.object = {.len = 0}})

static inline bool git_ref_is_there(const struct git_ref_value *v)
{
	return v->object.len > 0 || v->symbolic[0];
}

static inline bool git_ref_same(const struct git_ref_value *a, const struct git_ref_value *b)
{
	return a->symbolic[0] || b->symbolic[0] ? strcmp(a->symbolic, b->symbolic) == 0
						: git_name_equal(&a->object, &b->object);
}

/* The same as git_refs_value, and whether it is another name.  GIT_REF_NONE where there is none, or
 * it says nothing that git understands; then it is -errno. */
int git_refs_look(const struct git_refs *r, const char *own, const char *name,
		  struct git_ref_value *ret);

/* Every ref once, by its name; refs/replace is left out. */
int git_refs_each(const struct git_refs *r,
		  int (*found)(void *context, const char *name, const struct git_ref_value *value),
		  void *context);

#endif
