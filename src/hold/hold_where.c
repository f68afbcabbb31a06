/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is around a change.
 *
 *	roots		folders with a .git at or above a change, in the final tree
 *	gitdirs		folders that git takes for a repository by what is in them (HEAD, objects,
 *			refs), whatever they are called: in the final tree, and before.  What a
 *			commit brings can be the part that was missing
 *	places		paths, with all beneath them, that belong to a rule because of the settings
 *			and links of the user's own tree
 *	names		paths that hooks, and files such as .envrc and agents' settings, name
 *			(hold_names.c).  These run what is there as a hook does
 *
 * We read places and names from the tree as it was before: settings that the agent wrote are held
 * themselves, and make no places or names.
 *
 * We look at a folder once.  We look for a gitdir only if a change has the name of a part of one.
 */
#include "hold_parts.h"

#include "dir.h"
#include "fnv.h"
#include "git_attributes.h"
#include "git_config.h"
#include "git_refs.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

enum {
	HOLD_POINTER_MAX = 8 << 10,
	HOLD_HOPS_MAX = 40,   /* links that lead to links: the kernel follows no more */
	HOLD_LINK_DIRS = 256, /* most folders in which we look for links */
	HOLD_HOOKS_MAX = 256, /* most files of a hooks folder that we read */
};

/*
 * A link of the user in the place of a rule's file: adds what it leads to as a place of that rule.
 */
static int hold_follow(struct hold_judge *j, const char *path, const char *rule)
{
	char link[PATH_MAX], dir[PATH_MAX], at[PATH_MAX], leads[PATH_MAX];
	int r = 0;

	if (strlen(path) >= sizeof(at))
		return 0;
	memcpy(at, path, strlen(path) + 1);
	for (size_t hops = 0; r == 0 && hops < HOLD_HOPS_MAX; hops++) {
		if (hold_read_link(&j->before, at, link) < 0 || hold_parent(at, dir) < 0 ||
		    hold_resolve(j, dir, link, leads) < 0 || !*leads)
			return 0;
		r = hold_place_add(j, leads, rule, "%.200s is a link to it", path);
		memcpy(at, leads, sizeof(at));
	}
	return r;
}

/* Where a path leads by links of the user.  *ret_out: to an absolute path outside; else `at` is a
 * path in the workspace.  False: it is no link. */
