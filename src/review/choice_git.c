/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's own files, if both sides changed them.
 *
 *	objects		only ever come.  What the session removed or rewrote of those that are there
 *			stays as it is; the user's `git gc` removes what nobody needs
 *	a ref		that both moved stays the user's, and the session's value lands beside it,
 *			as the branch bawn/SESSION.  The user merges the two by `git merge`; we do
 *			not.  Without a free name (choice_refs.c) the session's value stays pending.
 *			The ref's values on the three sides show who moved it, not its files
 *	HEAD, index	stay the user's as soon as one of them, or the branch that is checked out,
 *			is in conflict: together they say what the user works on
 *	logs		only grow: a log that lost lines, or may have lost some, stays the user's
 *	packed-refs	stays the user's if it is in conflict, or if both moved a ref in it; what
 *			the session has in it lands as loose refs
 *
 *	a branch	that another worktree of the user's has checked out stays, and the
 *			session's lands beside it; none goes that a HEAD will name, here or there,
 *			and no HEAD comes that would name none
 *	in a linked worktree	(shared.h) what git keeps of that one lands, and what it keeps of
 *			the repository's own folder stays
 *	of a worktree	that lies elsewhere, HEAD, index and the like stay: the session cannot see
 *			what they are about.  Of one within, which the session removed while the
 *			user worked in it, they stay with its .git
 *	in the middle	of a merge, a rebase and the like that the user began after the session did:
 *			HEAD, index, the branch that it is about and git's notes on it stay
 *
 * We never merge lines here.  A held change stays held.
 */
#include "choice_git.h"

#include "fd.h"
#include "journal.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GIT_CHUNK = 16 << 10 };

/* --- what a path is -------------------------------------------------------------------- */

/* The path of a change within its repository, and the length of the repository's own path with its
 * slash; NULL: it is no file that we know. */
