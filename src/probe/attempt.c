/* SPDX-License-Identifier: Apache-2.0 */
#include "attempt.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int attempt_fd(int fd)
{
	if (fd < 0)
		return -errno;
	(void)close(fd);
	return PROBE_DONE;
}

int attempt_call(struct probe_run *run)
{
	const struct probe *p = run->probe;
	long r = syscall(p->number, p->args[0].number, p->args[1].number, p->args[2].number,
			 p->args[3].number, p->args[4].number, p->args[5].number);

	if (r < 0)
		return -errno;
	if (p->flags & PROBE_RETURNS_FD)
		(void)close((int)r);
	return PROBE_DONE;
}

int attempt_open(struct probe_run *run)
{
	const struct probe *p = run->probe;

	return attempt_fd(open(p->text, (int)p->number | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
}

int attempt_socket(struct probe_run *run)
{
	const struct probe *p = run->probe;

	return attempt_fd(socket((int)p->args[0].number, (int)p->args[1].number | SOCK_CLOEXEC,
				 (int)p->args[2].number));
}

int attempt_prctl(struct probe_run *run)
{
	const struct probe *p = run->probe;
	int r = prctl((int)p->args[0].number, p->args[1].number, 0, 0, 0);

	return r == p->number ? PROBE_HELD : PROBE_DONE;
}

int attempt_capabilities(struct probe_run *run)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &header, data) < 0)
		return PROBE_UNABLE;
	for (int i = 0; i < 2; i++) {
		if (!data[i].effective && !data[i].permitted && !data[i].inheritable)
			continue;
		probe_note(run, "effective %08x, permitted %08x, inheritable %08x",
			   data[i].effective, data[i].permitted, data[i].inheritable);
		return PROBE_DONE;
	}
	for (int cap = 0;; cap++) {
		int in_bounding_set = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (in_bounding_set < 0) /* past the last one this kernel knows */
			return PROBE_HELD;
		if (in_bounding_set > 0) {
			probe_note(run, "capability %d is in the bounding set", cap);
			return PROBE_DONE;
		}
	}
}

int attempt_no_core(struct probe_run *run)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return PROBE_UNABLE;
	if (limit.rlim_max == 0)
		return PROBE_HELD;
	probe_note(run, "a core of %llu bytes may be written", (unsigned long long)limit.rlim_max);
	return PROBE_DONE;
}
