/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_direct.h"

#include "attributes.h"
#include "basis.h"
#include "clock.h"
#include "fd.h"
#include "journal.h"
#include "open.h"
#include "str.h"
#include "undo_attributes.h"
#include "undo_git.h"
#include "undo_links.h"
#include "undo_unseen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough for as many entries as a session can have (first_keep.h). */
#define UNDO_ARENA_MAX ((size_t)3 << 30)

static const char direct_unreadable[] =
	"it cannot be read; make it readable (chmod u+r) before undo";

static const char direct_closed[] =
	"what it became cannot be read; make it readable (chmod u+rx) before undo";

static const char direct_mounted[] =
	"something is mounted there, or in the folder that it was renamed with";

static const char direct_doubtful[] =
	"the session may have written it by another name, and the filesystem does not tell";

/* --- objects --------------------------------------------------------------------------- */

int undo_look(int tree, const char *path, struct object *ret)
{
	const struct view base = {.base = tree};
	int r = view_look_hashed(&base, path, ret);

	return r == -ENOTDIR ? 0 : r;
}

bool undo_is_only_folder(const struct first *first, const struct object *before,
			 const struct object *after)
{
	return first->dir >= 0 && before->type == OBJECT_DIR && after->type == OBJECT_DIR;
}

bool undo_object_of(const struct first_entry *f, const struct object *now, struct object *ret)
{
	static const unsigned int types[FIRST_KIND_COUNT] = {
		[FIRST_ABSENT] = OBJECT_ABSENT,    [FIRST_FILE] = OBJECT_FILE,
		[FIRST_DIR] = OBJECT_DIR,          [FIRST_LINK] = OBJECT_LINK,
		[FIRST_OTHER] = OBJECT_TYPE_COUNT, [FIRST_MOVED] = OBJECT_TYPE_COUNT,
	};
	struct sha256 s;

	*ret = (struct object){.type = types[f->kind],
			       .mode = f->mode & 07777,
			       .size = f->size,
			       .mtime = f->mtime,
			       .layer = -1};
	if (ret->type == OBJECT_TYPE_COUNT)
		return false;
	if (ret->type == OBJECT_LINK) {
		sha256_begin(&s);
		sha256_add(&s, span_of_str(f->text));
		sha256_end(&s, ret->digest);
		ret->hashed = true;
		ret->link = f->text;
	}
	if (ret->type != OBJECT_FILE)
		return true;
	memcpy(ret->digest, f->digest, SHA256_SIZE);
	ret->hashed = f->flags & FIRST_HASHED;
	/* It is not hashed, but nobody has written it since.  An overlay may have its own inodes,
	 * and times can be set, except for the time of the last change. */
	if (!ret->hashed && now->type == OBJECT_FILE &&
	    (f->flags & FIRST_DIRECT ? now->ino == f->ino : now->ctime == f->ctime) &&
	    now->mtime == f->mtime && now->size == f->size && now->hashed) {
		memcpy(ret->digest, now->digest, SHA256_SIZE);
		ret->hashed = true;
	}
	return ret->hashed;
}

/* --- what shall be where -------------------------------------------------------------------- */

enum direct_verdict {
	DIRECT_SAME, /* it is as it was */
	DIRECT_STEP,
	DIRECT_STAYS, /* `why` says why */
};

/* What a verdict may depend on. */
enum direct_upon {
	DIRECT_FOLDER,     /* the folder that it is in */
	DIRECT_REPOSITORY, /* the repository of an object */
	DIRECT_UPON_COUNT,
};

/* One item for each path of u->former. */
struct direct_item {
	enum direct_verdict verdict;
	const char *why; /* NULL: the reason is at another path */
	bool opens;      /* it is a folder that the session left closed */
	struct object now, was;
	const struct land_has *has; /* what it had; NULL: not known */
	/* Its folder and its repository, and a list of items that depend on it: numbers of items,
	 * and by what they depend (DIRECT_UPON_COUNT for each item).  -1: none. */
	ssize_t upon[DIRECT_UPON_COUNT], next[DIRECT_UPON_COUNT], hang;
};

/* A file with several names. */
struct direct_links {
	const char *twin; /* a name by which it is the same file as before, unchanged; or NULL */
	uint64_t ino;     /* inode of a name by which it is unchanged */
	size_t same;      /* how many names are unchanged */
	bool apart;       /* the names are of several files, or not all are unchanged */
};

struct direct_plan {
	struct undo_direct *u;
	const struct layers_session *session;
	struct view base;
	struct direct_item *items;
	struct direct_links *links; /* by former.file */
	size_t *todo; /* items that stay now, and whose dependents we have not asked yet */
	size_t todo_count;
};

