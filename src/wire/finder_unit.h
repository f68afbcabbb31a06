/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One character of text in any form: itself, or an escape for it.
 * Read in one way: a well-formed escape is an escape.  For the finder only.
 */
#ifndef BAWN_FINDER_UNIT_H
#define BAWN_FINDER_UNIT_H

#include "span.h"

enum {
	UNIT_BACKSLASHES_MAX = 8, /* JSON in JSON in JSON */
	UNIT_AGAIN_MAX = 4,       /* %25 before %XX */
	UNIT_LAYERS = 3,          /* of unit_peel: JSON in JSON in HTML */
};

/* How another character can be written in its place. */
enum unit_kind {
	UNIT_ITSELF,
	UNIT_HEX,     /* its last digits are two hex digits, `tail` bytes before its end */
	UNIT_OCTAL,   /* its last digits are three octal digits */
	UNIT_DECIMAL, /* `count` decimal digits, `tail` bytes before its end */
	UNIT_FIXED,   /* it cannot: \/ or &amp; */
};

struct unit {
	uint8_t byte; /* what it stands for */
	uint8_t len;
	uint8_t kind;
	uint8_t tail, count;
};

/* Whether an escape may begin with this byte: for any other, the unit is the byte itself. */
static inline bool unit_is_lead(uint8_t c)
{
	return c == '%' || c == '\\' || c == '&' || c == '=';
}

/* Whether a backslash before this character means the character itself. */
static inline bool unit_is_punctuation(uint8_t c)
{
	return c > 0x20 && c < 0x7f &&
	       !((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'));
}

/* What follows the '&' of its entity; 0: it has none. */
uint8_t unit_entity(uint8_t byte);

/*
 * at: 1 byte or more.  once: %25XX is a percent and two letters.  false: more bytes are
 * needed (never with end).
 */
bool unit_read(struct span at, bool end, bool once, struct unit *ret_unit);

/*
 * The same after it has removed so many layers of escapes, one by one, of any kind: a
 * string of JSON in a string of JSON, in HTML, in a URL.  A unit of more than one byte is
 * UNIT_FIXED.
 */
bool unit_peel(struct span at, bool end, int layers, struct unit *ret_unit);

/* Writes `byte` in place of the unit at bytes, in the same form and length as far as it can be. */
void unit_write(const struct unit *u, uint8_t *bytes, uint8_t byte);

#endif
