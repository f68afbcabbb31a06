/* SPDX-License-Identifier: Apache-2.0 */
/* From choices to a landing: directories, lines, steps, and what the session starts from
 * afterwards. */
#include "choice_show.h"

#include "fd.h"
#include "git_place.h"
#include "stayed.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SETTLE_ROUNDS = 8 };

/* --- directories ----------------------------------------------------------------------- */

/* The choice about the nearest directory above the path that has a change; `path` is cut there. */
static struct choice *choice_above(const struct choices *c, char *path)
{
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		struct change *up = changes_find(&c->changes, path);

		if (up)
			return &c->items[up - c->changes.items];
	}
	return NULL;
}

static bool choice_is_dir(const struct choice *x)
{
	return x->change->after.type == OBJECT_DIR;
}

/* Sets a state that follows from others.  It keeps what was chosen, because other choices may
 * follow. */
static void choice_follow(struct choice *x, enum choice_state state, const char *why)
{
	if (!x->follows) {
		x->meant = x->state;
		x->meant_why = x->why;
	}
	x->follows = true;
	x->state = state;
	x->why = why ? why : x->why;
}

static void choice_unfollow(struct choice *x)
{
	if (!x->follows)
		return;
	x->state = x->meant;
	x->why = x->meant_why;
	x->follows = false;
}

/* The folder must be there before anything can land in it. */
static bool choice_is_needed(const struct choice *up)
{
	return choice_is_dir(up) && up->change->kind != CHANGE_MODE;
}

/* The state of a folder that was passed over, if something lands in it: it lands, unless it is in
 * conflict, held or similar. */
static enum choice_state choice_if_called(const struct choice *up)
{
	return up->state == CHOICE_LEFT ? up->passed : up->state;
}

void choices_call_above(struct choices *c)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if ((x->state != CHOICE_LANDS && x->state != CHOICE_CONFLICT) ||
		    x->change->after.type == OBJECT_ABSENT ||
		    strlen(x->change->path) >= sizeof(path))
			continue;
		(void)snprintf(path, sizeof(path), "%s", x->change->path);
		for (struct choice *up; (up = choice_above(c, path));) {
			if (!choice_is_needed(up) || up->state != CHOICE_LEFT ||
			    up->passed == CHOICE_LANDS)
				continue;
			up->why = up->passed_why;
			up->state = up->passed;
			up->passed = CHOICE_LANDS;
		}
	}
}

