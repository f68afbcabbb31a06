/* SPDX-License-Identifier: Apache-2.0 */
#include "withheld.h"

#include "build.h"
#include "policy.h"
#include "str.h"

#include <stdio.h>

enum { WITHHELD_LINES = 2, WITHHELD_NAME_MAX = 256 };

static bool withheld_has(const struct plan *plan, const char *name, size_t len)
{
	for (size_t i = 0; i < plan->env.count; i++)
		if (strlen(plan->env.items[i].name) == len &&
		    memcmp(plan->env.items[i].name, name, len) == 0)
			return true;
	return false;
}

/* It is one of the shell's own variables: nobody misses them. */
static bool withheld_is_shells(const char *name, size_t len)
{
	static const char *const own[] = {"_", "SHLVL", "OLDPWD"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(own); i++)
		if (strlen(own[i]) == len && memcmp(own[i], name, len) == 0)
			return true;
	return false;
}

size_t withheld_names(const struct plan *plan, char *const *variables, struct buf *into)
{
	size_t count = 0;

	for (size_t i = 0; variables && variables[i]; i++) {
		size_t len = strcspn(variables[i], "=");

		if (variables[i][len] != '=' || len == 0 || withheld_has(plan, variables[i], len) ||
		    withheld_is_shells(variables[i], len))
			continue;
		buf_put_str(into, count++ ? " " : "");
		text_escape(into, (struct span){(const uint8_t *)variables[i], len});
	}
	return count;
}

/* bawn knows a secret by this name, and a rule of the plan leads to its host. */
static bool withheld_would_help(const struct plan *plan, const char *name)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct policy policy;
	char text[2 * WITHHELD_NAME_MAX + 64];

	(void)snprintf(text, sizeof(text), "secrets:\n  %s:\n    from: {env: %s}\n", name, name);
	const struct policy_source source = {POLICY_USER, "known", span_of_str(text)};

	if (policy_merge(&source, 1, NULL, 0, &arena, &policy, &e) < 0 || policy.secrets.count != 1)
		return false;
	const struct plan_rule *rule =
		plan_rule_to(plan->network.items, plan->network.count, &policy.secrets.items[0]);

	return rule && !rule->passthrough;
}

static bool withheld_is_set(char *const *variables, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; variables && variables[i]; i++)
		if (strncmp(variables[i], name, len) == 0 && variables[i][len] == '=' &&
		    variables[i][len + 1])
			return true;
	return false;
}

void withheld_summary(const struct plan *plan, char *const *variables, const struct text *t)
{
	size_t lines = 0;

	if (plan->backend == PLAN_BACKEND_HOST)
		return;
	for (const char *const *name = policy_known_secret_names(); *name; name++) {
		if (lines == WITHHELD_LINES || !withheld_is_set(variables, *name) ||
		    withheld_has(plan, *name, strlen(*name)) || !withheld_would_help(plan, *name))
			continue;
		lines++;
		text_printf(t, "bawn: your %s was withheld. To let the box use it, unseen:\n",
			    *name);
		text_printf(t, "  bawn secret add %s --from-env %s\n", *name, *name);
	}
}
