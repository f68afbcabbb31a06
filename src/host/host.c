/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers the facts, in the order in which they build on one another: the user, what is private,
 * what is bawn's own, the workspace, the system, tools, sockets.  host_user.c, host_private.c,
 * host_workspace.c, host_system.c, host_tools.c and host_sockets.c know where to look; this file
 * looks up bawn's own folders and what a policy names.
 */
#include "host_parts.h"

#include "config.h"
#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* The absolute path that a policy means. */
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

/* The folder that the box sees and that has the path in it, by its letters; NULL: there is none. */
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
	/* Links in the folder lead anywhere; we do not follow those that lead out. */
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
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		r = host_look_ahead(path, arena, &object);
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

/* Where a path leads, also when nothing is there yet; NULL: no memory. */
static const char *host_leads_to(const char *path, struct arena *arena)
{
	struct host_object ahead;

	if (host_look_ahead(path, arena, &ahead) < 0)
		return NULL;
	return ahead.name ? ahead.name : path;
}

static int host_guard(struct host *h, const char *dir, struct arena *arena)
{
	struct host_object object = {.name = dir, .path = dir, .is_dir = true};
	struct host_object found = object;

	/* By its name and, when a link leads there, by where it leads as well; also when nothing is
	 * there yet: a session would make it. */
	if (host_look(dir, arena, &found) == 0)
		object = found;
	else
		object.path = host_leads_to(dir, arena);
	int r = object.path ? host_list_add(&h->guarded, arena, &object) : -ENOMEM;

	if (r == 0)
		r = host_note_way(dir, &h->ways, arena);
	return r < 0 ? r : host_know(h, object.path, arena);
}

/* The user's configuration may be a link that leads to nothing yet.  If it leads to something,
 * prepare.c reads and guards that (host_guard_file). */
static int host_guard_config(struct host *h, struct arena *arena)
{
	const char *name = arena_printf(arena, "%s/config.yaml", h->config_dir);
	struct host_object object = {.name = name};
	struct stat st;

	if (!name || host_note_way(name, &h->ways, arena) < 0)
		return -ENOMEM;
	if (lstat(name, &st) < 0 || !S_ISLNK(st.st_mode) || stat(name, &st) == 0)
		return 0;
	object.path = host_leads_to(name, arena);
	return object.path ? host_list_add(&h->guarded, arena, &object) : -ENOMEM;
}

static int host_find_guarded(struct host *h, struct arena *arena)
{
	static const char *const usual[] = {".local/state/bawn", ".config/bawn"};
	const char *const dirs[] = {h->state_dir, h->config_dir, h->runtime_dir};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(dirs); i++)
		r = dirs[i] ? host_guard(h, dirs[i], arena) : 0;
	if (r == 0)
		r = host_guard_config(h, arena);
	/* The ones in another home exist as well, whatever HOME says now. */
	for (size_t i = 1; r == 0 && i < h->homes.count; i++)
		for (size_t n = 0; r == 0 && n < BAWN_ARRAY_SIZE(usual); n++) {
			const char *dir =
				arena_printf(arena, "%s/%s", h->homes.items[i].path, usual[n]);

			r = dir ? host_guard(h, dir, arena) : -ENOMEM;
		}
	return r < 0 ? r : host_add_again(h, &h->guarded, 0, true, arena);
}

/* Finds bawn's own programs if they are this user's: who writes them is bawn the next time. */
static int host_find_self(struct host *h, struct arena *arena)
{
	char file[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", file, sizeof(file) - 1);

	file[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(file, '/');
	int dir = slash ? (int)(slash - file) : 0;
	const char *const places[] = {file, arena_printf(arena, "%.*s/../libexec/bawn", dir, file),
				      BAWN_LIBEXEC_DIR};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(places); i++) {
		struct host_object o;
		struct stat st;

		if (!places[i])
			return -ENOMEM;
		if (stat(places[i], &st) == 0 && st.st_uid == h->uid &&
		    host_look(places[i], arena, &o) == 0)
			r = host_list_add(&h->self, arena, &o);
	}
	return r;
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
	/* First what is private, before we look at anything else. */
	host_read_names(h.home, &names);
	r = host_find_private(&h, &names, arena);
	if (r == 0)
		r = host_find_guarded(&h, arena);
	if (r == 0)
		r = host_find_self(&h, arena);
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
