/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_path.h"

#include "str.h"

enum { WATCH_LINKS_MAX = 4 }; /* of the plan, one leading to another */

static enum watch_place watch_place_of(const struct plan_mount *m)
{
	static const struct {
		const char *role;
		enum watch_place place;
	} places[] = {
		{"workspace", WATCH_PLACE_WORKSPACE}, {"named", WATCH_PLACE_GRANTED},
		{"exposed", WATCH_PLACE_GRANTED},     {"home", WATCH_PLACE_HOME},
		{"private", WATCH_PLACE_OWN},         {"held", WATCH_PLACE_WORKSPACE},
		{"fixed", WATCH_PLACE_GRANTED},       {PLAN_REPOSITORY, WATCH_PLACE_GRANTED},
	};

	if (m->kind == PLAN_MOUNT_HIDE)
		return WATCH_PLACE_HIDDEN;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++)
		if (str_equal(m->role, places[i].role))
			return places[i].place;
	return WATCH_PLACE_SYSTEM;
}

int watch_map_init(struct watch_map *m, const struct plan *plan)
{
	*m = (struct watch_map){.plan = plan};
	m->mounts = calloc(plan->mounts.count + 1, sizeof(*m->mounts));
	if (!m->mounts)
		return -ENOMEM;
	if (plan->root.count > 0)
		m->mounts[m->count++] =
			(struct watch_mount){"/", 1, &plan->root.items[0], WATCH_PLACE_SYSTEM};
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];

		m->mounts[m->count++] = (struct watch_mount){mount->target, strlen(mount->target),
							     mount, watch_place_of(mount)};
	}
	return 0;
}

void watch_map_fini(struct watch_map *m)
{
	free(m->mounts);
	*m = (struct watch_map){NULL, 0, NULL};
}

static bool watch_is_beneath(const char *path, size_t len, const char *dir, size_t dir_len)
{
	if (dir_len == 1)
		return true;
	return len >= dir_len && memcmp(path, dir, dir_len) == 0 &&
	       (path[dir_len] == '/' || path[dir_len] == '\0');
}

/* The deepest mount that the path is in, of two at one place the later; but one that hides wins.
 * *ret_above: something is mounted further down. */
static const struct watch_mount *watch_map_over(const struct watch_map *m, const char *path,
						bool *ret_above)
{
	const struct watch_mount *over = NULL;
	size_t len = strlen(path);

	*ret_above = false;
	for (size_t i = 0; i < m->count; i++) {
		const struct watch_mount *at = &m->mounts[i];

		if (at->len > 1 && path[1] != at->target[1] && path[1] != '\0')
			continue;
		if (!watch_is_beneath(path, len, at->target, at->len)) {
			if (watch_is_beneath(at->target, at->len, path, len))
				*ret_above = true;
			continue;
		}
		if (at->place == WATCH_PLACE_HIDDEN)
			return at;
		if (!over || at->len >= over->len)
			over = at;
	}
	return over;
}

static struct watch_where watch_map_find_through(const struct watch_map *m, const char *path,
						 int links)
{
	bool above = false;
	const struct watch_mount *over = watch_map_over(m, path, &above);

	if (!over)
		return (struct watch_where){above ? WATCH_PLACE_SYSTEM : WATCH_PLACE_HIDDEN, false};
	if (over->mount->kind == PLAN_MOUNT_LINK && links < WATCH_LINKS_MAX) {
		char folder[WATCH_PATH_MAX], whole[2 * WATCH_PATH_MAX], led[WATCH_PATH_MAX];
		const char *rest = path + over->len;
		size_t to = strlen(over->mount->source);
		size_t parent = (size_t)(strrchr(over->target, '/') - over->target);

		if (to + strlen(rest) < sizeof(whole) && parent < sizeof(folder)) {
			memcpy(folder, over->target, parent);
			folder[parent] = '\0';
			memcpy(whole, over->mount->source, to);
			memcpy(whole + to, rest, strlen(rest) + 1);
			if (watch_path_join(folder, whole, led, sizeof(led)) > 0)
				return watch_map_find_through(m, led, links + 1);
		}
	}
	return (struct watch_where){over->place, over->mount->access == PLAN_ACCESS_WRITE};
}

struct watch_where watch_map_find(const struct watch_map *m, const char *path)
{
	return watch_map_find_through(m, path, 0);
}

bool watch_map_is_mount(const struct watch_map *m, const char *path)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->mounts[i].mount->kind != PLAN_MOUNT_LINK &&
		    str_equal(m->mounts[i].target, path))
			return true;
	return false;
}

/* The path in the workspace of something in a snapshot of it; else the path itself. */
static const char *watch_map_in_workspace(const struct watch_map *m, const char *path, char *room,
					  size_t size)
{
	const char *name = str_after(path, PLAN_SNAPSHOTS "/");
	const char *rest = name ? strchr(name, '/') : NULL;
	const struct plan_mount *work = rest ? plan_mount_of(m->plan, "workspace") : NULL;

	if (!work || snprintf(room, size, "%s%s", work->target, rest) >= (int)size)
		return path;
	return room;
}

bool watch_map_is_marked(const struct watch_map *m, const char *path)
{
	char room[WATCH_PATH_MAX];

	if (m->plan->record_marks.count)
		path = watch_map_in_workspace(m, path, room, sizeof(room));
	for (size_t i = 0; i < m->plan->record_marks.count; i++)
		if (str_path_beneath(path, m->plan->record_marks.items[i].text))
			return true;
	return false;
}

/* Appends the parts of path to what is there. */
static size_t watch_path_add(const char *path, char *into, size_t len, size_t size)
{
	while (*path) {
		const char *end = strchrnul(path, '/');
		size_t n = (size_t)(end - path);

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && into[--len] != '/')
				continue;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (len + n + 2 > size)
				return SIZE_MAX;
			into[len++] = '/';
			memcpy(into + len, path, n);
			len += n;
		}
		path = *end ? end + 1 : end;
	}
	return len;
}

size_t watch_path_join(const char *folder, const char *path, char *into, size_t size)
{
	size_t len = path[0] == '/' ? 0 : watch_path_add(folder, into, 0, size);

	if (len != SIZE_MAX)
		len = watch_path_add(path, into, len, size);
	if (len == SIZE_MAX)
		return 0;
	if (len == 0)
		into[len++] = '/';
	into[len] = '\0';
	return len;
}
