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

const struct policy_source *policy_bundle(const char *name)
{
	for (size_t i = 0; i < bundle_count; i++)
		if (str_equal(bundle_names[i], name))
			return &bundles[i];
	return NULL;
}

const char *const *policy_bundle_names(void)
{
	return bundle_names;
}

const char *const *policy_preset_names(void)
{
	return preset_names;
}

const struct policy_source *policy_known_secret(const char *name)
{
	for (size_t i = 0; i < secret_count; i++)
		if (str_equal(secret_names[i], name))
			return &secrets[i];
	return NULL;
}

const char *const *policy_known_secret_names(void)
{
	return secret_names;
}
