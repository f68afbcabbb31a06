/* SPDX-License-Identifier: Apache-2.0 */
#include "direct.h"

#include "buf.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "second_names.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

enum {
	DIRECT_PATHS_MAX = 512,
	DIRECT_MOUNTS_MAX = 256,
	DIRECT_DEPTH_MAX = 8,
	DIRECT_LATE_NAMES = 8, /* by mounts, for each path that does not exist yet */
};

struct direct {
	struct plan *plan;
	const struct host *host;
	struct arena *arena;
	const char *paths[DIRECT_PATHS_MAX]; /* in lower case: we find names in any case */
	size_t path_count;
	struct plan_mount mounts[DIRECT_MOUNTS_MAX];
	size_t count;
};

static int direct_add(struct direct *d, int fd, const char *path, enum plan_access access)
{
	struct stat st;

	for (size_t i = 0; i < d->count; i++)
		if (str_equal(d->mounts[i].target, path))
			return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (d->count == DIRECT_MOUNTS_MAX)
		return -E2BIG;
	d->mounts[d->count++] = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
						    .access = access,
						    .target = path,
						    .source = path,
						    .dev = st.st_dev,
						    .ino = st.st_ino,
						    .role = "held",
						    .origin = "workspace.mode"};
	return 0;
}

/* What is left of a path after its first part, if that is name; else NULL. */
static const char *direct_rest(const char *path, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(path, name, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

static int direct_look(struct direct *d, int dir, const char *above, const char *const *paths,
		       size_t path_count, int depth);

/* It is gone, or a link: nothing to protect.  Any other failure ends the launch. */
static bool direct_is_no_place(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

/* Handles an entry with which some of the paths begin: it is one of them, or some are beneath
 * it. */
static int direct_take(struct direct *d, int dir, const char *above, const char *name,
		       const char *const *paths, size_t path_count, int depth)
{
	const char *beneath[DIRECT_PATHS_MAX];
	size_t count = 0;
	bool itself = false;

	for (size_t i = 0; i < path_count; i++) {
		const char *rest = direct_rest(paths[i], name);

		if (rest && *rest == '\0')
			itself = true;
		else if (rest)
			beneath[count++] = rest;
	}
	if (!itself && count == 0)
		return 0;
	/* We do not follow a link: what it leads to is not what is protected. */
	_cleanup_fd_ int fd = open_beneath(dir, name, O_PATH, 0);
	const char *path = arena_printf(d->arena, "%s/%s", above, name);
	struct stat st;

	if (fd < 0)
		return direct_is_no_place(fd) ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!path)
		return -ENOMEM;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	/* In a worktree or a submodule .git is a file, which says where the repository is. */
	if (itself || (S_ISREG(st.st_mode) && strcasecmp(name, ".git") == 0))
		return direct_add(d, fd, path, PLAN_ACCESS_READ);
	if (!S_ISDIR(st.st_mode) || depth == DIRECT_DEPTH_MAX)
		return 0;
	size_t before = d->count;
	int r = direct_add(d, fd, path, PLAN_ACCESS_WRITE);

	if (r == 0)
		r = direct_look(d, fd, path, beneath, count, depth + 1);
	/* Nothing in it is protected, so the box may move it like anything else; except a
	 * repository, in which hooks may be made at any time. */
	if (r == 0 && d->count == before + 1 && strcasecmp(name, ".git") != 0)
		d->count = before;
	return r;
}

static int direct_look(struct direct *d, int dir, const char *above, const char *const *paths,
		       size_t path_count, int depth)
{
	int r = 0;
	_cleanup_dir_ DIR *list = dir_read(open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0), &r);

	for (const struct dirent *entry; r == 0 && (entry = dir_next(list, &r));)
		r = direct_take(d, dir, above, entry->d_name, paths, path_count, depth);
	return r;
}

/*
 * The repository that a file .git at the top names, if it is in the workspace (`.bare`, with
 * worktrees beside it): its path in the workspace, or NULL.
 */
static const char *direct_pointed(const struct direct *d, int dir)
{
	_cleanup_fd_ int fd = open_file(dir, ".git", O_RDONLY, 0);
	_cleanup_buf_ struct buf text = BUF_INIT(PATH_MAX);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return NULL;
	const char *to = str_after(buf_str(&text), "gitdir:");

	if (!to)
		return NULL;
	to += strspn(to, " ");
	if (*to == '/') {
		to = str_after(to, d->plan->workspace);
		if (!to || *to != '/')
			return NULL;
	}
	while (*to == '/' || str_after(to, "./"))
		to++;
	size_t len = strcspn(to, "\r\n");

	while (len > 0 && to[len - 1] == '/')
		len--;
	const char *path = len > 0 ? arena_strn(d->arena, to, len) : NULL;
	/* open_beneath does not open a path that climbs out. */
	_cleanup_fd_ int there = path ? open_beneath(dir, path, O_PATH | O_DIRECTORY, 0) : -ENOENT;

	return there < 0 ? NULL : path;
}

/* Adds for that repository the paths that are read-only in .git. */
static int direct_add_pointed(struct direct *d, int dir)
{
	const char *to = direct_pointed(d, dir);
	size_t count = to ? d->path_count : 0;

	for (size_t i = 0; i < count; i++) {
		const char *rest = str_after(d->paths[i], ".git/");

		if (!rest)
			continue;
		if (d->path_count == DIRECT_PATHS_MAX)
			return -E2BIG;
		d->paths[d->path_count] = arena_printf(d->arena, "%s/%s", to, rest);
		if (!d->paths[d->path_count++])
			return -ENOMEM;
	}
	return 0;
}

/* Puts the mounts after the workspace's own, before any other that is mounted in it. */
static int direct_insert(struct direct *d)
{
	struct plan *p = d->plan;
	struct plan_mount *all = arena_alloc(d->arena, (p->mounts.count + d->count) * sizeof(*all));
	size_t count = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < p->mounts.count; i++) {
		all[count++] = p->mounts.items[i];
		if (!str_equal(p->mounts.items[i].role, "workspace"))
			continue;
		memcpy(all + count, d->mounts, d->count * sizeof(*all));
		count += d->count;
	}
	p->mounts.items = all;
	p->mounts.count = count;
	return 0;
}

