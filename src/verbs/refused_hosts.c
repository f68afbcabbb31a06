/* SPDX-License-Identifier: Apache-2.0 */
#include "refused_hosts.h"

#include "policy.h"
#include "str.h"
#include "usual.h"

bool refused_hosts_is_telemetry(const char *host)
{
	for (size_t i = 0; i < usual_count; i++) {
		const char *beneath = str_after(usual[i].name, "*");

		if (usual[i].kind == USUAL_TELEMETRY &&
		    (beneath ? str_ends_with(host, beneath) : str_equal(host, usual[i].name)))
			return true;
	}
	return false;
}

void refused_hosts_read(struct refused_hosts *h)
{
	for (const char *const *name = policy_bundle_names(); *name; name++) {
		const struct policy_flag use = {
			.key = "network.use", .value = *name, .origin = "bundle"};
		struct error e = ERROR_INIT;
		struct policy policy;

		if (policy_merge(NULL, 0, &use, 1, &h->arena, &policy, &e) < 0)
			continue;
		struct plan_rule *all =
			arena_alloc(&h->arena, (h->count + policy.network.count) * sizeof(*all));

		if (!all)
			return;
		if (h->count)
			memcpy(all, h->rules, h->count * sizeof(*all));
		memcpy(all + h->count, policy.network.items, policy.network.count * sizeof(*all));
		h->rules = all;
		h->count += policy.network.count;
	}
}

void refused_hosts_fini(struct refused_hosts *h)
{
	arena_fini(&h->arena);
}

static bool refused_hosts_fits(const struct plan_rule *rule, const char *host, uint64_t port)
{
	const char *beneath = str_after(rule->host, "*");

	if (rule->action != PLAN_ACTION_ALLOW ||
	    !(beneath ? str_ends_with(host, beneath) : str_equal(host, rule->host)))
		return false;
	for (size_t i = 0; i < rule->ports.count; i++)
		if (port == 0 ||
		    (rule->ports.items[i].from <= port && port <= rule->ports.items[i].to))
			return true;
	return false;
}

const char *refused_hosts_bundle(const struct refused_hosts *h, const char *host, uint64_t port)
{
	const char *found = NULL;

	for (size_t i = 0; i < h->count; i++)
		if (refused_hosts_fits(&h->rules[i], host, port) &&
		    (!found || str_ends_with(found, "-push") ||
		     str_ends_with(h->rules[i].bundle, "-read")))
			found = h->rules[i].bundle;
	return found;
}
