/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at things by name and keeping them by identity; the parts that know
 * where to look are host_user.c, host_workspace.c, host_system.c, host_tools.c
 * and host_private.c.
 */
#include "host_parts.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { HOST_LIST_FIRST = 16 };

int host_list_add(struct host_list *list, struct arena *arena, const struct host_object *object)
{
	size_t n = list->count;

	/* Full at each power of two from the first size on: no capacity to carry along. */
	if (n == 0 || (n >= HOST_LIST_FIRST && (n & (n - 1)) == 0)) {
		size_t room = n == 0 ? HOST_LIST_FIRST : 2 * n;
		struct host_object *items = arena_alloc(arena, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		if (n > 0)
			memcpy(items, list->items, n * sizeof(*items));
		list->items = items;
	}
	list->items[list->count++] = *object;
	return 0;
}

/*
 * path without doubled slashes, "." and a slash at its end.  ".." stays, and
 * *ret_plain says whether there was none: only the kernel knows where it leads.
 */
static char *host_tidy(const char *path, struct arena *arena, bool *ret_plain)
{
	char *tidy = arena_alloc(arena, strlen(path) + 2);
	size_t len = 0;

	if (!tidy)
		return NULL;
	*ret_plain = true;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			*ret_plain = false;
		if (n > 0 && !(n == 1 && path[0] == '.')) {
			tidy[len++] = '/';
			memcpy(tidy + len, path, n);
			len += n;
		}
		path += n;
		path += strspn(path, "/");
	}
	if (len == 0)
		tidy[len++] = '/';
	tidy[len] = '\0';
	return tidy;
}

