/* SPDX-License-Identifier: Apache-2.0 */
#include "unix_bound.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <sys/socket.h>

enum { UNIX_BOUND_BYTES = 16 << 10 };

int unix_bound_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

static int unix_bound_ask(int fd)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req ask;
	} m;
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct iovec part = {&m, sizeof(m)};
	const struct msghdr out = {.msg_name = &kernel,
				   .msg_namelen = sizeof(kernel),
				   .msg_iov = &part,
				   .msg_iovlen = 1};

	memset(&m, 0, sizeof(m));
	m.head.nlmsg_len = sizeof(m);
	m.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	m.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	m.ask.sdiag_family = AF_UNIX;
	m.ask.udiag_states = UINT32_MAX;
	m.ask.udiag_show = UDIAG_SHOW_VFS;
	return sendmsg(fd, &out, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool unix_bound_is(const struct nlmsghdr *h, uint32_t dev, uint32_t inode)
{
	const size_t lead = NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	const uint8_t *at = (const uint8_t *)h + NLMSG_HDRLEN + lead;
	const uint8_t *end = (const uint8_t *)h + h->nlmsg_len;

	if (h->nlmsg_len < NLMSG_HDRLEN + lead)
		return false;
	while ((size_t)(end - at) >= sizeof(struct nlattr)) {
		struct unix_diag_vfs vfs;
		struct nlattr a;

		memcpy(&a, at, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > (size_t)(end - at))
			return false;
		if (a.nla_type == UNIX_DIAG_VFS && a.nla_len >= NLA_HDRLEN + sizeof(vfs)) {
			memcpy(&vfs, at + NLA_HDRLEN, sizeof(vfs));
			return vfs.udiag_vfs_dev == dev && vfs.udiag_vfs_ino == inode;
		}
		size_t step = NLA_ALIGN(a.nla_len);

		at += step < (size_t)(end - at) ? step : (size_t)(end - at);
	}
	return false;
}

int unix_bound_has(int netlink, uint32_t dev, uint32_t inode)
{
	_Alignas(struct nlmsghdr) uint8_t bytes[UNIX_BOUND_BYTES];
	int r = unix_bound_ask(netlink);
	bool found = false;

	/* Read to the end, also when it was found, so that no old answer is left for the next
	 * question. */
	while (r == 0) {
		struct iovec part = {bytes, sizeof(bytes)};
		struct msghdr in = {.msg_iov = &part, .msg_iovlen = 1};
		ssize_t n = recvmsg(netlink, &in, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (in.msg_flags & MSG_TRUNC))
			return n < 0 ? -errno : -EBADMSG;
		size_t left = (size_t)n;

		for (struct nlmsghdr *h = (struct nlmsghdr *)(void *)bytes; NLMSG_OK(h, left);) {
			size_t step = NLMSG_ALIGN(h->nlmsg_len);

			if (h->nlmsg_type == NLMSG_DONE)
				return found;
			if (h->nlmsg_type == NLMSG_ERROR) {
				const struct nlmsgerr *e = NLMSG_DATA(h);

				return e->error < 0 ? e->error : -EBADMSG;
			}
			found = found || unix_bound_is(h, dev, inode);
			/* Behind it are bytes of an earlier packet, and then none of ours. */
			left -= step < left ? step : left;
			h = (struct nlmsghdr *)(void *)((uint8_t *)h + step);
		}
	}
	return r;
}
