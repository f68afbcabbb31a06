/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define CGROUP_PREFIX "bawn-"

enum { CGROUP_BYTES = 1 << 20, CGROUP_TRIES = 100, CGROUP_TRY_MS = 10, CGROUP_AGAIN = 3 };

static const struct {
	unsigned int bit;
	const char *name, *on, *off;
} cgroup_controllers[] = {
	{CGROUP_CPU, "cpu", "+cpu", "-cpu"},
	{CGROUP_MEMORY, "memory", "+memory", "-memory"},
	{CGROUP_PIDS, "pids", "+pids", "-pids"},
	{CGROUP_IO, "io", "+io", "-io"},
};

/* Where cgroups of version 2 are mounted; NULL: nowhere that we know. */
static const char *cgroup_mount(void)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++)
		if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

int cgroup_of(pid_t pid, char ret[PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(CGROUP_BYTES);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	int r = fd_read_file_at(AT_FDCWD, path, &text);

	if (r < 0)
		return r;
	for (const char *line = buf_str(&text); line;) {
		const char *found = str_after(line, "0::");
		const char *end = strchr(line, '\n');

		if (found && end && end - found < PATH_MAX) {
			(void)snprintf(ret, PATH_MAX, "%.*s", (int)(end - found), found);
			return ret[0] == '/' && !strstr(ret, "/..") ? 0 : -ENOENT;
		}
		line = end && end[1] ? end + 1 : NULL;
	}
	return -ENOENT;
}

/* 0, or -ENOENT where it is too long. */
static int cgroup_join(const char *mount, const char *own, char ret[PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s%s", mount, own[1] ? own : "");

	return n < 0 || n >= PATH_MAX ? -ENOENT : 0;
}

int cgroup_path_of(pid_t pid, char ret[PATH_MAX])
{
	const char *mount = cgroup_mount();
	char own[PATH_MAX];
	int r = mount ? cgroup_of(pid, own) : -ENOENT;

	return r < 0 ? r : cgroup_join(mount, own, ret);
}

/* --- where ------------------------------------------------------------------------------ */

static bool cgroup_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ' || at[-1] == '\n') &&
		    (at[len] == ' ' || at[len] == '\n' || at[len] == '\0'))
			return true;
	return false;
}

/* A kernel can have the controller and share no disk by weight.  The root of all does not show it. */
static bool cgroup_weighs_io(int dir)
{
	return faccessat(dir, "io.weight", F_OK, 0) == 0 ||
	       faccessat(dir, "io.bfq.weight", F_OK, 0) == 0 ||
	       faccessat(dir, "cgroup.type", F_OK, 0) < 0;
}

/* The controllers that a file names.  One that cannot be read names none. */
static unsigned int cgroup_read_controllers(int dir, const char *file)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CGROUP_BYTES);
	unsigned int found = 0;

	if (fd_read_file_at(dir, file, &text) < 0)
		return 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cgroup_controllers); i++)
		if (cgroup_has_word(buf_str(&text), cgroup_controllers[i].name))
			found |= cgroup_controllers[i].bit;
	return cgroup_weighs_io(dir) ? found : found & ~(unsigned int)CGROUP_IO;
}

unsigned int cgroup_controllers_of(const char *path)
{
	_cleanup_fd_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? 0 : cgroup_read_controllers(dir, "cgroup.controllers");
}

/* Whether this process stands in the cgroup, and whether others do. */
static int cgroup_who(int dir, pid_t self, bool *ret_self, bool *ret_others)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CGROUP_BYTES);
	int r = fd_read_file_at(dir, "cgroup.procs", &text);

	*ret_self = *ret_others = false;
	if (r < 0)
		return r;
	for (char *at = (char *)(uintptr_t)buf_str(&text); *at;) {
		char *end = at;
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid == self)
			*ret_self = true;
		else
			*ret_others = true;
		at = end + strspn(end, "\n ");
	}
	return 0;
}

static bool cgroup_may_write(int dir, const char *name)
{
	return faccessat(dir, name, W_OK, AT_EACCESS) == 0;
}

static bool cgroup_has_mark(int dir, const char *users, const char *roots)
{
	char byte;

	return fgetxattr(dir, users, &byte, 0) >= 0 || fgetxattr(dir, roots, &byte, 0) >= 0;
}

/* systemd marks the cgroups of its units, and those that it has delegated. */
static bool cgroup_is_unit(int dir)
{
	return cgroup_has_mark(dir, "user.invocation_id", "trusted.invocation_id");
}

static bool cgroup_is_delegated(int dir)
{
	return cgroup_has_mark(dir, "user.delegate", "trusted.delegate");
}

