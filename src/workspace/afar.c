/* SPDX-License-Identifier: Apache-2.0 */
#include "afar.h"

#include "apart.h"
#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "layers_parts.h"
#include "open.h"
#include "overlay.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define AFAR_NEW "new-" /* then an id: not complete yet */
#define AFAR_SHM "/dev/shm"

static const char afar_loaded[] = ".loaded";

/* --- the place ------------------------------------------------------------------------ */

/* Opens the user's own folder there; negative: there is none, and none can be made. */
static int afar_own(char *ret_path, size_t size)
{
	struct stat st;
	int n = snprintf(ret_path, size, AFAR_SHM "/bawn-%u", geteuid());

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	if (mkdir(ret_path, 0700) < 0 && errno != EEXIST)
		return -errno;
	_cleanup_fd_ int fd = open_no_links(ret_path, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return -EPERM;
	return overlay_can_hold(fd) ? TAKE_FD(fd) : -EOPNOTSUPP;
}

/* Reads the name; if there is none, makes it once. */
static int afar_name(int dir, bool create, char ret[LAYER_ID_LEN + 1])
{
	for (int i = 0; i < 2; i++) {
		_cleanup_fd_ int fd = open_file(dir, "afar", O_RDONLY, 0);
		_cleanup_buf_ struct buf text = BUF_INIT(LAYERS_TEXT_MAX);
		int r = fd < 0 ? fd : fd_read_all(fd, &text);

		if (r == 0) {
			if (!layers_is_id(buf_str(&text)))
				return -EBADMSG;
			memcpy(ret, buf_str(&text), LAYER_ID_LEN + 1);
			return 0;
		}
		if (r != -ENOENT || !create)
			return r;
		char id[LAYER_ID_LEN + 1], made[LAYER_ID_LEN + sizeof(AFAR_NEW)];

		r = layers_random(id);
		(void)snprintf(made, sizeof(made), AFAR_NEW "%s", id);
		_cleanup_fd_ int out =
			r < 0 ? r : open_beneath(dir, made, O_WRONLY | O_CREAT | O_EXCL, 0600);

		r = out < 0 ? out : fd_write_all(out, id, LAYER_ID_LEN);
		/* A second process takes the name of the first. */
		if (r == 0 && linkat(dir, made, dir, "afar", 0) < 0 && errno != EEXIST)
			r = -errno;
		(void)unlinkat(dir, made, 0);
		if (r < 0)
			return r;
	}
	return -EIO;
}

/* --- copies --------------------------------------------------------------------------- */

struct afar_copy {
	int from, to; /* the folders of the two layers */
	enum copy_form form;
};

static int afar_copy(void *context, struct error *e)
{
	const struct afar_copy *c = context;
	_cleanup_fd_ int in = open_beneath(c->from, "up", O_RDONLY | O_DIRECTORY, 0);
	_cleanup_fd_ int out = open_beneath(c->to, "up", O_RDONLY | O_DIRECTORY, 0);
	struct copied done;

	if (in < 0 || out < 0)
		return error_sys(e, in < 0 ? in : out, "cannot open a layer");
	return copy_tree(in, out, c->form, &done, e);
}

/* Copies the layer id from one folder to another.  There it appears whole, in the place of what was
 * there. */
static int afar_bring(int from, int to, const char *id, enum copy_form form, struct error *e)
{
	char made[LAYER_ID_LEN + sizeof(AFAR_NEW)];

	(void)snprintf(made, sizeof(made), AFAR_NEW "%s", id);
	(void)tree_remove(to, made);
	if (mkdirat(to, made, 0700) < 0)
		return error_sys(e, -errno, "cannot keep a layer");
	_cleanup_fd_ int in = open_beneath(from, id, O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int out = open_beneath(to, made, O_PATH | O_DIRECTORY, 0);

	if (in < 0 || out < 0 || mkdirat(out, "up", 0700) < 0 || mkdirat(out, "work", 0700) < 0)
		return error_sys(e, in < 0 ? in : out < 0 ? out : -errno, "cannot keep a layer");
	struct afar_copy copy = {.from = in, .to = out, .form = form};
	int r = apart_run(&(struct apart){.work = afar_copy, .context = &copy}, e);

	if (r < 0) {
		(void)tree_remove(to, made);
		return r;
	}
	/* A rename does not replace a directory that is not empty, so the two change places.  The
	 * old one is removed when the disk has the new one. */
	if (renameat2(to, made, to, id, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EEXIST || syncfs(to) < 0 || renameat2(to, made, to, id, RENAME_EXCHANGE) < 0)
		return error_sys(e, -errno, "cannot keep a layer");
	(void)tree_remove(to, made);
	return 0;
}

static bool afar_is_there(int dir, const char *id)
{
	struct stat st;

	return fstatat(dir, id, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Brings back all that is kept and not there. */
static int afar_load(int kept, int place, struct error *e)
{
	int r = 0;
	_cleanup_dir_ DIR *all = dir_read(open_beneath(kept, "", O_RDONLY | O_DIRECTORY, 0), &r);

	if (!all)
		return error_sys(e, r, "cannot read what is kept of layers");
	for (const struct dirent *d; r == 0 && (d = dir_next(all, &r));)
		if (layers_is_id(d->d_name) && !afar_is_there(place, d->d_name))
			r = afar_bring(kept, place, d->d_name, COPY_BACK, e);
	return r;
}

static int afar_enter(struct layers *l, int place, struct error *e)
{
	_cleanup_fd_ int kept = open_beneath(l->dir, "layers", O_RDONLY | O_DIRECTORY, 0);
	int r = kept < 0 && kept != -ENOENT ? kept : 0;

	while (r == 0 && flock(place, LOCK_EX) < 0)
		if (errno != EINTR)
			r = -errno;
	if (r < 0)
		return error_sys(e, r, "cannot enter %s", l->all_path);
	if (afar_is_there(place, afar_loaded))
		return 0;
	r = kept < 0 ? 0 : afar_load(kept, place, e);
	if (r == 0 && mknodat(place, afar_loaded, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
		r = error_sys(e, -errno, "cannot write to %s", l->all_path);
	return r;
}

int afar_find(struct layers *l, bool create, struct error *e)
{
	char id[LAYER_ID_LEN + 1], own[64];

	l->stand = LAYERS_HERE;
	if (overlay_can_hold(l->dir))
		return 0;
	l->stand = LAYERS_NOWHERE;
	_cleanup_fd_ int shm = afar_own(own, sizeof(own));
	int r = shm < 0 ? 0 : afar_name(l->dir, create, id);

	if (shm < 0 || r == -ENOENT)
		return 0;
	if (r == 0 && mkdirat(shm, id, 0700) < 0 && errno != EEXIST)
		r = -errno;
	_cleanup_fd_ int place = r < 0 ? r : open_beneath(shm, id, O_RDONLY | O_DIRECTORY, 0);

	if (place < 0)
		return error_sys(e, place, "cannot find the layers of %s", l->workspace);
	l->stand = LAYERS_AFAR;
	(void)snprintf(l->all_path, sizeof(l->all_path), "%s/%s", own, id);
	return afar_enter(l, place, e);
}

/* --- keeping -------------------------------------------------------------------------- */

int afar_keep(const struct layers *l, const struct stack *s, bool again, struct error *e)
{
	if (l->stand != LAYERS_AFAR || s->count == 0)
		return 0;
	if (mkdirat(l->dir, "layers", 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/layers", l->path);
	_cleanup_fd_ int kept = open_beneath(l->dir, "layers", O_RDONLY | O_DIRECTORY, 0);
	_cleanup_fd_ int place = layers_all(l, false);
	int r = kept < 0 ? kept : place < 0 ? place : 0;
	bool any = false;

	if (r < 0)
		return error_sys(e, r, "cannot keep the layers of %s", l->workspace);
	for (size_t i = 0; r == 0 && i < s->count; i++) {
		bool last = i + 1 == s->count;

		if (afar_is_there(kept, s->ids[i]) && !(last && again))
			continue;
		any = true;
		r = afar_bring(place, kept, s->ids[i], COPY_KEPT, e);
	}
	return r == 0 && any && syncfs(kept) < 0
		       ? error_sys(e, -errno, "cannot write to %s", l->path)
		       : r;
}

int afar_forget(const struct layers *l, const char *id)
{
	if (l->stand != LAYERS_AFAR)
		return 0;
	_cleanup_fd_ int kept = open_beneath(l->dir, "layers", O_RDONLY | O_DIRECTORY, 0);
	int r = kept < 0 ? kept : tree_remove(kept, id);

	return r == -ENOENT ? 0 : r;
}
