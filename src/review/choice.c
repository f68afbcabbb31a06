/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include "clock.h"
#include "fd.h"
#include "git_index.h"
#include "hold.h"
#include "open.h"
#include "settled.h"
#include "str.h"
#include "text.h"
#include "undo_direct.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHOICE_INDEX_MAX = 64 << 20 };

enum { CHOICE_ARENA_MAX = 1 << 30 };

/* --- three sides ----------------------------------------------------------------------- */

static bool choice_is_file(const struct object *o)
{
	return o->type == OBJECT_FILE;
}

/* Says who did what. */
static const char *choice_conflict_words(const struct change *c)
{
	if (c->before.type == OBJECT_ABSENT)
		return "you removed it, and the session changed it";
	if (c->after.type == OBJECT_ABSENT)
		return "you changed it or put it there, and the session removed it";
	return c->copied_up ? "you changed it, and so did the session"
			    : "you and the session both wrote it";
}

/* Something was put into the folder of this path, or taken out, since then; if the folder is not
 * there, into the nearest one above. */
static bool choice_folder_changed(int tree, const char *path, int64_t since)
{
	char folder[PATH_MAX];
	_cleanup_fd_ int fd = -ENOENT;
	struct stat st;

	if (strlen(path) >= sizeof(folder))
		return true;
	memcpy(folder, path, strlen(path) + 1);
	while (fd == -ENOENT) {
		char *slash = strrchr(folder, '/');

		*(slash ? slash : folder) = '\0';
		fd = open_beneath(tree, folder, O_PATH | O_DIRECTORY, 0);
		if (!slash)
			break;
	}
	return fd < 0 || fstat(fd, &st) < 0 || CLOCK_NS(st.st_ctim) > since;
}

/*
 * A folder around it may have been moved there since then.  What is in such a folder keeps its
 * times, but the folder has a new one; so has a folder in which something came or went.  A move
 * also changes the folder above.  If both have changed, we cannot know: the answer is yes.
 */
static bool choice_folder_came(int tree, const char *path, int64_t since)
{
	char folder[PATH_MAX];
	bool below = false; /* the folder below has changed */

	if (strlen(path) >= sizeof(folder))
		return true;
	memcpy(folder, path, strlen(path) + 1);
	for (char *slash = folder; slash;) {
		struct stat st;

		slash = strrchr(folder, '/');
		*(slash ? slash : folder) = '\0';
		_cleanup_fd_ int fd = open_beneath(tree, folder, O_PATH | O_DIRECTORY, 0);

		if (fd < 0 || fstat(fd, &st) < 0)
			return true;
		bool changed = CLOCK_NS(st.st_ctim) > since;

		if (changed && below)
			return true;
		below = changed;
	}
	return false;
}

/* We do not know what the session found there: guesses whether the user changed it. */
static bool choice_guess_conflict(const struct choices *c, const struct change *x)
{
	/* overlayfs copied a file that was renamed inside and then written to from another path. */
	if (x->before.type == OBJECT_ABSENT)
		return x->copied_up &&
		       choice_folder_changed(c->review->tree, x->path, c->review->session.began);
	/*
	 * A directory's time changes with what comes and goes in it, which has its own entries.  If
	 * the session has no directory there any more, it may be the user's, without anything in it
	 * that could show that.
	 */
	if (x->before.type == OBJECT_DIR)
		return x->after.type != OBJECT_DIR && x->before.ctime > c->review->session.began;
	if (x->before.ctime > c->review->session.began)
		return true;
	/* A renamed file has all its content under the new name. */
	return x->kind != CHANGE_RENAMED &&
	       choice_folder_came(c->review->tree, x->path, c->review->session.began);
}

