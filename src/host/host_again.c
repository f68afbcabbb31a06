/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where mounts show a thing a second time: a bind mount of it, of a folder above it, or of a part
 * of it.  We judge by name what is private, so we list each such thing under every name that the
 * table of mounts gives it.  A mount of a part is as private as the whole; except of a home, whose
 * parts we judge one by one.  host_known.c knows the rest, except second names of files, which
 * host_private.c looks for.
 */
#include "host_parts.h"

#include "buf.h"
#include "mountinfo.h"
#include "str.h"

#include <fcntl.h>
#include <stdlib.h>

/* The number of the mount that path is on; 0: unknown. */
static uint64_t host_mount_id(const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

/* Keeps the mounts of filesystems that are mounted more than once; the others have one name for
 * everything. */
static int host_keep_mounts(struct host *h, struct mountinfo *all, size_t count,
			    struct arena *arena)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool again = false;

		for (size_t n = 0; !again && n < count; n++)
			again = n != i && all[n].device == all[i].device;
		if (again)
			all[kept++] = all[i];
		/* An entry before this one was copied down itself, or its device is unique: so we
		 * may overwrite it. */
	}
	h->mounts = kept ? arena_alloc(arena, kept * sizeof(*h->mounts)) : NULL;
	if (kept && !h->mounts)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++) {
		h->mounts[i] = all[i];
		h->mounts[i].root = arena_str(arena, all[i].root);
		h->mounts[i].point = arena_str(arena, all[i].point);
		if (!h->mounts[i].root || !h->mounts[i].point)
			return -ENOMEM;
	}
	h->mount_count = kept;
	return 0;
}

int host_find_mounts(struct host *h, struct arena *arena)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MOUNTINFO_BYTES);
	struct mountinfo *found = NULL;
	size_t count = 0;
	int r = mountinfo_read(&text, &found, &count);
	_cleanup_free_ struct mountinfo *all = found;

	if (r < 0 || count == 0)
		return r;
	return host_keep_mounts(h, all, count, arena);
}

/* What follows above in path; path is above or beneath it. */
static const char *host_rest(const char *path, const char *above)
{
	return path + (str_equal(above, "/") ? 0 : strlen(above));
}

/* Joins above and rest to one path. */
static const char *host_join(const char *above, const char *rest, struct arena *arena)
{
	bool top = str_equal(above, "/");

	if (*rest == '\0' || str_equal(rest, "/"))
		return above;
	return arena_printf(arena, "%s%s", top ? "" : above, rest);
}

/* Whether the list has path for the same reason: a part of the workspace may also be a name of
 * something hidden. */
static bool host_has_path(const struct host_list *list, const char *path, const char *origin)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct host_object *o = &list->items[i];
		bool same =
			o->origin && origin ? str_equal(o->origin, origin) : o->origin == origin;

		if (same && o->path && str_equal(o->path, path))
			return true;
	}
	return false;
}

/* The name that mount e gives to what is at `where` in its filesystem; NULL: none. */
static const char *host_name_by(const struct mountinfo *e, const char *where,
				const struct host_object *o, bool parts, struct arena *arena)
{
	struct stat st;

	if (str_path_beneath(where, e->root)) {
		const char *name = host_join(e->point, host_rest(where, e->root), arena);

		/* Something else may be mounted over it there. */
		return name && stat(name, &st) == 0 && st.st_dev == o->dev && st.st_ino == o->ino
			       ? name
			       : NULL;
	}
	if (!parts || !str_path_beneath(e->root, where) || host_mount_id(e->point) != e->id)
		return NULL;
	return e->point;
}

/* Adds the names that all other mounts than `on` give to what is at `where` in that filesystem.  We
 * know it through `on`. */
static int host_add_names_by(const struct host *h, struct host_list *into,
			     const struct host_object *o, const struct mountinfo *on,
			     const char *where, bool parts, struct arena *arena)
{
	for (size_t i = 0; where && i < h->mount_count; i++) {
		const struct mountinfo *e = &h->mounts[i];
		const char *name = e != on && e->device == on->device
					   ? host_name_by(e, where, o, parts, arena)
					   : NULL;

		if (!name || host_has_path(into, name, o->origin))
			continue;
		struct host_object again = *o;

		again.name = again.path = name;
		again.link = NULL;
		int r = host_list_add(into, arena, &again);

		if (r < 0)
			return r;
	}
	return where ? 0 : -ENOMEM;
}

