/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commits bring: which of them are new, and which files differ between two trees.  Trees are
 * an agent's doing: names in them need not be sorted nor alone, and each is looked at.
 */
#ifndef BAWN_GIT_WALK_H
#define BAWN_GIT_WALK_H

#include "git_store.h"

enum {
	GIT_WALK_COMMITS_MAX = 20000, /* read in search of what is new */
	GIT_WALK_NEW_MAX = 1000,      /* of those that are new */
	GIT_WALK_BASES_MAX = 8,
	/* Differences, over one opening of the store: each ref and each log looks for its own.  The
	 * store's deadline comes first on a slow machine. */
	GIT_WALK_FILES_MAX = 1000000,
	GIT_WALK_DEPTH_MAX = 400,
};

struct walk_graph;

struct git_walk {
	struct git_store *store;
	struct git_name last; /* which object was asked for last: for words */
	size_t files;
	bool thorough;            /* dates are not believed, as far as that can be */
	struct walk_graph *graph; /* what is known so far of who comes from whom */
};

void git_walk_fini(struct git_walk *w);

/* The commit that a name stands for, behind tags; -EINVAL: it is a tree or a blob. */
int git_walk_commit(struct git_walk *w, const struct git_name *name, struct git_name *ret_name,
		    struct git_commit *ret);

/* The tree that it has, or is; -EINVAL: it is a blob. */
int git_walk_tree(struct git_walk *w, const struct git_name *name, struct git_name *ret);

struct git_difference {
	const char *path;
	uint32_t old_mode, mode; /* 0: it is not there */
	struct git_name old, object;
};

typedef int git_on_difference(void *context, const struct git_difference *d);

/* A folder with a difference, before those in it: which parts of a repository it has (git_place.h)
 * on both sides. */
typedef int git_on_folder(void *context, const char *path, unsigned int was, unsigned int is);

/* Each file, link or submodule that differs; a tree of length 0 is empty.  0, -errno, or what
 * `found` gave, or `folder`, which may be NULL and is called where there is such a part. */
int git_walk_trees(struct git_walk *w, const struct git_name *old, const struct git_name *new,
		   git_on_difference *found, git_on_folder *folder, void *context);

/* What a tree has at a path: its mode, 0 when there is nothing; -errno. */
int git_walk_lookup(struct git_walk *w, const struct git_name *tree, const char *path,
		    struct git_name *ret);

struct git_news {
	struct git_news_commit {
		struct git_name name;
		struct git_commit commit;
	} * items; /* those that none of the known ones is or has before it */
	size_t count;
	bool cut; /* there are more */
	/* The known ones that they depart from. */
	struct git_name bases[GIT_WALK_BASES_MAX];
	size_t base_count;
};

/* These, and all before them, are known from now on.  What is no commit, or cannot be read, does
 * not count. */
int git_walk_know(struct git_walk *w, const struct git_name *tip);

/* Which commits a tip has that are not known. */
int git_walk_news(struct git_walk *w, const struct git_name *tip, struct git_news *ret);
void git_news_free(struct git_news *n);
#define _cleanup_git_news_ _cleanup_(git_news_free)

#endif
