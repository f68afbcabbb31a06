/* SPDX-License-Identifier: Apache-2.0 */
#include "first_taken.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "first.h"
#include "open.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_TAKEN_FIRST = 256, FIRST_TAKEN_DEPTH = 100 };

enum taken_state { TAKEN_NOT, TAKEN_GONE, TAKEN_OVER };

struct first_taken_slot {
	uint64_t name; /* 0: empty */
	struct first_thing of;
	enum taken_state state;
	bool apart; /* a folder here has only what the box put there */
};

static const struct first_thing taken_nothing = {.is = 0};

int first_taken_init(struct first_taken *t)
{
	*t = (struct first_taken){.slots = NULL};
	return keyed_init(&t->key);
}

void first_taken_fini(struct first_taken *t)
{
	free(t->slots);
	t->slots = NULL;
	t->capacity = t->count = 0;
}

/* --- the table ------------------------------------------------------------------------ */

/* The hash of a name in a folder; "": of the folder itself, wherever it is.  Never 0. */
static uint64_t taken_hash(const struct first_taken *t, const struct first_thing *folder,
			   struct span name)
{
	uint8_t bytes[sizeof(folder->is) + NAME_MAX];

	memcpy(bytes, &folder->is, sizeof(folder->is));
	if (name.len > 0)
		memcpy(bytes + sizeof(folder->is), name.ptr, name.len);
	return keyed_hash(&t->key, (struct span){bytes, sizeof(folder->is) + name.len}) | 1;
}

static struct first_taken_slot *taken_slot(struct first_taken_slot *slots, size_t capacity,
					   uint64_t name)
{
	size_t i = (size_t)(name >> 1) & (capacity - 1);

	while (slots[i].name && slots[i].name != name)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

/* NULL: it is not in the table. */
static struct first_taken_slot *taken_get(const struct first_taken *t, uint64_t name)
{
	struct first_taken_slot *slot = t->slots ? taken_slot(t->slots, t->capacity, name) : NULL;

	return slot && slot->name ? slot : NULL;
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
			*taken_slot(slots, capacity, t->slots[i].name) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->capacity = capacity;
	return true;
}

/* Finds it in the table, or adds it; NULL: there is no room. */
static struct first_taken_slot *taken_make(struct first_taken *t, uint64_t name)
{
	struct first_taken_slot *slot = taken_get(t, name);

	if (!slot && taken_grow(t)) {
		slot = taken_slot(t->slots, t->capacity, name);
		*slot = (struct first_taken_slot){.name = name};
		t->count++;
	}
	return slot;
}

/* --- places --------------------------------------------------------------------------- */

int first_taken_look(const struct first_taken *t, int fd, struct first_thing *ret)
{
	struct statx st;

	*ret = taken_nothing;
	if (fd < 0)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &st) <
	    0)
		return -errno;
	bool born = st.stx_mask & STATX_BTIME, folder = S_ISDIR(st.stx_mode);
	struct statx_timestamp when = born     ? st.stx_btime
				      : folder ? (struct statx_timestamp){.tv_sec = 0}
					       : st.stx_ctime;
	const uint64_t known[] = {(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino,
				  (uint64_t)when.tv_sec, (uint64_t)when.tv_nsec << 1 | born};

	ret->is = keyed_hash(&t->key, (struct span){(const uint8_t *)known, sizeof(known)}) | 1;
	ret->changed = folder ? 0 : CLOCK_NS(st.stx_ctime);
	return 0;
}

/* Whether only what the box put into the folder there is the box's. */
static bool taken_is_apart(const struct first_taken *t, const struct first_place *at)
{
	const struct first_taken_slot *slot = taken_get(t, at->name);

	return (slot && slot->apart) ||
	       taken_get(t, taken_hash(t, &at->now, (struct span){NULL, 0})) ||
	       first_taken_is(t, at);
}

int first_taken_find(const struct first_taken *t, int top, const char *path,
		     struct first_place *ret)
{
	struct first_place at = {.apart = false};
	int r = first_taken_look(t, top, &at.now);
	_cleanup_fd_ int folder = -1;

	while (r == 0) {
		size_t len = strcspn(path, "/");
		char name[NAME_MAX + 1];

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		at.name = taken_hash(t, &at.now, (struct span){(const uint8_t *)name, len});
		int fd = open_beneath(folder < 0 ? top : folder, name, O_PATH | O_NOFOLLOW, 0);

		fd_close(&folder);
		folder = fd;
		if (fd < 0 && fd != -ENOENT)
			return fd;
		r = first_taken_look(t, fd, &at.now);
		path += len + (path[len] == '/');
		if (!*path)
			break;
		if (fd < 0)
			return fd;
		at.apart = taken_is_apart(t, &at);
	}
	*ret = at;
	return r;
}

/* --- what happens to a name ----------------------------------------------------------- */

/* What the table at the head of first_taken.h says of a name. */
static struct first_taken_slot taken_state(const struct first_taken *t,
					   const struct first_place *at)
{
	const struct first_taken_slot *slot = taken_get(t, at->name);

	return slot ? *slot
		    : (struct first_taken_slot){.name = at->name,
						.state = at->apart ? TAKEN_GONE : TAKEN_NOT};
}

static bool taken_is_unchanged(const struct first_taken_slot *slot, const struct first_thing *now)
{
	return slot->of.is == now->is && slot->of.changed == now->changed;
}

static void taken_set(struct first_taken *t, struct first_taken_slot slot, enum taken_state state,
		      const struct first_thing *of)
{
	struct first_taken_slot *own = taken_make(t, slot.name);

	slot.state = state;
	slot.of = *of;
	if (own)
		*own = slot;
}

