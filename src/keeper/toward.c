/* SPDX-License-Identifier: Apache-2.0 */
#include "toward.h"

#include "channel.h"
#include "fd.h"
#include "message.h"

enum { TOWARD_QUEUE_MAX = 256 << 10 };

struct toward_queued {
	uint32_t type, len;
};

void toward_init(struct toward *t, struct loop *loop, struct master_view *view)
{
	*t = (struct toward){
		.loop = loop, .view = view, .queue = BUF_INIT(TOWARD_QUEUE_MAX), .lookups = -1};
}

int toward_flush(struct toward *t)
{
	int r = 0;

	while (t->queue.len > 0) {
		struct toward_queued q;

		memcpy(&q, t->queue.ptr, sizeof(q));
		r = channel_send(t->view->fd, q.type,
				 (struct span){(uint8_t *)t->queue.ptr + sizeof(q), q.len}, NULL,
				 0);
		if (r == -EAGAIN)
			break;
		size_t used = sizeof(q) + q.len;

		memmove(t->queue.ptr, t->queue.ptr + used, t->queue.len - used);
		t->queue.len -= used;
	}
	if (t->queue.len == 0 && t->resolver_waits) {
		r = channel_send(t->view->fd, MESSAGE_RESOLVER, (struct span){NULL, 0}, &t->lookups,
				 1);
		t->resolver_waits = r == -EAGAIN;
		if (r != -EAGAIN)
			fd_close(&t->lookups);
	}
	t->view->more = t->queue.len > 0 || t->resolver_waits;
	return r;
}

int toward_tell(struct toward *t, uint32_t type, struct span body)
{
	const struct toward_queued q = {type, (uint32_t)body.len};
	int r = t->queue.len > 0 ? -EAGAIN : channel_send(t->view->fd, type, body, NULL, 0);

	if (r != -EAGAIN)
		return r;
	if (type == MESSAGE_EVENT && t->queue.len > TOWARD_QUEUE_MAX / 2)
		return 0;
	buf_put(&t->queue, &q, sizeof(q));
	buf_put(&t->queue, body.ptr, body.len);
	t->view->more = true;
	return buf_error(&t->queue) ? -ENOBUFS
				    : loop_set_events(t->loop, t->view->handle, EPOLLIN | EPOLLOUT);
}

void toward_want_resolver(struct toward *t)
{
	if (t->lookups < 0)
		return;
	t->resolver_waits = true;
	if (toward_flush(t) == -EAGAIN)
		(void)loop_set_events(t->loop, t->view->handle, EPOLLIN | EPOLLOUT);
}
