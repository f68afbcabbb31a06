/* SPDX-License-Identifier: Apache-2.0 */
#include "made_name.h"

#include "base.h"

#include <string.h>

enum made_kind made_by_name(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum made_kind kind;
	} rows[] = {
		{"node_modules", MADE_LOADED},
		{".venv", MADE_LOADED},
		{".tox", MADE_LOADED},
		{".nox", MADE_LOADED},
		{"bower_components", MADE_LOADED},
		{".pnpm-store", MADE_LOADED},
		{".gradle", MADE_LOADED},
		{".next", MADE_LOADED},
		{".nuxt", MADE_LOADED},
		{".svelte-kit", MADE_LOADED},
		{".terraform", MADE_LOADED},
		{".bundle", MADE_LOADED},
		{".eggs", MADE_LOADED},
		{"__pycache__", MADE_CACHE},
		{".mypy_cache", MADE_CACHE},
		{".pytest_cache", MADE_CACHE},
		{".ruff_cache", MADE_CACHE},
		{"target", MADE_OFTEN},
		{"build", MADE_OFTEN},
		{"dist", MADE_OFTEN},
		{"vendor", MADE_OFTEN},
		{"out", MADE_OFTEN},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return rows[i].kind;
	return MADE_NOT;
}

/* --- virtual environments ------------------------------------------------------------------- */

static bool made_is_one_of(const char *const *names, size_t count, const char *part, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == len && memcmp(names[i], part, len) == 0)
			return true;
	return false;
}

bool made_is_venv_only(const char *dir, size_t len)
{
	static const char *const own[] = {".venv", ".virtualenv", ".conda"};
	static const char *const of[] = {".tox", ".nox"};
	size_t at = len, end;

	while (at > 0 && dir[at - 1] != '/')
		at--;
	if (made_is_one_of(own, BAWN_ARRAY_SIZE(own), dir + at, len - at))
		return true;
	for (end = at = at > 0 ? at - 1 : 0; at > 0 && dir[at - 1] != '/';)
		at--;
	return made_is_one_of(of, BAWN_ARRAY_SIZE(of), dir + at, end - at);
}

static bool made_is_venv_often(const char *dir, size_t len)
{
	static const char *const names[] = {"venv", "env", ".env", "ENV", "virtualenv"};
	size_t at = len;

	while (at > 0 && dir[at - 1] != '/')
		at--;
	return made_is_one_of(names, BAWN_ARRAY_SIZE(names), dir + at, len - at);
}

bool made_is_venv_name(const char *dir, size_t len)
{
	return made_is_venv_only(dir, len) || made_is_venv_often(dir, len);
}
