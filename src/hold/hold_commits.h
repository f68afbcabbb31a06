/* SPDX-License-Identifier: Apache-2.0 */
/* What hold_commits.c knows of repositories, for the files of hold alone. */
#ifndef BAWN_HOLD_COMMITS_H
#define BAWN_HOLD_COMMITS_H

#include "git_refs.h"
#include "git_walk.h"
#include "hold_parts.h"

enum { HOLD_WORDS_TOLD = 3, HOLD_WORDS_LIST = HOLD_WORDS_TOLD * (HOLD_WORD_MAX + 2) + 1 };

/* The first few of some paths. */
struct hold_noted; /* a path that was noted, so that it is told once: hold_commits.c */

struct hold_words {
	char list[HOLD_WORDS_LIST];
	size_t at, count;
	struct hold_noted **noted; /* by their sums; NULL: nobody asks, or none was */
};

void hold_words_note(struct hold_words *w, const char *path);

/* What a ref brings, or an index has. */
struct hold_news {
	struct brought *items; /* held; in the arena of the changes */
	size_t count;
	struct hold_words flagged, hidden;
	struct hold_words gone; /* it is without these, and they stay in the tree */
	bool last;            /* what is looked at is what git would take: the tip, or the index */
	struct git_name told; /* of an index: the tree of the branch, by which it is told */
	struct git_name commit; /* that is looked at, and at its end the tip */
	bool is_tree;           /* it is none, but a tree that a ref names */
	bool checked_out;       /* its files are those of the tree */
	bool cut;
	const char *bad; /* why it cannot be looked into, or is held as it is */
	bool takes_back; /* hold_taken.c */
};

struct hold_ref {
	struct hold_ref *next;
	struct hold_ref *same; /* the next of those whose names fall together */
	const char *name, *own;
	struct hold_news news;
};

/* A pack that is new, and what came of looking at it. */
struct hold_pack {
	struct hold_pack *next;
	const char *stem;
	int verdict;
};

enum {
	HOLD_REF_FEW = 64,
	HOLD_REF_PLACES = 1 << 13,
	HOLD_REF_MAX = 1 << 14, /* that are new or moved; what is more is held */
};

struct hold_repo {
	struct hold_repo *next;
	uint8_t len;  /* of names */
	bool partial; /* the user has it so that git fetches what is missing */
	struct hold_pack *packs;
	const char *bad_pack; /* its index; once `packs_asked` is set */
	bool packs_asked;
	const char *gitdir, *prefix;
	struct git_refs before, after;
	struct git_walk walk;
	struct hold_ref *refs;
	struct hold_ref **by_name; /* once there are many: HOLD_REF_PLACES; else NULL */
	size_t ref_count;
	struct hold_ref *many; /* stands for all beyond HOLD_REF_MAX */
	bool refs_asked;       /* about all that moved */
	bool refs_held;        /* one of them is */
	int trouble;           /* of its objects */
	bool busy;             /* it is looked at because of a submodule */
	bool knows;            /* what the user had is marked in the walk */
	/* hold_refs.c: what the refs reach once the changes have landed, once it was asked. */
	struct hold_reach {
		struct git_walk walk;
		bool asked;
	} reach, reach_unstashed; /* the second without refs/stash */
};

/* The folder of a repository that a path is in, and the rest of the path; it was looked at. */
bool hold_gitdir_of(const struct hold_judge *j, const char *path, char into[PATH_MAX],
		    const char **ret_rest);
struct hold_repo *hold_repo_of(struct hold_judge *j, const char *gitdir);

/* A file that a repository has, by its name.  -EBADMSG: it is another object. */
int hold_read_blob(struct hold_repo *repo, const struct git_name *name, size_t max,
		   struct buf *into);

/* Where the user's folder has all of it, it brings nothing that is held. */
void hold_news_settle(struct hold_news *n);

/* Judges a file that a commit or an index has. */
int hold_judge_brought(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		       const struct git_difference *d);

