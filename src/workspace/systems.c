/* SPDX-License-Identifier: Apache-2.0 */
#include "systems.h"

#include "dir.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEMS_MAGIC "bawn-system-1\n"

enum { SYSTEMS_LISTED_MAX = 1024 };

int systems_open(int state, const char *state_path, bool create, struct systems *ret,
		 struct error *e)
{
	*ret = SYSTEMS_INIT;
	if (create && mkdirat(state, "systems", 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/systems", state_path);
	_cleanup_fd_ int dir = open_beneath(state, "systems", O_RDONLY | O_DIRECTORY, 0);

	if (dir == -ENOENT && !create)
		return dir;
	int n = snprintf(ret->path, sizeof(ret->path), "%s/systems", state_path);

	if (dir >= 0 && (n < 0 || (size_t)n >= sizeof(ret->path)))
		return error_sys(e, -ENAMETOOLONG, "cannot open %s", state_path);
	if (dir < 0)
		return error_sys(e, dir, "cannot open %s/systems", state_path);
	ret->dir = TAKE_FD(dir);
	return 0;
}

void systems_close(struct systems *s)
{
	fd_close(&s->dir);
}

/* --- about ---------------------------------------------------------------------------- */

void systems_print(struct buf *into, const struct system_about *about)
{
	buf_putf(into,
		 SYSTEMS_MAGIC "name %s\nmade %" PRId64 "\nbytes %" PRIu64 "\nfiles %" PRIu64
			       "\nfrom %s\n",
		 about->name, about->made, about->bytes, about->files, about->from);
}

/* Takes the next line, which must have this key; *ret_value: its value. */
static int systems_line(char **at, const char *key, const char **ret_value)
{
	char *end = strchr(*at, '\n');
	size_t len = strlen(key);

	if (!end || strncmp(*at, key, len) != 0 || (*at)[len] != ' ')
		return -EBADMSG;
	*end = '\0';
	*ret_value = *at + len + 1;
	*at = end + 1;
	return 0;
}

static int systems_number(char **at, const char *key, uint64_t *ret)
{
	const char *value = NULL;
	int r = systems_line(at, key, &value);

	if (r == 0)
		r = str_parse_u64(value, ret);
	return r < 0 || *ret > INT64_MAX ? -EBADMSG : 0;
}

int systems_parse(struct span text, struct system_about *ret)
{
	char copy[SYSTEMS_ABOUT_MAX + 1] = "";
	const char *name = NULL;
	const char *from = NULL;
	uint64_t made = 0;

	*ret = (struct system_about){.made = 0};
	if (text.len > SYSTEMS_ABOUT_MAX || (text.len && memchr(text.ptr, '\0', text.len)))
		return -EBADMSG;
	if (text.len)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	if (!str_after(copy, SYSTEMS_MAGIC))
		return -EBADMSG;
	char *at = copy + sizeof(SYSTEMS_MAGIC) - 1;

	if (systems_line(&at, "name", &name) < 0 || systems_number(&at, "made", &made) < 0 ||
	    systems_number(&at, "bytes", &ret->bytes) < 0 ||
	    systems_number(&at, "files", &ret->files) < 0 || systems_line(&at, "from", &from) < 0 ||
	    *at || !layers_is_name(name) || strlen(from) > SYSTEMS_FROM_MAX)
		return -EBADMSG;
	ret->made = (int64_t)made;
	memcpy(ret->name, name, strlen(name) + 1);
	memcpy(ret->from, from, strlen(from) + 1);
	return 0;
}

int systems_read(const struct systems *s, const char *name, struct system_about *ret,
		 struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SYSTEMS_ABOUT_MAX);

	if (!layers_is_name(name))
		return -ENOENT;
	_cleanup_fd_ int dir = open_beneath(s->dir, name, O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int fd = dir < 0 ? dir : open_file(dir, "about", O_RDONLY, 0);
	int r = fd < 0 ? fd : fd_read_all(fd, &text);

	if (r == -ENOENT)
		return r;
	if (r == 0)
		r = systems_parse(buf_span(&text), ret);
	if (r == 0 && !str_equal(ret->name, name))
		r = -EBADMSG;
	return r < 0 ? error_sys(e, r, "cannot read what the system %s is, in %s", name, s->path)
		     : 0;
}

static void systems_aside(const char *name, const char *what, char into[LAYERS_NAME_MAX + 8])
{
	(void)snprintf(into, LAYERS_NAME_MAX + 8, ".%s.%s", name, what);
}

/* The name of the system of an entry; false: it is none. */
static bool systems_name_of(const char *entry, char into[LAYERS_NAME_MAX + 1])
{
	static const char *const asides[] = {".new", ".old"};
	size_t len = strlen(entry);
	bool aside = false;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(asides) && entry[0] == '.'; i++)
		aside = aside || (len > 5 && str_equal(entry + len - 4, asides[i]));
	if (aside) {
		entry++;
		len -= 5;
	}
	if (len > LAYERS_NAME_MAX)
		return false;
	memcpy(into, entry, len);
	into[len] = '\0';
	return layers_is_name(into);
}

/* Takes the lock of a folder .new or .old: returns a descriptor; -EBUSY: somebody has it; -ENOENT:
 * there is none. */
static int systems_take(const struct systems *s, const char *aside)
{
	_cleanup_fd_ int dir = open_beneath(s->dir, aside, O_RDONLY | O_DIRECTORY, 0);

	if (dir < 0)
		return dir;
	if (flock(dir, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	_cleanup_fd_ int making = open_file(dir, "making", O_RDONLY, 0);

	if (making >= 0 && flock(making, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(dir);
}

/* The state of a system without an `about`. */
static enum system_state systems_state(const struct systems *s, const char *name)
{
	char aside[LAYERS_NAME_MAX + 8];

	systems_aside(name, "new", aside);
	_cleanup_fd_ int fd = systems_take(s, aside);

	return fd == -EBUSY ? SYSTEM_BEING_MADE : SYSTEM_UNFINISHED;
}

static int systems_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Lists their names, sorted, each once. */
static int systems_names(const struct systems *s, char (**ret)[LAYERS_NAME_MAX + 1],
			 size_t *ret_count)
{
	char(*names)[LAYERS_NAME_MAX + 1] = calloc(SYSTEMS_LISTED_MAX, sizeof(*names));
	_cleanup_dir_ DIR *dir =
		dir_read(open_beneath(s->dir, "", O_RDONLY | O_DIRECTORY, 0), NULL);
	size_t count = 0;
	size_t kept = 0;

	*ret = names;
	*ret_count = 0;
	for (const struct dirent *d;
	     names && count < SYSTEMS_LISTED_MAX && (d = dir_next(dir, NULL));)
		count += systems_name_of(d->d_name, names[count]) ? 1 : 0;
	if (!names || !dir)
		return -ENOMEM;
	if (count > 1)
		qsort(names, count, sizeof(names[0]), systems_compare);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || !str_equal(names[kept - 1], names[i]))
			memmove(names[kept++], names[i], sizeof(names[i]));
	*ret_count = kept;
	return 0;
}

int systems_each(const struct systems *s,
		 int (*found)(void *context, const struct system_about *about,
			      enum system_state state),
		 void *context, struct error *e)
{
	char(*names)[LAYERS_NAME_MAX + 1] = NULL;
	size_t count = 0;
	int r = systems_names(s, &names, &count);

	if (r < 0)
		(void)error_sys(e, r, "cannot list %s", s->path);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		struct system_about about = {.made = 0};
		struct error unread = ERROR_INIT;

		r = systems_read(s, names[i], &about, &unread);
		enum system_state state = r == 0         ? SYSTEM_MADE
					  : r == -ENOENT ? systems_state(s, names[i])
							 : SYSTEM_UNREADABLE;

		if (state != SYSTEM_MADE)
			about = (struct system_about){.made = 0};
		(void)snprintf(about.name, sizeof(about.name), "%s", names[i]);
		r = found(context, &about, state);
	}
	free(names);
	return r;
}

/* --- making --------------------------------------------------------------------------- */

/* Makes a folder, and takes its lock; removes what was left in it. */
static int systems_claim(const struct systems *s, const char *aside, struct system_new *ret)
{
	for (int tries = 0; tries < 2; tries++) {
		if (mkdirat(s->dir, aside, 0700) < 0 && errno != EEXIST)
			return -errno;
		_cleanup_fd_ int dir = systems_take(s, aside);

		if (dir < 0)
			return dir;
		if (mkdirat(dir, "root", 0755) == 0) {
			_cleanup_fd_ int lock = open_file(dir, "making", O_RDONLY | O_CREAT, 0600);

			if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
				return lock < 0 ? lock : -errno;
			ret->lock = TAKE_FD(lock);
			ret->dir = TAKE_FD(dir);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
		int r = tree_remove(s->dir, aside);

		if (r < 0)
			return r;
	}
	return -EBUSY;
}

static int systems_busy(const char *name, struct error *e)
{
	(void)error_set(e, -EBUSY, "the system %s is being made already", name);
	error_next(e,
		   "If that was interrupted, its last program still runs: try again in a while.");
	return -EBUSY;
}

int systems_begin(const struct systems *s, const char *name, struct system_new *ret,
		  struct error *e)
{
	char aside[LAYERS_NAME_MAX + 8];
	struct stat st;

	*ret = SYSTEM_NEW_INIT;
	if (!layers_is_name(name)) {
		(void)error_set(e, -EINVAL, "'%s' is no name for a system", name);
		error_next(e, "Small letters, digits, '.', '_' and '-', beginning with a letter or "
			      "digit; at most 63.");
		return -EINVAL;
	}
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		(void)error_set(e, -EEXIST, "there is a system %s already", name);
		error_next(e, "'bawn system rm %s' removes it; or choose another name.", name);
		return -EEXIST;
	}
	systems_aside(name, "new", aside);
	int n = snprintf(ret->path, sizeof(ret->path), "%s/%s", s->path, aside);

	if (n < 0 || (size_t)n >= sizeof(ret->path))
		return error_sys(e, -ENAMETOOLONG, "cannot make %s/%s", s->path, aside);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	int r = systems_claim(s, aside, ret);

	if (r == -EBUSY)
		return systems_busy(name, e);
	return r < 0 ? error_sys(e, r, "cannot make %s/%s", s->path, aside) : 0;
}

void systems_abort(const struct systems *s, struct system_new *n)
{
	char aside[LAYERS_NAME_MAX + 8];

	if (n->dir < 0)
		return;
	systems_aside(n->name, "new", aside);
	(void)tree_remove(s->dir, aside);
	fd_close(&n->lock);
	fd_close(&n->dir);
}

/* Tells Debian's tools, if it has them, how it is inside: one user, no need to wait for the disk,
 * and nobody who would start services. */
static const struct {
	const char *folder, *name, *text;
	mode_t mode;
} systems_files[] = {
	{"etc/apt/apt.conf.d", "00bawn",
	 "// Of bawn: there is one user, and no other to become.\nAPT::Sandbox::User \"root\";\n",
	 0644},
	{"etc/dpkg/dpkg.cfg.d", "bawn",
	 "# Of bawn: what is installed in a box goes to a layer that can be thrown away.\n"
	 "force-unsafe-io\n",
	 0644},
	{"usr/sbin", "policy-rc.d",
	 "#!/bin/sh\n# Of bawn: nothing starts by being installed.\nexit 101\n", 0755},
};

static int systems_furnish(int root)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(systems_files); i++) {
		_cleanup_fd_ int dir =
			open_beneath(root, systems_files[i].folder, O_PATH | O_DIRECTORY, 0);

		if (dir < 0)
			continue;
		_cleanup_fd_ int fd =
			open_beneath(dir, systems_files[i].name, O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd == -EEXIST)
			continue;
		int r = fd < 0 ? fd
			       : fd_write_all(fd, systems_files[i].text,
					      strlen(systems_files[i].text));

		if (r == 0 && fchmod(fd, systems_files[i].mode) < 0)
			r = -errno;
		if (r < 0)
			return r;
	}
	return 0;
}

static int systems_check(int root, const char *path, struct error *e)
{
	static const char *const needed[] = {"dev", "etc", "home", "proc", "run", "tmp", "var"};
	_cleanup_fd_ int usr = open_beneath(root, "usr", O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int bin = open_beneath(root, "bin", O_PATH | O_DIRECTORY, 0);

	if (usr < 0 && bin < 0)
		return error_set(e, -ENOTDIR,
				 "that is no root filesystem: %s has neither usr nor bin", path);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(needed); i++) {
		if (mkdirat(root, needed[i], 0755) < 0 && errno != EEXIST)
			return error_sys(e, -errno, "cannot make %s/%s", path, needed[i]);
		_cleanup_fd_ int dir = open_beneath(root, needed[i], O_PATH | O_DIRECTORY, 0);

		if (dir < 0)
			return error_sys(e, dir, "%s/%s is no folder to mount on", path, needed[i]);
	}
	return 0;
}

static int systems_write_about(int dir, const struct system_about *about)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SYSTEMS_ABOUT_MAX);
	struct system_about again;

	systems_print(&text, about);
	int r = buf_error(&text);

	/* We do not write what we could not read again, for example a name with a new line. */
	if (r == 0)
		r = systems_parse(buf_span(&text), &again);
	_cleanup_fd_ int fd = r < 0 ? r : open_file(dir, "about", O_WRONLY | O_CREAT, 0600);

	return fd < 0 ? fd : fd_write_all(fd, text.ptr, text.len);
}

