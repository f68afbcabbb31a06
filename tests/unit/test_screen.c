/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of a screen makes another terminal show the same: whatever went to the first, a second
 * one that is fed the picture gives the same picture again.
 */
#include "cmocka_lead.h"

#include "modes.h"
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct span text_span(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static void paint_after(struct span bytes, uint64_t rows, uint64_t columns, struct buf *into)
{
	struct screen *s = screen_new(rows, columns);

	assert_non_null(s);
	screen_feed(s, bytes);
	screen_paint(s, into);
	screen_free(s);
	assert_int_equal(buf_error(into), 0);
}

static void assert_same_again(struct span bytes, uint64_t rows, uint64_t columns)
{
	_cleanup_buf_ struct buf first = BUF_INIT(SCREEN_PICTURE_MAX);
	_cleanup_buf_ struct buf second = BUF_INIT(SCREEN_PICTURE_MAX);

	paint_after(bytes, rows, columns, &first);
	paint_after(buf_span(&first), rows, columns, &second);
	if (first.len != second.len || memcmp(first.ptr, second.ptr, first.len) != 0) {
		size_t at = 0;

		while (at < first.len && at < second.len && first.ptr[at] == second.ptr[at])
			at++;
		print_message("# %d x %d, from byte %zu\n# first:  ", (int)rows, (int)columns, at);
		for (size_t i = at < 40 ? 0 : at - 40; i < at + 40 && i < first.len; i++)
			print_message(first.ptr[i] >= 0x20 && first.ptr[i] < 0x7f ? "%c"
										  : "\\x%02x",
				      (unsigned char)first.ptr[i]);
		print_message("\n# second: ");
		for (size_t i = at < 40 ? 0 : at - 40; i < at + 40 && i < second.len; i++)
			print_message(second.ptr[i] >= 0x20 && second.ptr[i] < 0x7f ? "%c"
										    : "\\x%02x",
				      (unsigned char)second.ptr[i]);
		print_message("\n");
	}
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.ptr, second.ptr, first.len);
}

static bool shows(const char *bytes, const char *words)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SCREEN_PICTURE_MAX);

	paint_after(text_span(bytes), 24, 80, &b);
	return memmem(b.ptr, b.len, words, strlen(words)) != NULL;
}

static void test_what_is_there_is_shown(void **state)
{
	(void)state;
	assert_true(shows("hello", "hello"));
	assert_true(shows("hello\x1b[2J\x1b[Hgone", "gone"));
	assert_false(shows("hello\x1b[2J\x1b[Hgone", "hello"));
	assert_true(shows("a\r\nb", "\x1b[2;1Hb"));
	assert_true(shows("\x1b[31mred", ";31m"));
	assert_true(shows("ab\x1b[4bc", "abbbbbc"));
	assert_true(shows("\x1b[999999999bx", "x"));
	assert_true(shows("\x1b[38;2;1;2;3mrgb", ";38;2;1;2;3m"));
	assert_true(shows("\x1b[48;5;200mi", ";48;5;200m"));
	assert_true(shows("\x1b[1;3;4;7mx", "\x1b[0;1;3;4;7m"));
	assert_true(shows("\xc3\xa4x", "\xc3\xa4\x1b[1;2Hx"));
	assert_true(shows("\xf0\x9f\x90\x9ax", "\xf0\x9f\x90\x9a\x1b[1;3Hx"));
	assert_true(shows("x\x1b[5;7H", "\x1b[5;7H\x1b[?25h"));
}

static void test_the_other_screen(void **state)
{
	(void)state;
	assert_true(shows("main\x1b[?1049hother", "\x1b[?1049h"));
	assert_true(shows("main\x1b[?1049hother", "other"));
	assert_false(shows("main\x1b[?1049hother", "main"));
	assert_true(shows("main\x1b[?1049hother\x1b[?1049l", "main"));
	assert_false(shows("main\x1b[?1049hother\x1b[?1049l", "\x1b[?1049h"));
}

static void test_modes_are_said_again(void **state)
{
	static const char *const on[] = {"\x1b[?1h",    "\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h",
					 "\x1b[?1004h", "\x1b[?1006h", "\x1b[?2004h", "\x1b[?7l",
					 "\x1b=",       "\x1b[4 q",    "\x1b[?25l"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(on); i++) {
		char reset[64];

		assert_true(shows(on[i], on[i]));
		(void)snprintf(reset, sizeof(reset),
			       "%s\x1b"
			       "c",
			       on[i]);
		/* The picture itself turns wrapping off and on. */
		if (i != 7)
			assert_false(shows(reset, on[i]));
	}
	assert_true(shows("\x1b[?1000;1006;2004h", "\x1b[?2004h"));
	assert_false(shows("\x1b[?2004h\x1b[?2004l", "\x1b[?2004h"));
	/* In a string it is not a mode. */
	assert_false(shows("\x1b]0;\x1b[?2004h", "\x1b[?2004h\x1b[?2004h"));
	assert_false(shows("\x1bP+q[?2004h\x1b\\", "\x1b[?2004h"));
}

