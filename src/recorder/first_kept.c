/* SPDX-License-Identifier: Apache-2.0 */
#include "first_kept.h"

/* An entry of a file. */
struct kept_entry {
	struct first_kept_file file;
	size_t order;
	int64_t ctime;
	bool content;
};

static int kept_compare_files(const void *a, const void *b)
{
	const struct first_kept_file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

static int kept_compare(const void *a, const void *b)
{
	const struct kept_entry *x = a, *y = b;
	int order = kept_compare_files(&x->file, &y->file);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int kept_compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Collects the files from entries that are sorted by file. */
static void kept_number(struct first_kept *k, const struct kept_entry *items, size_t count,
			int64_t since)
{
	bool early = false;

	for (size_t i = 0; i < count; i++) {
		const struct kept_entry *at = &items[i];

		/* The first entry of a file says whether it had been changed already. */
		if (i == 0 || kept_compare_files(&at->file, &at[-1].file) != 0) {
			early = at->ctime <= since;
			if (early)
				k->files[k->file_count++] = at->file;
		}
		if (early && at->content)
			k->numbers[k->count++] = at->file.ino;
	}
}

int first_kept_open(struct first_kept *k, int dir, int64_t since)
{
	struct error error = ERROR_INIT;

	*k = FIRST_KEPT_INIT;
	int r = first_open(dir, &k->first, &error);

	if (r < 0)
		return r;
	size_t room = k->first.count + 1, count = 0;
	_cleanup_free_ struct kept_entry *items = calloc(room, sizeof(*items));

	k->numbers = calloc(room, sizeof(*k->numbers));
	k->files = calloc(room, sizeof(*k->files));
	k->moved = calloc(2 * room, sizeof(*k->moved));
	if (!items || !k->numbers || !k->files || !k->moved) {
		first_kept_close(k);
		return -ENOMEM;
	}
	for (size_t i = 0; i < k->first.count; i++) {
		struct first_entry e;

		first_at(&k->first, i, &e);
		if (e.kind == FIRST_MOVED) {
			k->moved[k->moved_count++] = e.path;
			k->moved[k->moved_count++] = e.text;
		}
		if (e.kind == FIRST_FILE && !(e.flags & FIRST_END))
			items[count++] = (struct kept_entry){.file = {e.ino, e.born},
							     .order = i,
							     .ctime = e.ctime,
							     .content = !(e.flags & FIRST_META)};
	}
	if (count > 0)
		qsort(items, count, sizeof(*items), kept_compare);
	if (k->moved_count > 0)
		qsort(k->moved, k->moved_count, sizeof(*k->moved), kept_compare_paths);
	kept_number(k, items, count, since);
	return 0;
}

void first_kept_close(struct first_kept *k)
{
	first_close(&k->first);
	free(k->numbers);
	free(k->files);
	free(k->moved);
	*k = FIRST_KEPT_INIT;
}

bool first_kept_has(const struct first_kept *k, uint64_t ino)
{
	return k->count > 0 &&
	       bsearch(&ino, k->numbers, k->count, sizeof(*k->numbers), order_u64) != NULL;
}

/* Whether the path, or a folder above it, is an end of a rename. */
static bool kept_is_moved(const struct first_kept *k, const char *path)
{
	_cleanup_free_ char *above = k->moved_count > 0 ? strdup(path) : NULL;
	bool found = k->moved_count > 0 && !above;

	for (char *end = above; !found && end; end = strrchr(above, '/')) {
		if (end != above)
			*end = '\0';
		const char *key = above;

		found = bsearch(&key, k->moved, k->moved_count, sizeof(*k->moved),
				kept_compare_paths);
	}
	return found;
}

struct kept_asked {
	const struct first_kept *k;
	uint64_t ino;
	bool any, stood;
};

static int kept_on_entry(void *context, const struct first_entry *e)
{
	struct kept_asked *asked = context;
	const struct first_kept *k = asked->k;
	const struct first_kept_file file = {e->ino, e->born};

	asked->any = true;
	asked->stood = e->kind == FIRST_FILE && e->ino == asked->ino && k->file_count > 0 &&
		       bsearch(&file, k->files, k->file_count, sizeof(file), kept_compare_files);
	return asked->stood ? -ECANCELED : 0;
}

bool first_kept_is_other(const struct first_kept *k, const char *path, uint64_t ino)
{
	struct kept_asked asked = {.k = k, .ino = ino};

	(void)first_each_of(&k->first, path, kept_on_entry, &asked);
	return asked.any && !asked.stood && !kept_is_moved(k, path);
}
