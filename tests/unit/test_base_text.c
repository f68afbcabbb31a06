/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TT-04: whatever name an agent or a repository chose, nothing that a terminal
 * obeys leaves the printer.  More than 400 hostile strings are made from a table
 * of payloads, each put in five places, and the bytes that come out are judged by
 * a decoder of this file's own, which shares no code and no table with text.c.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "json.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAYLOAD(s)                                  \
	{                                           \
		(const uint8_t *)(s), sizeof(s) - 1 \
	}

static const struct span payloads[] = {
	/* OSC: clipboard, title, link, colour queries, notifications, shell integration */
	PAYLOAD("\033]52;c;ZXZpbA==\007"),
	PAYLOAD("\033]52;p;?\033\\"),
	PAYLOAD("\033]0;owned\007"),
	PAYLOAD("\033]2;owned\033\\"),
	PAYLOAD("\033]8;;http://evil.test\033\\click\033]8;;\033\\"),
	PAYLOAD("\033]10;?\007"),
	PAYLOAD("\033]11;?\033\\"),
	PAYLOAD("\033]4;1;?\007"),
	PAYLOAD("\033]777;notify;a;b\007"),
	PAYLOAD("\033]133;A\007"),
	PAYLOAD("\033]1337;File=inline=1:AAAA\007"),
	PAYLOAD("\033]unterminated"),
	/* CSI: reports that type on stdin, cursor and screen tricks, modes */
	PAYLOAD("\033[21t"),
	PAYLOAD("\033[20t"),
	PAYLOAD("\033[18t"),
	PAYLOAD("\033[6n"),
	PAYLOAD("\033[c"),
	PAYLOAD("\033[>c"),
	PAYLOAD("\033[>q"),
	PAYLOAD("\033[2J\033[H"),
	PAYLOAD("\033[1A\033[2K"),
	PAYLOAD("\033[8m"),
	PAYLOAD("\033[?1049h"),
	PAYLOAD("\033[?25l"),
	PAYLOAD("\033[?2004h"),
	PAYLOAD("\033[201~"),
	PAYLOAD("\033[4h"),
	PAYLOAD("\033[3;5r"),
	PAYLOAD("\033[38;2;0;0;0m"),
	PAYLOAD("\033["),
	/* DCS, APC, PM, SOS, and the short escapes */
	PAYLOAD("\033P$q\"p\033\\"),
	PAYLOAD("\033P+q544e\033\\"),
	PAYLOAD("\033Pq#0;2;0;0;0\033\\"),
	PAYLOAD("\033_Gf=32;AAAA\033\\"),
	PAYLOAD("\033^pm\033\\"),
	PAYLOAD("\033Xsos\033\\"),
	PAYLOAD("\033c"),
	PAYLOAD("\033Z"),
	PAYLOAD("\033(0"),
	PAYLOAD("\033#8"),
	PAYLOAD("\033"),
	PAYLOAD("\033\033\033"),
	/* C1 as raw bytes, and as UTF-8 */
	PAYLOAD("\233"
		"21t"),
	PAYLOAD("\235"
		"0;owned\234"),
	PAYLOAD("\220q\234"),
	PAYLOAD("\237G\234"),
	PAYLOAD("\205"),
	PAYLOAD("\302\233"
		"21t"),
	PAYLOAD("\302\235"
		"0;owned\302\234"),
	PAYLOAD("\302\220q\302\234"),
	PAYLOAD("\302\205"),
	PAYLOAD("\302\200"),
	/* C0: overwrite, bell, shift, flow control, end of input, delete, NUL */
	PAYLOAD("\r"),
	PAYLOAD("\rroot@host:~# "),
	PAYLOAD("\b\b\b\b"),
	PAYLOAD("\007"),
	PAYLOAD("\016"),
	PAYLOAD("\017"),
	PAYLOAD("\021\023"),
	PAYLOAD("\004"),
	PAYLOAD("\032"),
	PAYLOAD("\013\014"),
	PAYLOAD("\177"),
	PAYLOAD("\0hidden"),
	/* bidi: overrides, embeddings, isolates, marks */
	PAYLOAD("\342\200\256gpj.exe"),
	PAYLOAD("\342\200\255"),
	PAYLOAD("\342\200\252\342\200\253\342\200\254"),
	PAYLOAD("\342\201\246\342\201\247\342\201\250\342\201\251"),
	PAYLOAD("\342\200\216\342\200\217"),
	PAYLOAD("\330\234"),
	/* unseen: zero width, joiners, soft hyphen, BOM, fillers, tags, selectors, separators */
	PAYLOAD("\342\200\213\342\200\214\342\200\215"),
	PAYLOAD("\302\255"),
	PAYLOAD("\357\273\277"),
	PAYLOAD("\343\205\244"),
	PAYLOAD("\357\276\240"),
	PAYLOAD("\342\201\240\342\201\244"),
	PAYLOAD("\363\240\201\201\363\240\201\277"),
	PAYLOAD("\357\270\217"),
	PAYLOAD("\342\200\250\342\200\251"),
	PAYLOAD("\341\240\216"),
	/* no UTF-8: overlong, surrogates, past the end, cut short, stray continuation, 0xfe 0xff */
	PAYLOAD("\300\233"),
	PAYLOAD("\340\200\233"),
	PAYLOAD("\360\200\200\233"),
	PAYLOAD("\355\240\200"),
	PAYLOAD("\364\220\200\200"),
	PAYLOAD("\342\200"),
	PAYLOAD("\360\237\230"),
	PAYLOAD("\200\200"),
	PAYLOAD("\376\377"),
	PAYLOAD("\370\210\200\200\200"),
};