static bool hold_link_leads(struct hold_judge *j, const char *path, char at[PATH_MAX],
			    bool *ret_out)
{
	char link[PATH_MAX], dir[PATH_MAX], leads[PATH_MAX];
	size_t hops = 0;

	*ret_out = false;
	if (snprintf(at, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	for (; hops < HOLD_HOPS_MAX && !*ret_out; hops++) {
		if (hold_read_link(&j->before, at, link) < 0 || hold_parent(at, dir) < 0)
			break;
		*ret_out = hold_is_outside(j, dir, link, at);
		if (!*ret_out && hold_resolve(j, dir, link, leads) == 0)
			memcpy(at, leads, sizeof(leads));
	}
	return hops > 0;
}

/* --- repositories of the user's ------------------------------------------------------- */

/* The files that a settings file includes are settings files, too. */
static int hold_look_include(struct hold_judge *j, const char *file, const char *value,
			     struct hold_includes *more)
{
	char dir[PATH_MAX], path[PATH_MAX];

	if (hold_parent(file, dir) < 0 || hold_resolve(j, dir, value, path) < 0 || !*path)
		return 0;
	int r = hold_place_add(j, path, "git-config", "%.150s includes it", file);

	if (r == 0 && hold_leads(j, path, dir))
		r = hold_includes_add(j, more, dir);
	return r < 0 ? r : hold_includes_add(j, more, path);
}

/* Notes a driver that is set up here, because attributes may name it. */
static int hold_look_driver(struct hold_judge *j, const char *file, const struct git_config *g)
{
	bool is = false;

	for (size_t i = 0; i < GIT_DRIVER_COUNT; i++)
		is = is || str_equal(g->section, git_driver_words[i]);
	if (!is || !g->has_subsection ||
	    hold_user_driver(&j->here, g->section, span_of_str(g->subsection)))
		return 0;
	struct hold_setting *s = arena_alloc(&j->arena, sizeof(*s));

	if (!s)
		return hold_no_memory(j);
	*s = (struct hold_setting){.next = j->here.settings,
				   .file = arena_str(&j->arena, file),
				   .section = arena_str(&j->arena, g->section),
				   .subsection = arena_str(&j->arena, g->subsection),
				   .has_subsection = true};
	if (!s->file || !s->section || !s->subsection)
		return hold_no_memory(j);
	j->here.settings = s;
	return 0;
}

static int hold_look_setting(struct hold_judge *j, const char *root, const char *file,
			     const struct git_config *g, struct hold_includes *more)
{
	const char *by;
	struct hold_setting s = {.file = file,
				 .section = g->section,
				 .subsection = g->subsection,
				 .key = g->key,
				 .value = g->value,
				 .has_subsection = g->has_subsection};

	if (str_equal(g->key, "path") &&
	    (str_equal(g->section, "include") || str_equal(g->section, "includeif")))
		return hold_look_include(j, file, g->value, more);
	s.by = hold_key_of(g, &by) == HOLD_KEY_RUNS ? by : NULL;
	return hold_follow_setting(j, root, &s);
}

int hold_look_files(struct hold_judge *j, const char *root, const char *file)
{
	struct hold_includes more = {.files = {file}, .count = 1};
	int r = 0;

	for (size_t i = 0; r == 0 && i < more.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

		r = hold_follow(j, more.files[i], "git-config");
		if (r == 0)
			r = hold_read_named(j, more.files[i], &text);
		if (r != 0) {
			r = r > 0 ? 0 : r;
			continue;
		}
		struct git_config g = {.left = buf_span(&text)};

		while (r == 0 && git_config_next(&g) > 0) {
			r = hold_look_driver(j, more.files[i], &g);
			if (r == 0)
				r = hold_look_setting(j, root, more.files[i], &g, &more);
		}
	}
	return r;
}

static int hold_look_settings(struct hold_judge *j, const struct hold_root *root, const char *name)
{
	const char *file = hold_join(j, root->gitdir, name);

	return file ? hold_look_files(j, root->path, file) : hold_no_memory(j);
}

struct hold_hooks {
	struct hold_judge *j;
	const char *root, *dir;
	size_t count;
};

static int hold_look_hook(void *context, const char *name)
{
	struct hold_hooks *h = context;
	struct hold_judge *j = h->j;
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

	if (str_ends_with(name, ".sample") || ++h->count > HOLD_HOOKS_MAX)
		return 0;
	const char *path = hold_join(j, h->dir, name);

	if (!path)
		return hold_no_memory(j);
	int r = hold_follow(j, path, "git-hooks");
	char leads[PATH_MAX];
	bool out = false, link = hold_link_leads(j, path, leads, &out);

	if (r == 0 && out)
		return hold_look_hook_outside(j, h->root, leads);
	/* A file that is longer is not a script. */
	if (r < 0 || hold_read_path(&j->before, link ? leads : path, HOLD_READ_MAX, &text) < 0)
		return r;
	const struct hold_naming naming = {.rule = "git-hook-folders",
					   .what = "git would run it through a hook"};

	r = hold_follow_file(j, h->root, path, buf_span(&text), &naming, NULL);
	return r < 0 ? r : hold_look_run(j, h->root, path, buf_span(&text), &naming);
}

int hold_look_hook_folder(struct hold_judge *j, const char *root, const char *dir)
{
	char leads[PATH_MAX];
	bool out = false;

	if (*dir && hold_link_leads(j, dir, leads, &out)) {
		if (out)
			return hold_look_hooks_outside(j, root, leads);
		dir = leads;
	}
	struct hold_hooks h = {j, root, dir, 0};
	const char *name;
	int r = 0;

	/* It is the workspace itself: only files with the names of hooks are hooks. */
	for (size_t i = 0; !*dir && r == 0 && (name = hold_hook_at(i)); i++)
		r = hold_look_hook(&h, name);
	if (*dir && hold_type(&j->before, dir) == OBJECT_DIR)
		r = view_list(&j->before, dir, hold_look_hook, &h);
	return r < 0 && j->error->code == 0 ? 0 : r;
}

static int hold_look_hooks(struct hold_judge *j, const struct hold_root *root)
{
	const char *dir = hold_join(j, root->gitdir, "hooks");

	if (!dir)
		return hold_no_memory(j);
	int r = hold_follow(j, dir, "git-hooks");

	return r < 0 ? r : hold_look_hook_folder(j, root->path, dir);
}

/* Follows links in the places of the rules' files. */
static int hold_look_links(struct hold_judge *j, const char *dir)
{
	int r = 0;

	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		for (size_t i = 0; r == 0 && hold_rows[row].direct[i]; i++) {
			const char *path = hold_join(j, dir, hold_rows[row].direct[i]);

			r = path ? hold_follow(j, path, hold_rows[row].name) : hold_no_memory(j);
		}
	return r;
}

/* --- links and folders ----------------------------------------------------------------- */

struct hold_folder {
	struct hold_judge *j;
	const char *dir;
};

/* Follows a link of the user in this folder, if it is in the place of a rule's file or folder. */
static int hold_look_link(void *context, const char *name)
{
	const struct hold_folder *f = context;
	struct hold_judge *j = f->j;
	const char *path = hold_join(j, f->dir, name);
	int r = 0;

	if (!path)
		return hold_no_memory(j);
	/* The folders above count as well: tasks.json is a rule's file in .vscode. */
	hold_fold(path, &j->folded);
	if (buf_error(&j->folded))
		return 0;
	const char *folded = buf_str(&j->folded);
	uint64_t rows = (hold_find(j->rules, folded) | hold_find_below(j->rules, folded)) &
			~j->rules->every;

	/* Most names belong to no rule: for these we do not ask the filesystem. */
	if (!rows || hold_type(&j->before, path) != OBJECT_LINK)
		return 0;
	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		if ((rows >> row & 1) && j->rules->levels[row] == HOLD_HOLD)
			r = hold_follow(j, path, hold_rows[row].name);
	return r;
}

static int hold_look_folder(struct hold_judge *j, const char *dir)
{
	struct hold_folder f = {j, dir};
	int r = hold_look_links(j, dir);

	if (r == 0)
		r = hold_look_named(j, dir);
	if (r == 0)
		r = view_list(&j->before, dir, hold_look_link, &f);
	return r < 0 && j->error->code == 0 ? 0 : r;
}

/* Where git keeps its own files for a folder that has a .git of this type. */
static const char *hold_dotgit_leads(struct hold_judge *j, const struct view *v, const char *root,
				     unsigned int type)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_POINTER_MAX);
	char link[PATH_MAX], path[PATH_MAX];
	const char *dotgit = hold_join(j, root, ".git");
	const char *to = NULL;

	if (!dotgit || type == OBJECT_DIR)
		return dotgit;
	if (type == OBJECT_LINK && hold_read_link(v, dotgit, link) == 0)
		to = link;
	if (type == OBJECT_FILE && hold_read_path(v, dotgit, HOLD_POINTER_MAX, &text) == 0) {
		to = str_after(buf_str(&text), "gitdir: ");
		for (size_t n = text.len; n > 0 && text.ptr[n - 1] == '\n'; n--)
			text.ptr[n - 1] = '\0';
	}
	return to && hold_resolve(j, root, to, path) == 0 ? arena_str(&j->arena, path) : NULL;
}

