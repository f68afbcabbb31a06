/* SPDX-License-Identifier: Apache-2.0 */
#include "direct_changes.h"

#include "array.h"
#include "choice_show.h"
#include "dir.h"
#include "fd.h"
#include "first.h"
#include "first_names.h"
#include "folding.h"
#include "hold.h"
#include "json.h"
#include "open.h"
#include "pager.h"
#include "str.h"
#include "text.h"
#include "undo_attributes.h"
#include "undo_direct.h"
#include "undo_former.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	DIRECT_CHANGES_MAX = 1 << 17,
	DIRECT_DEPTH_MAX = 64,
	DIRECT_BYTES_MAX = 128 << 20,
	DIRECT_FORMER_MAX = 512 << 20,
	DIRECT_STATUS = 9,
	DIRECT_READ = 0500, /* mode bits of a folder, to list it and look into it */
};

struct direct_changes {
	const struct first *first;
	const struct view *view;
	struct former_list former; /* the tree as it was; undo uses the same */
	struct changes *changes;
	int failed;
};

static void direct_put(struct direct_changes *d, const char *path, enum change_kind kind,
		       const struct object *now)
{
	struct changes *c = d->changes;

	if (c->count == DIRECT_CHANGES_MAX || !ARRAY_GROW(c->items, c->count)) {
		d->failed = -E2BIG;
		return;
	}
	struct change *x = &c->items[c->count];

	*x = (struct change){.path = arena_str(&c->arena, path), .kind = kind, .after = *now};
	if (!x->path)
		d->failed = -ENOMEM;
	else
		c->count++;
}

/* Lists a path whose folder cannot be read: we do not know what became of it. */
static void direct_put_unread(struct direct_changes *d, const char *path)
{
	const struct object unknown = {.type = OBJECT_FILE, .layer = -1};
	size_t before = d->changes->count;

	direct_put(d, path, CHANGE_CHANGED, &unknown);
	if (d->changes->count == before)
		return;
	d->changes->items[before].group = CHANGE_DROPPED;
	d->changes->items[before].why = "it cannot be read, so whether it changed is not known";
}

/* Lists everything beneath a folder that was not there before, or was another one. */
static void direct_walk(struct direct_changes *d, const char *path, int depth)
{
	_cleanup_dir_ DIR *list =
		dir_read(view_openat(d->view, path, O_RDONLY | O_DIRECTORY), NULL);

	for (const struct dirent *e; d->failed == 0 && (e = dir_next(list, &d->failed));) {
		struct object now;

		char *below = arena_printf(&d->changes->arena, "%s/%s", path, e->d_name);

		if (!below) {
			d->failed = -ENOMEM;
			break;
		}
		if (view_look(d->view, below, &now) < 0 || now.type == OBJECT_ABSENT)
			continue;
		/* If the list of former paths has it, that decides. */
		if (!former_find_path(&d->former, below))
			direct_put(d, below, CHANGE_ADDED, &now);
		if (now.type == OBJECT_DIR && depth < DIRECT_DEPTH_MAX)
			direct_walk(d, below, depth + 1);
	}
}

/* --- what stood there ------------------------------------------------------------------- */

/* What was at a path before the session. */
struct direct_was {
	bool there;
	bool itself;     /* it is the same object that is there now, and nobody wrote it */
	uint64_t ino;    /* 0: not known */
	struct object o; /* without a digest */
	struct first_entry entry;
	bool kept; /* entry has its content */
	bool has_rights;
	struct first_entry rights; /* has mode, owner and attributes */
	const char *real;          /* it was moved with its folder, and is here now; or NULL */
};

static bool direct_is_moved(const struct former *f)
{
	return f->entry < 0 && f->real && !str_equal(f->real, f->path);
}

static bool direct_is_that(const struct first_entry *e, const struct object *o)
{
	return e->ino == o->ino && e->mtime == o->mtime && e->size == o->size;
}

static void direct_find_was(const struct direct_changes *d, const struct former *f,
			    struct direct_was *ret)
{
	ssize_t rights = f->meta >= 0 ? f->meta : f->entry;