int host_path_of(int fd, struct arena *arena, const char **ret_path)
{
	char magic[32];
	char text[PATH_MAX];

	(void)snprintf(magic, sizeof(magic), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(magic, text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n == 0 || (size_t)n >= sizeof(text))
		return -ENAMETOOLONG;
	text[n] = '\0';
	/* "(unreachable)/..." is no path here; neither is one with a name that says nothing. */
	if (!str_path_is_normal(text))
		return -ENOENT;
	*ret_path = arena_strn(arena, text, (size_t)n);
	return *ret_path ? 0 : -ENOMEM;
}

const char *host_link_text(const char *name, struct arena *arena)
{
	char text[PATH_MAX];
	ssize_t n = readlink(name, text, sizeof(text));

	if (n <= 0 || (size_t)n >= sizeof(text))
		return NULL;
	return arena_strn(arena, text, (size_t)n);
}

int host_look(const char *path, struct arena *arena, struct host_object *ret_object)
{
	struct host_object object = {.name = NULL};
	bool plain;

	if (path[0] != '/')
		return -EINVAL;
	object.name = host_tidy(path, arena, &plain);
	if (!object.name)
		return -ENOMEM;
	/* Without a link on the way, the name is the path: one call for what is usual. */
	_cleanup_fd_ int fd = plain ? open_no_links(object.name, O_PATH) : -ELOOP;

	object.path = object.name;
	if (fd == -ELOOP) {
		fd = open(object.name, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		int r = host_path_of(fd, arena, &object.path);
		if (r < 0)
			return r;
		if (!plain)
			object.name = object.path;
		else
			object.link = host_link_text(object.name, arena);
	}
	if (fd < 0)
		return fd;

	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	object.dev = st.st_dev;
	object.ino = st.st_ino;
	object.is_dir = S_ISDIR(st.st_mode);
	object.is_file = S_ISREG(st.st_mode);
	*ret_object = object;
	return 0;
}

const char *host_rehome(const struct host *h, const char *path, struct arena *arena)
{
	if (str_equal(h->home, h->home_name) || !str_path_beneath(path, h->home_name))
		return path;
	return arena_printf(arena, "%s%s", h->home, path + strlen(h->home_name));
}

/* As a policy means it: absolute. */
static const char *host_path_meant(const struct host *h, const char *written, struct arena *arena)
{
	const char *path = written;

	if (written[0] == '~' && (written[1] == '/' || written[1] == '\0'))
		path = arena_printf(arena, "%s%s", h->home, written + 1);
	else if (written[0] != '/')
		path = arena_printf(arena, "%s/%s", h->workspace.path, written);
	else
		path = host_rehome(h, written, arena);
	return path;
}

/* The folder that is shown and has the path in it, by its letters; NULL: there is none. */
static const struct host_object *host_shown_over(const struct host *h, const char *path)
{
	const struct host_list *lists[] = {&h->named, &h->tools, &h->programs, &h->etc};

	if (h->workspace.path && str_path_beneath(path, h->workspace.path))
		return &h->workspace;
	for (size_t l = 0; l < BAWN_ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const struct host_object *o = &lists[l]->items[i];

			if (o->path && str_path_beneath(path, o->path))
				return o;
		}
	return NULL;
}

int host_name_within(struct host *h, const char *written, struct arena *arena, struct error *e)
{
	const char *path = host_path_meant(h, written, arena);
	bool plain;

	path = path ? host_tidy(path, arena, &plain) : NULL;
	if (!path)
		return error_sys(e, -ENOMEM, "cannot look at %s", written);
	const struct host_object *over = plain ? host_shown_over(h, path) : NULL;

	if (!over || !over->path)
		return 0;
	/* Links of the folder's own lead anywhere; those that lead out are not followed. */
	_cleanup_fd_ int folder = open_no_links(over->path, O_PATH | O_DIRECTORY);
	const char *rest = path + strlen(over->path);
	_cleanup_fd_ int fd =
		folder < 0 ? folder : open_inside(folder, rest + strspn(rest, "/"), O_PATH);

	return fd == -EXDEV || fd == -ELOOP ? 0 : host_name(h, written, arena, e);
}

int host_name(struct host *h, const char *written, struct arena *arena, struct error *e)
{
	struct host_object object = {.name = NULL};

	if (host_named(h, written))
		return 0;
	const char *path = host_path_meant(h, written, arena);

	if (!path)
		return error_sys(e, -ENOMEM, "cannot look at %s", written);
	int r = host_look(path, arena, &object);

	if (r == 0)
		object.path = host_linked_as(h, host_known_as(h, object.path, arena), arena);
	if (r == -ENOENT || r == -ENOTDIR) {
		bool plain;

		object = (struct host_object){.name = host_tidy(path, arena, &plain)};
		r = object.name ? 0 : -ENOMEM;
	}
	if (r == 0) {
		object.origin = written;
		r = host_list_add(&h->named, arena, &object);
	}
	if (r == 0)
		r = host_find_again(h, &object, written, &h->again, arena);
	if (r < 0)
		return error_sys(e, r, "cannot look at %s", written);
	return 0;
}

static int host_guard(struct host *h, const char *dir, struct arena *arena)
{
	struct host_object object = {.name = dir, .path = dir, .is_dir = true};
	struct host_object found = object;

	/* By its name, and when a link leads there, by where it leads as well. */
	if (host_look(dir, arena, &found) == 0)
		object = found;
	int r = host_list_add(&h->guarded, arena, &object);

	return r < 0 ? r : host_know(h, object.path, arena);
}

static int host_find_guarded(struct host *h, struct arena *arena)
{
	static const char *const usual[] = {".local/state/bawn", ".config/bawn"};
	const char *const dirs[] = {h->state_dir, h->config_dir, h->runtime_dir};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(dirs); i++)
		r = dirs[i] ? host_guard(h, dirs[i], arena) : 0;
	/* Those of another home are there as well, whatever HOME says now. */
	for (size_t i = 1; r == 0 && i < h->homes.count; i++)
		for (size_t n = 0; r == 0 && n < BAWN_ARRAY_SIZE(usual); n++) {
			const char *dir =
				arena_printf(arena, "%s/%s", h->homes.items[i].path, usual[n]);

			r = dir ? host_guard(h, dir, arena) : -ENOMEM;
		}
	return r < 0 ? r : host_add_again(h, &h->guarded, 0, true, arena);
}

int host_guard_file(struct host *h, const struct host_object *file, struct arena *arena)
{
	size_t from = h->guarded.count;
	int r = host_list_add(&h->guarded, arena, file);

	if (r == 0)
		r = host_know(h, file->path, arena);
	return r < 0 ? r : host_add_again(h, &h->guarded, from, true, arena);
}

int host_gather_user(struct arena *arena, struct host *ret_host, struct error *e)
{
	struct host h = {.environ = environ, .uid = geteuid(), .gid = getegid()};
	int r = host_find_user(&h, arena, e);

	if (r < 0)
		return r;
	*ret_host = h;
	return 0;
}

int host_gather(const char *workspace, struct arena *arena, struct host *ret_host, struct error *e)
{
	struct host h = {.environ = environ, .uid = geteuid(), .gid = getegid()};
	struct host_home_names names;
	int r = host_find_user(&h, arena, e);

	if (r < 0)
		return r;
	/* What is private is known before anything is looked at. */
	host_read_names(h.home, &names);
	r = host_find_private(&h, &names, arena);
	if (r == 0)
		r = host_find_guarded(&h, arena);
	if (r < 0)
		return error_sys(e, r, "cannot look at this machine");
	r = host_find_workspace(&h, workspace, arena, e);
	if (r < 0)
		return r;
	r = host_find_system(&h, arena);
	if (r == 0)
		r = host_find_tools(&h, &names, arena);
	if (r == 0)
		r = host_find_sockets(&h, arena);
	if (r < 0)
		return error_sys(e, r, "cannot look at this machine");
	*ret_host = h;
	return 0;
}
