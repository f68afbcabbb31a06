/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include "clock.h"
#include "fd.h"

#include <poll.h>
#include <time.h>

enum {
	LOOP_FIRST = 16,
	LOOP_MAX = 1 << 20,
	LOOP_EVENTS = 64,
	LOOP_LOOKS = 4,    /* after so many empty looks the loop stops looking first */
	LOOP_WAITS = 64,   /* and so many waits later it tries again, at the earliest */
	LOOP_TICK_MS = 20, /* how often it looks for edges of sources in no set */
};

int loop_init(struct loop *l)
{
	memset(l, 0, sizeof(*l));
	l->kept = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll < 0 ? -errno : 0;
}

void loop_fini(struct loop *l)
{
	fd_close(&l->epoll);
	fd_close(&l->kept);
	free(l->sources);
	free(l->polls);
	free(l->poll_slots);
	l->sources = NULL;
	l->polls = NULL;
	l->poll_slots = NULL;
	l->capacity = l->plain = l->poll_room = 0;
}

static struct loop_source *loop_find(struct loop *l, uint32_t slot, uint32_t generation)
{
	if (slot >= l->capacity || generation == 0)
		return NULL;
	struct loop_source *s = &l->sources[slot];

	return s->fn && s->generation == generation ? s : NULL;
}

static uint64_t loop_data(uint32_t slot, uint32_t generation)
{
	return (uint64_t)generation << 32 | slot;
}

/* Finds the lowest free slot, or makes one. */
static int loop_free_slot(struct loop *l, uint32_t *ret_slot)
{
	while (l->free_hint < l->capacity && l->sources[l->free_hint].fn)
		l->free_hint++;
	if (l->free_hint == l->capacity) {
		uint32_t capacity = l->capacity ? l->capacity * 2 : LOOP_FIRST;
		struct loop_source *sources =
			capacity > LOOP_MAX ? NULL
					    : reallocarray(l->sources, capacity, sizeof(*sources));

		if (!sources)
			return -ENOMEM;
		memset(sources + l->capacity, 0, (capacity - l->capacity) * sizeof(*sources));
		l->sources = sources;
		l->capacity = capacity;
	}
	*ret_slot = l->free_hint;
	return 0;
}

int loop_add(struct loop *l, int fd, uint32_t events, loop_fn fn, void *context,
	     struct loop_handle *ret_handle)
{
	uint32_t slot = 0;
	int r = loop_free_slot(l, &slot);

	if (r < 0)
		return r;
	struct loop_source *s = &l->sources[slot];
	uint32_t generation = s->generation + 1 ? s->generation + 1 : 1;
	struct epoll_event ev = {.events = events, .data.u64 = loop_data(slot, generation)};

	bool plain = epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0;

	if (plain && errno != ENOSPC)
		return -errno;
	*s = (struct loop_source){.fd = fd,
				  .events = events,
				  .generation = generation,
				  .fn = fn,
				  .context = context,
				  .plain = plain};
	l->plain += plain;
	*ret_handle = (struct loop_handle){slot, generation};
	return 0;
}

int loop_set_events(struct loop *l, struct loop_handle h, uint32_t events)
{
	struct loop_source *s = loop_find(l, h.slot, h.generation);

	if (!s)
		return -ENOENT;
	if (s->events == events)
		return 0;
	struct epoll_event ev = {.events = events, .data.u64 = loop_data(h.slot, h.generation)};

	if (!s->plain &&
	    ((l->nearest != h.slot + 1 && epoll_ctl(l->epoll, EPOLL_CTL_MOD, s->fd, &ev) < 0) ||
	     (s->kept && epoll_ctl(l->kept, EPOLL_CTL_MOD, s->fd, &ev) < 0)))
		return -errno;
	s->events = events;
	return 0;
}

int loop_keep(struct loop *l, struct loop_handle h)
{
	struct loop_source *s = loop_find(l, h.slot, h.generation);

	if (!s)
		return -ENOENT;
	struct epoll_event ev = {.events = s->events, .data.u64 = loop_data(h.slot, h.generation)};

	if (l->kept < 0)
		l->kept = epoll_create1(EPOLL_CLOEXEC);
	if (l->kept < 0)
		return -errno;
	if (!s->plain && epoll_ctl(l->kept, EPOLL_CTL_ADD, s->fd, &ev) < 0)
		return -errno;
	s->kept = true;
	return 0;
}