	*ret = (struct direct_was){.there = false, .has_rights = rights >= 0};
	if (rights >= 0)
		first_at(d->first, (size_t)rights, &ret->rights);
	if (f->entry >= 0) {
		first_at(d->first, (size_t)f->entry, &ret->entry);
		ret->kept = true;
	} else if (f->real) {
		if (view_look(d->view, f->real, &ret->o) < 0 || ret->o.type == OBJECT_ABSENT)
			return;
		ret->real = direct_is_moved(f) ? f->real : NULL;
		/* A file with several names may have been written by another one. */
		ret->itself =
			!ret->real && (ret->o.type == OBJECT_DIR ||
				       (ret->o.links == 1 &&
					(f->meta < 0 || direct_is_that(&ret->rights, &ret->o))));
	}
	ret->there = ret->kept ? ret->entry.kind != FIRST_ABSENT : f->real != NULL;
	if (ret->kept)
		(void)undo_object_of(&ret->entry, &ret->o, &ret->o);
	ret->ino = ret->kept ? ret->entry.ino : ret->o.ino;
	if (ret->has_rights)
		ret->o.mode = ret->rights.mode & 07777;
}

/* --- what is there now -------------------------------------------------------------------- */

static bool direct_hash(const struct direct_changes *d, const char *path, uint8_t ret[SHA256_SIZE])
{
	_cleanup_fd_ int fd = view_openat(d->view, path, O_RDONLY | O_NONBLOCK);
	uint64_t size = 0;

	return fd >= 0 && changes_hash(fd, ret, &size) == 0;
}

static bool direct_says(const struct direct_changes *d, const char *path, const char *words)
{
	char now[PATH_MAX];
	_cleanup_fd_ int fd = view_openat(d->view, path, O_PATH);
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", now, sizeof(now) - 1);

	if (n < 0)
		return false;
	now[n] = '\0';
	return str_equal(now, words);
}

/* It has the same content as before: it was written and put back, or only touched. */
static bool direct_is_same(const struct direct_changes *d, const char *path, struct direct_was *was,
			   const struct object *now)
{
	uint8_t digest[SHA256_SIZE], before[SHA256_SIZE];

	if (was->o.type != now->type)
		return false;
	if (was->itself || now->type == OBJECT_DIR)
		return true;
	if (now->type == OBJECT_LINK)
		return was->kept && direct_says(d, path, was->entry.text);
	if (now->type != OBJECT_FILE || was->o.size != now->size)
		return false;
	if (was->real)
		return direct_hash(d, was->real, before) && direct_hash(d, path, digest) &&
		       memcmp(digest, before, sizeof(digest)) == 0;
	if (!was->kept)
		return false;
	undo_hash(d->first, &was->entry);
	return was->entry.flags & FIRST_HASHED && direct_hash(d, path, digest) &&
	       memcmp(digest, was->entry.digest, sizeof(digest)) == 0;
}

/* Modes of folders do not matter, except for one that hides what is in it. */
static bool direct_hides(const struct direct_was *was, const struct object *now)
{
	return (now->mode & DIRECT_READ) != DIRECT_READ &&
	       (was->o.mode & DIRECT_READ) == DIRECT_READ;
}

/* Its mode, owner, access list or attributes are others. */
static bool direct_has_other_rights(const struct direct_changes *d, const char *path,
				    const struct direct_was *was, const struct object *now)
{
	return was->o.mode != now->mode ||
	       (was->has_rights && !undo_has_as_entry(d->first, d->view->base, path, &was->rights));
}

/* For a folder: its access list is another.  It says who may enter it, or, as its default, who may
 * read what the user makes in it later. */
static bool direct_has_other_list(const struct direct_changes *d, const char *path,
				  const struct direct_was *was)
{
	return was->has_rights && was->o.type == OBJECT_DIR &&
	       !undo_has_as_entry(d->first, d->view->base, path, &was->rights);
}

/* Its mode has fewer bits, and nothing else is different. */
static bool direct_has_less(const struct direct_changes *d, const char *path,
			    const struct direct_was *was, const struct object *now)
{
	return !(now->mode & ~was->o.mode) && was->has_rights &&
	       undo_has_as_entry(d->first, d->view->base, path, &was->rights);
}

/* How many folders directly above it are new.  We met what is in a new folder when we walked the
 * first of them, as deep as one walk goes. */
