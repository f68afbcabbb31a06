/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around a change.
 *
 *	roots		folders with a .git at or above a change, in the final tree
 *	gitdirs		folders that git takes for a repository by what is in them (HEAD, objects,
 *			refs), whatever they are called: in the final tree, and before
 *	places		paths that the settings, hooks and links of the user's own tree name, and
 *			such files as .envrc and agents' settings.  They run what is there as much
 *			as a hook does.  Read from the tree as it was:
 *			what the agent wrote into settings is held itself, and makes no place
 *
 * A folder is looked at once; what can make a gitdir is asked only where a change is called like
 * a part of one.
 */
#include "hold_parts.h"

#include "fnv.h"
#include "git_config.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>

enum {
	HOLD_SETTINGS_MAX = 1 << 20,
	HOLD_HOOK_MAX = 256 << 10,
	HOLD_POINTER_MAX = 8 << 10,
	HOLD_HOPS_MAX = 8, /* of links that lead to links */
};

static int hold_no_memory(struct hold_judge *j)
{
	return error_set(j->error, -ENOMEM, "no memory to look at the changed folders");
}

/* --- folders -------------------------------------------------------------------------- */

const struct hold_dir *hold_dir_find(const struct hold_judge *j, const char *path, size_t len)
{
	uint32_t bucket = fnv_bytes(FNV_START, path, len) % HOLD_DIR_BUCKETS;
	const struct hold_dir *d = j->dirs[bucket];

	while (d && !(d->len == len && memcmp(d->path, path, len) == 0))
		d = d->next;
	return d;
}

static struct hold_dir *hold_dir_new(struct hold_judge *j, const char *path, size_t len)
{
	struct hold_dir *d = arena_alloc(&j->arena, sizeof(*d));
	uint32_t bucket = fnv_bytes(FNV_START, path, len) % HOLD_DIR_BUCKETS;

	if (!d)
		return NULL;
	d->path = arena_strn(&j->arena, path, len);
	d->len = len;
	d->next = j->dirs[bucket];
	j->dirs[bucket] = d;
	return d->path ? d : NULL;
}

/* dir/name, in the arena; "" is the top. */
static const char *hold_join(struct hold_judge *j, const char *dir, const char *name)
{
	return arena_printf(&j->arena, "%s%s%s", dir, *dir ? "/" : "", name);
}

static unsigned int hold_type(const struct view *v, const char *path)
{
	struct object o;

	return path && view_look(v, path, &o) == 0 ? o.type : OBJECT_ABSENT;
}

/* --- gitdirs -------------------------------------------------------------------------- */

/* The parts of a repository by which a change can make one, or change one. */
static bool hold_is_member(const char *name, size_t len)
{
	static const char *const members[] = {
		"HEAD",         "objects",  "refs",      "config",    "config.worktree",
		"hooks",        "info",     "commondir", "gitdir",    "modules",
		"remotes",      "branches", "worktrees", "sequencer", "rebase-merge",
		"rebase-apply",
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(members); i++)
		if (strlen(members[i]) == len && strncasecmp(members[i], name, len) == 0)
			return true;
	return false;
}

/* As git's own is_git_directory, but for looking into HEAD. */
static int hold_is_gitdir(struct hold_judge *j, const struct view *v, const char *dir, bool *ret)
{
	const char *head = hold_join(j, dir, "HEAD"), *objects = hold_join(j, dir, "objects");
	const char *refs = hold_join(j, dir, "refs"), *common = hold_join(j, dir, "commondir");

	if (!head || !objects || !refs || !common)
		return hold_no_memory(j);
	*ret = hold_type(v, head) != OBJECT_ABSENT &&
	       ((hold_type(v, objects) != OBJECT_ABSENT && hold_type(v, refs) != OBJECT_ABSENT) ||
		hold_type(v, common) != OBJECT_ABSENT);
	return 0;
}

static int hold_look_member(struct hold_judge *j, struct hold_dir *d)
{
	if (d->member)
		return 0;
	d->member = true;
	int r = hold_is_gitdir(j, j->view, d->path, &d->is_gitdir);

	if (r == 0 && d->is_gitdir)
		r = hold_is_gitdir(j, &j->before, d->path, &d->was_gitdir);
	return r;
}

/* --- places --------------------------------------------------------------------------- */