/* Removes the files of the tools, and the source: an image is as large as the system. */
static int systems_tidy(int dir)
{
	_cleanup_dir_ DIR *entries =
		dir_read(open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0), NULL);
	int r = entries ? 0 : -ENOMEM;

	for (const struct dirent *d; r == 0 && (d = dir_next(entries, NULL));)
		if (!str_equal(d->d_name, "root") && !str_equal(d->d_name, "about"))
			r = tree_remove(dir, d->d_name);
	return r;
}

int systems_commit(const struct systems *s, struct system_new *n, const char *from, int64_t now,
		   struct system_about *ret, struct error *e)
{
	char aside[LAYERS_NAME_MAX + 8];
	_cleanup_fd_ int root = open_beneath(n->dir, "root", O_PATH | O_DIRECTORY, 0);

	*ret = (struct system_about){.made = now};
	(void)snprintf(ret->name, sizeof(ret->name), "%s", n->name);
	(void)snprintf(ret->from, sizeof(ret->from), "%s", from);
	if (root < 0)
		return error_sys(e, root, "cannot open %s/root", n->path);
	int r = systems_check(root, n->path, e);

	if (r < 0)
		return r;
	r = systems_furnish(root);
	if (r == 0)
		r = tree_measure(root, &ret->bytes, &ret->files);
	if (r == 0)
		r = systems_write_about(n->dir, ret);
	if (r == 0)
		r = systems_tidy(n->dir);
	systems_aside(n->name, "new", aside);
	if (r == 0 && renameat2(s->dir, aside, s->dir, n->name, RENAME_NOREPLACE) < 0)
		r = -errno;
	if (r < 0)
		return error_sys(e, r, "cannot keep the system %s", n->name);
	fd_close(&n->lock);
	fd_close(&n->dir);
	return 0;
}

