/* SPDX-License-Identifier: Apache-2.0 */
#include "seen.h"

#include "clock.h"
#include "fd.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SEEN_TOLD = 20 };

/* A new object is what its name says, and one that is there never goes. */
static bool seen_needs_no_look(const struct change *c)
{
	return change_is_git_object(c) &&
	       (c->before.type == OBJECT_ABSENT || c->after.type == OBJECT_ABSENT);
}

/* What is written down of a change.  For a rename it includes the old path: a person who saw a new
 * file did not see that the old one goes. */
static struct object seen_of(const struct change *c, struct object o)
{
	struct sha256 sum;

	if (c->kind != CHANGE_RENAMED || !o.hashed)
		return o;
	sha256_begin(&sum);
	sha256_add(&sum, (struct span){o.digest, SHA256_SIZE});
	sha256_add(&sum, span_of_str(c->from));
	sha256_end(&sum, o.digest);
	return o;
}

/* The link's target was shown with it. */
static void seen_hash_link(struct object *o)
{
	struct sha256 sum;

	sha256_begin(&sum);
	sha256_add(&sum, span_of_str(o->link));
	sha256_end(&sum, o->digest);
	o->hashed = true;
}

/*
 * Notes what it was when it was shown.  What has no digest (a fifo, a socket, a file that cannot be
 * read) never lands as it is: it counts as not seen.  `v` is given if nothing changes any more:
 * then a file that was shown without a digest gets one.
 */
static int seen_add(struct basis *b, const struct view *v, const struct change *c)
{
	struct object after = c->after;
	bool file = after.type == OBJECT_FILE;
	_cleanup_fd_ int fd =
		v && file && !after.hashed ? changes_open(v, c, CHANGE_AFTER) : -EBADF;
	uint64_t size = 0;

	after.hashed = after.hashed || (fd >= 0 && changes_hash(fd, after.digest, &size) == 0);
	if (!after.hashed && after.type == OBJECT_LINK && after.link)
		seen_hash_link(&after);
	after = seen_of(c, after);
	if (after.type <= OBJECT_LINK && (after.hashed || (!file && after.type != OBJECT_LINK)))
		return basis_set(b, c->path, &after);
	basis_remove(b, c->path);
	return 0;
}

/* The folder above it that is new, or in the place of something else; NULL: there is none. */
static const struct change *seen_above(const struct changes *c, const char *path)
{
	char above[PATH_MAX];

	if (strlen(path) >= sizeof(above))
		return NULL;
	(void)snprintf(above, sizeof(above), "%s", path);
	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		const struct change *up = changes_find(c, above);

		if (up && up->after.type == OBJECT_DIR && up->before.type != OBJECT_DIR)
			return up;
	}
	return NULL;
}

/* A person who sees a path sees that the folders above it are new; but not that one of them is in
 * the place of something else. */
static int seen_add_above(struct basis *b, const struct changes *c, const char *path)
{
	const struct change *up = seen_above(c, path);
	int r = 0;

	for (; r == 0 && up && up->before.type == OBJECT_ABSENT && !basis_find(b, up->path);
	     up = seen_above(c, up->path))
		r = seen_add(b, NULL, up);
	return r;
}

static int seen_write(int session, const struct view *v, const struct changes *c,
		      bool (*shown)(const void *context, size_t i), const void *context,
		      struct error *e)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	/* Two commands that show at the same moment add to it one after the other. */
	_cleanup_fd_ int lock = basis_lock_seen(session);

	if (lock < 0)
		return lock == -ENOENT ? 0 : error_sys(e, lock, "cannot write down what was shown");
	int code = basis_read_seen(session, &b, e);

	if (code < 0)
		return code;
	for (size_t i = 0; code == 0 && i < c->count; i++) {
		if (!shown(context, i) || seen_needs_no_look(&c->items[i]))
			continue;
		code = seen_add_above(&b, c, c->items[i].path);
		if (code == 0)
			code = seen_add(&b, v, &c->items[i]);
	}
	return code < 0 ? error_sys(e, code, "cannot write down what was shown")
			: basis_write_seen(session, &b, e);
}

int seen_keep(const struct review *r, const struct view *v, const struct changes *c,
	      bool (*shown)(const void *context, size_t i), const void *context, struct error *e)
{
	_cleanup_fd_ int session = layers_session_dir(&r->layers, r->session.name, false);

	/* Another command removed the session since: what was shown is nowhere now, and nothing can
	 * land. */
	if (session == -ENOENT)
		return 0;
	if (session < 0)
		return review_lost(e, session, r->session.name);
	if (r->runs)
		return seen_write(session, NULL, c, shown, context, e);
	/* What is not written down counts as not seen, and nothing else depends on it now. */
	(void)seen_write(session, v, c, shown, context, NULL);
	return 0;
}

