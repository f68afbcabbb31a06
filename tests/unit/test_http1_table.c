/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of ambiguities, tests/data/http1.tsv, against the readers of a request's head and
 * body: what passes is read to its last byte, what is refused is refused wherever it is cut.
 */
#include "cmocka_lead.h"

#include "buf.h"
#include "encode.h"
#include "fd.h"
#include "http_body.h"
#include "http_head.h"

#include <fcntl.h>
#include <stdio.h>

enum { ROWS_LEAST = 300 };

static const char *source_root;

/* One escape at *at, behind its backslash. */
static void unescape_one(const char **at, struct buf *into)
{
	char c = *(*at)++;

	if (c == 'r' || c == 'n' || c == 't' || c == '\\') {
		buf_put_char(into, c == 'r' ? '\r' : c == 'n' ? '\n' : c == 't' ? '\t' : '\\');
	} else if (c == 'x') {
		buf_put_char(into, (char)((unsigned int)decode_hex_digit((uint8_t)(*at)[0]) << 4 |
					  (unsigned int)decode_hex_digit((uint8_t)(*at)[1])));
		*at += 2;
	} else {
		bool text = c == '(';
		char *end = NULL;
		unsigned long count = strtoul(*at, &end, 10);
		struct buf unit = BUF_INIT(64);

		assert_true((text || c == '{') && *end == (text ? ')' : '}'));
		for (*at = end + 1; text && **at != ';';)
			if (**at == '\\') {
				++*at;
				unescape_one(at, &unit);
			} else {
				buf_put_char(&unit, *(*at)++);
			}
		if (!text)
			buf_put_char(&unit, **at);
		++*at;
		for (unsigned long i = 0; i < count; i++)
			buf_put(into, unit.ptr, unit.len);
		buf_fini(&unit);
	}
}

static void unescape(const char *text, const char *end, struct buf *into)
{
	buf_clear(into);
	while (text < end)
		if (*text == '\\') {
			text++;
			unescape_one(&text, into);
		} else {
			buf_put_char(into, *text++);
		}
	assert_int_equal(buf_error(into), 0);
}

/* NULL: all of it passed; else why not. */
static const char *read_request(struct span bytes, size_t piece)
{
	static struct http_head h;
	size_t shown = 0;

	memset(&h, 0, sizeof(h));
	enum feed state = FEED_MORE;

	while (state == FEED_MORE && shown < bytes.len) {
		shown = shown + piece < bytes.len ? shown + piece : bytes.len;
		state = http_head_read(&h, (struct span){bytes.ptr, shown});
	}
	if (state != FEED_DONE)
		return h.why ? h.why : "the head does not end";
	struct http_body b = http_body_of(&h);
	size_t at = h.len;

	while (b.state == FEED_MORE && at < bytes.len) {
		size_t used = 0, n = piece < bytes.len - at ? piece : bytes.len - at;

		(void)http_body_feed(&b, (struct span){bytes.ptr + at, n}, &used);
		at += used;
	}
	if (b.state != FEED_DONE)
		return b.why ? b.why : "the body does not end";
	return at == bytes.len ? NULL : "something follows";
}

static void test_table(void **state)
{
	char path[512];
	struct buf table = BUF_INIT(1 << 20), bytes = BUF_INIT(1 << 20);
	size_t rows = 0, wrong = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/tests/data/http1.tsv", source_root);
	assert_int_equal(fd_read_file_at(AT_FDCWD, path, &table), 0);
	for (const char *line = buf_str(&table); *line;) {
		const char *end = strchr(line, '\n'),
			   *tab = memchr(line, '\t', (size_t)(end - line));

		assert_non_null(end);
		if (line[0] != '#' && tab && strncmp(line, "bytes\t", 6) != 0) {
			bool pass = strncmp(tab + 1, "pass\t", 5) == 0;

			assert_true(pass || strncmp(tab + 1, "refuse\t", 7) == 0);
			unescape(line, tab, &bytes);
			for (size_t piece = 1; piece <= bytes.len; piece += 1 + piece * 7) {
				const char *why = read_request(buf_span(&bytes), piece);

				if (!why == pass)
					continue;
				wrong++;
				print_message("%.*s: %s (pieces of %zu)\n", (int)(end - tab - 1),
					      tab + 1, why ? why : "it passed", piece);
				break;
			}
			rows++;
		}
		line = end + 1;
	}
	assert_int_equal(wrong, 0);
	assert_true(rows >= ROWS_LEAST);
	buf_fini(&table);
	buf_fini(&bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

	source_root = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests_name("http1_table", tests, NULL, NULL);
}
