/* SPDX-License-Identifier: Apache-2.0 */
/* The list of holds, changed by the policy. */
#include "hold_parts.h"

#include "holds.h"
#include "str.h"

#include <stdio.h>

enum { HOLD_BYTES_MAX = 1 << 20, HOLD_FOLDED_MAX = 64 << 10 };

_Static_assert((int)HOLD_HOLD == POLICY_HOLD_LEVELS - 1, "levels are the policy's");

/* --- the list ------------------------------------------------------------------------- */

/* Sets the level of one rule: "RULE=LEVEL". */
static int hold_tune(struct hold_rules *r, const char *word, struct error *e)
{
	char name[64];
	const char *near = NULL, *equals = strchr(word, '=');
	int level = equals ? policy_hold_level(equals + 1) : -1;

	if (level < 0)
		return error_set(e, -EINVAL,
				 "holds.rules: %.100s is not RULE=hold, RULE=flag or RULE=off",
				 word);
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
	const struct policy_hold *rule = policy_hold_find(name, &near);

	if (rule) {
		r->levels[rule - policy_holds] = (enum hold_level)level;
		return 0;
	}
	(void)error_set(e, -EINVAL, "holds.rules: there is no rule %s%s%s%s", name,
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	error_next(e, "docs/HOLDS.md lists the rules.");
	return -EINVAL;
}

static int hold_add_own(struct hold_rules *r, const char *pattern, unsigned int row,
			struct error *e)
{
	_cleanup_buf_ struct buf folded = BUF_INIT(HOLD_FOLDED_MAX);
	const char *wrong = policy_hold_pattern_wrong(pattern);
	const char *kept = NULL;

	if (wrong)
		return error_set(e, -EINVAL, "holds.paths: %.100s cannot be held: %s", pattern,
				 wrong);
	hold_fold(pattern, &folded);
	if (buf_error(&folded) == 0)
		kept = arena_str(&r->arena, buf_str(&folded));
	if (!kept)
		return error_set(e, -ENOMEM, "no memory for the list of holds");
	if (r->count == HOLD_PATTERNS_MAX)
		return error_set(e, -E2BIG, "holds.paths: %.100s is too much", pattern);
	hold_pattern_put(r, kept, row);
	return 0;
}

static int hold_fill(struct hold_rules *r, const struct hold_tuning *t, struct error *e)
{
	unsigned int own = 0;
	int code = 0;

	for (unsigned int row = 0; row < hold_row_count; row++) {
		const struct hold_row *h = &hold_rows[row];

		r->levels[row] = h->level;
		if (str_equal(h->name, HOLD_OWN))
			own = row;
		for (size_t i = 0; h->paths[i] && r->count < HOLD_PATTERNS_MAX; i++)
			hold_pattern_put(r, h->paths[i], row);
	}
	for (size_t i = 0; code == 0 && t && i < t->tuned_count; i++)
		code = hold_tune(r, t->tuned[i], e);
	for (size_t i = 0; code == 0 && t && i < t->path_count; i++)
		code = hold_add_own(r, t->paths[i], own, e);
	return code;
}

int hold_rules_new(const struct hold_tuning *t, struct hold_rules **ret, struct error *e)
{
	struct hold_rules *r = calloc(1, sizeof(*r));

	if (!r)
		return error_set(e, -ENOMEM, "no memory for the list of holds");
	r->arena = ARENA_INIT(HOLD_BYTES_MAX);
	r->most_ms = HOLD_MS;
	r->patterns = arena_alloc(&r->arena, HOLD_PATTERNS_MAX * sizeof(*r->patterns));
	int code = r->patterns ? hold_fill(r, t, e)
			       : error_set(e, -ENOMEM, "no memory for the list of holds");

	if (code < 0) {
		hold_rules_free(&r);
		return code;
	}
	*ret = r;
	return 0;
}

void hold_rules_within(struct hold_rules *r, int64_t ms)
{
	r->most_ms = ms;
}

void hold_rules_since(struct hold_rules *r, int64_t began)
{
	r->since = began;
}

void hold_rules_free(struct hold_rules **r)
{
	if (!*r)
		return;
	arena_fini(&(*r)->arena);
	free(*r);
	*r = NULL;
}

size_t hold_rules_count(const struct hold_rules *r)
{
	(void)r;
	return hold_row_count;
}

struct hold_shown hold_rules_at(const struct hold_rules *r, size_t i)
{
	const struct hold_row *h = &hold_rows[i];

	return (struct hold_shown){.name = h->name,
				   .what = h->what,
				   .why = h->why,
				   .level = r->levels[i],
				   .read_only = r->levels[i] == HOLD_HOLD && h->direct[0]};
}

size_t hold_direct_paths(const struct hold_rules *r, const char **ret, size_t max)
{
	size_t count = 0;

	for (size_t row = 0; row < hold_row_count; row++)
		for (size_t i = 0; r->levels[row] == HOLD_HOLD && hold_rows[row].direct[i]; i++)
			if (count < max)
				ret[count++] = hold_rows[row].direct[i];
	return count;
}