static const char *git_known(const struct change *c, size_t *ret_len)
{
	static const char *const known[] = {
		"HEAD",    "index",     "packed-refs",  "refs",         "logs",
		"objects", "sequencer", "rebase-merge", "rebase-apply", "info/refs",
		"locked",  "gitdir",    "commondir"};
	bool is = c->git && c->git[strspn(c->git, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';

	for (size_t i = 0; c->git && !is && i < BAWN_ARRAY_SIZE(known); i++)
		is = git_is_in(c->git, known[i]);
	*ret_len = is ? (size_t)(c->git - c->path) : 0;
	return is ? c->git : NULL;
}

bool choice_is_git_object(const char *path)
{
	return git_is_in(git_rest(path), "objects");
}

static struct choice *git_choice_in(const struct git_repository *g, const char *folder,
				    const char *rest)
{
	char path[2ul * PATH_MAX + sizeof("logs/")];

	(void)snprintf(path, sizeof(path), "%s%s", folder, rest);
	const struct change *change = changes_find(&g->c->changes, path);

	return change ? &g->c->items[change - g->c->changes.items] : NULL;
}

struct choice *git_choice(const struct git_repository *g, const char *rest)
{
	return git_choice_in(g, g->path, rest);
}

struct choice *git_choice_shared(const struct git_repository *g, const char *rest)
{
	return git_choice_in(g, g->common, rest);
}

void git_keep(struct choice *x, const char *why)
{
	x->both_changed = x->both_changed || x->state == CHOICE_CONFLICT;
	x->state = CHOICE_KEPT;
	x->why = x->change->before.type == OBJECT_ABSENT && str_equal(why, "yours stays")
			 ? "you have none, and none lands"
			 : why;
	x->decided = NULL;
}

/* --- refs ------------------------------------------------------------------------------ */

/* A stash is a ref and a line of its log: if the user's log stays, the ref stays. */
static bool git_stash_stays(const struct git_repository *g, const char *ref)
{
	const struct choice *log =
		str_equal(ref, "refs/stash") ? git_choice(g, "logs/refs/stash") : NULL;

	return log && (log->state == CHOICE_CONFLICT || log->state == CHOICE_KEPT);
}

/* The session packed its refs, and its packed-refs is held. */
static bool git_pack_is_held(const struct git_repository *g)
{
	const struct choice *x = git_choice(g, "packed-refs");

	return x && x->change->group == CHANGE_HELD && !x->released;
}

int git_leave_rest(const struct git_repository *g, struct choice *x, const char *ref)
{
	x->rest = true;
	x->why = g->c->beside_count >= GIT_BESIDE_MAX
			 ? arena_printf(&g->c->arena,
					"yours stays; %d refs land beside it, and the rest stays "
					"with the session: 'bawn apply' again brings more",
					GIT_BESIDE_MAX)
			 : arena_printf(&g->c->arena,
					"yours stays, and the session keeps its own %s: no name is "
					"free beside yours",
					ref);
	return x->why ? 0 : -ENOMEM;
}

int git_put_beside(struct git_repository *g, struct choice *x, const char *ref)
{
	struct choices *c = g->c;
	struct git_ref_value theirs, mine, was = {.object.len = 0};
	char name[PATH_MAX];
	int r = git_open_refs(g), known = r < 0 ? r : git_found(g, ref, &was);

	if (known < 0)
		return known;
	git_value(g, &g->theirs, ref, &theirs);
	git_value(g, &g->mine, ref, &mine);
	const char *stays = g->stays;

	bool has = known == GIT_KNOWN_NOT || git_ref_is_there(&mine) || !git_is_in(ref, "refs");

	/* The user has no ref that could stay. */
	if (!has)
		stays = git_ref_is_there(&was) ? "you removed it" : "it has no room beside yours";
	git_keep(x, stays);
	/* What came from a remote can be fetched again. */
	if (!theirs.object.len || git_name_equal(&theirs.object, &mine.object) ||
	    git_name_equal(&theirs.object, &was.object) || git_is_in(ref, "refs/remotes"))
		return 0;
	if (x->change->after.type == OBJECT_ABSENT && git_pack_is_held(g))
		return 0;
	enum git_found found = c->beside_count >= GIT_BESIDE_MAX
				       ? GIT_FOUND_NONE
				       : git_find_beside(g, ref, &was.object, &theirs.object, name);

	if (found != GIT_FOUND)
		return found == GIT_FOUND_THERE ? 0 : git_leave_rest(g, x, ref);
	x->why = arena_printf(&c->arena, "%s; the session's lands%s as %s", stays,
			      has ? " beside it" : "", name);
	return !x->why ? -ENOMEM
		       : git_add_beside(g, x, name, &theirs.object, true,
					str_equal(ref, g->on_mine) || str_equal(ref, "HEAD"));
}

/* git would make such a ref; a lock of the user's git is none. */
static bool git_is_ref(const char *ref)
{
	static const char lock[] = ".lock";

	for (const char *at = strstr(ref, lock); at; at = strstr(at + 1, lock))
		if (at[sizeof(lock) - 1] == '/' || at[sizeof(lock) - 1] == '\0')
			return false;
	/* Those of remotes can be fetched again. */
	return journal_is_path(ref) && str_after(ref, "refs/") && !str_after(ref, "refs/remotes/");
}

/* Lands a ref that the session has in packed-refs, and moved.  `was`: what it started from; none if
 * it is new. */
static int git_unpack_one(struct git_repository *g, struct choice *pack, const struct git_ref *ref,
			  const struct git_name *was)
{
	struct git_ref_value is;
	struct git_name mine;
	char beside[PATH_MAX];
	bool current = str_equal(ref->name, g->on_mine);

	git_value(g, &g->mine, ref->name, &is);
	if (git_name_equal(&is.object, &ref->object) || !git_is_ref(ref->name))
		return 0;
	if (g->c->beside_count >= GIT_BESIDE_MAX)
		return pack->rest ? 0 : git_leave_rest(g, pack, ref->name);
	enum git_room room = git_room(g, ref->name, &mine);

	/* Only the session has it, or moved it. */
	if (room == GIT_ROOM_FREE || (room == GIT_ROOM_HAS && git_name_equal(&mine, was) &&
				      !(current && g->stuck) && !git_stash_stays(g, ref->name)))
		return git_add_beside(g, pack, ref->name, &ref->object, false, false);
	const struct git_name none = {.len = 0};
	enum git_found found = git_find_beside(g, ref->name, &none, &ref->object, beside);

	if (found == GIT_FOUND)
		return git_add_beside(g, pack, beside, &ref->object, true, current);
	return found == GIT_FOUND_THERE || pack->rest ? 0 : git_leave_rest(g, pack, ref->name);
}

/* Handles one line of the session's packed-refs. */
static int git_unpack_line(struct git_repository *g, struct choice *pack, const struct git_ref *ref)
{
	struct git_ref_value old;
	struct object loose;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", g->path, ref->name) >= (int)sizeof(path) ||
	    (g->branch[0] && !str_equal(ref->name, g->branch)))
		return 0;
	const struct change *gone = changes_find(&g->c->changes, path);

	/* Its file went into packed-refs, which does not land. */
	if (gone && gone->after.type == OBJECT_ABSENT)
		git_keep(&g->c->items[gone - g->c->changes.items],
			 g->stuck ? g->stays : "packed-refs stays, and so it has a file");
	int r = git_found(g, ref->name, &old);

	if (r < 0 || git_name_equal(&old.object, &ref->object))
		return r < 0 ? r : 0;
	/* If the session has a file of this ref, that counts. */
	if (view_look(&g->c->view, path, &loose) == 0 && loose.type == OBJECT_FILE &&
	    loose.layer >= 0)
		return 0;
	return git_unpack_one(g, pack, ref, &old.object);
}

/* The session's packed-refs was not read whole: keeps every file of a ref that it removed. */
static int git_unpack_unread(const struct git_repository *g, struct choice *pack)
{
	for (size_t i = 0; i < g->count; i++) {
		struct choice *x = g->items[i].x;

		if (git_is_in(g->items[i].rest, "refs") && x->state == CHOICE_LANDS &&
		    x->change->after.type == OBJECT_ABSENT)
			git_keep(x, g->stays);
	}
	pack->rest = true;
	pack->why = arena_printf(&g->c->arena,
				 "yours stays, and what is in the session's stays there: %s",
				 g->theirs.bad ? g->theirs.bad : g->mine.bad);
	return pack->why ? 0 : -ENOMEM;
}

int git_unpack(struct git_repository *g, struct choice *x)
{
	int r = git_open_refs(g);

	git_keep(x, "yours stays");
	if (r == 0 && (g->theirs.bad || g->mine.bad))
		r = git_unpack_unread(g, x);
	for (size_t i = 0; r == 0 && !g->mine.bad && i < g->theirs.packed_count; i++)
		r = git_unpack_line(g, x, &g->theirs.packed[i]);
	return r;
}

/* --- who moved it ---------------------------------------------------------------------- */

/* The user has another value of a ref than the session found.  1, 0 or -errno. */
static int git_user_moved(struct git_repository *g, const struct git_item *item,
			  const struct git_ref_value *mine)
{
	struct git_ref_value was;
	char path[PATH_MAX];
	struct object o;
	int known = git_found(g, item->rest, &was);

	if (known != GIT_KNOWN_NOT)
		return known < 0 ? known : !git_ref_same(mine, &was);
	/* We do not know.  The ref is in its file, which was looked at, or in packed-refs. */
	if (item->x->change->before.type != OBJECT_ABSENT)
		return item->x->state == CHOICE_CONFLICT;
	return git_ref_is_there(mine) &&
	       (snprintf(path, sizeof(path), "%spacked-refs", g->common) >= (int)sizeof(path) ||
		view_look(&g->base, path, &o) < 0 || o.ctime > g->c->review->session.began);
}

/* A ref that stays, in any file, has the name of a folder that this one would be in. */
static bool git_has_no_room(const struct git_repository *g, const char *ref)
{
	char above[GIT_REF_NAME_MAX];

	if (snprintf(above, sizeof(above), "%s", ref) >= (int)sizeof(above))
		return false;
	for (char *slash; (slash = strrchr(above, '/')) && slash > strchr(above, '/');) {
		*slash = '\0';
		if (git_will_be(g, above))
			return true;
	}
	return false;
}

/* A ref of the user is beneath this one, and the session did not find and remove it.  Those in
 * files of their own are in the list of changes, as gone.  1, 0 or -errno. */
static int git_has_below(struct git_repository *g, const char *ref)
{
	const size_t count = git_refs_has_below(&g->mine, ref) ? g->mine.packed_count : 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct git_ref *below = &g->mine.packed[i];
		struct git_ref_value was, theirs;

		if (str_equal(below->name, ref) || !git_is_in(below->name, ref))
			continue;
		git_value(g, &g->theirs, below->name, &theirs);
		r = git_found(g, below->name, &was);
		if (r >= 0)
			r = r == GIT_KNOWN_NOT || git_ref_is_there(&theirs) ||
			    !git_name_equal(&was.object, &below->object);
	}
	return r;
}

