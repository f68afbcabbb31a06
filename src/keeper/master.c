/* SPDX-License-Identifier: Apache-2.0 */
#include "master.h"

#include "channel.h"
#include "fd.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { MASTER_TYPED_MAX = 1 << 20, MASTER_SETTLE = 64, MASTER_DRAIN = 4096 };

void master_init(struct master *m, struct loop *loop, const struct master_to *to)
{
	m->loop = loop;
	m->fd = -1;
	m->input = BUF_INIT(MASTER_TYPED_MAX);
	m->to = *to;
}

/* --- who sees it ------------------------------------------------------------------------ */

struct master_view *master_viewer(const struct master *m)
{
	if (m->driver)
		return m->driver;
	for (size_t i = 0; i < m->view_count; i++)
		if (!m->views[i]->screen && !m->views[i]->watches)
			return m->views[i];
	return NULL;
}

static bool master_is_alone(const struct master *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->view_count; i++)
		count += !m->views[i]->screen;
	return count == 1;
}

/* The picture that is on its way is for nobody any more. */
static void master_abandon(struct master *m)
{
	if (m->piece_len > 0)
		m->to.hush(m->to.context, false);
	m->piece_len = 0;
	m->owed += m->painting != NULL;
	if (m->painting)
		m->painting->pending = false;
	m->painting = NULL;
}

/* Sends what was read to those who have not taken it.  Who is gone is marked. */
static void master_flush(struct master *m)
{
	bool left = false;

	for (size_t i = 0; m->output_len > 0 && i < m->view_count; i++) {
		struct master_view *v = m->views[i];

		if (!v->pending || v->lost)
			continue;
		/* What comes after a picture waits for it. */
		int r = v == m->painting
				? -EAGAIN
				: channel_send(v->fd, MESSAGE_OUTPUT,
					       (struct span){(uint8_t *)m->output, m->output_len},
					       NULL, 0);

		if (r == -EAGAIN &&
		    (v->screen || v == m->painting || (v->waited && master_is_alone(m)))) {
			left = true;
			continue;
		}
		v->behind = v->behind || r == -EAGAIN;
		v->lost = r < 0 && r != -EAGAIN;
		v->pending = false;
	}
	if (!left)
		m->output_len = 0;
}

/* Reads once and sends it on; 0 when it read something, else -errno. */
static int master_pass(struct master *m)
{
	ssize_t n = read(m->fd, m->output, sizeof(m->output));

	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	m->output_len = (size_t)n;
	m->to.on_bytes(m->to.context, (size_t)n);
	/* A picture that waits for room is no longer what is shown. */
	if (m->painting) {
		m->painting->behind = true;
		master_abandon(m);
	}
	for (size_t i = 0; i < m->view_count; i++)
		m->views[i]->pending = !m->views[i]->behind;
	master_flush(m);
	return 0;
}

/* The terminal is not read: somebody has not taken what was read last, or a picture is being made. */
static bool master_is_busy(const struct master *m)
{
	return m->output_len > 0 || (m->painting && m->piece_len == 0);
}

/* No picture is under way, or one for somebody who has no room for it. */
static bool master_can_paint(const struct master *m)
{
	return !m->painting || m->piece_len > 0;
}

static void master_mind_pace(struct master *m)
{
	bool waits = master_is_busy(m);

	for (size_t i = 0; i < m->view_count; i++) {
		const struct master_view *v = m->views[i];
		bool wants = v->more || (v == m->painting ? m->piece_len > 0 : v->pending) ||
			     (v->screen && m->paint_waits) ||
			     (v->behind && !m->paint_waits && master_can_paint(m));

		(void)loop_set_events(m->loop, v->handle, EPOLLIN | (wants ? EPOLLOUT : 0u));
	}
	if (m->handle.generation != 0)
		(void)loop_set_events(m->loop, m->handle,
				      (waits ? 0u : EPOLLIN) | (m->input.len ? EPOLLOUT : 0u));
}

/* The last thing that is done: owners forget those who are gone, and the master may be one's own. */
static void master_end_turn(struct master *m)
{
	const struct master_to to = m->to;
	struct master_view *lost[MASTER_VIEWS];
	size_t count = 0;

	master_mind_pace(m);
	for (size_t i = 0; i < m->view_count; i++)
		if (m->views[i]->lost)
			lost[count++] = m->views[i];
	for (size_t i = 0; i < count; i++)
		to.on_gone(to.context, lost[i]);
}

int master_show(struct master *m, struct master_view *view, bool late)
{
	if (m->view_count == MASTER_VIEWS)
		return -EUSERS;
	view->pending = view->lost = false;
	view->behind = late;
	m->views[m->view_count++] = view;
	if (late)
		master_on_room(m, view);
	return 0;
}

void master_forget(struct master *m, struct master_view *view)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->view_count; i++)
		if (m->views[i] != view)
			m->views[kept++] = m->views[i];
	m->view_count = kept;
	m->driver = m->driver == view ? NULL : m->driver;
	if (m->painting == view)
		master_abandon(m);
	master_flush(m);
	master_mind_pace(m);
}

/* --- the terminal ----------------------------------------------------------------------- */

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
	master_mind_pace(m);
	return 0;
}

