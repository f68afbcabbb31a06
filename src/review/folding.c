/* SPDX-License-Identifier: Apache-2.0 */
#include "folding.h"

#include "fd.h"
#include "fnv.h"
#include "made.h"
#include "open.h"
#include "room.h"
#include "str.h"
#include "words.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FOLDING_MANY = 20,    /* files of a new folder whose name alone says that a tool made it */
	FOLDING_SMALL = 1000, /* sizes below this are told in bytes */
};

bool folding_is_file(const struct change *c)
{
	return c->before.type != OBJECT_DIR && c->after.type != OBJECT_DIR;
}

/* --- directories ---------------------------------------------------------------------- */

/* Directories above a path need no line, because the path has one. */
static int folding_ancestors(const struct changes *all, struct folding *f, const char *path,
			     bool gone)
{
	_cleanup_free_ char *above = strdup(path);

	if (!above)
		return -ENOMEM;
	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		const struct change *c = changes_find(all, above);
		size_t i = c ? (size_t)(c - all->items) : 0;

		/* Then all above it are silent as well. */
		if (c && f->fates[i] == DIFF_SILENT)
			break;
		if (c && f->fates[i] == DIFF_SHOWN &&
		    ((c->kind == CHANGE_ADDED && !gone) || (c->kind == CHANGE_DELETED && gone)))
			f->fates[i] = DIFF_SILENT;
	}
	return 0;
}

static int folding_directories(const struct changes *all, struct folding *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->count; i++) {
		const struct change *c = &all->items[i];

		if (f->fates[i] == DIFF_AWAY)
			continue;
		r = folding_ancestors(all, f, c->path, c->kind == CHANGE_DELETED);
		if (r == 0 && c->from)
			r = folding_ancestors(all, f, c->from, true);
	}
	return r;
}

bool folding_is_gits(const struct change *c)
{
	return c->git || git_rest(c->path);
}

/* --- git ------------------------------------------------------------------------------ */

enum folding_git folding_git_of(const struct change *c, size_t *ret_len)
{
	static const struct {
		const char *name;
		enum folding_git kind;
		bool within; /* names that begin so; else exactly the name */
	} rows[] = {
		{"refs", FOLDED_REF, true},
		{"logs", FOLDED_LOG, true},
		{"HEAD", FOLDED_HEAD, false},
		{"index", FOLDED_INDEX, false},
		{"packed-refs", FOLDED_PACKED, false},
		{"ORIG_HEAD", FOLDED_OTHER, false},
		{"FETCH_HEAD", FOLDED_OTHER, false},
		{"COMMIT_EDITMSG", FOLDED_OTHER, false},
		{"MERGE_HEAD", FOLDED_OTHER, false},
		{"MERGE_MSG", FOLDED_OTHER, false},
		{"MERGE_MODE", FOLDED_OTHER, false},
	};
	const char *git = git_rest(c->path);

	if (!git)
		return FOLDED_NOT;
	*ret_len = (size_t)(git - c->path) - 1;
	/* What has no name of git has its own line. */
	if (str_after(git, "objects/"))
		return !change_is_git_object(c)                  ? FOLDED_NOT
		       : git_place_of(c->path) == GIT_PLACE_PACK ? FOLDED_PACK
								 : FOLDED_OBJECT;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *rest = str_after(git, rows[i].name);

		if (rest && (!*rest || (rows[i].within && (*rest == '/' || rest[-1] == '/'))))
			return rows[i].kind;
	}
	return FOLDED_NOT;
}

static void folding_git(const struct folding_how *how, struct folding *f)
{
	size_t len = 0;

	for (size_t i = 0; !how->opens_git && i < how->changes->count; i++) {
		const struct change *c = &how->changes->items[i];

		/* The change that it waits with speaks for one of git's own files. */
		if (f->fates[i] == DIFF_SHOWN && c->with && !c->moved && !c->part &&
		    folding_is_gits(c))
			f->fates[i] = DIFF_SILENT;
		else if (f->fates[i] == DIFF_SHOWN && c->group == CHANGE_ORDINARY &&
			 folding_git_of(c, &len) != FOLDED_NOT)
			f->fates[i] = DIFF_GIT;
	}
}

