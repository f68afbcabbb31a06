/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <fcntl.h>
#include <unistd.h>

void sweep_apart(const struct layers *l)
{
	int keep = l->dir;
	pid_t pid = fork();

	if (pid != 0)
		return;
	/* Neither the terminal nor a pipe of whoever started us is kept open by it, nor a lock. */
	(void)setsid();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)close_range(3, (unsigned int)keep - 1, 0);
	(void)close_range((unsigned int)keep + 1, ~0u, 0);
	(void)layers_sweep(l);
	_exit(0);
}
