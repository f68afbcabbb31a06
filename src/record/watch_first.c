/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths of a call have to be kept before it goes on. */
#include "watch_parts.h"

#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <unistd.h>

/* Where a path of the box leads to through its links.  0: it cannot be known. */
static size_t watch_first_follow(struct watch *w, const char *path, bool through,
				 char into[WATCH_CALL_PATH])
{
	int root = watch_root_open(&w->root, &w->processes);
	char folder[WATCH_CALL_PATH], link[64];
	const char *rest = "";
	_cleanup_fd_ int fd = -1;

	if (root < 0)
		return 0;
	fd = open_in_root(root, path, O_PATH | (through ? 0 : O_NOFOLLOW));
	if (fd == -ENOENT) {
		/* What is to be made: its folder is there. */
		const char *slash = strrchr(path, '/');

		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		rest = slash;
		fd = open_in_root(root, folder[0] ? folder : "/", O_PATH | O_DIRECTORY);
	}
	if (fd < 0)
		return 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlinkat(AT_FDCWD, link, into, WATCH_CALL_PATH - 1);
	size_t len = strlen(rest);

	if (n <= 0 || into[0] != '/' || (size_t)n + len >= WATCH_CALL_PATH)
		return 0;
	memcpy(into + n, rest, len + 1);
	return (size_t)n + len;
}

/* led: the name that it has when no link is on the way, for who wants it; else empty. */
static void watch_first_path(struct watch *w, const char *path, size_t len,
			     enum first_change change, char led[WATCH_CALL_PATH])
{
	led[0] = '\0';
	if (len == 0 ||
	    first_keep_path(w->to.first, (struct span){(const uint8_t *)path, len}, change))
		return;
	size_t n = watch_first_follow(w, path, change != FIRST_CHANGE_CONTENT, led);
	struct span name = {(const uint8_t *)led, n};
	bool meta = change == FIRST_CHANGE_META;

	if (n == 0) {
		led[0] = '\0';
		return;
	}
	/* What stands in a layer at the end stands there by this name. */
	if (w->to.touched)
		touched_add(w->to.touched, name, meta ? TOUCHED_META : TOUCHED_MADE | TOUCHED_GONE);
	(void)first_keep_path(w->to.first, name, meta ? change : FIRST_CHANGE_CONTENT);
}

static void watch_first_rename(struct watch *w)
{
	const struct watch_call *c = &w->call;
	char led_from[WATCH_CALL_PATH] = "", led_to[WATCH_CALL_PATH] = "";
	struct span from = {(const uint8_t *)c->path, c->path_len};
	struct span to = {(const uint8_t *)c->to, c->to_len};
	bool folder = from.len && first_keep_is_folder(w->to.first, from);
	bool exchange = c->flags & RENAME_EXCHANGE;
	bool other = exchange && to.len && first_keep_is_folder(w->to.first, to);

	if (!folder)
		watch_first_path(w, c->path, c->path_len, FIRST_CHANGE_CONTENT, led_from);
	if (!other)
		watch_first_path(w, c->to, c->to_len, FIRST_CHANGE_CONTENT, led_to);
	if (led_from[0])
		from = span_of_str(led_from);
	if (led_to[0])
		to = span_of_str(led_to);
	if ((led_from[0] || led_to[0]) && w->to.touched)
		touched_renamed(w->to.touched, from, to);
	folder = folder || other || (led_from[0] && first_keep_is_folder(w->to.first, from));
	if (folder && from.len && to.len)
		first_keep_moved(w->to.first, from, to, exchange);
}

void watch_first(struct watch *w, const struct profile_watched *what, const struct watch_file *f)
{
	const struct watch_call *c = &w->call;
	bool is_open = what->seen == PROFILE_SEEN_OPEN || what->seen == PROFILE_SEEN_OPEN_HOW;
	char led[WATCH_CALL_PATH];
	bool exact = (c->flags & O_NOFOLLOW) != 0 ||
		     (c->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	if (!w->to.first || w->to.first->dir < 0)
		return;
	switch (f->touch) {
	case WATCH_TOUCH_NOT:
		return;
	case WATCH_TOUCH_META:
	case WATCH_TOUCH_TIMES:
		watch_first_path(w, c->path, c->path_len, FIRST_CHANGE_META, led);
		return;
	case WATCH_TOUCH_MADE:
		if (is_open && (c->flags & O_TMPFILE) == O_TMPFILE)
			return; /* has no name */
		watch_first_path(w, c->path, c->path_len,
				 (is_open && !exact) || what->seen == PROFILE_SEEN_TRUNCATE
					 ? FIRST_CHANGE_THROUGH
					 : FIRST_CHANGE_CONTENT,
				 led);
		return;
	case WATCH_TOUCH_GONE:
	case WATCH_TOUCH_SYMLINKED:
		watch_first_path(w, c->path, c->path_len, FIRST_CHANGE_CONTENT, led);
		return;
	case WATCH_TOUCH_RENAMED:
		watch_first_rename(w);
		return;
	case WATCH_TOUCH_LINKED:
		/* What is written through the new name changes the old one. */
		watch_first_path(w, c->path, c->path_len, FIRST_CHANGE_CONTENT, led);
		watch_first_path(w, c->to, c->to_len, FIRST_CHANGE_CONTENT, led);
		return;
	}
}
