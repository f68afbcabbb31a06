/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include "error.h"
#include "fd.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Code points that change how their neighbours look, or are not seen at all:
 * bidi controls, zero-width and format characters (all of Unicode's category
 * Cf), variation selectors, the tag block, line and paragraph separators,
 * private use.
 */
static const struct {
	uint32_t first, last;
} text_hidden[] = {
	{0x0000, 0x001f},    {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
	{0x0600, 0x0605},    {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},
	{0x0890, 0x0891},    {0x08e2, 0x08e2},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
	{0x180b, 0x180f},    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
	{0x3164, 0x3164},    {0xd800, 0xf8ff},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
	{0xffa0, 0xffa0},    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
	{0x13430, 0x1343f},  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	{0xf0000, 0x10ffff},
};

bool text_is_hidden(uint32_t cp)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(text_hidden); i++)
		if (cp >= text_hidden[i].first && cp <= text_hidden[i].last)
			return true;
	return false;
}

size_t text_utf8(struct span s, uint32_t *ret_code_point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t lead = s.ptr[0];
	size_t len = lead < 0x80             ? 1
		     : (lead & 0xe0) == 0xc0 ? 2
		     : (lead & 0xf0) == 0xe0 ? 3
		     : (lead & 0xf8) == 0xf0 ? 4
					     : 0;
	if (len == 0 || len > s.len)
		return 0;
	uint32_t cp = len == 1 ? lead : lead & (0x7fu >> len);

	for (size_t i = 1; i < len; i++) {
		if ((s.ptr[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s.ptr[i] & 0x3fu);
	}
	if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	*ret_code_point = cp;
	return len;
}

static void text_escape_keeping(struct buf *into, struct span s, const char *keep)
{
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 1 && cp && strchr(keep, (int)cp))
			buf_put_char(into, (char)cp);
		else if (len == 0)
			buf_putf(into, "\\x%02x", s.ptr[0]);
		else if (!text_is_hidden(cp))
			buf_put(into, s.ptr, len);
		else if (cp < 0x80)
			buf_putf(into, "\\x%02x", cp);
		else
			buf_putf(into, "\\u{%x}", cp);
		s.ptr += len ? len : 1;
		s.len -= len ? len : 1;
	}
}

void text_escape(struct buf *into, struct span s)
{
	text_escape_keeping(into, s, "");
}

void text_name(struct buf *into, struct span s)
{
	static const char odd[] = " \"\\";
	bool quoted = false;

	for (size_t i = 0; i < s.len && !quoted; i++)
		quoted = s.ptr[i] && strchr(odd, s.ptr[i]);
	if (!quoted) {
		text_escape(into, s);
		return;
	}
	buf_put_char(into, '"');
	while (s.len > 0) {
		size_t n = 0;

		while (n < s.len && s.ptr[n] != '"' && s.ptr[n] != '\\')
			n++;
		text_escape(into, (struct span){s.ptr, n});
		if (n < s.len)
			buf_putf(into, "\\%c", s.ptr[n++]);
		s = span_skip(s, n);
	}
	buf_put_char(into, '"');
}

struct text text_open(int fd)
{
	struct text t = {.fd = fd, .tty = isatty(fd) == 1, .width = 80};
	const char *no_color = getenv("NO_COLOR");
	const char *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");
	struct winsize ws;

	t.colour = t.tty && term && !str_equal(term, "dumb");
	if (force && *force && !str_equal(force, "0"))
		t.colour = true;
	if (no_color && *no_color)
		t.colour = false;
	if (t.tty && ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 20)
		t.width = ws.ws_col;
	return t;
}

enum { TEXT_KEPT = 64 << 10 }; /* bytes */

/* The -errno of the first write to standard output that failed; 0: none has. */
static int text_lost;

static void text_write_now(const struct text *t, const struct buf *b)
{
	int r = fd_write_all(t->fd, buf_str(b), b->len);

	/* EPIPE: the reader of our output has gone, which is no error of ours. */
	if (r < 0 && r != -EPIPE && t->fd == STDOUT_FILENO && text_lost == 0)
		text_lost = r;
}

void text_flush(const struct text *t)
{
	if (!t->kept)
		return;
	text_write_now(t, t->kept);
	buf_clear(t->kept);
}

void text_write(const struct text *t, const struct buf *b)
{
	if (!t->kept) {
		text_write_now(t, b);
		return;
	}
	if (t->kept->len + b->len > TEXT_KEPT)
		text_flush(t);
	buf_put(t->kept, b->ptr, b->len);
	if (buf_error(t->kept)) {
		text_flush(t);
		text_write_now(t, b);
	}
}

int text_end(int status, int failed)
{
	const struct text err = text_open(STDERR_FILENO);

	if (text_lost == 0)
		return status;
	text_printf(&err, "bawn: standard output could not be written: %s\n",
		    error_words(text_lost));
	return status == 0 ? failed : status;
}

static const char *const text_on[] = {
	[TEXT_PLAIN] = "",        [TEXT_STRONG] = "\033[1m", [TEXT_FAINT] = "\033[2m",
	[TEXT_GOOD] = "\033[32m", [TEXT_BAD] = "\033[1;31m", [TEXT_WARN] = "\033[33m",
};

static void text_put_keeping(const struct text *t, struct buf *into, enum text_style style,
			     struct span s, const char *keep)
{
	bool styled = t->colour && style != TEXT_PLAIN;

	if (styled)
		buf_put_str(into, text_on[style]);
	text_escape_keeping(into, s, keep);
	if (styled)
		buf_put_str(into, "\033[0m");
}

void text_put(const struct text *t, struct buf *into, enum text_style style, struct span s)
{
	text_put_keeping(t, into, style, s, "\t");
}

BAWN_PRINTF(3, 0)
static void text_vprint(const struct text *t, enum text_style style, const char *fmt, va_list ap)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(1u << 20);
	int n = vasprintf(&line, fmt, ap);

	if (n < 0) {
		line = NULL;
		return;
	}
	text_put_keeping(t, &out, style, (struct span){(const uint8_t *)line, (size_t)n}, "\n\t");
	text_write(t, &out);
}

void text_printf(const struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprint(t, TEXT_PLAIN, fmt, ap);
	va_end(ap);
}

void text_styled(const struct text *t, enum text_style style, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprint(t, style, fmt, ap);
	va_end(ap);
}

size_t text_columns(uint32_t cp)
{
	bool wide = cp >= 0x1100 &&
		    (cp <= 0x115f || (cp >= 0x2e80 && cp <= 0xa4cf) ||
		     (cp >= 0xac00 && cp <= 0xd7a3) || (cp >= 0xf900 && cp <= 0xfaff) ||
		     (cp >= 0xfe30 && cp <= 0xfe6f) || (cp >= 0xff00 && cp <= 0xff60) ||
		     (cp >= 0x1f300 && cp <= 0x1faff) || (cp >= 0x20000 && cp <= 0x3fffd));

	return wide ? 2 : 1;
}

void text_cut(struct buf *b, size_t from, size_t columns)
{
	size_t at = from, used = 0, fits = from;

	while (at < b->len) {
		uint32_t cp = 0;
		size_t len =
			text_utf8((struct span){(const uint8_t *)b->ptr + at, b->len - at}, &cp);

		len = len ? len : 1;
		used += text_columns(cp);
		if (used > columns) {
			b->len = columns > 3 ? fits : from;
			b->ptr[b->len] = '\0';
			buf_put_str(b, columns > 3 ? "..." : "");
			return;
		}
		at += len;
		if (used + 3 <= columns)
			fits = at;
	}
}
