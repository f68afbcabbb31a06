/* SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"

#include "fd.h"

#include <poll.h>
#include <unistd.h>

void pump_stop(struct pump *p)
{
	loop_remove(p->loop, &p->reader);
	loop_remove(p->loop, &p->writer);
	if (p->own_from)
		fd_close(&p->from);
	if (p->own_to)
		fd_close(&p->to);
	p->done = true;
}

/* One read when there is room, one write when there is something; false when it is over. */
static bool pump_step(struct pump *p, bool can_read, bool can_write)
{
	if (can_read && p->len == 0 && !p->eof) {
		ssize_t n = read(p->from, p->bytes, sizeof(p->bytes));

		if (n > 0) {
			p->at = 0;
			p->len = (size_t)n;
		} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
			p->eof = true;
		}
	}
	if (can_write && p->len > 0) {
		ssize_t n = write(p->to, p->bytes + p->at, p->len);

		if (n > 0) {
			p->at += (size_t)n;
			p->len -= (size_t)n;
		} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return false; /* nobody reads it any more */
		}
	}
	return !(p->eof && p->len == 0);
}

static int pump_mind(struct pump *p)
{
	if (p->from_waits)
		(void)loop_set_events(p->loop, p->reader, p->len == 0 ? EPOLLIN : 0u);
	if (p->to_waits)
		/* A file to read is always ready: then the pace is set by who writes. */
		(void)loop_set_events(p->loop, p->writer,
				      p->len > 0 || !p->from_waits ? EPOLLOUT : 0u);
	return 0;
}

static int pump_on_reader(void *context, uint32_t events)
{
	struct pump *p = context;

	(void)events;
	if (!pump_step(p, true, !p->to_waits))
		pump_stop(p);
	else
		(void)pump_mind(p);
	return 0;
}

static int pump_on_writer(void *context, uint32_t events)
{
	struct pump *p = context;

	/* EPOLLERR alone: the reader of a pipe is gone. */
	if ((events & EPOLLERR) || !pump_step(p, !p->from_waits, true))
		pump_stop(p);
	else
		(void)pump_mind(p);
	return 0;
}

int pump_start(struct pump *p, struct loop *loop, int from, bool own_from, int to, bool own_to)
{
	memset(p, 0, offsetof(struct pump, bytes));
	p->loop = loop;
	p->from = from;
	p->to = to;
	p->own_from = own_from;
	p->own_to = own_to;
	int r = loop_add(loop, from, EPOLLIN, pump_on_reader, p, &p->reader);

	if (r < 0 && r != -EPERM)
		return r;
	p->from_waits = r == 0;
	r = loop_add(loop, to, 0, pump_on_writer, p, &p->writer);
	/* EEXIST: one terminal for both directions; writing it is quick enough. */
	if (r < 0 && r != -EPERM && r != -EEXIST)
		return r;
	p->to_waits = r == 0;
	return pump_mind(p);
}

void pump_finish(struct pump *p)
{
	if (p->done)
		return;
	loop_remove(p->loop, &p->reader);
	loop_remove(p->loop, &p->writer);
	/* A descriptor that does not block by itself is waited for. */
	for (;;) {
		struct pollfd wait_for = {.fd = p->len ? p->to : p->from,
					  .events = p->len ? POLLOUT : POLLIN};

		(void)poll(&wait_for, 1, -1);
		if (!pump_step(p, true, true))
			break;
	}
	pump_stop(p);
}
