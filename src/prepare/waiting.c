/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include "changes.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAITING_DEPTH_MAX = 64 };

/* How many names are in it, up to WAITING_MOST and one more.  -EFBIG: there is too much to read. */
static int waiting_measure(int dir, int depth, size_t *count, uint64_t *bytes)
{
	struct stat st;

	int r = 0;
	_cleanup_dir_ DIR *all = dir_read(open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0), &r);

	if (!all || depth > WAITING_DEPTH_MAX)
		return -ENOENT;
	for (const struct dirent *d; r == 0 && (d = dir_next(all, &r));) {
		if (++*count > WAITING_MOST)
			return 0;
		if (d->d_type != DT_DIR) {
			if (d->d_type == DT_REG &&
			    fstatat(dirfd(all), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
				*bytes += (uint64_t)st.st_size;
			r = *bytes > WAITING_BYTES ? -EFBIG : 0;
			continue;
		}
		_cleanup_fd_ int sub = open_beneath(dirfd(all), d->d_name, O_PATH | O_DIRECTORY, 0);

		r = sub < 0 ? sub : waiting_measure(sub, depth + 1, count, bytes);
	}
	return r;
}

static bool waiting_is_git(const char *path)
{
	return str_equal(path, ".git") || str_after(path, ".git/") || strstr(path, "/.git/");
}

/* When the session made its own version; where the filesystem does not say, when it ended. */
static int64_t waiting_since(const struct view *v, const struct layers_session *s,
			     const struct change *c)
{
	const int layer = c->after.layer;
	_cleanup_fd_ int fd =
		layer >= 0 && (size_t)layer < v->count
			? open_beneath(v->layers[layer], c->path, O_PATH | O_NOFOLLOW, 0)
			: -1;
	struct statx st;

	if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 &&
	    st.stx_mask & STATX_BTIME)
		return st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
	return s->ended ? s->ended : INT64_MAX;
}

static void waiting_take(struct waiting *w, const struct view *v, const struct layers_session *s,
			 const struct change *c)
{
	const bool dir = (c->after.type == OBJECT_DIR || c->after.type == OBJECT_ABSENT) &&
			 (c->before.type == OBJECT_DIR || c->before.type == OBJECT_ABSENT);

	if (waiting_is_git(c->path)) {
		w->git = true;
		return;
	}
	if (dir)
		return;
	w->files++;
	if (c->before.type != OBJECT_FILE || c->before.layer != -1 ||
	    c->before.mtime <= waiting_since(v, s, c))
		return;
	if (w->outside < WAITING_NAMES)
		(void)snprintf(w->names[w->outside], WAITING_NAME_MAX, "%s", c->path);
	w->outside++;
}

void waiting_read(const struct layers *l, const struct layers_session *s, int tree,
		  struct waiting *ret)
{
	_cleanup_view_ struct view view = VIEW_INIT;
	_cleanup_changes_ struct changes changes = {.count = 0};
	const struct changes_how how = {.hash = true, .lazy = true};
	struct error e = ERROR_INIT;
	uint64_t bytes = 0;
	size_t names = 0;

	*ret = (struct waiting){.known = false};
	if (view_open(l, &s->project, tree, &view, &e) < 0)
		return;
	for (size_t i = 0; i < view.count && names <= WAITING_MOST; i++)
		if (waiting_measure(view.layers[i], 0, &names, &bytes) < 0)
			return;
	if (names > WAITING_MOST) {
		ret->known = ret->many = true;
		return;
	}
	if (changes_read(&view, &how, &changes, &e) < 0)
		return;
	ret->known = true;
	for (size_t i = 0; i < changes.count; i++)
		waiting_take(ret, &view, s, &changes.items[i]);
}

void waiting_words(const struct waiting *w, struct buf *into)
{
	if (!w->known)
		buf_put_str(into, "files changed");
	else if (w->many)
		buf_put_str(into, "very many files changed");
	else if (w->files == 0 && w->git)
		buf_put_str(into, "git's own files changed");
	else if (w->files == 0)
		buf_put_str(into, "no file changed");
	else
		buf_putf(into, "%zu file%s%s changed", w->files, w->files == 1 ? "" : "s",
			 w->git ? " and git's own" : "");
}

void waiting_outside(const struct waiting *w, struct buf *into)
{
	for (size_t i = 0; i < w->outside && i < WAITING_NAMES; i++) {
		buf_put_str(into, i ? ", " : "");
		text_name(into, span_of_str(w->names[i]));
	}
	if (w->outside > WAITING_NAMES)
		buf_putf(into, " and %zu more", w->outside - WAITING_NAMES);
}
