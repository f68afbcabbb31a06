/* SPDX-License-Identifier: Apache-2.0 */
#include "modes.h"

#include <stdlib.h>

enum modes_state {
	MODES_TEXT,
	MODES_ESCAPE,
	MODES_SEQUENCE, /* CSI ... */
	MODES_STRING,   /* OSC, DCS, APC, PM, SOS ... until ST or BEL */
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

static void modes_end_sequence(struct modes *m, char last)
{
	m->words[m->len] = '\0';
	if (m->words[0] == '?' && (last == 'h' || last == 'l'))
		modes_set_listed(m, last == 'h');
	else if (last == 'q' && m->len > 0 && m->words[m->len - 1] == ' ')
		m->shape = (int)strtol(m->words, NULL, 10) & 7;
	else if (last == 'p' && m->len == 1 && m->words[0] == '!')
		modes_init(m);
}

static void modes_escape(struct modes *m, uint8_t byte)
{
	m->state = MODES_TEXT;
	switch (byte) {
	case '[':
		m->state = MODES_SEQUENCE;
		m->len = 0;
		break;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		m->state = MODES_STRING;
		break;
	case '=':
	case '>':
		m->keypad = byte == '=';
		break;
	case 'c':
		modes_init(m);
		break;
	case 0x1b:
		m->state = MODES_ESCAPE;
		break;
	default:
		break;
	}
}

static void modes_sequence(struct modes *m, uint8_t byte)
{
	if (byte >= 0x40 && byte <= 0x7e) {
		/* One that was cut says nothing that could be said again. */
		if (m->len < MODES_WORDS - 1)
			modes_end_sequence(m, (char)byte);
		m->state = MODES_TEXT;
	} else if (byte == 0x1b) {
		m->state = MODES_ESCAPE;
	} else if (byte == 0x18 || byte == 0x1a) {
		m->state = MODES_TEXT;
	} else if (byte >= 0x20 && m->len < MODES_WORDS - 1) {
		m->words[m->len++] = (char)byte;
	}
}

static void modes_string(struct modes *m, uint8_t byte)
{
	if (byte == 0x07 || byte == 0x18 || byte == 0x1a)
		m->state = MODES_TEXT;
	else if (byte == 0x1b)
		m->state = MODES_STRING_ESCAPE;
	else
		m->state = MODES_STRING;
}

void modes_feed(struct modes *m, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (m->state) {
		case MODES_TEXT:
			m->state = bytes[i] == 0x1b ? MODES_ESCAPE : MODES_TEXT;
			break;
		case MODES_ESCAPE:
			modes_escape(m, bytes[i]);
			break;
		case MODES_SEQUENCE:
			modes_sequence(m, bytes[i]);
			break;
		case MODES_STRING:
			modes_string(m, bytes[i]);
			break;
		default: /* MODES_STRING_ESCAPE */
			if (bytes[i] == '\\')
				m->state = MODES_TEXT;
			else
				modes_escape(m, bytes[i]);
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
	if (m->keypad)
		buf_put_str(into, "\x1b=");
	if (m->shape != MODES_SHAPE_NONE)
		buf_putf(into, "\x1b[%d q", m->shape);
}
