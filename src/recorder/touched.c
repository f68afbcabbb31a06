/* SPDX-License-Identifier: Apache-2.0 */
#include "touched.h"

#include "array.h"

enum {
	TOUCHED_FLAGS = 0x7f,
	TOUCHED_FIRST = 1024,
	TOUCHED_STEPS = 512, /* names that we look at for one path */
	TOUCHED_PATH_MAX = 8192,
};

/* The hash of a path, with the flag bits 0; never 0, which is an empty slot. */
static uint64_t touched_hash(const struct touched *t, struct span path)
{
	uint64_t hash = keyed_hash(&t->key, path) & ~(uint64_t)TOUCHED_FLAGS;

	return hash ? hash : (uint64_t)TOUCHED_FLAGS + 1;
}

/* --- the table ------------------------------------------------------------------------ */

int touched_init(struct touched *t)
{
	memset(t, 0, sizeof(*t));
	t->text = BUF_INIT(TOUCHED_TEXT_MAX);
	return keyed_init(&t->key);
}

void touched_fini(struct touched *t)
{
	free(t->slots);
	free(t->pairs);
	free(t->by_from);
	free(t->by_to);
	buf_fini(&t->text);
	memset(t, 0, sizeof(*t));
}

/* The slot that has this hash, or the empty one for it. */
static uint64_t *touched_slot(uint64_t *slots, size_t capacity, uint64_t hash)
{
	size_t i = (size_t)(hash >> 7) & (capacity - 1);

	while (slots[i] && (slots[i] & ~(uint64_t)TOUCHED_FLAGS) != hash)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool touched_grow(struct touched *t)
{
	if (t->count >= TOUCHED_PATHS_MAX)
		return false;
	if (t->slots && t->count * 2 < t->capacity)
		return true;
	size_t capacity = t->capacity ? t->capacity * 2 : TOUCHED_FIRST;
	uint64_t *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; t->slots && i < t->capacity; i++)
		if (t->slots[i])
			*touched_slot(slots, capacity, t->slots[i] & ~(uint64_t)TOUCHED_FLAGS) =
				t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->capacity = capacity;
	return true;
}

/* Sets flags.  True: not all of them were set before, or there is no room. */
static bool touched_put(struct touched *t, uint64_t hash, unsigned int flags)
{
	uint64_t *slot = t->slots ? touched_slot(t->slots, t->capacity, hash) : NULL;

	if (!slot || !*slot) {
		if (!touched_grow(t)) {
			t->left_out++;
			return true;
		}
		slot = touched_slot(t->slots, t->capacity, hash);
		t->count++;
	}
	bool news = *slot == 0 || (*slot & flags) != flags;

	*slot |= hash | flags;
	return news;
}

/* The folder of a path; empty for none. */
static struct span touched_folder(struct span path)
{
	size_t len = path.len;

	while (len > 0 && path.ptr[len - 1] != '/')
		len--;
	return (struct span){path.ptr, len > 1 ? len - 1 : 0};
}

void touched_add(struct touched *t, struct span path, unsigned int effects)
{
	if (path.len == 0)
		return;
	(void)touched_put(t, touched_hash(t, path), effects);
	struct span folder = touched_folder(path);

	if (!(effects & (TOUCHED_MADE | TOUCHED_GONE)) || folder.len == 0)
		return;
	uint64_t hash = touched_hash(t, folder);

	if (hash != t->folder)
		(void)touched_put(t, hash, TOUCHED_CHILD);
	t->folder = hash;
}

unsigned int touched_effects(const struct touched *t, struct span path)
{
	if (!t->slots)
		return 0;
	return (unsigned int)(*touched_slot(t->slots, t->capacity, touched_hash(t, path)) &
			      TOUCHED_FLAGS);
}

/* --- pairs ---------------------------------------------------------------------------- */

static struct touched_pair *touched_new_pair(struct touched *t)
{
	if (t->pair_count == TOUCHED_PAIRS_MAX || !ARRAY_GROW(t->pairs, t->pair_count))
		return NULL;
	return &t->pairs[t->pair_count];
}

