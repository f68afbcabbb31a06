/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We walk a path as a command in the box would: by the mounts of the plan, by their links, and by
 * the links in what is shown.  The place where it ends decides.  If the user's own file is shown,
 * its mode counts as well, as it does inside.
 */
#include "why_path.h"

#include "str.h"
#include "words.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WHY_PATH_BYTES_MAX = 64 << 10, WHY_LINKS_MAX = 40 };

enum why_seen {
	/* The box does not see the user's: nothing is there, or something of the box. */
	WHY_NOT_SHOWN,
	WHY_READABLE,
	WHY_WRITABLE,
	WHY_CLOSED, /* it is there, and cannot be opened */
	WHY_HIDDEN,
	WHY_OWN, /* the box has its own, whatever the user has there */
	WHY_SEEN_COUNT,
};

static const char *const why_seen_words[WHY_SEEN_COUNT] = {"not shown", "readable", "writable",
							   "closed",    "hidden",   "its own"};

struct why_view {
	enum why_seen seen;
	const struct plan_mount *mount; /* the entry that decides; NULL: none does */
	const char *meaning;
	char leads[PATH_MAX]; /* where the path leads in the box, by links */
	bool there;           /* the user has something there */
};

const struct plan_mount *why_path_mount(const struct plan *p, const char *path)
{
	const struct plan_mount *found = p->root.count > 0 ? &p->root.items[0] : NULL;

	/* They are in the order in which they are made: a later one covers an earlier one. */
	for (size_t i = 0; i < p->mounts.count; i++)
		if (str_path_beneath(path, p->mounts.items[i].target))
			found = &p->mounts.items[i];
	return found;
}

/* --- the way there -------------------------------------------------------------------- */

/* Something of the user is shown here, under its own names. */
static bool why_is_shown(const struct plan_mount *m)
{
	return m && m->kind == PLAN_MOUNT_BIND && !str_equal(m->role, "home") &&
	       !str_equal(m->target, "/");
}

/* The path outside of what is at `path`, which is in m; false: it is too long. */
static bool why_outside(const struct plan_mount *m, const char *path, char into[PATH_MAX])
{
	int n = snprintf(into, PATH_MAX, "%s%s", m->source, path + strlen(m->target));

	return n >= 0 && n < PATH_MAX;
}

/* The target of the link at path, as the box sees it.  Returns its length; 0: it is no link. */
static size_t why_link(const struct plan *p, const char *path, char into[PATH_MAX])
{
	const struct plan_mount *m = why_path_mount(p, path);
	char outside[PATH_MAX];

	if (m && m->kind == PLAN_MOUNT_LINK && str_equal(m->target, path)) {
		int n = snprintf(into, PATH_MAX, "%s", m->source);

		return n < 0 || n >= PATH_MAX ? 0 : (size_t)n;
	}
	if (!why_is_shown(m) || !why_outside(m, path, outside))
		return 0;
	ssize_t n = readlink(outside, into, PATH_MAX - 1);

	if (n <= 0)
		return 0;
	into[n] = '\0';
	return (size_t)n;
}

static void why_cut_last(char *path)
{
	*strrchr(path, '/') = '\0';
}

/* Walks one part after the other.  False: it is too long, or its links form a circle. */
static bool why_walk(const struct plan *p, const char *path, char ret[PATH_MAX])
{
	char rest[2 * PATH_MAX], link[PATH_MAX];
	char *at = rest;
	int links = 0;

	(void)snprintf(rest, sizeof(rest), "%s", path);
	ret[0] = '\0';
	while (*(at += strspn(at, "/"))) {
		size_t n = strcspn(at, "/"), len = strlen(ret);

		if (n == 2 && strncmp(at, "..", n) == 0 && len > 0)
			why_cut_last(ret);
		if ((n == 1 && at[0] == '.') || (n == 2 && strncmp(at, "..", n) == 0)) {
			at += n;
			continue;
		}
		if (len + n + 2 > PATH_MAX)
			return false;
		(void)snprintf(ret + len, PATH_MAX - len, "/%.*s", (int)n, at);
		at += n;
		size_t text = why_link(p, ret, link);

		if (text == 0)
			continue;
		if (++links > WHY_LINKS_MAX || text + strlen(at) + 2 > sizeof(rest))
			return false;
		memmove(rest + text, at, strlen(at) + 1);
		memcpy(rest, link, text);
		at = rest;
		if (link[0] == '/')
			ret[0] = '\0';
		else
			why_cut_last(ret);
	}
	if (ret[0] == '\0')
		(void)snprintf(ret, PATH_MAX, "/");
	return true;
}