/* Nothing that a cell can hold comes out as a control. */
static void test_no_controls_in_cells(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SCREEN_PICTURE_MAX);
	const char *left = NULL;

	(void)state;
	paint_after(
		text_span("\xc2\x9b"
			  "31m\x1b]52;c;aGVsbG8=\x07\x1b]0;title\x07\x1b[21t\x05\x1bP$q\"p\x1b\\"),
		24, 80, &b);
	for (left = b.ptr; left < b.ptr + b.len; left++)
		assert_false((*left == 0x1b && left[1] == ']') || *left == 0x07 || *left == 0x05 ||
			     (*left == 0x1b && left[1] == 'P'));
	assert_null(memmem(b.ptr, b.len, "21t", 3));
}

static void test_answers(void **state)
{
	struct screen *s = screen_new(24, 80);
	char answer[64];

	(void)state;
	screen_feed(s, text_span("\x1b[3;4H\x1b[6n"));
	size_t len = screen_take_answers(s, answer, sizeof(answer));

	assert_int_equal(len, 6);
	assert_memory_equal(answer, "\x1b[3;4R", 6);
	assert_int_equal(screen_take_answers(s, answer, sizeof(answer)), 0);
	screen_free(s);
}

static void test_sizes_are_bounded(void **state)
{
	static const uint64_t sizes[][2] = {
		{0, 0}, {1, 1}, {1, 500}, {100000, 3}, {UINT64_MAX, UINT64_MAX}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sizes); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(SCREEN_PICTURE_MAX);
		struct screen *s = screen_new(sizes[i][0], sizes[i][1]);

		screen_feed(s, text_span("abc\r\ndef\x1b[10;10Hx"));
		screen_resize(s, sizes[i][1], sizes[i][0]);
		screen_feed(s, text_span("\x1b[?1049habc\x1b[999;999Hx\x1b[?1049l"));
		screen_resize(s, 24, 80);
		screen_paint(s, &b);
		assert_int_equal(buf_error(&b), 0);
		screen_free(s);
	}
}

/* Pieces of what programs write, in any order. */
static const char *const pieces[] = {
	"hello ",
	"\r\n",
	"\x1b[H",
	"\x1b[2J",
	"\x1b[K",
	"\x1b[1;31m",
	"\x1b[0m",
	"\x1b[38;5;99m",
	"\x1b[48;2;9;8;7m",
	"\x1b[7m",
	"\x1b[12;40H",
	"\x1b[3;9r",
	"\x1b[r",
	"\x1bM",
	"\x1b[2L",
	"\x1b[3M",
	"\x1b[4P",
	"\x1b[5@",
	"\x1b[?1049h",
	"\x1b[?1049l",
	"\x1b[?25l",
	"\x1b[?25h",
	"\x1b[?2004h",
	"\x1b[?1006h",
	"\xc3\xa9",
	"\xe6\x97\xa5",
	"\xf0\x9f\x98\x80",
	"\t",
	"\b",
	"\x1b[4 q",
	"\x1b(0lqk\x1b(B",
	"\x1b[?7l",
	"\x1b[?7h",
	"0123456789",
	"\x1b[5X",
	"\x1b[2S",
	"\x1b[2T",
	"\x1b"
	"7",
	"\x1b"
	"8",
	"\x1b[99C",
	"\x1b[4m",
	"\x1b[9m",
	"\x1b[21m",
	"\x1b[?5h",
};

static void test_any_screen(void **state)
{
	const char *said = getenv("BAWN_TEST_SEED");
	unsigned int seed = said ? (unsigned int)strtoul(said, NULL, 10) : (unsigned int)time(NULL);

	(void)state;
	(void)printf("# seed %u\n", seed);
	srandom(seed);
	for (int round = 0; round < 400; round++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
		long count = random() % 200;

		for (long i = 0; i < count; i++) {
			if (random() % 8 == 0)
				buf_put_char(&b, (char)(random() % 128));
			else
				buf_put_str(&b, pieces[(size_t)random() % BAWN_ARRAY_SIZE(pieces)]);
		}
		/* What the first was in the middle of is not in a picture: it is ended. */
		buf_put_str(&b, "\x18\x1b\\");
		assert_same_again(buf_span(&b), 1 + (uint64_t)random() % 40,
				  2 + (uint64_t)random() % 120);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_there_is_shown),
		cmocka_unit_test(test_the_other_screen),
		cmocka_unit_test(test_modes_are_said_again),
		cmocka_unit_test(test_no_controls_in_cells),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_sizes_are_bounded),
		cmocka_unit_test(test_any_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