static void seen_say(const struct choice *x, const char *when, size_t count)
{
	struct text err = text_open(STDERR_FILENO);
	bool known = *when != '\0';

	if (count > SEEN_TOLD)
		return;
	if (count == SEEN_TOLD) {
		text_printf(&err, "and more; 'bawn diff' shows them as they are\n");
		return;
	}
	if (known)
		text_styled(&err, TEXT_WARN, "not as you saw it at %s: ", when);
	else
		text_styled(&err, TEXT_WARN, "not seen yet: ");
	text_printf(&err, "%s\n", x->change->path);
}

static const char seen_other[] = "it is not as you saw it";

/* Nobody looked, or it could not be written down: with --seen nothing lands. */
static int seen_nothing(const struct choices *c, struct error *e)
{
	bool lands = false;

	for (size_t i = 0; i < c->count; i++)
		lands = lands || c->items[i].state == CHOICE_LANDS ||
			c->items[i].state == CHOICE_KEPT;
	if (!lands)
		return 0;
	int r = error_set(e, -ENODATA, "nothing of session %s was shown to you, so nothing lands",
			  c->review->session.name);

	error_next(e, "Run 'bawn diff' first.");
	return r;
}

/* It was shown when nothing could change any more. */
static bool seen_is_last(const struct choices *c, const struct stat *st)
{
	const struct review *r = c->review;

	return !r->runs && r->session.ended && CLOCK_NS(st->st_mtim) >= r->session.ended;
}

/* It lands, or its value lands beside the user's. */
static bool seen_lands(const struct choices *c, const struct choice *x)
{
	bool beside = false;

	for (size_t i = 0; x->state == CHOICE_KEPT && !beside && i < c->beside_count; i++)
		beside = c->beside[i].of == (size_t)(x - c->items);
	return x->state == CHOICE_LANDS || beside;
}

static bool seen_is_same(const struct basis *b, const struct change *c)
{
	const struct basis_entry *was = basis_find(b, c->path);
	const struct object is = seen_of(c, c->after);

	return seen_needs_no_look(c) || (was && basis_same(&was->object, &is));
}

int seen_read(const struct choices *c, struct basis *ret, struct error *e)
{
	return basis_read_seen(c->session, ret, e);
}

bool seen_has(const struct basis *seen, const struct change *c)
{
	return seen_is_same(seen, c);
}

/* It, and the folders that would land with it, are as they were seen. */
static bool seen_is_whole(const struct choices *c, const struct basis *b, const struct change *x)
{
	bool same = seen_is_same(b, x);

	for (const struct change *up = x; same && (up = seen_above(&c->changes, up->path));)
		same = c->items[up - c->changes.items].state == CHOICE_SETTLED ||
		       seen_is_same(b, up);
	return same;
}

/* Both are of one thing (hold.h). */
static bool seen_is_one_thing(const struct change *a, const struct change *b)
{
	return b && a->whole && a->whole == b->whole && memcmp(a->path, b->path, a->whole) == 0;
}

/* What lands as one thing, and is not all as it was seen, does not land: half of it is of no use. */
static void seen_leave_things(struct choices *c)
{
	const struct change *thing = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *unseen = &c->items[i];

		if (unseen->why != seen_other ||
		    (thing && seen_is_one_thing(thing, unseen->change)))
			continue;
		thing = unseen->change;
		for (size_t k = 0; k < c->count; k++) {
			struct choice *x = &c->items[k];

			if (!seen_lands(c, x) || !seen_is_one_thing(thing, x->change))
				continue;
			x->state = CHOICE_LEFT;
			x->why = "it lands as one thing, and not all of that is as you saw it";
		}
	}
}

int seen_check(struct choices *c, bool leave, struct error *e)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	char when[16] = "";
	struct stat st;
	struct tm t;
	size_t count = 0;

	if (fstatat(c->session, BASIS_SEEN_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return leave ? seen_nothing(c, e) : 0;
	if (!leave && seen_is_last(c, &st))
		return 0;
	if (localtime_r(&st.st_mtim.tv_sec, &t))
		(void)strftime(when, sizeof(when), "%H:%M", &t);
	int r = basis_read_seen(c->session, &b, e);

	for (size_t i = 0; r == 0 && i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (!seen_lands(c, x) || seen_is_whole(c, &b, x->change))
			continue;
		seen_say(x, basis_find(&b, x->change->path) ? when : "", count++);
		if (!leave)
			continue;
		x->state = CHOICE_LEFT;
		x->why = seen_other;
	}
	if (r == 0 && leave)
		seen_leave_things(c);
	return r;
}
