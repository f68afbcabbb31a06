/* SPDX-License-Identifier: Apache-2.0 */
#include "invisible.h"

#include "text.h"

enum {
	INVISIBLE_ZWNJ = 0x200c,
	INVISIBLE_ZWJ = 0x200d,
	INVISIBLE_TEXT_STYLE = 0xfe0e,
	INVISIBLE_EMOJI_STYLE = 0xfe0f,
	INVISIBLE_MARK = 0xfeff,
	INVISIBLE_TAGS = 7, /* of a flag, its end counted */
};

static bool invisible_in(uint32_t cp, uint32_t first, uint32_t last)
{
	return cp >= first && cp <= last;
}

/* What an emoji can be made of, generously. */
static bool invisible_is_emoji(uint32_t cp)
{
	return cp == 0xa9 || cp == 0xae || invisible_in(cp, 0x203c, 0x3299) ||
	       invisible_in(cp, 0x1f000, 0x1faff) || cp == INVISIBLE_EMOJI_STYLE;
}

/* Scripts in which joiners are letters' business: Arabic to Sinhala, Tibetan to Mongolian. */
static bool invisible_is_joined(uint32_t cp)
{
	return invisible_in(cp, 0x600, 0x7ff) || invisible_in(cp, 0x8a0, 0xdff) ||
	       invisible_in(cp, 0xf00, 0x109f) || invisible_in(cp, 0x1780, 0x18af) ||
	       invisible_in(cp, 0xfb50, 0xfdff) || invisible_in(cp, 0xfe70, 0xfefc) ||
	       invisible_in(cp, 0x11000, 0x1173f);
}

static bool invisible_is_ideograph(uint32_t cp)
{
	return invisible_in(cp, 0x3400, 0x9fff) || invisible_in(cp, 0xf900, 0xfaff) ||
	       invisible_in(cp, 0x20000, 0x323af);
}

static bool invisible_is_private(uint32_t cp)
{
	return invisible_in(cp, 0xe000, 0xf8ff) || invisible_in(cp, 0xf0000, 0x10ffff);
}

/* Format characters that belong to a script: signs of Arabic, Syriac and Kaithi that are seen, and
 * those that put hieroglyphs together, beside one. */
static bool invisible_is_sign(uint32_t before, uint32_t cp)
{
	if (invisible_in(cp, 0x13430, 0x1343f))
		return invisible_in(before, 0x13000, 0x143ff);
	return invisible_in(cp, 0x600, 0x605) || cp == 0x6dd || cp == 0x70f ||
	       invisible_in(cp, 0x890, 0x891) || cp == 0x8e2 || cp == 0x110bd || cp == 0x110cd;
}

static void invisible_found(struct invisible *v, uint32_t cp, uint64_t line)
{
	if (v->count++ == 0)
		v->first_line = line;
	for (size_t i = 0; i < v->kind_count; i++)
		if (v->kinds[i] == cp)
			return;
	if (v->kind_count < INVISIBLE_KINDS)
		v->kinds[v->kind_count++] = cp;
}

/* A selector selects something of the character in front of it. */
static bool invisible_selects(const struct invisible *v, uint32_t cp)
{
	uint32_t base = v->before;

	if (cp == INVISIBLE_TEXT_STYLE || cp == INVISIBLE_EMOJI_STYLE)
		return (base != INVISIBLE_EMOJI_STYLE && invisible_is_emoji(base)) || base == '#' ||
		       base == '*' || invisible_in(base, '0', '9');
	if (invisible_in(cp, 0x180b, 0x180f))
		return invisible_in(base, 0x1820, 0x18af);
	if (invisible_in(cp, 0xfe00, 0xfe02))
		return invisible_is_ideograph(base) || invisible_in(base, 0x2200, 0x2aff) ||
		       invisible_in(base, 0x3000, 0x303f) || invisible_in(base, 0xff00, 0xffef);
	return invisible_in(cp, 0xe0100, 0xe01ef) && invisible_is_ideograph(base);
}

static bool invisible_is_selector(uint32_t cp)
{
	return invisible_in(cp, 0xfe00, 0xfe0f) || invisible_in(cp, 0xe0100, 0xe01ef) ||
	       invisible_in(cp, 0x180b, 0x180f);
}

/*
 * The flags of three countries are a black flag, letters of the tag block, and their end: never
 * more than six, so that nothing longer is written behind a flag.
 */
static bool invisible_is_flag(struct invisible *v, uint32_t cp)
{
	bool begins = v->before == 0x1f3f4;

	if (!invisible_in(cp, 0xe0061, 0xe007a) && cp != 0xe007f)
		return false;
	v->tags = begins ? 1 : v->tags > 0 && v->tags < INVISIBLE_TAGS ? v->tags + 1 : 0;
	return v->tags > 0;
}

static void invisible_private(struct invisible *v, uint32_t cp)
{
	if (++v->run >= INVISIBLE_RUN)
		invisible_found(v, cp, v->line + 1);
}