static size_t direct_new_above(const struct direct_changes *d, const char *path)
{
	char above[PATH_MAX];
	size_t count = 0;

	(void)snprintf(above, sizeof(above), "%s", path);
	for (char *end; (end = strrchr(above, '/')); count++) {
		*end = '\0';
		const struct former *f = former_find_path(&d->former, above);

		if (!f || f->entry >= 0 || f->real)
			break;
	}
	return count;
}

static void direct_look(struct direct_changes *d, const struct former *f)
{
	struct direct_was was;
	struct object now;
	int r = view_look(d->view, f->path, &now);

	if (r == -EACCES || r == -EPERM) {
		direct_put_unread(d, f->path);
		return;
	}
	direct_find_was(d, f, &was);
	if (r < 0 || (!was.there && now.type == OBJECT_ABSENT))
		return;
	if (!was.there || now.type == OBJECT_ABSENT) {
		direct_put(d, f->path, was.there ? CHANGE_DELETED : CHANGE_ADDED, &now);
	} else if (!direct_is_same(d, f->path, &was, &now) ||
		   (now.type == OBJECT_DIR && direct_hides(&was, &now))) {
		direct_put(d, f->path, CHANGE_CHANGED, &now);
	} else if (now.type == OBJECT_FILE && direct_has_other_rights(d, f->path, &was, &now)) {
		direct_put(d, f->path, CHANGE_MODE, &now);
		if (d->failed == 0 && direct_has_less(d, f->path, &was, &now))
			d->changes->items[d->changes->count - 1].before.mode = was.o.mode;
	} else if (now.type == OBJECT_DIR && direct_has_other_list(d, f->path, &was)) {
		direct_put(d, f->path, CHANGE_MODE, &now);
	}
	/* Another folder of the same name came with its content. */
	bool other = now.type == OBJECT_DIR &&
		     (!was.there || was.o.type != OBJECT_DIR || was.ino != now.ino);

	if (other && direct_new_above(d, f->path) % DIRECT_DEPTH_MAX == 0)
		direct_walk(d, f->path, 0);
}

/* Lists the workspace's own folder, which no rule of holds is about. */
static void direct_look_top(struct direct_changes *d)
{
	struct first_entry was;
	struct object now;

	if (first_find(d->first, ".", &was) >= 0 && view_look(d->view, "", &now) == 0 &&
	    now.type == OBJECT_DIR && !undo_has_as_entry(d->first, d->view->base, ".", &was))
		direct_put(d, ".", CHANGE_MODE, &now);
}

/* --- by another name -------------------------------------------------------------------- */

/* Inodes of changed files that have several names. */
struct direct_names {
	struct direct_changes *d;
	uint64_t *numbers; /* sorted */
	size_t count;
};

static int direct_on_name(void *context, const struct first_name *name)
{
	const struct direct_names *n = context;
	uint64_t number = name->st.st_ino;
	struct first_entry was;
	struct object now;

	if (name->st.st_nlink > 1 &&
	    bsearch(&number, n->numbers, n->count, sizeof(number), order_u64) &&
	    first_find(n->d->first, name->path, &was) < 0 &&
	    view_look(n->d->view, name->path, &now) == 0 && now.type == OBJECT_FILE)
		direct_put(n->d, name->path, CHANGE_CHANGED, &now);
	return n->d->failed;
}

/* Lists the other names: what was written by one name of a file was written by all. */
static int direct_other_names(struct direct_changes *d)
{
	const struct changes *c = d->changes;
	struct direct_names n = {.d = d, .numbers = calloc(c->count + 1, sizeof(*n.numbers))};
	int r = n.numbers ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < c->count; i++)
		if (c->items[i].after.type == OBJECT_FILE && c->items[i].after.links > 1)
			n.numbers[n.count++] = c->items[i].after.ino;
	if (r == 0 && n.count > 0) {
		qsort(n.numbers, n.count, sizeof(*n.numbers), order_u64);
		r = first_names_each(d->view->base, direct_on_name, &n);
	}
	free(n.numbers);
	return r;
}

