/* SPDX-License-Identifier: Apache-2.0 */
/* What hold_commits.c knows of repositories.  Only the files of hold include this. */
#ifndef BAWN_HOLD_COMMITS_H
#define BAWN_HOLD_COMMITS_H

#include "git_refs.h"
#include "git_walk.h"
#include "hold_parts.h"

enum { HOLD_WORDS_TOLD = 3, HOLD_WORDS_LIST = HOLD_WORDS_TOLD * (HOLD_WORD_MAX + 2) + 1 };

/* The first few of a list of paths. */
struct hold_noted; /* a path that was noted, so that it is named once only: hold_commits.c */

struct hold_words {
	char list[HOLD_WORDS_LIST];
	size_t at, count;
	struct hold_noted **noted; /* by their sums; NULL: not asked for, or none was noted */
};

void hold_words_note(struct hold_words *w, const char *path);

/* What a ref brings, or what an index has. */
struct hold_news {
	struct brought *items; /* what is held of it; in the arena of the changes */
	size_t count;
	struct hold_words flagged, hidden;
	struct hold_words gone; /* files that it no longer has, and that stay in the tree */
	bool last;              /* we look at what git would take: the tip, or the index */
	struct git_name told;   /* for an index: the branch's tree, to compare with */
	struct git_name commit; /* the commit that we look at; at the end the tip */
	bool is_tree;           /* it is not a commit, but a tree that a ref names */
	bool checked_out;       /* its files are the files of the tree */
	bool cut;
	const char *bad; /* why it cannot be read, or is held without a look at its files */
	bool takes_back; /* the user's commits would come off: hold_taken.c */
};

struct hold_ref {
	struct hold_ref *next;
	struct hold_ref *same; /* the next ref in the same bucket */
	const char *name, *own;
	struct hold_news news;
};

/* A new pack, and the verdict about it. */
struct hold_pack {
	struct hold_pack *next;
	const char *stem;
	int verdict;
};

enum {
	HOLD_REF_FEW = 64,
	HOLD_REF_PLACES = 1 << 13,
	HOLD_REF_MAX = 1 << 14, /* most new or moved refs of a repository; others are held */
};

struct hold_repo {
	struct hold_repo *next;
	uint8_t len;  /* length of the names of objects */
	bool partial; /* the user's settings let git fetch missing objects */
	struct hold_pack *packs;
	const char *bad_pack; /* the index of a bad pack; valid once `packs_asked` is set */
	bool packs_asked;
	const char *gitdir, *prefix;
	struct git_refs before, after;
	struct git_walk walk;
	struct hold_ref *refs;
	struct hold_ref **by_name; /* HOLD_REF_PLACES buckets if there are many; else NULL */
	size_t ref_count;
	struct hold_ref *many; /* one ref that stands for all beyond HOLD_REF_MAX */
	bool refs_asked;       /* all moved refs were judged */
	bool refs_held;        /* one of the refs is held */
	int trouble;           /* -errno of reading its objects, or 0 */
	bool busy;             /* it is being looked at because of a submodule */
	bool knows;            /* the walk has marks on what the user had */
	/* hold_refs.c: what the refs reach after the landing.  Valid once `asked` is set. */
	struct hold_reach {
		struct git_walk walk;
		bool asked;
	} reach, reach_unstashed; /* the second one does not count refs/stash */
};

/* Finds the repository's folder that a path is in, and the rest of the path.  False: no folder on
 * the path that was looked at is one. */
bool hold_gitdir_of(const struct hold_judge *j, const char *path, char into[PATH_MAX],
		    const char **ret_rest);
struct hold_repo *hold_repo_of(struct hold_judge *j, const char *gitdir);

/* Reads a file from a repository's objects, by its object name.  -EBADMSG: the object has another
 * name or type. */
int hold_read_blob(struct hold_repo *repo, const struct git_name *name, size_t max,
		   struct buf *into);

/* Where the user's folder has all of it, it brings nothing that is held. */
void hold_news_settle(struct hold_news *n);

/* Judges a file that a commit or an index has. */
int hold_judge_brought(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		       const struct git_difference *d);