static bool touched_pair(struct touched *t, struct span from, struct span to, bool link)
{
	uint64_t a = touched_hash(t, from), b = touched_hash(t, to);
	uint64_t both = ((a << 7 | a >> 57) ^ b) & ~(uint64_t)TOUCHED_FLAGS;

	/* The same two names again, as with every save of an editor. */
	if (!touched_put(t, both ? both : a, TOUCHED_IS_PAIR))
		return true;
	struct touched_pair *pair = touched_new_pair(t);

	if (!pair || from.len + to.len > TOUCHED_TEXT_MAX - t->text.len)
		return false;
	*pair = (struct touched_pair){.from = a,
				      .to = b,
				      .from_at = (uint32_t)t->text.len,
				      .to_at = (uint32_t)(t->text.len + from.len),
				      .from_len = (uint32_t)from.len,
				      .to_len = (uint32_t)to.len,
				      .link = link};
	buf_put(&t->text, from.ptr, from.len);
	buf_put(&t->text, to.ptr, to.len);
	if (buf_error(&t->text))
		return false;
	t->pair_count++;
	return true;
}

void touched_renamed(struct touched *t, struct span from, struct span to)
{
	if (from.len == 0 || to.len == 0)
		return;
	bool kept = touched_pair(t, from, to, false);

	touched_add(t, from, TOUCHED_GONE | (kept ? 0u : TOUCHED_MOVED));
	touched_add(t, to, TOUCHED_MADE | (kept ? 0u : TOUCHED_MOVED));
}

/* Appends a path to one that is clean and absolute, and keeps it so. */
static void touched_walk(struct buf *path, struct span more)
{
	for (size_t i = 0; i < more.len;) {
		size_t len = 0;

		while (i + len < more.len && more.ptr[i + len] != '/')
			len++;
		const struct span part = {more.ptr + i, len};

		i += len + 1;
		if (span_equal(part, SPAN_LITERAL("..")))
			path->len = touched_folder(buf_span(path)).len;
		else if (len > 0 && !span_equal(part, SPAN_LITERAL("."))) {
			buf_put_char(path, '/');
			buf_put(path, part.ptr, part.len);
		}
	}
}

void touched_linked(struct touched *t, struct span link, struct span says)
{
	_cleanup_buf_ struct buf path = BUF_INIT(TOUCHED_PATH_MAX);

	if (link.len == 0 || says.len == 0)
		return;
	if (says.ptr[0] != '/')
		buf_put(&path, link.ptr, touched_folder(link).len);
	touched_walk(&path, says);
	/* If it is too long for us, the kernel does not follow it either. */
	if (buf_error(&path) == 0 && path.len > 0)
		(void)touched_pair(t, link, buf_span(&path), true);
}

/* --- asking --------------------------------------------------------------------------- */

static int touched_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int touched_order_from(const void *a, const void *b, void *pairs)
{
	const struct touched_pair *p = pairs;

	return touched_compare(p[*(const uint32_t *)a].from, p[*(const uint32_t *)b].from);
}

static int touched_order_to(const void *a, const void *b, void *pairs)
{
	const struct touched_pair *p = pairs;

	return touched_compare(p[*(const uint32_t *)a].to, p[*(const uint32_t *)b].to);
}

int touched_settle(struct touched *t)
{
	free(t->by_from);
	free(t->by_to);
	t->by_from = calloc(t->pair_count + 1, sizeof(*t->by_from));
	t->by_to = calloc(t->pair_count + 1, sizeof(*t->by_to));
	if (!t->by_from || !t->by_to)
		return -ENOMEM;
	for (size_t i = 0; i < t->pair_count; i++)
		t->by_from[i] = t->by_to[i] = (uint32_t)i;
	qsort_r(t->by_from, t->pair_count, sizeof(*t->by_from), touched_order_from, t->pairs);
	qsort_r(t->by_to, t->pair_count, sizeof(*t->by_to), touched_order_to, t->pairs);
	return 0;
}

