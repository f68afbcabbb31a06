/* SPDX-License-Identifier: Apache-2.0 */
#include "amend.h"

#include "str.h"

static bool amend_same_host(const struct plan_rule *a, const struct plan_rule *b)
{
	return str_equal(a->host, b->host) && span_equal(a->address, b->address);
}

static bool amend_is_every_port(const struct plan_rule *rule)
{
	return rule->ports.count == 1 && rule->ports.items[0].from == 1 &&
	       rule->ports.items[0].to == UINT16_MAX;
}

static bool amend_same_ports(const struct plan_rule *a, const struct plan_rule *b)
{
	return a->ports.count == b->ports.count &&
	       memcmp(a->ports.items, b->ports.items, a->ports.count * sizeof(*a->ports.items)) ==
		       0;
}

/* Reduces an earlier rule to what is left of it after `later`; false: nothing is left. */
static bool amend_keeps(struct plan_rule *before, const struct plan_rule *later)
{
	bool said = str_equal(before->origin, AMEND_ALLOW) || str_equal(before->origin, AMEND_DENY);

	if (!said || before->ceiling || !amend_same_host(before, later))
		return true;
	if (before->action == later->action)
		return !amend_same_ports(before, later);
	if (later->action == PLAN_ACTION_DENY)
		return !amend_is_every_port(later) && !amend_same_ports(before, later);
	/* `later` opens one port of a closed host: the other ports stay closed. */
	if (later->ports_named && amend_is_every_port(before)) {
		before->ports_named = false;
		return true;
	}
	return later->ports_named && !amend_same_ports(before, later);
}

int amend_add(struct amend_list *list, const struct plan_rule *said, struct arena *arena)
{
	struct plan_rule rule = *said;
	struct plan_rule *items = arena_alloc(arena, (list->count + 1) * sizeof(*items));
	size_t count = 0;
	bool added = false;

	if (!items)
		return -ENOMEM;
	if (list->count >= PLAN_RULES_MAX)
		return -E2BIG;
	if (rule.action == PLAN_ACTION_DENY)
		rule.ports_named = true;
	for (size_t i = 0; i < list->count; i++) {
		struct plan_rule before = list->items[i];

		if (!amend_keeps(&before, &rule))
			continue;
		/* The ceiling's rules come last. */
		if (before.ceiling && !added) {
			items[count++] = rule;
			added = true;
		}
		items[count++] = before;
	}
	if (!added)
		items[count++] = rule;
	*list = (struct amend_list){items, count};
	return 0;
}

/* Whether the rule is for this session only: from an option, or made while it ran. */
static bool amend_is_own(const struct plan_rule *rule)
{
	return !rule->ceiling &&
	       (str_after(rule->origin, "--") || str_after(rule->origin, "bawn "));
}

int amend_reload(const struct amend_list *now, const struct amend_list *files, struct arena *arena,
		 struct amend_list *ret_list)
{
	struct plan_rule *items = arena_alloc(arena, (now->count + files->count) * sizeof(*items));
	size_t count = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < files->count; i++)
		if (!files->items[i].ceiling)
			items[count++] = files->items[i];
	for (size_t i = 0; i < now->count; i++)
		if (amend_is_own(&now->items[i]))
			items[count++] = now->items[i];
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].ceiling)
			items[count++] = files->items[i];
	if (count > PLAN_RULES_MAX)
		return -E2BIG;
	*ret_list = (struct amend_list){items, count};
	return 0;
}

struct plan amend_plan(const struct plan *plan, const struct amend_list *list)
{
	struct plan amended = *plan;

	amended.network.items = list->items;
	amended.network.count = list->count;
	return amended;
}
