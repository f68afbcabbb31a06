/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When one policy gives no more than another.  The promise about repositories
 * and ceilings is stated in these words, apart from the code that keeps it, and
 * the tests and the fuzzer hold one against the other.
 */
#include "policy.h"

#include "str.h"

bool policy_name_matches(const char *pattern, const char *name)
{
	size_t len = strcspn(pattern, "*");

	if (pattern[len] == '\0')
		return str_equal(pattern, name);
	return strncmp(pattern, name, len) == 0;
}

/* Every item of inner is matched by one of outer. */
static bool within_list(const struct policy_path *inner, size_t inner_count,
			const struct policy_path *outer, size_t outer_count,
			bool (*covers)(const char *outer, const char *inner))
{
	for (size_t i = 0; i < inner_count; i++) {
		size_t n = 0;

		while (n < outer_count && !covers(outer[n].path, inner[i].path))
			n++;
		if (n == outer_count)
			return false;
	}
	return true;
}

static bool within_path(const char *outer, const char *inner)
{
	return str_path_beneath(inner, outer);
}

static bool within_number(const struct policy_number *a, const struct policy_number *b)
{
	return !b->set || (a->set && a->value <= b->value);
}

static bool within_env_set(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->env_set.count; i++) {
		const struct policy_env_set *item = &a->env_set.items[i];
		size_t n = 0;

		while (n < b->env_set.count && !(str_equal(b->env_set.items[n].name, item->name) &&
						 str_equal(b->env_set.items[n].value, item->value)))
			n++;
		if (n == b->env_set.count)
			return false;
	}
	return true;
}

static bool within_without(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->without.count; i++) {
		size_t n = 0;

		while (n < b->without.count &&
		       b->without.items[n].layer != a->without.items[i].layer)
			n++;
		if (n == b->without.count)
			return false;
	}
	return true;
}

#define WITHIN(inner, outer, covers) \
	within_list((inner).items, (inner).count, (outer).items, (outer).count, covers)

bool policy_is_within(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < PLAN_LIMIT_COUNT; i++)
		if (!within_number(&a->limits[i], &b->limits[i]))
			return false;
	return a->backend <= b->backend && str_equal(a->preset, b->preset) &&
	       a->workspace_access <= b->workspace_access && a->tools <= b->tools &&
	       a->debug <= b->debug && within_number(&a->tmp_size, &b->tmp_size) &&
	       WITHIN(a->read, b->read, within_path) && WITHIN(a->write, b->write, within_path) &&
	       WITHIN(b->hide, a->hide, within_path) &&
	       WITHIN(a->env_pass, b->env_pass, policy_name_matches) &&
	       WITHIN(b->env_drop, a->env_drop, policy_name_matches) && within_env_set(a, b) &&
	       within_without(a, b);
}
