/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a changed file, on both sides, and which lines differ: read from the layers and the
 * folder itself, bounded, and never believed.
 */
#ifndef BAWN_CONTENT_H
#define BAWN_CONTENT_H

#include "changes.h"
#include "linediff.h"

enum { CONTENT_TEXT_MAX = 16 << 20 }; /* a larger file is told by its size */

enum content_kind {
	CONTENT_NONE,   /* there is nothing to show: a link, a directory, only a mode or a name */
	CONTENT_TEXT,   /* lines and diff are there */
	CONTENT_BINARY, /* type is there */
	CONTENT_LARGE,
	CONTENT_UNREADABLE, /* or another file by now */
};

struct content {
	enum content_kind kind;
	struct buf bytes[2]; /* before, after */
	struct lines lines[2];
	struct linediff diff;
	const char *type[2]; /* of the side that there is */
	bool crlf;           /* every line of both ends in CR LF */
	struct arena arena;
};

/* 0 or -ENOMEM; everything else is a kind.  `instead` is what is to land in place of the layer's
 * own file (a merge, chosen hunks), or -1. */
int content_read(const struct view *v, const struct change *c, int instead, struct content *ret);
/* The same; what is no text is taken for one, too. */
int content_read_as_text(const struct view *v, const struct change *c, int instead,
			 struct content *ret);
/* The same of two texts. */
int content_of_texts(const char *before, const char *after, struct content *ret);
void content_fini(struct content *c);
#define _cleanup_content_ _cleanup_(content_fini)

#endif