static void direct_stays(struct direct_item *i, const char *why)
{
	i->verdict = DIRECT_STAYS;
	i->why = why;
}

/* For a folder: its owner can look into it. */
static bool direct_is_open(uint32_t mode)
{
	return (mode & S_IRUSR) && (mode & S_IXUSR);
}

static struct direct_item *direct_find(const struct direct_plan *p, const char *path)
{
	const struct former *f = former_find_path(&p->u->former, path);

	return f ? &p->items[f - p->u->former.items] : NULL;
}

static bool direct_was_opened(const struct direct_plan *p, const char *path)
{
	const struct undo_opened *o = p->u->opened;
	bool found = false;

	for (size_t i = 0; o && !found && i < o->count; i++)
		found = str_equal(o->items[i], path);
	return found;
}

/*
 * The path is in a folder that came since into one that the session renamed.  The recorder noted
 * all that was there at the end; the content of a folder does not show that the folder was moved.
 */
static bool direct_came_since(const struct direct_plan *p, const char *path)
{
	_cleanup_free_ char *above = strdup(path);
	struct first_entry end;
	struct object o;

	for (char *slash = NULL; above && (slash = strrchr(above, '/'));) {
		*slash = '\0';
		const struct former *f = former_find_path(&p->u->former, above);

		if (!f || !f->made || first_find_end(&p->u->first, above, &end) >= 0)
			return false;
		if (view_look(&p->base, above, &o) < 0 ||
		    (o.ctime > p->session->ended && !direct_was_opened(p, above)))
			return true;
	}
	return !above;
}

/* It is as the session left it.  If the recorder could not note that: nobody touched it since. */
static bool direct_is_as_left(const struct direct_plan *p, const char *path,
			      const struct object *now)
{
	struct first_entry end;
	struct object left;

	if (first_find_end(&p->u->first, path, &end) >= 0) {
		/* A pipe, a socket or a device has no content to compare, and nobody loses any by
		 * its removal. */
		if (end.kind == FIRST_OTHER)
			return now->type == OBJECT_ABSENT ||
			       (now->type > OBJECT_LINK && end.ino == now->ino &&
				end.mtime == now->mtime && end.mode == now->mode);
		if (!undo_object_of(&end, now, &left))
			return false;
		/* It was left unreadable, and made readable since: else nobody could undo it. */
		if ((end.kind == FIRST_FILE && !(end.mode & S_IRUSR)) ||
		    (end.kind == FIRST_DIR && !direct_is_open(end.mode)))
			left.mode = now->mode;
		return basis_same(&left, now) &&
		       (now->type == OBJECT_ABSENT ||
			undo_has_as_entry(&p->u->first, p->u->tree, path, &end));
	}
	/* For a folder its content decides. */
	return now->type == OBJECT_ABSENT || now->type == OBJECT_DIR ||
	       (now->ctime <= p->session->ended && !direct_came_since(p, path));
}

/* It still has the time that the session gave it.  If somebody gave it another one since, it keeps
 * that. */
static bool direct_has_time_of_session(const struct direct_plan *p, const char *path,
				       const struct object *now)
{
	struct first_entry end;

	return first_find_end(&p->u->first, path, &end) >= 0 ? end.mtime == now->mtime
							     : now->ctime <= p->session->ended;
}

static int direct_link_words(const struct direct_plan *p, const char *path, struct object *o)
{
	char words[PATH_MAX];
	_cleanup_fd_ int fd = view_openat(&p->base, path, O_PATH);
	ssize_t n = fd < 0 ? fd : readlinkat(fd, "", words, sizeof(words));

	if (n < 0)
		return fd < 0 ? fd : -errno;
	o->link = arena_strn(&p->u->arena, words, (size_t)n);
	return o->link ? 0 : -ENOMEM;
}

void undo_hash(const struct first *first, struct first_entry *f)
{
	_cleanup_fd_ int content =
		f->kind == FIRST_FILE && !(f->flags & FIRST_HASHED) ? first_content(first, f) : -1;
	uint64_t size = 0;

	if (content >= 0 && changes_hash(content, f->digest, &size) == 0)
		f->flags |= FIRST_HASHED;
}

/*
 * What the recorder kept, with the digest of a content that is in a separate file.  We hash it
 * unless nobody has touched what is there since: the session can write a file, or make another one
 * that gets its inode, and set its time back, but not the time of the last change.
 */