void loop_hold(struct loop *l, bool held)
{
	l->held = held && l->kept >= 0;
}

int loop_near(struct loop *l, struct loop_handle h)
{
	struct loop_source *s = loop_find(l, h.slot, h.generation);

	if (!s || l->nearest)
		return s ? -EEXIST : -ENOENT;
	if (!s->plain && epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL) < 0)
		return -errno;
	l->plain -= s->plain;
	s->plain = false;
	l->nearest = h.slot + 1;
	return 0;
}

static void loop_free_source(struct loop *l, struct loop_handle *h)
{
	if (loop_find(l, h->slot, h->generation)) {
		l->plain -= l->sources[h->slot].plain;
		l->sources[h->slot].plain = false;
		l->sources[h->slot].fn = NULL;
		if (l->nearest == h->slot + 1)
			l->nearest = 0;
		if (h->slot < l->free_hint)
			l->free_hint = h->slot;
	}
	h->generation = 0;
}

void loop_remove(struct loop *l, struct loop_handle *h)
{
	const struct loop_source *s = loop_find(l, h->slot, h->generation);

	if (s && !s->plain && l->nearest != h->slot + 1)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	if (s && !s->plain && s->kept)
		(void)epoll_ctl(l->kept, EPOLL_CTL_DEL, s->fd, NULL);
	loop_free_source(l, h);
}

void loop_close(struct loop *l, struct loop_handle *h, int *fd)
{
	loop_free_source(l, h);
	fd_close(fd);
}

