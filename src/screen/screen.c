/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include "channel.h"
#include "message_box.h"
#include "modes.h"
#include "process.h"
#include "profile.h"
#include "text.h"

#include <stdlib.h>
#include <vterm.h>

enum { SCREEN_SERVING, SCREEN_ROWS = 24, SCREEN_COLUMNS = 80, SCREEN_PIECE = 4096 };
enum { SCREEN_PASS_MAX = SCREEN_PIECE / 4 * MODES_NUMBER_MAX + SCREEN_PIECE + MODES_WORDS };

struct screen {
	VTerm *vt;
	VTermScreen *cells;
	VTermState *state;
	int rows, columns;
	struct modes modes;
	struct buf pass; /* what libvterm is given next */
	bool other;      /* the other screen, as full-screen programs use */
	bool hidden;     /* the cursor */
};

static int screen_on_property(VTermProp prop, VTermValue *value, void *user)
{
	struct screen *s = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		s->other = value->boolean;
	else if (prop == VTERM_PROP_CURSORVISIBLE)
		s->hidden = !value->boolean;
	return 1;
}

static const VTermScreenCallbacks screen_callbacks = {.settermprop = screen_on_property};

/* libvterm cannot put a wide letter on a screen of one column. */
static int screen_bounded(uint64_t n, int if_none, int most)
{
	return n == 0 ? if_none : n < 2 ? 2 : n > (uint64_t)most ? most : (int)n;
}

struct screen *screen_new(uint64_t rows, uint64_t columns)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->rows = screen_bounded(rows, SCREEN_ROWS, SCREEN_ROWS_MAX);
	s->columns = screen_bounded(columns, SCREEN_COLUMNS, SCREEN_COLUMNS_MAX);
	s->vt = vterm_new(s->rows, s->columns);
	if (!s->vt) {
		free(s);
		return NULL;
	}
	vterm_set_utf8(s->vt, 1);
	s->cells = vterm_obtain_screen(s->vt);
	s->state = vterm_obtain_state(s->vt);
	vterm_screen_enable_altscreen(s->cells, 1);
	vterm_screen_set_callbacks(s->cells, &screen_callbacks, s);
	vterm_screen_reset(s->cells, 1);
	modes_init(&s->modes);
	s->pass = BUF_INIT(SCREEN_PASS_MAX);
	return s;
}

void screen_free(struct screen *s)
{
	if (s) {
		vterm_free(s->vt);
		buf_fini(&s->pass);
	}
	free(s);
}

void screen_feed(struct screen *s, struct span bytes)
{
	while (bytes.len > 0) {
		size_t len = bytes.len < SCREEN_PIECE ? bytes.len : SCREEN_PIECE;

		buf_clear(&s->pass);
		modes_feed(&s->modes, bytes.ptr, len, &s->pass);
		(void)vterm_input_write(s->vt, buf_str(&s->pass), s->pass.len);
		bytes = (struct span){bytes.ptr + len, bytes.len - len};
	}
}

/* All rows and columns scroll again, as terminals have it after a change of size: a region that begins below the last
   row is more than libvterm can bear. */
static void screen_end_region(struct screen *s)
{
	char words[64];
	VTermPos at;

	vterm_state_get_cursorpos(s->state, &at);
	(void)snprintf(words, sizeof(words), "\x1b[?69l\x1b[r\x1b[%d;%dH", at.row + 1, at.col + 1);
	(void)vterm_input_write(s->vt, words, strlen(words));
	s->modes.top = s->modes.bottom = 0;
}

void screen_resize(struct screen *s, uint64_t rows, uint64_t columns)
{
	s->rows = screen_bounded(rows, s->rows, SCREEN_ROWS_MAX);
	s->columns = screen_bounded(columns, s->columns, SCREEN_COLUMNS_MAX);
	screen_end_region(s);
	vterm_set_size(s->vt, s->rows, s->columns);
}

size_t screen_take_answers(struct screen *s, char *into, size_t len)
{
	return vterm_output_read(s->vt, into, len);
}

/* --- the picture ----------------------------------------------------------------------- */

/* What the cells have in common, as the other terminal has it now. */
struct screen_pen {
	VTermScreenCellAttrs attrs;
	VTermColor fg, bg;
};

static void screen_put_colour(struct buf *into, const VTermColor *c, bool is_default, int base)
{
	if (is_default)
		return;
	if (VTERM_COLOR_IS_INDEXED(c) && c->indexed.idx < 8)
		buf_putf(into, ";%d", base + c->indexed.idx);
	else if (VTERM_COLOR_IS_INDEXED(c) && c->indexed.idx < 16)
		buf_putf(into, ";%d", base + 60 + c->indexed.idx - 8);
	else if (VTERM_COLOR_IS_INDEXED(c))
		buf_putf(into, ";%d;5;%d", base + 8, c->indexed.idx);
	else
		buf_putf(into, ";%d;2;%d;%d;%d", base + 8, c->rgb.red, c->rgb.green, c->rgb.blue);
}