/* Something lands below a new directory: then that must land, too; if it cannot, neither lands. */
static void choice_need_above(const struct choices *c, struct choice *x)
{
	char path[PATH_MAX];
	bool stays = false;

	if (x->change->after.type == OBJECT_ABSENT || strlen(x->change->path) >= sizeof(path))
		return;
	(void)snprintf(path, sizeof(path), "%s", x->change->path);
	for (struct choice *up; !stays && (up = choice_above(c, path));) {
		enum choice_state state = choice_if_called(up);

		stays = choice_is_needed(up) && state != CHOICE_LANDS && state != CHOICE_SETTLED;
		if (stays && up->state == CHOICE_LEFT)
			choice_follow(up, state, up->passed_why);
	}
	if (stays) {
		choice_follow(x, CHOICE_LEFT, "the directory that it is in does not land");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s", x->change->path);
	for (struct choice *up; (up = choice_above(c, path));)
		/* Also a directory that the session found, and the user removed. */
		if (choice_is_needed(up) &&
		    (up->state == CHOICE_LEFT ||
		     (up->state == CHOICE_SETTLED && up->change->before.type == OBJECT_ABSENT)))
			choice_follow(up, CHOICE_LANDS, NULL);
}

/* Something that is there now stays: then the directories around it stay, too. */
static void choice_keep_above(const struct choices *c, const struct choice *x)
{
	const char *stays = x->change->kind == CHANGE_RENAMED ? x->change->from : x->change->path;
	char path[PATH_MAX];

	if (x->change->before.type == OBJECT_ABSENT || strlen(stays) >= sizeof(path))
		return;
	(void)snprintf(path, sizeof(path), "%s", stays);
	for (struct choice *up; (up = choice_above(c, path));) {
		if (up->state != CHOICE_LANDS || choice_is_dir(up))
			continue;
		choice_follow(up, CHOICE_LEFT, "something that is in it stays");
	}
}

/* New directories need not land if nothing new in them lands; if all of that is left out, they do
 * not wait either. */
static void choices_leave_empty(struct choices *c)
{
	bool *has = arena_alloc(&c->arena, 3 * (c->count + 1));
	bool *lands = has ? has + c->count + 1 : NULL;
	bool *waits = has ? lands + c->count + 1 : NULL;
	char path[PATH_MAX];

	for (size_t i = c->count; has && i-- > 0;) {
		struct choice *x = &c->items[i];
		bool empty =
			choice_is_dir(x) && x->change->kind == CHANGE_ADDED && has[i] && !lands[i];

		if (x->state == CHOICE_LANDS && empty)
			choice_follow(x, waits[i] ? CHOICE_LEFT : CHOICE_LEAVE, NULL);
		if (strlen(x->change->path) >= sizeof(path))
			continue;
		(void)snprintf(path, sizeof(path), "%s", x->change->path);
		struct choice *up = choice_above(c, path);

		if (up && x->change->after.type != OBJECT_ABSENT) {
			has[up - c->items] = true;
			lands[up - c->items] |= x->state == CHOICE_LANDS;
			waits[up - c->items] |= x->state != CHOICE_LEAVE;
		}
	}
}

/* If the change that it needs does not land, it does not land either: then this is true. */
static bool choice_need(const struct choices *c, struct choice *x)
{
	const struct change *needs =
		x->change->needs ? changes_find(&c->changes, x->change->needs) : NULL;
	enum choice_state state = needs ? c->items[needs - c->changes.items].state : CHOICE_LANDS;

	if (x->state != CHOICE_LANDS || state == CHOICE_LANDS || state == CHOICE_SETTLED)
		return false;
	choice_follow(x, CHOICE_LEFT, "it needs a change that does not land");
	return true;
}

/* Makes all follow what it needs and what it is in. */
static void choices_follow(struct choices *c)
{
	/* A change that stays can be one that others need: backwards we mostly find them in one
	 * round. */
	for (bool more = true; more;) {
		more = false;
		for (size_t i = c->count; i-- > 0;)
			more = choice_need(c, &c->items[i]) || more;
	}
	choices_leave_empty(c);
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].state == CHOICE_LANDS)
			choice_need_above(c, &c->items[i]);
	/* Children come later in the list than their folders.  What the session removed and the
	 * user made again is settled, and stays. */
	for (size_t i = c->count; i-- > 0;)
		if (c->items[i].state != CHOICE_LANDS &&
		    (c->items[i].state != CHOICE_SETTLED ||
		     c->items[i].change->after.type == OBJECT_ABSENT))
			choice_keep_above(c, &c->items[i]);
}

int choices_settle(struct choices *c, struct error *e)
{
	choices_apart(c);
	/* What was released may be one of git's files. */
	int r = choices_git(c, e);

	for (size_t i = 0; r == 0 && i < c->count; i++)
		choice_unfollow(&c->items[i]);
	/* What stays for the sake of a checkout may be what others need. */
	for (size_t round = 0; r >= 0 && round < SETTLE_ROUNDS; round++) {
		choices_follow(c);
		r = choices_together(c, e);
		if (r <= 0)
			break;
	}
	if (r > 0) {
		r = error_set(e, -ELOOP,
			      "what may land changes with each file of git's that stays");
		error_next(e, "Nothing was changed. Name what shall land: bawn apply PATH...");
	}
	return r;
}

/* --- lines ----------------------------------------------------------------------------- */

static int choice_count_lines(const struct choices *c, struct choice *x)
{
	_cleanup_buf_ struct buf before = BUF_INIT(CHOICE_TEXT_MAX);
	_cleanup_buf_ struct buf after = BUF_INIT(CHOICE_TEXT_MAX);
	_cleanup_arena_ struct arena arena = ARENA_INIT(LINEDIFF_ARENA);
	struct lines a, b;
	struct linediff d;
	int r = choice_read(c, x, CHANGE_BEFORE, &before);

	if (r == 0 && x->content >= 0) {
		r = lseek(x->content, 0, SEEK_SET) < 0 ? -errno : fd_read_all(x->content, &after);
	} else if (r == 0) {
		r = choice_read(c, x, CHANGE_AFTER, &after);
	}
	if (r == 0)
		r = lines_cut(buf_span(&before), &arena, &a);
	if (r == 0)
		r = lines_cut(buf_span(&after), &arena, &b);
	if (r == 0)
		r = linediff(&a, &b, &arena, &d);
	x->counted = r == 0;
	if (r == 0) {
		x->added = d.added;
		x->removed = d.removed;
	}
	return r == -EILSEQ || r == -EFBIG || r == -E2BIG ? 0 : r;
}

