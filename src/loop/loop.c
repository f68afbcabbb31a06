/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include "fd.h"

int loop_init(struct loop *l)
{
	memset(l, 0, sizeof(*l));
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll < 0 ? -errno : 0;
}

void loop_fini(struct loop *l)
{
	fd_close(&l->epoll);
}

static struct loop_source *loop_find(struct loop *l, uint32_t slot, uint32_t generation)
{
	if (slot >= LOOP_SOURCES_MAX || generation == 0)
		return NULL;
	struct loop_source *s = &l->sources[slot];

	return s->fn && s->generation == generation ? s : NULL;
}

static uint64_t loop_data(uint32_t slot, uint32_t generation)
{
	return (uint64_t)generation << 32 | slot;
}

int loop_add(struct loop *l, int fd, uint32_t events, loop_fn fn, void *context,
	     struct loop_handle *ret_handle)
{
	for (uint32_t slot = 0; slot < LOOP_SOURCES_MAX; slot++) {
		struct loop_source *s = &l->sources[slot];

		if (s->fn)
			continue;
		uint32_t generation = s->generation + 1 ? s->generation + 1 : 1;
		struct epoll_event ev = {.events = events,
					 .data.u64 = loop_data(slot, generation)};

		if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
			return -errno;
		*s = (struct loop_source){fd, events, generation, fn, context};
		*ret_handle = (struct loop_handle){slot, generation};
		return 0;
	}
	return -ENOSPC;
}

int loop_set_events(struct loop *l, struct loop_handle h, uint32_t events)
{
	struct loop_source *s = loop_find(l, h.slot, h.generation);

	if (!s)
		return -ENOENT;
	if (s->events == events)
		return 0;
	struct epoll_event ev = {.events = events, .data.u64 = loop_data(h.slot, h.generation)};

	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, s->fd, &ev) < 0)
		return -errno;
	s->events = events;
	return 0;
}

void loop_remove(struct loop *l, struct loop_handle *h)
{
	struct loop_source *s = loop_find(l, h->slot, h->generation);

	if (s) {
		(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL);
		s->fn = NULL;
	}
	h->generation = 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

int loop_run(struct loop *l)
{
	struct epoll_event events[16];

	while (!l->stop) {
		/* epoll_pwait: the only wait call that the keeper's filter has. */
		int n = epoll_pwait(l->epoll, events, BAWN_ARRAY_SIZE(events), -1, NULL);

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
	}
	return 0;
}