void loop_rebind(struct loop *l, struct loop_handle h, loop_fn fn, void *context)
{
	struct loop_source *s = loop_find(l, h.slot, h.generation);

	if (s) {
		s->fn = fn;
		s->context = context;
	}
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

static int64_t loop_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* epoll_pwait, because the filter of the keeper and of others has no epoll_wait. */
static int loop_poll(const struct loop *l, struct epoll_event *events, int timeout)
{
	return epoll_pwait(l->held ? l->kept : l->epoll, events, LOOP_EVENTS, timeout, NULL);
}

/* Waits as loop_poll does, without a timeout, for the nearest source too, and reports that one
 * first. */
static int loop_poll_near(const struct loop *l, struct epoll_event *events)
{
	uint32_t slot = l->nearest - 1;
	const struct loop_source *s = &l->sources[slot];
	struct pollfd near[] = {{.fd = s->fd, .events = (short)s->events},
				{.fd = l->epoll, .events = POLLIN}};
	int n = ppoll(near, BAWN_ARRAY_SIZE(near), NULL, NULL);

	if (n <= 0)
		return n;
	n = near[0].revents != 0;
	if (n)
		events[0] = (struct epoll_event){.events = (uint32_t)near[0].revents,
						 .data.u64 = loop_data(slot, s->generation)};
	if (!near[1].revents)
		return n;
	int others = epoll_pwait(l->epoll, events + n, LOOP_EVENTS - n, 0, NULL);

	return others < 0 && n == 0 ? others : n + (others > 0 ? others : 0);
}

/* --- without room in the set ---------------------------------------------------------- */

static int loop_poll_room(struct loop *l)
{
	uint32_t need = l->plain + 2;

	if (need <= l->poll_room)
		return 0;
	void *polls = reallocarray(l->polls, need, sizeof(*l->polls));

	if (!polls)
		return -1;
	l->polls = polls;
	void *slots = reallocarray(l->poll_slots, need, sizeof(*l->poll_slots));

	if (!slots)
		return -1;
	l->poll_slots = slots;
	l->poll_room = need;
	return 0;
}

/* Puts the sources that are in no set into the list, from `count` on; edge: only those that want
 * edges. */
static uint32_t loop_list_plain(const struct loop *l, bool edge, uint32_t count)
{
	for (uint32_t i = 0; i < l->capacity; i++) {
		const struct loop_source *s = &l->sources[i];
		bool apart = s->plain || (l->nearest == i + 1 && !l->held);

		if (!s->fn || !apart || (l->held && !s->kept) || !(s->events & EPOLLET) != !edge)
			continue;
		l->polls[count] = (struct pollfd){.fd = s->fd, .events = (short)s->events};
		l->poll_slots[count++] = i;
	}
	return count;
}

static int loop_take_plain(const struct loop *l, uint32_t from, uint32_t count,
			   struct epoll_event *events, int n)
{
	for (uint32_t i = from; i < count && n < LOOP_EVENTS; i++)
		if (l->polls[i].revents)
			events[n++] = (struct epoll_event){
				.events = (uint32_t)l->polls[i].revents,
				.data.u64 = loop_data(l->poll_slots[i],
						      l->sources[l->poll_slots[i]].generation)};
	return n;
}

/*
 * Waits as loop_poll does, for a loop with sources in no set.  poll reports no edges, so the loop
 * looks at sources that want them whenever something else woke it, and every LOOP_TICK_MS.
 */
static int loop_poll_plain(struct loop *l, struct epoll_event *events)
{
	const struct timespec tick = {.tv_nsec = LOOP_TICK_MS * 1000000L};
	int set = l->held ? l->kept : l->epoll;

	if (loop_poll_room(l) < 0)
		return -1;
	l->polls[0] = (struct pollfd){.fd = set, .events = POLLIN};
	uint32_t count = loop_list_plain(l, false, 1);
	bool edges = count < l->plain + 1 + (l->nearest && !l->held);
	int n = ppoll(l->polls, count, edges ? &tick : NULL, NULL);

	if (n < 0)
		return n;
	bool of_set = l->polls[0].revents != 0;

	n = loop_take_plain(l, 1, count, events, 0);
	if (edges) {
		const struct timespec now = {.tv_nsec = 0};

		count = loop_list_plain(l, true, 0);
		if (ppoll(l->polls, count, &now, NULL) > 0)
			n = loop_take_plain(l, 0, count, events, n);
	}
	if (of_set && n < LOOP_EVENTS) {
		int others = epoll_pwait(set, events + n, LOOP_EVENTS - n, 0, NULL);

		n += others > 0 ? others : 0;
	}
	return n;
}

/*
 * Waits as loop_poll does.  An eager loop first looks again and again for a while, and sleeps only
 * when nothing came.  It does so while sleeps would be shorter than such a look, and stops after a
 * few looks that found nothing.
 */
static int loop_wait(struct loop *l, struct epoll_event *events)
{
	if (l->plain)
		return loop_poll_plain(l, events);
	if (l->nearest && !l->held)
		return loop_poll_near(l, events);
	if (l->eager_ns == 0 || l->held)
		return loop_poll(l, events, -1);
	int64_t from = loop_now();
	bool looks = l->looks_left > 0;
	int n = 0;

	if (looks) {
		do
			n = loop_poll(l, events, 0);
		while (n == 0 && loop_now() - from < l->eager_ns);
		l->looks_left = n > 0 ? LOOP_LOOKS : l->looks_left - 1;
		if (l->looks_left == 0)
			l->waits_left = LOOP_WAITS;
	}
	if (n == 0)
		n = loop_poll(l, events, -1);
	if (l->waits_left > 0)
		l->waits_left--;
	else if (!looks && loop_now() - from < 2 * l->eager_ns) /* twice: waking up takes time */
		l->looks_left = LOOP_LOOKS;
	return n;
}

int loop_run(struct loop *l)
{
	struct epoll_event events[LOOP_EVENTS];

	while (!l->stop) {
		int n = loop_wait(l, events);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		for (int i = 0; i < n && !l->stop; i++) {
			uint64_t data = events[i].data.u64;
			struct loop_source *s =
				loop_find(l, (uint32_t)data, (uint32_t)(data >> 32));
			int r = s ? s->fn(s->context, events[i].events) : 0;

			if (r < 0)
				return r;
		}
		int r = l->turn ? l->turn(l->turn_context, 0) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