static bool direct_was_kept(const struct direct_plan *p, const struct first_entry *e,
			    struct direct_item *i)
{
	struct first_entry hashed = *e;

	if (i->now.type != OBJECT_FILE || i->now.ctime != e->ctime ||
	    !undo_object_of(e, &i->now, &i->was))
		undo_hash(&p->u->first, &hashed);
	return undo_object_of(&hashed, &i->now, &i->was);
}

/* NULL, or why we do not know what was there. */
static const char *direct_former(const struct direct_plan *p, const struct former *f,
				 struct direct_item *i)
{
	struct first_entry e;

	i->was = (struct object){.type = OBJECT_ABSENT, .layer = -1};
	if (f->entry >= 0) {
		first_at(&p->u->first, (size_t)f->entry, &e);
		if (!direct_was_kept(p, &e, i))
			return e.why ? first_why_words[e.why] : "it was not kept";
	} else if (f->real) {
		if (undo_look(p->u->tree, f->real, &i->was) < 0 ||
		    (i->was.type == OBJECT_LINK && direct_link_words(p, f->real, &i->was) < 0))
			return direct_unreadable;
		if (!direct_is_as_left(p, f->real, &i->was))
			return "it was changed since";
	}
	if (f->meta >= 0 && i->was.type != OBJECT_ABSENT) {
		first_at(&p->u->first, (size_t)f->meta, &e);
		i->was.mode = e.mode & 07777;
		i->was.mtime = e.mtime;
	}
	return i->was.type > OBJECT_LINK ? "it is no file, folder or link" : NULL;
}

static bool direct_has_content(const struct direct_plan *p, const struct former *f,
			       const struct direct_item *i)
{
	struct first_entry e;

	if (i->was.type != OBJECT_FILE || f->entry < 0 || basis_same_content(&i->now, &i->was))
		return true;
	first_at(&p->u->first, (size_t)f->entry, &e);
	_cleanup_fd_ int content = first_content(&p->u->first, &e);

	return content >= 0;
}

/*
 * A rename works only on one mount, and not on a mount point: true if this one cannot be renamed.
 */
static bool direct_is_barred(const struct direct_plan *p, const struct former *f,
			     const struct direct_item *i)
{
	bool elsewhere = f->real && !str_equal(f->real, f->path);
	char at[PATH_MAX], real[PATH_MAX];

	if (land_at(p->u->tree, f->path, at) < 0 ||
	    (elsewhere && land_at(p->u->tree, f->real, real) < 0))
		return true;
	return (str_equal(at, f->path) &&
		(i->now.type != OBJECT_DIR || i->was.type != OBJECT_DIR)) ||
	       (elsewhere && !str_equal(at, real));
}

/* It is where the session removed a folder, and no call of the session put it there. */
static bool direct_is_others(const struct direct_plan *p, const struct former *f,
			     const struct object *now)
{
	bool elsewhere = !f->real || !str_equal(f->real, f->path);
	struct first_entry e;

	return elsewhere && !f->made && now->type != OBJECT_ABSENT && now->type != OBJECT_DIR &&
	       first_find(&p->u->first, f->path, &e) < 0;
}

static void direct_judge(const struct direct_plan *p, const struct former *f, struct direct_item *i)
{
	bool elsewhere = f->real && !str_equal(f->real, f->path);

	if (undo_look(p->u->tree, f->path, &i->now) < 0 || f->closed) {
		direct_stays(i, f->closed ? direct_closed : direct_unreadable);
		return;
	}
	const char *why = direct_former(p, f, i);

	if (why) {
		/* What it became is named at its own path. */
		direct_stays(i, elsewhere && f->entry < 0 ? NULL : why);
		return;
	}
	i->has = undo_has_of(p->u, f, &i->was);
	bool has =
		i->now.type != i->was.type ||
		((!i->has || undo_has_now(p->u->tree, f->path, i->has)) && undo_has_holes(p->u, f));

	if (f->doubt != FORMER_EITHER && basis_same(&i->now, &i->was) && has &&
	    (i->now.type == OBJECT_LINK || i->now.mode == i->was.mode ||
	     i->now.type == OBJECT_ABSENT) &&
	    (i->now.mtime == i->was.mtime || !direct_has_time_of_session(p, f->path, &i->now)))
		return;
	i->verdict = DIRECT_STEP;
	if (f->doubt != FORMER_SURE)
		direct_stays(i, direct_doubtful);
	else if (!direct_is_as_left(p, f->path, &i->now) || direct_is_others(p, f, &i->now))
		direct_stays(i, "it was changed since");
	else if (i->now.type == OBJECT_DEVICE)
		direct_stays(i, "it is a device; remove it before undo");
	else if (direct_is_barred(p, f, i))
		direct_stays(i, direct_mounted);
	else if (!journal_is_path(f->path))
		direct_stays(i, "its name is one that bawn itself uses");
	else if (!direct_has_content(p, f, i))
		direct_stays(i, "it was not kept");
}