/* A folder above it was not there when the session first made one, so this was not either. */
static bool choice_was_beneath_nothing(const struct choices *c, const char *path)
{
	char folder[PATH_MAX];
	struct first_entry entry;

	if (strlen(path) >= sizeof(folder))
		return false;
	memcpy(folder, path, strlen(path) + 1);
	for (char *slash; (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		if (first_find(&c->first, folder, &entry) >= 0)
			return entry.kind == FIRST_ABSENT;
	}
	return false;
}

/* Something was at the new name of what the session renamed, and is gone from the workspace. */
static bool choice_renamed_over(const struct choices *c, const struct change *x)
{
	const struct basis_entry *known = basis_find(&c->basis, x->path);
	struct first_entry entry;

	if (known)
		return known->object.type != OBJECT_ABSENT;
	return first_find(&c->first, x->path, &entry) >= 0 && entry.kind != FIRST_ABSENT;
}

static void choice_find_origin(const struct choices *c, struct choice *x)
{
	const char *path = x->change->kind == CHANGE_RENAMED ? x->change->from : x->change->path;
	const struct basis_entry *known = basis_find(&c->basis, path);
	struct first_entry entry;

	x->first = -1;
	x->was_other = false;
	x->knows_origin = known != NULL;
	if (known) {
		x->origin = known->object;
		return;
	}
	ssize_t at = first_find(&c->first, path, &entry);

	if (at < 0) {
		bool folder = undo_is_only_folder(&c->first, &x->change->before, &x->change->after);

		x->knows_origin = folder || (x->change->before.type == OBJECT_ABSENT &&
					     choice_was_beneath_nothing(c, path));
		x->origin = folder ? x->change->after : (struct object){.type = OBJECT_ABSENT};
		return;
	}
	x->knows_origin = settled_object_of(&entry, &x->change->before, &x->origin);
	x->was_other = !x->knows_origin && entry.kind == FIRST_FILE;
	x->first = x->knows_origin ? at : -1;
}

int choices_pin(struct choices *c, struct error *e)
{
	size_t pinned = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		const struct change *ch = x->change;

		if (x->state != CHOICE_LANDS || x->knows_origin || x->was_other ||
		    !ch->before.hashed || choice_guess_conflict(c, ch))
			continue;
		int r = basis_set(&c->basis, ch->kind == CHANGE_RENAMED ? ch->from : ch->path,
				  &ch->before);

		if (r < 0)
			return error_sys(e, r, "cannot write down what %s was", ch->path);
		pinned++;
	}
	return pinned ? basis_write(c->session, &c->basis, e) : 0;
}

/* Which mode lands: whoever changed it decides; false: both did. */
static bool choice_judge_mode(struct choice *x)
{
	const struct change *c = x->change;
	const uint32_t was = x->origin.mode & 0777, now = c->before.mode & 0777;
	const uint32_t theirs = c->after.mode & 0777;

	if (c->before.type != c->after.type)
		return true;
	/* Both made the file. */
	if (x->origin.type != c->after.type)
		return theirs == now;
	if (theirs == was)
		x->lands.mode = now;
	return theirs == was || now == was || theirs == now;
}

int choice_open_origin(const struct choices *c, const struct choice *x)
{
	struct first_entry entry;

	/* The first entry may not have the content, but a later one may. */
	if (x->first >= 0)
		(void)first_find(&c->first, x->change->from ? x->change->from : x->change->path,
				 &entry);
	return x->first >= 0 ? first_content(&c->first, &entry)
			     : basis_content(c->session, &x->origin);
}

/* It is git's index, which every `git status` of the user or the agent may have written anew, and
 * on this side it still says what the session started from. */
static bool choice_is_refreshed(const struct choices *c, const struct choice *x,
				enum change_side side)
{
	_cleanup_buf_ struct buf was = BUF_INIT(CHOICE_INDEX_MAX), is = BUF_INIT(CHOICE_INDEX_MAX);
	uint8_t first[SHA256_SIZE], second[SHA256_SIZE];

	if (!git_index_is_path(x->change->path))
		return false;
	_cleanup_fd_ int origin = choice_open_origin(c, x);
	_cleanup_fd_ int now = changes_open(&c->view, x->change, side);

	return origin >= 0 && now >= 0 && fd_read_all(origin, &was) == 0 &&
	       fd_read_all(now, &is) == 0 && git_index_digest(buf_span(&was), first) == 0 &&
	       git_index_digest(buf_span(&is), second) == 0 &&
	       memcmp(first, second, sizeof(first)) == 0;
}

