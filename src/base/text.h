/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one printer for a person's eyes.  Names and text that the agent or a
 * repository chose pass through text_escape, which lets no terminal sequence,
 * no control byte, no bidi override and no invisible character through.
 * Everything bawn shows goes out through struct text.
 */
#ifndef BAWN_TEXT_H
#define BAWN_TEXT_H

#include "base.h"
#include "buf.h"

/* Appends s, printable UTF-8 as it is, everything else as \xNN or \u{NNNN}. */
void text_escape(struct buf *into, struct span s);

/*
 * The same for a name among other words.  A name with a space, a quote or a backslash in it gets
 * double quotes, so that a reader sees where it ends, and no two names look the same.
 */
void text_name(struct buf *into, struct span s);

/* Columns that a character takes on a terminal: 2 of a wide one. */
size_t text_columns(uint32_t code_point);

/* Cuts what stands in b from `from` on to that many columns, with "..." where it was cut. */
void text_cut(struct buf *b, size_t from, size_t columns);

/* Length of the well-formed UTF-8 sequence at the start of s (not empty), 0 when it is none. */
size_t text_utf8(struct span s, uint32_t *ret_code_point);

/* Controls, bidi overrides, zero-width and other characters that deceive the eye. */
bool text_is_hidden(uint32_t code_point);

/* A terminal or file that a person reads. */
struct text {
	int fd;
	bool colour; /* emphasis may be used; never the only signal */
	bool tty;
	int width;        /* columns, 80 when unknown */
	struct buf *kept; /* what is printed waits here until text_flush; NULL: for nothing */
};

enum text_style { TEXT_PLAIN, TEXT_STRONG, TEXT_FAINT, TEXT_GOOD, TEXT_BAD, TEXT_WARN };

/* Looks at fd, NO_COLOR, CLICOLOR_FORCE and TERM. */
struct text text_open(int fd);

/* Printf whose result is escaped as one line, except for the \n and \t of fmt's result. */
void text_printf(const struct text *t, const char *fmt, ...) BAWN_PRINTF(2, 3);
void text_styled(const struct text *t, enum text_style style, const char *fmt, ...)
	BAWN_PRINTF(3, 4);

/* Appends s in a style and escapes all but tabs, for callers that write many lines in one go. */
void text_put(const struct text *t, struct buf *into, enum text_style style, struct span s);

/* Writes a buffer that holds only what text_escape or our own tables made. */
void text_write(const struct text *t, const struct buf *b);

/* Writes what was kept. */
void text_flush(const struct text *t);

/*
 * Call this last: returns the program's exit status.  When a write to standard output failed, it
 * says so, and a status of 0 becomes `failed`.
 */
int text_end(int status, int failed);

#endif
