/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-keeper: started by bawn with an empty environment and one descriptor, 3,
 * the channel to it.  It finds bawn-box beside itself.
 */
#include "fd.h"
#include "keeper.h"
#include "process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum { KEEPER_CHANNEL = 3 };

static int keeper_open_box(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("/bawn-box"));

	if (n <= 0 || (size_t)n >= sizeof(path) - sizeof("/bawn-box"))
		return -ENOENT;
	path[n] = '\0';
	char *slash = strrchr(path, '/');

	if (!slash)
		return -ENOENT;
	memcpy(slash, "/bawn-box", sizeof("/bawn-box"));
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int main(void)
{
	int box = keeper_open_box();

	if (box < 0 || fd_set_cloexec(KEEPER_CHANNEL, true) < 0)
		return 1;
	/* No terminal's signals reach us: they are for the client, which passes them on. */
	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	if (process_not_dumpable() < 0)
		return 1;
	return keeper_run(KEEPER_CHANNEL, box);
}