static void choice_judge_sides(const struct choices *c, struct choice *x)
{
	const struct change *ch = x->change;

	choice_find_origin(c, x);
	if (x->knows_origin && settled_mark_pruned(x->change, &x->origin)) {
		x->origin = (struct object){.type = OBJECT_ABSENT};
		x->first = -1;
		return;
	}
	if (!x->knows_origin) {
		if (x->was_other ? !basis_same(&ch->after, &ch->before)
				 : choice_guess_conflict(c, ch)) {
			x->state = CHOICE_CONFLICT;
			x->why = choice_conflict_words(ch);
		}
		return;
	}
	if (ch->kind == CHANGE_RENAMED) {
		if (!basis_same(&x->origin, &ch->before)) {
			x->state = CHOICE_CONFLICT;
			x->why = "you changed it, and the session renamed it";
		} else if (choice_renamed_over(c, ch)) {
			x->state = CHOICE_CONFLICT;
			x->why = "you removed what the session put it in the place of";
		}
		return;
	}
	bool ours = !basis_same_content(&ch->before, &x->origin) &&
		    !choice_is_refreshed(c, x, CHANGE_BEFORE);

	if (basis_same(&ch->after, &x->origin) ||
	    (ours && choice_is_refreshed(c, x, CHANGE_AFTER))) {
		x->state = CHOICE_SETTLED;
		return;
	}
	bool mode = choice_judge_mode(x);
	bool theirs = !basis_same_content(&ch->after, &x->origin);
	/* The session changed only the mode: the content stays the workspace's.  If that is gone,
	 * or of another kind, the mode belongs to nothing. */
	if (!theirs && ours && !(choice_is_file(&ch->before) && choice_is_file(&ch->after)))
		mode = false;
	if (mode && !theirs && ours) {
		const uint32_t lands = x->lands.mode;

		x->content = changes_open(&c->view, ch, CHANGE_BEFORE);
		x->lands = ch->before;
		x->lands.mode = lands;
		x->change->kind = CHANGE_MODE;
		mode = x->content >= 0;
	}
	if (!mode || (theirs && ours && !basis_same_content(&ch->after, &ch->before))) {
		x->state = CHOICE_CONFLICT;
		x->why = choice_conflict_words(ch);
	}
}

static void choice_judge(const struct choices *c, struct choice *x)
{
	static const enum choice_state of_group[CHANGE_GROUP_COUNT] = {
		[CHANGE_ORDINARY] = CHOICE_LANDS,  [CHANGE_FLAGGED] = CHOICE_LANDS,
		[CHANGE_LEAVE] = CHOICE_LEAVE,     [CHANGE_HELD] = CHOICE_HELD,
		[CHANGE_DROPPED] = CHOICE_DROPPED,
	};

	x->lands = x->change->after;
	x->lands.mode &= 0777;
	x->state = of_group[x->change->group];
	/* What is not hashed by now cannot be compared, and must not be replaced unseen. */
	if (x->state == CHOICE_LANDS && !x->change->before.hashed &&
	    (choice_is_file(&x->change->before) || x->change->before.type == OBJECT_LINK)) {
		x->state = CHOICE_DROPPED;
		x->why = "what stands there cannot be read";
	}
	if (x->state != CHOICE_DROPPED && x->state != CHOICE_LEAVE) {
		enum choice_state held = x->state;

		choice_judge_sides(c, x);
		/* A held change stays held until it is released; then its conflict is judged again,
		 * with its words. */
		if (held == CHOICE_HELD && x->state == CHOICE_CONFLICT) {
			x->state = CHOICE_HELD;
			x->why = NULL;
		}
	}
}

/* --- reading --------------------------------------------------------------------------- */

/* Opens the first versions, if the session has any. */
static int choices_open_first(struct choices *c, struct error *e)
{
	_cleanup_fd_ int dir = open_beneath(c->session, "first", O_RDONLY | O_DIRECTORY, 0);

	if (dir == -ENOENT)
		return 0;
	return dir < 0 ? error_sys(e, dir, "cannot open the first versions of %s",
				   c->review->session.name)
		       : first_open(dir, &c->first, e);
}

/* The session did nothing to a folder but write in it, and the user put something else there: makes
 * the folder a conflict. */
static void choice_judge_above(const struct choices *c, const struct choice *x)
{
	char path[PATH_MAX];

	if (x->change->after.type == OBJECT_ABSENT || x->state == CHOICE_SETTLED ||
	    x->state == CHOICE_DROPPED || strlen(x->change->path) >= sizeof(path))
		return;
	(void)snprintf(path, sizeof(path), "%s", x->change->path);
	for (char *slash; (slash = strrchr(path, '/'));) {
		*slash = '\0';
		const struct change *up = changes_find(&c->changes, path);
		struct choice *above = up ? &c->items[up - c->changes.items] : NULL;

		if (!above || above->state != CHOICE_SETTLED || up->after.type != OBJECT_DIR ||
		    up->before.type == OBJECT_DIR || up->before.type == OBJECT_ABSENT)
			continue;
		above->state = CHOICE_CONFLICT;
		above->why = "you put something else there, and the session wrote in it";
	}
}

