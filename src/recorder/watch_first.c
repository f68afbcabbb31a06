/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the first versions of a call's paths before the call goes on. */
#include "watch_parts.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

void watch_names(const struct watch *w, struct watch_names *ret)
{
	const struct watch_call *c = &w->call;

	ret->path = (struct span){(const uint8_t *)c->path, c->path_len};
	ret->to = (struct span){(const uint8_t *)c->to, c->to_len};
	if (!w->to.first)
		return;
	ret->path = twice_first(&w->to.first->twice, ret->path, ret->room[0]);
	ret->to = twice_first(&w->to.first->twice, ret->to, ret->room[1]);
}

static void watch_first_path(struct watch *w, struct span path, enum first_change change)
{
	struct first_keep *k = w->to.first;

	if (path.len == 0 || first_keep_path(k, path, change))
		return;
	/* A link came into the path since we looked: we do not know what is behind it. */
	if (k->direct)
		k->refused = FIRST_WHY_UNREADABLE;
}

/* The call puts something at `to`, unless there is nothing to put there. */
static void watch_first_moves(struct watch *w, const struct watch_file *f,
			      const struct watch_names *names)
{
	const struct watch_call *c = &w->call;
	struct first_keep *k = w->to.first;
	const struct span path = names->path, to = names->to;
	bool linked = f->touch == WATCH_TOUCH_LINKED, exchange = c->flags & RENAME_EXCHANGE;

	/* A file that never had a name (O_TMPFILE) gets one by a link. */
	if (!first_keep_is_there(k, path) && !(linked && c->unsure))
		return;
	if (!linked && exchange) {
		if (!first_keep_is_there(k, to))
			return;
		first_keep_came(k, path, false);
	} else if (!linked) {
		first_keep_gone(k, path);
	}
	first_keep_came(k, to, linked || c->flags & RENAME_NOREPLACE);
}

/* Direct: notes whether the box removes the name or puts something there. */
static void watch_first_last(struct watch *w, const struct watch_file *f,
			     const struct watch_names *names)
{
	const struct watch_call *c = &w->call;
	const struct span path = names->path;

	if (!w->to.first->direct)
		return;
	switch (f->touch) {
	case WATCH_TOUCH_NOT:
	case WATCH_TOUCH_META:
	case WATCH_TOUCH_TIMES:
		return;
	case WATCH_TOUCH_MADE:
	case WATCH_TOUCH_SYMLINKED:
		first_keep_came(w->to.first, path, watch_makes_new(c, f));
		return;
	case WATCH_TOUCH_GONE:
		first_keep_gone(w->to.first, path);
		return;
	case WATCH_TOUCH_LINKED:
	case WATCH_TOUCH_RENAMED:
		watch_first_moves(w, f, names);
		return;
	}
}

static void watch_first_rename(struct watch *w, const struct watch_names *names)
{
	const struct watch_call *c = &w->call;
	const struct span from = names->path, to = names->to;
	bool folder = from.len && first_keep_is_folder(w->to.first, from);
	bool exchange = c->flags & RENAME_EXCHANGE;
	bool other = exchange && to.len && first_keep_is_folder(w->to.first, to);

	/* In direct mode the folder goes on under its new name, and an entry MOVED says so.  In
	 * review mode it leaves its path like anything else. */
	if (!folder || !w->to.first->direct)
		watch_first_path(w, names->path, FIRST_CHANGE_CONTENT);
	if (!other || !w->to.first->direct)
		watch_first_path(w, names->to, FIRST_CHANGE_CONTENT);
	if ((folder || other) && from.len && to.len)
		first_keep_moved(w->to.first, from, to, exchange);
	else if (!exchange && from.len && to.len)
		first_keep_moved_file(w->to.first, from, to);
}

/* A program that removes the owner's right to read, by mode or by an access list, could afterwards
 * write what nobody can keep any more: so we keep the content now. */
static enum first_change watch_first_meta(const struct watch_call *c, enum profile_seen seen)
{
	bool rights =
		(seen == PROFILE_SEEN_CHMOD && !(c->mode & S_IRUSR)) || seen == PROFILE_SEEN_XATTR;

	return rights ? FIRST_CHANGE_CONTENT : FIRST_CHANGE_META;
}

static void watch_first_call(struct watch *w, const struct profile_watched *what,
			     const struct watch_file *f, const struct watch_names *names)
{
	const struct watch_call *c = &w->call;
	bool is_open = what->seen == PROFILE_SEEN_OPEN || what->seen == PROFILE_SEEN_OPEN_HOW;

	if (f->touch != WATCH_TOUCH_NOT)
		first_keep_see(w->to.first, watch_root_open(&w->root, &w->processes));
	watch_first_last(w, f, names);
	switch (f->touch) {
	case WATCH_TOUCH_NOT:
		return;
	case WATCH_TOUCH_META:
	case WATCH_TOUCH_TIMES:
		watch_first_path(w, names->path, watch_first_meta(c, what->seen));
		return;
	case WATCH_TOUCH_MADE:
		if (is_open && (c->flags & O_TMPFILE) == O_TMPFILE)
			return; /* it has no name */
		watch_first_path(w, names->path, FIRST_CHANGE_CONTENT);
		return;
	case WATCH_TOUCH_GONE:
	case WATCH_TOUCH_SYMLINKED:
		watch_first_path(w, names->path, FIRST_CHANGE_CONTENT);
		return;
	case WATCH_TOUCH_RENAMED:
		watch_first_rename(w, names);
		return;
	case WATCH_TOUCH_LINKED:
		/* Who writes through the new name changes the old one. */
		watch_first_path(w, names->path, FIRST_CHANGE_CONTENT);
		watch_first_path(w, names->to, FIRST_CHANGE_CONTENT);
		return;
	}
}

static bool watch_is_shared(struct span path, const struct plan_mount *m)
{
	size_t len = strlen(m->target);

	return path.len > len && path.ptr[len] == '/' && memcmp(path.ptr, m->target, len) == 0;
}

/* What is in the repository of a linked worktree is kept for its own part of the session. */
static void watch_first_shared(struct watch *w, const struct profile_watched *what,
			       const struct watch_file *f, const struct watch_names *names)
{
	const struct plan_mount *m = plan_mount_of(w->to.plan, PLAN_REPOSITORY);
	struct first_keep *own = w->to.first;

	if (!w->to.shared || w->to.shared->dir < 0 || !m ||
	    (!watch_is_shared(names->path, m) && !watch_is_shared(names->to, m)))
		return;
	w->to.first = w->to.shared;
	watch_first_call(w, what, f, names);
	w->to.first = own;
}

int watch_first(struct watch *w, const struct profile_watched *what, struct watch_file *f)
{
	if (!w->to.first || w->to.first->dir < 0)
		return 0;
	struct watch_names names;

	watch_names(w, &names);
	watch_first_shared(w, what, f, &names);
	w->to.first->refused = FIRST_WHY_NOT;
	watch_first_call(w, what, f, &names);
	if (w->to.first->refused == FIRST_WHY_NOT)
		return 0;
	bool unreadable = w->to.first->refused == FIRST_WHY_UNREADABLE;

	f->refused = true;
	w->call.reason =
		unreadable ? "what is there cannot be read, so undo could not bring it back"
		: w->to.first->refused == FIRST_WHY_LIMIT
			? "the session changed as much as undo can bring back"
			: "there is no room to keep what is there, so undo could not bring it back";
	return unreadable ? EACCES : ENOSPC;
}
