/* SPDX-License-Identifier: Apache-2.0 */
/* Folders, their parts, and places.  hold_where.c finds them, and the judgement asks for them. */
#include "hold_commits.h"

#include "fnv.h"
#include "git_refs.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>

int hold_no_memory(struct hold_judge *j)
{
	return error_set(j->error, -ENOMEM, "no memory to look at the changed folders");
}

/* --- folders -------------------------------------------------------------------------- */

const struct hold_dir *hold_dir_find(const struct hold_judge *j, const char *path, size_t len)
{
	uint32_t bucket = fnv_bytes(FNV_START, path, len) % HOLD_DIR_BUCKETS;
	const struct hold_dir *d = j->dirs[bucket];

	while (d && !(d->len == len && memcmp(d->path, path, len) == 0))
		d = d->next;
	return d;
}

struct hold_dir *hold_dir_new(struct hold_judge *j, const char *path, size_t len)
{
	struct hold_dir *d = arena_alloc(&j->arena, sizeof(*d));
	uint32_t bucket = fnv_bytes(FNV_START, path, len) % HOLD_DIR_BUCKETS;

	if (!d)
		return NULL;
	d->path = arena_strn(&j->arena, path, len);
	d->len = len;
	d->next = j->dirs[bucket];
	j->dirs[bucket] = d;
	return d->path ? d : NULL;
}

const char *hold_join(struct hold_judge *j, const char *dir, const char *name)
{
	return arena_printf(&j->arena, "%s%s%s", dir, *dir ? "/" : "", name);
}

unsigned int hold_type(const struct view *v, const char *path)
{
	struct object o;

	return path && view_look(v, path, &o) == 0 ? o.type : OBJECT_ABSENT;
}

/* --- gitdirs -------------------------------------------------------------------------- */

/* The folder is a repository: it has these parts, or one view has them, or the other view (NULL:
 * there is none). */
static bool hold_is_gitdir(const struct view *v, const struct view *other, const char *dir,
			   unsigned int parts)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < GIT_HAS_COUNT; i++) {
		if (!(parts >> i & 1) && git_join(path, dir, git_parts[i]) &&
		    (hold_type(v, path) != OBJECT_ABSENT ||
		     (other && hold_type(other, path) != OBJECT_ABSENT)))
			parts |= 1u << i;
		/* Most folders have no HEAD, and the first look shows that. */
		if (!(parts & GIT_HAS_HEAD))
			return false;
	}
	return git_is_repository(parts);
}

void hold_look_member(struct hold_judge *j, struct hold_dir *d, unsigned int had, unsigned int has)
{
	if (d->member)
		return;
	d->member = true;
	/* A part that the session removed stays if the removal does not land. */
	d->is_gitdir = hold_is_gitdir(j->view, &j->before, d->path, had | has);
	d->was_gitdir = d->is_gitdir &&
			(git_is_repository(had) || hold_is_gitdir(&j->before, NULL, d->path, 0));
}

/* --- parts in what a commit or an index brings ---------------------------------------------- */

/* A folder in it, and which parts of a repository it has. */
struct hold_part {
	struct hold_part *next; /* the next in its bucket */
	struct hold_dir dir;
	unsigned int was, is;
};

static struct hold_part **part_bucket(struct hold_parts *p, const char *path, size_t len)
{
	return &p->buckets[fnv_bytes(FNV_START, path, len) % HOLD_PART_BUCKETS];
}

static struct hold_part *part_find(struct hold_parts *p, const char *path, size_t len)
{
	struct hold_part *one = *part_bucket(p, path, len);

	while (one && !(one->dir.len == len && memcmp(one->dir.path, path, len) == 0))
		one = one->next;
	return one;
}

static struct hold_part *part_new(struct hold_parts *p, const char *path, size_t len)
{
	struct hold_part **bucket = part_bucket(p, path, len);
	struct hold_part *one = arena_alloc(&p->arena, sizeof(*one));
	const char *copy = one ? arena_strn(&p->arena, path, len) : NULL;

	if (!copy)
		return NULL;
	*one = (struct hold_part){.next = *bucket, .dir = {.path = copy, .len = len}};
	return *bucket = one;
}

int hold_part_note(struct hold_parts *p, const char *path, size_t len, unsigned int was,
		   unsigned int is)
{
	struct hold_part *one = part_find(p, path, len);

	if (!one)
		one = part_new(p, path, len);
	if (!one)
		return -ENOMEM;
	one->was |= was;
	one->is |= is;
	return 0;
}

