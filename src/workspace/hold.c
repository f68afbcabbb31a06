/* SPDX-License-Identifier: Apache-2.0 */
/* The list of holds, as the policy has tuned it. */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>

enum { HOLD_BYTES_MAX = 1 << 20, HOLD_FOLDED_MAX = 64 << 10 };

static const char *const hold_level_words[] = {
	[HOLD_NOT] = "off", [HOLD_FLAG] = "flag", [HOLD_HOLD] = "hold"};

/* --- the list ------------------------------------------------------------------------- */

static int hold_unknown(const char *word, size_t len, struct error *e)
{
	const char *names[HOLD_ROWS_MAX];
	char name[64];

	for (size_t i = 0; i < hold_row_count; i++)
		names[i] = hold_rows[i].name;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), word);
	const char *near = str_nearest(name, names, hold_row_count);

	(void)error_set(e, -EINVAL, "holds.rules: there is no rule %s%s%s%s", name,
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	error_next(e, "`bawn explain` lists the rules.");
	return -EINVAL;
}

/* "RULE=LEVEL" */
static int hold_tune(struct hold_rules *r, const char *word, struct error *e)
{
	size_t len = strcspn(word, "=");
	size_t row = 0;

	while (row < hold_row_count &&
	       !(strncmp(hold_rows[row].name, word, len) == 0 && !hold_rows[row].name[len]))
		row++;
	if (row == hold_row_count)
		return hold_unknown(word, len, e);
	for (size_t i = 0; word[len] && i < BAWN_ARRAY_SIZE(hold_level_words); i++)
		if (str_equal(word + len + 1, hold_level_words[i])) {
			r->levels[row] = (enum hold_level)i;
			return 0;
		}
	return error_set(e, -EINVAL, "holds.rules: %.100s is not RULE=hold, RULE=flag or RULE=off",
			 word);
}

static int hold_add_own(struct hold_rules *r, const char *pattern, unsigned int row,
			struct error *e)
{
	_cleanup_buf_ struct buf folded = BUF_INIT(HOLD_FOLDED_MAX);
	const char *wrong = hold_pattern_wrong(pattern);
	const char *kept = NULL;

	if (wrong)
		return error_set(e, -EINVAL, "holds.paths: %.100s cannot be held: %s", pattern,
				 wrong);
	hold_fold(pattern, &folded);
	if (buf_error(&folded) == 0)
		kept = arena_str(&r->arena, buf_str(&folded));
	if (!kept)
		return error_set(e, -ENOMEM, "no memory for the list of holds");
	if (str_equal(kept + (*kept == '/'), "**") || r->count == HOLD_PATTERNS_MAX)
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
		if (str_equal(h->name, "own"))
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