/* Finds where else in the workspace the path, a part of it, or a folder above it is mounted. */
static int direct_find_mounted(const struct direct *d, const char *path, struct host_list *into)
{
	size_t kept = 0;
	int r = host_mounted_as(d->host, path, into, d->arena);

	for (size_t i = 0; r == 0 && i < into->count; i++)
		if (str_path_beneath(into->items[i].name, d->plan->workspace) &&
		    !str_equal(into->items[i].name, d->plan->workspace))
			into->items[kept++] = into->items[i];
	into->count = kept;
	return r;
}

/* Lists the paths that do not exist yet.  The repository comes before what is in it. */
static int direct_add_late(struct direct *d, int dir)
{
	static const char git[] = ".git";
	size_t room = DIRECT_LATE_NAMES * (d->path_count + 1);
	struct plan_string *late = arena_alloc(d->arena, room * sizeof(*late));
	struct host_list mounted = {.count = 0};
	size_t count = 0;
	struct stat st;

	if (!late)
		return -ENOMEM;
	for (size_t i = 0; i <= d->path_count; i++) {
		const char *path = i == 0 ? git : d->paths[i - 1];

		if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		    (errno != ENOENT && errno != ENOTDIR))
			continue;
		late[count].text = arena_printf(d->arena, "%s/%s", d->plan->workspace, path);
		if (!late[count++].text)
			return -ENOMEM;
	}
	/* Also under a second name of the workspace, or of a folder in it. */
	for (size_t i = 0, own = count; d->host->mount_count > 0 && i < own; i++) {
		mounted.count = 0;
		int r = direct_find_mounted(d, late[i].text, &mounted);

		if (r == 0 && count + mounted.count > room)
			r = -E2BIG;
		for (size_t n = 0; r == 0 && n < mounted.count; n++)
			late[count++].text = mounted.items[n].name;
		if (r < 0)
			return r;
	}
	d->plan->direct_late.items = late;
	d->plan->direct_late.count = count;
	return 0;
}

static int direct_on_name(void *context, int fd, const char *path, const struct second_file *file)
{
	struct direct *d = context;
	const char *kept = arena_str(d->arena, path);

	(void)file;
	return kept ? direct_add(d, fd, kept, PLAN_ACCESS_READ) : -ENOMEM;
}

static bool direct_is_protected(void *context, const char *path)
{
	const struct direct *d = context;

	for (size_t i = 0; i < d->count; i++)
		if (d->mounts[i].access == PLAN_ACCESS_READ && str_equal(d->mounts[i].target, path))
			return true;
	return false;
}

/* Whether other names of it count.  For a repository all do: what git obeys can be made in it at
 * any time. */
