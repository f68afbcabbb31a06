/* SPDX-License-Identifier: Apache-2.0 */
#include "home_store.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STORE_NAME_MAX = 48, /* of the workspace's name in the directory's */
	STORE_SAME_HASH = 16,
	STORE_DISPLACED_MAX = 1000,
	STORE_TRIES = 8, /* against an agent of another session that races us */
};

static uint64_t store_hash(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */

	for (; *s; s++)
		hash = (hash ^ (uint8_t)*s) * 0x100000001b3ull;
	return hash;
}

static const char *store_name(const char *workspace, int number, struct arena *arena)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";
	char name[STORE_NAME_MAX + 1];
	char suffix[16] = "";
	size_t len = 0;

	for (const char *c = strrchr(workspace, '/') + 1; *c && len < STORE_NAME_MAX; c++, len++)
		name[len] = strchr(plain, *c) && !(len == 0 && *c == '.') ? *c : '_';
	name[len] = '\0';
	if (number > 1)
		(void)snprintf(suffix, sizeof(suffix), "-%d", number);
	return arena_printf(arena, "%s-%016" PRIx64 "%s", name, store_hash(workspace), suffix);
}

/* Makes the directories of path that are missing; links on the way are the user's own. */
static int store_make_path(const char *path, struct arena *arena)
{
	char *part = arena_str(arena, path);

	if (!part)
		return -ENOMEM;
	for (char *at = part + 1;; at++) {
		char c = *at;

		if (c != '/' && c != '\0')
			continue;
		*at = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST && errno != EROFS)
			return -errno;
		if (c == '\0')
			return 0;
		*at = c;
	}
}

/* Nothing is made in a folder of somebody else: HOME may be another's, as under sudo. */
static int store_check_parent(const struct host *h, struct arena *arena, struct error *e)
{
	char *path = arena_str(arena, h->state_dir);
	struct stat st;

	if (!path)
		return error_sys(e, -ENOMEM, "cannot make %s", h->state_dir);
	for (char *slash = strrchr(path, '/'); slash && slash > path; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(path, &st) < 0)
			continue;
		if (st.st_uid == h->uid)
			return 0;
		int r = error_set(e, -EPERM,
				  "cannot make %s: %s belongs to user %u, and you are user %llu",
				  h->state_dir, path, st.st_uid, (unsigned long long)h->uid);

		error_next(e, "Set HOME to your own home (sudo -H), or XDG_STATE_HOME.");
		return r;
	}
	return 0;
}

/* The state directory, the user's own and nobody else's to write. */
int home_store_state(const struct host *h, bool create, struct arena *arena, struct error *e)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	_cleanup_fd_ int fd = open(h->state_dir, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT && create) {
		int r = store_check_parent(h, arena, e);

		if (r < 0)
			return r;
		r = store_make_path(h->state_dir, arena);
		if (r < 0) {
			(void)error_sys(e, r, "cannot make %s, where the homes of boxes are kept",
					h->state_dir);
			error_next(e, "Set XDG_STATE_HOME to a folder that you can write.");
			return r;
		}
		fd = open(h->state_dir, flags);
	}
	if (fd < 0)
		return errno == ENOENT && !create
			       ? -ENOENT
			       : error_sys(e, -errno, "cannot open %s", h->state_dir);
	if (fstat(fd, &st) < 0)
		return error_sys(e, -errno, "cannot look at %s", h->state_dir);
	if (st.st_uid != h->uid || (st.st_mode & 022) != 0) {
		int r = error_set(e, -EPERM, "%s is not yours alone to write (owner %u, mode %04o)",
				  h->state_dir, st.st_uid, st.st_mode & 07777);

		error_next(e, "chown it to yourself and chmod go-w it, or set XDG_STATE_HOME.");
		return r;
	}
	return TAKE_FD(fd);
}

/* A directory below dir, made when it is missing and may be. */
static int store_dir(int dir, const char *name, bool create)
{
	int fd = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);

	if (fd != -ENOENT || !create)
		return fd;
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);
}

/* 1 when the entry is workspace's (and made so when new and create), 0 when another's, -errno. */
static int store_claim(int entry, const char *workspace, bool create)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PATH_MAX);
	_cleanup_fd_ int fd = open_beneath(entry, "path", O_RDONLY | O_NONBLOCK, 0);

	if (fd >= 0) {
		int r = fd_read_all(fd, &text);

		return r < 0 ? r : str_equal(buf_str(&text), workspace);
	}
	if (fd != -ENOENT || !create)
		return fd;
	/* Whole or not at all; who races us writes the same. */
	fd = open_beneath(entry, "path.new", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return fd;
	int r = fd_write_all(fd, workspace, strlen(workspace));
	if (r < 0)
		return r;
	return renameat(entry, "path.new", entry, "path") < 0 ? -errno : 1;
}