/*
 * The time for a folder that stays a folder: as it was, unless somebody changed its content since.
 */
static int64_t direct_time(const struct direct_plan *p, const struct former *f,
			   const struct direct_item *i)
{
	bool elsewhere = f->real && !str_equal(f->real, f->path);

	if (i->verdict == DIRECT_STAYS || i->now.type != OBJECT_DIR || i->was.type != OBJECT_DIR)
		return 0;
	return elsewhere || direct_has_time_of_session(p, f->path, &i->now) ? i->was.mtime : 0;
}

/* --- files with several names ----------------------------------------------------------- */

/* It is the same file as before. */
static bool direct_is_itself(const struct direct_plan *p, const struct former *f,
			     const struct direct_item *i)
{
	struct first_entry e;

	if (f->entry < 0 && f->meta < 0)
		return true;
	first_at(&p->u->first, (size_t)(f->entry >= 0 ? f->entry : f->meta), &e);
	if (i->now.ino != e.ino || i->now.dev != e.dev)
		return false;
	/* Another file may have its inode. */
	_cleanup_fd_ int fd = view_openat(&p->base, f->path, O_PATH);
	int64_t born = fd < 0 ? 0 : first_born(fd, "");

	return !born || (e.born ? born == e.born : born <= e.ctime);
}

/* Notes what became of each file's names. */
static void direct_see_links(struct direct_plan *p)
{
	for (size_t n = 0; n < p->u->former.count; n++) {
		const struct former *f = &p->u->former.items[n];
		const struct direct_item *i = &p->items[n];
		struct direct_links *l = &p->links[f->file];

		if (!f->file || i->was.type != OBJECT_FILE || i->verdict == DIRECT_STAYS)
			continue;
		l->apart =
			l->apart || i->verdict == DIRECT_STEP || (l->same && l->ino != i->now.ino);
		if (i->verdict != DIRECT_SAME)
			continue;
		l->ino = i->now.ino;
		l->same++;
		if (direct_is_itself(p, f, i))
			l->twin = f->path;
	}
}

/* It is unchanged, except that it is now a name of another file than it was. */
static bool direct_has_other_links(const struct direct_plan *p, const struct former *f,
				   const struct direct_item *i)
{
	const struct direct_links *l = &p->links[f->file];

	if (i->verdict != DIRECT_SAME || i->was.type != OBJECT_FILE || direct_is_itself(p, f, i) ||
	    !direct_is_as_left(p, f->path, &i->now) || !journal_is_path(f->path))
		return false;
	return f->file ? l->twin || l->apart || i->now.links != l->same : i->now.links > 1;
}

/* Where the file is that shall have this name again; NULL: it will be a new file. */
static const char *direct_twin(const struct direct_plan *p, const struct former *f,
			       const struct direct_item *i)
{
	bool moved = f->entry < 0 && f->meta < 0 && f->real && !str_equal(f->real, f->path);

	if (i->was.type != OBJECT_FILE)
		return NULL;
	return moved && i->was.links > 1 ? f->real : p->links[f->file].twin;
}

static void direct_plan_links(struct direct_plan *p)
{
	direct_see_links(p);
	for (size_t n = 0; n < p->u->former.count; n++)
		if (direct_has_other_links(p, &p->u->former.items[n], &p->items[n]))
			p->items[n].verdict = DIRECT_STEP;
}

/* --- what depends on what ------------------------------------------------------------------ */

static unsigned int direct_after(const struct direct_item *i)
{
	return i->verdict == DIRECT_STEP ? i->was.type : i->now.type;
}

struct direct_folder {
	const struct direct_plan *p;
	const char *path;
	bool stays;
};

static int direct_look_inside(void *context, const char *name)
{
	struct direct_folder *f = context;
	_cleanup_buf_ struct buf path = BUF_INIT(2ul * PATH_MAX);

	buf_putf(&path, "%s/%s", f->path, name);
	const struct direct_item *i = direct_find(f->p, buf_str(&path));

	f->stays = f->stays || !i || direct_after(i) != OBJECT_ABSENT;
	return f->stays ? -ECANCELED : 0;
}