static int cgroup_try(int dir, pid_t self, unsigned int wanted, struct cgroup_place *ret)
{
	if ((cgroup_is_unit(dir) && !cgroup_is_delegated(dir)) || !cgroup_may_write(dir, ".") ||
	    !cgroup_may_write(dir, "cgroup.procs"))
		return -EACCES;
	unsigned int missing = wanted & ~cgroup_read_controllers(dir, "cgroup.subtree_control");
	bool here = false;
	bool others = false;

	ret->enable = missing;
	ret->aside = false;
	if (!missing)
		return 0;
	if (missing & ~cgroup_read_controllers(dir, "cgroup.controllers"))
		return -EOPNOTSUPP;
	if (!cgroup_may_write(dir, "cgroup.subtree_control"))
		return -EACCES;
	/* The root of all hands down whatever stands in it. */
	if (faccessat(dir, "cgroup.type", F_OK, 0) < 0 && errno == ENOENT)
		return 0;
	int r = cgroup_who(dir, self, &here, &others);

	ret->aside = here;
	return r < 0 ? r : others ? -EBUSY : 0;
}

int cgroup_find(const char *mount, const char *own, pid_t self, unsigned int wanted,
		struct cgroup_place *ret)
{
	int why = -EACCES;
	bool first = true;

	if (cgroup_join(mount, own, ret->path) < 0)
		return -ENOENT;
	for (;; first = false) {
		_cleanup_fd_ int dir = open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool here = false;
		bool others = false;

		/* A mount of another part of the tree than the one that we stand in. */
		if (dir < 0 || (first && (cgroup_who(dir, self, &here, &others) < 0 || !here)))
			return -ENOENT;
		int r = cgroup_try(dir, self, wanted, ret);

		if (r == 0)
			return 0;
		why = why == -EACCES ? r : why; /* what is nearest tells most */
		if (strlen(ret->path) <= strlen(mount) || cgroup_is_unit(dir))
			return why;
		*strrchr(ret->path, '/') = '\0';
	}
}

int cgroup_find_own(unsigned int wanted, struct cgroup_place *ret)
{
	const char *mount = cgroup_mount();
	char own[PATH_MAX];
	int r = mount ? cgroup_of(getpid(), own) : -ENOENT;

	return r < 0 ? -ENOENT : cgroup_find(mount, own, getpid(), wanted, ret);
}

/* --- one of ours ------------------------------------------------------------------------ */

/* "bawn-NAME.PID", of a session, or "bawn-.outside.PID".  A unit of systemd ends in its kind. */
static bool cgroup_is_name(const char *name)
{
	const char *rest = str_after(name, CGROUP_PREFIX), *dot = rest ? strrchr(rest, '.') : NULL;

	return dot && dot > rest && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
}

void cgroup_sweep(const char *place)
{
	_cleanup_dir_ DIR *d = dir_open(AT_FDCWD, place, NULL);

	for (const struct dirent *entry; (entry = dir_next(d, NULL));) {
		if (!cgroup_is_name(entry->d_name))
			continue;
		_cleanup_fd_ int dir = openat(dirfd(d), entry->d_name,
					      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		/* With processes in it the kernel keeps it. */
		if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
			(void)unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
	}
}

void cgroup_sweep_own(void)
{
	const char *mount = cgroup_mount();
	char path[PATH_MAX];

	if (!mount || cgroup_path_of(getpid(), path) < 0)
		return;
	for (;; *strrchr(path, '/') = '\0') {
		_cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		cgroup_sweep(path);
		/* Above a unit we make none (cgroup_find). */
		if (strlen(path) <= strlen(mount) || dir < 0 || cgroup_is_unit(dir))
			return;
	}
}

/* A folder with our lock, that nobody has swept away before we had it.  Its descriptor, or
 * -errno. */
static int cgroup_make_folder(int place, const char *name)
{
	int why = -EEXIST;

	for (int i = 0; i < CGROUP_AGAIN; i++) {
		struct stat made;
		struct stat there;

		if (mkdirat(place, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		_cleanup_fd_ int dir =
			openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0) {
			why = errno == EWOULDBLOCK ? -EEXIST : -errno;
			continue;
		}
		if (fstat(dir, &made) == 0 && fstatat(place, name, &there, 0) == 0 &&
		    made.st_ino == there.st_ino)
			return TAKE_FD(dir);
	}
	return why;
}

static int cgroup_step_aside(struct cgroup *c)
{
	(void)snprintf(c->outside_name, sizeof(c->outside_name), CGROUP_PREFIX ".outside.%d",
		       (int)getpid());
	c->outside = cgroup_make_folder(c->place, c->outside_name);
	return c->outside < 0 ? c->outside : fd_write_file_at(c->outside, "cgroup.procs", "0");
}

/* Hands these controllers down, one by one. */
static int cgroup_enable(struct cgroup *c, unsigned int which)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cgroup_controllers); i++) {
		if (!(which & cgroup_controllers[i].bit))
			continue;
		int r = fd_write_file_at(c->place, "cgroup.subtree_control",
					 cgroup_controllers[i].on);

		if (r < 0)
			return r;
		c->enabled |= cgroup_controllers[i].bit;
	}
	return 0;
}

