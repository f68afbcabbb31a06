/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not worth a line of its own.
 *
 *	directories	are told by what is in them, unless nothing is
 *	moved as a whole	a directory all of whose files went to another: one line
 *	git		objects, refs, index and logs of a repository: a few lines for each.
 *			Only what is ordinary: whatever a hold is about keeps its own line
 */
#include "diff_parts.h"

#include "fd.h"
#include "str.h"

#include <stdio.h>
#include <unistd.h>

enum {
	FOLD_SCAN_MAX = 8 << 20, /* steps in search of moved directories, in all */
	FOLD_SHORT = 10,         /* digits of an object's name */
};

/* The first change at or behind this path. */
static size_t fold_first(const struct diff *d, const char *path)
{
	size_t low = 0;
	size_t high = d->changes.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(d->changes.items[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool fold_is_beneath(const char *path, const char *dir, size_t len)
{
	return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* --- directories ---------------------------------------------------------------------- */

/* Each directory on the way to a path is told by that. */
static int fold_ancestors(struct diff *d, const char *path, bool gone)
{
	_cleanup_free_ char *above = strdup(path);

	if (!above)
		return -ENOMEM;
	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		const struct change *c = changes_find(&d->changes, above);
		size_t i = c ? (size_t)(c - d->changes.items) : 0;

		/* All above it are told as well, then. */
		if (c && d->fates[i] == DIFF_SILENT)
			break;
		if (c && d->fates[i] == DIFF_SHOWN &&
		    ((c->kind == CHANGE_ADDED && !gone) || (c->kind == CHANGE_DELETED && gone)))
			d->fates[i] = DIFF_SILENT;
	}
	return 0;
}

static int fold_directories(struct diff *d)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (d->fates[i] == DIFF_AWAY)
			continue;
		r = fold_ancestors(d, c->path, c->kind == CHANGE_DELETED);
		if (r == 0 && c->from)
			r = fold_ancestors(d, c->from, true);
	}
	return r;
}

/* --- moved as a whole ----------------------------------------------------------------- */

/* The parts at the ends that both paths share are taken off; what is left is where it came from
 * and went to.  False when a name changed, or nothing is left on one side. */
static bool fold_roots(const struct change *c, size_t *ret_from, size_t *ret_to)
{
	size_t i = strlen(c->from);
	size_t j = strlen(c->path);
	size_t from = 0;
	size_t to = 0;

	while (i > 0 && j > 0 && c->from[i - 1] == c->path[j - 1]) {
		i--;
		j--;
		if (c->from[i] == '/') {
			from = i;
			to = j;
		}
	}
	*ret_from = from;
	*ret_to = to;
	return from > 0 && to > 0;
}

static bool fold_is_plain_move(const struct change *c)
{
	return c->kind == CHANGE_RENAMED && c->group == CHANGE_ORDINARY && !c->without &&
	       c->before.mode == c->after.mode;
}

struct fold_move {
	const char *from, *to;
	size_t from_len, to_len;
	size_t files;
};

/* Everything in the new place came from the old one, and nothing else is gone there. */
static bool fold_is_whole(struct diff *d, struct fold_move *m, size_t *budget)
{
	m->files = 0;
	for (size_t side = 0; side < 2; side++) {
		const char *dir = side ? m->from : m->to;
		size_t len = side ? m->from_len : m->to_len;
		_cleanup_free_ char *beneath = malloc(len + 2);

		if (!beneath)
			return false;
		(void)snprintf(beneath, len + 2, "%.*s/", (int)len, dir);
		for (size_t i = fold_first(d, beneath);
		     i < d->changes.count && fold_is_beneath(d->changes.items[i].path, dir, len);
		     i++) {
			const struct change *c = &d->changes.items[i];
			size_t from = 0;
			size_t to = 0;

			if ((*budget)-- == 0 || d->fates[i] == DIFF_AWAY) {
				*budget = *budget == SIZE_MAX ? 0 : *budget;
				return false;
			}
			if (!diff_is_file(c))
				continue;
			if (side || !fold_is_plain_move(c) || !fold_roots(c, &from, &to) ||
			    from != m->from_len || to != m->to_len ||
			    strncmp(c->from, m->from, from) != 0)
				return false;
			m->files++;
		}
	}
	return m->files > 1;
}

static bool fold_is_dir(const struct diff *d, const char *path, size_t len, unsigned int kind)
{
	_cleanup_free_ char *dir = strndup(path, len);
	const struct change *c = dir ? changes_find(&d->changes, dir) : NULL;

	return c && c->kind == kind && !diff_is_file(c);
}

/* The move that this change is part of. */
static bool fold_move_of(const struct diff *d, const struct change *c, struct fold_move *m)
{
	*m = (struct fold_move){.from = c->from, .to = c->path};
	return fold_is_plain_move(c) && fold_roots(c, &m->from_len, &m->to_len) &&
	       fold_is_dir(d, m->to, m->to_len, CHANGE_ADDED) &&
	       fold_is_dir(d, m->from, m->from_len, CHANGE_DELETED);
}

static void fold_moves(struct diff *d)
{
	size_t budget = FOLD_SCAN_MAX;

	for (size_t i = 0; budget > 0 && i < d->changes.count; i++) {
		struct fold_move m;

		if (d->fates[i] != DIFF_SHOWN || !fold_move_of(d, &d->changes.items[i], &m) ||
		    !fold_is_whole(d, &m, &budget))
			continue;
		for (size_t j = i; j < d->changes.count &&
				   fold_is_beneath(d->changes.items[j].path, m.to, m.to_len);
		     j++)
			if (d->fates[j] == DIFF_SHOWN)
				d->fates[j] = DIFF_MOVED;
	}
}

int diff_put_moves(struct diff *d, struct error *e)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		struct fold_move m;
		size_t files = 0;

		if (d->fates[i] != DIFF_MOVED || !fold_move_of(d, &d->changes.items[i], &m))
			continue;
		for (; i < d->changes.count &&
		       fold_is_beneath(d->changes.items[i].path, m.to, m.to_len);
		     i++)
			files += d->fates[i] == DIFF_MOVED;
		i--;
		diff_put(d, TEXT_PLAIN, "%-*s", DIFF_STATUS, change_kind_words[CHANGE_RENAMED]);
		diff_put(d, TEXT_STRONG, "%.*s/ -> %.*s/", (int)m.from_len, m.from, (int)m.to_len,
			 m.to);
		diff_put(d, TEXT_PLAIN, " (%zu files)", files);
		diff_end_line(d);
	}
	(void)e;
	return 0;
}

