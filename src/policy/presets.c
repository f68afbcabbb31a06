/* SPDX-License-Identifier: Apache-2.0 */
#include "presets.h"

#include "str.h"

const char *policy_preset_name(const struct policy_source *preset)
{
	const char *name = str_after(preset->name, "preset ");

	return name ? name : preset->name;
}

const struct policy_source *policy_preset(const char *name)
{
	for (size_t i = 0; i < preset_count; i++)
		if (str_equal(preset_names[i], name))
			return &presets[i];
	return NULL;
}

const char *const *policy_preset_names(void)
{
	return preset_names;
}
