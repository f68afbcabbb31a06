/* SPDX-License-Identifier: Apache-2.0 */
#include "first_taken.h"

#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_TAKEN_FIRST = 256 };

enum taken_state { TAKEN_NOT, TAKEN_GONE, TAKEN_OVER, TAKEN_STATES = 3 };

struct first_taken_slot {
	uint64_t name; /* a hash without the bits of the state, and the state; 0: empty */
	struct first_thing of;
	uint64_t since; /* so many moves there had been */
};

int first_taken_init(struct first_taken *t)
{
	*t = (struct first_taken){.slots = NULL};
	return keyed_init(&t->key);
}

static void taken_forget(struct first_taken *t)
{
	free(t->moved);
	free(t->slots);
	t->moved = NULL;
	t->slots = NULL;
	t->capacity = t->count = t->moved_capacity = t->moved_count = 0;
}

void first_taken_fini(struct first_taken *t)
{
	taken_forget(t);
}

/* --- folders that moved --------------------------------------------------------------- */

static struct first_taken_folder *taken_folder(struct first_taken_folder *folders, size_t capacity,
					       uint64_t path)
{
	size_t i = (size_t)(path >> 3) & (capacity - 1);

	while (folders[i].path && folders[i].path != path)
		i = (i + 1) & (capacity - 1);
	return &folders[i];
}

static bool taken_grow_moved(struct first_taken *t)
{
	if (t->moved && t->moved_count * 2 < t->moved_capacity)
		return true;
	size_t capacity = t->moved ? t->moved_capacity * 2 : FIRST_TAKEN_FIRST;
	struct first_taken_folder *moved =
		t->moved_count < FIRST_TAKEN_MOVED ? calloc(capacity, sizeof(*moved)) : NULL;

	if (!moved)
		return false;
	for (size_t i = 0; t->moved && i < t->moved_capacity; i++)
		if (t->moved[i].path)
			*taken_folder(moved, capacity, t->moved[i].path) = t->moved[i];
	free(t->moved);
	t->moved = moved;
	t->moved_capacity = capacity;
	return true;
}

static bool taken_move(struct first_taken *t, struct span path)
{
	uint64_t hash = keyed_hash(&t->key, path) | 1;

	if (!taken_grow_moved(t))
		return false;
	struct first_taken_folder *folder = taken_folder(t->moved, t->moved_capacity, hash);

	t->moved_count += folder->path == 0;
	*folder = (struct first_taken_folder){hash, t->moves};
	return true;
}

void first_taken_moved(struct first_taken *t, struct span from, struct span to)
{
	t->moves++;
	if (!taken_move(t, from) || !taken_move(t, to))
		taken_forget(t);
}

/* Since then it was itself renamed, or a folder above it. */
static bool taken_is_moved(const struct first_taken *t, struct span path, uint64_t since)
{
	for (size_t len = path.len; t->moved && since < t->moves && len > 0; len--) {
		if (len < path.len && path.ptr[len] != '/')
			continue;
		uint64_t hash = keyed_hash(&t->key, (struct span){path.ptr, len}) | 1;

		if (taken_folder(t->moved, t->moved_capacity, hash)->since > since)
			return true;
	}
	return false;
}

int first_taken_look(const struct first_taken *t, int fd, struct first_thing *ret)
{
	struct statx st;

	*ret = (struct first_thing){.is = 0};
	if (fd < 0)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &st) <
	    0)
		return -errno;
	bool born = st.stx_mask & STATX_BTIME;
	struct statx_timestamp when = born ? st.stx_btime : st.stx_ctime;
	const uint64_t known[] = {(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino,
				  (uint64_t)when.tv_sec, (uint64_t)when.tv_nsec << 1 | born};

	ret->is = keyed_hash(&t->key, (struct span){(const uint8_t *)known, sizeof(known)}) | 1;
	ret->changed = CLOCK_NS(st.stx_ctime);
	return 0;
}

/* --- the table ------------------------------------------------------------------------ */