/* --- what is there -------------------------------------------------------------------- */

/* The file's mode gives this to the user: a process in the box has no more authority than that. */
static bool why_mode_gives(const char *path, const struct stat *st, int wish)
{
	unsigned int bit = wish == R_OK ? 04 : 02;

	if (geteuid() != 0)
		return faccessat(AT_FDCWD, path, wish, AT_EACCESS) == 0;
	return (st->st_mode & (st->st_uid == 0 ? bit << 6 : st->st_gid == 0 ? bit << 3 : bit)) != 0;
}

static const char *why_lands(const struct plan *p, const struct plan_mount *m)
{
	return p->workspace_mode == PLAN_MODE_REVIEW && (str_equal(m->role, "workspace") ||
							 str_equal(m->role, PLAN_REPOSITORY))
		       ? "the box sees yours, and its writes land when you apply them"
		       : "the box sees yours, and its writes land at once";
}

/* Looks at a path in a mount that shows what the user has. */
static void why_look_shown(const struct plan *p, struct why_view *v)
{
	const struct plan_mount *m = v->mount;
	char outside[PATH_MAX];
	struct stat st;

	v->there = why_outside(m, v->leads, outside) && stat(outside, &st) == 0;
	v->seen = m->access == PLAN_ACCESS_WRITE  ? WHY_WRITABLE
		  : m->access == PLAN_ACCESS_READ ? WHY_READABLE
						  : WHY_CLOSED;
	if (v->seen == WHY_CLOSED) {
		v->meaning = "it is there and cannot be opened";
	} else if (!v->there && v->seen == WHY_READABLE) {
		v->seen = WHY_NOT_SHOWN;
		v->meaning = "the box sees the folder, and nothing of yours has that name there";
	} else if (!v->there) {
		v->meaning = "nothing of yours has that name there; the box can make it";
	} else if (!why_mode_gives(outside, &st, R_OK)) {
		v->seen = WHY_CLOSED;
		v->meaning = "it is there, and its mode keeps your user from reading it";
	} else if (v->seen == WHY_WRITABLE && !why_mode_gives(outside, &st, W_OK)) {
		v->seen = WHY_READABLE;
		v->meaning = "the box sees yours, and its mode keeps your user from writing it";
	} else {
		v->meaning = v->seen == WHY_WRITABLE ? why_lands(p, m)
						     : "the box sees yours, and cannot change it";
	}
}

/* The path is a folder that the box makes because it leads to a mount. */
static bool why_leads_on(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->mounts.count; i++)
		if (str_path_beneath(p->mounts.items[i].target, path))
			return true;
	return false;
}

static void why_look_frame(const struct plan *p, struct why_view *v)
{
	const struct plan_mount *m = v->mount;

	v->seen = WHY_OWN;
	v->meaning = "the box has one of its own; yours is not seen";
	if (!m || (m->kind == PLAN_MOUNT_BIND && str_equal(m->role, "home"))) {
		v->seen = WHY_NOT_SHOWN;
		v->meaning = m ? "the box has a home of its own, and yours is not seen"
			       : "the box has no such path: nothing in the plan names it";
		if (why_leads_on(p, v->leads)) {
			v->seen = WHY_OWN;
			v->meaning = "a folder of the box's own, with what the plan shows in it";
		}
	} else if (m->kind == PLAN_MOUNT_BIND) {
		v->meaning = "of the base system of the box; yours is not seen";
	} else if (m->kind == PLAN_MOUNT_TMPFS) {
		v->meaning = "a private folder of the box's, gone at the end; yours is not seen";
	} else if (m->kind == PLAN_MOUNT_HIDE) {
		v->seen = WHY_HIDDEN;
		v->meaning = "something empty and unreadable covers it";
	}
}