void first_taken_gone(struct first_taken *t, const struct first_place *at)
{
	struct first_taken_slot slot = taken_state(t, at);
	bool others = (slot.state == TAKEN_GONE && slot.of.is != at->now.is) ||
		      (slot.state == TAKEN_OVER && taken_is_unchanged(&slot, &at->now));

	taken_set(t, slot, TAKEN_GONE, others ? &taken_nothing : &at->now);
}

void first_taken_came(struct first_taken *t, const struct first_place *at, bool fails)
{
	struct first_taken_slot slot = taken_state(t, at);

	if (slot.state == TAKEN_NOT ||
	    (slot.state == TAKEN_OVER && taken_is_unchanged(&slot, &at->now)))
		return;
	slot.apart = slot.apart || at->now.is == 0;
	if (slot.state == TAKEN_OVER || at->now.is == 0 || at->now.is == slot.of.is)
		taken_set(t, slot, TAKEN_NOT, &at->now);
	else if (!fails)
		taken_set(t, slot, TAKEN_OVER, &at->now);
}

/* --- a folder that was made in the session ---------------------------------------------- */

/* Calls found for each name in a folder until it says false.  True: it reached the end. */
static bool taken_each(int dir, bool (*found)(void *context, int dir, const struct dirent *d),
		       void *context)
{
	int r = 0;
	_cleanup_dir_ DIR *all = dir_read(open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0), &r);
	bool on = true;

	for (const struct dirent *d; on && (d = dir_next(all, &r));)
		on = found(context, dirfd(all), d);
	return on && r == 0;
}

struct taken_listing {
	struct first_taken *t;
	int64_t since;
	size_t count; /* names that we found */
	unsigned int depth;
	struct first_thing folder; /* the one at hand */
};

/* Opens the folder of that name if it was made in the session; else, or on failure, negative. */
static int taken_open_born(const struct taken_listing *l, int dir, const char *name)
{
	int fd = open_beneath(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd >= 0 && first_born(fd, "") <= l->since)
		fd_close(&fd);
	return fd;
}

static bool taken_count(void *context, int dir, const struct dirent *d)
{
	struct taken_listing *l = context;
	_cleanup_fd_ int fd = d->d_type == DT_DIR ? taken_open_born(l, dir, d->d_name) : -1;

	if (++l->count > FIRST_TAKEN_LIST || l->depth >= FIRST_TAKEN_DEPTH)
		return false;
	l->depth++;
	bool on = fd < 0 || taken_each(fd, taken_count, l);

	l->depth--;
	return on;
}

/* What we know of a name stays; else it is what is there now, and the box's.  Always true. */
static bool taken_note(void *context, int dir, const struct dirent *d)
{
	struct taken_listing *l = context;
	const struct first_thing folder = l->folder;
	const struct span text = span_of_str(d->d_name);
	_cleanup_fd_ int fd = open_beneath(dir, d->d_name, O_PATH | O_NOFOLLOW, 0);
	struct first_thing now;

	if (fd < 0 || first_taken_look(l->t, fd, &now) < 0)
		return true;
	const struct first_taken_slot slot = {.name = taken_hash(l->t, &folder, text)};

	if (!taken_get(l->t, slot.name))
		taken_set(l->t, slot, TAKEN_NOT, &now);
	_cleanup_fd_ int born = d->d_type == DT_DIR ? taken_open_born(l, dir, d->d_name) : -1;
	uint64_t itself = taken_hash(l->t, &now, (struct span){NULL, 0});

	if (born < 0 || taken_get(l->t, itself))
		return true;
	(void)taken_make(l->t, itself);
	l->folder = now;
	(void)taken_each(born, taken_note, l);
	l->folder = folder;
	return true;
}

void first_taken_list(struct first_taken *t, int top, const char *path, int64_t since)
{
	struct taken_listing l = {.t = t, .since = since};
	_cleanup_fd_ int fd = taken_open_born(&l, top, path);

	if (fd < 0 || first_taken_look(t, fd, &l.folder) < 0)
		return;
	uint64_t itself = taken_hash(t, &l.folder, (struct span){NULL, 0});

	if (taken_get(t, itself) || !taken_each(fd, taken_count, &l) ||
	    t->count + 2 * l.count >= FIRST_TAKEN_MAX)
		return;
	(void)taken_make(t, itself);
	(void)taken_each(fd, taken_note, &l);
}

/* The folder moves, and what we know of names in it stays with it. */
static void taken_goes(struct first_taken *t, const struct first_place *at)
{
	if (at->now.is && taken_is_apart(t, at))
		(void)taken_make(t, taken_hash(t, &at->now, (struct span){NULL, 0}));
}

static void taken_arrives(const struct first_taken *t, const struct first_place *at)
{
	struct first_taken_slot *slot = taken_get(t, at->name);

	if (slot)
		slot->apart = false;
}

void first_taken_moved(struct first_taken *t, const struct first_place *from,
		       const struct first_place *to, bool exchanged)
{
	taken_goes(t, from);
	if (exchanged)
		taken_goes(t, to);
	taken_arrives(t, to);
	if (exchanged)
		taken_arrives(t, from);
}

bool first_taken_is(const struct first_taken *t, const struct first_place *at)
{
	const struct first_taken_slot slot = taken_state(t, at);

	if (slot.state == TAKEN_OVER)
		return taken_is_unchanged(&slot, &at->now);
	return slot.state == TAKEN_GONE && slot.of.is != at->now.is;
}
