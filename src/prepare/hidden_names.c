/* SPDX-License-Identifier: Apache-2.0 */
#include "hidden_names.h"

#include "fd.h"
#include "second_names.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HIDDEN_FOUND_MAX = 64,
	HIDDEN_LOOKED = 1 << 20,
	HIDDEN_PRIVATE_LOOKED = 256, /* in each place */
	HIDDEN_PRIVATE_DEPTH = 2,
};

/* Something that the box must not see. */
struct hidden_place {
	const char *path, *origin;
	bool private, is_dir;
	bool value;  /* a secret's: we promise that nobody inside reads it */
	bool own;    /* bawn's: who writes it from inside decides about the next session */
	bool found;  /* we found another name of it */
	bool unsure; /* we do not know whether those are all */
	bool linked; /* something that it has a link to is hidden */
	/* A link in it leads to all of a folder that the box gets, which therefore is shown; or
	 * NULL. */
	const char *whole;
};

/* Where a link in a private folder leads. */
struct hidden_link {
	const char *path;
	size_t of;
	dev_t dev;
	ino_t ino;
};

struct hidden {
	struct plan *plan;
	struct arena *arena;
	struct hidden_place *places;
	size_t place_count;
	struct hidden_link links[HIDDEN_FOUND_MAX];
	size_t link_count;
	const struct policy *policy;
	const struct host *host;
	const struct plan_mount *in; /* the mount that we walk */
	struct plan_mount found[HIDDEN_FOUND_MAX];
	struct plan_note notes[HIDDEN_FOUND_MAX];
	size_t found_count;
};

/* What bawn keeps in folders of its own: by another name, the box could read or write it.  For a
 * folder this means the files in it; layers and sessions' records are large, and hold what boxes
 * made. */
static const char *const hidden_own[] = {"",
					 "/secrets",
					 "/record/ledger",
					 "/record/seal",
					 "/record/verification",
					 "/record/anchor",
					 "/record/digests"};

static int hidden_list_own(struct hidden *h, const struct host *host)
{
	for (size_t i = 0; i < host->guarded.count; i++) {
		const struct host_object *o = &host->guarded.items[i];

		for (size_t n = 0; n < (o->is_dir ? BAWN_ARRAY_SIZE(hidden_own) : 1); n++) {
			const char *path = arena_printf(h->arena, "%s%s", o->path, hidden_own[n]);

			if (!path)
				return -ENOMEM;
			h->places[h->place_count++] = (struct hidden_place){
				.path = path, .origin = "default", .own = true};
		}
	}
	return 0;
}

/* Lists all that is hidden.  The plan's notes name it, except a secret's file that is outside of
 * what the box gets. */
static int hidden_list(struct hidden *h, const struct policy *policy, const struct host *host)
{
	const struct plan *plan = h->plan;

	h->places = arena_alloc(h->arena, (plan->notes.count + policy->secrets.count +
					   host->guarded.count * BAWN_ARRAY_SIZE(hidden_own) + 1) *
						  sizeof(*h->places));
	if (!h->places)
		return -ENOMEM;
	for (size_t i = 0; i < policy->secrets.count; i++) {
		const struct policy_secret *s = &policy->secrets.items[i];
		const struct host_object *o =
			s->from == POLICY_FROM_FILE ? host_named(host, s->from_text) : NULL;

		if (o && o->path)
			h->places[h->place_count++] = (struct hidden_place){
				.path = o->path, .origin = s->origin, .value = true};
	}
	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *n = &plan->notes.items[i];

		if (n->kind == PLAN_NOTE_HIDDEN)
			h->places[h->place_count++] = (struct hidden_place){
				.path = n->what,
				.origin = n->origin,
				.private = str_equal(n->why, "private place")};
	}
	return hidden_list_own(h, host);
}

/* Whether the mount gives it to the box, in the workspace or in a folder that the user named. */
static bool hidden_is_given(const struct plan_mount *m, const char *path)
{
	return m->kind == PLAN_MOUNT_BIND && str_path_beneath(path, m->source) &&
	       (str_equal(m->role, "workspace") || str_equal(m->role, PLAN_REPOSITORY) ||
		str_equal(m->role, "named"));
}

