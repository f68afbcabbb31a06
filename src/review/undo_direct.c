/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_direct.h"

#include "basis.h"
#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

enum { UNDO_ARENA_MAX = 1 << 30 };

/* --- objects --------------------------------------------------------------------------- */

int undo_look(int tree, const char *path, struct object *ret)
{
	const struct view base = {.base = tree};
	int r = view_look(&base, path, ret);

	if (r < 0 || (ret->type != OBJECT_FILE && ret->type != OBJECT_LINK))
		return r == -ENOTDIR ? 0 : r;
	_cleanup_fd_ int fd =
		view_openat(&base, path, ret->type == OBJECT_FILE ? O_RDONLY : O_PATH);

	if (fd < 0)
		return fd;
	if (ret->type == OBJECT_FILE) {
		r = changes_hash(fd, ret->digest, &ret->size);
	} else {
		uint8_t words[PATH_MAX];
		ssize_t n = readlinkat(fd, "", (char *)words, sizeof(words));
		struct sha256 s;

		r = n < 0 ? -errno : 0;
		sha256_begin(&s);
		sha256_add(&s, (struct span){words, n < 0 ? 0 : (size_t)n});
		sha256_end(&s, ret->digest);
	}
	ret->hashed = r == 0;
	return r;
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
	/* Not hashed, but nobody has written it since. */
	if (!ret->hashed && now->type == OBJECT_FILE && now->ino == f->ino &&
	    now->mtime == f->mtime && now->size == f->size && now->hashed) {
		memcpy(ret->digest, now->digest, SHA256_SIZE);
		ret->hashed = true;
	}
	return ret->hashed;
}

/* --- steps ----------------------------------------------------------------------------- */

static void direct_skip(struct undo_direct *u, const char *path, const char *why)
{
	u->skipped[u->skipped_count++] = (struct undo_skipped){path, why};
}

/* A folder above it, or itself, was renamed. */
static bool direct_was_moved(const struct undo_direct *u, const char *path)
{
	for (size_t i = 0; i < u->first.count; i++) {
		struct first_entry e;

		first_at(&u->first, i, &e);
		if (e.kind != FIRST_MOVED)
			continue;
		const char *ends[] = {str_after(path, e.path), str_after(path, e.text)};

		for (size_t n = 0; n < 2; n++)
			if (ends[n] && (*ends[n] == '\0' || *ends[n] == '/'))
				return true;
	}
	return false;
}

/* As the session left it; where it could not say, as it stands when nobody touched it since. */
static bool direct_is_as_left(const struct undo_direct *u, const struct layers_session *s,
			      const char *path, const struct object *now)
{
	struct first_entry end;
	struct object left;

	if (first_find_end(&u->first, path, &end) >= 0)
		return undo_object_of(&end, now, &left) && basis_same(&left, now);
	return now->type == OBJECT_ABSENT || s->ended == 0 || now->ctime <= s->ended;
}

/* Too large to be hashed while a call waited for it: it is hashed now, from what was kept. */
static void direct_hash(const struct undo_direct *u, struct first_entry *f)
{
	_cleanup_fd_ int content = f->kind == FIRST_FILE && !(f->flags & FIRST_HASHED)
					   ? first_content(&u->first, f)
					   : -1;
	uint64_t size = 0;

	if (content >= 0 && changes_hash(content, f->digest, &size) == 0)
		f->flags |= FIRST_HASHED;
}

static int direct_take(struct undo_direct *u, const struct review *r,
		       const struct layers_session *s, size_t i, const struct first_entry *f)
{
	struct object now = {.type = OBJECT_ABSENT}, was;
	int code = undo_look(r->tree, f->path, &now);

	if (code < 0) {
		direct_skip(u, f->path, "it cannot be read");
		return 0;
	}
	if (direct_was_moved(u, f->path)) {
		direct_skip(u, f->path, "the folder that it is in was renamed");
		return 0;
	}
	if (!undo_object_of(f, &now, &was)) {
		direct_skip(u, f->path, f->why ? first_why_words[f->why] : "it was not kept");
		return 0;
	}
	if (basis_same(&now, &was))
		return 0;
	if (!direct_is_as_left(u, s, f->path, &now)) {
		direct_skip(u, f->path, "it was changed since");
		return 0;
	}
	if (was.type == OBJECT_FILE && !basis_same_content(&now, &was)) {
		_cleanup_fd_ int content = first_content(&u->first, f);

		if (content < 0) {
			direct_skip(u, f->path,
				    f->why ? first_why_words[f->why] : "it was not kept");
			return 0;
		}
	}
	was.mode &= 0777;
	u->entries[u->count] = i;
	u->steps[u->count++] =
		(struct land_step){.path = f->path, .before = now, .after = was, .source = -1};
	return 0;
}

