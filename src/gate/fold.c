/* SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "fnv.h"

struct fold_entry {
	struct fold_entry *next; /* in its bucket */
	uint32_t hash;
	unsigned int half; /* the half that came, while the other is still to come; 0: none */
	int64_t since;     /* ms: when it was last sent */
	uint64_t count;    /* since then */
	struct fold_more more;
	struct message_note note; /* its items and their bytes follow the entry */
};

struct fold {
	fold_fn fn;
	void *context;
	size_t count;
	struct fold_entry *buckets[FOLD_BUCKETS];
};

struct fold *fold_new(fold_fn fn, void *context)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (f) {
		f->fn = fn;
		f->context = context;
	}
	return f;
}

void fold_free(struct fold *f)
{
	for (size_t i = 0; f && i < FOLD_BUCKETS; i++)
		while (f->buckets[i]) {
			struct fold_entry *e = f->buckets[i];

			f->buckets[i] = e->next;
			free(e);
		}
	free(f);
}

/* --- telling -------------------------------------------------------------------------- */

/* The note with its count and sums, each in its place. */
static void fold_tell(const struct fold *f, const struct message_note *m, uint64_t count,
		      const struct fold_more *more)
{
	static const enum note_field fields[FOLD_SUMS] = {
		[FOLD_SENT] = NOTE_FIELD_SENT,
		[FOLD_RECEIVED] = NOTE_FIELD_RECEIVED,
		[FOLD_TIME] = NOTE_FIELD_MS,
	};
	struct note n;
	bool counted = count < 2;
	size_t sum = 0, i = 0;

	n.m = (struct message_note){.kind = m->kind, .inside = m->inside, .items = {n.items, 0}};
	while (i < m->items.count || sum < FOLD_SUMS || !counted) {
		uint64_t next = i < m->items.count ? m->items.items[i].field : NOTE_FIELD_COUNT;

		if (!counted && next > NOTE_FIELD_COUNT_OF) {
			note_number(&n, NOTE_FIELD_COUNT_OF, count);
			counted = true;
		} else if (sum < FOLD_SUMS && next > fields[sum]) {
			if (more->has & 1u << sum)
				note_number(&n, fields[sum], more->sums[sum]);
			sum++;
		} else if (n.m.items.count < NOTE_ITEMS_MAX) {
			n.items[n.m.items.count++] = m->items.items[i++];
		} else {
			break;
		}
	}
	f->fn(f->context, &n);
}

static void fold_tell_counted(const struct fold *f, struct fold_entry *e, int64_t now)
{
	fold_tell(f, &e->note, e->count, &e->more);
	e->count = 0;
	e->more = (struct fold_more){.has = e->more.has};
	e->since = now;
}

/* --- what is the same ----------------------------------------------------------------- */

/* Whether a field makes two notes different.  Fields from RULE on only explain. */
static bool fold_tells(const struct note_item *item, bool half)
{
	return item->field < NOTE_FIELD_RULE && !(half && item->field == NOTE_FIELD_TYPE);
}

static uint32_t fold_hash(const struct message_note *m, bool half)
{
	uint32_t h = FNV_START ^ (uint32_t)m->kind;

	for (size_t i = 0; i < m->items.count && m->items.items[i].field < NOTE_FIELD_RULE; i++) {
		const struct note_item *item = &m->items.items[i];

		if (!fold_tells(item, half))
			continue;
		h = fnv_mix(h, (uint32_t)(item->field << 16 ^ item->number));
		h = fnv_bytes(h, item->text.ptr, item->text.len);
	}
	return h;
}

/* Whether the items before `stop` are the same.  Items are in order. */
static bool fold_is_same(const struct message_note *a, const struct message_note *b, uint64_t stop,
			 bool half)
{
	size_t i = 0, k = 0;

	if (a->kind != b->kind)
		return false;
	for (;;) {
		const struct note_item *x = i < a->items.count ? &a->items.items[i] : NULL;
		const struct note_item *y = k < b->items.count ? &b->items.items[k] : NULL;

		x = x && x->field < stop ? x : NULL;
		y = y && y->field < stop ? y : NULL;
		if (!x || !y)
			return !x && !y;
		if (x->field != y->field)
			return false;
		if (!(half && x->field == NOTE_FIELD_TYPE) &&
		    (x->number != y->number || !span_equal(x->text, y->text)))
			return false;
		i++;
		k++;
	}
}