/* Judges the file of a ref that the session wrote.  Meanwhile the user may have moved the ref
 * without a change of this file, or changed this file and not moved the ref. */
static int git_weigh_ref(struct git_repository *g, const struct git_item *item)
{
	struct choice *x = item->x;
	struct git_ref_value mine, theirs;

	git_value(g, &g->mine, item->rest, &mine);
	git_value(g, &g->theirs, item->rest, &theirs);
	if (git_ref_same(&mine, &theirs))
		return 0;
	int below = git_ref_is_there(&mine) ? 0 : git_has_below(g, item->rest);

	if (below < 0)
		return below;
	if (below > 0 || (!git_ref_is_there(&mine) && git_has_no_room(g, item->rest))) {
		char log[GIT_REF_NAME_MAX + sizeof("logs/")];

		(void)snprintf(log, sizeof(log), "logs/%s", item->rest);
		struct choice *with = git_choice(g, log);

		x->state = CHOICE_CONFLICT;
		if (with)
			with->state = CHOICE_CONFLICT;
		return 0;
	}
	/* The session's own branch (--worktree), which the user merged and removed, or removed by
	 * an undo: nothing is in its way, and it comes again by its name. */
	bool own = str_equal(item->rest, g->branch);
	bool again = own && !git_ref_is_there(&mine);
	/* And we do not move it if the user has it checked out, without the session's files. */
	bool under = own && !again && str_equal(item->rest, g->on_mine);
	int moved = under ? 1 : again ? 0 : git_user_moved(g, item, &mine);

	if (moved > 0)
		x->state = CHOICE_CONFLICT;
	else if ((again && x->state == CHOICE_CONFLICT) || (moved == 0 && git_ref_is_there(&mine)))
		x->state = CHOICE_LANDS;
	return moved < 0 ? moved : 0;
}

struct git_below {
	const struct git_repository *g;
	const char *folder;
};

static int git_on_below(void *context, const char *name)
{
	const struct git_below *b = context;
	char path[PATH_MAX + NAME_MAX + 2];

	(void)snprintf(path, sizeof(path), "%s/%s", b->folder, name);
	const struct change *gone = changes_find(&b->g->c->changes, path);

	return gone && gone->after.type == OBJECT_ABSENT &&
			       b->g->c->items[gone - b->g->c->changes.items].state == CHOICE_LANDS
		       ? 0
		       : -EEXIST;
}

/* The user has refs, in files of their own, beneath a ref of the session. */
static bool git_has_files_below(const struct git_repository *g, const char *ref)
{
	char path[PATH_MAX];
	struct git_below b = {.g = g, .folder = path};

	return snprintf(path, sizeof(path), "%s%s", g->common, ref) >= (int)sizeof(path) ||
	       view_list(&g->base, path, git_on_below, &b) == -EEXIST;
}

/* Judges a packed-refs that only the session changed: a ref that it moved there may have a file of
 * the user now, and a new one may have no room beside the user's. */
static int git_weigh_packed(struct git_repository *g, struct choice *x)
{
	struct git_ref_value mine, was;
	int r = 0;

	for (size_t i = 0; r >= 0 && x->state == CHOICE_LANDS && i < g->theirs.packed_count; i++) {
		const struct git_ref *ref = &g->theirs.packed[i];
		const struct git_ref *same = git_refs_packed(&g->mine, ref->name);

		if (same && git_name_equal(&same->object, &ref->object))
			continue;
		git_value(g, &g->mine, ref->name, &mine);
		if (!mine.symbolic[0] && git_name_equal(&mine.object, &ref->object))
			continue;
		r = git_found(g, ref->name, &was);
		if (git_stash_stays(g, ref->name) ||
		    (!git_ref_is_there(&mine) &&
		     (git_has_no_room(g, ref->name) || git_has_files_below(g, ref->name))) ||
		    (r == GIT_KNOWN && !git_name_equal(&was.object, &ref->object) &&
		     !git_ref_same(&mine, &was)))
			x->state = CHOICE_CONFLICT;
	}
	return r < 0 ? r : 0;
}