int choices_count_lines(struct choices *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];
		const struct change *ch = x->change;

		if (x->state != CHOICE_LANDS || ch->kind == CHANGE_MODE ||
		    ch->kind == CHANGE_RENAMED || change_is_git_object(ch) ||
		    (ch->after.type != OBJECT_FILE && ch->before.type != OBJECT_FILE))
			continue;
		int r = choice_count_lines(c, x);

		progress_say(c->review->progress, "counting lines", i + 1, c->count);
		if (r < 0)
			return error_sys(e, r, "cannot read %s", ch->path);
	}
	progress_clear(c->review->progress);
	return 0;
}

/* --- steps ----------------------------------------------------------------------------- */

/* Adds the missing folders above what lands beside, if nothing else makes them.  Steps from `first`
 * on are of what lands beside. */
static void choices_add_folders(struct choices *c, struct choice_steps *s, size_t first,
				size_t from, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *folder = arena_strn(&c->arena, path, (size_t)(slash - path));
		const struct view base = {.base = c->view.base};
		struct object o = {.type = OBJECT_DIR};
		const struct change *own = folder ? changes_find(&c->changes, folder) : NULL;
		bool made = !folder || (view_look(&base, folder, &o) == 0 && o.type == OBJECT_DIR);

		made = made || (own && c->items[own - c->changes.items].state == CHOICE_LANDS);
		for (size_t i = first; !made && i < s->count; i++)
			made = str_equal(s->items[i].path, folder);
		if (made)
			continue;
		s->from[s->count] = from;
		s->items[s->count++] =
			(struct land_step){.path = folder,
					   .after = {.type = OBJECT_DIR, .mode = 0755, .layer = -1},
					   .source = -1};
	}
}

static void choices_add_beside(struct choices *c, struct choice_steps *s)
{
	const size_t first = s->count;

	for (size_t i = 0; i < c->beside_count; i++) {
		const struct choice_beside *b = &c->beside[i];

		if (!choice_beside_lands(c, b))
			continue;
		choices_add_folders(c, s, first, c->count + i, b->path);
		s->from[s->count] = c->count + i;
		s->items[s->count++] = (struct land_step){
			.path = b->path, .before = b->before, .after = b->lands, .source = -1};
	}
}

int choices_steps(struct choices *c, struct choice_steps *ret, struct error *e)
{
	/* A rename is two steps; what lands beside may need folders. */
	size_t most = 2 * choices_in(c, CHOICE_LANDS) + 1;

	for (size_t i = 0; i < c->beside_count; i++)
		for (const char *at = c->beside[i].path; (at = strchr(at, '/')); at++)
			most++;

	*ret = (struct choice_steps){.choices = c};
	ret->items = arena_alloc(&c->arena, most * sizeof(*ret->items));
	ret->from = arena_alloc(&c->arena, most * sizeof(*ret->from));
	if (!ret->items || !ret->from)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		const struct change *ch = x->change;
		struct land_step step = {
			.path = ch->path, .before = ch->before, .after = x->lands, .source = -1};

		if (x->state != CHOICE_LANDS)
			continue;
		/* A folder that is there keeps its own access list. */
		if (ch->before.type != OBJECT_DIR || ch->after.type != OBJECT_DIR)
			step.after.mode &= ~ch->masked;
		if (ch->kind == CHANGE_RENAMED) {
			/* Objects only ever come. */
			if (!choice_is_git_object(ch->from)) {
				ret->from[ret->count] = i;
				ret->items[ret->count++] = (struct land_step){
					.path = ch->from, .before = ch->before, .source = -1};
			}
			step.before = (struct object){.type = OBJECT_ABSENT};
		}
		ret->from[ret->count] = i;
		ret->items[ret->count++] = step;
	}
	choices_add_beside(c, ret);
	return 0;
}

