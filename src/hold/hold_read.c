/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the judgement need: to read a file of either side, to say why, and to find
 * where a path or a link leads. */
#include "hold_commits.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { HOLD_LINKS_MAX = 40 };

int hold_say(struct hold_judge *j, struct hold_verdict *v, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->why = arena_str(&j->changes->arena, text);
	return v->why ? 0 : error_set(j->error, -ENOMEM, "no memory to say what is held, and why");
}

static int hold_read_fd(int fd, size_t max, struct buf *into)
{
	into->max = max;
	int r = fd_read_all(fd, into);

	return r < 0 && buf_error(into) && buf_error(into) != -ENOMEM ? -E2BIG : r;
}

int hold_say_with(struct hold_judge *j, struct hold_verdict *v, const char *lead)
{
	v->most = HOLD_HOLD;
	v->with = lead;
	return hold_say(j, v, "it belongs to %.200s, which is held", lead);
}

int hold_read(struct hold_judge *j, const struct change *c, enum change_side side)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	struct buf *into = side == CHANGE_BEFORE ? &j->old : &j->after;

	buf_fini(into);
	*into = BUF_INIT(HOLD_READ_MAX);
	/* A moved file was not at this path before, so its old content does not count here. */
	if (o->type != OBJECT_FILE || (side == CHANGE_BEFORE && c->from))
		return 0;
	if (j->brought)
		return hold_read_brought(j, side, HOLD_READ_MAX, into);
	if (o->size > HOLD_READ_MAX)
		return -E2BIG;
	_cleanup_fd_ int fd = changes_open(j->view, c, side);

	return fd < 0 ? fd : hold_read_fd(fd, HOLD_READ_MAX, into);
}

int hold_read_both(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	int r = hold_read(j, c, CHANGE_AFTER);

	if (r == 0)
		r = hold_read(j, c, CHANGE_BEFORE);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return error_set(j->error, r, "no memory to look into %.200s", c->path);
	r = hold_say(j, v, "it cannot be looked into (%s)",
		     r == -E2BIG ? "it is too large" : error_words(r));
	return r < 0 ? r : 1;
}

int hold_read_path(const struct view *v, const char *path, size_t max, struct buf *into)
{
	struct object o;
	int r = view_look(v, path, &o);

	buf_fini(into);
	*into = BUF_INIT(max);
	if (r < 0 || o.type != OBJECT_FILE)
		return r < 0 ? r : -ENOENT;
	_cleanup_fd_ int fd = view_openat(v, path, O_RDONLY);

	return fd < 0 ? fd : hold_read_fd(fd, max, into);
}

int hold_read_named(struct hold_judge *j, const char *path, struct buf *into)
{
	int r = hold_read_path(&j->before, path, HOLD_READ_MAX, into);

	if (r == -E2BIG)
		r = hold_give_up(j,
				 "%.150s is too large to be looked into: what it names is not "
				 "known",
				 path);
	else if (r == 0)
		return 0;
	return j->error->code < 0 ? r : 1;
}

int hold_read_link(const struct view *v, const char *path, char into[PATH_MAX])
{
	_cleanup_fd_ int fd = view_openat(v, path, O_PATH | O_NOFOLLOW);
	ssize_t len = fd < 0 ? -1 : readlinkat(fd, "", into, PATH_MAX - 1);

	if (len < 0)
		return fd < 0 ? fd : -EINVAL;
	into[len] = '\0';
	return 0;
}