static bool direct_has_names(const struct plan_mount *m)
{
	return m->access == PLAN_ACCESS_READ || str_ends_with(m->target, "/.git");
}

/* Adds the other mounts of these things in the workspace. */
static int direct_add_mounted(struct direct *d)
{
	size_t count = d->host->mount_count > 0 ? d->count : 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct host_list found = {.count = 0};

		if (direct_has_names(&d->mounts[i]))
			r = direct_find_mounted(d, d->mounts[i].target, &found);
		for (size_t n = 0; r == 0 && n < found.count; n++) {
			_cleanup_fd_ int fd = found.items[n].path
						      ? open_no_links(found.items[n].path, O_PATH)
						      : -ENOENT;

			r = fd >= 0 ? direct_add(d, fd, found.items[n].path, PLAN_ACCESS_READ)
			    : direct_is_no_place(fd) ? 0
						     : fd;
		}
	}
	return r;
}

/* Protects each thing by each name that the workspace has for it; and each folder that we cannot
 * read, in which there may be such names. */
static int direct_add_names(struct direct *d, int dir)
{
	_cleanup_second_names_ struct second_names n = SECOND_NAMES_INIT;
	size_t count = d->count;
	int r = direct_add_mounted(d);

	n.passes = direct_is_protected;
	n.found = direct_on_name;
	n.context = d;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (d->mounts[i].access != PLAN_ACCESS_READ)
			continue;
		const char *rest = d->mounts[i].target + strlen(d->plan->workspace) + 1;
		_cleanup_fd_ int fd = open_beneath(dir, rest, O_PATH, 0);

		r = fd < 0 ? fd : second_names_gather(&n, fd, i);
	}
	return r < 0 ? r : second_names_find(&n, dir, d->plan->workspace);
}

int direct_protect(struct plan *plan, const struct host *host, const struct hold_rules *rules,
		   struct arena *arena, struct error *e)
{
	static struct direct d;
	_cleanup_fd_ int dir = open_no_links(plan->workspace, O_PATH | O_DIRECTORY);

	d = (struct direct){.plan = plan, .host = host, .arena = arena};
	d.path_count = hold_direct_paths(rules, d.paths, DIRECT_PATHS_MAX);
	int r = dir < 0 ? dir : direct_add_pointed(&d, dir);

	if (r == 0)
		r = direct_look(&d, dir, plan->workspace, d.paths, d.path_count, 0);
	if (r == 0)
		r = direct_add_names(&d, dir);
	if (r == 0 && d.count > 0)
		r = direct_insert(&d);
	if (r == 0)
		r = direct_add_late(&d, dir);
	return r < 0 ? error_sys(e, r, "cannot protect what %s would run later", plan->workspace)
		     : 0;
}

/* --- the workspace by another name ---------------------------------------------------- */

/* Whether m is the folder at the path, or one above it. */
static bool direct_is_on_way(const char *path, const struct plan_mount *m)
{
	char at[PATH_MAX];
	struct stat st;

	(void)snprintf(at, sizeof(at), "%s", path);
	for (char *slash; (slash = strrchr(at, '/')) != NULL; *slash = '\0') {
		if (stat(*at ? at : "/", &st) == 0 && st.st_dev == m->dev && st.st_ino == m->ino)
			return true;
	}
	return false;
}

/* Where something protected is mounted in a folder that may be written; NULL: nowhere. */
static const char *direct_is_mounted_in(const struct plan_mount *m, const struct plan_mount *held,
					const struct host *host, struct arena *arena)
{
	struct host_list found = {.count = 0};

	if (!str_equal(held->role, "held") || !direct_has_names(held) ||
	    host_mounted_as(host, held->source, &found, arena) < 0)
		return NULL;
	for (size_t i = 0; i < found.count; i++)
		if (str_path_beneath(found.items[i].name, m->source))
			return found.items[i].name;
	return NULL;
}

int direct_refuse_aliases(const struct plan *plan, const struct host *host, struct arena *arena,
			  struct error *e)
{
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (!str_equal(m->role, "named") || m->access != PLAN_ACCESS_WRITE ||
		    str_path_beneath(plan->workspace, m->source) ||
		    str_path_beneath(m->source, plan->workspace))
			continue;
		const char *same = direct_is_on_way(plan->workspace, m) ? m->source : NULL;

