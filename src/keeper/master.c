/* SPDX-License-Identifier: Apache-2.0 */
#include "master.h"

#include "channel.h"
#include "fd.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { MASTER_TYPED_MAX = 1 << 20, MASTER_SETTLE = 64 };

void master_init(struct master *m, struct loop *loop, int client, struct loop_handle client_handle,
		 void (*on_gone)(void *context), void *context)
{
	m->loop = loop;
	m->client = client;
	m->client_handle = client_handle;
	m->fd = -1;
	m->input = BUF_INIT(MASTER_TYPED_MAX);
	m->on_gone = on_gone;
	m->context = context;
}

/* Sends what was read; -EAGAIN while the client is slow. */
static int master_flush(struct master *m)
{
	if (m->output_len == 0)
		return 0;
	int r = channel_send(m->client, MESSAGE_OUTPUT,
			     (struct span){(uint8_t *)m->output, m->output_len}, NULL, 0);

	if (r == 0)
		m->output_len = 0;
	return r;
}

/* Reads once and sends it on; 0 when there was something, else negative errno. */
static int master_pass(struct master *m)
{
	ssize_t n = read(m->fd, m->output, sizeof(m->output));

	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	m->output_len = (size_t)n;
	return master_flush(m);
}

static int master_mind_pace(struct master *m)
{
	bool slow = m->output_len > 0;
	uint32_t events = (slow ? 0u : EPOLLIN) | (m->input.len ? EPOLLOUT : 0u);
	int r = loop_set_events(m->loop, m->client_handle, EPOLLIN | (slow ? EPOLLOUT : 0u));

	if (r < 0 || m->handle.generation == 0)
		return r;
	return loop_set_events(m->loop, m->handle, events);
}

static int master_write(struct master *m)
{
	while (m->input.len > 0) {
		ssize_t n = write(m->fd, m->input.ptr, m->input.len);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		memmove(m->input.ptr, m->input.ptr + n, m->input.len - (size_t)n);
		m->input.len -= (size_t)n;
	}
	return master_mind_pace(m);
}

static int master_on_event(void *context, uint32_t events)
{
	struct master *m = context;

	if (events & EPOLLOUT)
		(void)master_write(m);
	if (!(events & (EPOLLIN | EPOLLHUP)))
		return 0;
	if (m->output_len > 0) {
		/* Hung up (which epoll tells unasked) while the client is slow: what is left is
		 * read at the end. */
		loop_remove(m->loop, &m->handle);
		return 0;
	}
	int r = master_pass(m);

	/* EIO: the last user of the other end is gone, for now or for good. */
	if (r == -EIO) {
		loop_remove(m->loop, &m->handle);
		fd_close(&m->fd);
	} else if (r == -EPIPE || r == -ECONNRESET) {
		m->on_gone(m->context);
		return 0;
	}
	return master_mind_pace(m);
}

int master_take(struct master *m, int fd, struct error *e)
{
	if (m->fd >= 0) {
		fd_close(&fd);
		return error_set(e, -EPROTO, "a second terminal for the same job");
	}
	m->fd = fd;
	m->had_one = true;
	int r = fd_set_nonblock(m->fd, true);

	if (r == 0)
		r = loop_add(m->loop, m->fd, EPOLLIN, master_on_event, m, &m->handle);
	return r < 0 ? r : master_write(m);
}

void master_type(struct master *m, struct span bytes)
{
	if (m->fd < 0 && m->had_one)
		return;
	buf_put(&m->input, bytes.ptr, bytes.len);
	m->input.error = 0; /* what is past the end is lost */
	if (m->fd >= 0)
		(void)master_write(m);
}

void master_resize(struct master *m, uint64_t rows, uint64_t columns)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	if (m->fd >= 0)
		(void)ioctl(m->fd, TIOCSWINSZ, &size);
}

int master_on_room(struct master *m)
{
	(void)master_flush(m);
	return master_mind_pace(m);
}

int master_settle(struct master *m)
{
	(void)master_flush(m);
	for (int i = 0; i < MASTER_SETTLE && m->fd >= 0 && m->output_len == 0; i++)
		if (master_pass(m) < 0)
			break;
	return master_mind_pace(m);
}

bool master_drain(struct master *m)
{
	(void)master_flush(m);
	while (m->fd >= 0 && m->output_len == 0 && master_pass(m) == 0)
		continue;
	return m->output_len == 0;
}