int hold_place_add(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
{
	struct hold_place *p = arena_alloc(&j->arena, sizeof(*p));
	char why[512];
	unsigned int row = 0;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	while (row < hold_row_count && !str_equal(hold_rows[row].name, rule))
		row++;
	if (++j->place_count > HOLD_PLACES_MAX || row == hold_row_count)
		return 0;
	if (!p)
		return hold_no_memory(j);
	/* The reason outlives this judgement. */
	*p = (struct hold_place){.next = j->places,
				 .path = arena_str(&j->arena, path),
				 .row = row,
				 .why = arena_str(&j->changes->arena, why)};
	j->places = p;
	return p->path && p->why ? 0 : hold_no_memory(j);
}

/* A link of the user's that stands where a rule's file does: what it leads to is one as well. */
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

/* Whose words are followed: the rule that what they name belongs to then, and which command would
 * run it.  `plain`: not what other rules know by its name, which are named for other reasons. */
struct hold_naming {
	const char *rule, *what;
	bool plain;
};

/* What is changed at this path, or a link that came in the place of a folder above it; `path` is
 * cut there. */
static const struct change *hold_changed(struct hold_judge *j, char *path)
{
	const struct change *c = changes_find(j->changes, path);

	if (c)
		return c->after.type != OBJECT_DIR ? c : NULL;
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		c = changes_find(j->changes, path);
		if (c && c->after.type == OBJECT_LINK)
			return c;
	}
	return NULL;
}

/* The changed file that a word names in the folder `dir`; NULL: none.  Behind a variable the word
 * counts from its first slash on: $ROOT/scripts/x, "$(git rev-parse --show-toplevel)"/scripts/x. */
static const struct change *hold_named(struct hold_judge *j, const char *dir, const char *word,
				       bool variable)
{
	char path[PATH_MAX];
	const char *slash = strchr(word, '/');
	const struct change *c = NULL;

	if (hold_resolve(j, dir, word, path) == 0 && *path)
		c = hold_changed(j, path);
	if (!c && slash && (variable || slash == word) &&
	    hold_resolve(j, dir, slash + strspn(slash, "/"), path) == 0 && *path)
		c = hold_changed(j, path);
	return c;
}

static bool hold_is_known(struct hold_judge *j, const char *path)
{
	hold_fold(path, &j->folded);
	return buf_error(&j->folded) == 0 &&
	       hold_find(j->rules, buf_str(&j->folded)) & ~j->rules->every;
}

/* Words of a command or a script that name a changed file, from the folder `dir`. */
static int hold_follow_words(struct hold_judge *j, const char *dir, struct span text,
			     const struct hold_naming *naming, const char *by)
{
	static const char between[] = " \t\r\n\"'`;|&()<>${}=,!";
	char word[PATH_MAX];
	int r = 0;

	for (size_t at = 0; r == 0 && at < text.len;) {
		size_t len = 0;

		while (at + len < text.len && text.ptr[at + len] &&
		       !strchr(between, text.ptr[at + len]))
			len++;
		if (len > 1 && len < sizeof(word)) {
			memcpy(word, text.ptr + at, len);
			word[len] = '\0';
			const struct change *c =
				hold_named(j, dir, word, at > 0 && text.ptr[at - 1] == '$');

			if (c && !(naming->plain && hold_is_known(j, c->path)))
				r = hold_place_add(j, c->path, naming->rule, "%s: %.150s names it",
						   naming->what, by);
		}
		at += len + 1;
	}
	return r;
}

/* --- repositories of the user's ------------------------------------------------------- */

static int hold_look_setting(struct hold_judge *j, const struct hold_root *root, const char *file,
			     const struct git_config *g)
{
	char dir[PATH_MAX], path[PATH_MAX];
	const char *by;
	bool core = str_equal(g->section, "core") && !g->has_subsection;

	if (core && str_equal(g->key, "hookspath")) {
		if (hold_resolve(j, root->path, g->value, path) < 0 || !*path)
			return 0;
		return hold_place_add(j, path, "git-hooks",
				      "git would run it: core.hooksPath of %.150s names its folder",
				      file);
	}
	if (core && str_equal(g->key, "attributesfile")) {
		if (hold_resolve(j, root->path, g->value, path) < 0 || !*path)
			return 0;
		return hold_place_add(j, path, "git-attributes", "core.attributesFile of %.150s",
				      file);
	}
	if (str_equal(g->key, "path") &&
	    (str_equal(g->section, "include") || str_equal(g->section, "includeif"))) {
		if (hold_parent(file, dir) < 0 || hold_resolve(j, dir, g->value, path) < 0 ||
		    !*path)
			return 0;
		return hold_place_add(j, path, "git-config", "%.150s includes it", file);
	}
	if (hold_key_of(g, &by) != HOLD_KEY_RUNS)
		return 0;
	char name[256];

	(void)snprintf(name, sizeof(name), "%.60s%s%.60s.%.60s of %.60s", g->section,
		       g->has_subsection ? "." : "", g->subsection, g->key, file);
	const struct hold_naming naming = {"git-hook-folders", by, false};

	return hold_follow_words(j, root->path, span_of_str(g->value), &naming, name);
}

