/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn why` is asked about, by its shape:
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

/* A name in front of a number is a session's when it looks like one that bawn gave: words and
 * dashes, and no dot. */
enum why_shape why_shape(const char *typed);

/* session "" for the last; -EINVAL. */
int why_shape_event(const char *typed, char *ret_session, size_t size, uint64_t *ret_number);

/* Absolute and without "." and ".."; links are not followed.  -ENAMETOOLONG, -errno. */
int why_shape_path(const char *typed, char *ret_path, size_t size);

#endif
