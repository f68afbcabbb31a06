/* SPDX-License-Identifier: Apache-2.0 */
#include "asked_snapshot.h"

#include "fd.h"
#include "helper.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

void asked_snapshot_init(struct asked_snapshot *a, struct loop *loop,
			 void (*done)(void *context, uint64_t id, bool made, const char *text),
			 void *context)
{
	*a = (struct asked_snapshot){.loop = loop, .done = done, .context = context, .answer = -1};
}

static int asked_snapshot_wait(struct asked_snapshot *a)
{
	int status = -1;
	pid_t r;

	while ((r = waitpid(a->pid, &status, 0)) < 0 && errno == EINTR)
		continue;
	/* After a detach it is not our child; then the name that it printed tells. */
	if (r < 0 && errno == ECHILD && a->len > 0)
		status = 0;
	a->pid = 0;
	loop_remove(a->loop, &a->handle);
	fd_close(&a->answer);
	return status;
}

/* 'bawn snapshot' prints the name of the snapshot and ends. */
static int asked_snapshot_on_answer(void *context, uint32_t events)
{
	struct asked_snapshot *a = context;
	ssize_t n = read(a->answer, a->name + a->len, sizeof(a->name) - 1 - a->len);

	(void)events;
	if (n > 0) {
		a->len += (size_t)n;
		if (a->len < sizeof(a->name) - 1)
			return 0;
	}
	int status = asked_snapshot_wait(a);

	a->name[a->len] = '\0';
	a->name[strcspn(a->name, "\n")] = '\0';
	if (status == 0 && a->name[0])
		a->done(a->context, a->id, true, a->name);
	else
		a->done(a->context, a->id, false, "it could not be made; is the name taken?");
	return 0;
}

static int asked_snapshot_spawn(struct asked_snapshot *a, char *const argv[], int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char path[PATH_MAX];
	sigset_t none;
	int r = helper_path("bawn-review", path, sizeof(path));

	if (r < 0)
		return r;
	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (r == 0)
		r = posix_spawn(&a->pid, path, &actions, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

int asked_snapshot_start(struct asked_snapshot *a, const char *session, const char *workspace,
			 uint64_t id, const char *name)
{
	char whole[64];
	int ends[2];
	const char *const words[] = {"bawn",        "snapshot", "--session", session,
				     "--workspace", workspace,  "--",        whole};
	char *argv[BAWN_ARRAY_SIZE(words) + 1] = {NULL};
	/* Without a name it gets the session's and a number. */
	int n = snprintf(whole, sizeof(whole), "agent-%s%s", *name ? name : session,
			 *name ? "" : "-");

	if (a->pid != 0)
		return -EBUSY;
	if (n < 0 || (size_t)n >= sizeof(whole))
		return -ENAMETOOLONG;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		argv[i] = (char *)(uintptr_t)words[i];
	a->answer = ends[0];
	a->len = 0;
	a->id = id;
	int r = asked_snapshot_spawn(a, argv, ends[1]);

	(void)close(ends[1]);
	if (r == 0)
		r = loop_add(a->loop, a->answer, EPOLLIN, asked_snapshot_on_answer, a, &a->handle);
	if (r < 0 && a->pid > 0)
		(void)asked_snapshot_wait(a);
	if (r < 0)
		fd_close(&a->answer);
	return r;
}

void asked_snapshot_end(struct asked_snapshot *a)
{
	if (a->pid <= 0)
		return;
	if (waitpid(a->pid, NULL, WNOHANG) == 0)
		(void)kill(a->pid, SIGKILL);
	(void)asked_snapshot_wait(a);
}
