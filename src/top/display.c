/* SPDX-License-Identifier: Apache-2.0 */
#include "display.h"

#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DISPLAY_ESC_MS = 50, DISPLAY_ROWS = 24, DISPLAY_COLUMNS = 80 };

static SCREEN *display_screen; /* ncurses has one of its own, too */
static bool display_utf8;

int display_open(struct error *e)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		(void)error_set(e, -ENOTTY, "bawn top needs a terminal");
		error_next(e, "'bawn ps --json' says the same once, for programs.");
		return e->code;
	}
	(void)setlocale(LC_CTYPE, "");
	if (strcasecmp(nl_langinfo(CODESET), "UTF-8") != 0)
		(void)setlocale(LC_CTYPE, "C");
	display_utf8 = strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
	display_screen = newterm(NULL, stdout, stdin);
	if (!display_screen) {
		const char *kind = getenv("TERM");

		(void)error_set(e, -ENOTSUP,
				"this terminal calls itself '%.40s', which is not known here",
				kind ? kind : "");
		error_next(e, "Set TERM, to xterm for one; or: bawn ps");
		return e->code;
	}
	(void)set_escdelay(DISPLAY_ESC_MS);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)leaveok(stdscr, TRUE);
	(void)curs_set(0);
	return 0;
}

void display_close(void)
{
	if (!display_screen)
		return;
	(void)endwin();
	delscreen(display_screen);
	display_screen = NULL;
}

void display_leave(void)
{
	(void)def_prog_mode();
	(void)endwin();
}

void display_return(void)
{
	(void)reset_prog_mode();
	/* ncurses would do so only when it reads the next key. */
	(void)keypad(stdscr, TRUE);
	/* What was typed for the program, or is a late answer of the terminal to it, is no key of ours. */
	(void)flushinp();
	display_resize();
}

void display_size(size_t *ret_rows, size_t *ret_columns)
{
	struct winsize size = {.ws_row = 0, .ws_col = 0};

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row ? size.ws_row : DISPLAY_ROWS;
	*ret_columns = size.ws_col ? size.ws_col : DISPLAY_COLUMNS;
}

void display_resize(void)
{
	size_t rows, columns;

	display_size(&rows, &columns);
	(void)resizeterm((int)rows, (int)columns);
	(void)clearok(stdscr, TRUE);
}

/* Appends what can be shown; one '?' for each that cannot. */
static void display_put(struct buf *into, struct span s)
{
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 0 || text_is_hidden(cp) || (cp >= 0x80 && !display_utf8))
			buf_put_char(into, '?');
		else
			buf_put(into, s.ptr, len);
		s = span_skip(s, len ? len : 1);
	}
}

void display_draw(const struct page *p)
{
	static const chtype styles[] = {
		[PAGE_PLAIN] = A_NORMAL, [PAGE_STRONG] = A_BOLD, [PAGE_CHOSEN] = A_REVERSE};

	(void)erase();
	for (size_t i = 0; i < p->rows; i++) {
		_cleanup_buf_ struct buf shown = BUF_INIT((size_t)4 * PAGE_LINE_MAX);

		display_put(&shown, buf_span(&p->lines[i].text));
		/* A line that is wider than we know goes on in the next one: it is cleared. */
		(void)move((int)i, 0);
		(void)attrset(A_NORMAL);
		(void)clrtoeol();
		(void)attrset((int)styles[p->lines[i].style]);
		(void)addstr(buf_str(&shown));
		if (p->lines[i].style == PAGE_CHOSEN)
			(void)mvchgat((int)i, 0, -1, A_REVERSE, 0, NULL);
	}
	(void)attrset(A_NORMAL);
	(void)refresh();
}

int display_key(void)
{
	static const struct {
		int curses, key;
	} keys[] = {
		{KEY_UP, MODEL_KEY_UP},
		{KEY_DOWN, MODEL_KEY_DOWN},
		{KEY_PPAGE, MODEL_KEY_PAGE_UP},
		{KEY_NPAGE, MODEL_KEY_PAGE_DOWN},
		{KEY_HOME, MODEL_KEY_HOME},
		{KEY_END, MODEL_KEY_END},
		{KEY_ENTER, MODEL_KEY_ENTER},
		{'\r', MODEL_KEY_ENTER},
		{'\n', MODEL_KEY_ENTER},
		{27, MODEL_KEY_BACK},
		{KEY_LEFT, MODEL_KEY_BACK},
		{KEY_BACKSPACE, MODEL_KEY_ERASE},
		{127, MODEL_KEY_ERASE},
		{8, MODEL_KEY_ERASE},
		{'l' - 'a' + 1, MODEL_KEY_REDRAW},
	};

	for (;;) {
		int c = getch();

		if (c == ERR)
			return -1;
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(keys); i++)
			if (keys[i].curses == c)
				return keys[i].key;
		if (c < 0x80)
			return c;
	}
}
