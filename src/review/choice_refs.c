/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refs of a repository on three sides (what the session found, what it has, what the user has
 * now), and which name is free for one of the session's.
 *
 * In git a ref cannot be a folder of others: if `foo` is a ref, `foo/bar` cannot be one, in its own
 * file or packed.  So a name is free only if nothing is there, no part of it above is a ref, and no
 * ref is below it.  This counts for the user's refs, for those that land, and for what lands
 * beside.
 */
#include "choice_git.h"

#include "array.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFS_FILE_MAX = 4096, REFS_TRIES = 9, REFS_LOG_MAX = 16 << 20, REFS_SECOND = 1000000000 };

/* --- reading --------------------------------------------------------------------------- */

/* The path without the slash at its end. */
static void refs_folder(const char *path, char ret[PATH_MAX])
{
	size_t len = strlen(path);

	memcpy(ret, path, len + 1);
	if (len > 0)
		ret[len - 1] = '\0';
}

int git_open_refs(struct git_repository *g)
{
	char folder[PATH_MAX];

	if (g->has_refs)
		return 0;
	refs_folder(g->common, folder);
	int r = git_refs_open(&g->base, folder, &g->mine);

	if (r == 0)
		r = git_refs_open(&g->c->view, folder, &g->theirs);
	g->has_refs = r == 0;
	g->then_at = GIT_THEN_NONE;
	if (r < 0)
		git_close_refs(g);
	return r;
}

void git_close_refs(struct git_repository *g)
{
	git_refs_close(&g->mine);
	git_refs_close(&g->theirs);
	git_refs_close(&g->then);
	g->has_refs = false;
}

void git_take_refs(struct git_repository *from, struct git_repository *to)
{
	if (!from->has_refs)
		return;
	to->mine = from->mine;
	to->theirs = from->theirs;
	to->mine.view = &to->base;
	to->then_at = GIT_THEN_NONE;
	to->has_refs = true;
	from->mine = GIT_REFS_INIT;
	from->theirs = GIT_REFS_INIT;
	git_close_refs(from);
}