/* Adds the names of mounts in it: each is a part of it, which may be mounted elsewhere, too. */
static int host_add_inner(const struct host *h, struct host_list *into, const struct host_object *o,
			  struct arena *arena)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->mount_count; i++) {
		const struct mountinfo *m = &h->mounts[i];
		struct host_object inner = *o;
		struct stat st;

		if (str_equal(m->point, o->path) || !str_path_beneath(m->point, o->path) ||
		    host_mount_id(m->point) != m->id || stat(m->point, &st) < 0)
			continue;
		inner.dev = st.st_dev;
		inner.ino = st.st_ino;
		r = host_add_names_by(h, into, &inner, m, m->root, true, arena);
	}
	return r;
}

static int host_add_names(const struct host *h, struct host_list *into, const struct host_object *o,
			  bool parts, struct arena *arena)
{
	uint64_t id = h->mount_count ? host_mount_id(o->path) : 0;
	const struct mountinfo *on = NULL;
	int r = 0;

	for (size_t i = 0; id && i < h->mount_count; i++)
		if (h->mounts[i].id == id)
			on = &h->mounts[i];
	if (on && str_path_beneath(o->path, on->point))
		r = host_add_names_by(h, into, o, on,
				      host_join(on->root, host_rest(o->path, on->point), arena),
				      parts, arena);
	return r < 0 || !parts ? r : host_add_inner(h, into, o, arena);
}

int host_add_again(struct host *h, struct host_list *list, size_t from, bool parts,
		   struct arena *arena)
{
	size_t count = list->count;
	int r = 0;

	/* On most machines nothing is mounted twice: then we ask nothing. */
	for (size_t i = h->mount_count ? from : count; r == 0 && i < count; i++) {
		struct host_object o = list->items[i];
		struct stat st;

		/* A folder of ours that does not exist yet has no other name. */
		if (!o.path || stat(o.path, &st) < 0)
			continue;
		o.dev = st.st_dev;
		o.ino = st.st_ino;
		r = host_add_names(h, list, &o, parts, arena);
	}
	return r;
}

/* Finds the part of a path that exists already: its length. */
static size_t host_is_there(const char *path, struct arena *arena, struct host_object *ret)
{
	struct stat st;

	for (size_t len = strlen(path); len > 1; len--) {
		const char *at =
			path[len] == '\0' || path[len] == '/' ? arena_strn(arena, path, len) : NULL;

		if (!at || stat(at, &st) < 0)
			continue;
		*ret = (struct host_object){
			.name = at, .path = at, .dev = st.st_dev, .ino = st.st_ino};
		return len;
	}
	return 0;
}

/* Adds where something that does not exist yet will show, once it is made: in other names of its
 * folder. */
static int host_find_again_late(const struct host *h, const char *path, const char *origin,
				struct host_list *into, struct arena *arena)
{
	struct host_list found = {.count = 0};
	struct host_object above;
	size_t len = h->mount_count ? host_is_there(path, arena, &above) : 0;
	int r = len ? host_add_names(h, &found, &above, false, arena) : 0;

	for (size_t i = 0; r == 0 && i < found.count; i++) {
		const char *name = host_join(found.items[i].path, path + len, arena);
		const struct host_object late = {.name = name, .origin = origin};

		r = name ? host_list_add(into, arena, &late) : -ENOMEM;
	}
	return r;
}

int host_find_again(const struct host *h, const struct host_object *o, const char *origin,
		    struct host_list *into, struct arena *arena)
{
	struct host_object named = *o;

	named.origin = origin;
	if (o->path)
		return host_add_names(h, into, &named, true, arena);
	return o->name ? host_find_again_late(h, o->name, origin, into, arena) : 0;
}

int host_mounted_as(const struct host *h, const char *path, struct host_list *into,
		    struct arena *arena)
{
	struct host_object o = {.name = NULL};

	if (h->mount_count == 0)
		return 0;
	if (host_is_there(path, arena, &o) != strlen(path))
		o = (struct host_object){.name = path};
	return host_find_again(h, &o, NULL, into, arena);
}
