/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is_ours(const struct terminal *t)
{
	return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

int terminal_make_raw(struct terminal *t)
{
	struct termios raw;

	if (t->fd < 0 || t->raw)
		return 0;
	if (tcgetattr(t->fd, &t->before) < 0)
		return -errno;
	raw = t->before;
	cfmakeraw(&raw);
	if (tcsetattr(t->fd, TCSADRAIN, &raw) < 0)
		return -errno;
	t->raw = true;
	return 0;
}

void terminal_restore(struct terminal *t)
{
	if (!t->raw)
		return;
	/* TCSADRAIN lets the last output through; from the background it must not stop us. */
	void (*before)(int) = signal(SIGTTOU, SIG_IGN);

	(void)tcsetattr(t->fd, TCSADRAIN, &t->before);
	(void)signal(SIGTTOU, before);
	t->raw = false;
}

void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns)
{
	struct winsize size = {.ws_row = 0, .ws_col = 0};

	if (t->fd >= 0)
		(void)ioctl(t->fd, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}
