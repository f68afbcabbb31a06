/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include "str.h"

#include <stdio.h>

bool place_path(const struct facts *facts, const char *text, char into[PATH_MAX])
{
	const char *in_home = str_after(text, "~");
	const char *key = str_after(text, "@");
	const char *head = in_home ? facts_get(facts, "home") : key ? facts_get(facts, key) : "";

	if (!head)
		return false;
	int n = snprintf(into, PATH_MAX, "%s%s", head, in_home ? in_home : key ? "" : text);

	return n > 0 && n < PATH_MAX;
}
