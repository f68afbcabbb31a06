/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal_state.h"

#include "clock.h"
#include "str.h"

#include <time.h>

enum { STATE_TEXT, STATE_ESC, STATE_CSI, STATE_OSC, STATE_OTHER };
enum { STATE_ANSWER_MS = 2000, STATE_CAN = 0x18, STATE_SUB = 0x1a, STATE_DEL = 0x7f };

/* --- what sets it right --------------------------------------------------------------- */

#define ST "\033\\"

/* After these the terminal shows our text as text. */
static const char state_words[] =
	"\033\003"     /* from the window for drawings (xterm) */
	"\030" ST ST   /* ends any open sequence; CAN also parts an ESC from the next byte */
	"\033[4i"      /* to the screen, not to a printer */
	"\033<\033 F"  /* from VT52 to ANSI, controls of 7 bits */
	"\033[0$}"     /* not into the status line */
	"\033[?2026l"; /* shown at once */

/* These move the cursor in some terminals, so we save and restore it around them. */
static const char state_still[] = "\0337\033[<99u\0338" /* keys, of the screen that is shown */
				  "\033[?47l"
				  "\033[!p" /* origin; it leaves the cursor where it is */
				  "\0337\033[<99u\033[?69l\033[r\0338";

static const char state_modes[] =
	/* mouse, by every name; focus, pasting, colour scheme, size, keys of Windows */
	"\033[?9l\033[?1000l\033[?1001l\033[?1002l\033[?1003l\033[?1004l\033[?1005l\033[?1006l"
	"\033[?1015l\033[?1016l\033[?2004l\033[?2031l\033[?2048l\033[?5522l\033[?7727l\033[?9001l"
	"\033[0'z"
	"\033[?45l\033[?2027l"
	/* cursor keys and keypad as ever, no keys with codes of their own */
	"\033[?1l\033[?66l\033>\033[>4m"
	/* keyboard free, controls not shown, no inserting, no local echo, Enter is one byte */
	"\033[2l\033[3l\033[4l\033[12h\033[20l"
	/* lines wrap, nothing is inverted, the cursor is shown */
	"\033[?5l\033[?7h\033[?25h";

/* ASCII in every place, lines of one height, no colours, nothing concealed. */
static const char state_look[] = "\033#5\033(B\033)B\033*B\033+B\017\033[0m";

/* Resets the colours of the palette, of text, background and cursor, and of the Linux console. */
static const char state_colours[] = "\033]104" ST "\033]110" ST "\033]111" ST "\033]112" ST
				    "\033]117" ST "\033]119" ST "\033]R" ST;

/* --- what came ------------------------------------------------------------------------ */

static void state_ask(struct terminal_state *s)
{
	s->asked_ms = clock_ms(CLOCK_MONOTONIC);
}

/* Whether a mode makes the terminal type by itself: of mouse, focus, colours, size. */
static bool state_is_reporting(unsigned long mode)
{
	return mode == 9 || (mode >= 1000 && mode <= 1006) || mode == 1015 || mode == 1016 ||
	       mode == 2031 || mode == 2048;
}

/* "?1049", among others: on or off */
static void state_set_modes(struct terminal_state *s, bool on)
{
	const char *at = s->words + 1;

	while (*at) {
		unsigned long mode = strtoul(at, NULL, 10);

		if (mode == 1049)
			s->other = on;
		s->origin = mode == 6 ? on : s->origin;
		s->reports = s->reports || (on && state_is_reporting(mode));
		at += strcspn(at, ";");
		at += *at == ';';
	}
}

/* Whether no terminal answers this sequence. */
static bool state_is_silent(const struct terminal_state *s, char final)
{
	char first = s->words[0], last = s->len ? s->words[s->len - 1] : '\0';

	if (first == '?')
		return strchr("hlsrJK", final) != NULL;
	if (first == '>')
		return final == 'u' || final == 'm';
	if (first == '<' || first == '=')
		return final == 'u';
	if (last >= 0x20 && last < 0x30)
		return (last == ' ' && final == 'q') || (last == '!' && final == 'p');
	return strchr("@ABCDEFGHIJKLMPSTXZ^`abdefghilmrsu", final) != NULL;
}

static void state_on_csi(struct terminal_state *s, char final)
{
	s->words[s->len] = '\0';
	if (s->words[0] == '?' && (final == 'h' || final == 'l'))
		state_set_modes(s, final == 'h');
	s->wheeled = s->wheeled || (final == 's' && str_equal(s->words, "?1007"));
	s->shaped = s->shaped || (final == 'q' && s->len > 0 && s->words[s->len - 1] == ' ');
	if (final == 't' && str_equal(s->words, "22;0")) {
		s->titled = true;
		return;
	}
	if (!state_is_silent(s, final))
		state_ask(s);
}

/* A string of the terminal's own begins with a number that says what it is. */
static void state_on_osc(struct terminal_state *s)
{
	/* title, folder, link, notice, clipboard, marks of a prompt */
	static const unsigned int silent[] = {0, 1, 2, 7, 8, 9, 52, 133, 633, 777};
	char *end;

	s->words[s->len] = '\0';
	unsigned long number = strtoul(s->words, &end, 10);

	s->linked = s->linked || number == 8;
	for (size_t i = 0; end > s->words && i < BAWN_ARRAY_SIZE(silent); i++)
		if (number == silent[i])
			return;
	s->colours = true;
	/* Sequences that set a colour ask for it when they have a question mark. */
	if (end == s->words || number > 119 || number == 21 || number == 99)
		state_ask(s);
}

