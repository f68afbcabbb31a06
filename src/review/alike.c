/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that were renamed and edited: one file is gone and another is new, and at least half is the
 * same.  This is only for the screens: they land as a removal and an addition.
 *
 * We cut each file into pieces, a line or 64 bytes, whichever ends first.  Two files share the
 * bytes of the pieces that both have, each as often as both have it.  The pair that shares most
 * comes first, and of equal pairs the one with the same name.
 *
 * There are limits: for the number of files of each side, for their size, and for all steps.
 * Beyond these we show a removal and an addition.
 */
#include "folding.h"

#include "array.h"
#include "fd.h"
#include "fnv.h"

#include <stdlib.h>
#include <string.h>

enum {
	ALIKE_FILES_MAX = 2000, /* on each side */
	ALIKE_FILE_MAX = 1 << 20,
	ALIKE_BYTES_MAX = 64 << 20, /* of all files */
	ALIKE_STEPS = 1 << 27,
	ALIKE_PIECE = 64,
	ALIKE_LEAST = 50, /* percent */
	ALIKE_SMALL = 24, /* bytes; a smaller file is like any other */
	ALIKE_PAIRS_MAX = 1 << 20,
};

struct alike_piece {
	uint32_t sum;
	uint32_t bytes;
};

struct alike_file {
	size_t change;
	const char *name;   /* the last part of its path */
	uint64_t size, sum; /* of all of it */
	struct alike_piece *pieces;
	size_t count;
	bool taken;
};

struct alike_pair {
	uint32_t gone, came;
	uint8_t percent;
	bool named; /* both have the same name */
};

struct alike {
	const struct changes *changes;
	const struct view *view;
	struct alike_file *side[2];
	size_t count[2];
	struct alike_pair *pairs;
	size_t pair_count;
	uint64_t bytes, steps;
};

static int alike_piece_order(const void *a, const void *b)
{
	const struct alike_piece *x = a, *y = b;

	return (x->sum > y->sum) - (x->sum < y->sum);
}

/* Cuts a file into its pieces; one that cannot be read has none, and is like no other. */
static int alike_cut(struct alike *a, struct alike_file *f, enum change_side side)
{
	_cleanup_buf_ struct buf text = BUF_INIT(ALIKE_FILE_MAX + 1);
	_cleanup_fd_ int fd = changes_open(a->view, &a->changes->items[f->change], side);

	if (fd < 0 || fd_read_all(fd, &text) < 0 || text.len == 0)
		return 0;
	f->size = text.len;
	f->sum = fnv64_bytes(FNV64_START, text.ptr, text.len);
	for (size_t at = 0; at < text.len;) {
		size_t room = text.len - at < ALIKE_PIECE ? text.len - at : ALIKE_PIECE;
		const char *end = memchr(text.ptr + at, '\n', room);
		size_t len = end ? (size_t)(end - text.ptr) - at + 1 : room;

		if (!ARRAY_GROW(f->pieces, f->count))
			return -ENOMEM;
		f->pieces[f->count++] = (struct alike_piece){
			fnv_bytes(FNV_START, text.ptr + at, len), (uint32_t)len};
		at += len;
	}
	qsort(f->pieces, f->count, sizeof(*f->pieces), alike_piece_order);
	return 0;
}

static bool alike_is_asked(const struct folding *f, const struct change *c, size_t i,
			   unsigned int kind)
{
	const struct object *o = kind == CHANGE_ADDED ? &c->after : &c->before;

	return f->fates[i] == DIFF_SHOWN && c->kind == kind && o->type == OBJECT_FILE && !c->git &&
	       c->group <= CHANGE_FLAGGED && o->size >= ALIKE_SMALL && o->size <= ALIKE_FILE_MAX;
}

static const char *alike_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int alike_gather(struct alike *a, const struct folding *f, enum change_side side)
{
	unsigned int kind = side == CHANGE_BEFORE ? CHANGE_DELETED : CHANGE_ADDED;
	int r = 0;

	for (size_t i = 0; i < a->changes->count; i++) {
		const struct change *c = &a->changes->items[i];

		if (!alike_is_asked(f, c, i, kind))
			continue;
		a->bytes += side == CHANGE_BEFORE ? c->before.size : c->after.size;
		if (a->count[side] == ALIKE_FILES_MAX || a->bytes > ALIKE_BYTES_MAX)
			return -E2BIG;
		if (!ARRAY_GROW(a->side[side], a->count[side]))
			return -ENOMEM;
		a->side[side][a->count[side]++] =
			(struct alike_file){.change = i, .name = alike_name(c->path)};
	}
	return r;
}