/* --- heaps ---------------------------------------------------------------------------- */

/* The user had nothing there. */
static bool folding_is_new(const struct changes *all, const char *path, size_t len)
{
	_cleanup_free_ char *dir = strndup(path, len);
	const struct change *c = dir ? changes_find(all, dir) : NULL;

	return c && c->kind == CHANGE_ADDED && c->after.type == OBJECT_DIR;
}

/* The folder had this file before the session.  Only the tool that makes such a folder puts it at
 * the top. */
static bool folding_stood(const struct folding_how *how, const char *path, size_t len,
			  const char *name)
{
	_cleanup_free_ char *file = NULL;

	if (asprintf(&file, "%.*s/%s", (int)len, path, name) < 0) {
		file = NULL;
		return false;
	}
	_cleanup_fd_ int fd = open_beneath(how->view->base, file, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* The session has this file there. */
static bool folding_comes(const struct folding_how *how, const char *path, size_t len,
			  const char *name)
{
	_cleanup_free_ char *file = NULL;

	if (asprintf(&file, "%.*s/%s", (int)len, path, name) < 0) {
		file = NULL;
		return false;
	}
	const struct change *c = changes_find(how->changes, file);

	return c && c->after.type == OBJECT_FILE;
}

enum folding_mark { FOLDING_UNMARKED, FOLDING_MARKED_NEW, FOLDING_MARKED };

static enum folding_mark folding_look(const struct folding_how *how, const char *path, size_t len,
				      size_t name)
{
	static const char *const marks[] = {"modules.txt", "autoload.php"};
	const struct view before = {.base = how->view->base};
	bool vendor = name == strlen("vendor") && memcmp(path + len - name, "vendor", name) == 0;
	bool is_new = folding_is_new(how->changes, path, len);
	_cleanup_free_ char *dir = strndup(path, len);

	if (dir && made_is_venv(is_new ? how->view : &before, dir))
		return is_new ? FOLDING_MARKED_NEW : FOLDING_MARKED;
	for (size_t i = 0; vendor && i < BAWN_ARRAY_SIZE(marks); i++) {
		if (is_new && folding_comes(how, path, len, marks[i]))
			return FOLDING_MARKED_NEW;
		if (!is_new && folding_stood(how, path, len, marks[i]))
			return FOLDING_MARKED;
	}
	return FOLDING_UNMARKED;
}

/* Folders that we looked at, one for each depth: paths are sorted. */
enum { FOLDING_DEPTH = 32, FOLDING_BUCKETS = 1 << 12 };

struct folding_known {
	struct {
		const char *path; /* begins with the folder's path */
		size_t len;
		enum folding_mark mark;
	} at[FOLDING_DEPTH];
	uint32_t heaps[FOLDING_BUCKETS]; /* by their paths: counted from 1 */
};

static enum folding_mark folding_mark_of(const struct folding_how *how, struct folding_known *k,
					 size_t depth, const char *path, size_t len, size_t name)
{
	if (depth >= FOLDING_DEPTH)
		return folding_look(how, path, len, name);
	if (!k->at[depth].path || k->at[depth].len != len ||
	    memcmp(k->at[depth].path, path, len) != 0) {
		k->at[depth].path = path;
		k->at[depth].len = len;
		k->at[depth].mark = folding_look(how, path, len, name);
	}
	return k->at[depth].mark;
}

/* Finds the outermost folder around a path that is a heap; false: there is none. */
static bool folding_heap(const struct folding_how *how, struct folding_known *k,
			 const struct change *c, struct heap *ret)
{
	const char *path = c->path;
	size_t depth = 0;

	for (const char *part = path, *end; (end = strchr(part, '/')); part = end + 1) {
		size_t len = (size_t)(end - path), name = (size_t)(end - part);
		bool waits = c->part && c->with && !how->lands;
		enum made_kind made = made_by_name(part, name);
		bool named = made == MADE_CACHE || made == MADE_LOADED;
		enum folding_mark mark =
			named ? FOLDING_UNMARKED : folding_mark_of(how, k, depth, path, len, name);
		bool ignored = c->ignored == len;

		depth++;
		*ret = (struct heap){.path = path,
				     .len = len,
				     .ignored = ignored,
				     .owned = named || mark != FOLDING_UNMARKED,
				     .was = named || ignored || mark == FOLDING_MARKED,
				     .made = !named && !ignored && mark != FOLDING_MARKED,
				     .with = waits ? c->with : NULL};
		/* If it waits, only the thing that it is a part of is its heap. */
		if (waits && len != c->whole)
			continue;
		if (waits || ret->owned || ignored ||
		    (made == MADE_OFTEN && folding_is_new(how->changes, path, len)))
			return true;
	}
	return false;
}

static void heap_count_in(struct heap *h, const struct change *c)
{
	if (c->tells)
		h->why = c->why;
	if (!folding_is_file(c))
		return;
	h->files++;
	h->kinds[c->kind]++;
	h->bytes += c->after.type == OBJECT_ABSENT ? c->before.size : c->after.size;
}

static bool heap_has(const struct heap *h, const struct change *c)
{
	return strncmp(c->path, h->path, h->len) == 0 && c->path[h->len] == '/';
}

/* A heap may tell the change. */
static bool folding_may_heap(const struct folding *f, const struct change *c, size_t i)
{
	return f->fates[i] == DIFF_SHOWN && !c->git &&
	       (c->part ? c->group <= CHANGE_HELD && c->group != CHANGE_LEAVE
			: c->group <= CHANGE_FLAGGED && !c->with);
}

/* This heap tells the change.  It does not if the file was elsewhere before, or was the user's in a
 * folder that was no heap. */
static bool heap_tells(const struct heap *h, const struct change *c)
{
	if (c->from && !(strncmp(c->from, h->path, h->len) == 0 && c->from[h->len] == '/'))
		return false;
	return h->was || (c->before.type == OBJECT_ABSENT && !c->from);
}

bool heap_is_one(const struct heap *h)
{
	size_t few = h->with ? 0 : h->owned || h->ignored ? FOLDING_FEW : FOLDING_MANY;

	return h->files > few;
}

static void folding_weigh(const struct changes *all, struct folding *f)
{
	for (size_t i = 0; i < all->count; i++)
		if (f->fates[i] == DIFF_HEAP)
			heap_count_in(&f->heaps[f->heap_of[i]], &all->items[i]);
	for (size_t i = 0; i < all->count; i++) {
		if (f->fates[i] == DIFF_HEAP && !heap_is_one(&f->heaps[f->heap_of[i]]))
			f->fates[i] = DIFF_SHOWN;
	}
}

/* Both wait for the same change, or for nothing. */
static bool heap_waits_so(const struct heap *h, const char *with)
{
	return h->with ? with && str_equal(h->with, with) : !with;
}

/* The heap that a change is in, a known one or a new one; NULL: none, or no memory. */
static struct heap *folding_find_heap(const struct folding_how *how, struct folding_known *k,
				      const struct change *c, struct folding *f)
{
	struct heap h;

	if (!folding_heap(how, k, c, &h))
		return NULL;
	uint32_t *bucket = &k->heaps[fnv_bytes(FNV_START, h.path, h.len) % FOLDING_BUCKETS];

	/* Paths are sorted, but "a-b" comes between "a" and "a/b". */
	for (uint32_t n = f->heaps ? *bucket : 0; n > 0; n = f->heaps[n - 1].next)
		if (f->heaps[n - 1].len == h.len && heap_has(&f->heaps[n - 1], c) &&
		    heap_waits_so(&f->heaps[n - 1], h.with))
			return &f->heaps[n - 1];
	struct heap *more = reallocarray(f->heaps, f->heap_count + 1, sizeof(*more));

	if (!more)
		return NULL;
	f->heaps = more;
	h.next = *bucket;
	f->heaps[f->heap_count++] = h;
	*bucket = (uint32_t)f->heap_count;
	return &f->heaps[f->heap_count - 1];
}

static size_t folding_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static void folding_heaps(const struct folding_how *how, struct folding *f)
{
	const struct changes *all = how->changes;
	struct folding_known known = {.at = {{NULL, 0, FOLDING_UNMARKED}}, .heaps = {0}};
	const struct heap *last = NULL;
	const char *plain = NULL; /* a path that is in none; mostly the next one is beside it */

	for (size_t i = 0; i < all->count; i++) {
		const struct change *c = &all->items[i];
		size_t len = folding_parent(c->path);
		const char *with = c->part && !how->lands ? c->with : NULL;

		if (!folding_may_heap(f, c, i) || len == 0 ||
		    (plain && !with && folding_parent(plain) == len &&
		     memcmp(plain, c->path, len) == 0))
			continue;
		if (!last || !heap_has(last, c) || !heap_waits_so(last, with))
			last = folding_find_heap(how, &known, c, f);
		plain = last || with ? NULL : c->path;
		if (!last || !heap_tells(last, c) ||
		    (how->opens && how->opens(how->context, last->path, last->len)))
			continue;
		f->fates[i] = DIFF_HEAP;
		f->heap_of[i] = (uint32_t)(last - f->heaps);
	}
	if (f->heap_count) {
		folding_keep_tracked(how, f);
		folding_keep_moved(how, f);
		folding_weigh(all, f);
	}
}

/* The word for what happened to all of it: "added", or "changed". */
static const char *heap_word(const struct heap *h)
{
	for (size_t i = 0; i < CHANGE_KIND_COUNT; i++)
		if (h->kinds[i] == h->files)
			return change_kind_words[i];
	return change_kind_words[CHANGE_CHANGED];
}

static struct span heap_name(const struct heap *h)
{
	size_t at = h->len;

	while (at > 0 && h->path[at - 1] != '/')
		at--;
	return (struct span){(const uint8_t *)h->path + at, h->len - at};
}

static bool heap_is_called(const struct heap *h, struct span name)
{
	struct span own = heap_name(h);

	return own.len == name.len && memcmp(own.ptr, name.ptr, name.len) == 0;
}

/* All heaps of one name, as one. */
struct heap_sum {
	struct heap all;
	size_t count; /* how many there are */
	size_t first;
	uint32_t next; /* the next in its bucket, counted from 1 */
};

static void heap_sum_add(struct heap_sum *s, const struct heap *h)
{
	s->count++;
	s->all.files += h->files;
	s->all.bytes += h->bytes;
	s->all.ignored = s->all.ignored && h->ignored;
	for (size_t i = 0; i < CHANGE_KIND_COUNT; i++)
		s->all.kinds[i] += h->kinds[i];
}

/* Sums the heaps by their names; `of`: which sum each heap is in.  NULL: no memory. */
static struct heap_sum *heap_sums(const struct folding *f, uint32_t *of)
{
	struct heap_sum *sums = calloc(f->heap_count + 1, sizeof(*sums));
	uint32_t buckets[FOLDING_BUCKETS] = {0};
	uint32_t count = 0;

	for (size_t n = 0; sums && n < f->heap_count; n++) {
		const struct heap *h = &f->heaps[n];
		struct span name = heap_name(h);
		uint32_t *bucket =
			&buckets[fnv_bytes(FNV_START, name.ptr, name.len) % FOLDING_BUCKETS];
		uint32_t at = *bucket;

		if (h->with || !heap_is_one(h))
			continue;
		while (at > 0 && !heap_is_called(&f->heaps[sums[at - 1].first], name))
			at = sums[at - 1].next;
		if (at == 0) {
			sums[count] = (struct heap_sum){
				.all = {.ignored = true}, .first = n, .next = *bucket};
			*bucket = at = ++count;
		}
		heap_sum_add(&sums[at - 1], h);
		of[n] = at - 1;
	}
	return sums;
}

/* Only where all that it tells was made or written: of what is gone nobody is the maker. */
static void heap_put_maker(struct buf *into, const struct folding *f, const struct heap *h)
{
	const struct span folder = {(const uint8_t *)h->path, h->len};
	bool others = false;
	const char *program = makers_most(f->makers, folder, h->files, &others);

	if (!program || h->kinds[CHANGE_DELETED] > 0)
		return;
	buf_put_str(into, h->kinds[CHANGE_ADDED] == h->files ? "; made by " : "; changed by ");
	text_escape(into, span_of_str(program));
	buf_put_str(into, others ? " and others" : "");
}

static void heap_put(struct buf *into, const struct folding *f, const struct heap *h,
		     struct span name, size_t folders)
{
	const char *between = ": ";

	text_escape(into, name);
	buf_put_char(into, '/');
	if (folders > 1)
		buf_putf(into, " in %zu folders", folders);
	buf_putf(into, " (%zu file%s, ", h->files, h->files == 1 ? "" : "s");
	if (h->bytes < FOLDING_SMALL)
		words_size(into, h->bytes);
	else
		room_put_size(into, h->bytes);
	for (size_t i = 0; i < CHANGE_KIND_COUNT; i++) {
		if (h->kinds[i] == 0 || h->kinds[i] == h->files)
			continue;
		buf_putf(into, "%s%zu %s", between, h->kinds[i],
			 i == CHANGE_MODE ? "of mode" : change_kind_words[i]);
		between = ", ";
	}
	if (folders == 1)
		heap_put_maker(into, f, h);
	buf_put_str(into, h->ignored ? "; git ignores it" : "");
	if (h->with) {
		buf_put_str(into, "; with ");
		text_escape(into, span_of_str(h->with));
	}
	buf_put_str(into, ")\n");
}

size_t heaps_put(struct buf *into, const struct folding *f, const char *lead)
{
	_cleanup_free_ uint32_t *of = calloc(f->heap_count + 1, sizeof(*of));
	_cleanup_free_ struct heap_sum *sums = of ? heap_sums(f, of) : NULL;
	size_t told = 0;

	for (size_t n = 0; n < f->heap_count; n++) {
		const struct heap *h = &f->heaps[n];

		if (h->with || !heap_is_one(h))
			continue;
		told++;
		const struct heap_sum *s = sums ? &sums[of[n]] : NULL;
		bool joined = s && s->count > FOLDING_FEW;

		if (joined && s->first != n)
			continue;
		buf_putf(into, "%s%-8s ", lead, heap_word(joined ? &s->all : h));
		if (joined)
			heap_put(into, f, &s->all, heap_name(h), s->count);
		else
			heap_put(into, f, h, (struct span){(const uint8_t *)h->path, h->len}, 1);
	}
	return told;
}

size_t heaps_put_waiting(struct buf *into, const struct folding *f, const char *lead,
			 const char *with)
{
	size_t told = 0;

	for (size_t n = 0; n < f->heap_count; n++) {
		const struct heap *h = &f->heaps[n];

		if (!h->with || !heap_is_one(h) || (with && !str_equal(h->with, with)))
			continue;
		told++;
		buf_putf(into, "%s%-8s ", lead, heap_word(h));
		heap_put(into, f, h, (struct span){(const uint8_t *)h->path, h->len}, 1);
		if (!h->why)
			continue;
		buf_putf(into, "%s  ", lead);
		text_escape(into, span_of_str(h->why));
		buf_put_char(into, '\n');
	}
	return told;
}

/* --- all of it ------------------------------------------------------------------------ */

struct change folding_joined(const struct folding *f, const struct changes *c, size_t i)
{
	struct change joined = c->items[i];

	if (f->from[i] == 0)
		return joined;
	const struct change *was = &c->items[f->from[i] - 1];

	joined.kind = CHANGE_RENAMED;
	joined.edited = true;
	joined.from = was->path;
	joined.before = was->before;
	return joined;
}

int folding_read(const struct folding_how *how, struct folding *ret)
{
	size_t count = how->changes->count + 1;
	struct folding f = {.fates = calloc(count, 1),
			    .heap_of = calloc(count, sizeof(*f.heap_of)),
			    .from = calloc(count, sizeof(*f.from)),
			    .alike = calloc(count, 1),
			    .makers = how->makers};
	int r = f.fates && f.heap_of && f.from && f.alike ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i + 1 < count; i++)
		if (how->meant && !how->meant(how->context, i))
			f.fates[i] = DIFF_AWAY;
	if (r == 0)
		r = folding_directories(how->changes, &f);
	if (r == 0) {
		folding_git(how, &f);
		folding_heaps(how, &f);
		r = how->apart ? 0 : alike_find(how->changes, how->view, &f);
	}
	if (r < 0)
		folding_fini(&f);
	else
		*ret = f;
	return r;
}

void folding_fini(struct folding *f)
{
	free(f->fates);
	free(f->heap_of);
	free(f->from);
	free(f->alike);
	free(f->heaps);
	*f = (struct folding){.fates = NULL};
}

/* --- how many ------------------------------------------------------------------------- */

void tally_add(struct tally *t, const struct folding *f, const struct changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		bool file = folding_is_file(&c->items[i]);

		switch (f->fates[i]) {
		case DIFF_SHOWN:
		case DIFF_MOVED:
			t->files += file;
			t->folders += !file;
			break;
		case DIFF_HEAP:
			t->heaped += file;
			t->waiting += file && f->heaps[f->heap_of[i]].with;
			break;
		case DIFF_GIT:
			t->git += file;
			break;
		default:
			break;
		}
	}
	for (size_t i = 0; i < f->heap_count; i++) {
		if (!heap_is_one(&f->heaps[i]))
			continue;
		t->heap = t->heap ? t->heap : &f->heaps[i];
		t->heaps++;
	}
}

