/* SPDX-License-Identifier: Apache-2.0 */
#include "finder_unit.h"

#include "encode.h"

/* Reads an escape: how far it is, and whether the bytes ended first. */
struct unit_reader {
	struct span in;
	size_t at;
	bool end;
	bool short_of; /* more bytes are needed */
};

static int peek(struct unit_reader *r, size_t ahead)
{
	if (r->at + ahead < r->in.len)
		return r->in.ptr[r->at + ahead];
	r->short_of = true;
	return -1;
}

/* Two hex digits at `ahead`: their value, or -1. */
static int peek_hex(struct unit_reader *r, size_t ahead)
{
	int high = peek(r, ahead);

	if (high < 0 || decode_hex_digit((uint8_t)high) < 0)
		return -1;
	int low = peek(r, ahead + 1);

	if (low < 0 || decode_hex_digit((uint8_t)low) < 0)
		return -1;
	return decode_hex_digit((uint8_t)high) << 4 | decode_hex_digit((uint8_t)low);
}

static bool take_hex(struct unit_reader *r, size_t ahead, struct unit *u)
{
	int v = peek_hex(r, ahead);

	if (v < 0)
		return false;
	*u = (struct unit){(uint8_t)v, (uint8_t)(r->at + ahead + 2), UNIT_HEX, 0, 0};
	return true;
}

/* %XX, %25XX, %2525XX. */
static bool read_percent(struct unit_reader *r, bool once, struct unit *u)
{
	if (!take_hex(r, 1, u))
		return false;
	for (int i = 0; !once && i < UNIT_AGAIN_MAX && u->byte == '%'; i++) {
		struct unit_reader further = {r->in, u->len, r->end, false};
		struct unit more;

		if (!take_hex(&further, 0, &more)) {
			r->short_of = further.short_of;
			break;
		}
		*u = more;
	}
	return true;
}

/* Three octal digits, here: \NNN. */
static bool take_octal(struct unit_reader *r, struct unit *u)
{
	unsigned int v = 0;

	for (size_t i = 0; i < 3; i++) {
		int c = peek(r, i);

		if (c < '0' || c > (i == 0 ? '3' : '7'))
			return false;
		v = v << 3 | (unsigned int)(c - '0');
	}
	*u = (struct unit){(uint8_t)v, (uint8_t)(r->at + 3), UNIT_OCTAL, 0, 0};
	return true;
}

/* Reads backslashes and what they escape. */
static bool read_backslash(struct unit_reader *r, struct unit *u)
{
	size_t run = 1;

	while (run < UNIT_BACKSLASHES_MAX && peek(r, run) == '\\')
		run++;
	int c = peek(r, run);

	/* At the end of all bytes a pair is one backslash: a value can end with it. */
	if (c < 0 && run % 2 == 0)
		*u = (struct unit){'\\', 2, UNIT_FIXED, 0, 0};
	if (c < 0)
		return run % 2 == 0;
	r->at += run;
	if (c == 'u') {
		int high = peek_hex(r, 1);

		return high == 0 && take_hex(r, 3, u);
	}
	if (c == 'x')
		return take_hex(r, 1, u);
	/* In an even run the last one is no escape: a value can have a backslash before digits. */
	if (run % 2 == 1 && c >= '0' && c <= '3' && take_octal(r, u))
		return true;
	if (run % 2 == 0) /* in JSON: escaped backslashes */
		*u = (struct unit){'\\', 2, UNIT_FIXED, 0, 0};
	else if (c == 'n' || c == 'r' || c == 't')
		*u = (struct unit){'\n', (uint8_t)(run + 1), UNIT_FIXED, 0, 0};
	else if (unit_is_punctuation((uint8_t)c))
		*u = (struct unit){(uint8_t)c, (uint8_t)(run + 1), UNIT_FIXED, 0, 0};
	else
		return false;
	return true;
}