static bool screen_is_colour(const VTermColor *a, const VTermColor *b)
{
	return a->type == b->type &&
	       (VTERM_COLOR_IS_INDEXED(a)
			? a->indexed.idx == b->indexed.idx
			: a->rgb.red == b->rgb.red && a->rgb.green == b->rgb.green &&
				  a->rgb.blue == b->rgb.blue);
}

static bool screen_is_pen(const struct screen_pen *a, const struct screen_pen *b)
{
	return a->attrs.bold == b->attrs.bold && a->attrs.underline == b->attrs.underline &&
	       a->attrs.italic == b->attrs.italic && a->attrs.blink == b->attrs.blink &&
	       a->attrs.reverse == b->attrs.reverse && a->attrs.strike == b->attrs.strike &&
	       screen_is_colour(&a->fg, &b->fg) && screen_is_colour(&a->bg, &b->bg);
}

static void screen_put_pen(struct buf *into, const struct screen_pen *p)
{
	buf_put_str(into, "\x1b[0");
	if (p->attrs.bold)
		buf_put_str(into, ";1");
	if (p->attrs.italic)
		buf_put_str(into, ";3");
	if (p->attrs.underline)
		buf_put_str(into, p->attrs.underline == VTERM_UNDERLINE_DOUBLE ? ";21" : ";4");
	if (p->attrs.blink)
		buf_put_str(into, ";5");
	if (p->attrs.reverse)
		buf_put_str(into, ";7");
	if (p->attrs.strike)
		buf_put_str(into, ";9");
	screen_put_colour(into, &p->fg, VTERM_COLOR_IS_DEFAULT_FG(&p->fg), 30);
	screen_put_colour(into, &p->bg, VTERM_COLOR_IS_DEFAULT_BG(&p->bg), 40);
	buf_put_char(into, 'm');
}

/* No byte of a picture is a control that a cell had. */
static uint32_t screen_letter(uint32_t c)
{
	bool shown = c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c <= 0x10ffff &&
		     !(c >= 0xd800 && c < 0xe000);

	return shown ? c : ' ';
}

