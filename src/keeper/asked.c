/* SPDX-License-Identifier: Apache-2.0 */
#include "asked.h"

#include "clock.h"
#include "fd.h"
#include "str.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

void asked_init(struct asked *a, struct loop *loop,
		int (*make)(void *context, uint64_t id, const char *name), void *context)
{
	*a = (struct asked){.loop = loop, .make = make, .context = context, .listener = -1};
	for (size_t i = 0; i < ASKED_PEERS; i++)
		a->peers[i].fd = -1;
}

static void asked_drop(struct asked_peer *p)
{
	loop_remove(p->asked->loop, &p->handle);
	fd_close(&p->fd);
	p->waits = false;
}

/* Sends one line, if the socket has room for it, and closes the connection. */
static void asked_say(struct asked_peer *p, const char *word, const char *text)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s %.200s\n", word, text);
	struct iovec part = {line, n > 0 ? (size_t)n : 0};
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	(void)sendmsg(p->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	asked_drop(p);
}

static bool asked_is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= ASKED_NAME && name[0] != '.' && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

static void asked_take(struct asked_peer *p)
{
	struct asked *a = p->asked;
	const char *rest = str_after(p->line, "snapshot");
	int64_t now = clock_ms(CLOCK_BOOTTIME);

	if (!rest || (*rest != '\0' && *rest != ' ')) {
		asked_say(p, "no", "the only thing to ask for is 'snapshot' or 'snapshot NAME'");
		return;
	}
	const char *name = *rest ? rest + 1 : "";

	if (*rest && !asked_is_name(name)) {
		asked_say(p, "no", "a name has small letters, digits, '.', '_' and '-'");
		return;
	}
	if (a->count >= ASKED_MOST) {
		asked_say(p, "no", "this session has asked for as many snapshots as it may");
		return;
	}
	if (a->id != 0 || (a->last != 0 && now - a->last < ASKED_EVERY_MS)) {
		asked_say(p, "no", "one snapshot in ten seconds is the most: try again");
		return;
	}
	a->last = now;
	a->count++;
	a->id = ++a->next;
	p->waits = true;
	if (a->make(a->context, a->id, name) < 0)
		asked_answer(a, a->id, false, "the session cannot make one now");
}

static int asked_on_peer(void *context, uint32_t events)
{
	struct asked_peer *p = context;
	ssize_t n = read(p->fd, p->line + p->len, sizeof(p->line) - 1 - p->len);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0 || p->waits) {
		asked_drop(p);
		return 0;
	}
	p->len += (size_t)n;
	p->line[p->len] = '\0';
	char *end = strchr(p->line, '\n');

	if (end && end == p->line + p->len - 1) {
		*end = '\0';
		asked_take(p);
	} else if (end || p->len == sizeof(p->line) - 1) {
		asked_drop(p);
	}
	return 0;
}

/* A free place; else that of the oldest peer that does not wait for an answer; or NULL. */
static struct asked_peer *asked_place(struct asked *a)
{
	struct asked_peer *oldest = NULL;

	for (size_t i = 0; i < ASKED_PEERS; i++) {
		struct asked_peer *p = &a->peers[i];

		if (p->fd < 0)
			return p;
		if (!p->waits && (!oldest || p->turn < oldest->turn))
			oldest = p;
	}
	if (oldest)
		asked_drop(oldest);
	return oldest;
}

static int asked_on_listener(void *context, uint32_t events)
{
	struct asked *a = context;
	_cleanup_fd_ int fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct asked_peer *p = fd < 0 ? NULL : asked_place(a);

	(void)events;
	if (!p)
		return 0;
	*p = (struct asked_peer){.asked = a, .fd = TAKE_FD(fd), .turn = ++a->next};
	if (loop_add(a->loop, p->fd, EPOLLIN, asked_on_peer, p, &p->handle) < 0)
		asked_drop(p);
	return 0;
}

int asked_open(struct asked *a, int listener, struct error *e)
{
	if (a->listener >= 0) {
		(void)close(listener);
		return error_set(e, -EPROTO, "a second socket to ask at");
	}
	a->listener = listener;
	int r = loop_add(a->loop, listener, EPOLLIN, asked_on_listener, a, &a->listener_handle);

	return r < 0 ? error_sys(e, r, "serving the box's requests") : 0;
}

void asked_answer(struct asked *a, uint64_t id, bool made, const char *text)
{
	if (id == 0 || id != a->id)
		return;
	a->id = 0;
	for (size_t i = 0; i < ASKED_PEERS; i++)
		if (a->peers[i].fd >= 0 && a->peers[i].waits)
			asked_say(&a->peers[i], made ? "made" : "no", text);
}
