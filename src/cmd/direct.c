/* SPDX-License-Identifier: Apache-2.0 */
#include "direct.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

enum { DIRECT_PATHS_MAX = 512, DIRECT_MOUNTS_MAX = 256, DIRECT_DEPTH_MAX = 8 };

struct direct {
	struct plan *plan;
	struct arena *arena;
	const char *paths[DIRECT_PATHS_MAX]; /* in lower case: names are found in any */
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

/* What is left of a path after its first part, which is name; NULL when it is not. */
static const char *direct_rest(const char *path, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(path, name, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

static int direct_look(struct direct *d, int dir, const char *above, const char *const *paths,
		       size_t path_count, int depth);

/* An entry that begins some of the paths: it is one of them, or some lie beneath it. */
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
	/* A link is the folder's to change: what it leads to is not what is protected. */
	_cleanup_fd_ int fd = open_beneath(dir, name, O_PATH, 0);
	const char *path = arena_printf(d->arena, "%s/%s", above, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!path)
		return -ENOMEM;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	if (itself)
		return direct_add(d, fd, path, PLAN_ACCESS_READ);
	if (!S_ISDIR(st.st_mode) || depth == DIRECT_DEPTH_MAX)
		return 0;
	size_t before = d->count;
	int r = direct_add(d, fd, path, PLAN_ACCESS_WRITE);

	if (r == 0)
		r = direct_look(d, fd, path, beneath, count, depth + 1);
	/* Nothing in it is protected, so it can be moved as anything else; but for a repository,
	 * whose hooks may be made at any time. */
	if (r == 0 && d->count == before + 1 && strcasecmp(name, ".git") != 0)
		d->count = before;
	return r;
}

static int direct_look(struct direct *d, int dir, const char *above, const char *const *paths,
		       size_t path_count, int depth)
{
	int fd = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;

	if (!list)
		return fd < 0 ? fd : -errno;
	for (const struct dirent *entry; r == 0 && (entry = fd_next_entry(list, &r));)
		r = direct_take(d, dir, above, entry->d_name, paths, path_count, depth);
	(void)closedir(list);
	return r;
}

/* After the workspace's own mount, before whatever else is mounted in it. */
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

int direct_protect(struct plan *plan, const struct hold_rules *rules, struct arena *arena,
		   struct error *e)
{
	static struct direct d;
	_cleanup_fd_ int dir = open_no_links(plan->workspace, O_PATH | O_DIRECTORY);

	d = (struct direct){.plan = plan, .arena = arena};
	d.path_count = hold_direct_paths(rules, d.paths, DIRECT_PATHS_MAX);
	int r = dir < 0 ? dir : direct_look(&d, dir, plan->workspace, d.paths, d.path_count, 0);

	if (r == 0 && d.count > 0)
		r = direct_insert(&d);
	return r < 0 ? error_sys(e, r, "cannot protect what %s would run later", plan->workspace)
		     : 0;
}