/* The entry below homes, O_PATH; its number in *ret_number. */
static int store_entry(int homes, const char *workspace, bool create, struct arena *arena,
		       const char **ret_name)
{
	for (int number = 1; number <= STORE_SAME_HASH; number++) {
		const char *name = store_name(workspace, number, arena);

		if (!name)
			return -ENOMEM;
		*ret_name = name;
		_cleanup_fd_ int entry = store_dir(homes, name, create);
		int r = entry < 0 ? entry : store_claim(entry, workspace, create);

		if (r < 0)
			return r;
		if (r > 0)
			return TAKE_FD(entry);
	}
	return -EEXIST;
}

static int store_guard(struct host *h, int state, struct arena *arena, const char **ret_path)
{
	char magic[32];
	char text[PATH_MAX];

	(void)snprintf(magic, sizeof(magic), "/proc/self/fd/%d", state);
	ssize_t n = readlink(magic, text, sizeof(text));
	if (n <= 0 || (size_t)n >= sizeof(text))
		return n < 0 ? -errno : -ENAMETOOLONG;
	*ret_path = arena_strn(arena, text, (size_t)n);
	if (!*ret_path)
		return -ENOMEM;
	for (size_t i = 0; i < h->guarded.count; i++)
		if (str_equal(h->guarded.items[i].path, *ret_path))
			return 0;
	return host_list_add(&h->guarded, arena,
			     &(struct host_object){.name = h->state_dir,
						   .path = *ret_path,
						   .is_dir = true,
						   .origin = "state"});
}

int home_store_open(struct host *h, bool create, struct arena *arena, struct host_object *ret_store,
		    int *ret_fd, struct error *e)
{
	const char *name = store_name(h->workspace.path, 1, arena);
	const char *state_path = h->state_dir;
	_cleanup_fd_ int state = home_store_state(h, create, arena, e);
	struct host_object store = {.name = NULL, .is_dir = true, .origin = "default"};
	struct stat st;

	if (state < 0 && state != -ENOENT)
		return state;
	int r = !name ? -ENOMEM : state < 0 ? 0 : store_guard(h, state, arena, &state_path);
	_cleanup_fd_ int homes = r < 0       ? r
				 : state < 0 ? -ENOENT
					     : store_dir(state, "homes", create);
	_cleanup_fd_ int entry =
		homes < 0 ? homes : store_entry(homes, h->workspace.path, create, arena, &name);
	_cleanup_fd_ int home = entry < 0 ? entry : store_dir(entry, "home", create);

	if (home < 0 && (home != -ENOENT || create))
		return error_sys(e, home, "cannot open the private home of %s in %s",
				 h->workspace.path, h->state_dir);
	store.path = arena_printf(arena, "%s/homes/%s/home", state_path, name);
	store.name = store.path;
	if (!store.path)
		return error_sys(e, -ENOMEM, "cannot find the private home");
	if (home >= 0) {
		if (fstat(home, &st) < 0)
			return error_sys(e, -errno, "cannot look at %s", store.path);
		store.dev = st.st_dev;
		store.ino = st.st_ino;
	}
	*ret_store = store;
	*ret_fd = home >= 0 ? TAKE_FD(home) : -1;
	return 0;
}

