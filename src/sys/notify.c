/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Linux 6.6 */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

enum {
	NOTIFY_PAGE = 4096, /* read a string to the end of a page: the next may be missing */
	NOTIFY_FIRST = 256, /* most paths end here */
};

static int notify_install(struct span bpf, unsigned long flags)
{
	struct sock_fprog program = {
		.len = (unsigned short)(bpf.len / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)bpf.ptr,
	};
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	return fd < 0 ? -errno : (int)fd;
}

int notify_listen(struct span bpf)
{
	if (bpf.len == 0 || bpf.len % sizeof(struct sock_filter) != 0)
		return -EINVAL;
	/* Linux 5.19: a signal does not interrupt and restart a call that was received. */
	int fd = notify_install(bpf, SECCOMP_FILTER_FLAG_NEW_LISTENER |
					     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	return fd == -EINVAL ? notify_install(bpf, SECCOMP_FILTER_FLAG_NEW_LISTENER) : fd;
}

void notify_take_turns(int listener)
{
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

int notify_receive(int listener, struct notify_call *ret_call)
{
	struct seccomp_notif n;

	memset(&n, 0, sizeof(n)); /* the kernel wants zeros */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return -errno;
	ret_call->id = n.id;
	ret_call->thread = (pid_t)n.pid;
	ret_call->number = n.data.nr;
	for (size_t i = 0; i < 6; i++)
		ret_call->args[i] = n.data.args[i];
	return 0;
}

static int notify_answer(int listener, struct seccomp_notif_resp *answer)
{
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer) == 0)
		return 0;
	/* The call waits for ever: the holder of the listener must close it. */
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &answer->id) == 0 ? -EIO : -ENOENT;
}

bool notify_is_there(int listener, uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int notify_continue(int listener, uint64_t id)
{
	return notify_answer(
		listener,
		&(struct seccomp_notif_resp){.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

int notify_done(int listener, uint64_t id)
{
	return notify_answer(listener, &(struct seccomp_notif_resp){.id = id});
}

int notify_refuse(int listener, uint64_t id, int error)
{
	return notify_answer(listener, &(struct seccomp_notif_resp){.id = id, .error = -error});
}

ssize_t notify_read(pid_t pid, uint64_t at, void *into, size_t size)
{
	struct iovec ours = {into, size};
	struct iovec theirs = {(void *)(uintptr_t)at, size};
	ssize_t n = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);

	return n < 0 ? -errno : n;
}

ssize_t notify_read_string(pid_t pid, uint64_t at, char *into, size_t size)
{
	size_t len = 0;
	size_t step = NOTIFY_FIRST;

	while (len < size - 1) {
		size_t want = NOTIFY_PAGE - (size_t)((at + len) % NOTIFY_PAGE);

		if (want > step)
			want = step;
		if (want > size - 1 - len)
			want = size - 1 - len;
		ssize_t n = notify_read(pid, at + len, into + len, want);

		if (n <= 0)
			return n < 0 ? n : -EFAULT;
		const char *end = memchr(into + len, 0, (size_t)n);

		if (end)
			return end - into;
		len += (size_t)n;
		step = NOTIFY_PAGE;
	}
	into[len] = 0;
	return -ENAMETOOLONG;
}