		for (size_t k = 0; !same && k < plan->mounts.count; k++) {
			const struct plan_mount *held = &plan->mounts.items[k];

			same = direct_is_mounted_in(m, held, host, arena);
			if (str_equal(held->role, "held") && direct_is_on_way(held->source, m))
				same = m->source;
		}
		if (!same)
			continue;
		error_set(e, -EINVAL,
			  "%s is a part of the workspace, or around it, by another name", same);
		error_next(e, "Name it as it is in or around %s, or go without --write.",
			   plan->workspace);
		return -EINVAL;
	}
	return 0;
}

/* --- above what is covered ------------------------------------------------------------ */

/* Whether the box can rename things in it, and they are the user's. */
static bool direct_is_bare(const struct plan *plan, const struct plan_mount *m)
{
	if (m->kind != PLAN_MOUNT_BIND || m->access != PLAN_ACCESS_WRITE)
		return false;
	if (str_equal(m->role, "workspace"))
		return plan->workspace_mode == PLAN_MODE_DIRECT;
	return str_equal(m->role, "named") || str_equal(m->role, "held") ||
	       str_equal(m->role, "fixed");
}

/* Puts a mount after the one that it is in, and so before any that is mounted in it. */
static int direct_put(struct plan *plan, struct arena *arena, size_t behind,
		      const struct plan_mount *new)
{
	size_t count = plan->mounts.count;
	struct plan_mount *all = arena_alloc(arena, (count + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	memcpy(all, plan->mounts.items, (behind + 1) * sizeof(*all));
	all[behind + 1] = *new;
	memcpy(all + behind + 2, plan->mounts.items + behind + 1,
	       (count - behind - 1) * sizeof(*all));
	plan->mounts.items = all;
	plan->mounts.count = count + 1;
	return 0;
}

/* --- a repository that is given for writing ------------------------------------------- */

static int direct_keep(struct plan *plan, struct arena *arena, size_t behind, const char *dir,
		       const char *name)
{
	const struct plan_mount *above = &plan->mounts.items[behind];
	const char *path = arena_printf(arena, "%s/%s", dir, name);
	_cleanup_fd_ int fd = path ? open_no_links(path, O_PATH) : -ENOMEM;
	struct stat st;

	if (fd < 0)
		return direct_is_no_place(fd) ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	const struct plan_mount new = {.kind = PLAN_MOUNT_BIND,
				       .access = PLAN_ACCESS_READ,
				       .target = path,
				       .source = path,
				       .dev = st.st_dev,
				       .ino = st.st_ino,
				       .role = "fixed",
				       .origin = above->origin};

	return S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) ? direct_put(plan, arena, behind, &new)
							  : 0;
}

/* Protects the repositories of submodules as a whole: each has settings and hooks, and git goes
 * into them by itself.  Not the workspace's own one, nor the folders on the way to it. */
static int direct_keep_modules(struct plan *plan, struct arena *arena, size_t behind,
			       const char *dir, const char *own)
{
	int r = 0;
	_cleanup_dir_ DIR *list = dir_read(open_no_links(dir, O_RDONLY | O_DIRECTORY), &r);

	for (const struct dirent *entry; r == 0 && (entry = dir_next(list, &r));) {
		const char *module = arena_printf(arena, "%s/%s", dir, entry->d_name);

		if (!module)
			r = -ENOMEM;
		else if (!str_path_beneath(own, module))
			r = direct_keep(plan, arena, behind, dir, entry->d_name);
		else if (!str_equal(own, module))
			r = direct_keep_modules(plan, arena, behind, module, own);
		if (plan->mounts.count > PLAN_MOUNTS_MAX)
			r = -E2BIG;
	}
	return r;
}

/* Protects what says where the repository of each worktree is. */
static int direct_keep_worktrees(struct plan *plan, struct arena *arena, size_t behind,
				 const char *git)
{
	static const char *const names[] = {"commondir", "gitdir", "config.worktree", "modules"};
	const char *all = arena_printf(arena, "%s/worktrees", git);
	int r = all ? 0 : -ENOMEM;
	_cleanup_fd_ int dir = all ? open_no_links(all, O_RDONLY | O_DIRECTORY) : -ENOMEM;

	if (dir < 0)
		return direct_is_no_place(dir) ? 0 : dir;
	_cleanup_dir_ DIR *list = dir_read(TAKE_FD(dir), &r);

	for (const struct dirent *entry; r == 0 && (entry = dir_next(list, &r));)
		for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(names); i++) {
			const char *one = arena_printf(arena, "%s/%s", entry->d_name, names[i]);

			r = one ? direct_keep(plan, arena, behind, all, one) : -ENOMEM;
		}
	return r;
}

