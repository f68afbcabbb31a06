/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's attributes make of a file when `git apply` reads and writes it: ends of lines, $Id$,
 * an encoding, a filter.  A patch cannot avoid them.  So if they would change a byte, bawn says so,
 * and leaves the file out of the patch.
 *
 * Which attributes count when git writes depends on what it has read before: the folder's as they
 * are, or those that the patch itself brings.  So we ask both, and a line that sets an attribute
 * counts even if a later one takes it back.  This finds all files that git would convert, and now
 * and then one more.
 */
#ifndef BAWN_PATCH_ATTRIBUTES_H
#define BAWN_PATCH_ATTRIBUTES_H

#include "diff_parts.h"

/* The user's settings that count for every file. */
struct patch_settings {
	bool autocrlf, autotext; /* core.autocrlf: true, input */
	bool eol_crlf;
};

void patch_settings_read(const struct diff *d, struct patch_settings *ret);

/*
 * Why `git apply` would make other bytes of it, in words; NULL: it makes the same.  `sides` are its
 * contents before and after, NULL if there is none.  *ret_apart is set if git leaves the ends of
 * lines as they are only when it sees all of them: then the patch must remove the file and add it
 * anew.
 */
const char *patch_converts(const struct diff *d, const struct patch_settings *s, const char *path,
			   const struct span *const sides[2], bool *ret_apart);

#endif
