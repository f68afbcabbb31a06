/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's attributes make of a file when `git apply` reads and writes it: ends of lines, $Id$, an
 * encoding, a filter.  A patch cannot speak past them.  So where they would change a byte, bawn says
 * so, and the file is no part of the patch.
 *
 * Which attributes count when git writes depends on what it has read before: the folder's as they
 * are, or those that the patch itself brings.  So both are asked, and a line that sets an attribute
 * counts even where a later one takes it back.  That finds all that git would convert, and now and
 * then one more.
 */
#ifndef BAWN_PATCH_ATTRIBUTES_H
#define BAWN_PATCH_ATTRIBUTES_H

#include "diff_parts.h"

/* What of the user's own settings counts for every file. */
struct patch_settings {
	bool autocrlf, autotext; /* core.autocrlf: true, input */
	bool eol_crlf;
};

void patch_settings_read(const struct diff *d, struct patch_settings *ret);

/* Why `git apply` would make other bytes of it, in words; NULL: it makes the same.  `sides` are its
 * contents before and after, NULL where there is none.  *ret_apart is set where git leaves the ends of
 * lines as they are only if it sees all of them: the file must go, and come anew. */
const char *patch_converts(const struct diff *d, const struct patch_settings *s, const char *path,
			   const struct span *const sides[2], bool *ret_apart);

#endif
