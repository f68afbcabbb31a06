/* SPDX-License-Identifier: Apache-2.0 */
#include "picks.h"

#include "str.h"

/* Where the person stands, below the workspace. */
static const char *picks_here(const struct review *r)
{
	const char *cwd = r->host.cwd;

	if (!cwd || !str_path_beneath(cwd, r->layers.workspace))
		return "";
	cwd += strlen(r->layers.workspace);
	return *cwd == '/' ? cwd + 1 : cwd;
}

int picks_read(struct review *r, char *const *words, size_t count, struct picks *ret,
	       struct error *e)
{
	struct picks p = {.specs = arena_alloc(&r->arena, (count + 1) * sizeof(*p.specs))};

	if (!p.specs)
		return error_sys(e, -ENOMEM, "cannot read %zu paths", count);
	for (size_t i = 0; i < count; i++) {
		int code = pathspec_parse(words[i], r->layers.workspace, picks_here(r), &r->arena,
					  &p.specs[i], e);

		if (code < 0)
			return code;
		p.count++;
	}
	*ret = p;
	return 0;
}

bool picks_has(const struct picks *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (pathspec_is(&p->specs[i], path) || pathspec_covers(&p->specs[i], path))
			return true;
	return p->count == 0;
}

bool picks_has_change(const struct picks *p, const struct change *c)
{
	return picks_has(p, c->path) || (c->from && picks_has(p, c->from));
}