/* What git pruned lands again only with something else of git. */
static void choices_judge_pruned(struct choices *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].state != CHOICE_SETTLED && settled_builds(c->items[i].change))
			return;
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].change->pruned)
			c->items[i].state = CHOICE_SETTLED;
}

int choices_read(const struct review *r, struct choices *ret, struct error *e)
{
	*ret = CHOICES_INIT;
	ret->arena = ARENA_INIT(CHOICE_ARENA_MAX);
	ret->review = r;
	ret->session = layers_session_dir(&r->layers, r->session.name, false);
	if (ret->session < 0)
		return review_lost(e, ret->session, r->session.name);
	int code = basis_read(ret->session, &ret->basis, e);

	if (code == 0)
		code = choices_open_first(ret, e);
	if (code == 0)
		code = review_changes(r, &(struct changes_how){.hash = true}, &ret->view,
				      &ret->changes, e);
	if (code < 0)
		return code;
	ret->items = arena_alloc(&ret->arena, (ret->changes.count + 1) * sizeof(*ret->items));
	if (!ret->items)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < ret->changes.count; i++) {
		ret->items[i] = (struct choice){.change = &ret->changes.items[i], .content = -1};
		choice_judge(ret, &ret->items[i]);
		progress_say(r->progress, "comparing with your folder", i + 1, ret->changes.count);
	}
	progress_clear(r->progress);
	ret->count = ret->changes.count;
	for (size_t i = 0; i < ret->count; i++)
		choice_judge_above(ret, &ret->items[i]);
	choices_judge_pruned(ret);
	return choices_git(ret, e);
}

void choices_fini(struct choices *c)
{
	for (size_t i = 0; i < c->count; i++)
		fd_close(&c->items[i].content);
	c->count = 0;
	choices_git_fini(c);
	basis_fini(&c->basis);
	first_close(&c->first);
	changes_fini(&c->changes);
	view_close(&c->view);
	fd_close(&c->session);
	arena_fini(&c->arena);
}

size_t choices_in(const struct choices *c, enum choice_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->items[i].state == state;
	for (size_t i = 0; state == CHOICE_LANDS && i < c->beside_count; i++)
		count += choice_beside_lands(c, &c->beside[i]);
	return count;
}

int choice_read(const struct choices *c, const struct choice *x, enum change_side side,
		struct buf *into)
{
	const struct object *o = side == CHANGE_BEFORE ? &x->change->before : &x->change->after;

	if (o->type == OBJECT_ABSENT || o->type == OBJECT_DIR)
		return 0;
	if (!choice_is_file(o))
		return -EILSEQ;
	if (o->size > CHOICE_TEXT_MAX)
		return -EFBIG;
	_cleanup_fd_ int fd = changes_open(&c->view, x->change, side);
	int r = fd < 0 ? fd : fd_read_all(fd, into);

	return r < 0 ? r : lines_is_binary(buf_span(into)) ? -EILSEQ : 0;
}

int choice_set_content(struct choice *x, struct span text, bool partial)
{
	_cleanup_fd_ int fd = memfd_create("bawn-content", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : fd_write_all(fd, text.ptr, text.len);

	if (r < 0)
		return r;
	r = changes_hash(fd, x->lands.digest, &x->lands.size);
	if (r < 0)
		return r;
	x->lands.type = OBJECT_FILE;
	x->lands.hashed = true;
	fd_close(&x->content);
	x->content = TAKE_FD(fd);
	x->partial = partial;
	return 0;
}

/* --- which are meant ------------------------------------------------------------------- */

/* The folder where we are, below the workspace; "": we are elsewhere. */
static const char *choices_here(const struct choices *c)
{
	static char here[PATH_MAX];
	const char *rest =
		getcwd(here, sizeof(here)) ? str_after(here, c->review->layers.workspace) : NULL;

	return rest && *rest == '/' ? rest + 1 : "";
}

int choices_specs(struct choices *c, const struct invocation *i, enum option_id id,
		  struct pathspecs *ret, struct error *e)
{
	size_t count = id == OPTION_COUNT ? (size_t)i->argument_count : i->value_count;
	struct pathspec *items = arena_alloc(&c->arena, (count + 1) * sizeof(*items));

	*ret = (struct pathspecs){.items = items};
	if (!items)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t n = 0; n < count; n++) {
		if (id != OPTION_COUNT && i->values[n].id != id)
			continue;
		const char *typed = id == OPTION_COUNT ? i->arguments[n] : i->values[n].value;
		int r = pathspec_parse(typed, c->review->layers.workspace, choices_here(c),
				       &c->arena, &items[ret->count], e);

		if (r < 0)
			return r;
		ret->count++;
	}
	return 0;
}

