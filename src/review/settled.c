/* SPDX-License-Identifier: Apache-2.0 */
#include "settled.h"

#include "basis.h"
#include "branch_left.h"
#include "fd.h"
#include "open.h"
#include "undo_direct.h"

#include <fcntl.h>

struct settled {
	const struct view *view;
	int64_t began; /* the session */
	struct basis basis;
	struct first first;
};

bool settled_object_of(const struct first_entry *entry, const struct object *now,
		       struct object *ret)
{
	/* An overlay shows the inode of the file beneath; it may add bits at the top. */
	bool other = entry->kind == FIRST_FILE && !(entry->flags & FIRST_HASHED) &&
		     (uint32_t)entry->ino != (uint32_t)now->ino;

	return undo_object_of(entry, now, ret) && !other;
}

static bool settled_find(const struct settled *s, const struct change *c, struct object *ret)
{
	const struct basis_entry *known = basis_find(&s->basis, c->path);
	struct first_entry entry;

	if (known)
		*ret = known->object;
	return known || (first_find(&s->first, c->path, &entry) >= 0 &&
			 settled_object_of(&entry, &c->before, ret));
}

/* The list may have been read without all digests: hashes only what could be equal. */
static void settled_hash(const struct settled *s, struct change *c, enum change_side side)
{
	struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	_cleanup_fd_ int fd = o->hashed ? -EBADF : changes_open(s->view, c, side);
	uint64_t size = 0;

	o->hashed = o->hashed || (fd >= 0 && changes_hash(fd, o->digest, &size) == 0);
}

/* What is in the folder is not what the session started from. */
static bool settled_is_both(const struct settled *s, struct change *c, const struct object *origin)
{
	if (origin->type != c->before.type)
		return true;
	/* The time of a directory changes with its content. */
	if (origin->type != OBJECT_FILE || !origin->hashed || c->before.ctime <= s->began)
		return false;
	if (origin->size == c->before.size)
		settled_hash(s, c, CHANGE_BEFORE);
	return !basis_same_content(&c->before, origin);
}

bool settled_mark_pruned(struct change *c, const struct object *origin)
{
	c->pruned = c->before.type == OBJECT_ABSENT && origin->type != OBJECT_ABSENT &&
		    c->after.type == origin->type && change_is_git_object(c);
	return c->pruned;
}

bool settled_builds(const struct change *c)
{
	return !c->pruned && git_dir_of(c->path) > 0;
}

/* The session wrote in a folder, and did nothing to the folder itself; the user put something else
 * there. */
static bool settled_is_replaced(const struct settled *s, const struct change *c)
{
	return c->after.type == OBJECT_DIR && c->before.type != OBJECT_DIR &&
	       c->before.type != OBJECT_ABSENT && c->before.ctime > s->began;
}

/* We do not know what the session found there, and the user's was changed since (choice.c). */
static bool settled_is_later(const struct settled *s, const struct change *c)
{
	return (c->before.type == OBJECT_FILE || c->before.type == OBJECT_LINK) &&
	       c->before.ctime > s->began;
}

static bool settled_is(const struct settled *s, struct change *c)
{
	struct object origin;

	if (c->kind == CHANGE_RENAMED)
		return false;
	if (!settled_find(s, c, &origin)) {
		c->both = settled_is_replaced(s, c) || settled_is_later(s, c);
		return undo_is_only_folder(&s->first, &c->before, &c->after);
	}
	if (settled_mark_pruned(c, &origin))
		return false;
	if (origin.type == c->after.type) {
		if (c->after.type == OBJECT_FILE && c->after.size == origin.size)
			settled_hash(s, c, CHANGE_AFTER);
		if (basis_same(&c->after, &origin))
			return true;
	}
	c->both = settled_is_both(s, c, &origin);
	/* The session changed only the mode, and the user only the content: the content stays. */
	if (c->both && c->before.type == OBJECT_FILE && c->after.type == OBJECT_FILE &&
	    basis_same_content(&c->after, &origin) &&
	    (c->before.mode & 0777) == (origin.mode & 0777))
		c->kind = CHANGE_MODE;
	return false;
}

int settled_drop(const struct review *r, const struct layers_session *session, const struct view *v,
		 struct changes *c, struct branch_strays *ret_strays, struct error *e)
{
	_cleanup_fd_ int dir = layers_session_dir(&r->layers, session->name, false);
	_cleanup_fd_ int first =
		dir < 0 ? dir : open_beneath(dir, "first", O_RDONLY | O_DIRECTORY, 0);
	struct settled s = {
		.view = v, .began = session->began, .basis = BASIS_INIT, .first = FIRST_INIT};
	int code = dir < 0 ? review_lost(e, dir, session->name) : basis_read(dir, &s.basis, e);
	size_t kept = 0, count = 0;
	bool builds = false;

	_cleanup_branch_left_ struct branch_left *left = NULL;

	if (code == 0 && first >= 0)
		code = first_open(first, &s.first, e);
	if (code == 0 && branch_left_open(v, session, &left) < 0)
		code = error_sys(e, -ENOMEM, "cannot read the branch of %s", session->name);
	*ret_strays = left ? *branch_strays(left) : (struct branch_strays){.count = 0};
	for (size_t i = 0; code == 0 && i < c->count; i++)
		if (!settled_is(&s, &c->items[i]) && !(left && branch_is_old(left, &c->items[i]))) {
			builds = builds || settled_builds(&c->items[i]);
			c->items[count++] = c->items[i];
		}
	for (size_t i = 0; code == 0 && i < count; i++)
		if (builds || !c->items[i].pruned)
			c->items[kept++] = c->items[i];
	if (code == 0)
		c->count = kept;
	basis_fini(&s.basis);
	first_close(&s.first);
	return code;
}