/* Moves name aside, to name.displaced-N in the same directory, whatever it is. */
static int store_displace(int dir, const char *name, char *ret_aside, size_t size)
{
	for (int n = 1; n <= STORE_DISPLACED_MAX; n++) {
		int len = snprintf(ret_aside, size, "%s.displaced-%d", name, n);

		if (len < 0 || (size_t)len >= size)
			return -ENAMETOOLONG;
		if (renameat2(dir, name, dir, ret_aside, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* One mount point that is being made. */
struct store_point {
	struct plan *plan;
	struct arena *arena;
	const char *target;
	bool is_dir;
};

static int store_note_displaced(struct store_point *p, const char *aside)
{
	size_t count = p->plan->notes.count;
	struct plan_note *notes = arena_alloc(p->arena, (count + 1) * sizeof(*notes));
	const char *why = arena_printf(p->arena,
				       "in the private home something else stood in its place; it "
				       "was moved aside to %s",
				       aside);

	if (!notes || !why)
		return -ENOMEM;
	if (count > 0)
		memcpy(notes, p->plan->notes.items, count * sizeof(*notes));
	notes[count] = (struct plan_note){
		.kind = PLAN_NOTE_WARNING, .what = p->target, .why = why, .origin = "private home"};
	p->plan->notes.items = notes;
	p->plan->notes.count = count + 1;
	return 0;
}

/* What stands under name in dir: O_PATH when it is of the right kind, -ENOENT, or -ENOTDIR. */
static int store_right_kind(int dir, const char *name, bool is_dir)
{
	_cleanup_fd_ int fd = open_beneath(dir, name, O_PATH, 0);
	struct stat st;

	if (fd == -ELOOP)
		return -ENOTDIR;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return (is_dir ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)) ? TAKE_FD(fd) : -ENOTDIR;
}

/* Opens one component, made and cleared of what does not belong there. */
static int store_component(struct store_point *p, int dir, const char *name, bool is_dir)
{
	for (int i = 0; i < STORE_TRIES; i++) {
		int fd = store_right_kind(dir, name, is_dir);
		int r = 0;

		if (fd == -ENOTDIR) {
			char aside[NAME_MAX + 1];

			r = store_displace(dir, name, aside, sizeof(aside));
			if (r == 0)
				r = store_note_displaced(p, aside);
			if (r < 0 && r != -ENOENT)
				return r;
			continue;
		}
		if (fd != -ENOENT)
			return fd;
		if (is_dir) {
			r = mkdirat(dir, name, 0755) < 0 ? -errno : 0;
		} else {
			_cleanup_fd_ int file =
				openat(dir, name,
				       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

			r = file < 0 ? -errno : 0;
		}
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return -EBUSY;
}

/* rel, component by component from home: no link is followed, nothing is replaced. */
static int store_make_point(struct store_point *p, int home, const char *rel)
{
	_cleanup_fd_ int dir = open_beneath(home, rel, O_PATH | (p->is_dir ? O_DIRECTORY : 0), 0);
	char name[NAME_MAX + 1];
	struct stat st;

	/* Usually it is there from the last time. */
	if (dir >= 0 && (p->is_dir || (fstat(dir, &st) == 0 && S_ISREG(st.st_mode))))
		return 0;
	fd_close(&dir);
	dir = open_beneath(home, "", O_PATH | O_DIRECTORY, 0);
	while (dir >= 0) {
		size_t len = strcspn(rel, "/");

		if (len == 0 || len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, rel, len);
		name[len] = '\0';
		bool last = rel[len] == '\0';
		int next = store_component(p, dir, name, !last || p->is_dir);

		fd_close(&dir);
		dir = next;
		if (last)
			break;
		rel += len + 1;
	}
	return dir < 0 ? dir : 0;
}

/* Whether mount i stands right on the private home, and not on something mounted in between. */
static bool store_is_on_home(const struct plan *plan, size_t i)
{
	const char *target = plan->mounts.items[i].target;
	const struct plan_mount *over = NULL;

	for (size_t n = 0; n < i; n++) {
		const struct plan_mount *m = &plan->mounts.items[n];

		if (str_path_beneath(target, m->target) &&
		    (!over || strlen(m->target) >= strlen(over->target)))
			over = m;
	}
	return over && str_equal(over->role, "home");
}

static bool store_source_is_dir(const struct host *h, const char *source)
{
	for (size_t i = 0; i < h->named.count; i++)
		if (h->named.items[i].path && str_equal(h->named.items[i].path, source))
			return h->named.items[i].is_dir;
	return true;
}

int home_store_make_mount_points(int home, const struct host *h, struct plan *plan,
				 struct arena *arena, struct error *e)
{
	size_t skip = strlen(plan->home) + 1;

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (m->kind != PLAN_MOUNT_BIND || !str_path_beneath(m->target, plan->home) ||
		    str_equal(m->target, plan->home) || !store_is_on_home(plan, i))
			continue;
		struct store_point p = {.plan = plan,
					.arena = arena,
					.target = m->target,
					.is_dir = store_source_is_dir(h, m->source)};
		int r = store_make_point(&p, home, m->target + skip);

		if (r < 0) {
			(void)error_sys(e, r, "cannot make the mount point %s in %s", m->target,
					plan->home_store);
			error_next(e, "Look at what stands there; it is the box's own and may be "
				      "moved away.");
			return r;
		}
	}
	return 0;
}