/* Finds what a command in the box can do with a path of the user; it follows links as inside. */
static void why_path_look(const struct plan *p, const char *path, struct why_view *ret)
{
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (p->backend == PLAN_BACKEND_HOST) {
		(void)snprintf(ret->leads, sizeof(ret->leads), "%s", path);
		ret->seen = WHY_WRITABLE;
		ret->meaning = "there is no box: a command can do what you can";
		return;
	}
	bool found = why_walk(p, path, ret->leads);

	ret->mount = why_path_mount(p, ret->leads);
	if (!found) {
		ret->seen = WHY_CLOSED;
		ret->meaning = "its links lead round in circles, or it is too long";
		return;
	}
	if (why_is_shown(ret->mount)) {
		why_look_shown(p, ret);
		return;
	}
	ret->there = lstat(path, &st) == 0;
	why_look_frame(p, ret);
}

bool why_path_is_readable(const struct plan *p, const char *path)
{
	const struct plan_mount *m = why_path_mount(p, path);

	return p->backend != PLAN_BACKEND_HOST && why_is_shown(m) &&
	       (m->access == PLAN_ACCESS_READ || m->access == PLAN_ACCESS_WRITE);
}

/* --- words ---------------------------------------------------------------------------- */

/* The notes of the plan call this place private. */
static bool why_is_private(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->notes.count; i++)
		if (p->notes.items[i].kind == PLAN_NOTE_HIDDEN &&
		    str_equal(p->notes.items[i].why, "private place") &&
		    str_path_beneath(path, p->notes.items[i].what))
			return true;
	return false;
}

static void why_path_way(const struct text *t, const struct plan *p, const char *path,
			 const struct why_view *v)
{
	bool write = v->seen == WHY_READABLE && v->mount->access == PLAN_ACCESS_READ;
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_PATH_BYTES_MAX);

	if (!v->there || (v->seen != WHY_NOT_SHOWN && !write) ||
	    (write && !str_equal(v->mount->role, "named") && !str_equal(v->mount->role, "tool")))
		return;
	if (why_is_private(p, path)) {
		text_printf(t, "          it is a private place: best kept so\n");
		return;
	}
	words_path(&words, p, path);
	text_printf(t, "          to open it: bawn run --%s %s, or files: %s: in config.yaml\n",
		    write ? "write" : "read", buf_str(&words), write ? "write" : "read");
}

void why_path_print(const struct text *t, const struct plan *p, const char *path, const char *where)
{
	static const enum text_style styles[WHY_SEEN_COUNT] = {
		[WHY_NOT_SHOWN] = TEXT_BAD, [WHY_READABLE] = TEXT_GOOD, [WHY_WRITABLE] = TEXT_GOOD,
		[WHY_CLOSED] = TEXT_BAD,    [WHY_HIDDEN] = TEXT_BAD,    [WHY_OWN] = TEXT_GOOD};
	struct why_view v;
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_PATH_BYTES_MAX);

	why_path_look(p, path, &v);
	text_styled(t, styles[v.seen], "%-9s ", why_seen_words[v.seen]);
	words_path(&words, p, path);
	text_printf(t, "%s  (%s)\n", buf_str(&words), where);
	text_printf(t, "          %s\n", v.meaning);
	buf_clear(&words);
	if (!str_equal(v.leads, path)) {
		words_path(&words, p, v.leads);
		text_printf(t, "          it is a link, and leads to %s\n", buf_str(&words));
		buf_clear(&words);
	}
	if (v.mount) {
		buf_put_str(&words, "by the entry for ");
		words_path(&words, p, v.mount->target);
		buf_put_str(&words, " (");
		words_text(&words, p, v.mount->origin);
		buf_put_char(&words, ')');
		text_printf(t, "          %s\n", buf_str(&words));
	}
	why_path_way(t, p, path, &v);
}

void why_path_json(struct json *j, const struct plan *p, const char *path)
{
	struct why_view v;

	why_path_look(p, path, &v);
	json_key_str(j, "path", path);
	json_key_str(j, "seen", why_seen_words[v.seen]);
	json_key_str(j, "meaning", v.meaning);
	json_key_str(j, "leads", v.leads);
	json_key_str(j, "entry", v.mount ? v.mount->target : "");
	json_key_str(j, "origin", v.mount ? v.mount->origin : "");
}