static struct fold_entry *fold_find(const struct fold *f, const struct message_note *m,
				    uint32_t hash, uint64_t stop, bool half)
{
	struct fold_entry *e = f->buckets[hash % FOLD_BUCKETS];

	while (e && !(e->hash == hash && fold_is_same(&e->note, m, stop, half)))
		e = e->next;
	return e;
}

/* --- the table ------------------------------------------------------------------------ */

/* A copy of the note; NULL: no memory. */
static struct fold_entry *fold_copy(const struct message_note *m)
{
	size_t bytes = 0;

	for (size_t i = 0; i < m->items.count; i++)
		bytes += m->items.items[i].text.len;
	struct fold_entry *e =
		malloc(sizeof(*e) + m->items.count * sizeof(struct note_item) + bytes);

	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	struct note_item *items = (struct note_item *)(e + 1);
	uint8_t *at = (uint8_t *)(items + m->items.count);

	e->note = (struct message_note){.kind = m->kind, .items = {items, m->items.count}};
	for (size_t i = 0; i < m->items.count; i++) {
		struct span text = m->items.items[i].text;

		items[i] = m->items.items[i];
		if (text.len > 0)
			memcpy(at, text.ptr, text.len);
		items[i].text.ptr = at;
		at += text.len;
	}
	return e;
}

static void fold_count(struct fold_entry *e, const struct fold_more *more)
{
	if (more->half && e->half && more->half != e->half) {
		e->half = 0;
		return;
	}
	e->half = more->half;
	e->count++;
	e->more.has |= more->has;
	for (size_t i = 0; i < FOLD_SUMS; i++)
		e->more.sums[i] += more->sums[i];
}

bool fold_again(struct fold *f, const struct note *n, const struct fold_more *more)
{
	uint32_t hash = fold_hash(&n->m, more->half);
	struct fold_entry *e = fold_find(f, &n->m, hash, NOTE_FIELD_RULE, more->half);

	if (e)
		fold_count(e, more);
	return e != NULL;
}

void fold_put(struct fold *f, const struct note *n, const struct fold_more *more, int64_t now)
{
	uint32_t hash = fold_hash(&n->m, more->half);
	struct fold_entry *e = fold_find(f, &n->m, hash, NOTE_FIELD_COUNT, more->half);

	if (e) {
		fold_count(e, more);
		return;
	}
	fold_tell(f, &n->m, 1, more);
	e = f->count < FOLD_MAX ? fold_copy(&n->m) : NULL;
	if (!e)
		return;
	e->hash = hash;
	e->half = more->half;
	e->since = now;
	e->more.has = more->has;
	e->next = f->buckets[hash % FOLD_BUCKETS];
	f->buckets[hash % FOLD_BUCKETS] = e;
	f->count++;
}

bool fold_on_time(struct fold *f, int64_t now)
{
	for (size_t i = 0; f->count > 0 && i < FOLD_BUCKETS; i++) {
		struct fold_entry **link = &f->buckets[i];

		while (*link) {
			struct fold_entry *e = *link;
			bool over = now - e->since >= FOLD_MS;

			if (over && e->count > 0)
				fold_tell_counted(f, e, now);
			else if (over) {
				*link = e->next;
				free(e);
				f->count--;
				continue;
			}
			link = &e->next;
		}
	}
	return f->count > 0;
}

void fold_flush(struct fold *f)
{
	for (size_t i = 0; i < FOLD_BUCKETS; i++)
		for (struct fold_entry *e = f->buckets[i]; e; e = e->next)
			if (e->count > 0)
				fold_tell_counted(f, e, e->since);
}
