/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user asks `bawn why` about, by its form:
 *
 *	417			an event of the last session of this folder
 *	calm-otter:417		an event of that session; its name, or its folder's
 *	/etc/passwd, ./a, a/b	a path: it has a slash, and no scheme
 *	.env, Makefile		a path: it begins with a dot, or there is such a file here
 *	anything else		a host
 */
#ifndef BAWN_WHY_SHAPE_H
#define BAWN_WHY_SHAPE_H

#include "base.h"

enum why_shape { WHY_HOST, WHY_EVENT, WHY_PATH };

/* A name before a number is a session's when it looks like one that bawn gave: words and dashes,
 * and no dot. */
enum why_shape why_shape(const char *typed);

/* Splits "session:number"; session is "" for the last one.  -EINVAL: it has another form. */
int why_shape_event(const char *typed, char *ret_session, size_t size, uint64_t *ret_number);

/* Makes a path absolute, without "." and ".."; does not follow links.  -ENAMETOOLONG or another
 * -errno. */
int why_shape_path(const char *typed, char *ret_path, size_t size);

#endif
