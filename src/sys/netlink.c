/* SPDX-License-Identifier: Apache-2.0 */
#include "netlink.h"

#include "fd.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NETLINK_OUT_MAX = 16 << 10 };

int netlink_open(struct netlink *n, int protocol)
{
	*n = (struct netlink){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol),
			      .out = BUF_INIT(NETLINK_OUT_MAX)};
	return n->fd < 0 ? -errno : 0;
}

void netlink_close(struct netlink *n)
{
	fd_close(&n->fd);
	buf_fini(&n->out);
}

void netlink_use(struct netlink *n, int fd)
{
	*n = (struct netlink){.fd = fd, .out = BUF_INIT(NETLINK_OUT_MAX)};
}

void netlink_leave(struct netlink *n)
{
	n->fd = -1;
	netlink_close(n);
}

static void netlink_pad(struct netlink *n)
{
	static const char zeros[NLMSG_ALIGNTO] = {0};

	buf_put(&n->out, zeros, NLMSG_ALIGN(n->out.len) - n->out.len);
}

void netlink_begin(struct netlink *n, uint16_t type, uint16_t flags, const void *header,
		   size_t header_len)
{
	struct nlmsghdr h = {.nlmsg_type = type,
			     .nlmsg_flags = (uint16_t)(flags | NLM_F_REQUEST),
			     .nlmsg_seq = ++n->sequence};

	if (flags & NLM_F_ACK)
		n->answers++;
	n->message = n->out.len;
	buf_put(&n->out, &h, sizeof(h));
	buf_put(&n->out, header, header_len);
	netlink_pad(n);
}

void netlink_end(struct netlink *n)
{
	uint32_t len = (uint32_t)(n->out.len - n->message);

	if (buf_error(&n->out) == 0)
		memcpy(n->out.ptr + n->message, &len, sizeof(len));
}

void netlink_put(struct netlink *n, uint16_t attribute, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = attribute};

	buf_put(&n->out, &a, sizeof(a));
	buf_put(&n->out, data, len);
	netlink_pad(n);
}

void netlink_put_str(struct netlink *n, uint16_t attribute, const char *s)
{
	netlink_put(n, attribute, s, strlen(s) + 1);
}

void netlink_put_u32(struct netlink *n, uint16_t attribute, uint32_t v)
{
	netlink_put(n, attribute, &v, sizeof(v));
}

void netlink_put_be32(struct netlink *n, uint16_t attribute, uint32_t v)
{
	netlink_put_u32(n, attribute, htonl(v));
}

size_t netlink_nest(struct netlink *n, uint16_t attribute)
{
	size_t at = n->out.len;

	netlink_put(n, attribute | NLA_F_NESTED, NULL, 0);
	return at;
}

void netlink_nest_end(struct netlink *n, size_t nest)
{
	uint16_t len = (uint16_t)(n->out.len - nest);

	if (buf_error(&n->out) == 0)
		memcpy(n->out.ptr + nest, &len, sizeof(len));
}

/* Looks through one packet of answers; *first keeps the first error. */
static void netlink_read_answers(struct netlink *n, const char *bytes, size_t len, int *first)
{
	struct nlmsghdr h;

	for (size_t at = 0; at + sizeof(h) <= len; at += NLMSG_ALIGN(h.nlmsg_len)) {
		struct nlmsgerr answer;

		memcpy(&h, bytes + at, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len - at)
			return;
		if (h.nlmsg_type != NLMSG_ERROR || h.nlmsg_len < NLMSG_LENGTH(sizeof(answer)))
			continue;
		memcpy(&answer, bytes + at + NLMSG_HDRLEN, sizeof(answer));
		if (answer.error < 0) {
			/* The kernel answers a failed batch with one error, not one for each
			 * message. */
			n->answers = 0;
			if (*first == 0)
				*first = answer.error;
		} else if (n->answers > 0) {
			n->answers--;
		}
	}
}

int netlink_send(struct netlink *n)
{
	char answer[8192];
	int first = 0;

	if (buf_error(&n->out))
		return buf_error(&n->out);
	/* write and read, because the keeper's filter has them. */
	if (write(n->fd, n->out.ptr, n->out.len) < 0)
		return -errno;
	while (n->answers > 0) {
		ssize_t got = read(n->fd, answer, sizeof(answer));

		if (got < 0)
			return -errno;
		netlink_read_answers(n, answer, (size_t)got, &first);
	}
	buf_clear(&n->out);
	return first;
}
