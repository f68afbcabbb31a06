/* SPDX-License-Identifier: Apache-2.0 */
/* What choice_git.c and choice_refs.c share with each other and with nobody else. */
#ifndef BAWN_CHOICE_GIT_H
#define BAWN_CHOICE_GIT_H

#include "choice.h"
#include "git_refs.h"
#include "str.h"

/* So many refs land beside in one apply; what is more waits for the next. */
enum { GIT_BESIDE_MAX = 4096 };

/* A change of git's own. */
struct git_item {
	struct choice *x;
	const char *rest; /* what it is within its repository */
	size_t len;       /* of the repository's path, with the slash at its end */
};

/* Whether it is known what the session found. */
enum git_known {
	GIT_KNOWN_NOT,
	GIT_KNOWN_AS_NOW, /* what the user has is as it was then */
	GIT_KNOWN,
};

enum { GIT_THEN_BASIS = -1, GIT_THEN_NONE = -2 };

/* A worktree of the user's, and the branch that it has checked out. */
struct git_worktree {
	const char *name, *branch;
	const struct git_worktree *next;
};

struct git_repository {
	struct choices *c;
	const struct git_item *items;
	size_t count;
	struct view base;             /* the workspace without the session */
	char path[PATH_MAX];          /* with the slash at its end */
	char common[PATH_MAX];        /* the same, of the one that worktrees share */
	bool has_refs;                /* these two are open: git_open_refs */
	struct git_refs mine, theirs; /* the user's, and the session's */
	struct git_refs then;         /* a packed-refs that the session found: choice_refs.c */
	enum git_known then_known;
	ssize_t then_at; /* which one: an entry of first.h, GIT_THEN_BASIS or GIT_THEN_NONE */
	char branch[GIT_REF_NAME_MAX];  /* the one ref that lands of a session with a branch of its
					   own */
	char on_mine[GIT_REF_NAME_MAX]; /* the branch that is checked out; "" of none */
	char on_theirs[GIT_REF_NAME_MAX]; /* in the session */
	bool has_worktrees;
	const struct git_worktree *worktrees;
	bool stuck;        /* the user's checkout stays as it is */
	const char *stays; /* words */
};

static inline bool git_is_in(const char *rest, const char *folder)
{
	const char *more = rest ? str_after(rest, folder) : NULL;

	return more && (*more == '/' || *more == '\0');
}

/* The choice about a path of the repository; NULL: the session did not change it. */
struct choice *git_choice(const struct git_repository *g, const char *rest);

/* What the user has stays; `why` in words. */
void git_keep(struct choice *x, const char *why);

/* The session's value stays with the session, and is pending. */
int git_leave_rest(const struct git_repository *g, struct choice *x, const char *ref);

/* Each repository with all that the session changed of it, judged in as many rounds. */
typedef int git_judging(struct git_repository *g);
int git_each_repository(struct choices *c, git_judging *const *judges, size_t many,
			struct error *e);

/* --- choice_linked.c --- */

/* `folder`, in which git keeps what it has of a worktree, is that of the linked worktree in which the
 * session worked (shared.h). */
bool git_is_own(const struct git_repository *g, const char *folder);
/* The worktree is not in the workspace, nor is it the session's own. */
bool git_is_elsewhere(const struct git_repository *g, const char *folder);
/* The path of a worktree's .git within the workspace; NULL: it is not there. */
const char *git_own_file(const struct git_repository *g, char path[2 * PATH_MAX]);
/* A session in a linked worktree does not see the files of the repository's own folder: what git keeps
 * of those stays. */
void git_keep_unshared(struct git_repository *g);

/* --- choice_refs.c --- */

int git_open_refs(struct git_repository *g);
void git_close_refs(struct git_repository *g);

/* What a ref is on a side, and what it was when the session first changed it: GIT_REF_NONE when it
 * is not there, or says nothing that git understands.  A ref is what it says, wherever that stands,
 * in a file of its own or in packed-refs.  git_found gives GIT_KNOWN or GIT_KNOWN_NOT, or -errno.
 */
void git_value(const struct git_repository *g, const struct git_refs *side, const char *ref,
	       struct git_ref_value *ret);
int git_found(struct git_repository *g, const char *ref, struct git_ref_value *ret);

/* The user moved the branch that is checked out since the session began, or since the session
 * changed it first.  The refs are open.  1, 0 or -errno. */
int git_user_left(struct git_repository *g);

/* The branch that HEAD in this folder is; "" when it is none. */
void git_read_head(const struct view *v, const char *folder, char ret[GIT_REF_NAME_MAX]);

/* A ref will be there when what lands by now has landed: the user's, which stays, or the session's.
 * The refs are open. */
bool git_will_be(const struct git_repository *g, const char *ref);

/* What stands where a ref of the session's would land. */
enum git_room {
	GIT_ROOM_FREE,
	GIT_ROOM_HAS,   /* a ref, of this object */
	GIT_ROOM_TAKEN, /* something that must stay, or that git could not have beside it */
};

enum git_room git_room(const struct git_repository *g, const char *ref, struct git_name *ret);

/* A name for the session's value of a ref. */
enum git_found {
	GIT_FOUND,
	GIT_FOUND_THERE, /* it has one already */
	GIT_FOUND_NONE,
};

/* `was`: what the session departed from, which may be replaced by it; none: nothing may. */
enum git_found git_find_beside(const struct git_repository *g, const char *ref,
			       const struct git_name *was, const struct git_name *value,
			       char name[PATH_MAX]);

/* It lands by this name while the choice is KEPT. */
int git_add_beside(struct git_repository *g, const struct choice *of, const char *ref,
		   const struct git_name *value, bool named, bool merges);

#endif