static unsigned char state_begin(struct terminal_state *s, uint8_t byte)
{
	s->len = 0;
	switch (byte) {
	case '[':
		return STATE_CSI;
	case ']':
		return STATE_OSC;
	case 'P': /* strings to the terminal itself: we do not look at what they ask */
	case '_':
		state_ask(s);
		return STATE_OTHER;
	case 'X':
	case '^':
		return STATE_OTHER;
	case 'c': /* reset */
		s->other = false;
		return STATE_TEXT;
	default:
		/* a set of characters is named by one more byte, which is text to us */
		if (!strchr("()*+-./#% 78=><DEHMNOVWno|}~kl\\", byte))
			state_ask(s);
		return STATE_TEXT;
	}
}

static void state_in_string(struct terminal_state *s, uint8_t byte)
{
	bool is_osc = s->state == STATE_OSC, ends = byte == '\a';

	if (!is_osc) {
		if (ends)
			s->state = STATE_TEXT;
		return;
	}
	if (byte == '?')
		state_ask(s);
	if (s->len < sizeof(s->words) - 1 && byte >= 0x20 && byte != STATE_DEL)
		s->words[s->len++] = (char)byte;
	if (ends)
		s->state = STATE_TEXT;
}

static void state_in_csi(struct terminal_state *s, uint8_t byte)
{
	if (byte >= 0x40) {
		state_on_csi(s, (char)byte);
		s->state = STATE_TEXT;
	} else if (s->len < sizeof(s->words) - 1) {
		s->words[s->len++] = (char)byte;
	} else {
		/* Too long for our buffer, but a terminal may take it: keep the last bytes. */
		memmove(s->words + 1, s->words + 2, s->len - 2);
		s->words[s->len - 1] = (char)byte;
	}
}

static void state_byte(struct terminal_state *s, uint8_t byte)
{
	bool string = s->state == STATE_OSC || s->state == STATE_OTHER;
	bool c1 = byte >= 0x80 && byte < 0xa0 && s->before == 0xc2; /* the same in one character */
	bool ends = byte == 0x1b || c1 || byte == '\a' || byte == STATE_CAN || byte == STATE_SUB;

	if (s->state == STATE_OSC && ends)
		state_on_osc(s);
	if (byte == 0x1b)
		s->state = STATE_ESC;
	else if (c1)
		s->state = state_begin(s, (uint8_t)(byte - 0x40));
	else if (byte == STATE_CAN || byte == STATE_SUB)
		s->state = STATE_TEXT;
	else if (string)
		state_in_string(s, byte);
	else if (byte == 0x05)
		state_ask(s);
	else if (byte < 0x20 || byte == STATE_DEL)
		; /* a control that terminals obey or skip inside any sequence */
	else if (s->state == STATE_ESC)
		s->state = state_begin(s, byte);
	else if (s->state == STATE_CSI)
		state_in_csi(s, byte);
	s->before = byte;
}

/* Whether a byte only prints or moves on, as on paper. */
static bool state_is_plain(uint8_t byte)
{
	return (byte >= 0x20 && byte < 0x7f) || (byte >= '\a' && byte <= '\r');
}

void terminal_state_feed(struct terminal_state *s, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		/* Most of it is text. */
		if (s->state == STATE_TEXT && state_is_plain(bytes[i])) {
			s->before = bytes[i];
			continue;
		}
		s->more = true;
		state_byte(s, bytes[i]);
	}
}

void terminal_state_undo(struct terminal_state *s, bool whole, struct buf *into)
{
	if (!s->more)
		return;
	if (s->state == STATE_OSC)
		state_on_osc(s); /* some terminals take this byte as the string's end */
	buf_put_str(into, state_words);
	if (whole && s->other)
		buf_put_str(into, "\033[<99u\033[?1049l");
	if (whole) {
		buf_put_str(into, state_still);
		buf_put_str(into, state_modes);
	}
	/* For terminals that know no soft reset.  It moves the cursor, to where nothing is covered. */
	if (whole && s->origin)
		buf_put_str(into, "\033[?6l\033[9999;1H");
	if (whole && s->shaped)
		buf_put_str(into, "\033[0 q");
	if (whole && s->wheeled)
		buf_put_str(into, "\033[?1007r");
	if (s->linked)
		buf_put_str(into, "\033]8;;" ST);
	if (whole && s->titled)
		buf_put_str(into, "\033[23;0t");
	buf_put_str(into, state_look);
	if (s->colours)
		buf_put_str(into, state_colours);
	/* What was reported until now may be on its way. */
	if (s->reports)
		state_ask(s);
	*s = (struct terminal_state){.state = STATE_TEXT, .asked_ms = s->asked_ms};
}

bool terminal_state_is_asked(const struct terminal_state *s)
{
	return s->asked_ms != 0 && clock_ms(CLOCK_MONOTONIC) - s->asked_ms < STATE_ANSWER_MS;
}
