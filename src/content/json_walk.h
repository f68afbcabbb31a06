/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON read in order, one token after the other, from a text that is there whole.  Strict, but for
 * two liberties that editors take with their settings and that a caller may allow: comments, and a
 * comma behind the last item.  Nothing is decoded: a string is given as it is written, and
 * compared with json_walk_is.
 *
 *	{"a": [1]}	OPEN '{', KEY "a", OPEN '[', NUMBER, CLOSE ']', CLOSE '}', END
 */
#ifndef BAWN_JSON_WALK_H
#define BAWN_JSON_WALK_H

#include "span.h"

enum { JSON_WALK_DEPTH = 128 };

enum json_walk_token {
	JSON_WALK_BAD = -1, /* and the same for ever */
	JSON_WALK_END,      /* of the text, likewise */
	JSON_WALK_OPEN,
	JSON_WALK_CLOSE,
	JSON_WALK_KEY,
	JSON_WALK_STRING,
	JSON_WALK_NUMBER,
	JSON_WALK_WORD, /* true, false, null */
};

/* All zeros but `left`, which is the text, and `relaxed`. */
struct json_walk {
	struct span left;
	bool relaxed;
	bool ended, bad;
	unsigned int expect;
	size_t depth;                   /* behind the token: 1 within the outermost brackets */
	char brackets[JSON_WALK_DEPTH]; /* '{' or '[' */
	struct span text;               /* of the token; of a string what stands between quotes */
};

enum json_walk_token json_walk_next(struct json_walk *w);

/* Passes over the rest of the value that `token` began; text is then all of it as it is written.
 * `began` is what was left of the text before that token. */
enum json_walk_token json_walk_pass(struct json_walk *w, enum json_walk_token token,
				    struct span began);

/* A string as it is written stands for these bytes. */
bool json_walk_is(struct span written, const char *bytes);

#endif
