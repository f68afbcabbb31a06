/* SPDX-License-Identifier: Apache-2.0 */
#include "modes.h"

#include <stdlib.h>
#include <string.h>

enum { MODES_NUMBERS = 15 }; /* of one sequence */

enum modes_state {
	MODES_TEXT,
	MODES_ESCAPE,
	MODES_DESIGNATE, /* ESC ( ... */
	MODES_SEQUENCE,  /* CSI ... */
	MODES_STRING,    /* OSC, DCS, APC, PM, SOS ... until ST or BEL */
	MODES_STRING_ESCAPE,
};

/* DEC private modes; `normal`: how a terminal starts. */
static const struct {
	int number;
	bool normal;
} modes_table[] = {
	{1, false},    /* cursor keys */
	{7, true},     /* wrapping */
	{9, false},    /* mouse, old */
	{1000, false}, /* mouse */
	{1002, false}, /* with drags */
	{1003, false}, /* with every motion */
	{1004, false}, /* focus */
	{1005, false}, /* mouse, coordinates as UTF-8 */
	{1006, false}, /* as numbers */
	{1007, false}, /* wheel as keys, on the other screen */
	{1015, false}, /* mouse, coordinates as urxvt has them */
	{2004, false}, /* marked pasting */
};

void modes_init(struct modes *m)
{
	*m = (struct modes){.shape = MODES_SHAPE_NONE};
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(modes_table); i++)
		if (modes_table[i].normal)
			m->on |= 1u << i;
}

static void modes_set(struct modes *m, long number, bool on)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(modes_table); i++)
		if (modes_table[i].number == number)
			m->on = on ? m->on | 1u << i : m->on & ~(1u << i);
}

/* "?1;2004" and h or l. */
static void modes_set_listed(struct modes *m, bool on)
{
	const char *at = m->words + 1;

	while (*at) {
		char *end = NULL;
		long number = strtol(at, &end, 10);

		if (end == at)
			return;
		modes_set(m, number, on);
		at = *end == ';' ? end + 1 : end;
		if (*end && *end != ';')
			return;
	}
}

/* "2;23": these rows scroll, and no others. */
static void modes_set_region(struct modes *m)
{
	char *end = NULL;
	unsigned long top = strtoul(m->words, &end, 10);
	unsigned long bottom = *end == ';' ? strtoul(end + 1, NULL, 10) : 0;
	bool some = bottom > (top ? top : 1) && bottom <= MODES_NUMBER_MAX;

	m->top = some ? (unsigned int)(top ? top : 1) : 0;
	m->bottom = some ? (unsigned int)bottom : 0;
}

static void modes_end_sequence(struct modes *m, char last)
{
	m->words[m->len] = '\0';
	if (m->words[0] == '?' && (last == 'h' || last == 'l'))
		modes_set_listed(m, last == 'h');
	else if (last == 'q' && m->len > 0 && m->words[m->len - 1] == ' ')
		m->shape = (int)strtol(m->words, NULL, 10) & 7;
	else if (last == 'p' && m->len == 1 && m->words[0] == '!')
		modes_init(m);
	else if (last == 'r' && strspn(m->words, "0123456789;") == m->len)
		modes_set_region(m);
}

/* "31;9999999" as "31;1024": no screen is larger, and libvterm does a thing as often as it is told. */
static void modes_pass_words(const struct modes *m, struct buf *pass)
{
	for (size_t i = 0; i < m->len;) {
		char *end = NULL;
		unsigned long number = strtoul(m->words + i, &end, 10);
		bool is_number = m->words[i] >= '0' && m->words[i] <= '9';

		/* Of modes the numbers are names. */
		if (is_number && number > MODES_NUMBER_MAX && m->words[0] != '?')
			buf_putf(pass, "%d", MODES_NUMBER_MAX);
		else if (is_number)
			buf_putf(pass, "%lu", number > 65535 ? 65535 : number);
		else
			buf_put_char(pass, m->words[i]);
		i = is_number ? (size_t)(end - m->words) : i + 1;
	}
}

/* The last letter once more, so often.  libvterm never ends where that is more than fits in a row. */
static void modes_repeat(const struct modes *m, struct buf *pass)
{
	unsigned long count = strtoul(m->words, NULL, 10);

	count = count == 0 ? 1 : count > MODES_NUMBER_MAX ? MODES_NUMBER_MAX : count;
	for (unsigned long i = 0; m->last && i < count; i++)
		buf_put_char(pass, m->last);
}