/* Made only when it is needed: there may be more of them than descriptors. */
static int choice_open_beside(const struct choice_beside *b)
{
	_cleanup_fd_ int fd = memfd_create("bawn-ref", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : fd_write_all(fd, b->text, b->lands.size);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

int choices_open(void *steps, size_t i)
{
	const struct choice_steps *s = steps;
	const struct choices *c = s->choices;

	if (s->from[i] >= c->count)
		return choice_open_beside(&c->beside[s->from[i] - c->count]);
	const struct choice *x = &c->items[s->from[i]];

	if (x->content < 0)
		return changes_open(&c->view, x->change, CHANGE_AFTER);
	int fd = fcntl(x->content, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0 && lseek(fd, 0, SEEK_SET) < 0)
		fd_close(&fd);
	return fd < 0 ? -errno : fd;
}

int choices_open_folder(void *steps, size_t i)
{
	const struct choice_steps *s = steps;
	const struct choices *c = s->choices;

	return s->from[i] >= c->count ? -ENOENT
				      : view_openat(&c->view, c->items[s->from[i]].change->path,
						    O_RDONLY | O_DIRECTORY);
}

/* --- afterwards ------------------------------------------------------------------------ */

static int choice_rebase(struct choices *c, const struct choice *x)
{
	const struct object gone = {.type = OBJECT_ABSENT};
	const struct change *ch = x->change;
	const struct object *stands = x->partial ? &x->lands : &ch->after;
	int r = ch->kind == CHANGE_RENAMED ? basis_set(&c->basis, ch->from, &gone) : 0;

	if (r == 0)
		r = basis_set(&c->basis, ch->path, stands);
	if (r < 0 || stands->type != OBJECT_FILE)
		return r;
	_cleanup_fd_ int fd = x->partial ? fcntl(x->content, F_DUPFD_CLOEXEC, 3)
					 : changes_open(&c->view, ch, CHANGE_AFTER);

	if (fd < 0)
		return 0; /* only its digest is known */
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : basis_keep(c->session, stands, fd);
}

/* Notes conflicts that the user decided: they are conflicts again when this is undone. */
static int choices_note_decided(const struct choices *c, struct error *e)
{
	_cleanup_basis_ struct basis decided = BASIS_INIT;
	bool any = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if (x->state != CHOICE_LANDS || !x->both_changed || x->partial)
			continue;
		r = any ? 0 : basis_read_decided(c->session, &decided, e);
		any = true;
		if (r == 0 && basis_set(&decided, x->change->path, &x->lands) < 0)
			r = error_set(e, -ENOMEM, "no memory");
	}
	return r < 0 || !any ? r : basis_write_decided(c->session, &decided, e);
}

int choices_rebase(struct choices *c, uint64_t number, struct error *e)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT;
	size_t count = 0;
	bool folders = false; /* something in one landed */
	int r = basis_read_stayed(c->session, &stayed, e);

	if (r < 0)
		return r;
	stayed_forget_old(&stayed, number);
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		const char *path = x->change->path;
		bool stays = x->state == CHOICE_KEPT && !x->rest;

		if (x->state != CHOICE_LANDS && !stays)
			continue;
		const struct basis_entry *had = basis_find(&c->basis, path);
		const struct object was = had ? had->object : (struct object){.layer = -1};

		r = choice_rebase(c, x);
		if (r == 0 && stays)
			r = stayed_note(&stayed, number, path, had ? &was : NULL,
					&basis_find(&c->basis, path)->object);
		if (r < 0)
			return error_sys(e, r, "cannot write down that %s landed", path);
		count += stays;
		folders = folders || strchr(path, '/');
	}
	if (folders)
		layers_session_forget_makers(&c->review->layers, c->review->session.name);
	r = choices_note_decided(c, e);
	if (r == 0 && count)
		r = basis_write_stayed(c->session, &stayed, e);

	return r < 0 ? r : basis_write(c->session, &c->basis, e);
}

bool choice_is_stranded(const struct choice *x)
{
	const struct object *before = &x->change->before, *after = &x->change->after;

	if (x->state != CHOICE_DROPPED || git_place_of(x->change->path) == GIT_PLACE_CACHE ||
	    (x->change->kind == CHANGE_MODE && ((before->mode ^ after->mode) & 0777) == 0))
		return false;
	return after->type == OBJECT_FILE || after->type == OBJECT_LINK ||
	       after->type == OBJECT_DIR;
}

bool choices_leave_something(const struct choices *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].partial || choice_is_stranded(&c->items[i]) ||
		    choice_is_pending(c, &c->items[i]) ||
		    (c->items[i].state != CHOICE_LANDS && c->items[i].state != CHOICE_SETTLED &&
		     c->items[i].state != CHOICE_DROPPED && c->items[i].state != CHOICE_LEFT &&
		     c->items[i].state != CHOICE_LEAVE &&
		     (c->items[i].state != CHOICE_KEPT || c->items[i].rest)))
			return true;
	return false;
}
