/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_links.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_DEPTH_MAX = 200 };

/* A content of a file; of one file the earliest counts. */
struct link_file {
	uint64_t dev, ino;
	int64_t born, ctime;
	ssize_t entry, meta;
};

struct link_join {
	struct arena *arena;
	struct former_list *list;
	struct link_file *files; /* by number, birth and entry */
	size_t count;
	size_t known; /* of the list: sorted */
	uint64_t dev;
	int failed;
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
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Entries without a birth: of one number, who was made later was entered and changed later.  The
 * first that was changed when `f` was there already is of the same file. */
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

/* The first that is not before `f`, if it has the same number. */
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

/* The earliest content of a file; NULL: none is known.  unsure: it may be another one's. */
static struct link_file *links_find(const struct link_join *j, uint64_t dev, uint64_t ino,
				    int64_t born, bool *unsure)
{
	const struct link_file any = {.dev = dev, .ino = ino, .born = INT64_MIN};
	const struct link_file same = {.dev = dev, .ino = ino, .born = born, .entry = -1};

	*unsure = !born;
	if (!born)
		return links_seek(j, &any, links_comes_first);
	struct link_file *exact = links_seek(j, &same, links_comes_first);
	struct link_file *there = links_seek(j, &same, links_is_before);

	exact = exact && exact->born == born ? exact : NULL;
	there = there && there->born == 0 ? there : NULL;
	if (there && there->ctime > born && (!exact || there->entry < exact->entry))
		return there;
	*unsure = !exact && there;
	return exact ? exact : there;
}

static bool links_has_content(const struct first_entry *e)
{
	return e->kind == FIRST_FILE && e->links > 1 && !(e->flags & (FIRST_END | FIRST_META)) &&
	       e->flags & (FIRST_PACKED | FIRST_APART | FIRST_IN_TREE);
}

static int links_read(struct link_join *j, const struct first *first)
{
	j->files = calloc(first->count + 1, sizeof(*j->files));
	if (!j->files)
		return -ENOMEM;
	for (size_t i = 0; i < first->count; i++) {
		struct first_entry e;

		first_at(first, i, &e);
		if (links_has_content(&e))
			j->files[j->count++] = (struct link_file){.dev = e.dev,
								  .ino = e.ino,
								  .born = e.born,
								  .ctime = e.ctime,
								  .entry = (ssize_t)i,
								  .meta = -1};
	}
	if (j->count > 1)
		qsort(j->files, j->count, sizeof(*j->files), links_compare);
	return 0;
}

/* Paths that have an entry: it may have been made when another name was written already. */
static void links_correct(struct link_join *j, const struct first *first)
{
	for (size_t i = 0; i < j->list->count; i++) {
		struct former *f = &j->list->items[i];
		struct first_entry e;

		if (f->entry < 0)
			continue;
		first_at(first, (size_t)f->entry, &e);
		bool unsure = false;
		struct link_file *file = e.kind == FIRST_FILE && e.links > 1
						 ? links_find(j, e.dev, e.ino, e.born, &unsure)
						 : NULL;

		if (!file)
			continue;
		if (unsure && file->entry < f->entry)
			f->doubt = FORMER_EITHER;
		if (unsure)
			continue;
		if (file->entry < f->entry)
			f->entry = file->entry;
		if (f->meta >= 0 && (file->meta < 0 || f->meta < file->meta))
			file->meta = f->meta;
	}
}

static void links_put(struct link_join *j, const char *path, const struct link_file *file,
		      bool unsure)
{
	struct former_list *l = j->list;
	const struct former_list known = {.items = l->items, .count = j->known};

	if (former_find_path(&known, path))
		return;
	const char *own = arena_str(j->arena, path);

	j->failed = own ? former_list_add(
				  l, &(struct former){.path = own,
						      .entry = file->entry,
						      .meta = file->meta,
						      .real = own,
						      .doubt = unsure ? FORMER_MAYBE : FORMER_SURE})
			: -ENOMEM;
}

static void links_meet(struct link_join *j, int folder, const char *name, const char *path,
		       const struct stat *st)
{
	bool unsure = false;
	const struct link_file *file =
		links_find(j, st->st_dev, st->st_ino, first_born(folder, name), &unsure);

	if (file)
		links_put(j, path, file, unsure);
}

/* What cannot be looked into has no names that could be found. */
static void links_walk(struct link_join *j, int tree, const char *path, int depth)
{
	int fd = open_beneath(tree, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;

	if (!list) {
		fd_close(&fd);
		return;
	}
	for (const struct dirent *d; j->failed == 0 && (d = fd_next_entry(list, &r));) {
		char below[PATH_MAX];
		struct stat st;
		int n = snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", d->d_name);

		if (str_equal(d->d_name, ".") || str_equal(d->d_name, "..") || n < 0 ||
		    (size_t)n >= sizeof(below) ||
		    (d->d_type != DT_DIR && d->d_type != DT_REG && d->d_type != DT_UNKNOWN) ||
		    fstatat(dirfd(list), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_dev != j->dev)
			continue;
		if (S_ISREG(st.st_mode) && st.st_nlink > 1)
			links_meet(j, dirfd(list), d->d_name, below, &st);
		if (S_ISDIR(st.st_mode) && depth < LINKS_DEPTH_MAX)
			links_walk(j, tree, below, depth + 1);
	}
	(void)closedir(list);
}

int undo_links_join(const struct first *first, int tree, struct arena *arena,
		    struct former_list *list)
{
	struct link_join j = {.arena = arena, .list = list, .known = list->count};
	struct stat st;
	int r = links_read(&j, first);

	if (r == 0 && j.count > 0 && fstat(tree, &st) < 0)
		r = -errno;
	if (r == 0 && j.count > 0) {
		j.dev = st.st_dev;
		links_correct(&j, first);
		links_walk(&j, tree, "", 0);
		former_list_sort(list);
		r = j.failed;
	}
	free(j.files);
	return r;
}
