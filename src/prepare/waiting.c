/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include "basis.h"
#include "changes.h"
#include "dir.h"
#include "elsewhere.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAITING_DEPTH_MAX = 64, WAITING_SAID_MAX = 64 << 10 };

/* Counts the names in it, up to `most` and one more.  -EFBIG: there is too much to read. */
static int waiting_measure(int dir, int depth, size_t most, size_t *count, uint64_t *bytes)
{
	struct stat st;

	int r = 0;
	_cleanup_dir_ DIR *all = dir_read(open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0), &r);

	if (!all || depth > WAITING_DEPTH_MAX)
		return -ENOENT;
	for (const struct dirent *d; r == 0 && (d = dir_next(all, &r));) {
		if (++*count > most)
			return 0;
		if (d->d_type != DT_DIR) {
			if (d->d_type == DT_REG &&
			    fstatat(dirfd(all), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
				*bytes += (uint64_t)st.st_size;
			r = *bytes > WAITING_BYTES ? -EFBIG : 0;
			continue;
		}
		_cleanup_fd_ int sub = open_beneath(dirfd(all), d->d_name, O_PATH | O_DIRECTORY, 0);

		r = sub < 0 ? sub : waiting_measure(sub, depth + 1, most, count, bytes);
	}
	return r;
}

/* How much is in its layers: 0; -EFBIG: too much to read; -E2BIG: more names than `room`; or another
 * -errno: not known.  Takes what it looked at from `room`. */
static int waiting_size(const struct layers *l, const struct layers_session *s, size_t *room)
{
	_cleanup_view_ struct view view = VIEW_INIT;
	struct error e = ERROR_INIT;
	uint64_t bytes = 0;
	size_t names = 0;
	int r = view_open(l, &s->project, -1, &view, &e);

	for (size_t i = 0; r == 0 && i < view.count && names <= *room; i++)
		r = waiting_measure(view.layers[i], 0, *room, &names, &bytes);
	if (r == 0 && names > *room)
		r = -E2BIG;
	*room -= names < *room ? names : *room;
	return r;
}

/* When the session made its own version; if the filesystem does not say, when it ended. */
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

/* What stands there is what landed of the session: a part of a file. */
static bool waiting_landed(const struct view *v, const struct basis *b, const struct change *c)
{
	const struct basis_entry *landed = basis_find(b, c->path);
	_cleanup_fd_ int fd = landed ? changes_open(v, c, CHANGE_BEFORE) : -1;
	struct object stands = c->before;

	stands.hashed = fd >= 0 && changes_hash(fd, stands.digest, &stands.size) == 0;
	return stands.hashed && basis_same(&landed->object, &stands);
}

static void waiting_take(struct waiting *w, const struct view *v, const struct layers_session *s,
			 const struct basis *b, const struct change *c)
{
	if (c->before.type != OBJECT_FILE || c->before.layer != -1 ||
	    c->before.mtime <= waiting_since(v, s, c) || waiting_landed(v, b, c))
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
	size_t room = WAITING_MOST;

	*ret = (struct waiting){.outside = 0};
	if (waiting_size(l, s, &room) < 0 || view_open(l, &s->project, tree, &view, &e) < 0 ||
	    changes_read(&view, &how, &changes, &e) < 0)
		return;
	_cleanup_fd_ int dir = layers_session_dir(l, s->name, false);
	_cleanup_basis_ struct basis basis = BASIS_INIT;

	/* Without it more is said. */
	if (dir >= 0)
		(void)basis_read(dir, &basis, &e);
	for (size_t i = 0; i < changes.count; i++)
		waiting_take(ret, &view, s, &basis, &changes.items[i]);
}

/* --- how many --------------------------------------------------------------------------- */

static enum waiting_count waiting_ask(const struct layers *l, const struct layers_session *s,
				      bool held, struct buf *into)
{
	const char *const words[] = {
		"bawn",      "diff",  "--count",     "--no-pager", "--anyway",
		"--session", s->name, "--workspace", l->workspace, held ? "--held" : NULL,
		NULL};
	_cleanup_buf_ struct buf said = BUF_INIT(WAITING_SAID_MAX);
	int status = elsewhere_read("bawn-review", words, !held, &said);
	const char *at = buf_str(&said), *end = strchr(at, '\n');

	if ((status != EXIT_OK && status != EXIT_FOUND) || !end) {
		buf_put_str(into, "files");
		return WAITING_UNKNOWN;
	}
	size_t before = into->len;

	/* In a linked worktree a line for the commits, and one for the files. */
	for (; end; at = end + 1, end = strchr(at, '\n')) {
		if (into->len > before)
			buf_put_str(into, ", ");
		buf_put(into, at, (size_t)(end - at));
	}
	return str_equal(buf_str(into), "nothing") ? WAITING_NOTHING : WAITING_COUNTED;
}

enum waiting_count waiting_count_within(const struct layers *l, const struct layers_session *s,
					size_t *room, struct buf *into)
{
	int r = waiting_size(l, s, room);

	if (r == 0)
		return waiting_ask(l, s, false, into);
	buf_put_str(into, r == -E2BIG ? "many files" : "files");
	return WAITING_UNKNOWN;
}

enum waiting_count waiting_count(const struct layers *l, const struct layers_session *s,
				 struct buf *into)
{
	size_t room = WAITING_MOST;
	_cleanup_buf_ struct buf words = BUF_INIT(WAITING_SAID_MAX);
	enum waiting_count known = waiting_count_within(l, s, &room, &words);

	if (str_equal(buf_str(&words), "many files"))
		buf_put_str(into, "very ");
	buf_put_str(into, buf_str(&words));
	return known;
}

enum waiting_count waiting_count_landed(const struct layers *l, const struct layers_session *s,
					struct buf *into)
{
	return waiting_ask(l, s, true, into);
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
