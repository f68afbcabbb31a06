/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint.h"

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

void checkpoint_init(struct checkpoint *c, struct loop *loop,
		     void (*done)(void *context, uint64_t id, bool made, const char *text),
		     void *context)
{
	*c = (struct checkpoint){.loop = loop, .done = done, .context = context, .answer = -1};
}

static int checkpoint_wait(struct checkpoint *c)
{
	int status = -1;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
	loop_remove(c->loop, &c->handle);
	fd_close(&c->answer);
	return status;
}

/* It prints the name, and ends. */
static int checkpoint_on_answer(void *context, uint32_t events)
{
	struct checkpoint *c = context;
	ssize_t n = read(c->answer, c->name + c->len, sizeof(c->name) - 1 - c->len);

	(void)events;
	if (n > 0) {
		c->len += (size_t)n;
		if (c->len < sizeof(c->name) - 1)
			return 0;
	}
	int status = checkpoint_wait(c);

	c->name[c->len] = '\0';
	c->name[strcspn(c->name, "\n")] = '\0';
	if (status == 0 && c->name[0])
		c->done(c->context, c->id, true, c->name);
	else
		c->done(c->context, c->id, false, "it could not be made; is the name taken?");
	return 0;
}

static int checkpoint_spawn(struct checkpoint *c, char *const argv[], int out)
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
		r = posix_spawn(&c->pid, path, &actions, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

int checkpoint_start(struct checkpoint *c, const char *session, const char *workspace, uint64_t id,
		     const char *name)
{
	char whole[64];
	int ends[2];
	const char *const words[] = {"bawn",        "snapshot", "--session", session,
				     "--workspace", workspace,  "--",        whole};
	char *argv[BAWN_ARRAY_SIZE(words) + 1] = {NULL};
	/* Without a name it gets the session's and a number. */
	int n = snprintf(whole, sizeof(whole), "agent-%s%s", *name ? name : session,
			 *name ? "" : "-");

	if (c->pid != 0)
		return -EBUSY;
	if (n < 0 || (size_t)n >= sizeof(whole))
		return -ENAMETOOLONG;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		argv[i] = (char *)(uintptr_t)words[i];
	c->answer = ends[0];
	c->len = 0;
	c->id = id;
	int r = checkpoint_spawn(c, argv, ends[1]);

	(void)close(ends[1]);
	if (r == 0)
		r = loop_add(c->loop, c->answer, EPOLLIN, checkpoint_on_answer, c, &c->handle);
	if (r < 0 && c->pid > 0)
		(void)checkpoint_wait(c);
	if (r < 0)
		fd_close(&c->answer);
	return r;
}

void checkpoint_end(struct checkpoint *c)
{
	if (c->pid <= 0)
		return;
	(void)kill(c->pid, SIGKILL);
	(void)checkpoint_wait(c);
}
