/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a secret: what bawn may show of it without giving it away, so that a placeholder
 * passes the checks that programs make of a key's prefix, length and alphabet.
 *
 *	sk-ant-api03-{95:s}	a beginning as it is, and 95 characters of one alphabet
 *	{8:x}-{4:x}-{12:x}	what separates stays where it is
 *
 * Alphabets:
 *
 *	d	digits
 *	x, X	hexadecimal
 *	l, u	letters of one case
 *	a, A	the same with digits
 *	n	letters and digits
 *	w	these and _
 *	s	these and - _
 *	b	letters, digits, + and /
 *	p	what else a header can carry
 *
 * Braces stand for nothing else.
 */
#ifndef BAWN_SHAPE_H
#define BAWN_SHAPE_H

#include "buf.h"
#include "span.h"

/* For a secret of which nothing is known. */
#define SHAPE_UNKNOWN "{40:n}"

/* NULL when it is a shape of PLAN_PLACEHOLDER_MIN to _MAX characters; else what is wrong. */
const char *shape_check(struct span shape);

/* The shape of a value that secrets_check_value took. */
void shape_of(struct span value, struct buf *into);

/* How many bytes at the start of a value, or of a placeholder, all keys of its sort have in
 * common. */
size_t shape_known(struct span value);

/*
 * Makes the placeholder: fills the shape from HMAC(key, context).  It is the same for the same
 * context, and nobody can guess it without the key.  context is text without a NUL that no other
 * secret uses.
 */
void shape_fill(struct span shape, struct span key, const char *context, struct buf *into);

#endif
