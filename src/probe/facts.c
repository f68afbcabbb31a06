/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include "str.h"

#include <stdarg.h>
#include <stdio.h>

void facts_fini(struct facts *f)
{
	free(f->bytes);
	f->bytes = NULL;
	f->count = 0;
}

void facts_escape(struct buf *into, const char *value)
{
	for (const char *c = value; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte > ' ' - 1 && byte < 0x7f && byte != '%')
			buf_put_char(into, *c);
		else
			buf_putf(into, "%%%02x", byte);
	}
}

static int facts_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int facts_unescape(char *value)
{
	char *to = value;

	for (const char *from = value; *from; from++) {
		unsigned char byte = (unsigned char)*from;

		if (byte < ' ' || byte >= 0x7f)
			return -EBADMSG;
		if (byte != '%') {
			*to++ = *from;
			continue;
		}
		int high = facts_hex(from[1]);
		int low = high < 0 ? -1 : facts_hex(from[2]);

		if (low < 0 || (high == 0 && low == 0))
			return -EBADMSG;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

void facts_put(struct buf *into, const char *key, const char *value)
{
	buf_put_str(into, key);
	buf_put_char(into, '\t');
	facts_escape(into, value);
	buf_put_char(into, '\n');
}

void facts_putf(struct buf *into, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&value, fmt, ap);
	va_end(ap);
	if (n < 0) {
		value = NULL;
		into->error = -ENOMEM;
		return;
	}
	facts_put(into, key, value);
}

static int facts_parse_line(struct facts *f, char *line)
{
	char *tab = strchr(line, '\t');

	if (!tab || tab == line || f->count == FACTS_MAX)
		return -EBADMSG;
	*tab = '\0';
	f->items[f->count++] = (struct fact){line, tab + 1};
	return facts_unescape(tab + 1);
}

int facts_parse(struct span text, struct facts *ret_facts)
{
	ret_facts->count = 0;
	ret_facts->bytes = NULL;
	if (text.len > FACTS_BYTES_MAX || (text.len > 0 && memchr(text.ptr, '\0', text.len)))
		return -EBADMSG;
	char *bytes = malloc(text.len + 1);

	if (!bytes)
		return -ENOMEM;
	if (text.len > 0)
		memcpy(bytes, text.ptr, text.len);
	bytes[text.len] = '\0';
	ret_facts->bytes = bytes;
	for (char *line = bytes; *line;) {
		char *end = strchr(line, '\n');

		if (!end)
			return -EBADMSG;
		*end = '\0';
		int r = facts_parse_line(ret_facts, line);

		if (r < 0)
			return r;
		line = end + 1;
	}
	return 0;
}

const char *facts_nth(const struct facts *f, const char *key, size_t n)
{
	for (size_t i = 0; f && i < f->count; i++)
		if (str_equal(f->items[i].key, key) && n-- == 0)
			return f->items[i].value;
	return NULL;
}

const char *facts_get(const struct facts *f, const char *key)
{
	return facts_nth(f, key, 0);
}

int facts_u64(const struct facts *f, const char *key, uint64_t *ret_value)
{
	const char *value = facts_get(f, key);

	return value ? str_parse_u64(value, ret_value) : -ENOENT;
}

bool facts_path(const struct facts *facts, const char *text, char into[PATH_MAX])
{
	const char *in_home = str_after(text, "~");
	const char *key = str_after(text, "@");
	const char *head = in_home ? facts_get(facts, "home") : key ? facts_get(facts, key) : "";

	if (!head)
		return false;
	int n = snprintf(into, PATH_MAX, "%s%s", head, in_home ? in_home : key ? "" : text);

	return n > 0 && n < PATH_MAX;
}
