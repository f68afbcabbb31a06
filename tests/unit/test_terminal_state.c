/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box left on the user's terminal: undone by one answer, whatever it was and however its
 * output is cut; and what it asked is known.
 */
#include "cmocka_lead.h"

#include "terminal_state.h"

static void feed(struct terminal_state *s, const char *text)
{
	terminal_state_feed(s, (const uint8_t *)text, strlen(text));
}

static void test_plain_text_stays_plain(void **state)
{
	_cleanup_buf_ struct buf undo = BUF_INIT(2048);
	struct terminal_state s = {.state = 0};

	(void)state;
	feed(&s, "plain text,\ttabs\b\a and\v\flines\r\n");
	terminal_state_undo(&s, true, &undo);
	assert_int_equal(undo.len, 0);
}

/* Whatever came, and however it was written, the same is turned off. */
static void test_all_is_turned_off(void **state)
{
	static const char *const left[] = {
		"\033[?1000h",
		"\033[?10\17700h",
		"\033[?7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;7;1000h",
		"\033[?1000h\033[?1000s\033[?1000l\033[?1000r",
		"\033]2;never ended",
		"\033X",
		"\033^",
		"\033_G",
		"\033Pq",
		"\033",
		"\033[?100",
		"\033[8m",
		"\033(0",
		"\016",
		"caf\303",
		"\302\233?1000h",
		"\233?1000h",
	};
	static const char *const off[] = {
		"\030\033\\",  "\033[4i",     "\033[0m",     "\033(B",      "\017",
		"\033[?9l",    "\033[?1000l", "\033[?1002l", "\033[?1003l", "\033[?1006l",
		"\033[?2004l", "\033[?1004l", "\033[?47l",   "\033[<99u",   "\033[>4m",
		"\033[r",      "\033[?7h",    "\033[?25h",   "\033>",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(left); i++) {
		_cleanup_buf_ struct buf undo = BUF_INIT(2048);
		struct terminal_state s = {.state = 0};

		feed(&s, left[i]);
		terminal_state_undo(&s, true, &undo);
		assert_int_equal(undo.error, 0);
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(off); k++)
			if (!strstr(buf_str(&undo), off[k]))
				fail_msg("after case %zu: no %s", i, off[k] + 1);
		/* Nothing moves the cursor or clears: it is put back, or only then asked for. */
		assert_null(strstr(buf_str(&undo), "\033[?1049l"));
		assert_null(strstr(buf_str(&undo), "\033]104"));
		undo.len = 0;
		terminal_state_undo(&s, true, &undo);
		assert_int_equal(undo.len, 0);
	}
}

static void undoes(const char *text, bool whole, const char *word, bool want)
{
	_cleanup_buf_ struct buf undo = BUF_INIT(2048);
	struct terminal_state s = {.state = 0};

	feed(&s, text);
	terminal_state_undo(&s, whole, &undo);
	assert_int_equal(strstr(buf_str(&undo), word) != NULL, want);
}

/* What would be wrong where it was not done: the way back from the other screen, colours. */
static void test_only_where_it_was_done(void **state)
{
	(void)state;
	undoes("\033[?1049h", true, "\033[?1049l", true);
	undoes("\033[?10\17749h", true, "\033[?1049l", true);
	undoes("\033[?1049h\033[?1049l", true, "\033[?1049l", false);
	undoes("\033]10;#000000\a", true, "\033]110", true);
	undoes("\033]4;0;#000000\033\\", true, "\033]104", true);
	undoes("\033]P0000000", true, "\033]R", true);
	undoes("\033\177]11;#000000", true, "\033]111", true);
	undoes("\033]2;title\a", true, "\033]104", false);
	/* Another program has the terminal: its modes stay, our words are words. */
	undoes("\033[?1000h\033[8m", false, "\033[?1000l", false);
	undoes("\033[?1000h\033[8m", false, "\033[0m", true);
}

