/* SPDX-License-Identifier: Apache-2.0 */
/* The lines for changes that are not worth a line of their own (folding.h), and one more kind of
 * these: a directory of which all files went to another. */
#include "diff_parts.h"

#include "array.h"
#include "fd.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	FOLD_SCAN_MAX = 8 << 20, /* most steps to look for moved directories, in all */
	FOLD_SHORT = 10,         /* digits of an object's name */
	FOLD_COMMITS = 20,       /* most commits of a repository that are named */
	FOLD_LINE_MAX = 64 << 10,
};

size_t diff_first(const struct diff *d, const char *path)
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

/* --- moved as a whole ----------------------------------------------------------------- */

/* Takes off the equal parts at the ends of both paths; what is left is where it came from and went
 * to.  False: the last name changed, or nothing is left on one side. */
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
		for (size_t i = diff_first(d, beneath);
		     i < d->changes.count && fold_is_beneath(d->changes.items[i].path, dir, len);
		     i++) {
			const struct change *c = &d->changes.items[i];
			size_t from = 0;
			size_t to = 0;

			if ((*budget)-- == 0 || d->folding.fates[i] == DIFF_AWAY) {
				*budget = *budget == SIZE_MAX ? 0 : *budget;
				return false;
			}
			if (!folding_is_file(c))
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

	return c && c->kind == kind && !folding_is_file(c);
}

/* Finds the move that this change is part of. */
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

		if (d->folding.fates[i] != DIFF_SHOWN ||
		    !fold_move_of(d, &d->changes.items[i], &m) || !fold_is_whole(d, &m, &budget))
			continue;
		for (size_t j = i; j < d->changes.count &&
				   fold_is_beneath(d->changes.items[j].path, m.to, m.to_len);
		     j++)
			if (d->folding.fates[j] == DIFF_SHOWN)
				d->folding.fates[j] = DIFF_MOVED;
	}
}

int diff_put_moves(struct diff *d, struct error *e)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		struct fold_move m;
		size_t files = 0;

		if (d->folding.fates[i] != DIFF_MOVED || !fold_move_of(d, &d->changes.items[i], &m))
			continue;
		for (; i < d->changes.count &&
		       fold_is_beneath(d->changes.items[i].path, m.to, m.to_len);
		     i++)
			files += d->folding.fates[i] == DIFF_MOVED;
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

/* The value of a ref, in short: "abc123", "refs/heads/main", or "nothing". */
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

/* Puts what the session committed in this repository. */
static void fold_put_commits(struct diff *d, const char *gitdir)
{
	size_t count = 0;

	for (size_t i = 0; i < d->commits.count; i++) {
		const struct new_commit *c = &d->commits.items[i];

		if (!str_equal(c->gitdir, gitdir) || ++count > FOLD_COMMITS)
			continue;
		diff_put(d, TEXT_PLAIN, "%-*s", DIFF_STATUS, "commit");
		diff_put(d, TEXT_STRONG, "%s", c->name);
		diff_put(d, TEXT_PLAIN, " %s", c->subject);
		if (*c->author)
			diff_put(d, TEXT_FAINT, " (%s)", c->author);
		diff_end_line(d);
	}
	if (count > FOLD_COMMITS) {
		diff_put(d, TEXT_PLAIN, "%*sand %zu more commits", DIFF_STATUS, "",
			 count - FOLD_COMMITS);
		diff_end_line(d);
	}
	if (d->commits.cut) {
		diff_put(d, TEXT_WARN, "%*s" NEW_COMMITS_CUT, DIFF_STATUS, "");
		diff_end_line(d);
	}
}