/* The first pair, in this order, whose hash is not smaller. */
static size_t touched_first(const struct touched *t, bool back, uint64_t hash)
{
	size_t low = 0, high = t->pair_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct touched_pair *p =
			&t->pairs[back ? t->by_to[middle] : t->by_from[middle]];

		if ((back ? p->to : p->from) < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The way from a name to other names: the pairs that begin at it, or at a folder above it. */
struct touched_way {
	struct span path;
	bool back;
	size_t len;   /* of the path, or of the folder above it, that we look at */
	size_t index; /* of the next pair */
	bool found;   /* `index` is at a pair of it */
};

static const struct touched_pair *touched_next_pair(const struct touched *t, struct touched_way *w)
{
	while (w->len > 0) {
		uint64_t hash = touched_hash(t, (struct span){w->path.ptr, w->len});

		if (!w->found)
			w->index = touched_first(t, w->back, hash);
		w->found = true;
		if (w->index < t->pair_count) {
			const struct touched_pair *p =
				&t->pairs[w->back ? t->by_to[w->index] : t->by_from[w->index]];

			w->index++;
			if ((w->back ? p->to : p->from) == hash)
				return p;
		}
		w->len = touched_folder((struct span){w->path.ptr, w->len}).len;
		w->found = false;
	}
	return NULL;
}

/* The other name of path, through this pair. */
static void touched_rename(const struct touched *t, const struct touched_pair *p, bool back,
			   struct span path, struct buf *ret)
{
	uint32_t from_len = back ? p->to_len : p->from_len;

	buf_clear(ret);
	buf_put(ret, t->text.ptr + (back ? p->from_at : p->to_at), back ? p->from_len : p->to_len);
	if (path.len > from_len)
		buf_put(ret, path.ptr + from_len, path.len - from_len);
}

static bool touched_search(const struct touched *t, struct span path, unsigned int effects,
			   unsigned int depth, unsigned int *steps)
{
	if (touched_effects(t, path) & effects)
		return true;
	if (depth == 0 || t->pair_count == 0)
		return false;
	/* A thing may have been removed by a later name; all else may have been done by an earlier
	 * one. */
	for (int back = 0; back < 2; back++) {
		struct touched_way way = {.path = path, .back = back != 0, .len = path.len};
		const struct touched_pair *p;

		while ((p = touched_next_pair(t, &way))) {
			if (!back && (p->link || !(effects & TOUCHED_GONE)))
				continue;
			if (++*steps > TOUCHED_STEPS)
				return false;
			_cleanup_buf_ struct buf other = BUF_INIT(TOUCHED_PATH_MAX);

			touched_rename(t, p, back != 0, path, &other);
			/* By its later name it may have been replaced, too. */
			if (buf_error(&other) == 0 &&
			    touched_search(t, buf_span(&other),
					   back ? effects : effects | TOUCHED_MADE, depth - 1,
					   steps))
				return true;
		}
	}
	return false;
}

/* Whether path is beneath one end of a rename that we do not know in full. */
static bool touched_beneath_moved(const struct touched *t, struct span path)
{
	for (; path.len > 0; path = touched_folder(path))
		if (touched_effects(t, path) & TOUCHED_MOVED)
			return true;
	return false;
}

bool touched_explains(const struct touched *t, struct span path, unsigned int effects)
{
	unsigned int steps = 0;

	return touched_search(t, path, effects, TOUCHED_DEPTH, &steps) ||
	       touched_beneath_moved(t, path);
}

bool touched_other_name(const struct touched *t, struct span path, bool back, size_t *at,
			struct buf *ret)
{
	struct touched_way way = {.path = path, .back = back, .len = path.len};
	size_t seen = 0;

	for (const struct touched_pair *p; (p = touched_next_pair(t, &way));) {
		if (p->link || seen++ < *at)
			continue;
		(*at)++;
		touched_rename(t, p, back, path, ret);
		return buf_error(ret) == 0;
	}
	return false;
}
