/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at one thing by name, and keeps it by identity in a list.  All files of host_*.c that know
 * where to look use this; it knows no place itself.
 */
#include "host_parts.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { HOST_LIST_FIRST = 16, HOST_LINKS_FOLLOWED = 40 };

int host_list_add(struct host_list *list, struct arena *arena, const struct host_object *object)
{
	size_t n = list->count;

	/* It is full at each power of two from the first size on: so we need no field for the
	 * capacity. */
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

char *host_tidy(const char *path, struct arena *arena, bool *ret_plain)
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
	/* "(unreachable)/..." is no path here; neither is one that is not normal. */
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
	/* Without a link on the way, the name is the path: one call is enough for most. */
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

/* Copies the first part of rest and moves rest behind it: its length.  It also skips slashes and
 * single dots. */
static size_t host_next_part(const char **rest, char part[NAME_MAX + 1])
{
	size_t len = 0;

	for (bool dot = true; dot;) {
		*rest += strspn(*rest, "/");
		len = strcspn(*rest, "/");
		dot = len == 1 && **rest == '.';
		*rest += dot;
	}
	if (len > NAME_MAX)
		return 0;
	memcpy(part, *rest, len);
	part[len] = '\0';
	*rest += len;
	return len;
}

/* Collects what a walk through links comes through; NULL: the caller does not want that. */
struct host_way {
	struct host_list *list;
	struct arena *arena;
	bool failed; /* no memory */
};

static void host_way_note(struct host_way *way, const char *path)
{
	struct host_object o = {.name = way ? arena_str(way->arena, path) : NULL};

	o.path = o.name;
	if (way && (!o.path || host_list_add(way->list, way->arena, &o) < 0))
		way->failed = true;
}

/* Follows a path as far as things exist (done), and says what is missing after that (rest).  False:
 * it leads nowhere. */
static bool host_walk(const char *path, char done[PATH_MAX], char rest[PATH_MAX],
		      struct host_way *way)
{
	char part[NAME_MAX + 1], link[PATH_MAX], more[PATH_MAX];
	const char *at = rest;
	struct stat st;
	int links = 0;

	done[0] = '\0';
	if (snprintf(rest, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	while (host_next_part(&at, part)) {
		size_t len = strlen(done);

		if (str_equal(part, "..")) {
			char *slash = strrchr(done, '/');

			if (slash)
				*slash = '\0';
			continue;
		}
		if (snprintf(done + len, PATH_MAX - len, "/%s", part) >= (int)(PATH_MAX - len))
			return false;
		bool there = lstat(done, &st) == 0;

		/* Each link decides about what follows, and so does each folder behind one. */
		if (links > 0 || (there && S_ISLNK(st.st_mode)))
			host_way_note(way, done);
		if (!there)
			break;
		if (!S_ISLNK(st.st_mode))
			continue;
		ssize_t n = readlink(done, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		if (n <= 0 || ++links > HOST_LINKS_FOLLOWED ||
		    snprintf(more, sizeof(more), "%s/%s", link, at) >= (int)sizeof(more))
			return false;
		done[link[0] == '/' ? 0 : len] = '\0';
		(void)snprintf(rest, PATH_MAX, "%s", more);
		at = rest;
	}
	memmove(rest, at, strlen(at) + 1);
	return true;
}

int host_look_ahead(const char *path, struct arena *arena, struct host_object *ret_object)
{
	char done[PATH_MAX], rest[PATH_MAX];
	bool plain;
	const char *name = host_tidy(path, arena, &plain);
	const char *whole = name && host_walk(name, done, rest, NULL)
				    ? arena_printf(arena, "%s/%s", done, rest)
				    : NULL;

	if (!name)
		return -ENOMEM;
	*ret_object = (struct host_object){.name = whole ? host_tidy(whole, arena, &plain) : NULL};
	/* Nobody knows what ".." is in something that does not exist. */
	if (ret_object->name && !plain)
		ret_object->name = name;
	if (!ret_object->name || !str_equal(ret_object->name, name))
		ret_object->link = name;
	return 0;
}

int host_note_way(const char *path, struct host_list *into, struct arena *arena)
{
	char done[PATH_MAX], rest[PATH_MAX];
	struct host_way way = {into, arena, false};

	(void)host_walk(path, done, rest, &way);
	return way.failed ? -ENOMEM : 0;
}

const char *host_rehome(const struct host *h, const char *path, struct arena *arena)
{
	if (str_equal(h->home, h->home_name) || !str_path_beneath(path, h->home_name))
		return path;
	return arena_printf(arena, "%s%s", h->home, path + strlen(h->home_name));
}
