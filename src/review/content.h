/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a changed file, on both sides, and which lines differ: read from the layers and
 * the folder, with limits, and never believed. */
#ifndef BAWN_CONTENT_H
#define BAWN_CONTENT_H

#include "changes.h"
#include "linediff.h"

enum { CONTENT_TEXT_MAX = 16 << 20 }; /* of a larger file only the size is shown */

enum content_kind {
	CONTENT_NONE,   /* nothing to show: a link, a directory, only a mode or a name */
	CONTENT_TEXT,   /* `lines` and `diff` are set */
	CONTENT_BINARY, /* `type` is set */
	CONTENT_LARGE,
	CONTENT_UNREADABLE, /* or it is another file by now */
};

struct content {
	enum content_kind kind;
	struct buf bytes[2]; /* before, after */
	struct lines lines[2];
	struct linediff diff;
	const char *type[2]; /* for each side that is there */
	bool crlf;           /* every line of both sides ends in CR LF */
	struct arena arena;
};

/* 0 or -ENOMEM; everything else is a kind.  `instead` is what shall land in the place of the
 * layer's file (a merge, chosen hunks), or -1. */
int content_read(const struct view *v, const struct change *c, int instead, struct content *ret);
/* The same, but reads a file that is no text as text, too. */
int content_read_as_text(const struct view *v, const struct change *c, int instead,
			 struct content *ret);
/* The same for two texts. */
int content_of_texts(const char *before, const char *after, struct content *ret);
void content_fini(struct content *c);
#define _cleanup_content_ _cleanup_(content_fini)

#endif
