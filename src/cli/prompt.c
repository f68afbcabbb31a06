/* SPDX-License-Identifier: Apache-2.0 */
#include "prompt.h"

#include "fd.h"

#include <fcntl.h>
#include <unistd.h>

enum { PROMPT_LINE = 64 };

int prompt_open(struct prompt *ret, struct error *e)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (tty < 0) {
		(void)error_set(e, -ENXIO, "there is no terminal to ask on");
		error_next(e, "--yes does it without asking.");
		return -ENXIO;
	}
	*ret = (struct prompt){.tty = tty, .text = text_open(tty)};
	return 0;
}

int prompt_open_for(const struct invocation *i, struct prompt *ret, struct error *e)
{
	if (invocation_has(i, OPTION_DRY_RUN) || invocation_has(i, OPTION_YES))
		return 0;
	int r = prompt_open(ret, e);

	if (r < 0)
		error_next(e, "--yes does it without asking; --dry-run says what would be done.");
	return r;
}

void prompt_close(struct prompt *p)
{
	fd_close(&p->tty);
}

/* The first letter of a line; '\n' for an empty one; 0 at the end. */
static char prompt_line(int tty)
{
	char first = 0, c = 0;
	ssize_t n = 0;

	do {
		n = read(tty, &c, 1);
		if (n == 1 && (first == 0 || first == ' '))
			first = c;
	} while ((n == 1 && c != '\n') || (n < 0 && errno == EINTR));
	return n == 1 ? first : 0;
}

char prompt_key(const struct prompt *p, const char *question, const char *keys, const char *help)
{
	for (;;) {
		text_styled(&p->text, TEXT_STRONG, "%s ", question);
		char c = prompt_line(p->tty);

		if (c == 0 || c == '\n') {
			if (c == 0)
				text_printf(&p->text, "\n");
			return keys[0];
		}
		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		if (strchr(keys, c))
			return c;
		text_printf(&p->text, "%s\n", help);
	}
}