/* A folder can go only if everything in it goes: true if something stays. */
static bool direct_has_rest(const struct direct_plan *p, const struct former *f,
			    const struct direct_item *i)
{
	struct direct_folder folder = {.p = p, .path = f->path};

	if (i->now.type != OBJECT_DIR || i->was.type == OBJECT_DIR)
		return false;
	return view_list(&p->base, f->path, direct_look_inside, &folder) < 0 || folder.stays;
}

/* What comes back needs its folder. */
static bool direct_has_folder(const struct direct_plan *p, const struct former *f,
			      const struct direct_item *i)
{
	const char *slash = strrchr(f->path, '/');
	struct object o = {.type = OBJECT_ABSENT};

	if (i->was.type == OBJECT_ABSENT || !slash)
		return true;
	if (i->upon[DIRECT_FOLDER] >= 0)
		return direct_after(&p->items[i->upon[DIRECT_FOLDER]]) == OBJECT_DIR;
	_cleanup_free_ char *above = strndup(f->path, (size_t)(slash - f->path));

	return above && view_look(&p->base, above, &o) == 0 && o.type == OBJECT_DIR;
}

/* --- git's own files (undo_git.h) ------------------------------------------------------ */

static const char *direct_path(const void *context, size_t i)
{
	return ((const struct direct_plan *)context)->u->former.items[i].path;
}

static ssize_t direct_number(const void *context, const char *path)
{
	const struct direct_plan *p = context;
	const struct direct_item *i = direct_find(p, path);

	return i ? i - p->items : -ENOENT;
}

static bool direct_is_left(const void *context, size_t i)
{
	return ((const struct direct_plan *)context)->items[i].verdict == DIRECT_STAYS;
}

static bool direct_goes(const void *context, size_t i)
{
	const struct direct_item *item = &((const struct direct_plan *)context)->items[i];

	return item->verdict == DIRECT_STEP && item->was.type == OBJECT_ABSENT;
}

static void direct_leave(void *context, size_t i)
{
	struct direct_plan *p = context;
	bool object = git_is_in_objects(direct_path(p, i));

	/* An object that was there comes back whatever the rest is now: its name says its content,
	 * and the user's commits may name it. */
	if (p->items[i].verdict == DIRECT_STEP &&
	    !(object && p->items[i].was.type != OBJECT_ABSENT))
		direct_stays(&p->items[i],
			     object ? NULL : "something of this repository was changed since");
}

static struct undo_git direct_git(struct direct_plan *p)
{
	return (struct undo_git){.count = p->u->former.count,
				 .context = p,
				 .path = direct_path,
				 .find = direct_number,
				 .stays = direct_is_left,
				 .goes = direct_goes,
				 .leave = direct_leave};
}

/* --- until all agree ------------------------------------------------------------------- */

static void direct_hang(struct direct_plan *p, size_t n, enum direct_upon by, ssize_t upon)
{
	struct direct_item *i = &p->items[n];

	i->upon[by] = upon;
	i->next[by] = -1;
	if (upon < 0)
		return;
	i->next[by] = p->items[upon].hang;
	p->items[upon].hang = (ssize_t)n * DIRECT_UPON_COUNT + by;
}

/* Notes which verdicts depend on which. */
static void direct_hang_all(struct direct_plan *p)
{
	const struct undo_git git = direct_git(p);

	for (size_t n = 0; n < p->u->former.count; n++)
		p->items[n].hang = -1;
	for (size_t n = 0; n < p->u->former.count; n++) {
		const char *path = direct_path(p, n), *slash = strrchr(path, '/');
		_cleanup_free_ char *above = slash ? strndup(path, (size_t)(slash - path)) : NULL;

		direct_hang(p, n, DIRECT_FOLDER, above ? direct_number(p, above) : -ENOENT);
		direct_hang(p, n, DIRECT_REPOSITORY,
			    git_is_in_objects(path) ? undo_git_repository(&git, path) : -ENOENT);
	}
}

static void direct_stays_now(struct direct_plan *p, struct direct_item *i, const char *why)
{
	direct_stays(i, why);
	p->todo[p->todo_count++] = (size_t)(i - p->items);
}

/* Judges one path by what it depends on. */
static void direct_hold(struct direct_plan *p, size_t n)
{
	const struct former *f = &p->u->former.items[n];
	struct direct_item *i = &p->items[n];
	const struct undo_git git = direct_git(p);

	struct direct_item *later =
		f->real && i->verdict == DIRECT_STAYS ? direct_find(p, f->real) : NULL;

	if (later && later != i && later->verdict == DIRECT_STEP)
		direct_stays_now(p, later, "it cannot go back to where it was");
	if (i->verdict != DIRECT_STEP)
		return;
	if (!direct_has_folder(p, f, i))
		direct_stays_now(p, i, "the folder that it was in is not there");
	else if (i->was.type == OBJECT_ABSENT && git_is_in_objects(f->path) &&
		 !undo_git_goes(&git, f->path))
		direct_stays_now(p, i, NULL);
	else if (direct_has_rest(p, f, i))
		direct_stays_now(p, i, "something that is in it stays");
}