/* --- git ------------------------------------------------------------------------------ */

enum fold_git {
	GIT_NOT,
	GIT_OBJECT,
	GIT_PACK,
	GIT_REF,
	GIT_PACKED,
	GIT_HEAD,
	GIT_INDEX,
	GIT_LOG,
	GIT_OTHER,
	GIT_KIND_COUNT,
};

/* Which of git's own files it is; *ret_len: of the path up to ".git" and with it. */
static enum fold_git fold_git_of(const struct change *c, size_t *ret_len)
{
	static const struct {
		const char *name;
		enum fold_git kind;
		bool within; /* what begins so; else the very name */
	} rows[] = {
		{"refs", GIT_REF, true},
		{"logs", GIT_LOG, true},
		{"HEAD", GIT_HEAD, false},
		{"index", GIT_INDEX, false},
		{"packed-refs", GIT_PACKED, false},
		{"ORIG_HEAD", GIT_OTHER, false},
		{"FETCH_HEAD", GIT_OTHER, false},
		{"COMMIT_EDITMSG", GIT_OTHER, false},
		{"MERGE_HEAD", GIT_OTHER, false},
		{"MERGE_MSG", GIT_OTHER, false},
		{"MERGE_MODE", GIT_OTHER, false},
	};
	const char *git = git_rest(c->path);

	if (!git)
		return GIT_NOT;
	*ret_len = (size_t)(git - c->path) - 1;
	/* What has no name of git's is shown for itself. */
	if (str_after(git, "objects/"))
		return !change_is_git_object(c)                  ? GIT_NOT
		       : git_place_of(c->path) == GIT_PLACE_PACK ? GIT_PACK
								 : GIT_OBJECT;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *rest = str_after(git, rows[i].name);

		if (rest && (!*rest || (rows[i].within && (*rest == '/' || rest[-1] == '/'))))
			return rows[i].kind;
	}
	return GIT_NOT;
}

static bool fold_asks_for_git(const struct picks *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (strstr(p->specs[i].typed, ".git"))
			return true;
	return false;
}

static void fold_git(struct diff *d)
{
	size_t len = 0;

	if (fold_asks_for_git(&d->picks))
		return;
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		/* What goes with another change is told by that. */
		if (d->fates[i] == DIFF_SHOWN && c->with && !c->moved)
			d->fates[i] = DIFF_SILENT;
		else if (d->fates[i] == DIFF_SHOWN && c->group == CHANGE_ORDINARY &&
			 fold_git_of(c, &len) != GIT_NOT)
			d->fates[i] = DIFF_GIT;
	}
}

/* What a ref says, in short: "abc123", "refs/heads/main", or nothing. */
static void fold_read_ref(const struct diff *d, const struct change *c, enum change_side side,
			  char ret[80])
{
	char text[256];
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	_cleanup_fd_ int fd = o->type == OBJECT_FILE ? changes_open(&d->view, c, side) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	const char *ref = str_after(text, "ref: ");
	size_t digits = strspn(text, "0123456789abcdef");

	if (ref)
		(void)snprintf(ret, 80, "%.79s", ref);
	else if (digits >= 40 && !text[digits])
		(void)snprintf(ret, 80, "%.*s", FOLD_SHORT, text);
	else
		(void)snprintf(ret, 80, "%s", o->type == OBJECT_ABSENT ? "nothing" : "?");
}

