/* SPDX-License-Identifier: Apache-2.0 */
#include "array.h"
#include "clock.h"
#include "dir.h"
#include "fnv.h"
#include "layers_parts.h"

#include "adopt.h"
#include "afar.h"
#include "fd.h"
#include "known.h"
#include "leftover.h"
#include "open.h"
#include "snapshot.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LAYERS_SHOWN_MAX = 48, /* most letters of the workspace's name in the folder's name */
	LAYERS_SAME_HASH = 16,
	LAYERS_LISTED_MAX = 1 << 16,
};

/* --- the folder ----------------------------------------------------------------------- */

static int layers_name(const char *workspace, int number, char *into, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";
	char name[LAYERS_SHOWN_MAX + 1];
	char suffix[16] = "";
	size_t len = 0;

	/* Only absolute paths have an entry; a damaged file may say anything. */
	if (*workspace != '/')
		return -EBADMSG;
	for (const char *c = strrchr(workspace, '/') + 1; *c && len < LAYERS_SHOWN_MAX; c++, len++)
		name[len] = strchr(plain, *c) && !(len == 0 && *c == '.') ? *c : '_';
	name[len] = '\0';
	if (number > 1)
		(void)snprintf(suffix, sizeof(suffix), "-%d", number);
	int n = snprintf(into, size, "%s-%016" PRIx64 "%s", name,
			 fnv64_bytes(FNV64_START, workspace, strlen(workspace)), suffix);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Replaces a file, whole or not at all, also when the power goes: the bytes are on the disk before
 * the name, and one name after the other. */
int layers_replace(int dir, const char *name, struct span text)
{
	char new_name[LAYERS_NAME_MAX + 16];
	int n = snprintf(new_name, sizeof(new_name), "%s.new", name);

	if (n < 0 || (size_t)n >= sizeof(new_name))
		return -ENAMETOOLONG;
	return fd_replace_at(dir, name, new_name, text, 0600);
}

int layers_read_text(int dir, const char *name, struct buf *into)
{
	_cleanup_fd_ int fd = open_file(dir, name, O_RDONLY, 0);

	return fd < 0 ? fd : fd_read_all(fd, into);
}

/* 1: the entry belongs to this workspace (if it is new and `create` is true, it is made so); 0: to
 * another; or -errno. */
static int layers_claim(int entry, const char *workspace, bool create)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PATH_MAX);
	int r = layers_read_text(entry, "path", &text);

	if (r == 0)
		return *buf_str(&text) == '/' ? str_equal(buf_str(&text), workspace) : -EBADMSG;
	if (r != -ENOENT || !create)
		return r;
	/* Another process that starts in the new workspace at the same moment finds it complete. */
	while (flock(entry, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	r = layers_claim(entry, workspace, false);
	if (r == -ENOENT)
		r = layers_replace(entry, "path", span_of_str(workspace));
	(void)flock(entry, LOCK_UN);
	return r < 0 ? r : layers_claim(entry, workspace, false);
}

static int layers_say_place(const char *state_path, const char *workspace, const char *name,
			    struct layers *ret)
{
	int n = snprintf(ret->path, sizeof(ret->path), "%s/workspaces/%s", state_path, name);
	int a = snprintf(ret->all_path, sizeof(ret->all_path), "%s/workspaces/%s/layers",
			 state_path, name);
	int m = snprintf(ret->workspace, sizeof(ret->workspace), "%s", workspace);

	return n < 0 || (size_t)n >= sizeof(ret->path) || a < 0 ||
			       (size_t)a >= sizeof(ret->all_path) || m < 0 ||
			       (size_t)m >= sizeof(ret->workspace)
		       ? -ENAMETOOLONG
		       : 0;
}

int layers_place(const char *state_path, const char *workspace, struct layers *ret)
{
	char name[LAYERS_SHOWN_MAX + 48];
	int r = layers_name(workspace, 1, name, sizeof(name));

	*ret = LAYERS_INIT;
	return r < 0 ? r : layers_say_place(state_path, workspace, name, ret);
}

int layers_open(int state, const char *state_path, const char *workspace, bool create,
		struct layers *ret, struct error *e)
{
	char name[LAYERS_SHOWN_MAX + 48];
	_cleanup_fd_ int all = layers_dir(state, "workspaces", create);
	int r = all < 0 ? all : 0;

	*ret = LAYERS_INIT;
	for (int number = 1; r == 0 && number <= LAYERS_SAME_HASH; number++) {
		r = layers_name(workspace, number, name, sizeof(name));
		_cleanup_fd_ int entry = r < 0 ? r : layers_dir(all, name, false);

		/* The workspace may have had another path. */
		if (entry == -ENOENT && number == 1)
			(void)adopt_entry(all, workspace, name, ret->was);
		if (entry == -ENOENT)
			entry = layers_dir(all, name, create);

		r = entry < 0 ? entry : layers_claim(entry, workspace, create);
		if (r <= 0)
			continue;
		if (layers_say_place(state_path, workspace, name, ret) < 0)
			return error_sys(e, -ENAMETOOLONG, "cannot open the layers of %s",
					 workspace);
		if (create)
			adopt_note(all, name, entry, workspace);
		ret->dir = TAKE_FD(entry);
		r = afar_find(ret, create, e);
		if (r < 0)
			layers_close(ret);
		return r;
	}
	if (r == -ENOENT && !create)
		return r;
	return error_sys(e, r < 0 ? r : -EEXIST, "cannot open the layers of %s in %s", workspace,
			 state_path);
}

void layers_close(struct layers *l)
{
	fd_close(&l->dir);
}

int layers_lock(const struct layers *l, struct error *e)
{
	_cleanup_fd_ int fd = open_file(l->dir, "lock", O_RDWR | O_CREAT, 0600);
	int r = fd < 0 ? fd : 0;

	while (r == 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			r = -errno;
	if (r < 0)
		return error_sys(e, r, "cannot lock %s", l->path);
	/* Finish a restore that was cut short before anything else. */
	r = snapshot_finish(l, e);
	return r < 0 ? r : TAKE_FD(fd);
}

int layers_journal(const struct layers *l, bool create)
{
	return layers_dir(l->dir, "journal", create);
}

/* --- sessions ------------------------------------------------------------------------- */

int layers_session_dir(const struct layers *l, const char *name, bool create)
{
	if (!layers_is_name(name))
		return -EINVAL;
	_cleanup_fd_ int sessions = layers_dir(l->dir, "sessions", create);

	return sessions < 0 ? sessions : layers_dir(sessions, name, create);
}

void layers_session_forget_makers(const struct layers *l, const char *name)
{
	_cleanup_fd_ int dir = layers_session_dir(l, name, false);
	_cleanup_fd_ int first =
		dir < 0 ? dir : open_beneath(dir, "first", O_PATH | O_DIRECTORY, 0);

	if (first >= 0)
		(void)unlinkat(first, "makers", 0);
}

int layers_session_read(const struct layers *l, const char *name, struct layers_session *ret,
			struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	_cleanup_fd_ int dir = layers_session_dir(l, name, false);
	int r = dir < 0 ? dir : layers_read_text(dir, "session", &text);

	if (r == 0)
		r = layers_session_parse(buf_span(&text), ret);
	if (r == 0 && !str_equal(ret->name, name))
		r = -EBADMSG;
	if (r == -ENOENT)
		return r;
	if (r < 0) {
		(void)error_sys(e, r, "cannot read what the session %s is, in %s", name, l->path);
		error_next(e, "Its folder there, sessions/%s, can be removed by hand.", name);
	}
	return r;
}

int layers_session_write(const struct layers *l, const struct layers_session *s, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	_cleanup_fd_ int dir = layers_session_dir(l, s->name, true);

	layers_session_put(&text, s);
	int r = afar_keep(l, &s->project, s->ended != 0, e);

	if (r == 0)
		r = afar_keep(l, &s->home, s->ended != 0, e);
	if (r == 0)
		r = afar_keep(l, &s->root, false, e);
	if (r < 0)
		return r;
	r = dir < 0 ? dir : buf_error(&text);
	if (r == 0)
		r = layers_replace(dir, "session", buf_span(&text));
	return r < 0 ? error_sys(e, r, "cannot write down the session %s in %s", s->name, l->path)
		     : 0;
}

/* When the folder was made, in nanoseconds since 1970; 0: its filesystem does not know. */
static uint64_t layers_birth(int tree)
{
	struct statx st = {.stx_mask = 0};

	if (statx(tree, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME) ||
	    st.stx_btime.tv_sec <= 0)
		return 0;
	return (uint64_t)CLOCK_NS(st.stx_btime);
}

int layers_session_mark(struct layers_session *s, int tree)
{
	uint64_t birth = layers_birth(tree);
	struct stat st;

	if (fstat(tree, &st) < 0)
		return -errno;
	s->dev = birth && birth <= INT64_MAX ? birth : st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

bool layers_session_is_of(const struct layers_session *s, int tree)
{
	struct stat st;

	return fstat(tree, &st) == 0 && st.st_ino == s->ino &&
	       (st.st_dev == s->dev || layers_birth(tree) == s->dev);
}

#define LAYERS_GONE "gone-" /* then an id: in layers/, and nobody needs it */

/* Moves a session's folder away in one step; we or layers_sweep then remove what is in it.  Returns
 * the descriptor of layers/, or -errno. */
static int layers_session_set_aside(const struct layers *l, int sessions, const char *name,
				    char ret_gone[sizeof(LAYERS_GONE) + LAYER_ID_LEN])
{
	char id[LAYER_ID_LEN + 1];
	_cleanup_fd_ int all = layers_dir(l->dir, "layers", true);
	int r = all < 0 ? all : layers_random(id);

	if (r < 0)
		return r;
	(void)snprintf(ret_gone, sizeof(LAYERS_GONE) + LAYER_ID_LEN, LAYERS_GONE "%s", id);
	return renameat(sessions, name, all, ret_gone) < 0 ? -errno : TAKE_FD(all);
}

int layers_session_remove(const struct layers *l, const char *name, struct error *e)
{
	char gone[sizeof(LAYERS_GONE) + LAYER_ID_LEN];
	_cleanup_fd_ int sessions = layers_dir(l->dir, "sessions", false);
	int r = !layers_is_name(name) ? -EINVAL : sessions < 0 ? sessions : 0;
	_cleanup_fd_ int all = r < 0 ? r : layers_session_set_aside(l, sessions, name, gone);

	if (all < 0 && all != -ENOENT)
		return error_sys(e, all, "cannot remove the session %s from %s", name, l->path);
	if (all >= 0)
		(void)tree_remove(all, gone);
	return 0;
}

static int layers_session_lock(const struct layers *l, const char *name, int how)
{
	_cleanup_fd_ int fd = layers_session_dir(l, name, false);

	if (fd < 0)
		return fd;
	if (flock(fd, how | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

int layers_session_hold(const struct layers *l, const char *name)
{
	return layers_session_lock(l, name, LOCK_EX);
}

bool layers_session_runs(const struct layers *l, const char *name)
{
	/* Processes that only ask do not disturb one another. */
	_cleanup_fd_ int fd = layers_session_lock(l, name, LOCK_SH);

	/* If we cannot ask, we must not say that it has ended. */
	return fd < 0 && fd != -ENOENT;
}

/* A call that was allowed is done within this time. */
enum { LAYERS_MOMENT_NS = 1000000000 };

static int layers_stat_first(const struct layers *l, const char *name, const char *file,
			     struct stat *ret)
{
	_cleanup_fd_ int dir = layers_session_dir(l, name, false);
	_cleanup_fd_ int first = dir < 0 ? dir : open_beneath(dir, file, O_PATH, 0);

	return first < 0 ? first : fstat(first, ret) < 0 ? -errno : 0;
}

/* If it cannot be read, the answer is yes. */
bool layers_session_has_first(const struct layers *l, const struct layers_session *s)
{
	struct stat st;
	int r = layers_stat_first(l, s->name, "first/index", &st);

	return r < 0 ? r != -ENOENT : !S_ISREG(st.st_mode) || st.st_size > 0;
}

/* Something changed that nobody saw. */
static bool layers_has_unseen(const struct layers *l, const char *name)
{
	struct stat st;

	return layers_stat_first(l, name, "first/unseen", &st) == 0;
}

int64_t layers_session_end(const struct layers *l, const struct layers_session *s)
{
	struct stat st;

	if (s->ended || s->mode != LAYERS_DIRECT ||
	    layers_stat_first(l, s->name, "first/index", &st) < 0)
		return s->ended;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec + LAYERS_MOMENT_NS;
}

bool layers_session_was_interrupted(const struct layers *l, const struct layers_session *s)
{
	_cleanup_fd_ int dir = layers_session_dir(l, s->name, false);

	return s->ended == 0 ||
	       (dir >= 0 && faccessat(dir, "interrupted", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

void layers_session_note_interrupted(const struct layers *l, const char *name, bool interrupted)
{
	_cleanup_fd_ int dir = layers_session_dir(l, name, false);

	if (dir < 0)
		return;
	if (!interrupted) {
		(void)unlinkat(dir, "interrupted", 0);
		return;
	}
	int made = openat(dir, "interrupted", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	fd_close(&made);
}

int layers_session_first(const struct layers *l, const char *name)
{
	mode_t mask = umask(0);
	_cleanup_fd_ int dir = layers_session_dir(l, name, true);
	int r = dir < 0 ? dir : mkdirat(dir, "first", 0700) < 0 && errno != EEXIST ? -errno : 0;

	(void)umask(mask);
	return r < 0 ? r : open_beneath(dir, "first", O_RDONLY | O_DIRECTORY, 0);
}

bool layers_session_ended_before(const struct layers_session *a, const struct layers_session *b)
{
	return a->ended < b->ended || (a->ended == b->ended && strcmp(a->name, b->name) < 0);
}

bool layers_session_has_changes(const struct layers *l, const struct layers_session *s)
{
	if (s->mode == LAYERS_DIRECT)
		return layers_session_has_first(l, s) || layers_has_unseen(l, s->name);
	for (size_t i = 0; i < s->project.count; i++)
		if (!layers_is_empty(l, s->project.ids[i]))
			return !leftover_is_all(l, s);
	return false;
}

static int layers_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct layers_names {
	char **items;
	size_t count;
};

static void layers_names_fini(struct layers_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
}

/* The names in a folder of ours that could be ours, sorted.  It closes the descriptor. */
static int layers_list_in(int fd, struct layers_names *ret)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);

	if (!dir)
		return r == -ENOENT ? 0 : r;
	for (const struct dirent *d; r == 0 && (d = dir_next(dir, &r));) {
		if (!layers_is_name(d->d_name) || str_ends_with(d->d_name, ".new"))
			continue;
		if (ret->count == LAYERS_LISTED_MAX || !ARRAY_GROW(ret->items, ret->count) ||
		    !(ret->items[ret->count] = strdup(d->d_name)))
			r = -ENOMEM;
		else
			ret->count++;
	}
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), layers_compare);
	return r;
}

static int layers_list(const struct layers *l, const char *folder, struct layers_names *ret)
{
	return layers_list_in(layers_dir(l->dir, folder, false), ret);
}

int layers_each_session(const struct layers *l,
			int (*found)(void *context, const struct layers_session *s), void *context,
			struct error *e)
{
	_cleanup_(layers_names_fini) struct layers_names names = {NULL, 0};
	int r = layers_list(l, "sessions", &names);
	int damaged = 0;

	if (r < 0)
		return error_sys(e, r, "cannot list the sessions of %s", l->workspace);
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		struct layers_session s;

		r = layers_session_read(l, names.items[i], &s, e);
		if (r == 0)
			r = found(context, &s);
		else if (r == -ENOENT) /* it is being made or removed */
			r = 0;
		else if (r == -EBADMSG) {
			damaged = r;
			r = 0;
		}
	}
	return r < 0 ? r : damaged;
}

/* --- stacks --------------------------------------------------------------------------- */

/* Reads a file with a stack; a missing one is an empty stack. */
static int layers_stack_read(int dir, const char *name, struct stack *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	int r = layers_read_text(dir, name, &text);

	*ret = (struct stack){.count = 0};
	if (r == -ENOENT)
		return 0;
	if (r == 0 && text.len > 0) {
		text.ptr[strcspn(text.ptr, "\n")] = '\0';
		r = stack_parse(text.ptr, ret);
	}
	return r;
}

int layers_kept_read(const struct layers *l, const char *name, struct stack *ret, struct error *e)
{
	_cleanup_fd_ int kept = layers_dir(l->dir, "kept", false);
	int r = !layers_is_name(name) ? -EINVAL : kept < 0 ? kept : 0;

	*ret = (struct stack){.count = 0};
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = layers_stack_read(kept, name, ret);
	return r < 0 ? error_sys(e, r, "cannot read %s/kept/%s", l->path, name) : 0;
}

int layers_kept_write(const struct layers *l, const char *name, const struct stack *s,
		      struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	_cleanup_fd_ int kept = layers_dir(l->dir, "kept", true);
	int r = !layers_is_name(name) ? -EINVAL : kept < 0 ? kept : 0;

	stack_put(&text, "", s);
	if (r == 0)
		r = buf_error(&text);
	if (r == 0)
		r = afar_keep(l, s, true, e);
	if (r == 0 && s->count > 0)
		r = layers_replace(kept, name, buf_span(&text));
	else if (r == 0 && unlinkat(kept, name, 0) < 0 && errno != ENOENT)
		r = -errno;
	return r < 0 ? error_sys(e, r, "cannot write %s/kept/%s", l->path, name) : 0;
}

int layers_home_read(const struct layers *l, struct stack *ret, struct error *e)
{
	int r = layers_stack_read(l->dir, "home.stack", ret);

	return r < 0 ? error_sys(e, r, "cannot read %s/home.stack", l->path) : 0;
}

int layers_home_write(const struct layers *l, const struct stack *s, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);

	stack_put(&text, "", s);
	int r = buf_error(&text);

	if (r == 0)
		r = layers_replace(l->dir, "home.stack", buf_span(&text));
	return r < 0 ? error_sys(e, r, "cannot write %s/home.stack", l->path) : 0;
}

/* --- snapshots ------------------------------------------------------------------------ */

int layers_snapshot_read(const struct layers *l, const char *name, struct layers_snapshot *ret,
			 struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	_cleanup_fd_ int dir = layers_dir(l->dir, "snapshots", false);
	int r = !layers_is_name(name) ? -ENOENT
		: dir < 0             ? dir
				      : layers_read_text(dir, name, &text);

	if (r == 0)
		r = layers_snapshot_parse(buf_span(&text), ret);
	if (r == 0 && !str_equal(ret->name, name))
		r = -EBADMSG;
	if (r == -ENOENT)
		return r;
	return r < 0 ? error_sys(e, r, "cannot read the snapshot %s in %s", name, l->path) : 0;
}

int layers_snapshot_write(const struct layers *l, const struct layers_snapshot *s, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
	_cleanup_fd_ int dir = layers_dir(l->dir, "snapshots", true);

	layers_snapshot_put(&text, s);
	int r = afar_keep(l, &s->project, false, e);

	if (r == 0)
		r = afar_keep(l, &s->home, false, e);
	if (r == 0)
		r = afar_keep(l, &s->root, false, e);
	if (r < 0)
		return r;
	r = dir < 0 ? dir : !layers_is_name(s->name) ? -EINVAL : buf_error(&text);

	if (r == 0)
		r = layers_replace(dir, s->name, buf_span(&text));
	return r < 0 ? error_sys(e, r, "cannot write the snapshot %s in %s", s->name, l->path) : 0;
}

/* What is known of the one that is being restored is that of the one with its own name. */
int layers_snapshot_remove(const struct layers *l, const char *name, struct error *e)
{
	_cleanup_fd_ int dir = layers_dir(l->dir, "snapshots", false);
	struct layers_snapshot s;
	struct error ignored = ERROR_INIT;
	int r = !layers_is_name(name) ? -ENOENT : dir < 0 ? dir : 0;
	bool read = r == 0 && layers_snapshot_read(l, name, &s, &ignored) == 0;

	if (r == 0 && unlinkat(dir, name, 0) < 0)
		r = -errno;
	if (r == 0 && read && !snapshot_is_restoring(name))
		known_forget(l, &s);
	if (r == -ENOENT)
		return r;
	return r < 0 ? error_sys(e, r, "cannot remove the snapshot %s", name) : 0;
}

int layers_each_snapshot(const struct layers *l,
			 int (*found)(void *context, const struct layers_snapshot *s),
			 void *context, struct error *e)
{
	_cleanup_(layers_names_fini) struct layers_names names = {NULL, 0};
	int r = layers_list(l, "snapshots", &names);

	if (r < 0)
		return error_sys(e, r, "cannot list the snapshots of %s", l->workspace);
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		struct layers_snapshot s = {.name = ""};

		r = layers_snapshot_read(l, names.items[i], &s, e);
		if (r == 0)
			r = found(context, &s);
		else if (r == -ENOENT)
			r = 0;
	}
	return r;
}

/* --- what nothing names --------------------------------------------------------------- */

/* All layers, and which of them something names. */
struct layers_named {
	const struct layers_names *all;
	bool *named;
};

static void layers_mark(const struct layers_named *n, const struct stack *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *id = s->ids[i];
		char *const *at = n->all->count ? bsearch(&id, n->all->items, n->all->count,
							  sizeof(id), layers_compare)
						: NULL;

		if (at)
			n->named[at - n->all->items] = true;
	}
}

static int layers_session_names(void *context, const struct layers_session *s)
{
	layers_mark(context, &s->project);
	layers_mark(context, &s->home);
	layers_mark(context, &s->root);
	return 0;
}

static int layers_snapshot_names(void *context, const struct layers_snapshot *s)
{
	layers_mark(context, &s->project);
	layers_mark(context, &s->home);
	layers_mark(context, &s->root);
	return 0;
}

/* Marks the layers that are kept for the systems of this workspace's boxes. */
static int layers_kept_names(const struct layers *l, const struct layers_named *n, struct error *e)
{
	_cleanup_(layers_names_fini) struct layers_names kept = {NULL, 0};
	int r = layers_list(l, "kept", &kept);

	if (r < 0)
		return error_sys(e, r, "cannot list what is kept of %s", l->workspace);
	for (size_t i = 0; r == 0 && i < kept.count; i++) {
		struct stack stack;

		r = layers_kept_read(l, kept.items[i], &stack, e);
		if (r == 0)
			layers_mark(n, &stack);
	}
	return r;
}

/* The entry has sessions, every one of them runs, and nothing has ever landed there. */
static bool layers_all_run(int all, const char *entry)
{
	char path[2 * NAME_MAX];
	int r = 0;
	bool any = false;

	(void)snprintf(path, sizeof(path), "%s/journal", entry);
	if (faccessat(all, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return false;
	(void)snprintf(path, sizeof(path), "%s/sessions", entry);
	_cleanup_dir_ DIR *dir = dir_read(layers_dir(all, path, false), &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(dir, &r)); any = true) {
		_cleanup_fd_ int one = layers_dir(dirfd(dir), d->d_name, false);

		if (one < 0 || flock(one, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return false;
	}
	return r == 0 && any;
}

static int layers_each(int state, const char *state_path, bool left,
		       int (*found)(void *context, const struct layers *l), void *context,
		       struct error *e)
{
	int fd = layers_dir(state, "workspaces", false);
	int r = 0, damaged = 0;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);
	char which[NAME_MAX + 1] = "";

	if (!dir)
		return r == -ENOENT ? 0 : error_sys(e, r, "cannot list %s/workspaces", state_path);
	for (const struct dirent *d; r >= 0 && (d = dir_next(dir, &r));) {
		if (left && layers_all_run(fd, d->d_name))
			continue;
		_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX);
		_cleanup_layers_ struct layers l = LAYERS_INIT;
		_cleanup_fd_ int entry =
			d->d_name[0] == '.' ? -ENOENT : layers_dir(fd, d->d_name, false);

		int read = entry < 0 ? -ENOENT : layers_read_text(entry, "path", &path);

		/* It is being made or removed. */
		if (read == -ENOENT)
			continue;
		/* If one cannot be read, the others still count, and the error comes at the end. */
		if (read < 0 || *buf_str(&path) != '/') {
			damaged = read < 0 ? read : -EBADMSG;
			(void)snprintf(which, sizeof(which), "%s", d->d_name);
			continue;
		}
		r = layers_open(state, state_path, buf_str(&path), false, &l, e);
		if (r == 0)
			r = found(context, &l);
		else if (r == -ENOENT)
			r = 0;
	}
	if (r < 0 || damaged == 0)
		return r;
	return error_sys(e, damaged, "cannot read %s/workspaces/%s/path, which says whose it is",
			 state_path, which);
}

int layers_each_workspace(int state, const char *state_path,
			  int (*found)(void *context, const struct layers *l), void *context,
			  struct error *e)
{
	return layers_each(state, state_path, false, found, context, e);
}

int layers_each_left(int state, const char *state_path,
		     int (*found)(void *context, const struct layers *l), void *context,
		     struct error *e)
{
	return layers_each(state, state_path, true, found, context, e);
}

struct layers_sought {
	const char *name;
	struct layers *ret;
};

static int layers_on_workspace(void *context, const struct layers *l)
{
	struct layers_sought *sought = context;
	struct layers_session s;
	struct error ignored = ERROR_INIT;

	/* What is of a worktree is found there (shared.h). */
	if (sought->ret->dir >= 0 || layers_session_read(l, sought->name, &s, &ignored) < 0 ||
	    s.linked[0])
		return 0;
	*sought->ret = *l;
	sought->ret->dir = fcntl(l->dir, F_DUPFD_CLOEXEC, 3);
	return sought->ret->dir < 0 ? -errno : 0;
}

int layers_find_session(int state, const char *state_path, const char *name, struct layers *ret,
			struct error *e)
{
	struct layers_sought sought = {name, ret};

	*ret = LAYERS_INIT;
	if (!layers_is_name(name))
		return 0;
	int r = layers_each_workspace(state, state_path, layers_on_workspace, &sought, e);

	/* If it was found, damage elsewhere does not matter. */
	return ret->dir >= 0 ? 1 : r < 0 ? r : 0;
}

int layers_hold(const struct layers *l, const char *id)
{
	if (!layers_is_id(id))
		return -EINVAL;
	_cleanup_fd_ int all = layers_all(l, false);
	_cleanup_fd_ int fd = all < 0 ? all : open_beneath(all, id, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

/* Sets a layer aside: from here on it is no layer any more.  To remove it may take long. */
static int layers_set_aside(const struct layers *l, int all, const char *id)
{
	/* -EBUSY: somebody is filling it. */
	_cleanup_fd_ int hold = layers_hold(l, id);
	char name[sizeof(LAYERS_GONE) + LAYER_ID_LEN];

	if (hold < 0)
		return hold == -EBUSY ? 0 : hold;
	(void)snprintf(name, sizeof(name), LAYERS_GONE "%s", id);
	if (renameat(all, id, all, name) < 0)
		return -errno;
	return afar_forget(l, id);
}

/* Sets aside folders of sessions that were cut short while they were made. */
static int layers_retire_sessions(const struct layers *l)
{
	_cleanup_(layers_names_fini) struct layers_names names = {NULL, 0};
	_cleanup_fd_ int sessions = layers_dir(l->dir, "sessions", false);
	int r = sessions < 0 ? sessions : layers_list(l, "sessions", &names);

	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		char gone[sizeof(LAYERS_GONE) + LAYER_ID_LEN];
		_cleanup_fd_ int dir = layers_session_dir(l, names.items[i], false);
		struct stat st;

		if (dir < 0 || fstatat(dir, "session", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		    errno != ENOENT || layers_session_runs(l, names.items[i]))
			continue;
		_cleanup_fd_ int all = layers_session_set_aside(l, sessions, names.items[i], gone);

		r = all < 0 ? all : 0;
	}
	return r == -ENOENT ? 0 : r;
}

int layers_retire(const struct layers *l, struct error *e)
{
	_cleanup_(layers_names_fini) struct layers_names names = {NULL, 0};
	_cleanup_fd_ int all = layers_all(l, false);
	struct stack home;
	int r = all < 0 ? all : layers_list_in(layers_all(l, false), &names);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_sys(e, r, "cannot list the layers of %s", l->workspace);
	_cleanup_free_ bool *named = calloc(names.count + 1, sizeof(*named));
	struct layers_named n = {&names, named};

	if (!named)
		return error_sys(e, -ENOMEM, "cannot list the layers of %s", l->workspace);
	r = layers_home_read(l, &home, e);
	if (r == 0)
		layers_mark(&n, &home);
	if (r == 0)
		r = layers_kept_names(l, &n, e);
	if (r == 0)
		r = layers_each_session(l, layers_session_names, &n, e);
	if (r == 0)
		r = layers_each_snapshot(l, layers_snapshot_names, &n, e);
	if (r == 0 && layers_retire_sessions(l) < 0)
		r = error_sys(e, -EIO, "cannot remove what is left of a session of %s",
			      l->workspace);
	for (size_t i = 0; r == 0 && i < names.count; i++)
		if (layers_is_id(names.items[i]) && !named[i] &&
		    layers_set_aside(l, all, names.items[i]) < 0)
			r = error_sys(e, -EIO, "cannot remove the layer %s of %s", names.items[i],
				      l->workspace);
	return r;
}

static int layers_sweep_in(int dir)
{
	_cleanup_(layers_names_fini) struct layers_names names = {NULL, 0};
	_cleanup_fd_ int all = dir;
	int r = all < 0 ? all
			: layers_list_in(open_beneath(all, "", O_RDONLY | O_DIRECTORY, 0), &names);

	for (size_t i = 0; r == 0 && i < names.count; i++)
		if (str_after(names.items[i], LAYERS_GONE))
			r = tree_remove(all, names.items[i]);
	/* Another process may remove them as well. */
	return r == -ENOENT ? 0 : r;
}

int layers_sweep(const struct layers *l)
{
	int r = layers_sweep_in(layers_dir(l->dir, "layers", false));

	return r < 0 || l->stand != LAYERS_AFAR ? r : layers_sweep_in(layers_all(l, false));
}

int layers_collect(const struct layers *l, struct error *e)
{
	int r = layers_retire(l, e);

	if (r < 0)
		return r;
	r = layers_sweep(l);
	return r < 0 ? error_sys(e, r, "cannot remove a layer of %s", l->workspace) : 0;
}
