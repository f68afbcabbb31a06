/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which a word may stand in a text, for tests of what must find it: each writes
 * a whole small document with the word in it.  Written apart from the code under test.
 */
#ifndef BAWN_TEST_SPELL_H
#define BAWN_TEST_SPELL_H

#include "buf.h"

#include <stdio.h>

struct spelling {
	const char *name;
	void (*write)(struct buf *into, struct span word);
	bool exact; /* with another word of the same length it gives a text of the same length */
};

#define SPELL_EACH(name, condition, format)                          \
	static void spell_##name(struct buf *into, struct span word) \
	{                                                            \
		for (size_t i = 0; i < word.len; i++) {              \
			unsigned int c = word.ptr[i];                \
                                                                     \
			if (condition)                               \
				buf_putf(into, format, c);           \
			else                                         \
				buf_put_char(into, (char)c);         \
		}                                                    \
	}

SPELL_EACH(plain, false, "%c")
SPELL_EACH(percent, true, "%%%02X")
SPELL_EACH(percent_lower, true, "%%%02x")
SPELL_EACH(percent_some, i % 3 == 0 || c == '%' || c == '&' || c == '=', "%%%02X")
SPELL_EACH(percent_last, i + 1 == word.len || c == '%', "%%%02x")
SPELL_EACH(percent_twice, true, "%%25%02X")
SPELL_EACH(json, true, "\\u%04x")
SPELL_EACH(json_upper, true, "\\u%04X")
SPELL_EACH(json_some, i % 4 == 1 || c == '"' || c == '\\', "\\u%04x")
SPELL_EACH(json_in_json, true, "\\\\u%04x")
SPELL_EACH(backslash_x, true, "\\x%02x")
SPELL_EACH(octal, true, "\\%03o")
SPELL_EACH(html_decimal, true, "&#%03u;")
SPELL_EACH(html_hex, true, "&#x%x;")
SPELL_EACH(quoted_printable, true, "=%02X")
SPELL_EACH(hex, true, "%02x")
SPELL_EACH(hex_upper, true, "%02X")
SPELL_EACH(hex_colons, true, "%02x:")
SPELL_EACH(hex_lines, true, "%02x\n")

static void spell_slash(struct buf *into, struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (strchr("/\"\\", word.ptr[i]))
			buf_put_char(into, '\\');
		buf_put_char(into, (char)word.ptr[i]);
	}
}

static void spell_utf16le(struct buf *into, struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		buf_put_char(into, (char)word.ptr[i]);
		buf_put_char(into, '\0');
	}
}

static void spell_utf16be(struct buf *into, struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		buf_put_char(into, '\0');
		buf_put_char(into, (char)word.ptr[i]);
	}
}

/* prefix and word in base64 of this alphabet, `broken` letters to a line. */
static void spell_any_base64(struct buf *into, const char *prefix, struct span word,
			     const char *tail, bool padded, size_t broken)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	struct buf all = BUF_INIT(1 << 20);
	size_t column = 0;

	buf_put_str(&all, prefix);
	buf_put(&all, word.ptr, word.len);
	for (size_t bit = 0; bit < 8 * all.len; bit += 6) {
		unsigned int v = 0;

		for (size_t i = bit; i < bit + 6; i++)
			v = v << 1 |
			    (i < 8 * all.len
				     ? (unsigned int)((uint8_t)all.ptr[i / 8] >> (7 - i % 8)) & 1
				     : 0);
		buf_put_char(into, v < 62 ? letters[v] : tail[v - 62]);
		if (++column == broken) {
			buf_put_str(into, "\r\n");
			column = 0;
		}
	}
	for (size_t i = all.len; padded && i % 3; i++)
		buf_put_char(into, '=');
	buf_fini(&all);
}

#define SPELL_BASE64(name, prefix, tail, padded, broken)                    \
	static void spell_##name(struct buf *into, struct span word)        \
	{                                                                   \
		spell_any_base64(into, prefix, word, tail, padded, broken); \
	}

SPELL_BASE64(base64, "", "+/", true, 0)
SPELL_BASE64(base64_1, "x", "+/", true, 0)
SPELL_BASE64(base64_2, "xy", "+/", false, 0)
SPELL_BASE64(base64_url, "", "-_", false, 0)
SPELL_BASE64(base64_url_1, "\xff", "-_", true, 0)
SPELL_BASE64(base64_url_2, "\xff\xff", "-_", false, 0)
SPELL_BASE64(base64_lines, "", "+/", true, 19)
SPELL_BASE64(base64_basic, "x-access-token:", "+/", true, 0)

static void spell_base64_percent(struct buf *into, struct span word)
{
	struct buf text = BUF_INIT(1 << 20);

	spell_any_base64(&text, "u:", word, "+/", true, 0);
	for (size_t i = 0; i < text.len; i++)
		if (strchr("+/=", text.ptr[i]))
			buf_putf(into, "%%%02X", (unsigned int)(uint8_t)text.ptr[i]);
		else
			buf_put_char(into, text.ptr[i]);
	buf_fini(&text);
}

static const struct spelling spellings_all[] = {
	{"plain", spell_plain, true},
	{"percent", spell_percent, true},
	{"percent, lower case", spell_percent_lower, true},
	{"percent here and there", spell_percent_some, false},
	{"percent, the last only", spell_percent_last, false},
	{"percent twice", spell_percent_twice, true},
	{"JSON", spell_json, true},
	{"JSON, upper case", spell_json_upper, true},
	{"JSON here and there", spell_json_some, false},
	{"JSON in JSON", spell_json_in_json, true},
	{"JSON's slash", spell_slash, false},
	{"\\x", spell_backslash_x, true},
	{"octal", spell_octal, true},
	{"HTML, decimal", spell_html_decimal, true},
	{"HTML, hex", spell_html_hex, true},
	{"quoted printable", spell_quoted_printable, true},
	{"hex", spell_hex, true},
	{"hex, upper case", spell_hex_upper, true},
	{"hex with colons", spell_hex_colons, true},
	{"hex in lines", spell_hex_lines, true},
	{"UTF-16, little endian", spell_utf16le, true},
	{"UTF-16, big endian", spell_utf16be, true},
	{"base64", spell_base64, false},
	{"base64 behind one byte", spell_base64_1, false},
	{"base64 behind two", spell_base64_2, false},
	{"base64 of URLs", spell_base64_url, false},
	{"base64 of URLs behind one", spell_base64_url_1, false},
	{"base64 of URLs behind two", spell_base64_url_2, false},
	{"base64 in lines", spell_base64_lines, false},
	{"Basic", spell_base64_basic, false},
	{"base64 in a query", spell_base64_percent, false},
};

#endif
