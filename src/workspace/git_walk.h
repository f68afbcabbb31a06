/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commits bring: which of them are new, and which files differ between two trees.  An agent
 * may have written the trees: their names may be unsorted or double, and we look at each.
 */
#ifndef BAWN_GIT_WALK_H
#define BAWN_GIT_WALK_H

#include "git_store.h"

enum {
	GIT_WALK_COMMITS_MAX = 20000, /* most commits that we read to find the new ones */
	GIT_WALK_NEW_MAX = 1000,      /* most new commits */
	GIT_WALK_BASES_MAX = 8,
	/* Most differences, as long as the store is open: each ref and each log looks for its own.
	 * On a slow machine the store's deadline comes first. */
	GIT_WALK_FILES_MAX = 1000000,
	GIT_WALK_DEPTH_MAX = 400,
};

struct walk_graph;

struct git_walk {
	struct git_store *store;
	struct git_name last; /* the object that was asked for last, for messages */
	size_t files;
	bool thorough;            /* do not trust the dates of commits, as far as possible */
	struct walk_graph *graph; /* which commit comes from which, as far as we know */
};

void git_walk_fini(struct git_walk *w);

/* The commit of a name, also through tags; -EINVAL: it is a tree or a blob. */
int git_walk_commit(struct git_walk *w, const struct git_name *name, struct git_name *ret_name,
		    struct git_commit *ret);

/* The tree of a commit, or the tree itself; -EINVAL: it is a blob. */
int git_walk_tree(struct git_walk *w, const struct git_name *name, struct git_name *ret);

struct git_difference {
	const char *path;
	uint32_t old_mode, mode; /* 0: it is not there */
	struct git_name old, object;
};

typedef int git_on_difference(void *context, const struct git_difference *d);

/* Called for a folder with a difference, before the differences in it: which parts of a repository
 * it has (git_place.h) on both sides. */
typedef int git_on_folder(void *context, const char *path, unsigned int was, unsigned int is);

/*
 * Calls `found` for each file, link or submodule that differs; a tree of length 0 is empty.
 * `folder` may be NULL, and is called for folders with such a part.  Returns 0, -errno, or what
 * `found` or `folder` returned.
 */
int git_walk_trees(struct git_walk *w, const struct git_name *old, const struct git_name *new,
		   git_on_difference *found, git_on_folder *folder, void *context);

/* What a tree has at a path: returns its mode, 0 if there is nothing, or -errno. */
int git_walk_lookup(struct git_walk *w, const struct git_name *tree, const char *path,
		    struct git_name *ret);

struct git_news {
	struct git_news_commit {
		struct git_name name;
		struct git_commit commit;
	} * items; /* commits that no known one is, or has before it */
	size_t count;
	bool cut; /* there are more */
	/* The known commits that they start from. */
	struct git_name bases[GIT_WALK_BASES_MAX];
	size_t base_count;
};

/* Makes this commit, and all before it, known.  What is no commit, or cannot be read, does not
 * count. */
int git_walk_know(struct git_walk *w, const struct git_name *tip);

/* Finds the commits of a tip that are not known. */
int git_walk_news(struct git_walk *w, const struct git_name *tip, struct git_news *ret);
void git_news_free(struct git_news *n);
#define _cleanup_git_news_ _cleanup_(git_news_free)

#endif