static void test_questions(void **state)
{
	static const char *const asks[] = {
		"\033[c",
		"\033[>c",
		"\033[6n",
		"\033[?2026$p",
		"\033]52;c;?\a",
		"\033]11;?\033\\",
		"\033P+q544e\033\\",
		"\005",
		"\302\233c",
		"\033[21t",
		"\033Z",
		"\033\177[c",
		"\033[5\177n",
		"\033[0;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1c",
		"\033[?1;1;0S",
		"\033[&u",
		"\033['|",
		"\033]1337;ReportVariable=bmFtZQ==\a",
		"\033]5522;type=read;x\033\\",
		"\033]99;i=1:p=?;\033\\",
		"\033Ptmux;\033\033[c\033\\"};
	static const char *const not [] = {"text?\r\n",
					   "\033[31m",
					   "\033[2J",
					   "\033[?25h",
					   "\033]0;a title\a",
					   "c 6n",
					   "\033(B\033[m",
					   "\033[?1049h\033[22;1H",
					   "\033]8;;http://a.test\033\\a\033]8;;\033\\"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(asks); i++) {
		struct terminal_state s = {.state = 0};

		feed(&s, asks[i]);
		assert_true(terminal_state_is_asked(&s));
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(not ); i++) {
		struct terminal_state s = {.state = 0};

		feed(&s, not [i]);
		assert_false(terminal_state_is_asked(&s));
	}
}

/* Bytes of which many matter, cut anywhere. */
static void test_however_it_is_cut(void **state)
{
	static const char alphabet[] = "\033\033\033[[[]]??;;hlcnum<>=1024006P_\a\\\302\233\237x";
	uint32_t random = 12345;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint8_t bytes[64];
		struct terminal_state whole = {.state = 0}, cut = {.state = 0};

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = (uint8_t)alphabet[(random >> 16) % (sizeof(alphabet) - 1)];
		}
		terminal_state_feed(&whole, bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes); i++)
			terminal_state_feed(&cut, bytes + i, 1);
		assert_int_equal(whole.more, cut.more);
		assert_int_equal(whole.other, cut.other);
		assert_int_equal(whole.state, cut.state);
		assert_int_equal(whole.colours, cut.colours);
		assert_int_equal(whole.asked_ms != 0, cut.asked_ms != 0);
	}
}

/* What terminals differ in is undone where it was set, and nowhere else. */
static void test_what_was_set_comes_back(void **state)
{
	static const struct {
		const char *set, *back;
	} rows[] = {
		{"\033[?6h", "\033[?6l"},
		{"\033[4 q", "\033[0 q"},
		{"\033[?1007s\033[?1007h", "\033[?1007r"},
		{"\033[22;0t\033]2;title\033\\", "\033[23;0t"},
		{"\033]8;;https://example.org/\033\\", "\033]8;;\033\\"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf undo = BUF_INIT(2048);
		struct terminal_state s = {.state = 0};

		feed(&s, rows[i].set);
		terminal_state_undo(&s, true, &undo);
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(rows); n++)
			if (!strstr(buf_str(&undo), rows[n].back) != (i != n))
				fail_msg("after \"%s\": \"%s\"", rows[i].set + 1, rows[n].back + 1);
	}
}

/* What the terminal reports unasked may be on its way when that is turned off. */
static void test_reports_are_waited_for(void **state)
{
	static const char *const reporting[] = {"\033[?1000h", "\033[?1003;1006h", "\033[?1004h"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(reporting); i++) {
		_cleanup_buf_ struct buf undo = BUF_INIT(2048);
		struct terminal_state s = {.state = 0};

		feed(&s, reporting[i]);
		assert_false(terminal_state_is_asked(&s));
		terminal_state_undo(&s, true, &undo);
		assert_true(terminal_state_is_asked(&s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_text_stays_plain),
		cmocka_unit_test(test_all_is_turned_off),
		cmocka_unit_test(test_only_where_it_was_done),
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_however_it_is_cut),
		cmocka_unit_test(test_what_was_set_comes_back),
		cmocka_unit_test(test_reports_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
