/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems: root filesystems that a box can stand on instead of the host's own (--system NAME).
 *
 *	STATE/systems/NAME/
 *	    about	what it is (struct system_about)
 *	    root/	the filesystem; nobody writes it again once it is made
 *	STATE/systems/.NAME.new/	one that is being made; flock: by somebody who lives
 *	    making	flock: also by what the tools that make it have left running
 *	STATE/systems/.NAME.old/	one that is being removed
 *
 * Everything in root/ belongs to the user who made it, whoever it is meant to belong to inside: a
 * box has one user, who is root there, and changes of owner are pretended (profile_table.h).  So
 * no subordinate ids and no program with privileges are needed, neither to make one nor to run.
 *
 * What a box changes goes to layers of its workspace (layers.h), never here.  What is in root/ may
 * come from anywhere (an image, an archive): it is opened through open_beneath alone.
 */
#ifndef BAWN_SYSTEMS_H
#define BAWN_SYSTEMS_H

#include "buf.h"
#include "error.h"
#include "layers.h"

enum { SYSTEMS_FROM_MAX = 511, SYSTEMS_ABOUT_MAX = 2048 };

struct system_about {
	char name[LAYERS_NAME_MAX + 1];
	char from[SYSTEMS_FROM_MAX + 1]; /* what it was made from, as it was asked for */
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

/* -ENOENT, without a sentence, when there is none and it may not be made. */
int systems_open(int state, const char *state_path, bool create, struct systems *ret,
		 struct error *e);
void systems_close(struct systems *s);
#define _cleanup_systems_ _cleanup_(systems_close)

/* -ENOENT, without a sentence, when there is none of that name. */
int systems_read(const struct systems *s, const char *name, struct system_about *ret,
		 struct error *e);

enum system_state {
	SYSTEM_MADE,
	SYSTEM_BEING_MADE, /* or it is being removed: somebody is at it */
	SYSTEM_UNFINISHED, /* whoever made or removed it was killed; systems_remove removes it */
	SYSTEM_UNREADABLE, /* what it is cannot be read; likewise */
};

/*
 * For each, in the order of their names; a negative answer of `found` ends it.  Of one that is not
 * SYSTEM_MADE only the name is known.
 */
int systems_each(const struct systems *s,
		 int (*found)(void *context, const struct system_about *about,
			      enum system_state state),
		 void *context, struct error *e);

/* One that is being made. */
struct system_new {
	int dir;  /* held: nobody else makes one of this name */
	int lock; /* the same, for who inherits it */
	char name[LAYERS_NAME_MAX + 1];
	char path[PATH_MAX]; /* of the folder */
};

#define SYSTEM_NEW_INIT ((struct system_new){.dir = -1, .lock = -1})

/* -EEXIST when there is one of this name; what a killed one left is removed. */
int systems_begin(const struct systems *s, const char *name, struct system_new *ret,
		  struct error *e);

/*
 * What is in root/ becomes the system: it must look like one; mount points that it lacks are made,
 * Debian's package tools are told how it is inside, and it is measured.
 */
int systems_commit(const struct systems *s, struct system_new *n, const char *from, int64_t now,
		   struct system_about *ret, struct error *e);

/* Removes what was made so far, when it was not committed. */
void systems_abort(const struct systems *s, struct system_new *n);

/*
 * Whatever there is of that name: a system, what a killed making or removing of one left.  -ENOENT,
 * without a sentence, when there is nothing; -EBUSY while one is being made.
 */
int systems_remove(const struct systems *s, const char *name, struct error *e);

/* For fuzzing and tests: the text of `about`. */
int systems_parse(struct span text, struct system_about *ret);
void systems_print(struct buf *into, const struct system_about *about);

#endif
