/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a request in the one form that rules compare, and the globs they compare it with.
 *
 * The reader decodes a path once, byte by byte.  When servers are known to read it in two ways,
 * the reader does not change it but says why (`unclear`): an encoded slash or backslash, a
 * backslash, a dot segment, an empty segment, an escape that decodes to another escape, bytes
 * that are no UTF-8, a parameter (;) in a segment of dots.  Such a path may be sent on when no
 * rule is about paths; no rule about paths matches it.  A path with what no server should see (a
 * control byte, a NUL, a broken escape) is refused.
 *
 * A glob is a path of the same kind, with two words of its own:
 *
 *	*	any bytes within a segment, also none
 *	**	any bytes at all; "/a/" and "**" is all beneath /a, and "/a" itself is not
 *
 * A literal star is written %2A.  A match takes time in proportion to the product of the lengths
 * of glob and path at worst, in practice to their sum.
 */
#ifndef BAWN_HTTP_PATH_H
#define BAWN_HTTP_PATH_H

#include "span.h"

enum {
	HTTP_PATH_MAX = 64 << 10, /* bytes of a target */
	HTTP_GLOB_MAX = 1024,     /* bytes of a glob */
};

struct http_path {
	struct span path;    /* decoded; within the caller's bytes */
	struct span query;   /* as it was sent, without the '?'; empty when there is none */
	bool has_query;      /* also when it is empty */
	const char *unclear; /* NULL, or in a few words why it can be read in two ways */
	/* How many bytes of the path all servers read alike: all of a clear path; those before the
	 * first encoded slash, if nothing else is unclear (npm asks for /@scope%2fname); else 0. */
	size_t sure;
};

/*
 * Reads "/path?query", the origin form of a target.  `bytes` has room for target.len; the path
 * lies in it, the query in target.  0, or -EINVAL and ret_why: refuse the request.
 */
int http_path_read(struct span target, uint8_t *bytes, struct http_path *ret,
		   const char **ret_why) BAWN_MUST_USE;

/* NULL when it is a glob; else what is wrong and how to write it. */
const char *http_glob_check(struct span glob);

/* Of a glob that was checked and a path without `unclear`. */
bool http_glob_matches(struct span glob, struct span path);

/* The same of any path: of one that is not clear, when the glob is "/a/" and "**" and all readings
 * of the path lie beneath /a. */
bool http_glob_holds(struct span glob, struct span path, size_t sure);

/* How many bytes come before the first star of a glob; without a star its length and one more. */
size_t http_glob_weight(struct span glob);

/* Whether outer matches every path that inner matches.  It may say no when that is true, but
 * never yes when it is not. */
bool http_glob_covers(struct span outer, struct span inner);

/* Whether a list of methods has this one.  GET stands for HEAD too. */
bool http_method_is(const char *listed, struct span method);

#endif
