/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One folder can have several names without any link: a bind mount, a volume that is mounted twice,
 * the top level of a btrfs.  We judge homes, private places and bawn's own folders by name.  So we
 * know them, and every folder above them, by device and inode as well; whatever is the same folder,
 * or beneath it, gets the name that we judge.
 */
#include "host_parts.h"

#include "str.h"

static const struct host_object *host_known_by_path(const struct host *h, const char *path)
{
	for (size_t i = 0; i < h->known.count; i++)
		if (str_equal(h->known.items[i].path, path))
			return &h->known.items[i];
	return NULL;
}

static const struct host_object *host_known_by_identity(const struct host *h, const struct stat *st)
{
	for (size_t i = 0; i < h->known.count; i++)
		if (h->known.items[i].ino == st->st_ino && h->known.items[i].dev == st->st_dev)
			return &h->known.items[i];
	return NULL;
}

/* The path one folder up, "/" at last; NULL above that, and when there is no memory. */
static const char *host_above(const char *path, struct arena *arena)
{
	size_t len = (size_t)(strrchr(path, '/') - path);

	return path[1] == '\0' ? NULL : arena_strn(arena, path, len ? len : 1);
}

int host_know(struct host *h, const char *path, struct arena *arena)
{
	/* When a folder is known, all folders above it are known. */
	for (const char *at = path; at && !host_known_by_path(h, at); at = host_above(at, arena)) {
		struct stat st;

		/* What is not there has no other name.  Of what cannot be looked at we do not know. */
		if (stat(at, &st) < 0) {
			if (errno == EIO || errno == ENOMEM)
				return -errno;
			continue;
		}
		const struct host_object o = {.name = at,
					      .path = at,
					      .dev = st.st_dev,
					      .ino = st.st_ino,
					      .is_dir = S_ISDIR(st.st_mode)};
		int r = host_list_add(&h->known, arena, &o);

		if (r < 0)
			return r;
	}
	return 0;
}

static bool host_is_same(const char *path, const struct stat *as)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == as->st_dev && st.st_ino == as->st_ino;
}

const char *host_known_as(const struct host *h, const char *path, struct arena *arena)
{
	struct stat self, st;

	if (stat(path, &self) < 0)
		return path;
	for (const char *at = path; at; at = host_above(at, arena)) {
		const struct host_object *known =
			stat(at, &st) == 0 ? host_known_by_identity(h, &st) : NULL;

		if (!known)
			continue;
		if (str_equal(known->path, at))
			return path;
		const char *rest = path + (str_equal(at, "/") ? 0 : strlen(at));
		const char *name =
			arena_printf(arena, "%s%s",
				     str_equal(known->path, "/") && *rest ? "" : known->path, rest);

		/* Something else may be mounted over it there. */
		if (name && host_is_same(name, &self))
			return name;
	}
	return path;
}