/* An entry that is there no more, while its file may stay: that alone, and nothing is held by it. */
int hold_note_gone(struct hold_judge *j, struct hold_repo *repo, struct hold_news *n,
		   const struct git_difference *d);

/* `who` brings what is in it; else the verdict is that it may land. */
int hold_say_news(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		  const char *who);

/* It has files that are not to be seen in the tree: flagged. */
int hold_say_hidden(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v,
		    const char *who);

/* Adds what a ref brings that was `old` (of length 0: it is new); `bad` says why it cannot be
 * looked into. */
int hold_judge_commit(struct hold_judge *j, struct hold_repo *repo, const struct git_name *old,
		      const struct git_name *new, struct hold_news *n);
int hold_say_commit(struct hold_judge *j, const struct hold_news *n, struct hold_verdict *v);

/* It goes with the branch that HEAD names, if that is held and brings all of `news` (NULL:
 * nothing); v->with says so. */
int hold_follow_head(struct hold_judge *j, const char *gitdir, const struct hold_news *news,
		     struct hold_verdict *v);

/* The change without which this one must not land: packed-refs, for a ref that lost its file; a new
 * ref, for the HEAD that names it.  NULL: none. */
const char *hold_needs(struct hold_judge *j, const struct change *c);

/* --- hold_module.c --- */

/* The commit that is named for a submodule at `path` of the workspace, `below` its repository's top:
 * what it brings, where a repository here has it. */
int hold_judge_module(struct hold_judge *j, struct hold_repo *repo, const char *path,
		      const struct git_difference *d, struct hold_news *n);

/* --- hold_known.c --- */

/* The change that says that git is in the middle of something which the session began: the index
 * and HEAD, at `path`, of the name `name` in the repository, go with it.  NULL: it is not. */
const char *hold_middle(const struct hold_judge *j, const char *path, const char *name);

/* --- hold_log.c --- */

/* The log of a ref: what its new lines name. */
int hold_by_log(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		const char *ref, struct hold_verdict *v);

/* --- hold_taken.c --- */

/* A branch, which the user has at `user`: n->bad, when `tip` takes back what the user committed
 * there since the session began. */
int hold_judge_taken(struct hold_judge *j, struct hold_repo *repo, const char *name,
		     const struct git_name *user, const struct git_name *tip, struct hold_news *n);

/* --- hold_commits.c, of refs --- */

/* Whether the move of a ref is held with what it brings. */
int hold_ref_is_held(struct hold_judge *j, struct hold_repo *repo, const char *own,
		     const char *name, bool *ret);

/* Asks about every ref that moved; and then: the change by which a ref that is held brings all that
 * this commit does, NULL where it brings nothing that is held, or none does. */
int hold_ask_refs(struct hold_judge *j, struct hold_repo *repo);
int hold_brought_by(struct hold_judge *j, struct hold_repo *repo, const struct git_name *commit,
		    const struct change **ret);

/* --- hold_refs.c --- */

/* A ref that went, or moved and has no log: held when commits are left that nothing reaches.  `by`
 * is for the file of a ref or of its log, at `path`; v->with: what it goes with. */
int hold_lost_by(struct hold_judge *j, struct hold_repo *repo, const char *path, const char *name,
		 struct hold_verdict *v);
int hold_lost_packed(struct hold_judge *j, struct hold_repo *repo, struct hold_verdict *v);
int hold_lost_ref(struct hold_judge *j, struct hold_repo *repo, const char *name,
		  struct hold_verdict *v);

/* Why a ref is held that is another name now: *ret; NULL: it is none, or may be. */
int hold_alias(struct hold_judge *j, const struct hold_repo *repo, const char *own,
	       const char *name, const char **ret);

/* A log with a line of a commit that is held goes with the ref that brings it. */
int hold_follow_lines(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		      struct hold_verdict *v);

/* --- hold_objects.c --- */

/* The index of a new pack that is held; NULL: none is.  Refs do not land without it. */
const char *hold_bad_pack(struct hold_judge *j, struct hold_repo *repo);

#endif
