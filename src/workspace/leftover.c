/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs write files although they only read: Python writes what it compiled, `git status` writes
 * the index anew.
 *
 * First we go through the names in the layers, up to the first that is none of these: for nearly
 * every session this is enough.  Then we read the changes and look at each.
 */
#include "leftover.h"

#include "changes.h"
#include "compiled.h"
#include "dir.h"
#include "fd.h"
#include "git_index.h"
#include "git_place.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LEFTOVER_NAMES_MAX = 4096,
	LEFTOVER_DEPTH_MAX = 32,
	LEFTOVER_INDEX_MAX = 64 << 20,
};

/* --- names ------------------------------------------------------------------------------ */

static bool leftover_is_gc_note(const char *path)
{
	const char *name = git_rest(path);

	return name && git_is_gc_note(name);
}

static bool leftover_is_name(const char *path)
{
	char source[PATH_MAX];

	return git_index_is_path(path) || leftover_is_gc_note(path) ||
	       (compiled_is_cached(path) && compiled_source(path, source));
}

/* The folder `path` of a layer, open at fd, has only such names. */
static bool leftover_look(int fd, const char *path, unsigned int depth,
			  size_t *left) /* NOLINT(misc-no-recursion) */
{
	int r = 0;
	bool all = true;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);

	for (const struct dirent *d; dir && all && (d = dir_next(dir, &r));) {
		char name[PATH_MAX];
		struct stat st;

		all = *left > 0 && depth < LEFTOVER_DEPTH_MAX &&
		      snprintf(name, sizeof(name), "%s%s%s", path, *path ? "/" : "", d->d_name) <
			      (int)sizeof(name) &&
		      fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		*left -= all;
		if (!all)
			return false;
		if (S_ISDIR(st.st_mode))
			all = leftover_look(
				open_beneath(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY, 0),
				name, depth + 1, left);
		else
			all = S_ISREG(st.st_mode) && leftover_is_name(name);
	}
	return dir && r == 0 && all;
}

static bool leftover_is_named(const struct layers *l, const struct layers_session *s)
{
	size_t left = LEFTOVER_NAMES_MAX;
	bool all = true;

	for (size_t i = 0; all && i < s->project.count; i++) {
		_cleanup_fd_ int up = layers_open_up(l, s->project.ids[i]);

		all = up >= 0 &&
		      leftover_look(open_beneath(up, "", O_RDONLY | O_DIRECTORY, 0), "", 0, &left);
	}
	return all;
}

/* --- changes ---------------------------------------------------------------------------- */

static int leftover_index(const struct view *v, const struct change *c, enum change_side side,
			  uint8_t ret[SHA256_SIZE])
{
	_cleanup_buf_ struct buf text = BUF_INIT(LEFTOVER_INDEX_MAX);
	_cleanup_fd_ int fd = changes_open(v, c, side);
	int r = fd < 0 ? fd : fd_read_all(fd, &text);

	return r < 0 ? r : git_index_digest(buf_span(&text), ret);
}

static bool leftover_is(const struct view *v, const struct change *c)
{
	char source[PATH_MAX];
	uint8_t was[SHA256_SIZE], is[SHA256_SIZE];
	struct object o;

	/* A new folder with another name has something that is not compiled, or is empty. */
	if (c->after.type == OBJECT_DIR) {
		const char *slash = strrchr(c->path, '/');

		return c->kind == CHANGE_ADDED &&
		       str_equal(slash ? slash + 1 : c->path, "__pycache__");
	}
	if (c->after.type != OBJECT_FILE)
		return false;
	if (leftover_is_gc_note(c->path))
		return c->before.type == OBJECT_ABSENT;
	if (compiled_is_cached(c->path))
		return compiled_source(c->path, source) && view_look(v, source, &o) == 0 &&
		       (o.type == OBJECT_FILE || o.type == OBJECT_LINK);
	return c->before.type == OBJECT_FILE && git_index_is_path(c->path) &&
	       leftover_index(v, c, CHANGE_BEFORE, was) == 0 &&
	       leftover_index(v, c, CHANGE_AFTER, is) == 0 && memcmp(was, is, sizeof(was)) == 0;
}

bool leftover_is_all(const struct layers *l, const struct layers_session *s)
{
	struct error e = ERROR_INIT;

	if (!leftover_is_named(l, s))
		return false;
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_RDONLY | O_DIRECTORY);
	_cleanup_view_ struct view v = VIEW_INIT;
	_cleanup_changes_ struct changes c = {.count = 0};

	if (tree < 0 || !layers_session_is_of(s, tree) ||
	    view_open(l, &s->project, tree, &v, &e) < 0 ||
	    changes_read(&v, &(struct changes_how){.hash = false}, &c, &e) < 0)
		return false;
	bool all = !c.moved && !c.unread;

	for (size_t i = 0; all && i < c.count; i++)
		all = leftover_is(&v, &c.items[i]);
	return all;
}
