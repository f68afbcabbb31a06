/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include "clock.h"
#include "fd.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TERMINAL_ANSWER_MS = 500, TERMINAL_QUIET_MS = 20 };

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

static void terminal_restore_how(struct terminal *t, int how)
{
	if (!t->raw)
		return;
	/* In the background, writing the modes must not stop us. */
	void (*before)(int) = signal(SIGTTOU, SIG_IGN);

	(void)tcsetattr(t->fd, how, &t->before);
	(void)signal(SIGTTOU, before);
	t->raw = false;
}

void terminal_restore(struct terminal *t, bool flush)
{
	/* Either lets the last output through. */
	terminal_restore_how(t, flush ? TCSAFLUSH : TCSADRAIN);
}

/* Reads and drops bytes until the answer to our own question, which ends in "c", or until the
 * time is over. */
static void terminal_forget_answers(const struct terminal *t, int64_t until)
{
	bool answered = false;
	bool inside = false; /* of ESC [ ? ... */

	for (;;) {
		int64_t left = until - clock_ms(CLOCK_MONOTONIC);
		struct pollfd keys = {.fd = t->fd, .events = POLLIN};
		uint8_t bytes[512];

		/* Our answer comes last, but the box may have asked the same: wait a moment
		 * longer. */
		if (answered && left > TERMINAL_QUIET_MS)
			left = TERMINAL_QUIET_MS;
		if (left <= 0 || poll(&keys, 1, (int)left) != 1)
			return;
		ssize_t n = read(t->fd, bytes, sizeof(bytes));

		if (n <= 0)
			return;
		for (ssize_t i = 0; i < n; i++) {
			answered = answered || (inside && bytes[i] == 'c');
			inside = bytes[i] == '?' ||
				 (inside &&
				  (bytes[i] == ';' || (bytes[i] >= '0' && bytes[i] <= '9')));
		}
	}
}

void terminal_restore_asked(struct terminal *t, int output)
{
	static const char who[] =
		"\033[c"; /* every terminal answers this, in the order of questions */

	if (t->raw && terminal_is_ours(t) && output >= 0 &&
	    fd_write_all(output, who, sizeof(who) - 1) == 0)
		terminal_forget_answers(t, clock_ms(CLOCK_MONOTONIC) + TERMINAL_ANSWER_MS);
	terminal_restore_how(t, TCSAFLUSH);
}

bool terminal_has_byte_letters(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(variables) && !(locale && *locale); i++)
		locale = getenv(variables[i]);
	const char *set = locale ? strchr(locale, '.') : NULL;

	return set && strncasecmp(set + 1, "utf-8", 5) != 0 && strncasecmp(set + 1, "utf8", 4) != 0;
}

void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns)
{
	struct winsize size = {.ws_row = 0, .ws_col = 0};

	if (t->fd >= 0)
		(void)ioctl(t->fd, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}
