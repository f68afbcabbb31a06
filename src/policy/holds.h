/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy knows of holds: the names of the rules, what each is without being tuned, and
 * what a path pattern may be.  What the rules mean is src/hold/hold.h's.
 */
#ifndef BAWN_HOLDS_H
#define BAWN_HOLDS_H

#include "base.h"

/* From the least to the most; as enum hold_level. */
enum { POLICY_HOLD_LEVELS = 4 };
extern const char *const policy_hold_words[POLICY_HOLD_LEVELS + 1]; /* NULL-terminated */

struct policy_hold {
	const char *name;
	unsigned int level;
};

/* In the order of share/holds.yaml. */
extern const struct policy_hold policy_holds[];
extern const size_t policy_hold_count;

enum { POLICY_HOLD_PATTERN_MAX = 256 };

/* The rule of that name, or NULL; the one nearest to it in *ret_near when there is one. */
const struct policy_hold *policy_hold_find(const char *name, const char **ret_near);

/* The level of that name, or -1. */
int policy_hold_level(const char *word);

/* A pattern of holds.paths: NULL, or why it is none. */
const char *policy_hold_pattern_wrong(const char *pattern);

#endif