static int direct_compare(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

/* Sorts the list; a path that was met more than once is one change. */
static void direct_sort(struct changes *c)
{
	size_t kept = 0;

	if (c->count > 1)
		qsort(c->items, c->count, sizeof(*c->items), direct_compare);
	for (size_t i = 0; i < c->count; i++)
		if (kept == 0 || !str_equal(c->items[kept - 1].path, c->items[i].path))
			c->items[kept++] = c->items[i];
	c->count = kept;
}

/* A session that only takes rights away wrote nothing that would run. */
static void direct_release(struct changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct change *x = &c->items[i];

		if (x->kind != CHANGE_MODE || !x->before.mode)
			continue;
		x->group = CHANGE_ORDINARY;
		x->rule = x->why = NULL;
	}
}

int direct_changes_read(const struct review *r, struct view *ret_view, struct changes *ret,
			struct error *e)
{
	_cleanup_first_ struct first first = FIRST_INIT;
	_cleanup_fd_ int session = layers_session_dir(&r->layers, r->session.name, false);
	_cleanup_fd_ int dir =
		session < 0 ? session : open_beneath(session, "first", O_RDONLY | O_DIRECTORY, 0);
	const struct stack none = {.count = 0};
	struct hold_rules *rules = NULL;

	*ret = (struct changes){.arena = ARENA_INIT(DIRECT_BYTES_MAX)};
	if (dir < 0)
		return error_sys(e, dir, "nothing was kept of what %s changed", r->session.name);
	int code = first_open(dir, &first, e);

	if (code == 0)
		code = view_open(&r->layers, &none, r->tree, ret_view, e);
	if (code < 0)
		return code;
	ret->unread = first.unread > 0;
	struct direct_changes d = {.first = &first, .view = ret_view, .changes = ret};
	_cleanup_arena_ struct arena arena = ARENA_INIT(DIRECT_FORMER_MAX);

	code = former_read(&first, ret_view, &arena, &d.former);
	for (size_t i = 0; code == 0 && d.failed == 0 && i < d.former.count; i++)
		direct_look(&d, &d.former.items[i]);
	if (code == 0)
		code = d.failed < 0 ? d.failed : direct_other_names(&d);
	former_list_fini(&d.former);
	if (code < 0)
		return error_sys(e, code, "cannot look at what %s changed", r->session.name);
	direct_sort(ret);
	code = review_holds(r, &rules, e);
	if (code == 0)
		code = hold_judge(rules, ret_view, ret, e);
	hold_rules_free(&rules);
	direct_release(ret);
	for (size_t i = 0; i < ret->count; i++)
		if (ret->items[i].kind == CHANGE_DELETED)
			review_note_gone(r, ret->items[i].path);
	if (code == 0)
		direct_look_top(&d);
	return code == 0 && d.failed < 0
		       ? error_sys(e, d.failed, "cannot look at what %s changed", r->session.name)
		       : code;
}

static void direct_put_json(const struct review *r, const struct changes *c, bool held)
{
	_cleanup_buf_ struct buf out = BUF_INIT(DIRECT_BYTES_MAX);
	struct text t = pager_text();
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key_str(&j, "session", r->session.name);
	json_key_str(&j, "mode", "direct");
	json_key_bool(&j, "unread", c->unread);
	json_key(&j, "changes");
	json_open(&j, '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct change *x = &c->items[i];

		if (held && x->group != CHANGE_HELD)
			continue;
		json_open(&j, '{');
		json_key_str(&j, "path", x->path);
		json_key_str(&j, "kind", change_kind_words[x->kind]);
		json_key_str(&j, "group", change_group_words[x->group]);
		if (x->rule)
			json_key_str(&j, "rule", x->rule);
		if (x->why)
			json_key_str(&j, "why", x->why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	text_write(&t, &out);
}

/* The agent chose names and reasons: an end of a line in them is shown as text. */
static void direct_put_line(const struct text *t, const struct change *x)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1 << 16);

	buf_putf(&line, "  %-*s", DIRECT_STATUS, change_kind_words[x->kind]);
	text_escape(&line, span_of_str(x->path));
	buf_put_char(&line, '\n');
	if (x->group != CHANGE_ORDINARY && x->why) {
		buf_putf(&line, "  %-*s  ", DIRECT_STATUS, "");
		text_escape(&line, span_of_str(x->why));
		buf_put_char(&line, '\n');
	}
	text_write(t, &line);
}