static bool spec_means(const struct pathspec *s, const struct change *c)
{
	return pathspec_is(s, c->path) || pathspec_covers(s, c->path) ||
	       (c->from && (pathspec_is(s, c->from) || pathspec_covers(s, c->from)));
}

void choice_pass(struct choice *x, const char *why)
{
	if (x->state != CHOICE_LEFT) {
		x->passed = x->state;
		x->passed_why = x->why;
	}
	x->state = CHOICE_LEFT;
	x->why = why ? why : x->why;
}

int choices_pick(struct choices *c, const struct pathspecs *specs, struct error *e)
{
	bool *meant = arena_alloc(&c->arena, c->count + 1);

	if (!meant)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t s = 0; s < specs->count; s++) {
		bool found = false;

		for (size_t i = 0; i < c->count; i++) {
			if (!spec_means(&specs->items[s], c->items[i].change))
				continue;
			meant[i] = true;
			found = true;
		}
		if (!found) {
			int r = error_set(e, -ENOENT, "the session %s has no change at '%s'",
					  c->review->session.name, specs->items[s].typed);

			error_next(e, "'bawn diff --stat' lists what it changed.");
			return r;
		}
	}
	for (size_t i = 0; specs->count && i < c->count; i++)
		if (!meant[i] && c->items[i].state != CHOICE_SETTLED &&
		    c->items[i].state != CHOICE_DROPPED && c->items[i].state != CHOICE_LEAVE)
			choice_pass(&c->items[i], NULL);
	choices_call_above(c);
	return 0;
}

void choice_release(struct choices *c, struct choice *x)
{
	x->state = CHOICE_LANDS;
	x->released = true;
	choice_judge_sides(c, x);
}

/* --- conflicts ------------------------------------------------------------------------- */

/* Reads the version that both came from. */
static int choice_read_origin(const struct choices *c, const struct choice *x, struct buf *into)
{
	if (!x->knows_origin)
		return -ENODATA;
	if (x->origin.type == OBJECT_ABSENT)
		return 0;
	_cleanup_fd_ int fd = choice_open_origin(c, x);

	if (fd < 0)
		return fd == -ENOENT ? -ENODATA : fd;
	int r = fd_read_all(fd, into);

	return r < 0 ? r : lines_is_binary(buf_span(into)) ? -EILSEQ : 0;
}

/* "lines 12-14 and 30": where a merge clashes, in the workspace's file. */
static const char *choice_clash_words(struct choices *c, const struct merge3 *m)
{
	_cleanup_buf_ struct buf words = BUF_INIT(1024);
	const size_t shown = m->count < 8 ? m->count : 8;

	buf_put_str(&words, "both changed line");
	if (m->count > 1 || m->clashes[0].ours_count > 1)
		buf_put_char(&words, 's');
	for (size_t i = 0; i < shown; i++) {
		const struct merge3_clash *clash = &m->clashes[i];

		buf_put_str(&words, i == 0 ? " " : i + 1 == m->count ? " and " : ", ");
		buf_putf(&words, "%zu", clash->ours + 1);
		if (clash->ours_count > 1)
			buf_putf(&words, "-%zu", clash->ours + clash->ours_count);
	}
	if (shown < m->count)
		buf_putf(&words, " and %zu more", m->count - shown);
	return arena_str(&c->arena, buf_str(&words));
}

static bool choice_can_merge(const struct change *c)
{
	return choice_is_file(&c->before) && choice_is_file(&c->after);
}

bool choices_can_merge(const struct choices *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].state == CHOICE_CONFLICT && choice_can_merge(c->items[i].change))
			return true;
	return false;
}

