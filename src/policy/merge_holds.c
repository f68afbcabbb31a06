/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of holds.  Higher is stricter.  A repository's own file, and the administrator's, can only
 * raise the level so far, which for a rule that nobody named is the list's own level.
 */
#include "merge_parts.h"

#include "holds.h"
#include "str.h"

/* The item that names a rule so far, or NULL; *ret_level: the level so far. */
static const struct grammar_item *merge_hold_now(const struct merge *m, const char *rule,
						 int *ret_level)
{
	const struct grammar_value *now = &m->values.of[GRAMMAR_HOLDS_RULES];
	const char *near = NULL;
	const struct policy_hold *known = policy_hold_find(rule, &near);

	*ret_level = known ? (int)known->level : 0;
	for (size_t i = 0; i < now->items.count; i++)
		if (str_equal(now->items.items[i].text, rule)) {
			*ret_level = policy_hold_level(now->items.items[i].value);
			return &now->items.items[i];
		}
	return NULL;
}

static int merge_hold_set(struct merge *m, const struct grammar_item *item)
{
	return grammar_append(&m->values.of[GRAMMAR_HOLDS_RULES],
			      &grammar_rows[GRAMMAR_HOLDS_RULES], item, m->arena) < 0
		       ? merge_no_memory(m->e)
		       : 0;
}

int merge_narrow_holds(struct merge *m, const struct grammar_value *v)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < v->items.count; i++) {
		const struct grammar_item *item = &v->items.items[i];
		int now, asked = policy_hold_level(item->value);
		const struct grammar_item *stands = merge_hold_now(m, item->text, &now);

		if (asked > now)
			r = merge_hold_set(m, item);
		else if (asked < now)
			r = merge_note(m,
				       arena_printf(m->arena, "holds.rules: %s=%s", item->text,
						    item->value),
				       arena_printf(m->arena, "%s; %s stands, by %s",
						    merge_only_narrow, policy_hold_words[now],
						    stands ? stands->origin : "default"),
				       item->origin);
	}
	return r;
}

int merge_ceiling_holds(struct merge *m, const struct grammar_value *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->items.count; i++) {
		const struct grammar_item *item = &c->items.items[i];
		int now, least = policy_hold_level(item->value);
		const struct grammar_item *stands = merge_hold_now(m, item->text, &now);

		if (least <= now)
			continue;
		if (stands && merge_is_explicit(stands->layer)) {
			(void)error_set(m->e, -EPERM,
					"holds.rules has %s=%s by %s; the administrator's ceiling "
					"is at least %s by %s",
					item->text, stands->value, stands->origin, item->value,
					item->origin);
			return merge_beyond(m);
		}
		r = merge_hold_set(m, item);
	}
	return r;
}

/* Copies the outcome: the last level of each rule. */
int merge_copy_holds(struct merge *m, struct policy *p)
{
	const struct grammar_value *v = &m->values.of[GRAMMAR_HOLDS_RULES];

	p->hold_rules.items = arena_alloc(m->arena, v->items.count * sizeof(*p->hold_rules.items));
	if (!p->hold_rules.items)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < v->items.count; i++)
		p->hold_rules.items[p->hold_rules.count++] = (struct policy_env_set){
			v->items.items[i].text, v->items.items[i].value, v->items.items[i].origin};
	return 0;
}