static int direct_keep_repository(struct plan *plan, struct arena *arena, size_t behind,
				  const char *git, const char *own)
{
	static const char *const names[] = {"config", "config.worktree", "hooks", "info/attributes",
					    "objects/info/alternates"};
	const char *modules = arena_printf(arena, "%s/modules", git);
	int r = modules ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(names); i++)
		r = direct_keep(plan, arena, behind, git, names[i]);
	if (r == 0)
		r = direct_keep_worktrees(plan, arena, behind, git);
	if (r < 0)
		return r;
	return str_path_beneath(own, modules)
		       ? direct_keep_modules(plan, arena, behind, modules, own)
		       : direct_keep(plan, arena, behind, git, "modules");
}

/* The outermost repository around a submodule's one that can be written too; or the submodule's
 * own. */
static const char *direct_outermost(const char *target, const char *own, struct arena *arena)
{
	for (size_t len = strlen(target); own[len] == '/'; len += 1 + strcspn(own + len + 1, "/")) {
		const char *dir = arena_strn(arena, own, len);
		const char *head = dir ? arena_printf(arena, "%s/HEAD", dir) : NULL;
		struct stat st;

		if (!head)
			return NULL;
		if (lstat(head, &st) == 0)
			return dir;
	}
	return own;
}

int direct_protect_repository(struct plan *plan, const struct host *host, struct arena *arena,
			      struct error *e)
{
	const char *own = host->git_dir;
	size_t behind = plan->mounts.count;

	for (size_t i = 0; own && i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (str_equal(m->role, "named") && m->kind == PLAN_MOUNT_BIND &&
		    m->access == PLAN_ACCESS_WRITE && str_equal(m->target, m->source) &&
		    str_path_beneath(own, m->target) &&
		    (behind == plan->mounts.count ||
		     strlen(m->target) >= strlen(plan->mounts.items[behind].target)))
			behind = i;
	}
	if (behind == plan->mounts.count)
		return 0;
	const char *top = direct_outermost(plan->mounts.items[behind].target, own, arena);
	int r = top ? direct_keep_repository(plan, arena, behind, own, own) : -ENOMEM;

	if (r == 0 && !str_equal(top, own))
		r = direct_keep_repository(plan, arena, behind, top, own);
	return r < 0 ? error_sys(e, r, "cannot protect the settings of %s", own) : 0;
}

/* --- what lies above ------------------------------------------------------------------ */

/* Adds the uppermost folder between a cover and the mount that it is in.  1: added, so the cover
 * is one place further in the plan.  0: there is none. */
static int direct_fix_one(struct plan *plan, struct arena *arena, size_t index)
{
	const struct plan_mount *m = &plan->mounts.items[index];
	const struct plan_mount *above = plan_mount_above(plan, m);
	struct stat st;

	if (!above || !direct_is_bare(plan, above) || m->access >= above->access)
		return 0;
	size_t len = strlen(above->target);
	size_t part = strcspn(m->target + len + 1, "/");

	if (m->target[len + 1 + part] == '\0')
		return 0;
	const char *target = arena_strn(arena, m->target, len + 1 + part);
	const char *source =
		target ? arena_printf(arena, "%s%s", above->source, target + len) : NULL;

	if (!source)
		return -ENOMEM;
	_cleanup_fd_ int fd = open_no_links(source, O_PATH | O_DIRECTORY);

	/* What does not exist yet cannot be moved. */
	if (fd < 0)
		return direct_is_no_place(fd) ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	struct plan_mount new = *above;

	new.target = target;
	new.source = source;
	new.dev = st.st_dev;
	new.ino = st.st_ino;
	new.role = str_equal(above->role, "workspace") || str_equal(above->role, "held") ? "held"
											 : "fixed";
	new.origin = m->origin;
	int r = direct_put(plan, arena, (size_t)(above - plan->mounts.items), &new);

	return r < 0 ? r : 1;
}

int direct_fix(struct plan *plan, struct arena *arena, struct error *e)
{
	int r = 0;

	/* When a folder was added, we look at its cover again: it is in that folder now. */
	for (size_t i = 0; r >= 0 && i < plan->mounts.count;) {
		const struct plan_mount *m = &plan->mounts.items[i];
		bool covers = m->kind == PLAN_MOUNT_HIDE || m->kind == PLAN_MOUNT_BIND;

		r = covers ? direct_fix_one(plan, arena, i) : 0;
		i++;
	}
	return r < 0 ? error_sys(e, r, "cannot fix the folders above hidden files") : 0;
}