int hold_parent(const char *path, char into[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(into, path, len);
	into[len] = '\0';
	return 0;
}

/* Appends the parts of a path to the `len` letters that are there; ".." removes one. */
static int hold_walk(const char *target, char into[PATH_MAX], size_t len, bool absolute)
{
	while (*target) {
		size_t part = strcspn(target, "/");

		if (part == 2 && memcmp(target, "..", 2) == 0) {
			if (len == 0 && !absolute)
				return -EXDEV;
			while (len > 0 && into[len - 1] != '/')
				len--;
			len -= len > 0;
		} else if (part > 0 && !(part == 1 && *target == '.')) {
			if (len + part + 2 > PATH_MAX)
				return -EXDEV;
			if (len > 0 || absolute)
				into[len++] = '/';
			memcpy(into + len, target, part);
			len += part;
		}
		into[len] = '\0';
		target += part;
		target += *target == '/';
	}
	return 0;
}

/* To look into it would mount something, and the session may have chosen the path. */
static bool hold_is_automount(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == AUTOFS_SUPER_MAGIC;
}

/* Follows an absolute path through all links until it comes to the workspace: `rest` is what
 * follows then.  False: it does not come there.  *ret_type: what is at its end, if that is outside
 * (S_IFMT of its mode). */
static bool hold_comes_in(const struct hold_judge *j, const char *whole, char rest[PATH_MAX],
			  mode_t *ret_type)
{
	_cleanup_fd_ int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char link[PATH_MAX], next[PATH_MAX], part[NAME_MAX + 1];
	dev_t known = 0; /* the last device that is no automount */
	int links = 0;
	struct stat st = {.st_mode = 0};

	*ret_type = 0;
	(void)snprintf(rest, PATH_MAX, "%s", whole);
	while (at >= 0) {
		const char *name = rest + strspn(rest, "/");
		size_t len = strcspn(name, "/");

		if (len == 0)
			*ret_type = st.st_mode & S_IFMT;
		if (len == 0 || len > NAME_MAX)
			return false;
		memcpy(part, name, len);
		part[len] = '\0';
		_cleanup_fd_ int fd = openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &st) < 0 || (st.st_dev != known && hold_is_automount(fd)))
			return false;
		known = st.st_dev;
		if (S_ISLNK(st.st_mode)) {
			ssize_t n = readlinkat(fd, "", link, sizeof(link) - 1);

			link[n > 0 ? n : 0] = '\0';
			if (n <= 0 || ++links > HOLD_LINKS_MAX ||
			    snprintf(next, sizeof(next), "%s%s", link, name + len) >=
				    (int)sizeof(next))
				return false;
			(void)snprintf(rest, PATH_MAX, "%s", next);
			if (link[0] != '/')
				continue;
			fd_close(&at);
			at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
			continue;
		}
		fd_close(&at);
		at = TAKE_FD(fd);
		memmove(rest, name + len, strlen(name + len) + 1);
		if (st.st_dev == j->device && st.st_ino == j->inode)
			return true;
	}
	return false;
}

/* Writes the absolute path of `target`, named in the folder `dir`.  It follows no links. */
static int hold_whole_path(const struct hold_judge *j, const char *dir, const char *target,
			   char whole[PATH_MAX])
{
	const char *home = j->rules->home, *in_home = str_after(target, "~/");
	int r = 0;

	whole[0] = '\0';
	if (in_home && home) {
		r = hold_walk(home, whole, 0, true);
		return r < 0 ? r : hold_walk(in_home, whole, strlen(whole), true);
	}
	if (*target != '/' && *dir != '/')
		r = hold_walk(j->workspace, whole, 0, true);
	if (r == 0 && *target != '/')
		r = hold_walk(dir, whole, strlen(whole), true);
	return r < 0 ? r : hold_walk(target, whole, strlen(whole), true);
}

int hold_resolve(const struct hold_judge *j, const char *dir, const char *target,
		 char into[PATH_MAX])
{
	size_t top = strlen(j->workspace), len = strlen(dir);
	char whole[PATH_MAX], rest[PATH_MAX];
	mode_t type;

	into[0] = '\0';
	if (*target != '/' && *dir != '/' && !(j->rules->home && str_after(target, "~/"))) {
		if (len >= PATH_MAX)
			return -EXDEV;
		memcpy(into, dir, len + 1);
		if (hold_walk(target, into, len, false) == 0)
			return 0;
		/* It leads out of the top, and maybe back. */
		into[0] = '\0';
	}
	if (hold_whole_path(j, dir, target, whole) < 0 || top < 2)
		return -EXDEV;
	if (strncmp(whole, j->workspace, top) == 0 && (!whole[top] || whole[top] == '/'))
		return hold_walk(whole + top, into, 0, false);
	return hold_comes_in(j, whole, rest, &type) ? hold_walk(rest, into, 0, false) : -EXDEV;
}

bool hold_is_outside(const struct hold_judge *j, const char *dir, const char *target,
		     char into[PATH_MAX])
{
	char within[PATH_MAX];

	return strlen(j->workspace) > 1 && hold_resolve(j, dir, target, within) < 0 &&
	       hold_whole_path(j, dir, target, into) == 0 && *into;
}

mode_t hold_type_outside(const struct hold_judge *j, const char *path)
{
	char rest[PATH_MAX];
	mode_t type;

	return hold_comes_in(j, path, rest, &type) ? 0 : type;
}