static int hold_look_gitdir(struct hold_judge *j, const struct hold_root *old)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_POINTER_MAX);
	struct hold_root common = {.path = old->path};
	char path[PATH_MAX];
	const char *file = hold_join(j, old->gitdir, "commondir");

	if (!file)
		return hold_no_memory(j);
	int r = hold_look_settings(j, old, "config");

	if (r == 0)
		r = hold_look_settings(j, old, "config.worktree");
	if (r == 0)
		r = hold_look_hooks(j, old);
	if (r < 0 || hold_read_path(&j->before, file, HOLD_POINTER_MAX, &text) < 0)
		return r;
	/* A worktree takes settings and hooks from its repository, and they are about the
	 * worktree's files. */
	for (size_t n = text.len; n > 0 && text.ptr[n - 1] == '\n'; n--)
		text.ptr[n - 1] = '\0';
	if (hold_resolve(j, old->gitdir, buf_str(&text), path) < 0)
		return 0;
	common.gitdir = path;
	r = hold_look_settings(j, &common, "config");
	return r < 0 ? r : hold_look_hooks(j, &common);
}

static int hold_look_root(struct hold_judge *j, struct hold_dir *d)
{
	const char *dotgit = hold_join(j, d->path, ".git");
	unsigned int type = hold_type(j->view, dotgit);

	if (!dotgit)
		return hold_no_memory(j);
	unsigned int was = hold_type(&j->before, dotgit);

	/* A .git that the session removed is still the user's: its removal is held, or the user
	 * does not name it, and then its hooks and settings stay. */
	if (type == OBJECT_ABSENT && was == OBJECT_ABSENT)
		return 0;
	/* The user's repositories are never too many: an agent that makes hundreds hides none of
	 * them. */
	if (was == OBJECT_ABSENT && ++j->root_count > HOLD_ROOTS_MAX)
		return hold_place_add(j, d->path, "git-hook-folders",
				      "more repositories are new than can be looked into (%d): "
				      "what your own settings of git would run in this one is not "
				      "known",
				      HOLD_ROOTS_MAX);
	struct hold_root *root = arena_alloc(&j->arena, sizeof(*root));

	if (!root)
		return hold_no_memory(j);
	/* What the user had there before. */
	struct hold_root old = {.path = d->path};

	if (was != OBJECT_ABSENT)
		old.gitdir = hold_dotgit_leads(j, &j->before, d->path, was);
	*root = (struct hold_root){
		.next = j->roots,
		.path = d->path,
		.gitdir = type == OBJECT_ABSENT ? old.gitdir
						: hold_dotgit_leads(j, j->view, d->path, type)};
	d->root = j->roots = root;
	int r = hold_look_user(j, d->path);

	if (r == 0 && old.gitdir)
		r = hold_look_gitdir(j, &old);

	if (r == 0 && was != OBJECT_ABSENT && *d->path)
		r = hold_look_folder(j, d->path);
	return r;
}

