/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refs of a repository as a view has them: files below refs/, and packed-refs for those that
 * have no file.  We read a ref as git does.
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
	char gitdir[PATH_MAX]; /* the folder that all worktrees share */
	struct git_ref *packed;
	size_t packed_count;
	const char *bad; /* why a line of packed-refs is not a ref; NULL: all are */
};

#define GIT_REFS_INIT ((struct git_refs){.packed_count = 0})

/* The view must live as long.  Without a packed-refs there are no packed refs; 0 or -errno. */
int git_refs_open(const struct view *v, const char *gitdir, struct git_refs *ret);
void git_refs_close(struct git_refs *r);

/* Reads only the lines of a packed-refs, without a repository. */
int git_refs_parse(struct span text, struct git_refs *ret);

const struct git_ref *git_refs_packed(const struct git_refs *r, const char *name);

/*
 * Of the packed refs, the first that is not before name/.  And whether a ref is beneath that name.
 */
size_t git_refs_below(const struct git_refs *r, const char *name);
bool git_refs_is_below(const char *ref, const char *name);
/* The ref is before name/, in the order of their bytes. */
bool git_refs_is_before(const char *ref, const char *name);
/* A packed ref is beneath name/. */
bool git_refs_has_below(const struct git_refs *r, const char *name);

/* Reads the file of a ref.  0: an object; 1: a symbolic ref, to `symbolic`; -ENOENT; -EBADMSG:
 * neither. */
int git_ref_parse(struct span text, struct git_name *ret, char symbolic[GIT_REF_NAME_MAX]);

/* The object of a ref; of a symbolic ref, that of its target.  `own` is the folder where a worktree
 * has its HEAD ("": the repository's). */
int git_refs_value(const struct git_refs *r, const char *own, const char *name,
		   struct git_name *ret);

/* The value of a ref: an object, or the name of another ref.  A symbolic ref equals only a symbolic
 * ref to the same name: git writes through it to the other ref. */
struct git_ref_value {
	struct git_name object;          /* of a symbolic ref, that of its target; len 0: none */
	char symbolic[GIT_REF_NAME_MAX]; /* "": it is no symbolic ref */
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

/* The same as git_refs_value, and whether it is symbolic.  If there is none, or git does not
 * understand it, *ret is GIT_REF_NONE and the answer is -errno. */
int git_refs_look(const struct git_refs *r, const char *own, const char *name,
		  struct git_ref_value *ret);

/* Calls `found` for every ref once, by its name; refs/replace is left out. */
int git_refs_each(const struct git_refs *r,
		  int (*found)(void *context, const char *name, const struct git_ref_value *value),
		  void *context);

#endif