static void screen_put_letter(struct buf *into, uint32_t letter)
{
	uint32_t c = screen_letter(letter);

	if (c < 0x80) {
		buf_put_char(into, (char)c);
	} else if (c < 0x800) {
		buf_put_char(into, (char)(0xc0 | c >> 6));
		buf_put_char(into, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_put_char(into, (char)(0xe0 | c >> 12));
		buf_put_char(into, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_put_char(into, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_put_char(into, (char)(0xf0 | c >> 18));
		buf_put_char(into, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_put_char(into, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_put_char(into, (char)(0x80 | (c & 0x3f)));
	}
}

static bool screen_is_blank(const VTermScreenCell *c)
{
	return c->chars[0] == 0 && !c->attrs.reverse && !c->attrs.underline && !c->attrs.strike &&
	       VTERM_COLOR_IS_DEFAULT_BG(&c->bg);
}

/* How many columns of a row are not blank up to its end. */
static int screen_row_end(const struct screen *s, int row)
{
	for (int column = s->columns; column > 0; column--) {
		VTermScreenCell c = {.chars = {0}};

		if (vterm_screen_get_cell(s->cells, (VTermPos){row, column - 1}, &c) &&
		    !screen_is_blank(&c))
			return column;
	}
	return 0;
}

/* A letter that takes no column, roughly as all terminals have it. */
static bool screen_is_mark(uint32_t c)
{
	static const uint32_t ranges[][2] = {{0x0300, 0x036f},  {0x0483, 0x0489}, {0x0591, 0x05bd},
					     {0x0610, 0x061a},  {0x064b, 0x065f}, {0x200b, 0x200f},
					     {0x202a, 0x202e},  {0x2060, 0x2064}, {0x20d0, 0x20f0},
					     {0xfe00, 0xfe0f},  {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
					     {0xe0000, 0xe01ef}};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* A letter that is as wide on every terminal; after any other the place is said again. */
static bool screen_is_sure(const VTermScreenCell *c)
{
	return c->chars[0] < 0x7f && c->chars[1] == 0;
}

static void screen_paint_row(const struct screen *s, int row, struct screen_pen *pen,
			     struct buf *into)
{
	int end = screen_row_end(s, row);
	int at = -1; /* where the other terminal writes next, if that is sure */

	for (int column = 0; column < end; column++) {
		VTermScreenCell c = {.chars = {0}};

		if (!vterm_screen_get_cell(s->cells, (VTermPos){row, column}, &c))
			continue;
		const struct screen_pen wanted = {c.attrs, c.fg, c.bg};

		if (at != column)
			buf_putf(into, "\x1b[%d;%dH", row + 1, column + 1);
		if (!screen_is_pen(&wanted, pen)) {
			screen_put_pen(into, &wanted);
			*pen = wanted;
		}
		/* So is the second half of a wide letter whose first is gone: it is a space. */
		c.chars[0] = screen_letter(c.chars[0]);
		/* And the first half, where there is no room for the second. */
		if (text_columns(c.chars[0]) == 2 && column + 1 == s->columns)
			c.chars[0] = ' ';
		if (screen_is_mark(c.chars[0]))
			buf_put_char(into, ' '); /* or it would go to the letter before */
		screen_put_letter(into, c.chars[0]);
		for (int i = 1; i < VTERM_MAX_CHARS_PER_CELL && c.chars[i]; i++)
			screen_put_letter(into, c.chars[i]);
		at = screen_is_sure(&c) ? column + 1 : -1;
		if (c.width == 2 && text_columns(c.chars[0]) == 2)
			column++;
	}
}

void screen_paint(struct screen *s, struct buf *into)
{
	struct screen_pen pen = {.fg = {.type = VTERM_COLOR_DEFAULT_FG},
				 .bg = {.type = VTERM_COLOR_DEFAULT_BG}};
	VTermPos at;

	vterm_screen_flush_damage(s->cells);
	/* Who fell behind may have half a sequence. */
	buf_put_char(into, 0x18);
	/* What the viewer's terminal shows scrolls away and is not lost. */
	if (s->other)
		buf_put_str(into, "\x1b[?1049h");
	else
		for (int i = 0; i < s->rows; i++)
			buf_put_str(into, "\r\n");
	buf_put_str(into, "\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b(B\x0f\x1b[0m\x1b[H\x1b[2J");
	for (int row = 0; row < s->rows; row++)
		screen_paint_row(s, row, &pen, into);
	buf_put_str(into, "\x1b[0m");
	modes_say(&s->modes, into);
	vterm_state_get_cursorpos(s->state, &at);
	buf_putf(into, "\x1b[%d;%dH", at.row + 1,
		 at.col + 1 > s->columns ? s->columns : at.col + 1);
	buf_put_str(into, s->hidden ? "\x1b[?25l" : "\x1b[?25h");
}

/* --- a keeper's ------------------------------------------------------------------------ */

struct screen_side {
	struct channel channel;
	struct screen *screen;
};

/* Questions are answered by the keeper's choice: who looks at the terminal may do so, too. */
static int screen_on_output(void *context, struct channel_packet *packet, struct error *e)
{
	struct screen_side *side = context;
	char answers[256];

	(void)e;
	screen_feed(side->screen, packet->body);
	for (;;) {
		size_t len = screen_take_answers(side->screen, answers, sizeof(answers));
		int r = len == 0 ? 0
				 : channel_send(side->channel.fd, MESSAGE_INPUT,
						(struct span){(uint8_t *)answers, len}, NULL, 0);

		if (len == 0 || r < 0)
			return r;
	}
}

static int screen_on_resize(void *context, struct channel_packet *packet, struct error *e)
{
	struct screen_side *side = context;
	struct message_resize m;
	int r = message_decode(packet->body, &message_resize_schema, &m, NULL, e);

	if (r == 0)
		screen_resize(side->screen, m.rows, m.columns);
	return r;
}

/* In pieces, the last of which is empty. */
static int screen_on_paint(void *context, struct channel_packet *packet, struct error *e)
{
	struct screen_side *side = context;
	_cleanup_buf_ struct buf b = BUF_INIT(SCREEN_PICTURE_MAX);
	int r = 0;

	(void)packet;
	(void)e;
	screen_paint(side->screen, &b);
	for (size_t at = 0; r == 0 && at < b.len; at += MESSAGE_DATA_MAX) {
		size_t len = b.len - at < MESSAGE_DATA_MAX ? b.len - at : MESSAGE_DATA_MAX;

		r = channel_send(side->channel.fd, MESSAGE_PAINTED,
				 (struct span){(uint8_t *)b.ptr + at, len}, NULL, 0);
	}
	return r < 0 ? r
		     : channel_send(side->channel.fd, MESSAGE_PAINTED, (struct span){NULL, 0}, NULL,
				    0);
}

static const struct channel_rule screen_rules[] = {
	{MESSAGE_OUTPUT, "OUTPUT", MESSAGE_DATA_MAX, 0, 0, 1u << SCREEN_SERVING, screen_on_output},
	{MESSAGE_RESIZE, "RESIZE", 24, 0, 0, 1u << SCREEN_SERVING, screen_on_resize},
	{MESSAGE_PAINT, "PAINT", 0, 0, 0, 1u << SCREEN_SERVING, screen_on_paint},
};

int screen_run(int channel)
{
	struct screen_side side = {.screen = screen_new(0, 0)};
	struct error e = ERROR_INIT;

	if (!side.screen || process_confine(profile_bpf(PROFILE_SCREEN)) < 0)
		return 1;
	side.channel = (struct channel){.fd = channel,
					.rules = screen_rules,
					.rule_count = BAWN_ARRAY_SIZE(screen_rules),
					.state = SCREEN_SERVING,
					.context = &side};
	while (channel_receive(&side.channel, &e) > 0)
		continue;
	screen_free(side.screen);
	return 0;
}
