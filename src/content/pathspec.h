/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as a person names them on the command line, to say which changes are meant.
 *
 *	src/main.c	that file
 *	src		that directory and all beneath; so does src/
 *	.		all of it
 *	*.c		a pattern without a slash: any file of such a name, at any depth
 *	src/<star>.c	a pattern with one: from the top; a star does not cross a slash
 *	docs/<star><star>	two of them do
 *	[abc] ?		one character, not a slash
 *	\*		a star that is meant
 *
 * They are relative to the folder where the person stands; absolute ones lie below the workspace.
 * A path that exists by its very name is that path, whatever stars are in it: the caller tries
 * pathspec_is first.
 */
#ifndef BAWN_PATHSPEC_H
#define BAWN_PATHSPEC_H

#include "arena.h"
#include "error.h"

enum { PATHSPEC_MAX = 4096 };

struct pathspec {
	const char *typed; /* as it came */
	const char *path;  /* below the workspace; "": all of it */
	bool pattern;      /* it has a star, a question mark or a bracket */
	bool anywhere;     /* a pattern without a slash */
};

/*
 * `workspace` is absolute and normal, `here` the folder below it where the person stands ("" or
 * "a/b").  -EINVAL and a sentence when it leads out of the workspace or is too long.
 */
int pathspec_parse(const char *typed, const char *workspace, const char *here, struct arena *arena,
		   struct pathspec *ret, struct error *e);

/* The path is what it names, or lies beneath that. */
bool pathspec_covers(const struct pathspec *s, const char *path);

/* The same, taken by the letter. */
bool pathspec_is(const struct pathspec *s, const char *path);

#endif
