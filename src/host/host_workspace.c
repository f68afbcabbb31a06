/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workspace: resolved once, by descriptor, and known from then on by device
 * and inode.  Some folders are never one, because everything in them would be
 * the agent's to read and write: the root, the home, what holds the home,
 * places of the system, private places, and bawn's own folders.
 */
#include "host_parts.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
	const char *path;
	bool below; /* nothing beneath it either */
} host_not_workspace[] = {
	{"/", false},
	{"/bin", true},
	{"/boot", true},
	{"/dev", true},
	{"/etc", true},
	{"/gnu", true},
	{"/home", false},
	{"/lib", true},
	{"/lib32", true},
	{"/lib64", true},
	{"/libx32", true},
	{"/lost+found", true},
	{"/media", false},
	{"/mnt", false},
	{"/nix", true},
	{"/opt", false},
	{"/proc", true},
	{"/root", false},
	{"/run", false},
	{"/run/user", false},
	{"/sbin", true},
	{"/snap", true},
	{"/srv", false},
	{"/sys", true},
	{"/tmp", false},
	{"/usr", false},
	{"/usr/bin", true},
	{"/usr/games", true},
	{"/usr/include", true},
	{"/usr/lib", true},
	{"/usr/lib32", true},
	{"/usr/lib64", true},
	{"/usr/libexec", true},
	{"/usr/libx32", true},
	{"/usr/local", false},
	{"/usr/local/bin", true},
	{"/usr/local/etc", true},
	{"/usr/local/include", true},
	{"/usr/local/lib", true},
	{"/usr/local/lib64", true},
	{"/usr/local/libexec", true},
	{"/usr/local/sbin", true},
	{"/usr/local/share", true},
	{"/usr/local/src", false},
	{"/usr/sbin", true},
	{"/usr/share", true},
	{"/usr/src", false},
	{"/var", false},
	{"/var/backups", true},
	{"/var/cache", false},
	{"/var/home", false},
	{"/var/lib", false},
	{"/var/local", false},
	{"/var/log", true},
	{"/var/mail", true},
	{"/var/opt", false},
	{"/var/spool", true},
	{"/var/tmp", false},
	{"/var/www", false},
};

static int host_refuse(struct error *e, const char *path, const char *why)
{
	int r = error_set(e, -EPERM, "%s cannot be the workspace: %s", path, why);

	error_next(e, "Go to the folder of one project, or name it with --workspace DIR.");
	return r;
}

bool host_is_system_place(const char *path)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(host_not_workspace); i++)
		if (host_not_workspace[i].below ? str_path_beneath(path, host_not_workspace[i].path)
						: str_equal(path, host_not_workspace[i].path))
			return true;
	return false;
}

int host_check_workspace(const struct host *h, const char *path, struct error *e)
{
	char runtime[48];

	for (size_t i = 0; i < h->homes.count; i++)
		if (str_equal(path, h->homes.items[i].path))
			return host_refuse(e, path,
					   "it is your home, with everything private in it");
	if (host_holds_home(h, path))
		return host_refuse(e, path, "your home lies in it");
	(void)snprintf(runtime, sizeof(runtime), "/run/user/%" PRIu64, h->uid);
	if (str_equal(path, runtime) ||
	    (!str_path_beneath(path, h->home) && host_is_system_place(path)))
		return host_refuse(e, path, "it is a place of the system");
	if (host_is_private(h, path))
		return host_refuse(e, path, "it is a private place of your home");
	if (host_holds_private(h, path))
		return host_refuse(e, path, "private places of your home lie in it");
	if (str_path_beneath(path, h->state_dir) || str_path_beneath(h->state_dir, path))
		return host_refuse(e, path, "bawn keeps its own state there");
	if (str_path_beneath(path, h->config_dir) || str_path_beneath(h->config_dir, path))
		return host_refuse(e, path, "bawn keeps its configuration there");
	for (size_t i = 0; i < h->guarded.count; i++)
		if (str_path_beneath(path, h->guarded.items[i].path) ||
		    str_path_beneath(h->guarded.items[i].path, path))
			return host_refuse(e, path, "bawn keeps its own files there");
	return 0;
}

/* The links on the way to a name, but none in the home: the box makes them again. */
static int host_find_links(struct host *h, const char *name, struct arena *arena)
{
	for (size_t at = 1; name[at]; at++) {
		struct stat st;
		struct host_object object;

		if (name[at] != '/' && name[at + 1] != '\0')
			continue;
		const char *prefix = arena_strn(arena, name, name[at] == '/' ? at : at + 1);
		if (!prefix)
			return -ENOMEM;
		if (str_path_beneath(prefix, h->home))
			return 0;
		if (lstat(prefix, &st) < 0)
			return 0;
		if (!S_ISLNK(st.st_mode))
			continue;
		if (host_look(prefix, arena, &object) < 0 || !object.link)
			return 0;
		int r = 0;
		bool known = false;
		for (size_t i = 0; i < h->links.count; i++)
			known = known || str_equal(h->links.items[i].name, prefix);
		if (!known)
			r = host_list_add(&h->links, arena, &object);
		/* What lies behind it is named without it from here on. */
		return r;
	}
	return 0;
}

static int host_find_cwd(struct host *h, bool is_workspace, struct arena *arena)
{
	h->cwd = h->workspace.path;
	if (is_workspace)
		return 0;
	_cleanup_fd_ int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *path;

	if (fd < 0)
		return 0;
	int r = host_path_of(fd, arena, &path);
	if (r == 0)
		path = host_known_as(h, path, arena);
	if (r == 0 && str_path_beneath(path, h->workspace.path))
		h->cwd = path;
	return r == -ENOMEM ? r : 0;
}

int host_find_workspace(struct host *h, const char *wanted, struct arena *arena, struct error *e)
{
	const char *shown = wanted ? wanted : "the current folder";
	_cleanup_fd_ int fd = open(wanted ? wanted : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	struct stat again;
	const char *path = NULL;

	if (fd < 0)
		return error_sys(e, -errno, "cannot use %s as the workspace", shown);
	int r = host_path_of(fd, arena, &path);
	if (r < 0)
		return error_sys(e, r, "cannot tell where %s is", shown);
	/* A folder that was removed still has a descriptor, and a path that leads elsewhere. */
	if (fstat(fd, &st) < 0 || stat(path, &again) < 0 || st.st_dev != again.st_dev ||
	    st.st_ino != again.st_ino)
		return error_set(e, -ENOENT, "%s cannot be the workspace: it was removed", shown);
	path = host_known_as(h, path, arena);
	r = host_check_workspace(h, path, e);
	if (r < 0)
		return r;
	h->workspace = (struct host_object){.name = path,
					    .path = path,
					    .dev = st.st_dev,
					    .ino = st.st_ino,
					    .is_dir = true,
					    .origin = wanted ? "--workspace" : "current folder"};
	h->workspace_owner = st.st_uid;
	h->workspace_writable = st.st_uid == h->uid &&
				faccessat(fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
	host_find_git(h, arena);
	r = host_find_again(h, &h->workspace, "workspace", &h->again, arena);
	if (r == 0)
		r = host_find_cwd(h, !wanted, arena);
	if (r == 0 && !str_equal(h->home, h->home_name))
		r = host_find_links(h, h->home_name, arena);
	const char *pwd = wanted && wanted[0] == '/' ? wanted : host_env(h->environ, "PWD");
	if (r == 0 && pwd && !str_equal(pwd, path) && str_path_is_normal(pwd))
		r = host_find_links(h, pwd, arena);
	return r < 0 ? error_sys(e, r, "cannot look at %s", shown) : 0;
}
