/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value, read by the type of its row.  The same for a file and for the
 * command line; only the place that an error names differs.
 */
#ifndef BAWN_VALUE_H
#define BAWN_VALUE_H

#include "grammar.h"

/* Where something was written. */
struct value_place {
	const char *name;
	size_t line, column; /* 0 for what has none: the command line, our own table */
	enum policy_layer layer;
};

/* A value that is being read: for which row, written where, kept where. */
struct value_site {
	const struct grammar_row *row;
	struct value_place at;
	struct arena *arena;
	struct error *e;
};

/* "name:line:column: sentence". */
int value_error(const struct value_place *at, struct error *e, const char *fmt, ...)
	BAWN_PRINTF(3, 4);

/* Ends the sentence of e with the nearest of the words, when one is near enough; returns code. */
int value_suggest(struct error *e, int code, const char *text, const char *const *words,
		  size_t count);

int value_no_memory(struct error *e);

/* "name:line" in the arena, or the name alone where a line says nothing to a person; may be NULL.
 */
const char *value_origin(const struct value_place *at, struct arena *arena);

/* A word, number, size, duration, bool or name. */
int value_read_scalar(const struct value_site *s, const char *text,
		      struct grammar_value *ret_value);

/* One item of a list; of a map when name is not NULL.  Added to value. */
int value_read_item(const struct value_site *s, const char *name, const char *text,
		    struct grammar_value *value);

#endif