enum { PLACES = 5 };

/* Alone, in front, behind, in the middle, twice with text between. */
static void hostile_put(struct buf *into, struct span payload, int place)
{
	if (place == 2 || place == 3)
		buf_put_str(into, "report-\303\251");
	buf_put(into, payload.ptr, payload.len);
	if (place == 1 || place == 3)
		buf_put_str(into, ".txt");
	if (place == 4) {
		buf_put_str(into, " and ");
		buf_put(into, payload.ptr, payload.len);
	}
}

static bool judge_code_point(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0xd800 && cp < 0xe000) ||
	    cp > 0x10ffff)
		return false;
	if (cp == 0xad || cp == 0x61c || cp == 0x180e || cp == 0x3164 || cp == 0xfeff ||
	    cp == 0xffa0)
		return false;
	if (cp >= 0x200b && cp <= 0x200f)
		return false;
	if (cp >= 0x2028 && cp <= 0x202e)
		return false;
	if (cp >= 0x2060 && cp <= 0x2069)
		return false;
	return !(cp >= 0xfe00 && cp <= 0xfe0f) && !(cp >= 0xe0000 && cp <= 0xe0fff);
}

/* Strict UTF-8 of nothing but what a person sees, and of the controls in `permitted`. */
static bool judge(struct span s, const char *permitted)
{
	for (size_t i = 0; i < s.len;) {
		uint8_t b = s.ptr[i];
		size_t more = b < 0x80   ? 0
			      : b < 0xc2 ? 9
			      : b < 0xe0 ? 1
			      : b < 0xf0 ? 2
			      : b < 0xf5 ? 3
					 : 9;
		uint32_t cp = more == 0 ? b : b & (0x3fu >> more);

		if (more > 3 || more >= s.len - i)
			return false;
		for (size_t n = 1; n <= more; n++) {
			if ((s.ptr[i + n] & 0xc0) != 0x80)
				return false;
			cp = cp << 6 | (s.ptr[i + n] & 0x3fu);
		}
		if (!(b != 0 && b < 0x20 && strchr(permitted, b)) && !judge_code_point(cp))
			return false;
		i += more + 1;
	}
	return true;
}

static void test_judge_can_say_no(void **state)
{
	(void)state;
	size_t refused = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(payloads); i++)
		refused += !judge(payloads[i], "");
	assert_int_equal(refused, BAWN_ARRAY_SIZE(payloads));
	assert_true(judge(span_of_str("plain caf\303\251 \360\237\220\246"), ""));
	assert_false(judge(span_of_str("two\nlines"), ""));
	assert_true(judge(span_of_str("two\nlines"), "\n\t"));
}

static void test_escape_lets_nothing_through(void **state)
{
	(void)state;
	size_t tried = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(payloads); i++) {
		for (int place = 0; place < PLACES; place++, tried++) {
			_cleanup_buf_ struct buf in = BUF_INIT(4096);
			_cleanup_buf_ struct buf out = BUF_INIT(16384);

			hostile_put(&in, payloads[i], place);
			text_escape(&out, buf_span(&in));
			assert_int_equal(buf_error(&out), 0);
			if (!judge(buf_span(&out), ""))
				fail_msg("payload %zu, place %d: %s", i, place, buf_str(&out));
		}
	}
	assert_true(tried >= 400);
}

static void test_json_lets_nothing_through(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(payloads); i++) {
		for (int place = 0; place < PLACES; place++) {
			_cleanup_buf_ struct buf in = BUF_INIT(4096);
			_cleanup_buf_ struct buf out = BUF_INIT(16384);
			struct json j = JSON_INIT(&out, false);

			hostile_put(&in, payloads[i], place);
			json_span(&j, buf_span(&in));
			assert_int_equal(buf_error(&out), 0);
			if (!judge(buf_span(&out), ""))
				fail_msg("payload %zu, place %d: %s", i, place, buf_str(&out));
		}
	}
}

