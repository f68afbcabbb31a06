/* SPDX-License-Identifier: Apache-2.0 */
/* What choice_git.c, choice_refs.c, choice_linked.c and choice_together.c share.  Nobody else includes this. */
#ifndef BAWN_CHOICE_GIT_H
#define BAWN_CHOICE_GIT_H

#include "choice.h"
#include "git_refs.h"
#include "str.h"

/* Most refs that land beside in one apply; others wait for the next. */
enum { GIT_BESIDE_MAX = 4096 };

/* A change of one of git's own files. */
struct git_item {
	struct choice *x;
	const char *rest; /* its path within its repository */
	size_t len;       /* length of the repository's path, with its last slash */
};

/* Whether we know what the session found. */
enum git_known {
	GIT_KNOWN_NOT,
	GIT_KNOWN_AS_NOW, /* what the user has is still as it was then */
	GIT_KNOWN,
};

enum { GIT_THEN_BASIS = -1, GIT_THEN_NONE = -2 };

/* A worktree of the user, and the branch that is checked out there. */
struct git_worktree {
	const char *name, *branch;
	const struct git_worktree *next;
};

struct git_repository {
	struct choices *c;
	const struct git_item *items;
	size_t count;
	struct view base;             /* the workspace without the session */
	char path[PATH_MAX];          /* the repository, with a slash at the end */
	char common[PATH_MAX];        /* the same for the one that worktrees share */
	bool has_refs;                /* the next two are open: git_open_refs */
	struct git_refs mine, theirs; /* the user's, and the session's */
	struct git_refs then;         /* a packed-refs that the session found: choice_refs.c */
	enum git_known then_known;
	ssize_t then_at; /* which one: an entry of first.h, GIT_THEN_BASIS or GIT_THEN_NONE */
	/* The only ref that lands, for a session with a branch of its own. */
	char branch[GIT_REF_NAME_MAX];
	char on_mine[GIT_REF_NAME_MAX];   /* the branch that is checked out; "": none */
	char on_theirs[GIT_REF_NAME_MAX]; /* the one that is checked out in the session */
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
/* The same in the repository that worktrees share: where branches and packed-refs are. */
struct choice *git_choice_shared(const struct git_repository *g, const char *rest);

/* Keeps what the user has; `why` in words. */
void git_keep(struct choice *x, const char *why);

/* Keeps the session's value with the session, pending. */
int git_leave_rest(const struct git_repository *g, struct choice *x, const char *ref);

/* Judges all that is in conflict.  `stuck`: why the user's checkout stays as it is, whatever is in
 * conflict; NULL: we find out.  `busy`: what the user is in the middle of. */
int git_judge(struct git_repository *g, const char *stuck, const char *busy);

/* Keeps the user's ref; if the session has another commit, that gets a name of its own. */
int git_put_beside(struct git_repository *g, struct choice *x, const char *ref);

/* The session's packed-refs does not land: lands what is new in it, as loose refs. */
int git_unpack(struct git_repository *g, struct choice *x);

/* Calls each of the judges for each repository, with all that the session changed in it. */
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
/* Worktrees have the refs of one repository, which may be many: the next one goes on with those that
 * are open. */
void git_take_refs(struct git_repository *from, struct git_repository *to);

/*
 * git_value reads what a ref is on one side; git_found what it was when the session first changed
 * it.  *ret is GIT_REF_NONE if it is not there, or git does not understand it.  Its value counts,
 * whether it is in a file of its own or in packed-refs.  git_found returns GIT_KNOWN or
 * GIT_KNOWN_NOT, or -errno.
 */
void git_value(const struct git_repository *g, const struct git_refs *side, const char *ref,
	       struct git_ref_value *ret);
int git_found(struct git_repository *g, const char *ref, struct git_ref_value *ret);

/* The user moved the branch that is checked out, since the session began or since the session first
 * changed it.  The refs must be open.  1, 0 or -errno. */
int git_user_left(struct git_repository *g);

/* The branch of HEAD in this folder, whose refs are in `common`; "": HEAD is on none.  Where that is
 * an alias (git symbolic-ref), the branch that it leads to: commits move that one. */
void git_read_head(const struct view *v, const char *folder, const char *common,
		   char ret[GIT_REF_NAME_MAX]);
enum { GIT_ALIASES_MAX = 5 };

/* The ref will be there after the landing: the user's, which stays, or the session's.  The refs
 * must be open. */
bool git_will_be(const struct git_repository *g, const char *ref);

/* The value that it will have. */
void git_will_value(const struct git_repository *g, const char *ref, struct git_ref_value *ret);

/* What is at the name where a ref of the session would land. */
enum git_room {
	GIT_ROOM_FREE,
	GIT_ROOM_HAS,   /* a ref, with this object */
	GIT_ROOM_TAKEN, /* something that must stay, or that git could not have beside it */
};

enum git_room git_room(const struct git_repository *g, const char *ref, struct git_name *ret);

/* Whether there is a name for the session's value of a ref. */
enum git_found {
	GIT_FOUND,
	GIT_FOUND_THERE, /* it has a name already */
	GIT_FOUND_NONE,
};

/* `was`: what the session started from; it may be replaced.  None: nothing may be. */
enum git_found git_find_beside(const struct git_repository *g, const char *ref,
			       const struct git_name *was, const struct git_name *value,
			       char name[PATH_MAX]);

/* Adds a ref that lands by this name while the choice is KEPT. */
int git_add_beside(struct git_repository *g, const struct choice *of, const char *ref,
		   const struct git_name *value, bool named, bool merges);

#endif
