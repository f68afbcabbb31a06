/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-keeper: started by bawn with an empty environment and one descriptor, 3,
 * the channel to it.  The programs it starts stand beside it.
 */
#include "fd.h"
#include "keeper.h"
#include "process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum { KEEPER_CHANNEL = 3 };

/* The folder that bawn's programs stand in: its descriptor, or -errno. */
static int keeper_open_dir(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return -ENOENT;
	*slash = '\0';
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int main(void)
{
	int programs = keeper_open_dir();

	if (programs < 0 || fd_set_cloexec(KEEPER_CHANNEL, true) < 0)
		return 1;
	/* A session of our own, so that no terminal signals us: the client gets those and passes
	 * them on. */
	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	if (process_not_dumpable() < 0)
		return 1;
	return keeper_run(KEEPER_CHANNEL, programs);
}
