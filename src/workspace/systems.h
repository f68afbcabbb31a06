/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems: root filesystems that a box can have as its base instead of the host's own (--system
 * NAME).
 *
 *	STATE/systems/NAME/
 *	    about	what it is (struct system_about)
 *	    root/	the filesystem; nobody writes it again once it is made
 *	STATE/systems/.NAME.new/	one that is being made; flock: by somebody who lives
 *	    making	flock: also by what the tools that make it have left running
 *	STATE/systems/.NAME.old/	one that is being removed
 *
 * Everything in root/ belongs to the user who made it, whoever owns it by the packages: a box has
 * one user, who is root there, and the filter pretends changes of owner (profile_table.h).  So bawn
 * needs no subordinate ids and no program with privileges, neither to make a system nor to run on
 * it.
 *
 * What a box changes goes to layers of its workspace (layers.h), never here.  What is in root/ may
 * come from anywhere (an image, an archive): we open it through open_beneath only.
 */
#ifndef BAWN_SYSTEMS_H
#define BAWN_SYSTEMS_H

#include "buf.h"
#include "error.h"
#include "layers.h"

enum { SYSTEMS_FROM_MAX = 511, SYSTEMS_ABOUT_MAX = 2048 };

struct system_about {
	char name[LAYERS_NAME_MAX + 1];
	char from[SYSTEMS_FROM_MAX + 1]; /* the source, as the user wrote it */
	int64_t made;                    /* nanoseconds since 1970 */
	uint64_t bytes;                  /* on disk, when it was made */
	uint64_t files;
};

/* The folder of all of them, opened. */
struct systems {
	int dir;
	char path[PATH_MAX];
};

#define SYSTEMS_INIT ((struct systems){.dir = -1})

/* -ENOENT, without a sentence: there is none, and `create` is false. */
int systems_open(int state, const char *state_path, bool create, struct systems *ret,
		 struct error *e);
void systems_close(struct systems *s);
#define _cleanup_systems_ _cleanup_(systems_close)

/* -ENOENT, without a sentence: there is none of that name. */
int systems_read(const struct systems *s, const char *name, struct system_about *ret,
		 struct error *e);

enum system_state {
	SYSTEM_MADE,
	SYSTEM_BEING_MADE, /* or being removed: a process is working on it */
	SYSTEM_UNFINISHED, /* its maker or remover was killed; systems_remove removes it */
	SYSTEM_UNREADABLE, /* `about` cannot be read; systems_remove removes it */
};

/* Calls `found` for each, in the order of their names; a negative answer ends it.  Only the name is
 * known of one that is not SYSTEM_MADE. */
int systems_each(const struct systems *s,
		 int (*found)(void *context, const struct system_about *about,
			      enum system_state state),
		 void *context, struct error *e);

/* A system that is being made. */
struct system_new {
	int dir;  /* its lock: nobody else makes one of this name */
	int lock; /* the same, for processes that inherit it */
	char name[LAYERS_NAME_MAX + 1];
	char path[PATH_MAX]; /* of the folder */
};

#define SYSTEM_NEW_INIT ((struct system_new){.dir = -1, .lock = -1})

/* -EEXIST: there is one of this name.  Removes what a killed process left. */
int systems_begin(const struct systems *s, const char *name, struct system_new *ret,
		  struct error *e);

/* Makes the system of what is in root/: checks that it looks like one, makes missing mount points,
 * tells Debian's package tools how it is inside, and measures it. */
int systems_commit(const struct systems *s, struct system_new *n, const char *from, int64_t now,
		   struct system_about *ret, struct error *e);

/* Removes what was made so far, when it was not committed. */
void systems_abort(const struct systems *s, struct system_new *n);

/* Removes whatever has that name: a system, or what a killed process left while it made or removed
 * one.  -ENOENT, without a sentence: there is nothing; -EBUSY: one is being made. */
int systems_remove(const struct systems *s, const char *name, struct error *e);

/* For fuzzing and tests: the text of `about`. */
int systems_parse(struct span text, struct system_about *ret);
void systems_print(struct buf *into, const struct system_about *about);

#endif
