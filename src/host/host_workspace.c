/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the workspace: resolves it once, by descriptor, and knows it from then on by device and
 * inode.  host_places.c says which folders are never one.
 */
#include "host_parts.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

/* Adds the links on the way to a name, but none in the home: the box makes them again. */
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
		/* What is behind it has a name without this link from here on. */
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

void host_advise_closed(struct error *e)
{
	error_next(e, "'chmod u+rwx' opens it, if it is yours. Then try again.");
}

static int host_refuse_workspace(const char *shown, int code, struct error *e)
{
	(void)error_sys(e, code, "cannot use %s as the workspace", shown);
	if (code == -EACCES)
		host_advise_closed(e);
	return code;
}

/* Opens the folder in place of the one that *fd is open on; false: that fails. */
static bool host_take_top(const char *top, int *fd, struct stat *st)
{
	_cleanup_fd_ int other = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat found;

	if (other < 0 || fstat(other, &found) < 0)
		return false;
	fd_close(fd);
	*fd = TAKE_FD(other);
	*st = found;
	return true;
}

int host_find_workspace(struct host *h, const char *wanted, struct arena *arena, struct error *e)
{
	const char *shown = wanted ? wanted : "the current folder";
	_cleanup_fd_ int fd = open(wanted ? wanted : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	struct stat again;
	const char *path = NULL;

	if (fd < 0)
		return host_refuse_workspace(shown, -errno, e);
	int r = host_path_of(fd, arena, &path);
	if (r < 0)
		return error_sys(e, r, "cannot tell where %s is", shown);
	/* A folder that was removed still has a descriptor, and a path that leads elsewhere. */
	if (fstat(fd, &st) < 0 || stat(path, &again) < 0 || st.st_dev != again.st_dev ||
	    st.st_ino != again.st_ino)
		return error_set(e, -ENOENT, "%s cannot be the workspace: it was removed", shown);
	path = host_known_as(h, path, arena);
	const char *top = wanted ? NULL : host_git_top(h, path, st.st_dev, arena);

	if (top && host_take_top(top, &fd, &st))
		path = top;
	else
		top = NULL;
	r = host_check_workspace(h, path, e);
	if (r < 0)
		return r;
	h->workspace =
		(struct host_object){.name = path,
				     .path = path,
				     .dev = st.st_dev,
				     .ino = st.st_ino,
				     .is_dir = true,
				     .origin = wanted ? "--workspace"
					       : top  ? "the repository around the current folder"
						      : "current folder"};
	h->workspace_owner = st.st_uid;
	h->workspace_writable = st.st_uid == h->uid &&
				faccessat(fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
	host_find_git(h, arena);
	r = host_find_again(h, &h->workspace, "workspace", &h->again, arena);
	if (r == 0)
		r = host_find_cwd(h, !wanted && !top, arena);
	if (r == 0 && !str_equal(h->home, h->home_name))
		r = host_find_links(h, h->home_name, arena);
	const char *pwd = wanted && wanted[0] == '/' ? wanted : host_env(h->environ, "PWD");
	if (r == 0 && pwd && !str_equal(pwd, path) && str_path_is_normal(pwd))
		r = host_find_links(h, pwd, arena);
	return r < 0 ? error_sys(e, r, "cannot look at %s", shown) : 0;
}