static bool read_number(struct unit_reader *r, struct unit *u)
{
	int first = peek(r, 2);
	bool hex = first >= 0 && (first | 0x20) == 'x';
	size_t from = hex ? 3 : 2, count = 0;
	uint32_t v = 0;

	for (; count < 8; count++) {
		int c = peek(r, from + count);
		int digit = c < 0 ? -1 : decode_hex_digit((uint8_t)c);

		if (digit < 0 || (!hex && digit > 9))
			break;
		v = v * (hex ? 16 : 10) + (uint32_t)digit;
	}
	if (count < 2 || v > 0xff || peek(r, from + count) != ';')
		return false;
	*u = (struct unit){(uint8_t)v, (uint8_t)(from + count + 1), hex ? UNIT_HEX : UNIT_DECIMAL,
			   1, (uint8_t)count};
	return true;
}

static const struct {
	const char *text;
	uint8_t byte;
} entities[] = {
	{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''},
};

uint8_t unit_entity(uint8_t byte)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(entities); i++)
		if (entities[i].byte == byte)
			return (uint8_t)entities[i].text[1];
	return 0;
}

static bool read_entity(struct unit_reader *r, struct unit *u)
{
	int c = peek(r, 1);

	if (c == '#')
		return read_number(r, u);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(entities); i++) {
		size_t len = 1;

		while (entities[i].text[len] && peek(r, len) == entities[i].text[len])
			len++;
		if (entities[i].text[len])
			continue;
		*u = (struct unit){entities[i].byte, (uint8_t)len, UNIT_FIXED, 0, 0};
		return true;
	}
	return false;
}

bool unit_read(struct span at, bool end, bool once, struct unit *ret_unit)
{
	struct unit_reader r = {at, 0, end, false};
	bool is = false;

	*ret_unit = (struct unit){at.ptr[0], 1, UNIT_ITSELF, 0, 0};
	if (at.ptr[0] == '%')
		is = read_percent(&r, once, ret_unit);
	else if (at.ptr[0] == '\\')
		is = read_backslash(&r, ret_unit);
	else if (at.ptr[0] == '&')
		is = read_entity(&r, ret_unit);
	else if (at.ptr[0] == '=')
		is = take_hex(&r, 1, ret_unit);
	if (!is)
		*ret_unit = (struct unit){at.ptr[0], 1, UNIT_ITSELF, 0, 0};
	return end || !r.short_of;
}

/* ---- several layers ---- */

struct peel {
	struct span in;
	bool short_of; /* more bytes are needed */
};

/* The letter at a place after some layers of escapes are removed; byte -1: the bytes have ended. */
struct letter {
	int byte;
	size_t len;
};

static struct letter peel_letter(struct peel *p, size_t at, int layers);

/* The next letter of an escape, in the layer below it. */
struct peel_reader {
	struct peel *of;
	size_t at;
	int layers;
};

static int peel_next(struct peel_reader *r)
{
	struct letter l = peel_letter(r->of, r->at, r->layers);

	r->at += l.len;
	return l.byte;
}

/* Reads so many hex digits; -1: they are no digits, or more than a byte. */
static int peel_hex(struct peel_reader *r, int count)
{
	int v = 0;

	for (int i = 0; i < count && v >= 0; i++) {
		int c = peel_next(r), digit = c < 0 ? -1 : decode_hex_digit((uint8_t)c);

		v = digit < 0 ? -1 : v << 4 | digit;
	}
	return v > 0xff ? -1 : v;
}

static int peel_backslash(struct peel_reader *r)
{
	int c = peel_next(r);

	if (c == 'u' || c == 'x')
		return peel_hex(r, c == 'u' ? 4 : 2);
	if (c >= '0' && c <= '3') {
		int second = peel_next(r), third = peel_next(r);

		return second < '0' || second > '7' || third < '0' || third > '7'
			       ? -1
			       : (c - '0') << 6 | (second - '0') << 3 | (third - '0');
	}
	return c >= 0 && unit_is_punctuation((uint8_t)c) ? c : -1;
}