static void fold_put_counts(struct diff *d, const char *repository, size_t len,
			    const size_t counts[FOLDED_COUNT], const size_t gone[FOLDED_COUNT])
{
	static const char *const words[FOLDED_COUNT][2] = {
		[FOLDED_OBJECT] = {"object", "objects"},
		[FOLDED_PACK] = {"pack file", "pack files"},
		[FOLDED_REF] = {"ref", "refs"},
		[FOLDED_PACKED] = {"packed-refs", "packed-refs"},
		[FOLDED_HEAD] = {"HEAD", "HEAD"},
		[FOLDED_INDEX] = {"index", "index"},
		[FOLDED_LOG] = {"log", "logs"},
		[FOLDED_OTHER] = {"other", "others"},
	};
	const char *between = ": ";

	diff_put(d, TEXT_PLAIN, "%-*s", DIFF_STATUS, "git");
	diff_put(d, TEXT_STRONG, "%.*s", (int)len, repository);
	for (size_t i = 0; i < FOLDED_COUNT; i++) {
		if (counts[i] == 0)
			continue;
		if (i == FOLDED_HEAD || i == FOLDED_INDEX || i == FOLDED_PACKED)
			diff_put(d, TEXT_PLAIN, "%s%s", between, words[i][0]);
		else
			diff_put(d, TEXT_PLAIN, "%s%zu %s", between, counts[i],
				 words[i][counts[i] != 1]);
		if ((i == FOLDED_OBJECT || i == FOLDED_PACK) && gone[i])
			diff_put(d, TEXT_WARN, " (%zu deleted)", gone[i]);
		between = ", ";
	}
	diff_end_line(d);
}

/* Puts one repository, whose first change is i.  It does not put what is beneath it and belongs to
 * another (a submodule's, a worktree's). */
static int fold_put_repository(struct diff *d, size_t i, bool *told, struct error *e)
{
	size_t counts[FOLDED_COUNT] = {0};
	size_t gone[FOLDED_COUNT] = {0};
	const char *repository = d->changes.items[i].path;
	size_t len = 0;
	size_t own = 0;
	size_t head = SIZE_MAX;

	(void)folding_git_of(&d->changes.items[i], &len);
	for (; i < d->changes.count && fold_is_beneath(d->changes.items[i].path, repository, len);
	     i++) {
		const struct change *c = &d->changes.items[i];
		enum folding_git kind = folding_is_file(c) ? folding_git_of(c, &own) : FOLDED_NOT;

		if (d->folding.fates[i] != DIFF_GIT || kind == FOLDED_NOT || own != len)
			continue;
		told[i] = true;
		counts[kind]++;
		gone[kind] += c->after.type == OBJECT_ABSENT;
		if (kind == FOLDED_HEAD)
			head = i;
	}
	_cleanup_free_ char *gitdir = strndup(repository, len);

	if (!gitdir)
		return error_sys(e, -ENOMEM, "cannot show the refs of %s", repository);
	fold_put_commits(d, gitdir);
	fold_put_counts(d, repository, len, counts, gone);
	if (head != SIZE_MAX)
		fold_put_ref(d, &d->changes.items[head], d->changes.items[head].path + len + 1);
	return counts[FOLDED_REF] + counts[FOLDED_PACKED] ? diff_put_refs(d, gitdir, e) : 0;
}

/* Puts branches that go back. */
static void fold_put_lost(struct diff *d)
{
	for (size_t i = 0; i < d->commits.lost_count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(FOLD_LINE_MAX);

		lost_commits_put(&line, &d->commits.lost[i]);
		diff_put(d, TEXT_WARN, "%-*s%s", DIFF_STATUS, "back", buf_str(&line));
		diff_end_line(d);
	}
}

int diff_put_git(struct diff *d, struct error *e)
{
	_cleanup_free_ bool *told = calloc(d->changes.count + 1, sizeof(*told));
	int r = 0;

	if (!told)
		return error_sys(e, -ENOMEM, "cannot show the repositories");
	fold_put_lost(d);
	for (size_t i = 0; r == 0 && i < d->changes.count; i++)
		if (d->folding.fates[i] == DIFF_GIT && !told[i] &&
		    folding_is_file(&d->changes.items[i]))
			r = fold_put_repository(d, i, told, e);
	return r;
}

/* --- heaps ---------------------------------------------------------------------------- */

void diff_put_heaps(struct diff *d)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(DIFF_OUT_MAX);
	size_t told = heaps_put(&lines, &d->folding, "");

	if (told == 0)
		return;
	buf_put(&d->out, lines.ptr, lines.len);
	diff_put(d, TEXT_FAINT, "%*s'bawn diff FOLDER' looks into %s", DIFF_STATUS, "",
		 told == 1 ? "it" : "one of them");
	diff_end_line(d);
}

