/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the line for long work: at a terminal alone, after a while, and gone at the end. */
#include "cmocka_lead.h"

#include "fd.h"
#include "progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct screen {
	int master, slave, was;
};

static int setup(void **state)
{
	struct screen *s = calloc(1, sizeof(*s));
	struct winsize size = {.ws_row = 24, .ws_col = 30};
	struct termios raw;

	assert_non_null(s);
	s->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->master < 0 || grantpt(s->master) < 0 || unlockpt(s->master) < 0)
		return -1;
	s->slave = open(ptsname(s->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->slave < 0 || tcgetattr(s->slave, &raw) < 0)
		return -1;
	cfmakeraw(&raw);
	(void)tcsetattr(s->slave, TCSANOW, &raw);
	(void)ioctl(s->slave, TIOCSWINSZ, &size);
	(void)fd_set_nonblock(s->master, true);
	s->was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	(void)setenv("TERM", "xterm", 1);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct screen *s = *state;

	(void)close(s->was);
	(void)close(s->master);
	(void)close(s->slave);
	free(s);
	return 0;
}

/* What a round of work writes: one word too early, two, and the end. */
static void work(struct screen *s, int to, char *ret, size_t size)
{
	struct progress p;

	(void)dup2(to, STDERR_FILENO);
	progress_begin(&p, false);
	progress_say(&p, "too early", 1, 2);
	p.next = 0;
	progress_say(&p, "reading what changed", 12000, 50000);
	progress_say(&p, "too soon", 0, 0);
	p.next = 0;
	progress_say(&p, "reading", 7, 0);
	progress_clear(&p);
	progress_clear(&p);
	(void)dup2(s->was, STDERR_FILENO);
	/* A terminal may pass it on in pieces. */
	size_t at = 0;

	for (struct pollfd more = {.fd = s->master, .events = POLLIN};
	     at < size - 1 && poll(&more, 1, 300) > 0;) {
		ssize_t n = read(s->master, ret + at, size - 1 - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	ret[at] = '\0';
}

static void test_line(void **state)
{
	struct screen *s = *state;
	char seen[512];

	work(s, s->slave, seen, sizeof(seen));
	assert_string_equal(seen, "\r\033[Kbawn: reading what changed..."
				  "\r\033[Kbawn: reading: 7 files (0 s)"
				  "\r\033[K");
}

static void test_no_terminal(void **state)
{
	struct screen *s = *state;
	char seen[512];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	work(s, fds[1], seen, sizeof(seen));
	assert_string_equal(seen, "");
	assert_int_equal(read(fds[0], seen, sizeof(seen)), -1);
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)setenv("TERM", "dumb", 1);
	work(s, s->slave, seen, sizeof(seen));
	assert_string_equal(seen, "");
}

static void test_silent(void **state)
{
	struct screen *s = *state;
	struct progress p;
	char seen[64];

	(void)dup2(s->slave, STDERR_FILENO);
	progress_begin(&p, true);
	p.next = 0;
	progress_say(&p, "reading", 7, 0);
	progress_clear(&p);
	progress_say(NULL, "reading", 7, 0);
	progress_clear(NULL);
	(void)dup2(s->was, STDERR_FILENO);
	assert_int_equal(read(s->master, seen, sizeof(seen)), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_terminal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