static const char *choice_no_merge_words(const struct change *c, int code)
{
	switch (code) {
	case -EISDIR:
		return c->before.type == OBJECT_ABSENT ? "it cannot be merged: you removed it"
		       : c->after.type == OBJECT_ABSENT
			       ? "it cannot be merged: the session removed it"
			       : "it cannot be merged: it is not a file on both sides";
	case -ENODATA:
		return "it cannot be merged: what it was when the session began is not known";
	case -EILSEQ:
		return "it cannot be merged: it is not text";
	case -EFBIG:
		return "it cannot be merged: it is too large";
	default:
		return "it cannot be merged: it cannot be read";
	}
}

static int choice_merge(struct choices *c, struct choice *x, bool markers)
{
	_cleanup_buf_ struct buf base = BUF_INIT(CHOICE_TEXT_MAX), ours = BUF_INIT(CHOICE_TEXT_MAX);
	_cleanup_buf_ struct buf theirs = BUF_INIT(CHOICE_TEXT_MAX);
	_cleanup_buf_ struct buf out = BUF_INIT(3ul * CHOICE_TEXT_MAX);
	struct arena arena = ARENA_INIT(LINEDIFF_ARENA);
	struct merge3_texts t = {.ours_name = "yours", .theirs_name = c->review->session.name};
	struct merge3 m = {.count = 0};
	int r = choice_can_merge(x->change) ? choice_read_origin(c, x, &base) : -EISDIR;

	if (r == 0)
		r = choice_read(c, x, CHANGE_BEFORE, &ours);
	if (r == 0)
		r = choice_read(c, x, CHANGE_AFTER, &theirs);
	if (r == 0)
		r = lines_cut(buf_span(&base), &arena, &t.base);
	if (r == 0)
		r = lines_cut(buf_span(&ours), &arena, &t.ours);
	if (r == 0)
		r = lines_cut(buf_span(&theirs), &arena, &t.theirs);
	if (r == 0)
		r = merge3(&t, &arena, &out, &m);
	if (r < 0) {
		x->why = choice_no_merge_words(x->change, r == -E2BIG ? -EFBIG : r);
		r = 0;
	} else if (m.count > 0 && !markers) {
		x->why = choice_clash_words(c, &m);
	} else {
		r = choice_set_content(x, buf_span(&out), false);
		x->state = r == 0 ? CHOICE_LANDS : x->state;
		x->decided = m.count ? "merge, with markers" : "merge";
	}
	arena_fini(&arena);
	return r;
}

bool choices_are_part(const struct choices *c, const char *typed, const char *what)
{
	const struct layers_session *s = &c->review->session;
	struct text err = text_open(STDERR_FILENO);
	_cleanup_buf_ struct buf word = BUF_INIT((size_t)8 * PATH_MAX);
	_cleanup_buf_ struct buf folder = BUF_INIT((size_t)8 * PATH_MAX);

	if (!s->linked[0] && !s->repository[0])
		return false;
	text_escape(&word, span_of_str(typed));
	text_printf(&err, "bawn: '%s' is not %s in %s\n", buf_str(&word), what,
		    review_folder(c->review, &folder));
	return true;
}

int choices_decide(struct choices *c, const struct pathspecs *specs, enum choice_side side,
		   bool markers, struct error *e)
{
	for (size_t s = 0; s < specs->count; s++) {
		bool found = false;

		for (size_t i = 0; i < c->count; i++) {
			struct choice *x = &c->items[i];
			bool meant = spec_means(&specs->items[s], x->change);

			found = found ||
				(meant && (x->state == CHOICE_CONFLICT || x->both_changed));
			if (!meant || x->state != CHOICE_CONFLICT)
				continue;
			x->both_changed = true;
			if (side == CHOICE_MERGE) {
				int r = choice_merge(c, x, markers);

				if (r < 0)
					return error_sys(e, r, "cannot merge %s", x->change->path);
				continue;
			}
			x->state = side == CHOICE_OURS_SIDE ? CHOICE_OURS : CHOICE_LANDS;
			x->decided = side == CHOICE_OURS_SIDE ? "ours" : "theirs";
		}
		/* A pattern stands for whatever is in conflict, also for nothing; a name is meant.
		 */
		if (!found && !strpbrk(specs->items[s].typed, "*?[") &&
		    !choices_are_part(c, specs->items[s].typed, "in conflict")) {
			int r = error_set(e, -ENOENT, "'%s' is not in conflict",
					  specs->items[s].typed);

			error_next(e, "'bawn apply --dry-run' shows what is.");
			return r;
		}
	}
	return 0;
}