/* Notes an entry that is gone while its file may stay.  Nothing is held because of it. */
int hold_note_gone(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		   const struct git_difference *d);

/* Writes the verdict on `n`: `who` brings what is held in it, or it may land. */
int hold_say_news(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		  const char *who);

/* Flags it when it has files that the user cannot see in the tree. */
int hold_say_hidden(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		    const char *who);

/* Adds what a ref brings that was at `old` (length 0: the ref is new) and is at `new`.  n->bad says
 * why it cannot be read. */
int hold_judge_commit(struct hold_judge *j, struct hold_repo *repo, const struct git_name *old,
		      const struct git_name *new, struct hold_news *n);
int hold_say_commit(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v);

/* If HEAD's branch is held and brings all of `news` (NULL: nothing), this change lands with that
 * branch: v->with names it. */
int hold_follow_head(struct hold_judge *j, const char *gitdir, const struct hold_news *news,
		     struct hold_verdict *v);

/* The change without which this one must not land: packed-refs, for a ref that lost its file; a new
 * ref, for the HEAD that names it.  NULL: there is none. */
const char *hold_needs(struct hold_judge *j, const struct change *c);

/* --- hold_module.c --- */

/* Judges the commit that is named for a submodule at `path` of the workspace: adds what it brings,
 * if a repository in the workspace has it. */
int hold_judge_module(struct hold_judge *j, struct hold_repo *repo, const char *path,
		      const struct git_difference *d, struct hold_news *n);

/* --- hold_known.c --- */

/*
 * The change by which git is in the middle of a merge or rebase that the session began.  The index
 * and HEAD wait with it.  `name` points into `path`, to the name in the repository.  NULL: there is
 * none.
 */
const char *hold_middle(const struct hold_judge *j, const char *path, const char *name);

/* --- hold_log.c --- */

/* Judges the log of a ref: what its new lines name. */
int hold_by_log(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		const char *ref, struct hold_verdict *v);

/* --- hold_taken.c --- */

/* Sets n->bad when `tip` takes back what the user committed to the branch since the session began.
 * `user` is where the user has the branch. */
int hold_judge_taken(struct hold_judge *j, struct hold_repo *repo, const char *name,
		     const struct git_name *user, const struct git_name *tip, struct hold_news *n);

/* --- hold_commits.c, of refs --- */

/* *ret: the move of this ref is held, with what it brings. */
int hold_ref_is_held(struct hold_judge *j, struct hold_repo *repo, const char *own,
		     const char *name, bool *ret);

/*
 * hold_ask_refs judges every ref that moved.  After it hold_brought_by finds the change of a held
 * ref that brings all that this commit brings.  *ret is NULL when the commit brings nothing that is
 * held, or no such ref is there.
 */
int hold_ask_refs(struct hold_judge *j, struct hold_repo *repo);
int hold_brought_by(struct hold_judge *j, struct hold_repo *repo, const struct git_name *commit,
		    const struct change **ret);

/* --- hold_refs.c --- */

/*
 * Judges a ref that went, or moved and has no log: it is held when nothing would reach some commits
 * any more.  hold_lost_by is for the file of a ref or of its log, at `path`.  v->with: the change
 * that it lands with.
 */
int hold_lost_by(struct hold_judge *j, struct hold_repo *repo, const char *path, const char *name,
		 struct hold_verdict *v);
int hold_lost_packed(struct hold_judge *j, struct hold_repo *repo, struct hold_verdict *v);
int hold_lost_ref(struct hold_judge *j, struct hold_repo *repo, const char *name,
		  struct hold_verdict *v);

/* *ret: why a ref is held that is now a symbolic ref; NULL: it is none, or it may land. */
int hold_alias(struct hold_judge *j, const struct hold_repo *repo, const char *own,
	       const char *name, const char **ret);

/* A log that has a line about a held commit lands with the ref that brings the commit. */
int hold_follow_lines(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		      struct hold_verdict *v);

/* --- hold_objects.c --- */

/* The index of a new pack that is held; NULL: there is none.  Refs do not land without the pack. */
const char *hold_bad_pack(struct hold_judge *j, struct hold_repo *repo);

#endif