bool hold_reaches(const struct hold_judge *j, const char *dir, const char *pattern,
		  char into[PATH_MAX])
{
	char whole[PATH_MAX], part[PATH_MAX], have[PATH_MAX];
	const char *want = whole, *top = j->workspace;

	if (hold_resolve(j, dir, pattern, into) == 0)
		return true;
	if (!hold_is_outside(j, dir, pattern, whole))
		return false;
	/* The parts of the workspace's own path must match. */
	while (*top) {
		want += *want == '/';
		top += *top == '/';
		size_t len = strcspn(want, "/"), own = strcspn(top, "/");

		/* Whatever is left of the workspace's path, the last part of the pattern counts. */
		if (len == 2 && memcmp(want, "**", 2) == 0)
			return snprintf(into, PATH_MAX, "**/%s", strrchr(whole, '/') + 1) <
			       PATH_MAX;
		(void)snprintf(part, sizeof(part), "%.*s", (int)len, want);
		(void)snprintf(have, sizeof(have), "%.*s", (int)own, top);
		if (len == 0 || fnmatch(part, have, 0) != 0)
			return false;
		want += len;
		top += own;
	}
	return hold_walk(want, into, 0, false) == 0;
}

bool hold_leads(const struct hold_judge *j, const char *path, char into[PATH_MAX])
{
	return hold_leads_in(j, &j->before, path, into);
}

bool hold_leads_in(const struct hold_judge *j, const struct view *v, const char *path,
		   char into[PATH_MAX])
{
	char link[PATH_MAX], next[PATH_MAX], at[PATH_MAX];
	size_t hops = 0, len = 0;

	if (snprintf(into, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	while (into[len]) {
		size_t start = len;

		len += into[len] == '/';
		len += strcspn(into + len, "/");
		(void)snprintf(at, sizeof(at), "%.*s", (int)len, into);
		int r = hold_read_link(v, at, link);

		/* Nothing can be beneath what is not there. */
		if (r == -ENOENT)
			break;
		if (r < 0)
			continue;
		at[start] = '\0';
		if (++hops > HOLD_LINKS_MAX ||
		    snprintf(next, sizeof(next), "%s%s", link, into + len) >= (int)sizeof(next) ||
		    hold_resolve(j, at, next, into) < 0)
			return false;
		len = 0;
	}
	return hops > 0 && *into;
}

int hold_read_blob(struct hold_repo *repo, const struct git_name *name, size_t max,
		   struct buf *into)
{
	enum git_kind kind = GIT_KIND_BLOB;
	int r = git_store_read(repo->walk.store, name, max, &kind, into);

	return r < 0 ? r : kind == GIT_KIND_BLOB ? 0 : -EBADMSG;
}

int hold_read_brought(struct hold_judge *j, enum change_side side, size_t max, struct buf *into)
{
	const struct git_difference *d = j->brought;
	bool was = side == CHANGE_BEFORE;

	if (!(was ? d->old_mode : d->mode))
		return 0;
	return hold_read_blob(j->brought_by, was ? &d->old : &d->object, max, into);
}

/* Counts a path, and adds the first few to the list. */
void hold_words_note(struct hold_words *w, const char *path)
{
	int room = (int)(sizeof(w->list) - w->at);

	if (w->count++ >= HOLD_WORDS_TOLD)
		return;
	int n = snprintf(w->list + w->at, (size_t)room, "%s%.*s", w->at ? ", " : "", HOLD_WORD_MAX,
			 path);

	w->at += n > 0 && n < room ? (size_t)n : 0;
}

/* --- one rule ------------------------------------------------------------------------- */

int hold_ask_at(struct hold_judge *j, const struct change *c, size_t row, const char *why,
		enum hold_level most, struct hold_said *said)
{
	const struct hold_row *h = &hold_rows[row];
	enum hold_level level = j->rules->levels[row];
	struct hold_verdict v = {.most = most, .why = why ? why : h->why};

	if (hold_less(level, most) <= said->level ||
	    !(j->kinds[h->content].about >> c->after.type & 1) ||
	    (c->kind == CHANGE_MODE && !j->kinds[h->content].mode))
		return 0;
	/* A repository inside what a commit or an index brings is held without a look into it:
	 * there could be others in it, without end. */
	bool within =
		j->brought && (h->content == HOLD_BY_STAGED || h->content == HOLD_BY_COMMITS ||
			       h->content == HOLD_BY_OBJECTS || h->content == HOLD_BY_KNOWN);

	if (!within && j->kinds[h->content].asked >> c->after.type & 1) {
		int r = j->kinds[h->content].ask(j, c, &v);

		if (r < 0)
			return r;
	}
	level = hold_less(level, v.most);
	if (level > said->level)
		*said = (struct hold_said){level,          h->name, v.why,       v.brings,
					   v.brings_count, v.with,  v.takes_back};
	return 0;
}