/* Whether the user names it itself, and not a folder that it is in. */
static bool hidden_is_asked_for(const struct hidden *h, const struct stat *st)
{
	for (size_t i = 0; i < h->policy->read.count + h->policy->write.count; i++) {
		const struct policy_path *p =
			i < h->policy->read.count
				? &h->policy->read.items[i]
				: &h->policy->write.items[i - h->policy->read.count];
		const struct host_object *o = host_named(h->host, p->path);

		if (o && o->path && o->ino == st->st_ino && o->dev == st->st_dev)
			return true;
	}
	return false;
}

static bool hidden_is_given_by(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->plan->mounts.count; i++)
		if (hidden_is_given(&h->plan->mounts.items[i], path))
			return true;
	return false;
}

/* Whether the box may see it: by its path, or by another mount. */
static bool hidden_may_show(const struct hidden *h, const char *path)
{
	struct host_list again = {.count = 0};
	bool may = hidden_is_given_by(h, path);

	if (!may && host_mounted_as(h->host, path, &again, h->arena) == 0)
		for (size_t i = 0; i < again.count; i++)
			may = may || hidden_is_given_by(h, again.items[i].name);
	return may;
}

/* A link in a private folder: keeps where it leads when the box may see that. */
static int hidden_on_link(void *context, int dir, const char *name, size_t of)
{
	struct hidden *h = context;
	struct hidden_place *p = &h->places[of];
	_cleanup_fd_ int fd = p->private ? openat(dir, name, O_PATH | O_CLOEXEC) : -1;
	char at[32], path[PATH_MAX];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	(void)snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(at, path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = '\0';
	if (path[0] != '/' || str_path_beneath(path, p->path) || !hidden_may_show(h, path))
		return 0;
	for (size_t i = 0; i < h->plan->mounts.count; i++)
		if (hidden_is_given(&h->plan->mounts.items[i], path) &&
		    str_equal(path, h->plan->mounts.items[i].source))
			p->whole = h->plan->mounts.items[i].source;
	if (str_equal(path, p->whole ? p->whole : "") || hidden_is_asked_for(h, &st))
		return 0;
	/* Several links may lead there, and a private folder may have several names. */
	for (size_t i = 0; i < h->link_count; i++)
		if (h->links[i].ino == st.st_ino && h->links[i].dev == st.st_dev)
			return 0;
	if (h->link_count == HIDDEN_FOUND_MAX) {
		p->unsure = true;
		return 0;
	}
	const char *kept = arena_str(h->arena, path);

	h->links[h->link_count++] = (struct hidden_link){kept, of, st.st_dev, st.st_ino};
	return kept ? 0 : -ENOMEM;
}

static int hidden_gather(struct hidden *h, struct second_names *n)
{
	for (size_t i = 0; i < h->place_count; i++) {
		struct hidden_place *p = &h->places[i];
		_cleanup_fd_ int fd = open(p->path, O_PATH | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0)
			continue;
		p->is_dir = S_ISDIR(st.st_mode);
		n->left = p->private ? HIDDEN_PRIVATE_LOOKED : HIDDEN_LOOKED;
		n->depth = p->own ? 1 : p->private ? HIDDEN_PRIVATE_DEPTH : SECOND_NAMES_DEPTH;
		n->shallow = p->own || p->private;
		int r = second_names_gather(n, fd, i);

		p->unsure = r == -E2BIG && !p->private;
		if (r < 0 && r != -E2BIG)
			return r;
	}
	/* Also what links in them lead to: that may have more names as well. */
	for (size_t i = 0; i < h->link_count; i++) {
		_cleanup_fd_ int fd = open(h->links[i].path, O_PATH | O_CLOEXEC);

		n->left = HIDDEN_PRIVATE_LOOKED;
		n->depth = HIDDEN_PRIVATE_DEPTH;
		n->shallow = true;
		n->linked = NULL;
		int r = fd < 0 ? 0 : second_names_gather(n, fd, h->links[i].of);

		if (r < 0 && r != -E2BIG)
			return r;
	}
	return 0;
}

/* Whether something else is mounted there: a cover, or a mount that we look at by itself. */
static bool hidden_passes(void *context, const char *path)
{
	const struct hidden *h = context;

	for (size_t i = 0; i < h->plan->mounts.count; i++)
		if (&h->plan->mounts.items[i] != h->in &&
		    str_equal(h->plan->mounts.items[i].target, path))
			return true;
	for (size_t i = 0; i < h->found_count; i++)
		if (str_equal(h->found[i].target, path))
			return true;
	return false;
}

/* Adds a cover, and its note. */
static int hidden_add(struct hidden *h, const char *target, const char *why, const char *origin)
{
	if (!target || !why)
		return -ENOMEM;
	if (h->found_count == HIDDEN_FOUND_MAX)
		return -E2BIG;
	h->notes[h->found_count] = (struct plan_note){
		.kind = PLAN_NOTE_HIDDEN, .what = target, .why = why, .origin = origin};
	h->found[h->found_count++] = (struct plan_mount){.kind = PLAN_MOUNT_HIDE,
							 .access = PLAN_ACCESS_NONE,
							 .target = target,
							 .role = "hidden",
							 .origin = origin};
	return 0;
}

/* --- links ------------------------------------------------------------------------------ */

/* Adds a cover on the path, wherever the box gets it. */
static int hidden_cover(struct hidden *h, const char *path, struct hidden_place *of)
{
	const char *why = arena_printf(h->arena, "a link in %s leads to it", of->path);
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->plan->mounts.count; i++) {
		const struct plan_mount *m = &h->plan->mounts.items[i];

		if (!hidden_is_given(m, path) || str_equal(path, m->source))
			continue;
		of->linked = true;
		r = hidden_add(h,
			       arena_printf(h->arena, "%s%s", m->target, path + strlen(m->source)),
			       why, of->origin);
	}
	return r;
}

