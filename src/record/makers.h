/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs made the files of a folder: for the one line that a screen has for a tree such as
 * node_modules.  The recorder counts them while the session runs (who_made.h), and at its end adds
 * them to the note sessions/NAME/first/makers; `bawn diff` and `bawn apply` read that.  The note is
 * no part of what is sealed, and nothing depends on it but words.
 *
 *	COUNT <tab> PROGRAM <tab> FOLDER <newline>
 *
 * FOLDER is below the workspace; "" for PROGRAM: programs that are not told apart.  What has bytes in
 * its name that could end a field is not noted.  Names are the box's own words.
 *
 * Each table has its limits.  A folder that finds no place is not known, and nothing is said of it; of
 * one that is known, all files count, be it for programs that are not told apart.
 */
#ifndef BAWN_MAKERS_H
#define BAWN_MAKERS_H

#include "buf.h"
#include "span.h"

#define MAKERS_NOTE "makers"

enum {
	MAKERS_FOLDERS_MAX = 2048,
	MAKERS_PROGRAMS = 4, /* of a folder that are told apart */
	MAKERS_NAME_MAX = 31,
	MAKERS_PATH_MAX = 512,      /* bytes of a folder's path */
	MAKERS_BYTES_MAX = 1 << 20, /* of the note */
};

struct makers;

struct makers *makers_new(void); /* NULL: no memory; all below take that for "nobody knows" */
void makers_free(struct makers *m);

/* The program made so many files in the folder. */
void makers_add(struct makers *m, struct span folder, struct span program, uint64_t count);

/* The program that made most of a folder's files, which are so many now, and whether others made some;
 * NULL: nobody can say.  A file of which nothing is known could be any other program's. */
const char *makers_most(const struct makers *m, struct span folder, uint64_t files,
			bool *ret_others);

/* The note's lines, and what they say added to what is known. */
void makers_put(const struct makers *m, struct buf *into);
void makers_take(struct makers *m, struct span lines);

#endif
