/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's settings, read as git reads them: .git/config, config.worktree, .gitmodules, and what they
 * include.  One setting after the other, in order.  No include is followed here.
 *
 * What git refuses is refused, and so is what is longer than any honest setting: whoever asks
 * treats a file that cannot be read as one that does everything.
 */
#ifndef BAWN_GIT_CONFIG_H
#define BAWN_GIT_CONFIG_H

#include "span.h"

enum {
	GIT_CONFIG_SECTION_MAX = 255,
	GIT_CONFIG_SUBSECTION_MAX = 1023,
	GIT_CONFIG_KEY_MAX = 127,
	GIT_CONFIG_VALUE_MAX = 8191,
};

/* A reader; all zeros but `left`, which is the text. */
struct git_config {
	struct span left;
	size_t line;     /* lines that were begun; 0: nothing was read */
	const char *why; /* of one that said -EBADMSG */
	/* The setting that was read last.  Strings end in NUL and have none inside. */
	char section[GIT_CONFIG_SECTION_MAX + 1];       /* lower case */
	char subsection[GIT_CONFIG_SUBSECTION_MAX + 1]; /* as written, without its escapes */
	char key[GIT_CONFIG_KEY_MAX + 1];               /* lower case */
	char value[GIT_CONFIG_VALUE_MAX + 1];           /* "true" when has_value is not set */
	bool has_subsection, has_value;
};

/* 1: there is a setting; 0: the text is at its end; -EBADMSG, and the same for ever. */
int git_config_next(struct git_config *g);

#endif