static void fold_put_ref(struct diff *d, const struct change *c, const char *name)
{
	char before[80];
	char after[80];

	fold_read_ref(d, c, CHANGE_BEFORE, before);
	fold_read_ref(d, c, CHANGE_AFTER, after);
	diff_put(d, TEXT_PLAIN, "%*s%s ", DIFF_STATUS, "", name);
	if (c->kind == CHANGE_ADDED)
		diff_put(d, TEXT_PLAIN, "is new: %s", after);
	else if (c->kind == CHANGE_DELETED)
		diff_put(d, TEXT_PLAIN, "is deleted: was %s", before);
	else
		diff_put(d, TEXT_PLAIN, "moved %s -> %s", before, after);
	diff_end_line(d);
}

static void fold_put_counts(struct diff *d, const char *repository, size_t len,
			    const size_t counts[GIT_KIND_COUNT], const size_t gone[GIT_KIND_COUNT])
{
	static const char *const words[GIT_KIND_COUNT][2] = {
		[GIT_OBJECT] = {"object", "objects"}, [GIT_PACK] = {"pack file", "pack files"},
		[GIT_REF] = {"ref", "refs"},          [GIT_PACKED] = {"packed-refs", "packed-refs"},
		[GIT_HEAD] = {"HEAD", "HEAD"},        [GIT_INDEX] = {"index", "index"},
		[GIT_LOG] = {"log", "logs"},          [GIT_OTHER] = {"other", "others"},
	};
	const char *between = ": ";

	diff_put(d, TEXT_PLAIN, "%-*s", DIFF_STATUS, "git");
	diff_put(d, TEXT_STRONG, "%.*s", (int)len, repository);
	for (size_t i = 0; i < GIT_KIND_COUNT; i++) {
		if (counts[i] == 0)
			continue;
		if (i == GIT_HEAD || i == GIT_INDEX || i == GIT_PACKED)
			diff_put(d, TEXT_PLAIN, "%s%s", between, words[i][0]);
		else
			diff_put(d, TEXT_PLAIN, "%s%zu %s", between, counts[i],
				 words[i][counts[i] != 1]);
		if ((i == GIT_OBJECT || i == GIT_PACK) && gone[i])
			diff_put(d, TEXT_WARN, " (%zu deleted)", gone[i]);
		between = ", ";
	}
	diff_end_line(d);
}

/* One repository, whose first change is i.  What lies beneath and is another's (a submodule's, a
 * worktree's) is not told by this. */
static int fold_put_repository(struct diff *d, size_t i, bool *told, struct error *e)
{
	size_t counts[GIT_KIND_COUNT] = {0};
	size_t gone[GIT_KIND_COUNT] = {0};
	const char *repository = d->changes.items[i].path;
	size_t len = 0;
	size_t own = 0;
	size_t head = SIZE_MAX;

	(void)fold_git_of(&d->changes.items[i], &len);
	for (; i < d->changes.count && fold_is_beneath(d->changes.items[i].path, repository, len);
	     i++) {
		const struct change *c = &d->changes.items[i];
		enum fold_git kind = diff_is_file(c) ? fold_git_of(c, &own) : GIT_NOT;

		if (d->fates[i] != DIFF_GIT || kind == GIT_NOT || own != len)
			continue;
		told[i] = true;
		counts[kind]++;
		gone[kind] += c->after.type == OBJECT_ABSENT;
		if (kind == GIT_HEAD)
			head = i;
	}
	fold_put_counts(d, repository, len, counts, gone);
	if (head != SIZE_MAX)
		fold_put_ref(d, &d->changes.items[head], d->changes.items[head].path + len + 1);
	_cleanup_free_ char *gitdir = strndup(repository, len);

	if (!gitdir)
		return error_sys(e, -ENOMEM, "cannot show the refs of %s", repository);
	return counts[GIT_REF] + counts[GIT_PACKED] ? diff_put_refs(d, gitdir, e) : 0;
}

int diff_put_git(struct diff *d, struct error *e)
{
	_cleanup_free_ bool *told = calloc(d->changes.count + 1, sizeof(*told));
	int r = 0;

	if (!told)
		return error_sys(e, -ENOMEM, "cannot show the repositories");
	for (size_t i = 0; r == 0 && i < d->changes.count; i++)
		if (d->fates[i] == DIFF_GIT && !told[i] && diff_is_file(&d->changes.items[i]))
			r = fold_put_repository(d, i, told, e);
	return r;
}

int diff_fold(struct diff *d, struct error *e)
{
	int r = fold_directories(d);

	if (r < 0)
		return error_sys(e, r, "cannot sort %zu changes", d->changes.count);
	fold_git(d);
	fold_moves(d);
	return 0;
}
