/* SPDX-License-Identifier: Apache-2.0 */
#include "agents_file.h"

#include "str.h"

/* Whether this origin in h->again is the workspace or a folder granted for writing. */
static bool agents_can_write(const struct policy *policy, const char *origin)
{
	if (str_equal(origin, "workspace"))
		return true;
	for (size_t i = 0; i < policy->write.count; i++)
		if (str_equal(origin, policy->write.items[i].path))
			return true;
	return false;
}

bool agents_file(const struct host *h, const struct policy *policy, const char *real)
{
	if (str_path_beneath(real, h->workspace.path))
		return true;
	for (size_t i = 0; i < h->again.count; i++) {
		const struct host_object *o = &h->again.items[i];

		if (o->path && str_path_beneath(real, o->path) &&
		    agents_can_write(policy, o->origin))
			return true;
	}
	for (size_t i = 0; i < policy->write.count; i++) {
		const struct host_object *o = host_named(h, policy->write.items[i].path);

		if (o && o->path && str_path_beneath(real, o->path))
			return true;
	}
	return false;
}