static int master_on_event(void *context, uint32_t events)
{
	struct master *m = context;

	if (events & EPOLLOUT)
		(void)master_write(m);
	if (!(events & (EPOLLIN | EPOLLHUP)))
		return 0;
	if (master_is_busy(m)) {
		/* Hung up (which epoll tells unasked): what is left is read at the end.  Otherwise it is
		 * of the same round of events in which we became busy, and comes again. */
		if (events & EPOLLHUP)
			loop_remove(m->loop, &m->handle);
		return 0;
	}
	/* EIO: the last user of the other end is gone, for now or for good. */
	if (master_pass(m) == -EIO) {
		loop_remove(m->loop, &m->handle);
		fd_close(&m->fd);
	}
	master_end_turn(m);
	return 0;
}

static void master_set_size(struct master *m, uint64_t rows, uint64_t columns)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	if (rows == 0 || columns == 0)
		return;
	if (m->fd >= 0)
		(void)ioctl(m->fd, TIOCSWINSZ, &size);
	if (m->to.on_size)
		m->to.on_size(m->to.context, rows, columns);
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

void master_put(struct master *m, struct span bytes)
{
	if (m->fd < 0 && m->had_one)
		return;
	m->to.on_bytes(m->to.context, 0);
	buf_put(&m->input, bytes.ptr, bytes.len);
	m->input.error = 0; /* the buffer is full: the rest is lost */
	if (m->fd >= 0)
		(void)master_write(m);
}

void master_type(struct master *m, struct master_view *view, struct span bytes)
{
	if (view->watches)
		return;
	if (m->driver != view) {
		m->driver = view;
		master_set_size(m, view->rows, view->columns);
	}
	master_put(m, bytes);
}

void master_resize(struct master *m, struct master_view *view, uint64_t rows, uint64_t columns)
{
	view->rows = rows;
	view->columns = columns;
	if (!m->driver && !view->watches)
		m->driver = view;
	if (m->driver == view)
		master_set_size(m, rows, columns);
}

void master_answer(struct master *m, struct span bytes)
{
	if (!master_viewer(m))
		master_put(m, bytes);
}

/* --- pictures --------------------------------------------------------------------------- */

/* The picture has what the screen has taken; what was read and is on its way there comes after it. */
static void master_begin_picture(struct master *m, struct master_view *view)
{
	const struct master_view *like = m->driver ? m->driver : view;
	bool after = false;

	for (size_t i = 0; i < m->view_count; i++)
		after = after || (m->views[i]->screen && m->views[i]->pending);
	int r = m->to.paint ? m->to.paint(m->to.context) : -ENOTCONN;

	m->paint_waits = r == -EAGAIN;
	if (r == -EAGAIN)
		return;
	view->behind = false;
	if (r == 0) {
		m->painting = view;
		view->pending = after;
		return;
	}
	/* There is no screen: who runs in the box is asked to draw it again. */
	if (like->rows > 1 && !like->watches) {
		master_set_size(m, like->rows - 1, like->columns);
		master_set_size(m, like->rows, like->columns);
	}
}

/* A piece that had no room before has it now. */
static void master_send_piece(struct master *m)
{
	struct master_view *v = m->painting;
	int r = channel_send(v->fd, MESSAGE_OUTPUT,
			     (struct span){(uint8_t *)m->piece, m->piece_len}, NULL, 0);

	if (r == -EAGAIN)
		return;
	v->lost = r < 0;
	m->piece_len = 0;
	m->to.hush(m->to.context, false);
}

void master_on_room(struct master *m, struct master_view *view)
{
	if (view->screen && m->paint_waits)
		m->paint_waits = false;
	if (view == m->painting && m->piece_len > 0)
		master_send_piece(m);
	if (view->behind && view != m->painting && !m->paint_waits && master_can_paint(m)) {
		if (m->painting) {
			m->painting->behind = true;
			master_abandon(m);
		}
		master_begin_picture(m, view);
	}
	master_flush(m);
	master_end_turn(m);
}

void master_on_painted(struct master *m, struct span piece)
{
	struct master_view *v = m->painting;

	if (m->owed > 0) {
		m->owed -= piece.len == 0;
		return;
	}
	if (!v || piece.len > sizeof(m->piece))
		return;
	if (piece.len > 0 && !v->lost) {
		int r = channel_send(v->fd, MESSAGE_OUTPUT, piece, NULL, 0);

		v->lost = r < 0 && r != -EAGAIN;
		if (r == -EAGAIN && m->output_len > 0) {
			/* The screen is to take what was read, and cannot while it waits for him. */
			v->behind = true;
			master_abandon(m);
			master_flush(m);
		} else if (r == -EAGAIN) {
			memcpy(m->piece, piece.ptr, piece.len);
			m->piece_len = piece.len;
			m->to.hush(m->to.context, true);
		}
	}
	if (piece.len == 0) {
		m->painting = NULL;
		master_flush(m);
	}
	master_end_turn(m);
}

void master_lose_screen(struct master *m)
{
	m->owed = m->piece_len = 0;
	m->paint_waits = false;
	m->painting = NULL;
	master_flush(m);
	master_end_turn(m);
}

/* --- the end ---------------------------------------------------------------------------- */

void master_settle(struct master *m)
{
	master_flush(m);
	for (int i = 0; i < MASTER_SETTLE && m->fd >= 0 && !master_is_busy(m); i++)
		if (master_pass(m) < 0)
			break;
	master_mind_pace(m);
}

bool master_drain(struct master *m)
{
	if (m->painting)
		master_abandon(m);
	master_flush(m);
	for (int i = 0; i < MASTER_DRAIN && m->fd >= 0 && m->output_len == 0; i++)
		if (master_pass(m) < 0)
			break;
	return m->output_len == 0;
}