/* Judges what depends on a path that stays now. */
static void direct_hold_with(struct direct_plan *p, size_t n)
{
	const struct direct_item *i = &p->items[n];
	ssize_t folder = i->upon[DIRECT_FOLDER];

	direct_hold(p, n);
	if (folder >= 0 && direct_after(i) != OBJECT_ABSENT)
		direct_hold(p, (size_t)folder);
	for (ssize_t h = i->hang; h >= 0;) {
		size_t who = (size_t)h / DIRECT_UPON_COUNT;

		direct_hold(p, who);
		h = p->items[who].next[h % DIRECT_UPON_COUNT];
	}
}

/* For each path that turns out to stay we ask once what that means for others: a session can make
 * chains of them as long as it likes. */
static void direct_hold_together(struct direct_plan *p)
{
	direct_hang_all(p);
	/* Folders come before what is in them: from the end most is settled at once. */
	for (size_t n = p->u->former.count; n > 0; n--)
		direct_hold(p, n - 1);
	while (p->todo_count > 0)
		direct_hold_with(p, p->todo[--p->todo_count]);
}

/* --- what the session only renamed --------------------------------------------------------- */

/* An object that is there now, by its inode. */
struct direct_there {
	uint64_t ino;
	size_t n;
};

static int direct_there_order(const void *a, const void *b)
{
	const struct direct_there *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static bool direct_is_gone(const struct direct_plan *p, size_t n)
{
	const struct former *f = &p->u->former.items[n];

	return p->items[n].verdict == DIRECT_STAYS && f->doubt == FORMER_SURE && f->entry >= 0 &&
	       (!f->real || str_equal(f->real, f->path));
}

/* It is the same file, and not another one that got its inode. */
static bool direct_is_that(const struct direct_plan *p, size_t n, const struct first_entry *e)
{
	const struct object *now = &p->items[n].now;
	_cleanup_fd_ int fd = view_openat(&p->base, direct_path(p, n), O_PATH);
	int64_t born = fd < 0 ? 0 : first_born(fd, "");

	return born ? born <= e->ctime : now->mtime == e->mtime && now->size == e->size;
}

/*
 * What cannot come back from what was kept may be there by another name: a file that was too large
 * to keep, a pipe, a file whose old name the user took.  If nobody wrote it since, it comes back
 * from there; else it stays there.  It is never removed.
 */
static int direct_find_renamed(struct direct_plan *p)
{
	size_t count = p->u->former.count, gone = 0, there = 0;
	_cleanup_free_ struct direct_there *all = calloc(count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++) {
		const struct object *now = &p->items[n].now;

		gone += direct_is_gone(p, n);
		if (now->type != OBJECT_ABSENT && now->type != OBJECT_DIR)
			all[there++] = (struct direct_there){.ino = now->ino, .n = n};
	}
	if (gone == 0)
		return 0;
	qsort(all, there, sizeof(*all), direct_there_order);
	for (size_t n = 0; n < count; n++) {
		struct former *f = &p->u->former.items[n];
		struct first_entry e;

		if (!direct_is_gone(p, n))
			continue;
		first_at(&p->u->first, (size_t)f->entry, &e);
		const struct direct_there key = {.ino = e.ino};
		const struct direct_there *at =
			bsearch(&key, all, there, sizeof(*all), direct_there_order);

		if (!at || at->n == n || !direct_is_that(p, at->n, &e))
			continue;
		const struct object *now = &p->items[at->n].now;

		f->real = p->u->former.items[at->n].path;
		if (now->mtime != e.mtime || now->size != e.size)
			continue;
		f->meta = f->entry;
		f->entry = -1;
		p->items[n].verdict = DIRECT_SAME;
		direct_judge(p, f, &p->items[n]);
	}
	return 0;
}

/* --- what has to be opened first -------------------------------------------------------- */

/* The former mode of a closed folder says whether it was closed before: then we do not open it. */
static bool direct_was_open(const struct direct_plan *p, const struct former *f)
{
	ssize_t from = f->meta >= 0 ? f->meta : f->entry;
	struct first_entry e;

	if (from < 0)
		return false;
	first_at(&p->u->first, (size_t)from, &e);
	return direct_is_open(e.mode);
}

/* The session left this folder closed. */
static bool direct_opens(const struct direct_plan *p, const struct former *f,
			 const struct direct_item *i)
{
	bool stays = i->was.type == OBJECT_DIR && f->real && str_equal(f->real, f->path);

	return i->now.type == OBJECT_DIR && !direct_is_open(i->now.mode) &&
	       former_is_closed(&p->base, f->path) && direct_is_as_left(p, f->path, &i->now) &&
	       (!stays || direct_is_open(i->was.mode));
}

/* We do not know what such folders hide, nor what depends on it: we do nothing else before they are
 * open, and then look at all again. */
static void direct_plan_opening(struct direct_plan *p)
{
	struct undo_direct *u = p->u;

	for (size_t n = 0; n < u->former.count; n++)
		p->items[n].opens = direct_opens(p, &u->former.items[n], &p->items[n]);
	for (size_t n = 0; n < u->former.count; n++) {
		const struct former *f = &u->former.items[n];
		struct direct_item *i = f->closed ? direct_find(p, f->real) : NULL;

		if (i)
			i->opens = i->opens && direct_was_open(p, f);
	}
	for (size_t n = 0; n < u->former.count; n++) {
		struct land_step *s = &u->opening[u->opening_count];

		if (!p->items[n].opens)
			continue;
		*s = (struct land_step){.path = u->former.items[n].path,
					.before = p->items[n].now,
					.after = p->items[n].now,
					.source = -1};
		s->after.mode |= S_IRWXU;
		u->opening_count++;
	}
}

static int direct_plan(struct direct_plan *p)
{
	struct undo_direct *u = p->u;
	const struct undo_git git = direct_git(p);

	for (size_t n = 0; n < u->former.count; n++)
		direct_judge(p, &u->former.items[n], &p->items[n]);
	int r = direct_find_renamed(p);

	if (r < 0)
		return r;
	direct_plan_links(p);
	direct_plan_opening(p);
	r = undo_git_leave(&git);

	if (r < 0)
		return r;
	direct_hold_together(p);
	for (size_t n = 0; n < u->former.count; n++) {
		const struct former *f = &u->former.items[n];
		const struct direct_item *i = &p->items[n];

		u->times[n] = direct_time(p, f, i);
		if (i->verdict == DIRECT_STAYS && i->why)
			u->skipped[u->skipped_count++] = (struct undo_skipped){f->path, i->why};
		if (i->verdict != DIRECT_STEP)
			continue;
		u->sources[u->count] = n;
		u->steps[u->count++] = (struct land_step){.path = f->path,
							  .before = i->now,
							  .after = i->was,
							  .source = -1,
							  .file = f->file,
							  .has = i->has,
							  .twin = direct_twin(p, f, i)};
	}
	return 0;
}

/* --- the whole ------------------------------------------------------------------------- */

static int direct_read_former(struct undo_direct *u, const struct layers_session *s)
{
	struct direct_plan p = {.u = u, .session = s, .base = {.base = u->tree}};
	int code = former_read(&u->first, &p.base, &u->arena, &u->former);

	if (code == 0)
		code = undo_links_join(&u->first, u->tree, &u->arena, &u->former);
	if (code < 0)
		return code;
	size_t room = u->former.count + 1;
	_cleanup_free_ struct direct_item *items = calloc(room, sizeof(*items));
	_cleanup_free_ size_t *todo = calloc(room, sizeof(*todo));
	_cleanup_free_ struct direct_links *links = calloc(u->former.files + 1, sizeof(*links));

	u->steps = arena_alloc(&u->arena, room * sizeof(*u->steps));
	u->opening = arena_alloc(&u->arena, room * sizeof(*u->opening));
	u->sources = arena_alloc(&u->arena, room * sizeof(*u->sources));
	u->times = arena_alloc(&u->arena, room * sizeof(*u->times));
	u->skipped = arena_alloc(&u->arena, room * sizeof(*u->skipped));
	if (!items || !todo || !links || !u->steps || !u->opening || !u->sources || !u->times ||
	    !u->skipped)
		return -ENOMEM;
	p.items = items;
	p.todo = todo;
	p.links = links;
	code = direct_plan(&p);
	return code < 0 ? code : undo_unseen_read(u, s);
}

/* Compares the workspace's folder with how the session left it, as far as we know that. */
static void direct_read_top(struct undo_direct *u, const struct layers_session *s)
{
	struct first_entry was, end;
	struct stat st;

	u->top = (struct undo_top){.has_mode = false};
	if (first_find(&u->first, ".", &was) < 0 || fstat(u->tree, &st) < 0)
		return;
	bool known = first_find_end(&u->first, ".", &end) >= 0;
	int64_t now = CLOCK_NS(st.st_mtim);

	if (!known && CLOCK_NS(st.st_ctim) > s->ended)
		return;
	u->top = (struct undo_top){.mode = was.mode & 07777, .time = was.mtime, .left = now};
	u->top.has = undo_has_of_entry(u, &was);
	bool has = !u->top.has || undo_has_now(u->tree, ".", u->top.has);

	u->top.has_mode = (u->top.mode != (st.st_mode & 07777) || !has) &&
			  (!known || ((end.mode & 07777) == (st.st_mode & 07777) &&
				      undo_has_as_entry(&u->first, u->tree, ".", &end)));
	u->top.has_time = was.mtime != now && (!known || end.mtime == now);
}

int undo_direct_top_mode(const struct undo_direct *u)
{
	_cleanup_fd_ int fd = u->top.has_mode && u->top.has
				      ? open_beneath(u->tree, "", O_RDONLY | O_DIRECTORY, 0)
				      : -1;
	int r = fd < 0 ? 0 : attributes_set(fd, u->top.has->attributes);

	if (r < 0 || !u->top.has_mode)
		return r;
	return fchmod(u->tree, u->top.mode) < 0 ? -errno : 0;
}

int undo_direct_top_time(const struct undo_direct *u)
{
	const int64_t second = INT64_C(1000000000), part = u->top.time % second;
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = (time_t)((u->top.time - part) / second - (part < 0)),
		 .tv_nsec = (long)(part < 0 ? part + second : part)}};
	struct stat st;

	if (!u->top.has_time)
		return 0;
	if (fstat(u->tree, &st) < 0)
		return -errno;
	/* Somebody changed something in it since. */
	if (CLOCK_NS(st.st_mtim) != u->top.left)
		return 0;
	return futimens(u->tree, times) < 0 ? -errno : 0;
}