int hold_brought_dir(struct hold_judge *j, const char *path, size_t len,
		     const struct hold_dir **ret)
{
	const char *next = path + len + (len > 0);
	struct hold_part *one = j->parts ? part_find(j->parts, path, len) : NULL;

	*ret = NULL;
	if (!one && (!j->parts || !git_is_member(next, strcspn(next, "/")))) {
		*ret = hold_dir_find(j, path, len);
		return 0;
	}
	if (!one)
		one = part_new(j->parts, path, len);
	if (!one)
		return hold_no_memory(j);
	hold_look_member(j, &one->dir, one->was, one->is);
	*ret = &one->dir;
	return 0;
}

/* --- places --------------------------------------------------------------------------- */

/* Keeps the sums of a place for which there is no room: of the place, and of the folders above it,
 * because a link can come in the place of such a folder. */
static void place_more(struct hold_judge *j, const char *path)
{
	hold_sum_add(j, path, strlen(path), HOLD_NAME_PLACE);
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		hold_sum_add(j, path, (size_t)(slash - path), HOLD_NAME_ABOVE);
}

bool hold_is_place_beyond(const struct hold_judge *j, const struct change *c)
{
	size_t len = strlen(c->path);
	bool is = false;

	if (j->place_count <= HOLD_PLACES_MAX)
		return false;
	for (size_t at = 0; at <= len && !is; at++)
		is = (at == 0 || at == len || c->path[at] == '/') &&
		     hold_sum_has(j, c->path, at, HOLD_NAME_PLACE);
	return is ||
	       (c->after.type == OBJECT_LINK && hold_sum_has(j, c->path, len, HOLD_NAME_ABOVE));
}

static int place_put(struct hold_judge *j, const char *path, unsigned int row, bool but_git,
		     const char *why)
{
	if (++j->place_count > HOLD_PLACES_MAX) {
		place_more(j, path);
		return 0;
	}
	struct hold_place *p = arena_alloc(&j->arena, sizeof(*p));

	if (!p)
		return hold_no_memory(j);
	/* The reason lives longer than this judgement. */
	*p = (struct hold_place){.next = j->places,
				 .path = arena_str(&j->arena, path),
				 .row = row,
				 .most = HOLD_HOLD,
				 .but_git = but_git,
				 .why = arena_str(&j->changes->arena, why)};
	j->places = p;
	return p->path && p->why ? 0 : hold_no_memory(j);
}

/* Adds the place, and what its links lead to. */
static int place_put_both(struct hold_judge *j, const char *path, const char *rule, bool but_git,
			  const char *why)
{
	unsigned int row = hold_row_of(rule);
	char leads[PATH_MAX];

	if (row == hold_row_count)
		return 0;
	int r = hold_leads(j, path, leads) ? place_put(j, leads, row, but_git, why) : 0;

	return r < 0 ? r : place_put(j, path, row, but_git, why);
}

int hold_place_add(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return place_put_both(j, path, rule, false, why);
}

int hold_place_home(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return place_put_both(j, path, rule, true, why);
}

int hold_includes_add(struct hold_judge *j, struct hold_includes *more, const char *path)
{
	for (size_t i = 0; i < more->count; i++)
		if (str_equal(more->files[i], path))
			return 0;
	if (more->count == HOLD_INCLUDES_MAX)
		return hold_give_up(j,
				    "%.150s and those before it include more files of settings "
				    "than bawn reads (%d): what the others name is not known",
				    more->files[0], HOLD_INCLUDES_MAX);
	more->files[more->count] = arena_str(&j->arena, path);
	return more->files[more->count++] ? 0 : hold_no_memory(j);
}

bool hold_gitdir_of(const struct hold_judge *j, const char *path, char into[PATH_MAX],
		    const char **ret_rest)
{
	for (const char *at = path + strlen(path); at >= path; at--) {
		if (at > path && *at != '/')
			continue;
		size_t len = (size_t)(at - path);
		const struct hold_dir *d = hold_dir_find(j, path, len);

		if (!d || !d->is_gitdir || len >= PATH_MAX)
			continue;
		memcpy(into, path, len);
		into[len] = '\0';
		*ret_rest = path + len + (len > 0);
		return true;
	}
	return false;
}
