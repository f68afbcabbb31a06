/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"

#include "fd.h"
#include "message_box.h"
#include "session_store.h"
#include "user_manager.h"

#include <fcntl.h>
#include <unistd.h>

int limited_begin(const struct plan *plan, const struct session_store *session, struct cgroup *c,
		  struct error *e)
{
	const char *name = session ? session->name : "box";
	unsigned int wanted = box_limits_wanted(plan);
	struct cgroup_place place;

	*c = CGROUP_INIT;
	if (!wanted)
		return 0;
	int r = cgroup_find_own(wanted, &place);

	/* The plan was made for this machine: what is not around us the user's systemd has. */
	if (r < 0 && r != -ENOENT) {
		_cleanup_fd_ int manager = user_manager_open(getenv("XDG_RUNTIME_DIR"));

		if (manager >= 0 && user_manager_enter(manager, name, e) < 0)
			return e->code;
		r = cgroup_find_own(wanted, &place);
	}
	if (r < 0)
		return error_set(e, r, "the limits of the box cannot be kept: %s",
				 box_limits_why(r));
	r = cgroup_make(&place, name, c);
	if (r < 0)
		return error_sys(e, r, "making a cgroup for the box in %s", place.path);
	return box_limits_write(c->dir, plan, e);
}

int limited_send(const struct cgroup *c, int channel)
{
	if (c->dir < 0)
		return 0;
	_cleanup_fd_ int procs = openat(c->dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	int r = procs < 0 ? -errno : 0;
	_cleanup_fd_ int memory = openat(c->dir, "memory.events", O_RDONLY | O_CLOEXEC);
	_cleanup_fd_ int processes = openat(c->dir, "pids.events", O_RDONLY | O_CLOEXEC);
	/* Linux 5.14 has it. */
	_cleanup_fd_ int end = openat(c->dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	const struct message_limits m = {memory >= 0, processes >= 0, end >= 0};
	const int there[] = {memory, processes, end};
	int fds[2 + BAWN_ARRAY_SIZE(there)] = {c->dir, procs};
	size_t count = 2;

	if (r < 0)
		return r;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(there); i++)
		if (there[i] >= 0)
			fds[count++] = there[i];
	return message_send(channel, MESSAGE_LIMITS, &message_limits_schema, &m, fds, count);
}

void limited_end(struct cgroup *c)
{
	cgroup_remove(c);
}
