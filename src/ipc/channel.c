/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

#include "fd.h"

#include <sys/socket.h>
#include <sys/uio.h>

int channel_pair(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

union channel_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
};

int channel_send(int fd, uint32_t type, struct span body, const int *fds, size_t fd_count)
{
	uint8_t head[4] = {(uint8_t)type, (uint8_t)(type >> 8), (uint8_t)(type >> 16),
			   (uint8_t)(type >> 24)};
	struct iovec iov[2] = {{head, sizeof(head)}, {(void *)(uintptr_t)body.ptr, body.len}};
	union channel_control control;
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = body.len ? 2 : 1};

	if (fd_count > CHANNEL_FDS_MAX || body.len > CHANNEL_BYTES_MAX)
		return -EMSGSIZE;
	if (fd_count > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_count);
	}
	for (;;) {
		if (sendmsg(fd, &msg, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

static void channel_packet_fini(struct channel_packet *p)
{
	for (size_t i = 0; i < p->fd_count; i++)
		fd_close(&p->fds[i]);
}

static void channel_take_fds(struct msghdr *msg, struct channel_packet *into)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (n > CHANNEL_FDS_MAX - into->fd_count)
			n = CHANNEL_FDS_MAX - into->fd_count;
		memcpy(into->fds + into->fd_count, CMSG_DATA(c), n * sizeof(int));
		into->fd_count += n;
	}
}

static const struct channel_rule *channel_rule(const struct channel *c, uint32_t type)
{
	for (size_t i = 0; i < c->rule_count; i++)
		if (c->rules[i].type == type)
			return &c->rules[i];
	return NULL;
}

int channel_receive(struct channel *c, struct error *e)
{
	static uint8_t bytes[4 + CHANNEL_BYTES_MAX];
	struct iovec iov = {bytes, sizeof(bytes)};
	union channel_control control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	int resets = 0; /* that a peer ended with something unread is told once, and before what it
			 * had said */
	ssize_t n;

	do
		n = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
	if (n < 0 && errno == ECONNRESET)
		return 0;
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : error_sys(e, -errno, "receiving a message");

	_cleanup_(channel_packet_fini) struct channel_packet got = {.fd_count = 0};
	channel_take_fds(&msg, &got);
	if (n == 0)
		return 0;

	struct reader r = reader_of((struct span){bytes, (size_t)n});
	uint32_t type = reader_u32(&r);
	const struct channel_rule *rule = channel_rule(c, type);

	got.body = (struct span){r.at, reader_left(&r)};
	if (r.bad || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !rule)
		return error_set(e, -EPROTO, "unknown or cut message (type %u)", type);
	if (!(rule->states & 1u << c->state))
		return error_set(e, -EPROTO, "message %s is not permitted in state %u", rule->name,
				 c->state);
	if (got.body.len > rule->body_max || got.fd_count < rule->fds_min ||
	    got.fd_count > rule->fds_max)
		return error_set(e, -EPROTO, "message %s has %zu bytes and %zu descriptors",
				 rule->name, got.body.len, got.fd_count);
	int ret = rule->handle(c->context, &got, e);

	if (c->secret)
		explicit_bzero(bytes, (size_t)n);
	return ret < 0 ? ret : 1;
}

bool channel_serve(struct channel *c)
{
	struct error e = ERROR_INIT;
	int r = channel_receive(c, &e);

	return r > 0 || r == -EAGAIN;
}
