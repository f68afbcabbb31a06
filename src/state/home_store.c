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
#include <sys/statvfs.h>
#include <unistd.h>

#define STORE_RESERVE "reserve"

/* Makes the missing directories of path.  It follows links on the way: they are the user's own. */
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

/*
 * In a sticky folder of root (/tmp, /dev/shm) no other user can move what is ours.  Root is the
 * owner of "/": in a container with a user namespace that may be a user without a number.
 */
static bool store_is_shared(const struct stat *folder)
{
	struct stat top;

	return folder->st_mode & S_ISVTX && stat("/", &top) == 0 && folder->st_uid == top.st_uid;
}

/* Refuses to make the state directory in a folder of another user: HOME may be wrong, as under
 * sudo. */
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
		if (st.st_uid == h->uid || store_is_shared(&st))
			return 0;
		int r = error_set(e, -EPERM,
				  "cannot make %s: %s belongs to user %u, and you are user %llu",
				  h->state_dir, path, st.st_uid, (unsigned long long)h->uid);

		error_next(e, "Set HOME to your own home (sudo -H), or XDG_STATE_HOME.");
		return r;
	}
	return 0;
}

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
		/* Another process may have made a part of it in the meantime. */
		if (r == 0 && store_check_parent(h, arena, e) < 0)
			return e->code;
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
	/* Whoever can write the folder above can replace this one. */
	char above[PATH_MAX];

	(void)snprintf(above, sizeof(above), "%s", h->state_dir);
	*strrchr(above, '/') = '\0';
	if (host_others_replace(h, above)) {
		int r = error_set(e, -EPERM, "%s can be written by others", above);

		error_next(e, "chmod go-w %s, or set XDG_STATE_HOME.", above);
		return r;
	}
	return TAKE_FD(fd);
}

/* Reserves as much as there is room for.  A session runs without the reserve too. */
static void store_reserve(int state)
{
	_cleanup_fd_ int fd = open_file(state, STORE_RESERVE, O_WRONLY | O_CREAT, 0600);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_blocks < HOME_STORE_RESERVE / 512)
		(void)!fallocate(fd, 0, 0, HOME_STORE_RESERVE);
}

void home_store_make_room(const struct host *h)
{
	_cleanup_fd_ int state = open(h->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statvfs s;

	if (state >= 0 && fstatvfs(state, &s) == 0 &&
	    (s.f_bavail * s.f_frsize < HOME_STORE_RESERVE || (s.f_files && s.f_favail < 64)))
		(void)unlinkat(state, STORE_RESERVE, 0);
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

/* In a home without any file of its own zsh asks how it shall be set up.  Who has such a file has
 * answered. */
static void store_greet_zsh(const struct host *h, int home)
{
	_cleanup_fd_ int own = open(h->home, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (own < 0 || faccessat(own, ".zshrc", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	int fd = open_file(home, ".zshrc", O_WRONLY | O_CREAT | O_EXCL, 0600);

	fd_close(&fd);
}

static int store_open(struct host *h, bool create, struct arena *arena, struct layers *ret_layers,
		      struct host_object *ret_store, struct error *e)
{
	const char *state_path = h->state_dir;
	_cleanup_fd_ int state = home_store_state(h, create, arena, e);
	struct host_object store = {.is_dir = true, .origin = "default"};
	struct stat st;

	if (state < 0 && state != -ENOENT)
		return state;
	if (state >= 0 && create)
		store_reserve(state);
	int r = state < 0 ? 0 : store_guard(h, state, arena, &state_path);

	if (r < 0)
		return error_sys(e, r, "cannot tell where %s is", h->state_dir);
	r = state < 0 ? -ENOENT
		      : layers_open(state, state_path, h->workspace.path, create, ret_layers, e);
	if (r < 0 && (r != -ENOENT || create))
		return r;
	if (r < 0 && layers_place(state_path, h->workspace.path, ret_layers) < 0)
		return error_sys(e, -ENAMETOOLONG, "cannot find the private home");
	store.path = arena_printf(arena, "%s/home", ret_layers->path);
	store.name = store.path;
	if (!store.path)
		return error_sys(e, -ENOMEM, "cannot find the private home");
	bool made = ret_layers->dir >= 0 && create && mkdirat(ret_layers->dir, "home", 0700) == 0;

	if (ret_layers->dir >= 0 && create && !made && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s", store.path);
	_cleanup_fd_ int home = ret_layers->dir < 0 ? -ENOENT
						    : open_beneath(ret_layers->dir, "home",
								   O_PATH | O_DIRECTORY, 0);

	if (home >= 0 && fstat(home, &st) == 0) {
		store.dev = st.st_dev;
		store.ino = st.st_ino;
		if (made)
			store_greet_zsh(h, home);
	} else if (create) {
		return error_sys(e, home < 0 ? home : -errno, "cannot open %s", store.path);
	}
	*ret_store = store;
	return 0;
}

int home_store_open(struct host *h, bool create, struct arena *arena, struct layers *ret_layers,
		    struct host_object *ret_store, struct error *e)
{
	/* We choose the modes ourselves; the user's umask is for the command. */
	mode_t mask = umask(077);
	int r = store_open(h, create, arena, ret_layers, ret_store, e);

	(void)umask(mask);
	return r;
}
