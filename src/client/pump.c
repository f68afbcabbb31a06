/* SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"

#include "fd.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
	PUMP_BYTES = 64 << 10,
	PUMP_MUCH = 1 << 30,
	PUMP_TURNS = 16,
	PUMP_BULK = 16 << 10,
	PUMP_ROOM = 256 << 10
};
enum { PUMP_LOOK_NS = 100 * 1000, PUMP_LOOK_MOST_NS = 100 * 1000 * 1000 };

static bool pump_is_passing(int code)
{
	return code == -EAGAIN || code == -EINTR;
}

static void pump_tell(const struct pump *p, ssize_t count)
{
	if (count > 0 && p->left)
		*p->left -= (uint64_t)count;
	if (count > 0 && p->on_bytes)
		p->on_bytes(p->context, p->inward, (size_t)count);
}

/* How many bytes may be taken from the box, or (0) no more. */
static size_t pump_most(const struct pump *p, size_t most)
{
	return p->left && *p->left < most ? (size_t)*p->left : most;
}

/* --- what the box has read ------------------------------------------------------------- */

static size_t pump_unread(const struct pump *p)
{
	int n = 0;

	/* Either end of a pipe knows it, also when all readers are gone. */
	if (ioctl(p->to >= 0 ? p->to : p->meter, FIONREAD, &n) < 0 || n < 0)
		return 0;
	return (size_t)n;
}

static void pump_drop(int pipe, int null, size_t len)
{
	while (len > 0) {
		ssize_t n = splice(pipe, NULL, null, NULL, len, SPLICE_F_NONBLOCK);

		if (n <= 0)
			return;
		len -= (size_t)n;
	}
}

void pump_settle(struct pump *p)
{
	if (!p->inward || p->done || p->from < 0)
		return;
	/* The box can write to its own pipe, so this may be more than we put there. */
	size_t unread = pump_unread(p);

	if (p->kind == PUMP_PIPE && unread < p->shown) {
		pump_drop(p->from, p->null, p->shown - unread);
		p->shown = unread;
	} else if (p->kind == PUMP_FILE) {
		off_t left = (off_t)(unread + p->len);

		off_t at = p->offset - left;

		(void)lseek(p->from, at > p->began ? at : p->began, SEEK_SET);
	}
}

/* --- the end ---------------------------------------------------------------------------- */

void pump_stop(struct pump *p)
{
	if (p->done)
		return;
	pump_settle(p);
	loop_remove(p->loop, &p->reader);
	loop_remove(p->loop, &p->writer);
	loop_remove(p->loop, &p->look);
	fd_close(p->inward ? &p->to : &p->from);
	fd_close(&p->scratch[0]);
	fd_close(&p->scratch[1]);
	fd_close(&p->null);
	fd_close(&p->clock);
	fd_close(&p->meter);
	free(p->bytes);
	p->bytes = NULL;
	p->done = true;
	if (p->on_done)
		p->on_done(p->context);
}

/* Closes the box's pipe for writing: the box reads the rest, then the end.  We go on counting
 * what it has read. */