/* --- all of it ------------------------------------------------------------------------ */

/* The folder at the first `len` letters, after the ones above it; NULL: no memory, and the error is
 * set. */
static struct hold_dir *hold_look_dir(struct hold_judge *j, const char *path, size_t len,
				      bool inside, const struct hold_root *above)
{
	/* Only this file writes to it. */
	struct hold_dir *d = (struct hold_dir *)(uintptr_t)hold_dir_find(j, path, len);

	if (d)
		return d;
	d = hold_dir_new(j, path, len);
	if (!d) {
		(void)hold_no_memory(j);
		return NULL;
	}
	d->root = above;
	if (inside)
		return d;
	return hold_look_root(j, d) == 0 && hold_look_package(j, d->path) == 0 ? d : NULL;
}

static int hold_look_path(struct hold_judge *j, const char *path)
{
	const struct hold_root *above = NULL;
	bool inside = false; /* the path is inside a .git */
	size_t len = 0;

	for (const char *at = path;;) {
		size_t part = strcspn(at, "/");
		struct hold_dir *d = hold_look_dir(j, path, len, inside, above);

		if (!d)
			return -ENOMEM;
		if (git_is_member(at, part))
			hold_look_member(j, d, 0, 0);
		above = d->root;
		if (!at[part])
			return 0;
		inside = inside || (part == 4 && memcmp(at, ".git", 4) == 0);
		len = (size_t)(at - path) + part;
		at += part + 1;
	}
}