/* The value of a ref counts: asks of it whether both moved it. */
static int git_weigh(struct git_repository *g)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < g->count; i++) {
		const struct git_item *item = &g->items[i];
		enum choice_state state = item->x->state;

		if (state == CHOICE_LANDS && git_stash_stays(g, item->rest)) {
			item->x->state = CHOICE_CONFLICT;
			continue;
		}
		if ((state != CHOICE_LANDS && state != CHOICE_CONFLICT) ||
		    item->x->change->after.type != OBJECT_FILE)
			continue;
		bool packed = str_equal(item->rest, "packed-refs");

		if (packed || git_is_in(item->rest, "refs"))
			r = git_open_refs(g);
		if (r == 0 && packed)
			r = git_weigh_packed(g, item->x);
		else if (r == 0 && git_is_in(item->rest, "refs"))
			r = git_weigh_ref(g, item);
	}
	return r;
}

/* --- one repository -------------------------------------------------------------------- */

static bool git_is_open(const struct git_repository *g, const struct choice *x)
{
	return x->state == CHOICE_CONFLICT || (g->stuck && x->state == CHOICE_LANDS);
}

/* HEAD is on no branch: its commit has no other name. */
static int git_judge_head(struct git_repository *g, struct choice *x)
{
	return g->on_theirs[0] ? 0 : git_put_beside(g, x, "HEAD");
}

/* The file says where a worktree is that the session moved: its files land there. */
static bool git_is_moved(const struct choice *x, const char *rest)
{
	return x->change->after.type == OBJECT_FILE &&
	       (str_equal(rest, "gitdir") || str_equal(rest, "commondir"));
}

static int git_judge_one(struct git_repository *g, struct choice *x, const char *rest)
{
	const char *log = str_after(rest, "logs/");
	bool checked_out = str_equal(rest, g->on_mine) && x->change->before.type != OBJECT_ABSENT;

	if (git_is_in(rest, "refs"))
		return x->state == CHOICE_CONFLICT || (checked_out && git_is_open(g, x))
			       ? git_put_beside(g, x, rest)
			       : 0;
	if (git_is_in(rest, "logs")) {
		if (x->state == CHOICE_CONFLICT ||
		    (git_is_open(g, x) && log &&
		     (str_equal(log, "HEAD") || str_equal(log, g->on_mine))))
			git_keep(x, x->change->before.type == OBJECT_ABSENT
					    ? "its ref does not land by this name"
					    : g->stays);
		return 0;
	}
	if (!git_is_open(g, x) || git_is_in(rest, "objects") || git_is_moved(x, rest))
		return 0;
	if (str_equal(rest, "packed-refs"))
		return git_unpack(g, x);
	git_keep(x, g->stays);
	return str_equal(rest, "HEAD") ? git_judge_head(g, x) : 0;
}

/* The session's HEAD lands, and would take the user away from a branch that the user moved: makes
 * it a conflict. */
static int git_judge_left(struct git_repository *g)
{
	struct choice *head = git_choice(g, "HEAD");

	if (!head || head->state != CHOICE_LANDS || head->released ||
	    head->change->before.type != OBJECT_FILE)
		return 0;
	int r = git_open_refs(g);

	if (r == 0)
		r = git_user_left(g);
	if (r > 0)
		head->state = CHOICE_CONFLICT;
	return r < 0 ? r : 0;
}

/* This file of the repository shows that the checkout stays the user's. */
static bool git_is_stuck(const struct git_repository *g, const struct choice *x, const char *rest)
{
	return (x->state == CHOICE_CONFLICT || x->state == CHOICE_KEPT) &&
	       (str_equal(rest, "HEAD") || str_equal(rest, "index") ||
		str_equal(rest, g->on_mine) || str_equal(rest, g->on_theirs));
}

/* What the user is in the middle of since the session began; NULL: nothing. */
static const char *git_busy(const struct choices *c, const char *repository)
{
	static const struct {
		const char *name, *words;
	} marks[] = {{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase, or git am,"},
		     {"MERGE_HEAD", "a merge"},    {"CHERRY_PICK_HEAD", "a cherry-pick"},
		     {"REVERT_HEAD", "a revert"},  {"sequencer", "a cherry-pick, or a revert,"}};
	const struct view base = {.base = c->view.base};
	char path[PATH_MAX];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(marks); i++) {
		struct object o;
		int n = snprintf(path, sizeof(path), "%s%s", repository, marks[i].name);

		if (n > 0 && n < (int)sizeof(path) && view_look(&base, path, &o) == 0 &&
		    o.type != OBJECT_ABSENT && o.ctime > c->review->session.began)
			return marks[i].words;
	}
	return NULL;
}

/* A rebase leaves HEAD without a branch, and moves the branch that it is about at its end: reads
 * that branch. */
