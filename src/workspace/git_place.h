/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are git's own, by their names.  All parts of bawn that treat these files specially
 * ask here. */
#ifndef BAWN_GIT_PLACE_H
#define BAWN_GIT_PLACE_H

#include "base.h"

/* A part of a repository: HEAD, objects, refs, ... */
bool git_is_member(const char *name, size_t len);

/* The parts by which git takes a folder for a repository, as a set; 0: it is none of them. */
enum {
	GIT_HAS_HEAD = 1,
	GIT_HAS_OBJECTS = 2,
	GIT_HAS_REFS = 4,
	GIT_HAS_COMMON = 8,
	GIT_HAS_COUNT = 4
};
extern const char *const git_parts[GIT_HAS_COUNT];
unsigned int git_part_of(const char *name, size_t len);

/* The same as git's is_git_directory, but without looking into HEAD. */
bool git_is_repository(unsigned int parts);

/*
 * The path of one of git's own files within its repository: what follows .git/, or
 * .git/modules/NAME/, or .git/worktrees/NAME/, in the path.  What is before it is the repository's
 * path.  NULL: it is not one of git's own files.  git_rest_below: the same for what follows
 * ".git/".
 */
const char *git_rest(const char *path);
const char *git_rest_below(const char *inner);

/* Length of the path of the .git that this is, or is in; 0: in none. */
size_t git_dir_of(const char *path);

/*
 * A repository can have any name: a bare one that has worktrees in the workspace, or that of `git
 * init --separate-git-dir`.  Code that goes through paths of the workspace `tree` tells each path
 * here first.  If a path leads into a folder that is a repository there, that folder counts as a
 * .git from then on, in this process.  A repository that only the session made does not count.  The
 * top of the workspace is never learnt.
 */
void git_place_learn(int tree, const char *path);

/* The path is among the objects of a repository, which have the sums of their content as names. */
bool git_is_in_objects(const char *path);

/* What a path in the objects of a repository is. */
enum git_place {
	GIT_PLACE_NONE,  /* it is not there, or git does not know the name */
	GIT_PLACE_DIR,   /* a folder of objects */
	GIT_PLACE_LOOSE, /* one object: its name is the sum of its content; compressed */
	GIT_PLACE_PACK,  /* many objects, and the other files of a pack */
	GIT_PLACE_INFO,  /* files that servers read */
	GIT_PLACE_CACHE, /* git makes it again from the objects, and believes it: it never lands */
};

enum git_place git_place_of(const char *path);

/* What `git gc` notes while it works, by its name in the repository; one that was ended leaves it, and
 * git waits for nobody then. */
bool git_is_gc_note(const char *name);

/* The same of what stands behind "objects/", whatever the repository is called. */
enum git_place git_place_below(const char *name);

#endif