bool tally_is_empty(const struct tally *t)
{
	return t->files + t->folders + t->commits + t->heaped + t->git == 0 && !t->cut;
}

static void tally_put_one(struct buf *into, size_t count, const char *word, const char **between)
{
	if (count == 0)
		return;
	buf_putf(into, "%s%zu %s%s", *between, count, word, count == 1 ? "" : "s");
	*between = ", ";
}

void tally_put(struct buf *into, const struct tally *t)
{
	const char *between = "";

	tally_put_one(into, t->files, "file", &between);
	tally_put_one(into, t->folders, "folder", &between);
	if (t->cut) {
		buf_putf(into, t->commits ? "%smore than %zu commits" : "%scommits", between,
			 t->commits);
		between = ", ";
	} else {
		tally_put_one(into, t->commits, "commit", &between);
	}
	if (t->heaped) {
		buf_putf(into, "%s%zu file%s in ", *between ? ", and " : "", t->heaped,
			 t->heaped == 1 ? "" : "s");
		if (t->heaps == 1 && t->heap) {
			text_escape(into,
				    (struct span){(const uint8_t *)t->heap->path, t->heap->len});
			buf_put_char(into, '/');
		} else {
			buf_putf(into, "%zu folders", t->heaps);
		}
		between = ", ";
	}
	if (!*between)
		buf_putf(into, t->git ? "%zu of git's own files" : "nothing", t->git);
}