/* Covers what links in private folders lead to, by each name that mounts give it. */
static int hidden_cover_links(struct hidden *h)
{
	int r = 0;

	/* When there are too many covers, each place says that they may not be all. */
	for (size_t i = 0; (r == 0 || r == -E2BIG) && i < h->link_count; i++) {
		struct hidden_place *of = &h->places[h->links[i].of];
		struct host_list again = {.count = 0};

		r = hidden_cover(h, h->links[i].path, of);
		if (r == 0)
			r = host_mounted_as(h->host, h->links[i].path, &again, h->arena);
		for (size_t n = 0; r == 0 && n < again.count; n++)
			r = again.items[n].path ? hidden_cover(h, again.items[n].path, of) : 0;
		if (r == -E2BIG)
			of->unsure = true;
	}
	return r == -E2BIG ? 0 : r;
}

/* --- hard links ------------------------------------------------------------------------- */

static const char *hidden_why(struct hidden *h, const struct hidden_place *of)
{
	if (!of)
		return "it cannot be read, and may have another name of what is hidden";
	return arena_printf(h->arena, "another name (hard link) of %s%s",
			    of->is_dir ? "a file in " : "", of->path);
}

static int hidden_on_name(void *context, int fd, const char *path, const struct second_file *file)
{
	struct hidden *h = context;
	struct hidden_place *of = file ? &h->places[file->of] : NULL;
	const char *source =
		arena_printf(h->arena, "%s%s", h->in->source, path + strlen(h->in->target));
	const char *target = arena_str(h->arena, path);
	const char *why = hidden_why(h, of);

	(void)fd;
	if (!source || !target || !why)
		return -ENOMEM;
	/* It is the thing's own name, by which the user shows it. */
	if (of && str_path_beneath(source, of->path))
		return 0;
	int r = hidden_add(h, target, why, of ? of->origin : "default");

	if (r == 0 && of)
		of->found = true;
	return r;
}

/* Whether the mount is a folder of the user, or a file, that the box sees as it is. */
static bool hidden_may_be_in(const struct plan_mount *m)
{
	static const char *const roles[] = {"workspace", PLAN_REPOSITORY, "named", "exposed",
					    "tool"};

	for (size_t i = 0; m->kind == PLAN_MOUNT_BIND && i < BAWN_ARRAY_SIZE(roles); i++)
		if (str_equal(m->role, roles[i]))
			return true;
	return false;
}

/* Whether a later mount at the same place covers this one. */
static bool hidden_is_under(const struct plan *plan, size_t index)
{
	for (size_t i = index + 1; i < plan->mounts.count; i++)
		if (str_equal(plan->mounts.items[i].target, plan->mounts.items[index].target))
			return true;
	return false;
}

