/* SPDX-License-Identifier: Apache-2.0 */
#include "holds.h"

#include "span.h"
#include "str.h"

enum { HOLDS_MAX = 64 };

const char *const policy_hold_words[] = {"off", "flag", "leave", "hold", NULL};

const struct policy_hold *policy_hold_find(const char *name, const char **ret_near)
{
	const char *names[HOLDS_MAX];
	size_t count = 0;

	for (; count < policy_hold_count && count < HOLDS_MAX; count++) {
		if (str_equal(policy_holds[count].name, name))
			return &policy_holds[count];
		names[count] = policy_holds[count].name;
	}
	*ret_near = str_nearest(name, names, count);
	return NULL;
}

int policy_hold_level(const char *word)
{
	for (int i = 0; i < POLICY_HOLD_LEVELS; i++)
		if (str_equal(policy_hold_words[i], word))
			return i;
	return -1;
}

const char *policy_hold_pattern_wrong(const char *pattern)
{
	size_t len = strlen(pattern), any = 0;

	if (*pattern == '/')
		pattern++;
	if (!*pattern)
		return "it is empty";
	if (len > POLICY_HOLD_PATTERN_MAX)
		return "it is too long";
	for (const char *at = pattern; *at;) {
		struct span part = {(const uint8_t *)at, strcspn(at, "/")};

		if (part.len == 0 || span_equal(part, SPAN_LITERAL(".")) ||
		    span_equal(part, SPAN_LITERAL("..")))
			return "a part of it is empty, \".\" or \"..\"";
		any += span_equal(part, SPAN_LITERAL("**"));
		at += part.len;
		if (*at == '/' && !*++at)
			return "it ends in a slash; write dir/** for all that is in dir";
	}
	if (str_equal(pattern, "**"))
		return "it is everything";
	return any > 2 ? "it has more than two parts \"**\"" : NULL;
}
