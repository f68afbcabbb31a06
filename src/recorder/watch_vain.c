/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_parts.h"

#include "fd.h"
#include "open.h"

#include <fcntl.h>

/* The share of an execution.  When all shares are given, the rest get the last one together. */
static struct watch_vain *watch_vain_of(struct watch_vains *v, uint64_t exec)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->of[i].exec == exec)
			return &v->of[i];
	if (v->count > WATCH_VAIN_PROGRAMS)
		return &v->of[WATCH_VAIN_PROGRAMS];
	struct watch_vain *new = &v->of[v->count++];

	*new = (struct watch_vain){.exec = v->count > WATCH_VAIN_PROGRAMS ? 0 : exec};
	return new;
}

/* Takes the event's bytes from its program's share; false: there is not enough left. */
static bool watch_vain_take(struct watch_vains *v, uint64_t exec, size_t bytes)
{
	struct watch_vain *of = watch_vain_of(v, exec);

	if (of->bytes + bytes + WATCH_VAIN_EVENT > WATCH_VAIN_MAX)
		return false;
	of->bytes += bytes + WATCH_VAIN_EVENT;
	return true;
}

/* Counts an event that is not written. */
static void watch_vain_count(struct watch_vains *v, uint64_t exec)
{
	watch_vain_of(v, exec)->left++;
}

/* --- of a call ------------------------------------------------------------------------ */

static bool watch_vain_is_no_name(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ENAMETOOLONG;
}

/* Whether it exists outside.  Through links it may have any number of names: *path becomes its
 * own. */
static bool watch_vain_is_outside(struct watch *w, char *path, size_t *len)
{
	struct watch_call *c = &w->call;

	if (watch_outside_find(&w->outsides, path, c->room) != WATCH_OUTSIDE_THERE)
		return false;
	size_t n = strlen(c->room);

	if (n == *len && memcmp(c->room, path, n) == 0)
		return true;
	if (path == c->path) {
		memcpy(c->said, path, *len + 1);
		c->said_len = *len;
	}
	memcpy(path, c->room, n + 1);
	*len = n;
	return true;
}

/* Whether nothing is there, for certain, at this moment. */
static bool watch_vain_is_nothing(struct watch *w, char *path, size_t *len)
{
	_cleanup_fd_ int own = watch_open_path(w, path);

	return watch_vain_is_no_name(own) && !watch_vain_is_outside(w, path, len);
}

/* What the kernel answers to a call that would make something there. */
static int watch_vain_error(const struct watch_call *c, const struct watch_file *f)
{
	bool makes = f->touch != WATCH_TOUCH_NOT && f->touch != WATCH_TOUCH_GONE &&
		     f->touch != WATCH_TOUCH_META && f->touch != WATCH_TOUCH_TIMES &&
		     (!f->has_flags || (c->flags & O_CREAT));

	return f->refused && makes && !c->missing ? EROFS : ENOENT;
}

static size_t watch_vain_bytes(size_t len)
{
	return len < WATCH_REFUSED_MAX ? len : WATCH_REFUSED_MAX;
}

int watch_vain_judge(struct watch *w, const struct watch_process *p, struct watch_file *f,
		     bool *ret_counted)
{
	struct watch_call *c = &w->call;

	*ret_counted = false;
	if (!(f->refused || c->missing) || c->path_len == 0 ||
	    watch_vain_take(&w->vains, p->exec,
			    watch_vain_bytes(c->path_len) + watch_vain_bytes(c->to_len)))
		return 0;
	int error = watch_vain_error(c, f);

	if (watch_vain_is_nothing(w, c->path, &c->path_len)) {
		watch_vain_count(&w->vains, p->exec);
		*ret_counted = true;
		return error;
	}
	/* One of two names may still be an invented one: the name that exists gets the event
	 * alone. */
	if (f->touch == WATCH_TOUCH_SYMLINKED)
		error = EEXIST;
	else if (c->to_len == 0 || !watch_vain_is_nothing(w, c->to, &c->to_len))
		return 0;
	c->to_len = 0;
	f->refused = true;
	c->reason = error_words(-error);
	return error;
}
