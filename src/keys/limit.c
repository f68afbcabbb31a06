/* SPDX-License-Identifier: Apache-2.0 */
#include "limit.h"

#include "name.h"
#include "str.h"

/* How many hosts there can be at most. */
static size_t limit_count(const struct plan *plan)
{
	size_t count = plan->network.count;

	for (size_t i = 0; i < plan->secrets.count; i++)
		count += plan->secrets.items[i].bindings.count;
	return count;
}

static void limit_add(struct limit *l, const char *host)
{
	const char *below = str_after(host, "*.");
	struct limit_name name = {below ? below : host, below != NULL};

	if (str_equal(host, "*")) {
		l->any = true;
		return;
	}
	for (size_t i = 0; i < l->names.count; i++)
		if (str_equal(l->names.items[i].text, name.text)) {
			l->names.items[i].below = l->names.items[i].below || name.below;
			return;
		}
	l->names.items[l->names.count++] = name;
}

int limit_of_plan(const struct plan *plan, struct arena *arena, struct limit *ret_limit,
		  struct error *e)
{
	size_t most = limit_count(plan) + 1;
	struct limit l = {.any = false};

	l.names.items = arena_alloc(arena, most * sizeof(*l.names.items));
	l.addresses.items = arena_alloc(arena, most * sizeof(*l.addresses.items));
	if (!l.names.items || !l.addresses.items)
		return error_sys(e, -ENOMEM, "reading the plan's hosts");
	for (size_t i = 0; i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];

		if (!plan_rule_opens(rule))
			continue;
		if (rule->address.len == sizeof(struct address))
			memcpy(&l.addresses.items[l.addresses.count++], rule->address.ptr,
			       sizeof(struct address));
		else
			limit_add(&l, rule->host);
	}
	for (size_t i = 0; i < plan->secrets.count; i++)
		for (size_t n = 0; n < plan->secrets.items[i].bindings.count; n++)
			limit_add(&l, plan->secrets.items[i].bindings.items[n].host);
	*ret_limit = l;
	return 0;
}

static bool limit_has_address(const struct limit *l, const char *host)
{
	struct address a;

	if (address_parse(span_of_str(host), 0, &a) < 0)
		return false;
	for (size_t i = 0; i < l->addresses.count; i++)
		if (address_equal(&l->addresses.items[i], &a))
			return true;
	return false;
}

bool limit_has(const struct limit *l, const char *host)
{
	struct name name;
	int r = name_parse(span_of_str(host), &name);

	if (r == -EADDRNOTAVAIL)
		return limit_has_address(l, host);
	/* Only a canonical name: keys signs exactly the name that the rules decided on. */
	if (r < 0 || !str_equal(name.text, host))
		return false;
	for (size_t i = 0; !l->any && i < l->names.count; i++) {
		const struct limit_name *n = &l->names.items[i];
		size_t len = strlen(n->text);

		if (str_equal(host, n->text) ||
		    (n->below && name.len > len && host[name.len - len - 1] == '.' &&
		     str_equal(host + name.len - len, n->text)))
			return true;
	}
	return l->any;
}