static void pump_end_inward(struct pump *p)
{
	char path[32];

	if (p->to < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", p->to);
	p->meter = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	loop_remove(p->loop, &p->reader);
	loop_remove(p->loop, &p->writer);
	loop_remove(p->loop, &p->look);
	fd_close(&p->to);
}

/* --- a pipe inward ---------------------------------------------------------------------- */

/*
 * Copies with tee(2) what is in the caller's pipe and not yet in the box's.  tee always begins
 * at the front.  When the box has some of it already, the copy goes through a pipe of ours,
 * where we drop that front.  Returns how many bytes it copied, 0 when the caller's pipe is empty
 * and has no writer, or -errno; *ret_all: nothing is left to copy.
 */
static ssize_t pump_show(struct pump *p, bool *ret_all)
{
	*ret_all = true;
	if (p->shown == 0) {
		ssize_t n = tee(p->from, p->to, PUMP_MUCH, SPLICE_F_NONBLOCK);

		return n < 0 ? -errno : n;
	}
	ssize_t n = tee(p->from, p->scratch[1], PUMP_MUCH, SPLICE_F_NONBLOCK);

	if (n <= 0)
		return n < 0 ? -errno : 0;
	size_t skip = (size_t)n < p->shown ? (size_t)n : p->shown;
	size_t more = (size_t)n - skip;
	ssize_t in = -EAGAIN;

	pump_drop(p->scratch[0], p->null, skip);
	if (more > 0) {
		in = splice(p->scratch[0], NULL, p->to, NULL, more, SPLICE_F_NONBLOCK);
		in = in < 0 ? -errno : in;
		*ret_all = in == (ssize_t)more;
		pump_drop(p->scratch[0], p->null, in > 0 ? more - (size_t)in : more);
	}
	return in;
}

/*
 * A pipe wakes its writer after a read only when it was full, and its reader, when a writer
 * blocks midway, only when it was empty.  The bytes that the box can see stay in the caller's
 * pipe, so a writer there can block without waking us.  Therefore
 *
 *	little comes	the box's pipe has room for one buffer: any byte fills it, and the box's
 *			read wakes us.
 *	much comes	it has as much room as the caller's.  While it is neither full nor empty,
 *			we look at it by a clock, more and more slowly while nothing is read.
 */
static void pump_choose_room(struct pump *p)
{
	int n = 0;

	if (p->shown > 0 || ioctl(p->from, FIONREAD, &n) < 0 || n == 0)
		return;
	int want = n > PUMP_BULK ? p->room : 1;
	bool is_bulk = n > PUMP_BULK;

	if (is_bulk == p->bulk)
		return;
	/* A pipe that cannot grow stays as it is: slower, but correct. */
	p->bulk = fcntl(p->to, F_SETPIPE_SZ, want) < 0 ? p->bulk : is_bulk;
}

static void pump_look_later(struct pump *p)
{
	struct pollfd box = {.fd = p->to, .events = POLLOUT};

	if (!p->bulk || p->shown == 0 || p->looking || poll(&box, 1, 0) != 1)
		return;
	const struct itimerspec when = {.it_value.tv_nsec = p->look_ns};

	p->looking = timerfd_settime(p->clock, 0, &when, NULL) == 0;
}

static void pump_step_show(struct pump *p)
{
	for (int turn = 0; turn < PUMP_TURNS; turn++) {
		struct pollfd caller = {.fd = p->from, .events = POLLIN};
		bool all = false;

		pump_settle(p);
		pump_choose_room(p);
		/* Ask this first, so that we copy all that came before the last writer went. */
		bool hung_up = poll(&caller, 1, 0) == 1 && (caller.revents & POLLHUP);
		ssize_t n = pump_show(p, &all);

		pump_tell(p, n);
		if (n > 0) {
			p->shown += (size_t)n;
			continue;
		}
		if (n == -EPIPE) {
			pump_stop(p);
			return;
		}
		if (n == -EINTR)
			continue;
		if (n == -EAGAIN && !(hung_up && all && p->shown > 0)) {
			pump_look_later(p);
			return;
		}
		pump_end_inward(p);
		return;
	}
	/* Let other sources have their turn; this brings the next event at once. */
	(void)loop_set_events(p->loop, p->reader, EPOLLIN);
}

static int pump_on_show(void *context, uint32_t events)
{
	struct pump *p = context;

	(void)events;
	(void)loop_set_events(p->loop, p->reader, EPOLLIN | EPOLLET);
	pump_step_show(p);
	return 0;
}

static int pump_on_look(void *context, uint32_t events)
{
	struct pump *p = context;
	size_t before = p->shown;
	uint64_t times = 0;

	(void)events;
	(void)!read(p->clock, &times, sizeof(times));
	p->looking = false;
	pump_settle(p);
	p->look_ns = p->shown != before                   ? PUMP_LOOK_NS
		     : p->look_ns < PUMP_LOOK_MOST_NS / 2 ? p->look_ns * 2
							  : PUMP_LOOK_MOST_NS;
	pump_step_show(p);
	return 0;
}

static int pump_on_box_reads(void *context, uint32_t events)
{
	struct pump *p = context;

	if (events & EPOLLERR) /* nobody inside can read it any more */
		pump_stop(p);
	else
		pump_step_show(p);
	return 0;
}

static int pump_start_show(struct pump *p)
{
	p->room = fcntl(p->from, F_GETPIPE_SZ);
	p->look_ns = PUMP_LOOK_NS;
	if (pipe2(p->scratch, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	p->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	p->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->null < 0 || p->clock < 0 || fcntl(p->to, F_SETPIPE_SZ, 1) < 0)
		return -errno;
	(void)fcntl(p->scratch[1], F_SETPIPE_SZ, p->room);
	int r = loop_add(p->loop, p->clock, EPOLLIN, pump_on_look, p, &p->look);

	if (r == 0)
		r = loop_add(p->loop, p->from, EPOLLIN | EPOLLET, pump_on_show, p, &p->reader);
	return r < 0 ? r
		     : loop_add(p->loop, p->to, EPOLLOUT | EPOLLET, pump_on_box_reads, p,
				&p->writer);
}

/* --- everything else -------------------------------------------------------------------- */

static ssize_t pump_read(struct pump *p)
{
	ssize_t n = p->inward && p->kind == PUMP_FILE
			    ? pread(p->from, p->bytes, PUMP_BYTES, p->offset)
		    : p->inward && p->kind == PUMP_SOCKET
			    ? recv(p->from, p->bytes, PUMP_BYTES, MSG_DONTWAIT)
			    : read(p->from, p->bytes, pump_most(p, PUMP_BYTES));

	if (n > 0 && p->inward)
		p->offset += n;
	return n < 0 ? -errno : n;
}

static ssize_t pump_write(struct pump *p)
{
	const uint8_t *from = (p->filter ? p->filtered : p->bytes) + p->at;
	ssize_t n = !p->inward && p->kind == PUMP_SOCKET
			    ? send(p->to, from, p->len, MSG_DONTWAIT | MSG_NOSIGNAL)
			    : write(p->to, from, p->len);

	return n < 0 ? -errno : n;
}

static void pump_fail(struct pump *p, ssize_t code)
{
	if (!p->inward && code != -EPIPE)
		p->error = (int)code;
	pump_stop(p);
}

/*
 * epoll reports nothing for a regular file, so no event would come after a short write (a disk
 * that is nearly full takes a part).  So it writes on until all is written or a write fails.
 */
static ssize_t pump_write_some(struct pump *p)
{
	ssize_t n = 0;

	do {
		n = pump_write(p);
		p->at += n > 0 ? (size_t)n : 0;
		p->len -= n > 0 ? (size_t)n : 0;
		if (n == -EAGAIN && !p->to_waits) {
			struct pollfd room = {.fd = p->to, .events = POLLOUT};

			(void)poll(&room, 1, -1);
		}
	} while (!p->to_waits && p->len > 0 && (n > 0 || pump_is_passing((int)n)));
	/* A target that takes nothing and gives no error will never take the rest. */
	return n == 0 && p->len > 0 && !p->to_waits ? -EIO : n;
}

/* Reads once when there is room, and writes what it has. */
static void pump_step_copy(struct pump *p, bool can_read, bool can_write)
{
	ssize_t n = 0;

	if (can_read && p->len == 0 && !p->eof && pump_most(p, 1) > 0) {
		n = pump_read(p);
		pump_tell(p, n);
		p->at = 0;
		p->len = n > 0 ? (size_t)n : 0;
		p->eof = n <= 0 && !pump_is_passing((int)n);
		if (p->filter && p->len > 0) {
			const struct span out =
				p->filter(p->filter_context, (struct span){p->bytes, p->len});

			p->filtered = out.ptr;
			p->len = out.len;
		}
	}
	if (can_write && p->len > 0) {
		n = pump_write_some(p);
		if (n < 0 && !pump_is_passing((int)n)) {
			pump_fail(p, n);
			return;
		}
	}
	if (p->eof && p->len == 0 && p->inward)
		pump_end_inward(p);
	else if (p->eof && p->len == 0)
		pump_stop(p);
}

/* Outward to a pipe: p->len is 1 while the caller's has no room. */
static void pump_step_splice(struct pump *p)
{
	if (pump_most(p, 1) == 0)
		return;
	ssize_t n = splice(p->from, NULL, p->to, NULL, pump_most(p, PUMP_MUCH), SPLICE_F_NONBLOCK);
	struct pollfd box = {.fd = p->from, .events = POLLIN};
	int code = n < 0 ? -errno : 0;

	pump_tell(p, n);
	if (n == 0)
		pump_stop(p);
	else if (n < 0 && !pump_is_passing(code))
		pump_fail(p, code);
	else
		p->len = code == -EAGAIN && poll(&box, 1, 0) == 1 && (box.revents & POLLIN);
}

/* Sets the events that each end waits for. */
static void pump_update(struct pump *p)
{
	if (p->done || (p->inward && p->to < 0))
		return;
	bool spent = pump_most(p, 1) == 0;

	/* epoll always reports that a writer is gone.  As an edge it does so only once. */
	if (p->from_waits)
		(void)loop_set_events(p->loop, p->reader,
				      p->len == 0 && !spent ? EPOLLIN : EPOLLET);
	if (p->to_waits)
		/* A file is always ready to read: wait for the target instead. */
		(void)loop_set_events(p->loop, p->writer,
				      p->len > 0 || !p->from_waits ? EPOLLOUT : 0u);
}

static int pump_on_reader(void *context, uint32_t events)
{
	struct pump *p = context;

	(void)events;
	if (p->kind == PUMP_PIPE)
		pump_step_splice(p);
	else
		pump_step_copy(p, true, !p->to_waits);
	pump_update(p);
	return 0;
}

static int pump_on_writer(void *context, uint32_t events)
{
	struct pump *p = context;

	/* The reader is gone. */
	if (events & (EPOLLERR | EPOLLHUP))
		pump_stop(p);
	else if (p->kind == PUMP_PIPE)
		pump_step_splice(p);
	else
		pump_step_copy(p, !p->from_waits, true);
	pump_update(p);
	return 0;
}

static int pump_start_copy(struct pump *p)
{
	if (p->kind != PUMP_PIPE) {
		p->bytes = malloc(PUMP_BYTES);
		if (!p->bytes)
			return -ENOMEM;
	}
	/* A larger pipe needs fewer turns.  The kernel refuses it to a user with too many pipes. */
	if (!p->inward)
		(void)fcntl(p->from, F_SETPIPE_SZ, PUMP_ROOM);
	int r = loop_add(p->loop, p->from, EPOLLIN, pump_on_reader, p, &p->reader);

	if (r < 0 && r != -EPERM)
		return r;
	p->from_waits = r == 0;
	r = loop_add(p->loop, p->to, 0, pump_on_writer, p, &p->writer);
	/* EEXIST: one terminal for both directions; we need not wait to write it. */
	if (r < 0 && r != -EPERM && r != -EEXIST)
		return r;
	p->to_waits = r == 0;
	pump_update(p);
	return 0;
}

int pump_start(struct pump *p, struct loop *loop, int theirs, int own, bool inward)
{
	struct stat st;

	*p = (struct pump){.loop = loop,
			   .inward = inward,
			   .from = inward ? theirs : own,
			   .to = inward ? own : theirs,
			   .scratch = {-1, -1},
			   .null = -1,
			   .clock = -1,
			   .meter = -1};
	int r = fstat(theirs, &st) < 0 ? -errno : fd_set_nonblock(own, true);

	p->kind = r < 0                                          ? PUMP_OTHER
		  : S_ISFIFO(st.st_mode)                         ? PUMP_PIPE
		  : S_ISSOCK(st.st_mode)                         ? PUMP_SOCKET
		  : !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode) ? PUMP_OTHER
								 : PUMP_FILE;
	if (r == 0 && p->kind == PUMP_FILE && inward)
		p->began = p->offset = lseek(theirs, 0, SEEK_CUR);
	if (r == 0)
		r = inward && p->kind == PUMP_PIPE ? pump_start_show(p) : pump_start_copy(p);
	if (r < 0)
		pump_stop(p);
	return r;
}
