/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_fold.h"

int watch_fold_init(struct watch_fold *f, watch_fold_fn write, void *context)
{
	f->write = write;
	f->context = context;
	return keyed_init(&f->key);
}

void watch_fold_fini(struct watch_fold *f)
{
	for (size_t i = 0; i < WATCH_FOLD_SLOTS; i++)
		free(f->entries[i].text);
}

static int watch_fold_write(struct watch_fold *f, struct watch_fold_entry *e)
{
	int r = e->repeats ? f->write(f->context, e) : 0;

	e->repeats = 0;
	return r;
}

static bool watch_fold_is(const struct watch_fold_entry *e, const struct watch_fold_entry *what,
			  struct span path, struct span to)
{
	return e->hash == what->hash && e->exec == what->exec && e->kind == what->kind &&
	       e->op == what->op && e->refused == what->refused && e->failed == what->failed &&
	       e->path_len == path.len && e->to_len == to.len &&
	       memcmp(e->text, path.ptr, path.len) == 0 &&
	       (to.len == 0 || memcmp(e->text + path.len + 1, to.ptr, to.len) == 0);
}

int watch_fold_add(struct watch_fold *f, const struct watch_fold_entry *what, struct span path,
		   struct span to)
{
	struct watch_fold_entry new = *what;

	/* Only the length of `to`: two entries that differ in nothing else have to share a slot.
	 * The words for `op` are close together in memory, but two that alternate must not share
	 * one. */
	new.hash = (keyed_hash(&f->key, path) ^ to.len ^ what->exec * 31 ^
		    (uint64_t)(uintptr_t)what->op * 0x9e3779b97f4a7c15u) |
		   1; /* 0: the slot is free */
	struct watch_fold_entry *e = &f->entries[(new.hash >> 1) % WATCH_FOLD_SLOTS];

	if (watch_fold_is(e, &new, path, to)) {
		if (!e->listed)
			f->repeating[f->repeating_count++] = (uint16_t)(e - f->entries);
		e->listed = true;
		e->repeats++;
		return 1;
	}
	int r = watch_fold_write(f, e);

	if (r < 0)
		return r;
	new.text = e->text;
	new.room = e->room;
	if (new.room < path.len + to.len + 2) {
		free(e->text);
		e->text = NULL;
		new.room = path.len + to.len + 64;
		new.text = malloc(new.room);
	}
	if (!new.text) {
		e->hash = e->room = 0; /* no memory: then nothing is folded */
		return 0;
	}
	memcpy(new.text, path.ptr, path.len);
	new.text[path.len] = '\0';
	if (to.len)
		memcpy(new.text + path.len + 1, to.ptr, to.len);
	new.path_len = path.len;
	new.to_len = to.len;
	new.repeats = 0;
	new.listed = e->listed;
	f->used += e->hash == 0;
	*e = new;
	return 0;
}

int watch_fold_flush(struct watch_fold *f, uint64_t exec)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < f->repeating_count; i++) {
		struct watch_fold_entry *e = &f->entries[f->repeating[i]];

		if (r < 0 || (exec && e->exec != exec && e->repeats)) {
			f->repeating[kept++] = f->repeating[i];
			continue;
		}
		e->listed = false;
		r = watch_fold_write(f, e);
	}
	f->repeating_count = kept;
	/* Pages that nobody has written stay so: of an idle session that is nearly all. */
	for (size_t i = 0; exec == 0 && f->used > 0 && i < WATCH_FOLD_SLOTS; i++) {
		if (f->entries[i].hash == 0)
			continue;
		f->used--;
		f->entries[i].hash = 0;
	}
	return r;
}