/* What text_printf sent to the descriptor of t. */
static void written(const struct text *t, struct buf *into)
{
	assert_int_equal(lseek(t->fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(t->fd, into), 0);
	assert_int_equal(ftruncate(t->fd, 0), 0);
	assert_int_equal(lseek(t->fd, 0, SEEK_SET), 0);
}

static void test_printer_lets_nothing_through(void **state)
{
	(void)state;
	_cleanup_fd_ int fd = memfd_create("screen", MFD_CLOEXEC);
	const struct text t = {.fd = fd, .colour = false, .tty = false, .width = 80};

	assert_true(fd >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(payloads); i++) {
		for (int place = 0; place < PLACES; place++) {
			_cleanup_buf_ struct buf in = BUF_INIT(4096);
			_cleanup_buf_ struct buf out = BUF_INIT(16384);

			hostile_put(&in, payloads[i], place);
			text_printf(&t, "name\t%s\n", buf_str(&in));
			text_styled(&t, TEXT_BAD, "%s", buf_str(&in));
			written(&t, &out);
			if (!judge(buf_span(&out), "\n\t"))
				fail_msg("payload %zu, place %d: %s", i, place, buf_str(&out));
		}
	}
}

static void test_printer_colours_are_its_own(void **state)
{
	(void)state;
	_cleanup_fd_ int fd = memfd_create("screen", MFD_CLOEXEC);
	const struct text t = {.fd = fd, .colour = true, .tty = true, .width = 80};
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	text_styled(&t, TEXT_STRONG, "%s", "\033[0mfree");
	written(&t, &out);
	assert_string_equal(buf_str(&out), "\033[1m\\x1b[0mfree\033[0m");
}

static void expect_escape(const char *in, const char *want)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	text_escape(&out, span_of_str(in));
	assert_string_equal(buf_str(&out), want);
}

static void test_escape_is_readable(void **state)
{
	(void)state;
	expect_escape("", "");
	expect_escape("plain name.c", "plain name.c");
	expect_escape("caf\303\251 \360\237\220\246", "caf\303\251 \360\237\220\246");
	expect_escape("a\nb\tc", "a\\x0ab\\x09c");
	expect_escape("\033[31m", "\\x1b[31m");
	expect_escape("\342\200\256", "\\u{202e}");
	expect_escape("\302\233", "\\u{9b}");
	expect_escape("\377", "\\xff");
	/* Format characters of scripts: of hieroglyphs, Arabic, Syriac, Kaithi. */
	expect_escape("a\360\223\220\260b", "a\\u{13430}b");
	expect_escape("\360\223\220\277", "\\u{1343f}");
	expect_escape("\360\223\221\200", "\360\223\221\200");
	expect_escape("\330\200", "\\u{600}");
	expect_escape("\333\235", "\\u{6dd}");
	expect_escape("\334\217", "\\u{70f}");
	expect_escape("\340\242\220", "\\u{890}");
	expect_escape("\340\243\242", "\\u{8e2}");
	expect_escape("\360\221\202\275", "\\u{110bd}");
	expect_escape("\360\221\203\215", "\\u{110cd}");
}

/* Two names never look the same, and a name ends where it ends. */
static void test_a_name_is_one_word(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain/name.c", "plain/name.c"},
		{"f  x12", "\"f  x12\""},
		{"c -> d", "\"c -> d\""},
		{"real\033name", "real\\x1bname"},
		{"fake\\x1bname", "\"fake\\\\x1bname\""},
		{"say \"yes\"", "\"say \\\"yes\\\"\""},
		{"a\nallowed", "a\\x0aallowed"},
		{"\"", "\"\\\"\""},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(4096);

		text_name(&out, span_of_str(cases[i].in));
		assert_string_equal(buf_str(&out), cases[i].out);
	}
}

static void test_utf8_is_strict(void **state)
{
	static const struct span bad[] = {
		PAYLOAD("\300\257"),
		PAYLOAD("\301\277"),
		PAYLOAD("\340\237\277"),
		PAYLOAD("\360\217\277\277"),
		PAYLOAD("\364\220\200\200"),
		PAYLOAD("\342\202"),
		PAYLOAD("\342(\241"),
		PAYLOAD("\200"),
		PAYLOAD("\377"),
		PAYLOAD("\355\240\200"),
	};
	uint32_t cp = 0;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++)
		assert_int_equal(text_utf8(bad[i], &cp), 0);
	assert_int_equal(text_utf8(span_of_str("\360\237\220\246"), &cp), 4);
	assert_int_equal(cp, 0x1f426);
	assert_int_equal(text_utf8(span_of_str("\302\240"), &cp), 2);
	assert_int_equal(cp, 0xa0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge_can_say_no),
		cmocka_unit_test(test_escape_lets_nothing_through),
		cmocka_unit_test(test_json_lets_nothing_through),
		cmocka_unit_test(test_printer_lets_nothing_through),
		cmocka_unit_test(test_printer_colours_are_its_own),
		cmocka_unit_test(test_escape_is_readable),
		cmocka_unit_test(test_a_name_is_one_word),
		cmocka_unit_test(test_utf8_is_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