/* Reads the file of a ref, as git_ref_parse. */
static int refs_parse(int fd, struct git_name *ret, char symbolic[GIT_REF_NAME_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(REFS_FILE_MAX);
	int r = fd < 0 ? fd : fd_read_all(fd, &text);

	return r < 0 ? r : git_ref_parse(buf_span(&text), ret, symbolic);
}

void git_value(const struct git_repository *g, const struct git_refs *side, const char *ref,
	       struct git_ref_value *ret)
{
	char own[PATH_MAX];

	refs_folder(g->path, own);
	(void)git_refs_look(side, own, ref, ret);
}

/* Looks at a path of the workspace. */
static int refs_look(const struct git_repository *g, const char *path, struct object *ret)
{
	int r = view_look(&g->base, path, ret);

	if (r < 0 || ret->type != OBJECT_FILE)
		return r;
	_cleanup_fd_ int fd = view_openat(&g->base, path, O_RDONLY);

	r = fd < 0 ? fd : changes_hash(fd, ret->digest, &ret->size);
	ret->hashed = r == 0;
	return r;
}

/* It has the same sum as what is there now. */
static bool refs_is_as_now(const struct git_repository *g, const char *path,
			   const struct object *then)
{
	struct object now;

	return then->hashed && refs_look(g, path, &now) == 0 && basis_same_content(&now, then);
}

/* Reads into g->then the packed-refs that the session found when entry `at` of first.h was made
 * (GIT_THEN_BASIS: the one that it starts from now). */
static int refs_read_then(struct git_repository *g, ssize_t at)
{
	const struct choices *c = g->c;
	_cleanup_buf_ struct buf text = BUF_INIT(GIT_REFS_BYTES_MAX);
	char path[PATH_MAX];
	struct first_entry entry;

	if (g->then_at == at)
		return 0;
	git_refs_close(&g->then);
	g->then_at = at;
	g->then_known = GIT_KNOWN_NOT;
	if (snprintf(path, sizeof(path), "%spacked-refs", g->common) >= (int)sizeof(path))
		return 0;
	const struct basis_entry *known = at < 0 ? basis_find(&c->basis, path) : NULL;
	ssize_t found = known    ? -ENOENT
			: at < 0 ? first_find(&c->first, path, &entry)
				 : first_find_before(&c->first, path, (size_t)at, &entry);
	struct object then = known ? known->object : (struct object){.type = OBJECT_ABSENT};

	if (found >= 0 && entry.kind == FIRST_FILE) {
		then.type = OBJECT_FILE;
		then.size = entry.size;
		then.hashed = entry.flags & FIRST_HASHED;
		memcpy(then.digest, entry.digest, sizeof(then.digest));
	}
	/* The session neither made a ref that had no file, nor packed any. */
	if (!known && found < 0 && at < 0)
		return 0;
	if (then.type == OBJECT_FILE && refs_is_as_now(g, path, &then)) {
		g->then_known = GIT_KNOWN_AS_NOW;
		return 0;
	}
	_cleanup_fd_ int fd = then.type != OBJECT_FILE ? -ENOENT
			      : known                  ? basis_content(c->session, &then)
						       : first_content(&c->first, &entry);

	if (then.type != OBJECT_ABSENT && (fd < 0 || fd_read_all(fd, &text) < 0))
		return 0;
	g->then_known = GIT_KNOWN;
	return git_refs_parse(buf_span(&text), &g->then);
}

/* The value of a ref that had no file when the session found it. */
static int refs_found_packed(struct git_repository *g, const char *ref, ssize_t at,
			     struct git_ref_value *ret)
{
	int r = refs_read_then(g, at);

	if (r < 0 || g->then_known == GIT_KNOWN_NOT || g->then.bad)
		return r < 0 ? r : GIT_KNOWN_NOT;
	const struct git_ref *packed =
		git_refs_packed(g->then_known == GIT_KNOWN ? &g->then : &g->mine, ref);

	if (packed)
		ret->object = packed->object;
	return GIT_KNOWN;
}

int git_found(struct git_repository *g, const char *ref, struct git_ref_value *ret)
{
	const struct choices *c = g->c;
	char path[2 * PATH_MAX];
	struct first_entry entry = {.kind = FIRST_OTHER};

	*ret = GIT_REF_NONE;
	(void)snprintf(path, sizeof(path), "%s%s",
		       git_is_in(ref, "refs/heads") ? g->common : g->path, ref);
	const struct basis_entry *known = basis_find(&c->basis, path);

	struct git_ref_value mine = GIT_REF_NONE;

	if (g->has_refs)
		git_value(g, &g->mine, ref, &mine);
	/* The session's own branch (--worktree), which the user has as well: it began at `start`,
	 * whatever the user had made of it when the session first wrote it. */
	if (!known && g->branch[0] && str_equal(ref, g->branch) && git_ref_is_there(&mine) &&
	    git_name_parse(span_of_str(c->review->session.start), &ret->object))
		return GIT_KNOWN;
	ssize_t at = known ? GIT_THEN_BASIS : first_find(&c->first, path, &entry);
	bool file = known ? known->object.type == OBJECT_FILE : at >= 0 && entry.kind == FIRST_FILE;

	/* A folder may have been there, or it was never changed. */
	if (!file)
		return refs_found_packed(g, ref, at < 0 ? GIT_THEN_BASIS : at, ret);
	_cleanup_fd_ int fd = known ? basis_content(c->session, &known->object)
				    : first_content(&c->first, &entry);

	if (fd < 0)
		return GIT_KNOWN_NOT;
	if (refs_parse(fd, &ret->object, ret->symbolic) < 0)
		*ret = GIT_REF_NONE;
	return GIT_KNOWN;
}

/* When the last line of a log was written, in seconds; 0: it does not say. */
static int64_t refs_logged(int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT(REFS_LOG_MAX);
	struct git_log_line line;
	const char *last, *at;

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return 0;
	while (text.len > 0 && text.ptr[text.len - 1] == '\n')
		text.ptr[--text.len] = '\0';
	last = strrchr(buf_str(&text), '\n');
	last = last ? last + 1 : buf_str(&text);
	/* NAME <MAIL> SECONDS ZONE */
	if (!git_log_parse(span_of_str(last), &line) || !(at = strstr(last, "> ")))
		return 0;
	return strtoll(at + strlen("> "), NULL, 10);
}

/* The file of a ref with this value has this sum, as git writes it. */
static bool refs_has_sum(const struct git_ref_value *value, const uint8_t digest[SHA256_SIZE])
{
	uint8_t own[SHA256_SIZE];
	char text[GIT_HEX_MAX + 2];
	struct sha256 hash;

	if (value->symbolic[0] || !value->object.len)
		return false;
	git_name_hex(&value->object, text);
	sha256_begin(&hash);
	sha256_add(&hash, span_of_str(text));
	sha256_add(&hash, span_of_str("\n"));
	sha256_end(&hash, own);
	return memcmp(own, digest, sizeof(own)) == 0;
}

/* Where HEAD was when the session went on from what the user has: the old value in the first line
 * of its log that the user's does not have.  False: there is none. */
static bool refs_went_on_from(const struct git_repository *g, struct git_name *ret)
{
	_cleanup_buf_ struct buf mine = BUF_INIT(REFS_LOG_MAX), theirs = BUF_INIT(REFS_LOG_MAX);
	char path[PATH_MAX + sizeof("logs/HEAD")];
	struct git_log_line line;
	size_t same = 0, at = 0;

	(void)snprintf(path, sizeof(path), "%slogs/HEAD", g->path);
	_cleanup_fd_ int one = view_openat(&g->base, path, O_RDONLY);
	_cleanup_fd_ int other = view_openat(&g->c->view, path, O_RDONLY);

	if (one < 0 || other < 0 || fd_read_all(one, &mine) < 0 || fd_read_all(other, &theirs) < 0)
		return false;
	for (; same < mine.len && same < theirs.len && mine.ptr[same] == theirs.ptr[same]; same++)
		at = theirs.ptr[same] == '\n' ? same + 1 : at;
	const struct span left = span_skip(buf_span(&theirs), at);
	const uint8_t *end = left.len ? memchr(left.ptr, '\n', left.len) : NULL;

	if (!end || !git_log_parse((struct span){left.ptr, (size_t)(end - left.ptr)}, &line))
		return false;
	*ret = line.old;
	return true;
}

int git_user_left(struct git_repository *g)
{
	const struct choices *c = g->c;
	struct git_ref_value mine, was;
	struct git_name from;
	char path[2 * PATH_MAX];
	struct object o;

	if (!g->on_mine[0])
		return 0;
	(void)snprintf(path, sizeof(path), "%s%s", g->common, g->on_mine);
	git_value(g, &g->mine, g->on_mine, &mine);
	const struct basis_entry *basis = basis_find(&c->basis, path);

	/* We know the sum of what landed. */
	if (basis && basis->object.type == OBJECT_FILE && basis->object.hashed)
		return !refs_has_sum(&mine, basis->object.digest);
	int known =
		changes_find(&c->changes, path) ? git_found(g, g->on_mine, &was) : GIT_KNOWN_NOT;

	if (known != GIT_KNOWN_NOT)
		return known < 0 ? known : !git_ref_same(&mine, &was);
	/*
	 * The session has not changed it since.  If it has its own file, the file's time counts; if
	 * it was packed, the last line of its log does.  What landed meanwhile is new as well, and
	 * the session went on from there.
	 */
	bool file = view_look(&g->base, path, &o) == 0 && o.type == OBJECT_FILE;

	(void)snprintf(path, sizeof(path), "%slogs/%s", g->common, g->on_mine);
	_cleanup_fd_ int fd = view_openat(&g->base, path, O_RDONLY);

	if (file ? o.ctime <= c->review->session.began
		 : refs_logged(fd) < c->review->session.began / REFS_SECOND)
		return 0;
	return !refs_went_on_from(g, &from) || !git_name_equal(&from, &mine.object);
}

/* 1: it is another name of `next`. */
static int refs_read_alias(const struct view *v, const char *folder, const char *name,
			   char next[GIT_REF_NAME_MAX])
{
	struct git_name object;
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s", folder, name);
	_cleanup_fd_ int fd =
		n > 0 && n < (int)sizeof(path) ? view_openat(v, path, O_RDONLY) : -ENOENT;

	return refs_parse(fd, &object, next);
}

void git_read_head(const struct view *v, const char *folder, const char *common,
		   char ret[GIT_REF_NAME_MAX])
{
	char leads[GIT_REF_NAME_MAX];

	if (refs_read_alias(v, folder, "HEAD", ret) != 1)
		ret[0] = '\0';
	for (int hops = 0; ret[0] && hops < GIT_ALIASES_MAX; hops++) {
		if (refs_read_alias(v, common, ret, leads) != 1)
			break;
		memcpy(ret, leads, sizeof(leads));
	}
}

bool choice_beside_lands(const struct choices *c, const struct choice_beside *b)
{
	return !b->off && c->items[b->of].state == CHOICE_KEPT;
}

/* --- what will be ----------------------------------------------------------------------- */

/* The change at a path of the repository, if it lands; else NULL. */
static const struct change *refs_landing(const struct git_repository *g, const char *path)
{
	const struct change *change = changes_find(&g->c->changes, path);

	return change && g->c->items[change - g->c->changes.items].state == CHOICE_LANDS ? change
											 : NULL;
}

bool git_will_be(const struct git_repository *g, const char *ref)
{
	char path[2 * PATH_MAX];
	struct object o;

	(void)snprintf(path, sizeof(path), "%spacked-refs", g->common);
	if (git_refs_packed(refs_landing(g, path) ? &g->theirs : &g->mine, ref))
		return true;
	(void)snprintf(path, sizeof(path), "%s%s", g->common, ref);
	for (size_t i = 0; i < g->c->beside_count; i++)
		if (str_equal(g->c->beside[i].path, path))
			return true;
	const struct change *lands = refs_landing(g, path);

	return lands ? lands->after.type == OBJECT_FILE
		     : view_look(&g->base, path, &o) < 0 || o.type == OBJECT_FILE;
}

void git_will_value(const struct git_repository *g, const char *ref, struct git_ref_value *ret)
{
	char path[2 * PATH_MAX], packed[PATH_MAX + sizeof("packed-refs")];
	struct object o;

	(void)snprintf(path, sizeof(path), "%s%s", g->common, ref);
	(void)snprintf(packed, sizeof(packed), "%spacked-refs", g->common);
	*ret = GIT_REF_NONE;
	for (size_t i = 0; i < g->c->beside_count; i++) {
		const struct choice_beside *b = &g->c->beside[i];

		if (!choice_beside_lands(g->c, b) || !str_equal(b->path, path))
			continue;
		(void)git_name_parse((struct span){(const uint8_t *)b->text, b->lands.size - 1},
				     &ret->object);
		return;
	}
	const struct change *lands = refs_landing(g, path);

	if (lands ? lands->after.type == OBJECT_FILE
		  : view_look(&g->base, path, &o) == 0 && o.type == OBJECT_FILE) {
		git_value(g, lands ? &g->theirs : &g->mine, ref, ret);
		return;
	}
	const struct git_ref *one =
		git_refs_packed(refs_landing(g, packed) ? &g->theirs : &g->mine, ref);

	if (one)
		ret->object = one->object;
}

/* --- room ------------------------------------------------------------------------------ */

/* Something lands beside by this name, above it or below it. */
static bool refs_meets_beside(const struct choices *c, const char *path)
{
	for (size_t i = 0; i < c->beside_count; i++)
		if (git_is_in(path, c->beside[i].path) || git_is_in(c->beside[i].path, path))
			return true;
	return false;
}

/* The session has something there that is not a folder. */
static bool refs_session_has(const struct choices *c, const char *path)
{
	const struct change *change = changes_find(&c->changes, path);

	return change && change->after.type != OBJECT_ABSENT && change->after.type != OBJECT_DIR;
}

/* The session puts something there, or removes it, or may do so later. */
static bool refs_session_changes(const struct choices *c, const char *path)
{
	const struct change *change = changes_find(&c->changes, path);
	enum choice_state state =
		change ? c->items[change - c->changes.items].state : CHOICE_SETTLED;

	return change && (change->after.type != OBJECT_ABSENT ||
			  (state != CHOICE_SETTLED && state != CHOICE_KEPT));
}

/* A part of the name above it is a ref. */
static bool refs_is_barred(const struct git_repository *g, const char *ref)
{
	char name[GIT_REF_NAME_MAX], path[PATH_MAX];
	struct object o;

	(void)snprintf(name, sizeof(name), "%s", ref);
	for (char *slash = strrchr(name, '/'); slash; slash = strrchr(name, '/')) {
		*slash = '\0';
		if (snprintf(path, sizeof(path), "%s%s", g->common, name) >= (int)sizeof(path) ||
		    view_look(&g->base, path, &o) < 0 ||
		    (o.type != OBJECT_DIR && o.type != OBJECT_ABSENT) ||
		    git_refs_packed(&g->mine, name) || refs_session_has(g->c, path))
			return true;
	}
	return false;
}

enum git_room git_room(const struct git_repository *g, const char *ref, struct git_name *ret)
{
	char path[PATH_MAX], symbolic[GIT_REF_NAME_MAX];
	struct object o;

	ret->len = 0;
	/* If packed-refs was not read whole, we do not know which refs it has. */
	if (g->mine.bad || strlen(ref) >= GIT_REF_NAME_MAX ||
	    snprintf(path, sizeof(path), "%s%s", g->common, ref) >= (int)sizeof(path) ||
	    refs_is_barred(g, ref) || git_refs_has_below(&g->mine, ref) ||
	    refs_meets_beside(g->c, path))
		return GIT_ROOM_TAKEN;
	if (refs_session_changes(g->c, path) || view_look(&g->base, path, &o) < 0)
		return GIT_ROOM_TAKEN;
	if (o.type == OBJECT_ABSENT) {
		const struct git_ref *packed = git_refs_packed(&g->mine, ref);

		if (packed)
			*ret = packed->object;
		return packed ? GIT_ROOM_HAS : GIT_ROOM_FREE;
	}
	_cleanup_fd_ int fd =
		o.type == OBJECT_FILE ? view_openat(&g->base, path, O_RDONLY) : -ENOENT;

	return refs_parse(fd, ret, symbolic) == 0 ? GIT_ROOM_HAS : GIT_ROOM_TAKEN;
}

/* --- beside ---------------------------------------------------------------------------- */

/* The kind of a name beside. */
struct refs_kind {
	bool flat;    /* the user has a ref in the place of the folder bawn */
	bool further; /* another ref has the plain name */
};

/* Writes "bawn/SESSION", and for other branches "bawn/SESSION-NAME". */
static void refs_name_beside(const struct choices *c, const char *ref, size_t number,
			     struct refs_kind kind, char ret[PATH_MAX])
{
	const char *head = str_after(ref, "refs/heads/");
	const char *session = c->review->session.name;
	const char *bar = kind.flat ? "-" : "/";
	int n = 0;

	if (!head && !str_equal(ref, "refs/stash") && !str_equal(ref, "HEAD")) {
		const char *what = str_after(ref, "refs/");

		n = snprintf(ret, PATH_MAX, "refs/bawn/%s/%s", session, what ? what : ref);
	} else {
		bool named = kind.further || str_equal(ref, "refs/stash");

		n = snprintf(ret, PATH_MAX, "refs/heads/bawn%s%s%s%s", bar, session,
			     named ? "-" : "",
			     !named ? ""
			     : head ? head
				    : "stash");
		for (char *at = ret + strlen("refs/heads/bawn/"); (at = strchr(at, '/'));)
			*at = '-';
	}
	if (number > 1 && n > 0 && n < PATH_MAX)
		(void)snprintf(ret + n, PATH_MAX - (size_t)n, "-%zu", number);
}

struct refs_heads {
	const struct git_repository *g;
	const char *name;
	bool is;
};

static int refs_on_head(void *context, const char *worktree)
{
	struct refs_heads *h = context;
	char folder[PATH_MAX], branch[GIT_REF_NAME_MAX];

	if (snprintf(folder, sizeof(folder), "%s%s%s%s", h->g->common,
		     *worktree ? "worktrees/" : "", worktree,
		     *worktree ? "/" : "") >= (int)sizeof(folder))
		return 0;
	git_read_head(&h->g->base, folder, h->g->common, branch);
	h->is = h->is || str_equal(branch, h->name);
	return 0;
}

/* The user has that branch checked out, here or in a worktree: it must not move while index and
 * files stay. */
static bool refs_is_checked_out(const struct git_repository *g, const char *name)
{
	struct refs_heads h = {.g = g, .name = name, .is = str_equal(name, g->on_mine)};
	char path[PATH_MAX];

	(void)refs_on_head(&h, "");
	if (snprintf(path, sizeof(path), "%sworktrees", g->common) < (int)sizeof(path))
		(void)view_list(&g->base, path, refs_on_head, &h);
	return h.is;
}

enum git_found git_find_beside(const struct git_repository *g, const char *ref,
			       const struct git_name *was, const struct git_name *value,
			       char name[PATH_MAX])
{
	struct refs_kind kind = {.flat = refs_is_barred(g, "refs/heads/bawn/any")};

	for (size_t i = 0; i < g->c->beside_count; i++)
		kind.further = kind.further || (g->c->beside[i].branch && g->c->beside[i].is_named);
	for (size_t n = 1; n <= REFS_TRIES; n++) {
		struct git_name now;

		refs_name_beside(g->c, ref, n, kind, name);
		enum git_room room = git_room(g, name, &now);

		if (room == GIT_ROOM_HAS && git_name_equal(&now, value))
			return GIT_FOUND_THERE;
		if (room == GIT_ROOM_FREE ||
		    (room == GIT_ROOM_HAS && was->len && git_name_equal(&now, was) &&
		     !refs_is_checked_out(g, name)))
			return GIT_FOUND;
	}
	return GIT_FOUND_NONE;
}

/* Keeps folders that the session removed, if something lands in them. */
static void refs_keep_folders(const struct git_repository *g, const char *path)
{
	char folder[PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash; (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		const struct change *gone = changes_find(&g->c->changes, folder);

		if (!gone || gone->before.type != OBJECT_DIR || gone->after.type != OBJECT_ABSENT)
			continue;
		struct choice *x = &g->c->items[gone - g->c->changes.items];

		if (x->state == CHOICE_LANDS || x->state == CHOICE_CONFLICT) {
			x->state = CHOICE_KEPT;
			x->why = "a ref lands in it";
		}
	}
}

int git_add_beside(struct git_repository *g, const struct choice *of, const char *ref,
		   const struct git_name *value, bool named, bool merges)
{
	struct choices *c = g->c;
	struct choice_beside b = {
		.of = (size_t)(of - c->items), .is_named = named, .merges = merges};
	struct sha256 sum;

	if (!ARRAY_GROW(c->beside, c->beside_count))
		return -ENOMEM;
	b.path = arena_printf(&c->arena, "%s%s", g->common, ref);
	if (!b.path)
		return -ENOMEM;
	git_name_hex(value, b.text);
	b.lands = (struct object){.type = OBJECT_FILE,
				  .mode = 0644,
				  .hashed = true,
				  .layer = -1,
				  .size = strlen(b.text) + 1};
	b.text[b.lands.size - 1] = '\n';
	sha256_begin(&sum);
	sha256_add(&sum, (struct span){(const uint8_t *)b.text, b.lands.size});
	sha256_end(&sum, b.lands.digest);
	int r = refs_look(g, b.path, &b.before);

	if (r < 0)
		return r;
	refs_keep_folders(g, b.path);
	b.branch = str_after(b.path + strlen(g->common), "refs/heads/");
	c->beside[c->beside_count++] = b;
	return 0;
}

/* --- on no branch ----------------------------------------------------------------------- */

/* Lands commits of the session that are on no branch beside, if HEAD, or its log, which has them,
 * does not land. */
static int git_judge_strays(struct git_repository *g)
{
	const struct branch_strays *strays = &g->c->strays;
	const struct git_name none = {.len = 0};
	struct choice *head = git_choice(g, "HEAD"), *log = git_choice(g, "logs/HEAD");
	int r = g->branch[0] && strays->count ? git_open_refs(g) : 0;

	for (size_t i = 0; r == 0 && g->branch[0] && i < strays->count; i++) {
		struct choice *x = i == 0 && strays->at_head && head ? head : log;
		char name[PATH_MAX];

		/* If it is held, its commits are, too. */
		if (!x || (x->state != CHOICE_LEFT && x->state != CHOICE_KEPT) ||
		    (x->change->group == CHANGE_HELD && !x->released))
			continue;
		enum git_found found =
			git_find_beside(g, "refs/heads/detached", &none, &strays->items[i], name);

		git_keep(x, "yours stays");
		if (found == GIT_FOUND_NONE)
			r = git_leave_rest(g, x, "commits on no branch");
		if (found != GIT_FOUND)
			continue;
		x->why = arena_printf(&g->c->arena,
				      "yours stays; a commit on no branch lands as %s", name);
		r = x->why ? git_add_beside(g, x, name, &strays->items[i], true, false) : -ENOMEM;
	}
	return r;
}

int choices_git_strays(struct choices *c, struct error *e)
{
	static git_judging *const judge = git_judge_strays;

	return c->strays.count ? git_each_repository(c, &judge, 1, e) : 0;
}