/* --- folders --------------------------------------------------------------------------- */

static const struct land_step *direct_step(const struct undo_direct *u, const char *path)
{
	for (size_t i = 0; i < u->count; i++)
		if (str_equal(u->steps[i].path, path))
			return &u->steps[i];
	return NULL;
}

struct direct_folder {
	const struct undo_direct *u;
	const char *path;
	bool stays;
};

static int direct_look_inside(void *context, const char *name)
{
	struct direct_folder *f = context;
	_cleanup_buf_ struct buf path = BUF_INIT(2ul * PATH_MAX);

	buf_putf(&path, "%s/%s", f->path, name);
	const struct land_step *s = direct_step(f->u, buf_str(&path));

	f->stays = f->stays || !s || s->after.type != OBJECT_ABSENT;
	return f->stays ? -ECANCELED : 0;
}

/* A folder that the session made goes only when everything in it does; the deepest first. */
static void direct_keep_folders(struct undo_direct *u, const struct review *r)
{
	const struct view base = {.base = r->tree};

	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < u->count; i++) {
			struct direct_folder f = {.u = u, .path = u->steps[i].path};

			if (u->steps[i].before.type != OBJECT_DIR ||
			    u->steps[i].after.type == OBJECT_DIR)
				continue;
			(void)view_list(&base, f.path, direct_look_inside, &f);
			if (!f.stays)
				continue;
			direct_skip(u, f.path, "something that is in it stays");
			u->count--;
			u->steps[i] = u->steps[u->count];
			u->entries[i] = u->entries[u->count];
			again = true;
		}
	}
}

/* --- the whole ------------------------------------------------------------------------- */

int undo_direct_read(const struct review *r, const struct layers_session *s,
		     struct undo_direct *ret, struct error *e)
{
	_cleanup_fd_ int session = layers_session_dir(&r->layers, s->name, false);
	_cleanup_fd_ int dir =
		session < 0 ? session : open_beneath(session, "first", O_RDONLY | O_DIRECTORY, 0);

	*ret = UNDO_DIRECT_INIT;
	ret->arena = ARENA_INIT(UNDO_ARENA_MAX);
	ret->tree = r->tree;
	if (dir < 0)
		return error_sys(e, dir, "cannot open the first versions of %s", s->name);
	int code = first_open(dir, &ret->first, e);

	if (code < 0)
		return code;
	size_t room = 2 * ret->first.count + 1;

	ret->steps = arena_alloc(&ret->arena, room * sizeof(*ret->steps));
	ret->entries = arena_alloc(&ret->arena, room * sizeof(*ret->entries));
	ret->skipped = arena_alloc(&ret->arena, room * sizeof(*ret->skipped));
	if (!ret->steps || !ret->entries || !ret->skipped)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; code == 0 && i < ret->first.count; i++) {
		struct first_entry f, found;

		first_at(&ret->first, i, &f);
		/* Each path once, by its earliest entry. */
		if (f.kind == FIRST_MOVED || f.flags & FIRST_END ||
		    first_find(&ret->first, f.path, &found) != (ssize_t)i)
			continue;
		direct_hash(ret, &found);
		code = direct_take(ret, r, s, i, &found);
	}
	direct_keep_folders(ret, r);
	return code;
}

int undo_direct_content(const struct undo_direct *u, size_t i)
{
	const struct view base = {.base = u->tree};
	struct first_entry f;

	/* Only its mode was changed, and its content never kept. */
	if (basis_same_content(&u->steps[i].before, &u->steps[i].after))
		return view_openat(&base, u->steps[i].path, O_RDONLY);
	return first_find(&u->first, u->steps[i].path, &f) < 0 ? -ENOENT
							       : first_content(&u->first, &f);
}

void undo_direct_fini(struct undo_direct *u)
{
	first_close(&u->first);
	arena_fini(&u->arena);
}