/* As everywhere: trees that nobody reads are one line, and so are git's objects. */
static void direct_put_folded(const struct text *t, const struct changes *c,
			      const struct folding *f)
{
	struct show_objects objects = {.count = 0};
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	for (size_t i = 0; i < c->count; i++) {
		const struct change *x = &c->items[i];

		if (x->group == CHANGE_ORDINARY && change_is_git_object(x)) {
			if (folding_is_file(x))
				show_objects_add(&objects, x->path);
		} else if (f->fates[i] != DIFF_HEAP) {
			direct_put_line(t, x);
		}
	}
	if (objects.count) {
		buf_put_str(&out, "git      ");
		show_objects_put(&out, &objects);
		buf_put_char(&out, '\n');
	}
	(void)heaps_put(&out, f, "");
	text_write(t, &out);
}

/* All that it changed, and how many files that are; `count`: that alone. */
static int direct_put_all(const struct text *t, const struct review *review, const struct view *v,
			  const struct changes *c, bool count)
{
	const struct folding_how how = {
		.changes = c, .view = v, .makers = review->makers, .apart = true};
	_cleanup_folding_ struct folding f = {.fates = NULL};
	_cleanup_buf_ struct buf words = BUF_INIT(64 << 10);
	struct tally tally = {.files = 0};
	int r = folding_read(&how, &f);

	if (r < 0)
		return r;
	if (!count)
		direct_put_folded(t, c, &f);
	tally_add(&tally, &f, c);
	tally_put(&words, &tally);
	if (count)
		text_printf(t, "%s\n", buf_str(&words));
	else if (c->count == 0)
		text_printf(t, "\nnothing has changed\n");
	else
		text_printf(t, "\n%s; 'bawn undo' takes %s back\n", buf_str(&words),
			    c->count == 1 ? "it" : "them");
	return 0;
}

static void direct_put_unknown(const struct text *t, const struct review *r,
			       const struct changes *c)
{
	if (c->unread)
		text_styled(t, TEXT_WARN,
			    "bawn: some of what was kept of %s cannot be read: not all that it "
			    "changed is known\n",
			    r->session.name);
}

static void direct_put_held(const struct text *t, const struct review *r, const struct changes *c)
{
	size_t held = 0;

	for (size_t i = 0; i < c->count; i++)
		held += c->items[i].group == CHANGE_HELD;
	if (held == 0)
		return;
	text_styled(t, TEXT_WARN, "bawn: %s wrote what your own commands would run later:\n",
		    r->session.name);
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].group == CHANGE_HELD)
			direct_put_line(t, &c->items[i]);
	text_printf(t, "Look at %s before you run anything here.\n", held == 1 ? "it" : "them");
}

static int direct_put_lines(const struct review *r, const struct view *v, const struct changes *c,
			    bool held, bool count)
{
	struct text t = pager_text(), err = text_open(STDERR_FILENO);
	const struct text *beside = count ? &err : &t;

	direct_put_unknown(beside, r, c);
	if (held)
		direct_put_held(beside, r, c);
	if (held && !count)
		return 0;
	if (!count)
		text_printf(&t, "session %s in %s: its writes have landed\n\n", r->session.name,
			    r->layers.workspace);
	return direct_put_all(&t, r, v, c, count);
}

int direct_changes_show(const struct review *r, unsigned int how, struct error *e)
{
	const bool held = how & DIRECT_SHOW_HELD;

	_cleanup_changes_ struct changes changes = {.count = 0};
	_cleanup_view_ struct view view = VIEW_INIT;
	bool found = false;
	int code = direct_changes_read(r, &view, &changes, e);

	if (code < 0)
		return code;
	if (how & DIRECT_SHOW_JSON)
		direct_put_json(r, &changes, held);
	else
		code = direct_put_lines(r, &view, &changes, held, how & DIRECT_SHOW_COUNT);
	if (code < 0)
		return error_sys(e, code, "cannot show the changes");
	for (size_t n = 0; n < changes.count; n++)
		found = found || changes.items[n].group == CHANGE_HELD;
	return found ? EXIT_FOUND : EXIT_OK;
}
