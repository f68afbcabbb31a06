/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_links.h"

#include "fd.h"
#include "first_names.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* An entry of a file; the earliest one of a file counts. */
struct link_file {
	uint64_t dev, ino;
	int64_t born, ctime;
	size_t at; /* number of the entry */
	/* What the file was then.  Its content is in this entry or in the first later one that has
	 * content; -1: none.  meta: this entry, if it has only mode and time; else -1. */
	ssize_t entry, meta;
	bool many; /* the file had several names */
};

struct link_join {
	const struct first *first;
	int tree;
	struct arena *arena;
	struct former_list *list;
	struct link_file *files; /* sorted by number, birth and entry */
	size_t count;
	size_t known; /* how many of the list are sorted */
};

static int links_compare(const void *a, const void *b)
{
	const struct link_file *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->born != y->born)
		return x->born < y->born ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/*
 * For entries without a birth: of those with one number, a file that was made later was entered and
 * changed later.  The first one that was changed when `f` was there already belongs to the same
 * file.
 */
static bool links_is_before(const struct link_file *x, const struct link_file *f)
{
	if (x->dev != f->dev)
		return x->dev < f->dev;
	if (x->ino != f->ino)
		return x->ino < f->ino;
	return x->born < 0 || (x->born == 0 && x->ctime < f->born);
}

static bool links_comes_first(const struct link_file *x, const struct link_file *f)
{
	return links_compare(x, f) < 0;
}

/* The first one that is not before `f`, if it has the same number. */
static struct link_file *links_seek(const struct link_join *j, const struct link_file *f,
				    bool (*is_before)(const struct link_file *x,
						      const struct link_file *f))
{
	size_t low = 0, high = j->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(&j->files[middle], f))
			low = middle + 1;
		else
			high = middle;
	}
	struct link_file *found = low < j->count ? &j->files[low] : NULL;

	return found && found->dev == f->dev && found->ino == f->ino ? found : NULL;
}

/* The earliest entry of a file; NULL: we know none.  unsure: it may belong to another file. */
static struct link_file *links_find(const struct link_join *j, uint64_t dev, uint64_t ino,
				    int64_t born, bool *unsure)
{
	const struct link_file any = {.dev = dev, .ino = ino, .born = INT64_MIN};
	const struct link_file same = {.dev = dev, .ino = ino, .born = born};

	*unsure = !born;
	if (!born)
		return links_seek(j, &any, links_comes_first);
	struct link_file *exact = links_seek(j, &same, links_comes_first);
	struct link_file *there = links_seek(j, &same, links_is_before);

	exact = exact && exact->born == born ? exact : NULL;
	there = there && there->born == 0 ? there : NULL;
	if (there && there->ctime > born && (!exact || there->at < exact->at))
		return there;
	*unsure = !exact && there;
	return exact ? exact : there;
}

static bool links_is_one(const struct link_file *x, const struct link_file *y)
{
	return x->dev == y->dev && x->ino == y->ino && x->born == y->born;
}

/* Finds the content for each entry, and drops files that never had several names. */
static void links_arrange(struct link_join *j)
{
	size_t kept = 0;

	if (j->count > 1)
		qsort(j->files, j->count, sizeof(*j->files), links_compare);
	for (size_t i = j->count; i-- > 1;) {
		struct link_file *x = &j->files[i - 1], *next = &j->files[i];

		if (links_is_one(x, next) && x->entry < 0)
			x->entry = next->entry;
		x->many = x->many || (links_is_one(x, next) && next->many);
	}
	for (size_t i = 1; i < j->count; i++)
		if (links_is_one(&j->files[i - 1], &j->files[i]))
			j->files[i].many = j->files[i - 1].many;
	for (size_t i = 0; i < j->count; i++)
		if (j->files[i].many)
			j->files[kept++] = j->files[i];
	j->count = kept;
}

static int links_read(struct link_join *j)
{
	j->files = calloc(j->first->count + 1, sizeof(*j->files));
	if (!j->files)
		return -ENOMEM;
	for (size_t i = 0; i < j->first->count; i++) {
		struct first_entry e;

		first_at(j->first, i, &e);
		bool meta = e.flags & FIRST_META;

		/* If a file has one name now, only its birth can show that it had more. */
		if (e.kind != FIRST_FILE || e.flags & FIRST_END || (e.links < 2 && !e.born))
			continue;
		j->files[j->count++] = (struct link_file){.dev = e.dev,
							  .ino = e.ino,
							  .born = e.born,
							  .ctime = e.ctime,
							  .at = i,
							  .entry = meta ? -1 : (ssize_t)i,
							  .meta = meta ? (ssize_t)i : -1,
							  .many = e.links > 1};
	}
	links_arrange(j);
	return 0;
}