static int hidden_find(struct hidden *h, struct second_names *n)
{
	int r = 0;

	n->left = HIDDEN_LOOKED;
	n->depth = SECOND_NAMES_DEPTH;
	n->shallow = false;
	for (size_t i = 0; r == 0 && n->count > 0 && i < h->plan->mounts.count; i++) {
		h->in = &h->plan->mounts.items[i];
		_cleanup_fd_ int fd =
			hidden_may_be_in(h->in) ? open(h->in->source, O_PATH | O_CLOEXEC) : -1;

		if (fd >= 0 && !hidden_is_under(h->plan, i))
			r = second_names_find(n, fd, h->in->target);
		r = r == -EACCES ? 0 : r;
	}
	return r;
}

/* What we say about a place before the command starts; NULL: nothing. */
static const char *hidden_words(const struct hidden *h, const struct hidden_place *p)
{
	if (p->unsure)
		return p->is_dir ? "it has too many files, or links to them, to look at: one that "
				   "has another name (hard link) may not be hidden under that"
				 : "the file has more names (hard links), and may not be hidden "
				   "under all of those: there is too much to look at";
	if ((p->private || p->own) && p->found)
		return "it has another name (hard link) in a folder that the box is given, and is "
		       "hidden there, too";
	if (p->linked)
		return "it has a link to something in a folder that the box is given, and that is "
		       "hidden there, too; --read of that very thing shows it";
	if (p->whole)
		return arena_printf(h->arena,
				    "it has a link to %s, which the box is given as a whole: what "
				    "is there is not hidden",
				    p->whole);
	return NULL;
}

static int hidden_put(struct hidden *h)
{
	struct plan *p = h->plan;
	size_t mounts = p->mounts.count + h->found_count;
	size_t notes = p->notes.count + h->found_count + h->place_count;
	struct plan_mount *all = arena_alloc(h->arena, (mounts + 1) * sizeof(*all));
	struct plan_note *said = arena_alloc(h->arena, (notes + 1) * sizeof(*said));

	if (!all || !said)
		return -ENOMEM;
	for (size_t i = 0; i < mounts; i++)
		all[i] = i < p->mounts.count ? p->mounts.items[i] : h->found[i - p->mounts.count];
	for (size_t i = 0; i < p->notes.count + h->found_count; i++)
		said[i] = i < p->notes.count ? p->notes.items[i] : h->notes[i - p->notes.count];
	p->mounts.items = all;
	p->mounts.count = mounts;
	p->notes.items = said;
	p->notes.count += h->found_count;
	for (size_t i = 0; i < h->place_count; i++) {
		const struct hidden_place *place = &h->places[i];
		const char *words = hidden_words(h, place);

		if (words)
			said[p->notes.count++] = (struct plan_note){
				.kind = PLAN_NOTE_WARNING,
				.what = arena_printf(h->arena, "hide %s", place->path),
				.why = words,
				.origin = place->origin,
				.said = place->unsure,
				.softly = true};
	}
	return 0;
}

static int hidden_refuse(const struct hidden_place *p, struct error *e)
{
	int r = error_set(e, -E2BIG,
			  "%s, %s, has more names (hard links), and there is too much to look at "
			  "to find them",
			  p->path, p->own ? "which is bawn's own" : "from which a secret is read");

	error_next(e, "Make it a file of its own: cp it, and mv the copy over it.");
	return r;
}

int hidden_names(struct plan *plan, const struct policy *policy, const struct host *host,
		 struct arena *arena, struct error *e)
{
	static struct hidden h;
	_cleanup_second_names_ struct second_names n = SECOND_NAMES_INIT;

	h = (struct hidden){.plan = plan, .policy = policy, .host = host, .arena = arena};
	n.passes = hidden_passes;
	n.found = hidden_on_name;
	n.linked = hidden_on_link;
	n.context = &h;
	int r = hidden_list(&h, policy, host);

	if (r == 0)
		r = hidden_gather(&h, &n);
	if (r == 0)
		r = hidden_cover_links(&h);
	if (r == 0)
		r = hidden_find(&h, &n);
	/* Each of them may have names that we did not reach. */
	for (size_t i = 0; r == -E2BIG && i < n.count; i++)
		h.places[n.files[i].of].unsure = true;
	for (size_t i = 0; i < h.place_count; i++)
		if ((h.places[i].value || h.places[i].own) && h.places[i].unsure)
			return hidden_refuse(&h.places[i], e);
	if (r == 0 || r == -E2BIG)
		r = hidden_put(&h);
	return r < 0 ? error_sys(e, r, "cannot look for other names of what is hidden") : 0;
}