int undo_direct_read(const struct review *r, const struct layers_session *s,
		     const struct undo_opened *opened, struct undo_direct *ret, struct error *e)
{
	_cleanup_fd_ int session = layers_session_dir(&r->layers, s->name, false);
	_cleanup_fd_ int dir =
		session < 0 ? session : open_beneath(session, "first", O_RDONLY | O_DIRECTORY, 0);

	*ret = UNDO_DIRECT_INIT;
	ret->arena = ARENA_INIT(UNDO_ARENA_MAX);
	ret->tree = r->tree;
	ret->opened = opened;
	if (dir < 0)
		return error_sys(e, dir, "cannot open the first versions of %s", s->name);
	struct error own = ERROR_INIT;
	int code = first_open(dir, &ret->first, &own);

	if (code < 0)
		return error_sys(e, code, "cannot read the first versions of %s", s->name);
	direct_read_top(ret, s);
	code = direct_read_former(ret, s);
	return code < 0 ? error_sys(e, code, "cannot tell what %s changed", s->name) : 0;
}

int undo_direct_content(const struct undo_direct *u, size_t i)
{
	const struct view base = {.base = u->tree};
	const struct former *f = &u->former.items[u->sources[i]];
	struct first_entry e;

	if (f->entry >= 0) {
		first_at(&u->first, (size_t)f->entry, &e);
		int fd = first_content(&u->first, &e);

		if (fd != -ENOENT)
			return fd;
	}
	/* Only its mode or time was changed, so its content was never kept. */
	if (basis_same_content(&u->steps[i].before, &u->steps[i].after))
		return view_openat(&base, u->steps[i].path, O_RDONLY);
	return f->entry < 0 && f->real ? view_openat(&base, f->real, O_RDONLY) : -ENOENT;
}

int64_t undo_direct_folder_time(const struct undo_direct *u, const char *path, int64_t now)
{
	const struct former *f = former_find_path(&u->former, path);
	struct first_entry was, end;

	/* Nothing in it was renamed, but undo puts other files there. */
	if (*path)
		return f ? u->times[f - u->former.items] : now;
	/*
	 * The same for the workspace's own folder; somebody may have changed something in it since.
	 */
	if (first_find(&u->first, ".", &was) < 0)
		return now;
	return first_find_end(&u->first, ".", &end) >= 0 && end.mtime == now ? was.mtime : 0;
}

void undo_direct_fini(struct undo_direct *u)
{
	first_close(&u->first);
	first_close(&u->found);
	former_list_fini(&u->former);
	arena_fini(&u->arena);
}