void diff_put_waiting(struct diff *d)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(DIFF_OUT_MAX);

	(void)heaps_put_waiting(&lines, &d->folding, "", NULL);
	buf_put(&d->out, lines.ptr, lines.len);
}

struct fold_rule {
	const char *rule, *why;
	size_t count;
	const char *names[FOLDING_FEW];
};

static int fold_rule_order(const void *a, const void *b)
{
	const struct fold_rule *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return strcmp(x->rule, y->rule);
}

static void fold_put_rule(struct diff *d, const struct fold_rule *r)
{
	char shown[REVIEW_PATH_SHOWN];

	diff_put(d, TEXT_PLAIN, "%*sflagged by %s, %zu in what is folded", DIFF_STATUS, "", r->rule,
		 r->count);
	for (size_t i = 0; i < r->count && i < FOLDING_FEW; i++)
		diff_put(d, TEXT_PLAIN, "%s%s", i ? ", " : ": ",
			 review_shown_path(r->names[i], shown));
	if (r->count > FOLDING_FEW)
		diff_put(d, TEXT_PLAIN, " and %zu more", r->count - FOLDING_FEW);
	diff_end_line(d);
	if (r->count == 1 && r->why) {
		diff_put(d, TEXT_PLAIN, "%*s%s", DIFF_STATUS + 2, "", r->why);
		diff_end_line(d);
	}
}

void diff_put_heaped_rules(struct diff *d)
{
	_cleanup_free_ struct fold_rule *rules = NULL;
	size_t count = 0;

	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];
		size_t n = 0;

		if (d->folding.fates[i] != DIFF_HEAP || c->group != CHANGE_FLAGGED)
			continue;
		const char *rule = c->rule ? c->rule : "";

		while (n < count && !str_equal(rules[n].rule, rule))
			n++;
		if (n == count) {
			if (!ARRAY_GROW(rules, count))
				return;
			rules[count++] = (struct fold_rule){.rule = rule, .why = c->why};
		}
		if (rules[n].count < FOLDING_FEW)
			rules[n].names[rules[n].count] = c->path;
		rules[n].count++;
	}
	if (count > 1)
		qsort(rules, count, sizeof(*rules), fold_rule_order);
	for (size_t n = 0; n < count; n++)
		fold_put_rule(d, &rules[n]);
	if (count)
		diff_end_line(d);
}

/* --- all of it ------------------------------------------------------------------------ */

static bool fold_is_meant(const void *context, size_t i)
{
	const struct diff *d = context;
	const struct change *c = &d->changes.items[i];

	return picks_has_change(&d->picks, c) && (!d->only_held || c->group == CHANGE_HELD);
}

/* A person who names a folder, or something in it, wants to see what is in it. */
static bool fold_opens(const void *context, const char *path, size_t len)
{
	const struct diff *d = context;
	const struct picks *p = &d->picks;

	for (size_t i = 0; i < p->count; i++)
		if (strncmp(p->specs[i].path, path, len) == 0 &&
		    (!p->specs[i].path[len] || p->specs[i].path[len] == '/'))
			return true;
	return false;
}

/* A person who names a .git wants to see git's own files. */
static bool fold_opens_git(const struct picks *p)
{
	bool opens = false;

	for (size_t i = 0; !opens && i < p->count; i++)
		opens = git_dir_of(p->specs[i].path) > 0;
	return opens;
}

int diff_fold_by(struct diff *d, const struct folding_how *how, struct error *e)
{
	int r = folding_read(how, &d->folding);

	if (r == 0)
		r = new_commits_read(&d->view, &d->changes, how->meant, how->context, &d->strays,
				     &d->commits);
	if (r < 0)
		return error_sys(e, r, "cannot sort %zu changes", d->changes.count);
	fold_moves(d);
	return 0;
}

int diff_fold(struct diff *d, struct error *e)
{
	const struct folding_how how = {.changes = &d->changes,
					.view = &d->view,
					.meant = fold_is_meant,
					.opens = fold_opens,
					.opens_git = fold_opens_git(&d->picks),
					.makers = d->review->makers,
					.context = d};

	return diff_fold_by(d, &how, e);
}