static int hold_look_settings(struct hold_judge *j, const struct hold_root *root, const char *name)
{
	const char *file = hold_join(j, root->gitdir, name);
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_SETTINGS_MAX);

	if (!file)
		return hold_no_memory(j);
	int r = hold_follow(j, file, "git-config");

	if (r < 0 || hold_read_path(&j->before, file, HOLD_SETTINGS_MAX, &text) < 0)
		return r;
	struct git_config g = {.left = buf_span(&text)};

	while (r == 0 && git_config_next(&g) > 0)
		r = hold_look_setting(j, root, file, &g);
	return r;
}

struct hold_hooks {
	struct hold_judge *j;
	const struct hold_root *root;
	const char *dir;
};

static int hold_look_hook(void *context, const char *name)
{
	const struct hold_hooks *h = context;
	struct hold_judge *j = h->j;
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_HOOK_MAX);

	if (str_ends_with(name, ".sample"))
		return 0;
	const char *path = hold_join(j, h->dir, name);

	if (!path)
		return hold_no_memory(j);
	int r = hold_follow(j, path, "git-hooks");

	if (r < 0 || hold_read_path(&j->before, path, HOLD_HOOK_MAX, &text) < 0)
		return r;
	const struct hold_naming naming = {"git-hook-folders", "git would run it through a hook",
					   false};

	return hold_follow_words(j, h->root->path, buf_span(&text), &naming, path);
}

static int hold_look_hooks(struct hold_judge *j, const struct hold_root *root)
{
	const char *dir = hold_join(j, root->gitdir, "hooks");

	if (!dir)
		return hold_no_memory(j);
	int r = hold_follow(j, dir, "git-hooks");

	if (r < 0 || hold_type(&j->before, dir) != OBJECT_DIR)
		return r;
	struct hold_hooks h = {j, root, dir};

	r = view_list(&j->before, dir, hold_look_hook, &h);
	return r < 0 && j->error->code == 0 ? 0 : r;
}

/* Links that stand where a rule's own files do. */
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

/* --- what the user's own files name ---------------------------------------------------- */

/* Rules whose files are run by themselves, and so is what they name. */
static const struct hold_naming hold_namings[] = {
	{"git-hook-folders", "git would run it through a hook", true},
	{"direnv", "cd into the folder would run it", true},
	{"agent-settings", "the next coding agent would start it", true},
};

/* What .envrc asks for by a word, and direnv finds by a name. */
static const struct {
	const char *word, *file;
} hold_uses[] = {
	{"use flake", "flake.nix"},    {"use_flake", "flake.nix"},    {"use nix", "shell.nix"},
	{"use_nix", "shell.nix"},      {"use nix", "default.nix"},    {"use_nix", "default.nix"},
	{"use devenv", "devenv.nix"},  {"use_devenv", "devenv.nix"},  {"devbox", "devbox.json"},
	{"use devenv", "devenv.yaml"}, {"use_devenv", "devenv.yaml"},
};

struct hold_folder {
	struct hold_judge *j;
	const char *root, *dir;
	const struct hold_naming *naming;
};

static int hold_look_uses(const struct hold_folder *f, struct span text, const char *by)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(hold_uses); i++) {
		const char *word = hold_uses[i].word;
		const char *path = hold_join(f->j, f->root, hold_uses[i].file);

		if (!path)
			return hold_no_memory(f->j);
		if (text.len > 0 && memmem(text.ptr, text.len, word, strlen(word)) &&
		    changes_find(f->j->changes, path))
			r = hold_place_add(f->j, path, f->naming->rule, "%s: %.150s says %s",
					   f->naming->what, by, word);
	}
	return r;
}

static int hold_look_named(void *context, const char *name)
{
	const struct hold_folder *f = context;
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_HOOK_MAX);
	const char *path = hold_join(f->j, f->dir, name);

	if (!path)
		return hold_no_memory(f->j);
	if (hold_read_path(&f->j->before, path, HOLD_HOOK_MAX, &text) < 0)
		return 0;
	int r = hold_follow_words(f->j, f->root, buf_span(&text), f->naming, path);

	if (r == 0 && str_equal(f->naming->rule, "direnv"))
		r = hold_look_uses(f, buf_span(&text), path);
	return r;
}

/* Files of these rules that the user has in `dir`, and those in folders of theirs. */
static int hold_look_namings(struct hold_judge *j, const char *dir, const struct hold_row *row,
			     const struct hold_naming *naming)
{
	int r = 0;

	for (size_t i = 0; r == 0 && row->direct[i]; i++) {
		struct hold_folder f = {j, dir, dir, naming};
		const char *path = hold_join(j, dir, row->direct[i]);
		unsigned int type = hold_type(&j->before, path);

		if (!path)
			return hold_no_memory(j);
		if (type == OBJECT_FILE)
			r = hold_look_named(&f, row->direct[i]);
		if (type == OBJECT_DIR) {
			f.dir = path;
			r = view_list(&j->before, path, hold_look_named, &f);
			r = r < 0 && j->error->code == 0 ? 0 : r;
		}
	}
	return r;
}