static void git_read_rebased(const struct git_repository *g, const char *folder,
			     char ret[GIT_REF_NAME_MAX])
{
	static const char *const notes[] = {"rebase-merge/head-name", "rebase-apply/head-name"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(notes) && !ret[0]; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(GIT_REF_NAME_MAX);
		char path[2 * PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s%s", folder, notes[i]);
		_cleanup_fd_ int fd = view_openat(&g->base, path, O_RDONLY);

		if (fd >= 0 && fd_read_all(fd, &text) == 0)
			(void)snprintf(ret, GIT_REF_NAME_MAX, "%.*s",
				       (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	}
}

int git_judge(struct git_repository *g, const char *stuck, const char *busy)
{
	int r = git_open_refs(g);

	g->stays = stuck ? stuck : "yours stays";
	g->stuck = stuck || busy;
	if (busy) {
		g->stays = arena_printf(&g->c->arena, "yours stays: you are in the middle of %s",
					busy);
		git_read_rebased(g, g->path, g->on_mine);
	}
	if (r < 0 || !g->stays)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < g->count; i++)
		g->stuck = g->stuck || git_is_stuck(g, g->items[i].x, g->items[i].rest);
	for (size_t i = 0; r == 0 && i < g->count; i++)
		r = git_judge_one(g, g->items[i].x, g->items[i].rest);
	return r;
}

/* --- logs ------------------------------------------------------------------------------ */

/* A log was removed, while its ref is there.  1, 0 or -errno. */
static int git_lost_log(struct git_repository *g, const struct choice *x, const char *rest)
{
	const char *ref = str_after(rest, "logs/");
	char head[2 * PATH_MAX];
	struct git_ref_value value;
	struct object o;

	if (!ref || x->state != CHOICE_LANDS || x->change->before.type != OBJECT_FILE ||
	    x->change->after.type != OBJECT_ABSENT || str_equal(ref, "refs/stash"))
		return 0;
	int r = git_open_refs(g);

	if (r < 0)
		return r;
	(void)snprintf(head, sizeof(head), "%sHEAD", g->path);
	git_value(g, &g->theirs, ref, &value);
	return value.object.len || (str_equal(ref, "HEAD") &&
				    view_look(&g->c->view, head, &o) == 0 && o.type == OBJECT_FILE);
}

/* The first `size` bytes of a file are all that another one has. */
static bool git_begins_with(int fd, int with, uint64_t size)
{
	uint8_t one[GIT_CHUNK], other[GIT_CHUNK];

	for (uint64_t at = 0; at < size;) {
		size_t want = size - at < GIT_CHUNK ? (size_t)(size - at) : GIT_CHUNK;
		ssize_t got = pread(fd, one, want, (off_t)at);

		/* Both are files: if one is too short, it changed meanwhile. */
		if (got <= 0 || pread(with, other, (size_t)got, (off_t)at) != got ||
		    memcmp(one, other, (size_t)got) != 0)
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* A log lost lines, or may have lost some; the log of stashes may. */
static bool git_lost_lines(const struct choices *c, const struct choice *x, const char *rest)
{
	const struct change *change = x->change;

	if (!git_is_in(rest, "logs") || str_equal(rest, "logs/refs/stash") ||
	    x->state != CHOICE_LANDS || change->before.type != OBJECT_FILE ||
	    change->after.type != OBJECT_FILE)
		return false;
	if (change->after.size < change->before.size)
		return true;
	_cleanup_fd_ int before = changes_open(&c->view, change, CHANGE_BEFORE);
	_cleanup_fd_ int after = changes_open(&c->view, change, CHANGE_AFTER);

	return before < 0 || after < 0 || !git_begins_with(after, before, change->before.size);
}

/* Judges an object: objects come, and neither change nor go.  If it was renamed, the old name
 * stays: choices_steps. */
static void git_judge_object(struct choice *x)
{
	const struct change *c = x->change;
	bool comes = c->before.type == OBJECT_ABSENT || c->kind == CHANGE_RENAMED;

	if (comes)
		x->state = x->state == CHOICE_CONFLICT ? CHOICE_LANDS : x->state;
	else if (x->state != CHOICE_SETTLED && x->state != CHOICE_LEFT &&
		 !(c->before.type == OBJECT_DIR && c->after.type == OBJECT_DIR))
		git_keep(x, "an object that is there is neither removed nor changed");
}

/* --- worktrees ------------------------------------------------------------------------- */

/* So it stays as it is, unless the user released something of it. */
static int git_judge_linked(struct git_repository *g)
{
	if (str_equal(g->path, g->common) || !git_is_elsewhere(g, g->path))
		return 0;
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].x->released)
			return 0;
	return git_judge(g, "yours stays: the session cannot see the worktree that it is of", NULL);
}

/* A worktree within the workspace that the session removed, and of which HEAD and index stay: so
 * does the file by which git finds them. */
static void git_keep_linked(const struct git_repository *g)
{
	const struct choice *head = git_choice(g, "HEAD"), *index = git_choice(g, "index");
	char path[2 * PATH_MAX];

	if (str_equal(g->path, g->common) ||
	    !((head && head->state == CHOICE_KEPT) || (index && index->state == CHOICE_KEPT)))
		return;
	const char *own = git_own_file(g, path);
	const struct change *file = own ? changes_find(&g->c->changes, own) : NULL;
	struct choice *x = file ? &g->c->items[file - g->c->changes.items] : NULL;

	if (x && x->state == CHOICE_LANDS && file->after.type == OBJECT_ABSENT)
		git_keep(x, "yours stays: its HEAD and index do");
}

/* What is checked out in the session's own worktree stays, by what is known of it so far. */
static bool git_own_stays(const struct git_repository *g, const char *name, const char *folder)
{
	static const char *const files[] = {"HEAD", "index"};
	char path[sizeof("worktrees//index") + NAME_MAX];

	if (git_busy(g->c, folder))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "worktrees/%s/%s", name, files[i]);
		const struct choice *x = git_choice(g, path);

		if (x && x->state == CHOICE_CONFLICT)
			return true;
	}
	return false;
}

static int git_add_worktree(struct git_repository *g, const char *name, const char *branch)
{
	struct git_worktree *w = arena_alloc(&g->c->arena, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct git_worktree){.name = arena_str(&g->c->arena, name),
				   .branch = arena_str(&g->c->arena, branch),
				   .next = g->worktrees};
	g->worktrees = w;
	return w->name && w->branch ? 0 : -ENOMEM;
}

static int git_on_worktree(void *context, const char *name)
{
	struct git_repository *g = context;
	char folder[PATH_MAX], branch[GIT_REF_NAME_MAX],
		index[sizeof("worktrees//index") + NAME_MAX];

	if (snprintf(folder, sizeof(folder), "%sworktrees/%s/", g->path, name) >=
		    (int)sizeof(folder) ||
	    snprintf(index, sizeof(index), "worktrees/%s/index", name) >= (int)sizeof(index))
		return 0;
	git_read_head(&g->base, folder, g->common, branch);
	if (git_is_own(g, folder)) {
		git_read_rebased(g, folder, branch);
		return branch[0] && git_own_stays(g, name, folder)
			       ? git_add_worktree(g, name, branch)
			       : 0;
	}
	const struct choice *worked = git_choice(g, index);

	if (!branch[0] ||
	    (worked && worked->change->after.type == OBJECT_FILE && !git_is_elsewhere(g, folder)))
		return 0;
	return git_add_worktree(g, name, branch);
}