int cgroup_make(const struct cgroup_place *place, const char *session, struct cgroup *c)
{
	*c = CGROUP_INIT;
	cgroup_sweep(place->path);
	c->place = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->place < 0)
		return -errno;
	int r = place->aside ? cgroup_step_aside(c) : 0;

	if (r == 0)
		r = cgroup_enable(c, place->enable);
	if (r < 0)
		return r;
	/* Processes are limited without a cgroup as well. */
	if (place->enable)
		(void)cgroup_enable(c, CGROUP_PIDS & ~place->enable);
	(void)snprintf(c->name, sizeof(c->name), CGROUP_PREFIX "%.64s.%d", session, (int)getpid());
	c->dir = cgroup_make_folder(c->place, c->name);
	return c->dir < 0 ? c->dir : 0;
}

/* Whether another session has a cgroup in the place: who made one holds its lock. */
static bool cgroup_has_others(const struct cgroup *c)
{
	_cleanup_dir_ DIR *d = dir_open(c->place, ".", NULL);

	for (const struct dirent *entry; (entry = dir_next(d, NULL));) {
		if (!cgroup_is_name(entry->d_name) || str_equal(entry->d_name, c->name) ||
		    str_equal(entry->d_name, c->outside_name))
			continue;
		_cleanup_fd_ int dir = openat(c->place, entry->d_name,
					      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) < 0)
			return true;
	}
	return false;
}

/* Goes back to where we stood, so that nothing of ours is left there.  Without its controllers the
 * limits of another session would be gone: then we stay aside. */
static void cgroup_step_back(struct cgroup *c)
{
	if (cgroup_has_others(c))
		return;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cgroup_controllers); i++)
		if (c->enabled & cgroup_controllers[i].bit)
			(void)fd_write_file_at(c->place, "cgroup.subtree_control",
					       cgroup_controllers[i].off);
	if (fd_write_file_at(c->place, "cgroup.procs", "0") == 0)
		(void)unlinkat(c->place, c->outside_name, AT_REMOVEDIR);
}

void cgroup_remove(struct cgroup *c)
{
	/* The last of a box goes a moment after its end was reported. */
	for (int i = 0; c->dir >= 0 && i < CGROUP_TRIES; i++) {
		if (unlinkat(c->place, c->name, AT_REMOVEDIR) == 0 || errno != EBUSY)
			break;
		(void)nanosleep(&(struct timespec){.tv_nsec = CGROUP_TRY_MS * 1000000L}, NULL);
	}
	if (c->outside >= 0)
		cgroup_step_back(c);
	fd_close(&c->dir);
	fd_close(&c->outside);
	fd_close(&c->place);
}

bool cgroup_is_ours(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && cgroup_is_name(slash + 1) && !str_after(slash + 1, CGROUP_PREFIX ".");
}

uint64_t cgroup_count(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t at = 0; at + len < text.len;) {
		const uint8_t *line = text.ptr + at;
		const uint8_t *end = memchr(line, '\n', text.len - at);
		uint64_t number = 0;

		if (memcmp(line, word, len) == 0 && line[len] == ' ') {
			for (const uint8_t *p = line + len + 1;
			     p < text.ptr + text.len && *p >= '0' && *p <= '9'; p++)
				number = number * 10 + (uint64_t)(*p - '0');
			return number;
		}
		if (!end)
			break;
		at = (size_t)(end - text.ptr) + 1;
	}
	return 0;
}

bool cgroup_pressure(struct span text, uint64_t *ret)
{
	static const char lead[] = "some avg10=";
	uint64_t number = 0;
	int after = -1; /* digits behind the point; -1: it has not come */

	if (text.len < sizeof(lead) || memcmp(text.ptr, lead, sizeof(lead) - 1) != 0)
		return false;
	for (size_t at = sizeof(lead) - 1; at < text.len && after < 2; at++) {
		uint8_t c = text.ptr[at];

		if (c == '.' && after < 0) {
			after = 0;
			continue;
		}
		if (c < '0' || c > '9' || number > UINT32_MAX)
			break;
		number = number * 10 + (uint64_t)(c - '0');
		after += after >= 0;
	}
	*ret = number;
	return after == 2;
}