/* A link of the user's in this folder, and in the place of a rule's file or of its folder. */
static int hold_look_link(void *context, const char *name)
{
	const struct hold_folder *f = context;
	struct hold_judge *j = f->j;
	int r = 0;

	hold_fold(name, &j->folded);
	if (buf_error(&j->folded))
		return 0;
	const char *folded = buf_str(&j->folded);
	uint64_t rows = (hold_find(j->rules, folded) | hold_find_below(j->rules, folded)) &
			~j->rules->every;
	/* Most names are no rule's: those cost no look. */
	const char *path = rows ? hold_join(j, f->dir, name) : NULL;

	if (rows && !path)
		return hold_no_memory(j);
	if (!rows || hold_type(&j->before, path) != OBJECT_LINK)
		return 0;
	for (size_t row = 0; r == 0 && row < hold_row_count; row++)
		if ((rows >> row & 1) && j->rules->levels[row] == HOLD_HOLD)
			r = hold_follow(j, path, hold_rows[row].name);
	return r;
}

static int hold_look_folder(struct hold_judge *j, const char *dir)
{
	struct hold_folder f = {j, dir, dir, NULL};
	int r = hold_look_links(j, dir);

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(hold_namings); i++)
		for (size_t row = 0; r == 0 && row < hold_row_count; row++)
			if (str_equal(hold_rows[row].name, hold_namings[i].rule))
				r = hold_look_namings(j, dir, &hold_rows[row], &hold_namings[i]);
	if (r == 0)
		r = view_list(&j->before, dir, hold_look_link, &f);
	return r < 0 && j->error->code == 0 ? 0 : r;
}

/* Where git keeps its own for a folder that has a .git of this type. */
static const char *hold_gitdir_of(struct hold_judge *j, const struct view *v, const char *root,
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
	/* A worktree has its settings and hooks from where its repository is, for its own files. */
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
	if (type == OBJECT_ABSENT)
		return 0;
	/* The user's own are never too many: an agent that makes hundreds hides none of them. */
	unsigned int was = hold_type(&j->before, dotgit);

	if (was == OBJECT_ABSENT && ++j->root_count > HOLD_ROOTS_MAX)
		return 0;
	struct hold_root *root = arena_alloc(&j->arena, sizeof(*root));

	if (!root)
		return hold_no_memory(j);
	*root = (struct hold_root){.next = j->roots,
				   .path = d->path,
				   .gitdir = hold_gitdir_of(j, j->view, d->path, type)};
	d->root = j->roots = root;
	/* What the user had there before. */
	struct hold_root old = {.path = d->path};

	if (was != OBJECT_ABSENT)
		old.gitdir = hold_gitdir_of(j, &j->before, d->path, was);
	int r = old.gitdir ? hold_look_gitdir(j, &old) : 0;

	if (r == 0 && was != OBJECT_ABSENT && *d->path)
		r = hold_look_folder(j, d->path);
	return r;
}

/* --- all of it ------------------------------------------------------------------------ */

/* The folder of this length, after the ones above it; NULL: no memory, and said. */
static struct hold_dir *hold_look_dir(struct hold_judge *j, const char *path, size_t len,
				      bool inside, const struct hold_root *above)
{
	/* Only we write to it. */
	struct hold_dir *d = (struct hold_dir *)(uintptr_t)hold_dir_find(j, path, len);

	if (d)
		return d;
	d = hold_dir_new(j, path, len);
	if (!d) {
		(void)hold_no_memory(j);
		return NULL;
	}
	d->root = above;
	return inside || hold_look_root(j, d) == 0 ? d : NULL;
}

static int hold_look_path(struct hold_judge *j, const char *path)
{
	const struct hold_root *above = NULL;
	bool inside = false; /* a .git */
	size_t len = 0;

	for (const char *at = path;;) {
		size_t part = strcspn(at, "/");
		struct hold_dir *d = hold_look_dir(j, path, len, inside, above);

		if (!d || (hold_is_member(at, part) && hold_look_member(j, d) < 0))
			return -ENOMEM;
		above = d->root;
		if (!at[part])
			return 0;
		inside = inside || (part == 4 && memcmp(at, ".git", 4) == 0);
		len = (size_t)(at - path) + part;
		at += part + 1;
	}
}

int hold_look_around(struct hold_judge *j)
{
	int r = hold_look_folder(j, "");

	for (size_t i = 0; r == 0 && i < j->changes->count; i++)
		if (j->changes->items[i].group != CHANGE_DROPPED)
			r = hold_look_path(j, j->changes->items[i].path);
	return r;
}