static void modes_escape(struct modes *m, uint8_t byte, struct buf *pass)
{
	m->state = MODES_TEXT;
	switch (byte) {
	case '[':
		m->state = MODES_SEQUENCE;
		m->len = 0;
		return;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		m->state = MODES_STRING;
		return;
	case 0x1b:
		m->state = MODES_ESCAPE;
		return;
	case '=':
	case '>':
		m->keypad = byte == '=';
		break;
	case 'c':
		modes_init(m);
		break;
	default:
		break;
	}
	if (byte >= 0x20 && byte < 0x30) {
		m->state = MODES_DESIGNATE;
		m->words[0] = (char)byte;
	} else if (byte >= 0x30 && byte < 0x7f) {
		buf_put_char(pass, 0x1b);
		buf_put_char(pass, (char)byte);
	}
}

static void modes_designate(struct modes *m, uint8_t byte, struct buf *pass)
{
	bool is_set = strchr("()*+", m->words[0]) && byte &&
		      strchr("0AB", byte); /* lines, British, plain */

	m->state = byte == 0x1b ? MODES_ESCAPE : MODES_TEXT;
	/* libvterm reads "ESC - [" as the start of a sequence: only what a picture needs gets there. */
	if (!is_set && !(m->words[0] == '#' && byte == '8'))
		return;
	buf_put_char(pass, 0x1b);
	buf_put_char(pass, m->words[0]);
	buf_put_char(pass, (char)byte);
}

/* libvterm has room for so many numbers, and does not look. */
static bool modes_is_crowded(const struct modes *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->len; i++)
		count += m->words[i] == ';' || m->words[i] == ':';
	return count >= MODES_NUMBERS;
}

static void modes_sequence(struct modes *m, uint8_t byte, struct buf *pass)
{
	if (byte >= 0x40 && byte <= 0x7e) {
		m->state = MODES_TEXT;
		if (m->len == MODES_WORDS - 1 || modes_is_crowded(m))
			return;
		m->words[m->len] = '\0';
		if (byte == 'b') {
			modes_repeat(m, pass);
			return;
		}
		buf_put_str(pass, "\x1b[");
		modes_pass_words(m, pass);
		buf_put_char(pass, (char)byte);
		modes_end_sequence(m, (char)byte);
	} else if (byte == 0x1b) {
		m->state = MODES_ESCAPE;
	} else if (byte == 0x18 || byte == 0x1a) {
		m->state = MODES_TEXT;
	} else if (byte >= 0x20 && byte < 0x7f && m->len < MODES_WORDS - 1) {
		m->words[m->len++] = (char)byte;
	}
}

static void modes_string(struct modes *m, uint8_t byte)
{
	if (byte == 0x07 || byte == 0x18 || byte == 0x1a)
		m->state = MODES_TEXT;
	else if (byte == 0x1b)
		m->state = MODES_STRING_ESCAPE;
}

void modes_feed(struct modes *m, const uint8_t *bytes, size_t len, struct buf *pass)
{
	for (size_t i = 0; i < len; i++) {
		switch (m->state) {
		case MODES_TEXT:
			m->state = bytes[i] == 0x1b ? MODES_ESCAPE : MODES_TEXT;
			if (bytes[i] == 0x1b)
				break;
			buf_put_char(pass, (char)bytes[i]);
			m->last = bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : 0;
			break;
		case MODES_ESCAPE:
			modes_escape(m, bytes[i], pass);
			break;
		case MODES_DESIGNATE:
			modes_designate(m, bytes[i], pass);
			break;
		case MODES_SEQUENCE:
			modes_sequence(m, bytes[i], pass);
			break;
		case MODES_STRING:
			modes_string(m, bytes[i]);
			break;
		default: /* MODES_STRING_ESCAPE */
			if (bytes[i] == '\\')
				m->state = MODES_TEXT;
			else
				modes_escape(m, bytes[i], pass);
			break;
		}
	}
}

void modes_say(const struct modes *m, struct buf *into)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(modes_table); i++) {
		bool on = (m->on >> i & 1) != 0;

		if (on != modes_table[i].normal)
			buf_putf(into, "\x1b[?%d%c", modes_table[i].number, on ? 'h' : 'l');
	}
	if (m->bottom > 0)
		buf_putf(into, "\x1b[%u;%ur", m->top, m->bottom);
	if (m->keypad)
		buf_put_str(into, "\x1b=");
	if (m->shape != MODES_SHAPE_NONE)
		buf_putf(into, "\x1b[%d q", m->shape);
}