/* How many bytes both have. */
static uint64_t alike_shared(struct alike *a, const struct alike_file *x,
			     const struct alike_file *y)
{
	uint64_t shared = 0;

	a->steps += x->count + y->count;
	for (size_t i = 0, j = 0; i < x->count && j < y->count;) {
		if (x->pieces[i].sum == y->pieces[j].sum) {
			shared += x->pieces[i].bytes;
			i++;
			j++;
		} else if (x->pieces[i].sum < y->pieces[j].sum) {
			i++;
		} else {
			j++;
		}
	}
	return shared;
}

static int alike_compare(struct alike *a, size_t gone, size_t came)
{
	const struct alike_file *x = &a->side[CHANGE_BEFORE][gone];
	const struct alike_file *y = &a->side[CHANGE_AFTER][came];
	uint64_t more = x->size > y->size ? x->size : y->size;
	uint64_t less = x->size > y->size ? y->size : x->size;

	/* A change that needs a decision of its own is no half of another. */
	if (a->changes->items[x->change].group != a->changes->items[y->change].group ||
	    less * 100 < more * ALIKE_LEAST)
		return 0;
	bool same = x->size == y->size && x->sum == y->sum;
	uint64_t percent = alike_shared(a, x, y) * 100 / more;

	if (percent < ALIKE_LEAST || a->pair_count == ALIKE_PAIRS_MAX)
		return 0;
	if (!ARRAY_GROW(a->pairs, a->pair_count))
		return -ENOMEM;
	a->pairs[a->pair_count++] =
		(struct alike_pair){.gone = (uint32_t)gone,
				    .came = (uint32_t)came,
				    /* The same lines in another order are not the same. */
				    .percent = percent > 99 && !same ? 99 : (uint8_t)percent,
				    .named = strcmp(x->name, y->name) == 0};
	return 0;
}

static int alike_pair_order(const void *a, const void *b)
{
	const struct alike_pair *x = a, *y = b;

	if (x->percent != y->percent)
		return x->percent > y->percent ? -1 : 1;
	if (x->named != y->named)
		return x->named ? -1 : 1;
	if (x->gone != y->gone)
		return x->gone < y->gone ? -1 : 1;
	return x->came < y->came ? -1 : x->came > y->came;
}

static void alike_take(struct alike *a, struct folding *f)
{
	if (a->pair_count > 1)
		qsort(a->pairs, a->pair_count, sizeof(*a->pairs), alike_pair_order);
	for (size_t i = 0; i < a->pair_count; i++) {
		struct alike_file *x = &a->side[CHANGE_BEFORE][a->pairs[i].gone];
		struct alike_file *y = &a->side[CHANGE_AFTER][a->pairs[i].came];

		if (x->taken || y->taken)
			continue;
		x->taken = y->taken = true;
		f->fates[x->change] = DIFF_SILENT;
		f->from[y->change] = (uint32_t)x->change + 1;
		f->alike[y->change] = a->pairs[i].percent;
	}
}

static void alike_fini(struct alike *a)
{
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < a->count[side]; i++)
			free(a->side[side][i].pieces);
		free(a->side[side]);
	}
	free(a->pairs);
}

int alike_find(const struct changes *c, const struct view *v, struct folding *f)
{
	_cleanup_(alike_fini) struct alike a = {.changes = c, .view = v};
	int r = alike_gather(&a, f, CHANGE_BEFORE);

	if (r == 0)
		r = alike_gather(&a, f, CHANGE_AFTER);
	if (r < 0 || a.count[0] == 0 || a.count[1] == 0)
		return r == -E2BIG ? 0 : r;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; r == 0 && i < a.count[side]; i++)
			r = alike_cut(&a, &a.side[side][i], (enum change_side)side);
	for (size_t i = 0; r == 0 && i < a.count[CHANGE_BEFORE]; i++)
		for (size_t j = 0; r == 0 && j < a.count[CHANGE_AFTER] && a.steps < ALIKE_STEPS;
		     j++)
			r = alike_compare(&a, i, j);
	if (r == 0)
		alike_take(&a, f);
	return r;
}
