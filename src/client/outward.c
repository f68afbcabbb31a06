/* SPDX-License-Identifier: Apache-2.0 */
#include "outward.h"

#include "clock.h"
#include "fd.h"
#include "helper.h"
#include "otlp_settings.h"
#include "str.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	OUTWARD_VARIABLES = 64,
	OUTWARD_LAST_MS = 2300, /* a little more than bawn-otlp allows itself */
	OUTWARD_LINE = 700,
};

bool outward_is_wanted(void)
{
	return otlp_settings_wanted(environ);
}

void outward_start(struct outward *o)
{
	char *variables[OUTWARD_VARIABLES + 1] = {NULL};
	char *const argv[] = {(char *)(uintptr_t) "bawn-otlp", (char *)(uintptr_t) "follow",
			      (char *)(uintptr_t)o->state, (char *)(uintptr_t)o->session, NULL};
	char path[PATH_MAX];
	size_t count = 0;
	int ends[2];

	for (char **v = environ; *v && count < OUTWARD_VARIABLES; v++)
		if (str_after(*v, "OTEL_"))
			variables[count++] = *v;
	if (helper_path("bawn-otlp", path, sizeof(path)) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	if (helper_spawn(path, argv, variables, ends[1], true, &o->pid) == 0)
		o->fd = TAKE_FD(ends[0]);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

void outward_end(struct outward *o, const struct text *t)
{
	int64_t end = clock_ms(CLOCK_BOOTTIME) + OUTWARD_LAST_MS, left;
	char line[OUTWARD_LINE];
	size_t len = 0;
	bool over = false;

	if (o->fd < 0)
		return;
	(void)shutdown(o->fd, SHUT_WR);
	while (!over && (left = end - clock_ms(CLOCK_BOOTTIME)) > 0) {
		struct pollfd p = {.fd = o->fd, .events = POLLIN};

		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = recv(o->fd, line + len, sizeof(line) - 1 - len, 0);

		over = n <= 0;
		len += n > 0 ? (size_t)n : 0;
	}
	line[len] = '\0';
	fd_close(&o->fd);
	/* It replaces the file with its position whole, so we can end it at any time.  After a detach it
	 * is not our child, its number may be somebody else's, and it ends by itself: the socket has. */
	if (waitpid(o->pid, NULL, WNOHANG) == 0) {
		(void)kill(o->pid, SIGKILL);
		while (waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (len > 0)
		text_printf(t, "bawn: %s\n", line);
	else if (!over)
		text_printf(t, "bawn: not all of the record is sent yet; the next session or "
			       "'bawn record send' sends the rest\n");
}