/* Removes what a killed process left: 0, -ENOENT, or -EBUSY while a process works on it. */
static int systems_remove_unfinished(const struct systems *s, const char *name)
{
	char aside[LAYERS_NAME_MAX + 8];

	systems_aside(name, "new", aside);
	_cleanup_fd_ int dir = systems_take(s, aside);

	return dir < 0 ? dir : tree_remove(s->dir, aside);
}

int systems_remove(const struct systems *s, const char *name, struct error *e)
{
	char aside[LAYERS_NAME_MAX + 8];
	bool found = false;

	if (!layers_is_name(name))
		return -ENOENT;
	int r = systems_remove_unfinished(s, name);

	if (r == -EBUSY)
		return systems_busy(name, e);
	found = r == 0;
	systems_aside(name, "old", aside);
	if (r == 0 || r == -ENOENT)
		r = tree_remove(s->dir, aside);
	found = found || r == 0;
	if (r == 0 || r == -ENOENT)
		r = renameat2(s->dir, name, s->dir, aside, RENAME_NOREPLACE) < 0 ? -errno : 0;
	if (r == -ENOENT)
		return found ? 0 : r;
	if (r == 0)
		r = tree_remove(s->dir, aside);
	return r < 0 ? error_sys(e, r, "cannot remove the system %s", name) : 0;
}