static struct link_file *links_find_entry(const struct link_join *j, const struct first_entry *e,
					  bool *unsure)
{
	return e->kind == FIRST_FILE ? links_find(j, e->dev, e->ino, e->born, unsure) : NULL;
}

/* The entry for what has a name in a folder. */
static struct link_file *links_find_name(const struct link_join *j, int folder, const char *name,
					 const struct stat *st, bool *unsure)
{
	const struct link_file any = {.dev = st->st_dev, .ino = st->st_ino, .born = INT64_MIN};

	if (!S_ISREG(st->st_mode) || !links_seek(j, &any, links_comes_first))
		return NULL;
	return links_find(j, st->st_dev, st->st_ino, first_born(folder, name), unsure);
}

/* The entry for what the session left at a path. */
static struct link_file *links_find_left(const struct link_join *j, const char *path, bool *unsure)
{
	struct first_entry end;
	struct stat st;

	if (first_find_end(j->first, path, &end) >= 0 && end.born)
		return links_find_entry(j, &end, unsure);
	_cleanup_fd_ int fd = open_beneath(j->tree, path, O_PATH | O_NOFOLLOW, 0);

	return fd >= 0 && fstat(fd, &st) == 0 ? links_find_name(j, fd, "", &st, unsure) : NULL;
}

/* Corrects paths in the list: the file may have been written by another name before. */
static void links_correct(struct link_join *j)
{
	for (size_t i = 0; i < j->list->count; i++) {
		struct former *f = &j->list->items[i];
		ssize_t own = f->meta >= 0 ? f->meta : f->entry;
		struct link_file *file = NULL;
		struct first_entry e;
		bool unsure = false;

		if (own >= 0) {
			first_at(j->first, (size_t)own, &e);
			file = links_find_entry(j, &e, &unsure);
		} else if (f->real) {
			file = links_find_left(j, f->real, &unsure);
		}
		/*
		 * There is nothing earlier of it before its own entry: another file got its number.
		 */
		if (!file || (own >= 0 && file->at > (size_t)own) ||
		    (unsure && own >= 0 && file->at == (size_t)own))
			continue;
		if (unsure && f->entry >= 0) {
			f->doubt = FORMER_EITHER;
			continue;
		}
		f->entry = file->entry;
		f->meta = file->meta;
		f->doubt = unsure ? FORMER_MAYBE : FORMER_SURE;
		f->file = unsure ? 0 : (size_t)(file - j->files) + 1;
	}
}

static int links_put(struct link_join *j, const char *path, const struct link_file *file,
		     bool unsure)
{
	struct former_list *l = j->list;
	const struct former_list known = {.items = l->items, .count = j->known};

	if (!file || former_find_path(&known, path))
		return 0;
	const char *own = arena_str(j->arena, path);
	const struct former f = {.path = own,
				 .entry = file->entry,
				 .meta = file->meta,
				 .real = own,
				 .doubt = unsure ? FORMER_MAYBE : FORMER_SURE,
				 .file = unsure ? 0 : (size_t)(file - j->files) + 1};

	return own ? former_list_add(l, &f) : -ENOMEM;
}

/* Adds names that the recorder found at the end, and that have no entry. */
static int links_put_left(struct link_join *j)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->first->count; i++) {
		struct first_entry e, last;
		bool unsure = false;

		first_at(j->first, i, &e);
		if (!(e.flags & FIRST_END) || !e.born ||
		    first_find_end(j->first, e.path, &last) != (ssize_t)i)
			continue;
		const struct link_file *file = links_find_entry(j, &e, &unsure);

		r = links_put(j, e.path, file, unsure);
	}
	former_list_sort(j->list);
	j->known = j->list->count;
	return r;
}

/* Adds names that are found now: of a session that was killed, or in a folder that was closed. */
static int links_meet(void *context, const struct first_name *name)
{
	struct link_join *j = context;
	bool unsure = false;
	const struct link_file *file =
		links_find_name(j, name->folder, name->name, &name->st, &unsure);

	return links_put(j, name->path, file, unsure);
}

int undo_links_join(const struct first *first, int tree, struct arena *arena,
		    struct former_list *list)
{
	struct link_join j = {
		.first = first, .tree = tree, .arena = arena, .list = list, .known = list->count};
	int r = links_read(&j);

	if (r == 0 && j.count > 0) {
		links_correct(&j);
		r = links_put_left(&j);
		if (r == 0)
			r = first_names_each(tree, links_meet, &j);
		former_list_sort(list);
		list->files = j.count;
	}
	free(j.files);
	return r;
}