/* A worktree of the user's that has this branch checked out, and in which the session did not work.
 * 1: it is there; 0; or -errno. */
static int git_find_worktree(struct git_repository *g, const char *branch,
			     const struct git_worktree **ret)
{
	char path[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "%sworktrees", g->path);
	if (!g->has_worktrees && view_list(&g->base, path, git_on_worktree, g) == -ENOMEM)
		return -ENOMEM;
	/* To a session in a linked worktree the repository's own folder is another one. */
	if (!g->has_worktrees && g->c->review->session.linked[0] && g->on_mine[0] &&
	    git_add_worktree(g, g->c->review->layers.workspace, g->on_mine) < 0)
		return -ENOMEM;
	g->has_worktrees = true;
	for (*ret = g->worktrees; *ret; *ret = (*ret)->next)
		if (str_equal((*ret)->branch, branch))
			return 1;
	return 0;
}

/* The session changed what is checked out in a worktree. */
static bool git_is_left(const struct git_repository *g, const struct git_worktree *w)
{
	char head[sizeof("worktrees//HEAD") + NAME_MAX];

	(void)snprintf(head, sizeof(head), "worktrees/%s/HEAD", w->name);
	return git_choice(g, head) != NULL;
}

/* A branch that another worktree has checked out does not move, and is not checked out here as
 * well. */
static int git_judge_elsewhere(struct git_repository *g, const struct git_item *item)
{
	bool head = str_equal(item->rest, "HEAD");
	const char *branch = head ? g->on_theirs : item->rest;
	const struct git_worktree *w = NULL;
	char log[PATH_MAX + sizeof("logs/")];

	if (item->x->state != CHOICE_LANDS || !(head || git_is_in(item->rest, "refs/heads")) ||
	    (head && (!branch[0] || str_equal(g->on_mine, branch))))
		return 0;
	int r = git_find_worktree(g, branch, &w);

	/* If the session left the branch there, and removed it, git_keep_heads asks later, when we
	 * know whether that HEAD lands. */
	if (r <= 0 || (!head && item->x->change->after.type == OBJECT_ABSENT && git_is_left(g, w)))
		return r < 0 ? r : 0;
	g->stays = arena_printf(&g->c->arena, "yours stays: the worktree %s has %s checked out",
				w->name, head ? branch : "it");
	if (!g->stays)
		return -ENOMEM;
	if (head)
		return git_judge(g, g->stays, NULL);
	(void)snprintf(log, sizeof(log), "logs/%s", item->rest);
	struct choice *logged = git_choice(g, log);

	if (logged)
		git_keep(logged, g->stays);
	return git_put_beside(g, item->x, item->rest);
}

/* --- what is checked out does not go ---------------------------------------------------- */

/* Keeps a branch that a HEAD of the user, as it will be, or a rebase is about, and that is gone
 * from the session's refs.  `who`: whose HEAD it is, in words. */
static int git_keep_branch(struct git_repository *g, const char *branch, const char *who)
{
	struct git_ref_value mine, theirs;
	char log[GIT_REF_NAME_MAX + sizeof("logs/")], path[PATH_MAX];
	struct object o;

	git_value(g, &g->mine, branch, &mine);
	git_value(g, &g->theirs, branch, &theirs);
	if (!git_ref_is_there(&mine) || git_ref_is_there(&theirs) ||
	    snprintf(path, sizeof(path), "%s%s", g->path, branch) >= (int)sizeof(path))
		return 0;
	const char *why = arena_printf(&g->c->arena, "yours stays: %s %s checked out", who, branch);
	struct choice *pack = git_choice(g, "packed-refs");
	struct choice *with[] = {git_choice(g, branch), NULL};

	(void)snprintf(log, sizeof(log), "logs/%s", branch);
	with[1] = git_choice(g, log);
	for (size_t i = 0; why && i < BAWN_ARRAY_SIZE(with); i++)
		if (with[i] && with[i]->state == CHOICE_LANDS)
			git_keep(with[i], why);
	/* Its own file is enough. */
	if (!why || !pack || pack->state != CHOICE_LANDS || view_look(&g->base, path, &o) < 0 ||
	    o.type == OBJECT_FILE)
		return why ? 0 : -ENOMEM;
	int r = git_unpack(g, pack);

	if (r == 0 && !pack->rest)
		pack->why = why;
	return r;
}

/* Keeps the branch of a HEAD as it will be; `folder` is where that is, within the repository. */
static int git_keep_head(struct git_repository *g, const char *folder, const char *who)
{
	char own[sizeof("worktrees//HEAD") + NAME_MAX], path[2 * PATH_MAX];
	char branch[GIT_REF_NAME_MAX];

	(void)snprintf(own, sizeof(own), "%sHEAD", folder);
	const struct choice *head = git_choice(g, own);

	(void)snprintf(path, sizeof(path), "%s%s", g->path, folder);
	git_read_head(head && head->state == CHOICE_LANDS ? &g->c->view : &g->base, path, g->common,
		      branch);
	git_read_rebased(g, path, branch);
	return branch[0] ? git_keep_branch(g, branch, who) : 0;
}

static int git_keep_of_worktree(void *context, const char *name)
{
	struct git_repository *g = context;
	char folder[sizeof("worktrees//") + NAME_MAX];
	const char *who = arena_printf(&g->c->arena, "the worktree %s has", name);

	(void)snprintf(folder, sizeof(folder), "worktrees/%s/", name);
	return who ? git_keep_head(g, folder, who) : -ENOMEM;
}

/* Keeps a branch that the session removed while the user went to it, here or in a worktree: HEAD
 * would name nothing. */
