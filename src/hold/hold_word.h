/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a hook, a script or a settings file: see hold_word.c. */
#ifndef BAWN_HOLD_WORD_H
#define BAWN_HOLD_WORD_H

#include "hold_parts.h"

#include <limits.h>

enum { HOLD_WORD_NAME_MAX = 64 };

struct words {
	struct span text;
	size_t at, start;
	char word[PATH_MAX]; /* as it is written */
	char bare[PATH_MAX]; /* without the brackets of a list around it, and without its colon */
	char key[HOLD_WORD_NAME_MAX], before[HOLD_WORD_NAME_MAX];
	char setting[HOLD_WORD_NAME_MAX]; /* the last key that is in quotes or begins its line */
	char from[HOLD_WORD_NAME_MAX];    /* for Python: "from a import b" */
	bool is_key;
	bool variable; /* a $ is before it */
	bool blank;    /* it has a quoted blank */
	bool python;   /* the text has named Python before */
	bool go;       /* "go run" was before, and what it runs was not yet */
	bool glued;    /* a substitution is directly before it: $(x)/y */
	bool known;    /* and that is a folder where we look for words anyway */
};

/* Goes to the next word; false: there is none. */
bool hold_word_next(struct words *w);

/* Copies the text with each quoted blank as a letter, and without the quotes around it; false: it
 * has none. */
bool hold_word_join(struct span text, struct buf *into);

/* Writes a word as a name; "" if it is too long.  `key`: as the name of a key. */
void hold_word_name(char into[HOLD_WORD_NAME_MAX], const char *word, size_t len, bool key);

/* The name is among these, up to NULL. */
bool hold_word_has(const char *const *names, const char *name);

/* The program runs a file of any name. */
bool hold_word_is_runner(const char *program);

/* The word is before a module of Perl. */
bool hold_word_is_perl(const char *word);

#endif