/* One character beyond ASCII. */
static void invisible_take(struct invisible *v, uint32_t cp)
{
	uint32_t waits = v->waits;

	v->waits = 0;
	if (waits && !(waits == INVISIBLE_ZWJ ? invisible_is_emoji(cp) || invisible_is_joined(cp)
					      : invisible_is_joined(cp)))
		invisible_found(v, waits, v->waits_line);
	if (invisible_is_private(cp)) {
		invisible_private(v, cp);
		v->tags = 0;
		v->before = cp;
		return;
	}
	v->run = 0;
	if (cp == INVISIBLE_MARK && !v->begun)
		return;
	if (cp == INVISIBLE_ZWJ || cp == INVISIBLE_ZWNJ) {
		bool fits = (cp == INVISIBLE_ZWJ && invisible_is_emoji(v->before)) ||
			    invisible_is_joined(v->before);

		if (!fits)
			invisible_found(v, cp, v->line + 1);
		/* In such a script a joiner may end a word. */
		else if (!invisible_is_joined(v->before)) {
			v->waits = cp;
			v->waits_line = v->line + 1;
		}
	} else if (invisible_is_selector(cp)) {
		if (!invisible_selects(v, cp))
			invisible_found(v, cp, v->line + 1);
	} else if (cp >= 0x80 && text_is_hidden(cp) && !invisible_is_sign(v->before, cp) &&
		   !invisible_is_flag(v, cp)) {
		invisible_found(v, cp, v->line + 1);
	}
	if (!invisible_in(cp, 0xe0000, 0xe007f))
		v->tags = 0;
	v->before = cp;
}

static void invisible_ascii(struct invisible *v, uint8_t c)
{
	if (v->waits)
		invisible_found(v, v->waits, v->waits_line);
	v->waits = 0;
	v->run = 0;
	v->tags = 0;
	v->before = c;
	v->line += c == '\n';
	v->nul |= c == '\0';
}

/* The bytes of a run of ASCII; most of all texts is this. */
static size_t invisible_plain(struct invisible *v, struct span s)
{
	const uint64_t high = 0x8080808080808080ull;
	size_t len = 0;

	if (v->waits || s.ptr[0] >= 0x80)
		return 0;
	while (s.len - len >= sizeof(high)) {
		uint64_t word;

		memcpy(&word, s.ptr + len, sizeof(word));
		if (word & high)
			break;
		len += sizeof(word);
	}
	for (size_t i = 0; i < len; i++) {
		v->line += s.ptr[i] == '\n';
		v->nul |= s.ptr[i] == '\0';
	}
	if (len > 0) {
		v->before = s.ptr[len - 1];
		v->run = 0;
		v->tags = 0;
	}
	return len;
}

/* How long the sequence says it is; 1 for what begins none. */
static size_t invisible_length(uint8_t lead)
{
	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
}

/* The first bytes of s are well begun, as far as they are there. */
static bool invisible_is_cut(struct span s)
{
	if (s.len >= invisible_length(s.ptr[0]))
		return false;
	for (size_t i = 1; i < s.len; i++)
		if ((s.ptr[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Takes the first character of s: its length. */
static size_t invisible_one(struct invisible *v, struct span s)
{
	uint32_t cp = 0;
	size_t len = text_utf8(s, &cp);

	if (len == 0) {
		v->odd = true;
		invisible_ascii(v, '?');
	} else if (len == 1) {
		invisible_ascii(v, s.ptr[0]);
	} else {
		invisible_take(v, cp);
	}
	v->begun = true;
	return len ? len : 1;
}

/* What an earlier piece began, with the first bytes of this one. */
static struct span invisible_join(struct invisible *v, struct span piece)
{
	while (v->part_len > 0) {
		while (piece.len > 0 && invisible_is_cut((struct span){v->part, v->part_len})) {
			v->part[v->part_len++] = piece.ptr[0];
			piece = span_skip(piece, 1);
		}
		if (invisible_is_cut((struct span){v->part, v->part_len}))
			break;
		size_t len = invisible_one(v, (struct span){v->part, v->part_len});

		v->part_len -= len;
		memmove(v->part, v->part + len, v->part_len);
	}
	return piece;
}

void invisible_feed(struct invisible *v, struct span piece)
{
	if (v->part_len > 0)
		piece = invisible_join(v, piece);
	while (piece.len > 0) {
		size_t len = invisible_plain(v, piece);

		v->begun |= len > 0;
		if (len == 0 && piece.ptr[0] >= 0x80 && invisible_is_cut(piece)) {
			memcpy(v->part, piece.ptr, piece.len);
			v->part_len = piece.len;
			return;
		}
		piece = span_skip(piece, len ? len : invisible_one(v, piece));
	}
}

void invisible_end(struct invisible *v)
{
	while (v->part_len > 0) {
		size_t len = invisible_one(v, (struct span){v->part, v->part_len});

		v->part_len -= len;
		memmove(v->part, v->part + len, v->part_len);
	}
	if (v->waits)
		invisible_found(v, v->waits, v->waits_line);
	v->waits = 0;
}