/* Never 0. */
static uint64_t taken_hash(const struct first_taken *t, struct span path)
{
	return (keyed_hash(&t->key, path) | 1u << 2) & ~(uint64_t)TAKEN_STATES;
}

static struct first_taken_slot *taken_slot(struct first_taken_slot *slots, size_t capacity,
					   uint64_t hash)
{
	size_t i = (size_t)(hash >> 3) & (capacity - 1);

	while (slots[i].name && (slots[i].name & ~(uint64_t)TAKEN_STATES) != hash)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

/* NULL: it is not in the table. */
static struct first_taken_slot *taken_find(const struct first_taken *t, struct span path)
{
	struct first_taken_slot *slot =
		t->slots ? taken_slot(t->slots, t->capacity, taken_hash(t, path)) : NULL;

	if (!slot || !slot->name)
		return NULL;
	if (taken_is_moved(t, path, slot->since)) {
		slot->name &= ~(uint64_t)TAKEN_STATES;
		slot->since = t->moves;
	}
	return slot;
}

static bool taken_grow(struct first_taken *t)
{
	if (t->count >= FIRST_TAKEN_MAX)
		return false;
	if (t->slots && t->count * 2 < t->capacity)
		return true;
	size_t capacity = t->capacity ? t->capacity * 2 : FIRST_TAKEN_FIRST;
	struct first_taken_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->capacity; i++)
		if (t->slots[i].name)
			*taken_slot(slots, capacity, t->slots[i].name & ~(uint64_t)TAKEN_STATES) =
				t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->capacity = capacity;
	return true;
}

static enum taken_state taken_state(const struct first_taken_slot *slot)
{
	return slot ? (enum taken_state)(slot->name & TAKEN_STATES) : TAKEN_NOT;
}

static void taken_set(struct first_taken_slot *slot, enum taken_state state,
		      const struct first_thing *of)
{
	slot->name = (slot->name & ~(uint64_t)TAKEN_STATES) | state;
	slot->of = *of;
}

/* --- what happens to a name ----------------------------------------------------------- */

static bool taken_is_unchanged(const struct first_taken_slot *slot, const struct first_thing *now)
{
	return slot->of.is == now->is && slot->of.changed == now->changed;
}

void first_taken_gone(struct first_taken *t, struct span path, const struct first_thing *now)
{
	static const struct first_thing nothing = {.is = 0};
	struct first_taken_slot *slot = taken_find(t, path);
	enum taken_state state = taken_state(slot);
	bool others = (state == TAKEN_GONE && slot->of.is != now->is) ||
		      (state == TAKEN_OVER && taken_is_unchanged(slot, now));

	if (!slot && taken_grow(t)) {
		slot = taken_slot(t->slots, t->capacity, taken_hash(t, path));
		slot->name = taken_hash(t, path);
		t->count++;
	}
	if (!slot)
		return;
	taken_set(slot, TAKEN_GONE, others ? &nothing : now);
	slot->since = t->moves;
}

bool first_taken_has(const struct first_taken *t, struct span path)
{
	return taken_state(taken_find(t, path)) != TAKEN_NOT;
}

void first_taken_came(struct first_taken *t, struct span path, const struct first_thing *now,
		      bool fails)
{
	struct first_taken_slot *slot = taken_find(t, path);
	enum taken_state state = taken_state(slot);

	if (state == TAKEN_NOT || (state == TAKEN_OVER && taken_is_unchanged(slot, now)))
		return;
	if (state == TAKEN_OVER || now->is == 0 || now->is == slot->of.is)
		taken_set(slot, TAKEN_NOT, now);
	else if (!fails)
		taken_set(slot, TAKEN_OVER, now);
}

bool first_taken_is(const struct first_taken *t, struct span path, const struct first_thing *now)
{
	const struct first_taken_slot *slot = taken_find(t, path);
	enum taken_state state = taken_state(slot);

	if (state == TAKEN_OVER)
		return taken_is_unchanged(slot, now);
	return state == TAKEN_GONE && slot->of.is != now->is;
}