static int git_keep_heads(struct git_repository *g)
{
	char path[2 * PATH_MAX];
	bool asks = false;

	for (size_t i = 0; i < g->count && !asks; i++)
		asks = g->items[i].x->state == CHOICE_LANDS &&
		       (str_equal(g->items[i].rest, "packed-refs") ||
			(git_is_in(g->items[i].rest, "refs/heads") &&
			 g->items[i].x->change->after.type != OBJECT_FILE));
	int r = asks ? git_open_refs(g) : 0;

	if (!asks || r < 0)
		return r;
	r = git_keep_head(g, "", "you have");
	(void)snprintf(path, sizeof(path), "%sworktrees", g->path);
	if (r == 0)
		r = view_list(&g->base, path, git_keep_of_worktree, g);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* The first item that is not before "ref/".  The items are sorted. */
static size_t git_first_below(const struct git_repository *g, const char *ref)
{
	size_t from = 0, to = g->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (git_refs_is_before(g->items[middle].rest, ref))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* A ref that stays is beneath this one: in its own file, which the session removed, or packed. */
static bool git_stays_below(const struct git_repository *g, const char *ref)
{
	for (size_t i = git_first_below(g, ref);
	     i < g->count && git_refs_is_below(g->items[i].rest, ref); i++) {
		const struct choice *x = g->items[i].x;

		if (x->change->before.type == OBJECT_FILE && x->state != CHOICE_LANDS)
			return true;
	}
	for (size_t i = git_refs_below(&g->mine, ref);
	     i < g->mine.packed_count && git_refs_is_below(g->mine.packed[i].name, ref); i++)
		if (git_will_be(g, g->mine.packed[i].name))
			return true;
	return false;
}

/* The session renamed a branch into a folder of its own name, or out of one, while something of the
 * user stays there: lands it beside. */
static int git_keep_room(struct git_repository *g)
{
	int r = 0;

	g->stays = "yours stays";
	for (size_t i = 0; r == 0 && i < g->count; i++) {
		const struct git_item *item = &g->items[i];
		char log[PATH_MAX + sizeof("logs/")];

		if (!git_is_in(item->rest, "refs") || item->x->state != CHOICE_LANDS ||
		    item->x->change->after.type != OBJECT_FILE)
			continue;
		r = git_open_refs(g);
		if (r < 0 || !(git_has_no_room(g, item->rest) || git_stays_below(g, item->rest)))
			continue;
		(void)snprintf(log, sizeof(log), "logs/%s", item->rest);
		struct choice *with = git_choice(g, log);

		if (with && with->state == CHOICE_LANDS)
			git_keep(with, "its ref does not land by this name");
		r = git_put_beside(g, item->x, item->rest);
	}
	return r;
}

/* The session went to a branch that the user removed meanwhile: HEAD would name nothing, and it did
 * name a commit. */
static int git_judge_unborn(struct git_repository *g)
{
	const struct choice *head = git_choice(g, "HEAD");
	struct git_ref_value mine;

	if (!head || head->state != CHOICE_LANDS || !g->on_theirs[0] ||
	    head->change->before.type != OBJECT_FILE)
		return 0;
	int r = git_open_refs(g);

	if (r < 0 || git_will_be(g, g->on_theirs))
		return r;
	const struct choice *branch = git_choice_shared(g, g->on_theirs);
	enum choice_state state = branch ? branch->state : CHOICE_SETTLED;

	git_value(g, &g->mine, "HEAD", &mine);
	/* What is pending may still come. */
	if (!mine.object.len || state == CHOICE_HELD || state == CHOICE_LEFT)
		return 0;
	const char *why = arena_printf(
		&g->c->arena, "yours stays: the session has %s checked out, which is not there",
		g->on_theirs);

	return why ? git_judge(g, why, NULL) : -ENOMEM;
}

/* --- all of them ----------------------------------------------------------------------- */

static bool git_is_object(const struct git_item *item)
{
	const char *from = item->x->change->from;

	return git_is_in(item->rest, "objects") || (from && choice_is_git_object(from));
}

/* Nothing of git lands without the objects that it may name, whatever was picked. */
static void git_bring_objects(const struct git_repository *g)
{
	bool lands = false;

	for (size_t i = 0; i < g->count && !lands; i++)
		lands = g->items[i].x->state == CHOICE_LANDS &&
			!git_is_in(g->items[i].rest, "objects");
	for (size_t i = 0; i < g->count && lands; i++)
		if (g->items[i].x->state == CHOICE_LEFT && git_is_in(g->items[i].rest, "objects"))
			g->items[i].x->state = CHOICE_LANDS;
}

/* Judges all that the session changed of a repository. */
static int git_judge_all(struct git_repository *g, const char *busy)
{
	bool judged = false;
	int r = git_weigh(g);

	if (r == 0)
		r = git_judge_left(g);

	for (size_t i = 0; r == 0 && i < g->count; i++) {
		const struct git_item *item = &g->items[i];
		struct choice *x = item->x;

		if (git_is_object(item)) {
			git_judge_object(x);
			continue;
		}
		r = git_lost_lines(g->c, x, item->rest) ? 1 : git_lost_log(g, x, item->rest);
		if (r > 0)
			git_keep(x, "a log only grows: yours stays");
		if (r < 0)
			return r;
		/* Once for all of them: after that no conflict is left. */
		bool asks = x->state == CHOICE_CONFLICT || (busy && x->state == CHOICE_LANDS);

		r = asks && !judged ? git_judge(g, NULL, busy) : 0;
		judged = judged || asks;
		/*
		 * Of a session with a branch of its own only that branch lands, and no other ref.
		 */
		if (r == 0 && g->branch[0] && x->state == CHOICE_LANDS &&
		    str_equal(item->rest, "packed-refs"))
			r = git_unpack(g, x);
		if (r == 0)
			r = git_judge_elsewhere(g, item);
	}
	git_bring_objects(g);
	return r;
}

/* A worktree in the workspace has its branch in the repository, which was judged before: if that
 * stays the user's, the checkout stays, too. */
static int git_judge_shared(struct git_repository *g)
{
	if (str_equal(g->path, g->common) || !g->on_mine[0])
		return 0;
	const struct choice *x = git_choice_shared(g, g->on_mine);
	struct git_ref_value will, theirs;
	int r = x ? git_open_refs(g) : 0;

	if (!x || r < 0)
		return r;
	/* Its file may stay because packed-refs does, and have the session's value all the same. */
	git_will_value(g, g->on_mine, &will);
	git_value(g, &g->theirs, g->on_mine, &theirs);
	return !git_ref_same(&will, &theirs) &&
			       (x->state == CHOICE_CONFLICT || x->state == CHOICE_KEPT)
		       ? git_judge(g, "yours stays", NULL)
		       : 0;
}

static int git_judge_whole(struct git_repository *g)
{
	git_keep_unshared(g);
	int r = git_judge_linked(g);

	if (r == 0)
		r = git_judge_shared(g);

	if (r == 0)
		r = git_judge_all(g, git_busy(g->c, g->path));
	if (r == 0)
		r = git_judge_unborn(g);
	if (r == 0)
		git_keep_linked(g);
	return r;
}

/* Finds the folder that worktrees share: .git/worktrees/NAME/ has its refs in .git/. */
static void git_find_common(struct git_repository *g, size_t len)
{
	static const char folder[] = "worktrees";
	const char *slash = len ? memrchr(g->path, '/', len - 1) : NULL;
	size_t before = slash ? (size_t)(slash - g->path) : 0, own = sizeof(folder) - 1;
	char head[PATH_MAX + sizeof("HEAD")];
	struct object o;

	if (before < own || (before > own && g->path[before - own - 1] != '/') ||
	    memcmp(slash - own, folder, own) != 0)
		return;
	/* A folder that only has this name has no repository around it. */
	(void)snprintf(head, sizeof(head), "%.*sHEAD", (int)(before - own), g->path);
	if (git_dir_of(g->path) || (view_look(&g->base, head, &o) == 0 && o.type == OBJECT_FILE))
		g->common[before - own] = '\0';
}

/* Judges the repository of these items.  `last` has the open refs of the one before, and gets those
 * of this one. */
static int git_in_repository(struct choices *c, const struct git_item *items, size_t count,
			     int (*judge)(struct git_repository *g), struct git_repository *last)
{
	struct git_repository g = {
		.c = c, .items = items, .count = count, .base = {.base = c->view.base}};
	size_t len = items[0].len;

	if (len >= sizeof(g.path))
		return -ENAMETOOLONG;
	memcpy(g.path, items[0].x->change->path, len);
	memcpy(g.common, g.path, len);
	git_find_common(&g, len);
	if (c->review->session.branch[0] && str_equal(g.path, ".git/"))
		(void)snprintf(g.branch, sizeof(g.branch), "refs/heads/%s",
			       c->review->session.branch);
	git_read_head(&g.base, g.path, g.common, g.on_mine);
	git_read_head(&c->view, g.path, g.common, g.on_theirs);
	if (str_equal(last->common, g.common))
		git_take_refs(last, &g);
	int r = judge(&g);

	git_close_refs(last);
	memcpy(last->common, g.common, sizeof(last->common));
	git_take_refs(&g, last);
	return r;
}

static int git_order(const void *a, const void *b)
{
	const struct git_item *one = a, *other = b;
	size_t len = one->len < other->len ? one->len : other->len;
	int order = memcmp(one->x->change->path, other->x->change->path, len);

	if (order == 0)
		order = (one->len > other->len) - (one->len < other->len);
	return order ? order : (one->x > other->x) - (one->x < other->x);
}

/* Calls `judge` for each repository with all of its items. */
static int git_each(struct choices *c, const struct git_item *items, size_t count,
		    int (*judge)(struct git_repository *g), struct error *e)
{
	struct git_repository last = {.base = {.base = c->view.base}};
	int r = 0;

	for (size_t from = 0, to = 0; r >= 0 && from < count; from = to) {
		const char *path = items[from].x->change->path;

		for (to = from + 1; to < count && items[to].len == items[from].len &&
				    memcmp(items[to].x->change->path, path, items[from].len) == 0;)
			to++;
		r = git_in_repository(c, items + from, to - from, judge, &last);
		if (r < 0)
			(void)error_sys(e, r, "cannot read the repository of %s", path);
	}
	git_close_refs(&last);
	return r < 0 ? r : 0;
}

int git_each_repository(struct choices *c, git_judging *const *judges, size_t many, struct error *e)
{
	_cleanup_free_ struct git_item *items = calloc(c->count + 1, sizeof(*items));
	size_t count = 0;
	int r = 0;

	if (!items)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < c->count; i++) {
		struct git_item *item = &items[count];

		item->x = &c->items[i];
		item->rest = git_known(c->items[i].change, &item->len);
		count += item->rest != NULL;
	}
	qsort(items, count, sizeof(*items), git_order);
	for (size_t i = 0; r == 0 && i < many; i++)
		r = git_each(c, items, count, judges[i], e);
	return r;
}

int choices_git(struct choices *c, struct error *e)
{
	/* After the first judge we know which HEADs land, those of worktrees as well. */
	static git_judging *const judges[] = {git_judge_whole, git_keep_heads, git_keep_room};

	char own[sizeof(".git/worktrees//") + NAME_MAX] = ".git/";

	if (c->review->session.linked[0])
		(void)snprintf(own, sizeof(own), ".git/worktrees/%s/", c->review->session.linked);
	c->busy = git_busy(c, own);
	return git_each_repository(c, judges, BAWN_ARRAY_SIZE(judges), e);
}

void choices_git_fini(struct choices *c)
{
	free(c->beside);
	c->beside = NULL;
	c->beside_count = 0;
}