static int peel_number(struct peel_reader *r)
{
	int c = peel_next(r), base = 10, v = 0;

	if (c == 'x' || c == 'X') {
		base = 16;
		c = peel_next(r);
	}
	for (int count = 0; count < 8; count++) {
		int digit = c < 0 ? -1 : decode_hex_digit((uint8_t)c);

		if (c == ';' && count > 1)
			return v;
		if (digit < 0 || digit >= base)
			return -1;
		v = v * base + digit;
		if (v > 0xff)
			return -1;
		c = peel_next(r);
	}
	return -1;
}

static int peel_entity(struct peel_reader *r)
{
	char name[8] = "&";

	for (size_t i = 1; i + 1 < sizeof(name); i++) {
		int c = peel_next(r);

		if (i == 1 && c == '#')
			return peel_number(r);
		if (c < 0 || (c != ';' && (c < 'a' || c > 'z')))
			return -1;
		name[i] = (char)c;
		if (c == ';')
			break;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(entities); i++)
		if (strcmp(name, entities[i].text) == 0)
			return entities[i].byte;
	return -1;
}

/* With 0 layers: the byte that is there. */
static struct letter peel_letter(struct peel *p, size_t at, int layers)
{
	if (layers == 0) {
		bool is = at < p->in.len;

		p->short_of |= !is;
		return (struct letter){is ? p->in.ptr[at] : -1, is};
	}
	struct letter first = peel_letter(p, at, layers - 1);
	struct peel_reader r = {p, at + first.len, layers - 1};
	int byte = first.byte == '%' || first.byte == '=' ? peel_hex(&r, 2)
		   : first.byte == '\\'                   ? peel_backslash(&r)
		   : first.byte == '&'                    ? peel_entity(&r)
							  : -1;

	/* An escape of an unprintable character does not count: values have only printable ones. */
	return byte <= 0x20 || byte >= 0x7f || r.at - at > UINT8_MAX
		       ? first
		       : (struct letter){byte, r.at - at};
}

bool unit_peel(struct span at, bool end, int layers, struct unit *ret_unit)
{
	struct peel p = {at, false};
	struct letter l = peel_letter(&p, 0, layers);

	*ret_unit = (struct unit){(uint8_t)l.byte, (uint8_t)l.len,
				  l.len > 1 ? UNIT_FIXED : UNIT_ITSELF, 0, 0};
	return end || !p.short_of;
}

/* ---- writing ---- */

/* Always in lower case: the case of a digit would show that it was a letter. */
static void write_hex(uint8_t *digits, uint8_t byte)
{
	for (int i = 0; i < 2; i++) {
		int v = i == 0 ? byte >> 4 : byte & 15;

		digits[i] = (uint8_t)(v < 10 ? '0' + v : 'a' + v - 10);
	}
}

static void write_octal(uint8_t *digits, uint8_t byte)
{
	for (int i = 0; i < 3; i++)
		digits[i] = (uint8_t)('0' + (byte >> (6 - 3 * i) & 7));
}

static void write_decimal(uint8_t *digits, size_t count, uint8_t byte)
{
	unsigned int v = count < 3 && byte > 99 ? '0' : byte;

	for (size_t i = count; i > 0; i--, v /= 10)
		digits[i - 1] = (uint8_t)('0' + v % 10);
}

void unit_write(const struct unit *u, uint8_t *bytes, uint8_t byte)
{
	if (u->kind == UNIT_ITSELF)
		bytes[0] = byte;
	else if (u->kind == UNIT_HEX)
		write_hex(bytes + u->len - u->tail - 2, byte);
	else if (u->kind == UNIT_OCTAL)
		write_octal(bytes + u->len - 3, byte);
	else if (u->kind == UNIT_DECIMAL)
		write_decimal(bytes + u->len - u->tail - u->count, u->count, byte);
	else /* this form exists for one byte only, so it would show the byte */
		memset(bytes, '*', u->len);
}
