/* SPDX-License-Identifier: Apache-2.0 */
#include "measuring.h"

#include "clock.h"
#include "fd.h"
#include "message_box.h"
#include "process.h"
#include "profile.h"
#include "record_folder.h"
#include "room.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MEASURING_PIPE = 3,
	MEASURING_RECORD,
	MEASURING_FIRST,
	MEASURING_BEYOND,
	MEASURING_NICE = 10
};

struct measuring {
	const struct plan *plan;
	uint64_t layers_most, record_most; /* limits; UINT64_MAX: none */
	bool record, first;                /* there are these folders */
};

static uint64_t measuring_limit(const struct plan *plan, enum plan_limit_kind kind)
{
	for (size_t i = 0; i < plan->limits.count; i++)
		if (plan->limits.items[i].kind == kind)
			return plan->limits.items[i].value;
	return UINT64_MAX;
}

/* --- in the child ----------------------------------------------------------------------- */

static uint64_t measuring_free(void)
{
	struct statvfs s;

	return fstatvfs(MEASURING_RECORD, &s) < 0 ? 0 : (uint64_t)s.f_bavail * s.f_frsize;
}

/* Opened anew each time: who shares a descriptor shares how far it was read. */
static uint64_t measuring_beneath(int at, const char *path)
{
	return room_beneath(openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static uint64_t measuring_layer(const struct plan_mount *mount)
{
	return plan_mount_has_layers(mount) && mount->upper[0]
		       ? measuring_beneath(AT_FDCWD, mount->upper)
		       : 0;
}

static void measuring_look(const struct measuring *m, struct message_room *ret)
{
	*ret = (struct message_room){0, 0};
	for (size_t i = 0; i < m->plan->mounts.count; i++)
		ret->layers += measuring_layer(&m->plan->mounts.items[i]);
	/* Of a system of its own. */
	for (size_t i = 0; i < m->plan->root.count; i++)
		ret->layers += measuring_layer(&m->plan->root.items[i]);
	if (m->first)
		ret->layers += measuring_beneath(MEASURING_FIRST, ".");
	if (m->record)
		ret->record = measuring_beneath(MEASURING_RECORD, ".");
}

/* False: the keeper is gone. */
static bool measuring_rest(int ms)
{
	struct pollfd keeper = {.fd = MEASURING_PIPE, .events = 0};
	const struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	return ppoll(&keeper, 1, &rest, NULL) == 0;
}

static void measuring_run(const struct measuring *m)
{
	for (;;) {
		int64_t began = clock_ms(CLOCK_MONOTONIC);
		struct message_room now;

		measuring_look(m, &now);
		int64_t ended = clock_ms(CLOCK_MONOTONIC), took = ended - began;
		uint64_t free = measuring_free();
		uint64_t left = now.layers < m->layers_most ? m->layers_most - now.layers : 0;

		if (write(MEASURING_PIPE, &now, sizeof(now)) != (ssize_t)sizeof(now))
			return;
		for (int64_t rested = 0; rested < took * MEASURING_REST || rested == 0;) {
			if (!measuring_rest(MEASURING_LOOK_MS))
				return;
			uint64_t then = measuring_free();

			rested = clock_ms(CLOCK_MONOTONIC) - ended;
			if (rested >= took * MEASURING_REST_SHORT && then < free &&
			    free - then >= left)
				break;
		}
	}
}

/* A folder that is closed to its owner by its modes is open to one who may read all that is his. */
static void measuring_stand_apart(void)
{
	const struct process_ids ids = {geteuid(), geteuid(), getegid(), getegid()};

	if (geteuid() != 0 && unshare(CLONE_NEWUSER) == 0)
		(void)process_map_ids(-1, &ids);
}

_Noreturn static void measuring_child(const struct measuring *m, int pipe, int record, int first)
{
	/* Above those that they become. */
	int from[] = {fcntl(pipe, F_DUPFD, 16), fcntl(record >= 0 ? record : pipe, F_DUPFD, 16),
		      fcntl(first >= 0 ? first : pipe, F_DUPFD, 16)};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	for (int i = 0; i < 3; i++)
		if (dup2(from[i], MEASURING_PIPE + i) < 0)
			_exit(1);
	if (close_range(MEASURING_BEYOND, ~0u, 0) < 0)
		_exit(1);
	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setpriority(PRIO_PROCESS, 0, MEASURING_NICE);
	measuring_stand_apart();
	(void)process_no_new_privs();
	(void)process_not_dumpable();
	if (process_keep_capabilities(1ull << CAP_DAC_READ_SEARCH) < 0 &&
	    process_lose_capabilities() < 0)
		_exit(1);
	if (!plan_goes_without(m->plan, PLAN_LAYER_SECCOMP) &&
	    process_filter(profile_bpf(PROFILE_READER)) < 0)
		_exit(1);
	measuring_run(m);
	_exit(0);
}

/* --- its parent ------------------------------------------------------------------------- */

int measuring_start(const struct plan *plan, const struct client_options *options, pid_t *ret_pid)
{
	const struct measuring m = {.plan = plan,
				    .layers_most = measuring_limit(plan, PLAN_LIMIT_LAYERS),
				    .record_most = measuring_limit(plan, PLAN_LIMIT_RECORD),
				    .record = options->record != NULL,
				    .first = options->first >= 0};
	int ends[2];

	*ret_pid = 0;
	if (m.layers_most == UINT64_MAX && m.record_most == UINT64_MAX)
		return -ENOENT;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();

	if (pid == 0)
		measuring_child(&m, ends[1], options->record ? options->record->own : -1,
				options->first);
	int r = pid < 0 ? -errno : ends[0];

	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	*ret_pid = pid > 0 ? pid : 0;
	return r;
}

int measuring_send(int pipe, int channel)
{
	return pipe < 0 ? 0 : channel_send(channel, MESSAGE_ROOM, (struct span){NULL, 0}, &pipe, 1);
}

void measuring_end(pid_t pid)
{
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
}