int hold_look_above(struct hold_judge *j, const char *path)
{
	const struct hold_root *above = NULL;

	for (const char *at = path; at; at = strchr(at, '/')) {
		at += at > path;
		size_t len = at > path ? (size_t)(at - path) - 1 : 0;
		struct hold_dir *d = hold_look_dir(j, path, len, false, above);

		if (!d)
			return -ENOMEM;
		above = d->root;
	}
	return 0;
}

int hold_look_at(struct hold_judge *j, const char *path)
{
	const char *below = hold_join(j, path, "x");

	return below ? hold_look_path(j, below) : hold_no_memory(j);
}

const char *hold_gitdir_at(struct hold_judge *j, const struct view *v, const char *root)
{
	unsigned int type = hold_type(v, hold_join(j, root, ".git"));

	return type == OBJECT_ABSENT ? NULL : hold_dotgit_leads(j, v, root, type);
}

/* Follows the links of a folder of the user, and adds the folders in it to `waiting`. */
static int hold_look_below(struct hold_judge *j, const char *dir, const char **waiting,
			   size_t *count)
{
	static const char *const large[] = {".git", "node_modules", ".venv", "target"};
	_cleanup_dir_ DIR *list = dir_read(
		open_beneath(j->view->base, *dir ? dir : ".", O_RDONLY | O_DIRECTORY, 0), NULL);
	struct hold_folder f = {j, dir};
	int r = 0;

	for (const struct dirent *e; r == 0 && (e = dir_next(list, NULL));) {
		bool is_large = false;

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(large); i++)
			is_large = is_large || str_equal(e->d_name, large[i]);
		if (e->d_type == DT_LNK)
			r = hold_look_link(&f, e->d_name);
		if (e->d_type != DT_DIR || is_large || *count == HOLD_LINK_DIRS)
			continue;
		waiting[*count] = hold_join(j, dir, e->d_name);
		if (!waiting[(*count)++])
			r = hold_no_memory(j);
	}
	return r;
}

/* Follows links of the user in the folders nearest to the top: sub/.vscode that leads to
 * shared/vscode. */
static int hold_look_near(struct hold_judge *j)
{
	const char *waiting[HOLD_LINK_DIRS];
	size_t count = 0;
	int r = j->view->base < 0 ? 0 : hold_look_below(j, "", waiting, &count);

	for (size_t i = 0; r == 0 && i < count && !hold_is_late(j); i++)
		r = hold_look_below(j, waiting[i], waiting, &count);
	return r;
}

/* The rest of the path within the outermost repository, of the user's first: a repository that a
 * session makes inside another one hides nothing. */
static const char *hold_git_rest(const struct hold_judge *j, const char *path)
{
	const char *found = git_rest(path);
	bool named = found, was = false;

	for (const char *at = path; !named && !was && at;) {
		size_t len = at == path ? 0 : (size_t)(at - path) - 1;
		const struct hold_dir *d = hold_dir_find(j, path, len);
		const char *slash = strchr(at, '/');

		was = d && d->is_gitdir && d->was_gitdir;
		if (was || (!found && d && d->is_gitdir))
			found = at;
		at = slash ? slash + 1 : NULL;
	}
	/* The part after that of a submodule or a worktree that git keeps there. */
	return named || !found ? found : git_rest_below(found);
}

int hold_look_around(struct hold_judge *j)
{
	int r = hold_look_folder(j, "");

	if (r == 0 && j->changes->count)
		r = hold_look_near(j);
	if (r == 0 && j->changes->count)
		r = hold_look_outside(j);
	if (r == 0 && j->changes->count)
		r = hold_look_home(j);
	if (r == 0)
		r = hold_look_archives(j);

	for (size_t i = 0; r == 0 && i < j->changes->count && !hold_is_late(j); i++)
		if (j->changes->items[i].group != CHANGE_DROPPED)
			r = hold_look_path(j, j->changes->items[i].path);
	for (size_t i = 0; i < j->changes->count; i++)
		j->changes->items[i].git = hold_git_rest(j, j->changes->items[i].path);
	return r;
}
