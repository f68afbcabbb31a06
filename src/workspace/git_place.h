/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are git's own, by their names: what every part of bawn asks that treats them in a way
 * of their own. */
#ifndef BAWN_GIT_PLACE_H
#define BAWN_GIT_PLACE_H

#include "base.h"

/* A part of a repository: HEAD, objects, refs, ... */
bool git_is_member(const char *name, size_t len);

/* Those by which git takes a folder for a repository, as a set; 0: it is none of them. */
enum {
	GIT_HAS_HEAD = 1,
	GIT_HAS_OBJECTS = 2,
	GIT_HAS_REFS = 4,
	GIT_HAS_COMMON = 8,
	GIT_HAS_COUNT = 4
};
extern const char *const git_parts[GIT_HAS_COUNT];
unsigned int git_part_of(const char *name, size_t len);

/* As git's own is_git_directory, but for looking into HEAD. */
bool git_is_repository(unsigned int parts);

/*
 * What a path is within the repository whose own file it is: what follows .git/, or
 * .git/modules/NAME/, or .git/worktrees/NAME/, in the path.  What stands before it is the
 * repository's.  NULL: it is none.  `below`: the same of what stands behind ".git/".
 */
const char *git_rest(const char *path);
const char *git_rest_below(const char *inner);

/* How long the path of the .git is that this is, or lies in; 0: in none. */
size_t git_dir_of(const char *path);

/*
 * A repository can have any name: a bare one, of which worktrees are in the workspace, or that of
 * `git init --separate-git-dir`.  Whoever goes through paths of the workspace `tree` tells each of
 * them here first; where one leads into a folder that is a repository there, that folder counts as
 * a .git from then on, in this process.  What only a session made is none.  The top of the
 * workspace is never learnt.
 */
void git_place_learn(int tree, const char *path);

/* Among the objects of a repository, which are named by their content. */
bool git_is_in_objects(const char *path);

/* What a path is that leads into the objects of a repository. */
enum git_place {
	GIT_PLACE_NONE,  /* it does not, or git does not know the name */
	GIT_PLACE_DIR,   /* a folder of objects */
	GIT_PLACE_LOOSE, /* an object: named by its content, compressed */
	GIT_PLACE_PACK,  /* many of them, and what belongs to a pack */
	GIT_PLACE_INFO,  /* what servers read */
	GIT_PLACE_CACHE, /* what git makes again from the objects, and believes: it never lands */
};

enum git_place git_place_of(const char *path);

/* What `git gc` notes while it works, by its name in the repository; one that was ended leaves it, and
 * git waits for nobody then. */
bool git_is_gc_note(const char *name);

/* The same of what stands behind "objects/", whatever the repository is called. */
enum git_place git_place_below(const char *name);

#endif
