/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A commit names the commit of each submodule.  No ref needs to reach that commit: `git switch
 * --recurse-submodules`, or submodule.recurse in the settings, writes its files all the same, from
 * what git keeps for the submodule (.git/modules/NAME), and a session can put objects there.  So we
 * judge it like a ref of the submodule.
 *
 * git finds the submodule by the name that .gitmodules of that commit says.  We look in every
 * repository below modules, and in that of the folder itself.  If none has the commit, git would
 * have to fetch it, and then the session did not bring it.  Nor did it bring what the user's refs
 * of the submodule reach.
 */
#include "hold_commits.h"

#include "str.h"

#include <stdio.h>

enum { MODULES_MAX = 256, MODULES_DEPTH = 6 };

/* The folders below modules of one repository.  Some of them are repositories. */
struct hold_modules {
	struct hold_modules *next;
	const char *of;
	const char *dirs[MODULES_MAX];
	size_t count;
	bool more;
};

struct module_listing {
	struct hold_judge *j;
	struct hold_modules *modules;
	const char *dir;
};

static int module_on_name(void *context, const char *name)
{
	const struct module_listing *l = context;
	struct hold_modules *m = l->modules;
	const char *path = hold_join(l->j, l->dir, name);

	if (!path)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++)
		if (str_equal(m->dirs[i], path))
			return 0;
	m->more = m->more || m->count == MODULES_MAX;
	if (!m->more)
		m->dirs[m->count++] = path;
	return 0;
}

/* Lists a folder.  A name may have slashes: a folder that is not a repository has others in it. */
static int module_list(struct hold_judge *j, struct hold_modules *m, const char *dir)
{
	const struct view *const views[] = {j->view, &j->before};
	struct module_listing l = {j, m, dir};
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < BAWN_ARRAY_SIZE(views); i++)
		r = view_list(views[i], dir, module_on_name, &l);
	return r == -ENOMEM ? hold_no_memory(j) : 0;
}

static bool module_is_repository(struct hold_judge *j, const char *dir)
{
	const char *objects = hold_join(j, dir, "objects");

	return hold_type(j->view, objects) == OBJECT_DIR ||
	       hold_type(&j->before, objects) == OBJECT_DIR;
}

static size_t module_depth(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static int module_find(struct hold_judge *j, const char *gitdir, struct hold_modules **ret)
{
	for (*ret = j->modules; *ret; *ret = (*ret)->next)
		if (str_equal((*ret)->of, gitdir))
			return 0;
	struct hold_modules *m = arena_alloc(&j->arena, sizeof(*m));
	const char *top = hold_join(j, gitdir, "modules");

	if (!m || !top)
		return hold_no_memory(j);
	m->of = gitdir;
	m->next = j->modules;
	*ret = j->modules = m;
	int r = module_list(j, m, top);

	for (size_t i = 0; r == 0 && i < m->count && !hold_is_late(j); i++) {
		if (module_is_repository(j, m->dirs[i]))
			continue;
		if (module_depth(m->dirs[i]) - module_depth(top) > MODULES_DEPTH)
			m->more = true;
		else
			r = module_list(j, m, m->dirs[i]);
	}
	return r;
}

/* Judges the commit in one repository, if that has it. */
static int module_judge(struct hold_judge *j, const char *gitdir, const char *path,
			const struct git_difference *d, struct hold_news *n)
{
	const struct git_name none = {.len = 0};
	struct hold_repo *sub = hold_repo_of(j, gitdir);

	if (!sub || sub->trouble || git_store_has(sub->walk.store, &d->object) < 0)
		return 0;
	if (sub->busy) {
		n->bad = "it names submodules that name one another";
		return 0;
	}
	struct hold_parts *parts = j->parts;
	const char *prefix = sub->prefix;
	const struct hold_news was = *n;

	sub->prefix = arena_printf(&j->arena, "%s/", path);
	if (!sub->prefix) {
		sub->prefix = prefix;
		return hold_no_memory(j);
	}
	sub->busy = true;
	n->checked_out = false;
	int r = j->judge_commit(j, sub, &none, &d->object, n);

	sub->busy = false;
	sub->prefix = prefix;
	j->parts = parts;
	n->commit = was.commit;
	n->is_tree = was.is_tree;
	n->checked_out = was.checked_out;
	return r;
}

int hold_judge_module(struct hold_judge *j, struct hold_repo *repo, const char *path,
		      const struct git_difference *d, struct hold_news *n)
{
	const struct view *const views[] = {j->view, &j->before};
	struct hold_modules *m = NULL;
	int r = hold_look_at(j, path);

	if (r == 0)
		r = module_find(j, repo->gitdir, &m);
	if (r == 0 && m && m->more && !n->bad)
		n->bad = "more is kept for submodules than can be looked into";
	for (size_t i = 0; r == 0 && m && i < m->count && !hold_is_late(j); i++)
		if (module_is_repository(j, m->dirs[i]))
			r = module_judge(j, m->dirs[i], path, d, n);
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(views); i++) {
		const char *gitdir = hold_gitdir_at(j, views[i], path);
		bool known = !gitdir || str_equal(gitdir, repo->gitdir);

		for (size_t k = 0; !known && m && k < m->count; k++)
			known = str_equal(m->dirs[k], gitdir);
		if (!known)
			r = module_judge(j, gitdir, path, d, n);
	}
	return r;
}
