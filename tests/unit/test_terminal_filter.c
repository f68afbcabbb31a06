/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box writes reaches the user's terminal by class: what acts on the screen passes as it is,
 * the rest is left out and counted; whatever comes, and however it is cut.
 */
#include "cmocka_lead.h"

#include "terminal_filter.h"

#include <stdlib.h>

#define ST "\033\\"

static bool to_good_host(void *context, bool tls, struct span authority)
{
	(void)context;
	return tls && authority.len == 12 && memcmp(authority.ptr, "good.example", 12) == 0;
}

static struct terminal_filter filter(unsigned int allow)
{
	return (struct terminal_filter){.questions = true, .allow = allow, .link = to_good_host};
}

static void run(struct terminal_filter *f, const char *text, size_t len, struct buf *into)
{
	terminal_filter_feed(f, (const uint8_t *)text, len, into);
}

static void expect_with(unsigned int allow, const char *in, const char *out)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
	struct terminal_filter f = filter(allow);

	run(&f, in, strlen(in), &b);
	assert_string_equal(buf_str(&b), out);
}

static void test_what_passes_is_as_it_was(void **state)
{
	static const char *const same[] = {
		"plain text,\ttabs\b\a and\v\flines\r\n",
		"gr\303\274n \342\234\223 \360\237\230\200",
		"\033[1;31mred\033[0m \033[38;2;1;2;3m \033[4:3m \033[58:5:2m",
		"\033[H\033[2J\033[3J\033[K\033[1;1H\033[10A\033[5G\033[2;20r\033[3L\033[2M\033["
		"S\033[2T",
		"\0337\0338\033D\033M\033E\033H\033=\033>",
		"\033(0lqk\033(B\016\017\033)0",
		"\033[?1049h\033[?25l\033[?1;1000;1006h\033[?2004h\033[?1004h\033[?2026h\033[?"
		"2026l",
		"\033[>1u\033[<u\033[=1;2u\033[>4;2m\033[>4m\033[>4n",
		"\033[2 q\033[!p\033[4h\033[4l\033[?7l",
		/* questions */
		"\033[c\033[0c\033[>c\033[>0q\033[6n\033[5n\033[?6n\033[?996n\033[?u\033[?4m",
		"\033[?2026$p\033[20$p\033[14t\033[16t\033[18t",
		"\033]10;?" ST "\033]11;?" ST "\033]4;1;?;2;?" ST,
		"\033]8;;https://good.example/a?b=c" ST "x\033]8;;" ST,
		"\033]8;id=a1;https://good.example/" ST "x\033]8;;" ST,
		"\033[5b\033[1$z\033[?5W\033#8",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(same); i++)
		expect_with(0, same[i], same[i]);
}

struct left_out {
	const char *in;
	const char *out;
	enum terminal_class class;
};

static const struct left_out left_out[] = {
	{"\033]52;c;aGVsbG8=\a", "", TERMINAL_CLIPBOARD},
	{"\033]52;c;?" ST, "", TERMINAL_CLIPBOARD},
	{"\033]52;c;aGVsbG8=\030", "", TERMINAL_CLIPBOARD},
	{"\033]1337;CopyToClipboard=\a", "", TERMINAL_CLIPBOARD},
	{"\033]0;owned\a", "", TERMINAL_TITLE},
	{"\033]2;owned" ST, "", TERMINAL_TITLE},
	{"\302\2352;owned\302\234", "", TERMINAL_TITLE},
	{"\033kowned" ST, "", TERMINAL_TITLE},
	{"\033[21t", "", TERMINAL_TITLE},
	{"\033[22;0t", "", TERMINAL_TITLE},
	{"\033[>2t", "", TERMINAL_TITLE},
	{"\033]9;hello\a", "", TERMINAL_NOTICES},
	{"\033]777;notify;a;b\a", "", TERMINAL_NOTICES},
	{"\033]99;i=1;b" ST, "", TERMINAL_NOTICES},
	{"\033]4;1;#ff0000\a", "", TERMINAL_COLOURS},
	{"\033]11;#000000\a", "", TERMINAL_COLOURS},
	{"\033]P1ff0000text", "text", TERMINAL_COLOURS},
	{"\033]P1ffxtext", "xtext", TERMINAL_COLOURS},
	{"\033Pq#0;2;0;0;0~~" ST, "", TERMINAL_IMAGES},
	{"\033_Ga=T,f=100,t=f;L2V0Yw==" ST, "", TERMINAL_IMAGES},
	{"\033]1337;File=inline=1:AAAA\a", "", TERMINAL_IMAGES},
	{"\033[?1;1;0S", "", TERMINAL_IMAGES},
	{"\033]8;;https://evil.example/" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\033]8;;http://good.example/" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\033]8;;file:///etc/passwd" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\033]8;;https://a@good.example/" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\033]8;;https://evil.example\\@good.example/" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\033]8;https://good.example/" ST "x", "\033]8;;" ST "x", TERMINAL_LINKS},
	{"\005", "", TERMINAL_QUESTIONS},
	{"\033Z", "", TERMINAL_QUESTIONS},
	{"\033P$qm" ST, "", TERMINAL_QUESTIONS},
	{"\033P+q544e" ST, "", TERMINAL_QUESTIONS},
	{"\033[1;1;1;1;24;80*y", "", TERMINAL_QUESTIONS},
	{"\033[=c", "", TERMINAL_QUESTIONS},
	{"\033[?15n", "", TERMINAL_QUESTIONS},
	{"\033[x", "", TERMINAL_QUESTIONS},
	{"\033[8;10;10t", "", TERMINAL_WINDOW},
	{"\033[3;1;1t", "", TERMINAL_WINDOW},
	{"\033[2t", "", TERMINAL_WINDOW},
	{"\033[?3h", "", TERMINAL_WINDOW},
	{"\033[5i", "", TERMINAL_PRINTING},
	{"\033[?5i", "", TERMINAL_PRINTING},
	{"\033[i", "", TERMINAL_PRINTING},
	{"\033P0;0|17/6c73" ST, "", TERMINAL_KEYS},
	{"\033]7;file://h/x\a", "", TERMINAL_MARKS},
	{"\033]133;A\a", "", TERMINAL_MARKS},
	{"\033]633;E;ls\a", "", TERMINAL_MARKS},
	{"\033]1337;CurrentDir=/x\a", "", TERMINAL_MARKS},
	{"\033[?2l", "", TERMINAL_OTHER},
	{"\033[?1001h", "", TERMINAL_OTHER},
	{"\033%@", "", TERMINAL_OTHER},
	{"\033 G", "", TERMINAL_OTHER},
	{"\033[62;2\"p", "", TERMINAL_OTHER},
	{"\033[2$~", "", TERMINAL_OTHER},
	{"\033[1;2'z", "", TERMINAL_OTHER},
	{"\033[1;2;3;4;5T", "", TERMINAL_OTHER},
	{"\033[2h", "", TERMINAL_OTHER},
	{"\033[?1;\"x3h", "3h", TERMINAL_OTHER},
	{"\033^secret" ST, "", TERMINAL_OTHER},
	{"\033Xsecret" ST, "", TERMINAL_OTHER},
	{"\033]46;/tmp/log\a", "", TERMINAL_OTHER},
	{"\033]50;font\a", "", TERMINAL_OTHER},
	{"\033]51;[\"drop\",\"/x\"]\a", "", TERMINAL_OTHER},
};

static void test_what_is_left_out_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(left_out); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
		struct terminal_filter f = filter(0);

		run(&f, left_out[i].in, strlen(left_out[i].in), &b);
		if (strcmp(buf_str(&b), left_out[i].out) != 0)
			fail_msg("row %zu: \"%s\" passed", i, buf_str(&b) + 1);
		for (unsigned int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
			if (f.kept[class] != (class == left_out[i].class))
				fail_msg("row %zu: %u of class %u", i, (unsigned int)f.kept[class],
					 class);
	}
}

/* Nobody reads the answers: the shell would. */
static void test_nobody_asks_when_nobody_listens(void **state)
{
	static const char *const questions[] = {
		"\033[c",   "\033[>c",      "\033[>q",  "\033[6n",     "\033[?6n",     "\033[?u",
		"\033[?4m", "\033[?2026$p", "\033[18t", "\033]11;?\a", "\033]4;1;?\a",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(questions); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
		struct terminal_filter f = filter(0);

		f.questions = false;
		run(&f, questions[i], strlen(questions[i]), &b);
		assert_string_equal(buf_str(&b), "");
	}
}

/* In the background of a terminal nothing passes that would stay there. */
static void test_behind_another_program(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"text\r\n\033[1;31mred\033[0m\033[2K\033[3A\033[2J\033D\033M",
		 "text\r\n\033[1;31mred\033[0m\033[2K\033[3A\033[2J\033D\033M"},
		{"a\033[?1003;1006h\033[?1049h\033[?25l\033[?7lb", "ab"},
		{"a\033[>1u\033[=1;2u\033[>4;2m\033[4h\033[20hb", "ab"},
		{"a\033[5;9r\033[?69h\033[2 q\033[!p\033cb", "ab"},
		{"a\033(0\033)0\016b\0337\0338\033=\033>\033H\033#8c", "abc"},
		{"a\033[c\033[6n\033[?2026$pb", "ab"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
		struct terminal_filter f = filter(0);

		f.questions = false;
		f.behind = true;
		run(&f, rows[i].in, strlen(rows[i].in), &b);
		assert_string_equal(buf_str(&b), rows[i].out);
	}
}

static void test_letters(void **state)
{
	(void)state;
	/* Halves of letters do not meet over what was left out between them. */
	expect_with(0,
		    "\302\033]52;c;eA==\a\233"
		    "31m",
		    "\357\277\275\357\277\275"
		    "31m");
	expect_with(0, "\302\005\233?1000h", "\357\277\275\357\277\275?1000h");
	/* A control of eight bits is the sequence that it stands for, or no letter. */
	expect_with(0, "\302\23331mred", "\033[31mred");
	expect_with(0,
		    "\233"
		    "31m",
		    "\357\277\275"
		    "31m");
	expect_with(0, "\300\233\355\240\200\364\220\200\200",
		    "\357\277\275\357\277\275\357\277\275\357\277\275\357\277\275"
		    "\357\277\275\357\277\275\357\277\275\357\277\275");
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
	struct terminal_filter f = filter(0);

	f.bytes = true;
	run(&f, "gr\374n \23331m\302\233", 11, &b);
	assert_string_equal(buf_str(&b), "gr\374n ?31m\302?");
}

static void test_controls_within(void **state)
{
	(void)state;
	expect_with(0, "\033[3\b1m\033[3\0051m", "\b\033[31m\033[31m");
	expect_with(0, "\033[31\033[32m", "\033[32m");
	expect_with(0, "\033[31\030m", "m");
	expect_with(0, "\033]2;a\033[31mred", "\033[31mred");
	expect_with(0, "\033Ptmux;\033\033]52;c;eA==\a" ST "text", "text");
	expect_with(0, "\033[123456789;99999999H", "\033[9999;9999H");
	expect_with(0, "\033[?1049;1001;25h", "\033[?1049;25h");
	expect_with(0, "\033[?3;4l\033[?1034h\033]104\a\033]R\033[?1000s", "");
}

static void test_reset_is_said_otherwise(void **state)
{
	(void)state;
	expect_with(0, "\033c",
		    "\033[!p\033[?1;6l\033[?7;25h\033[4l\033>\033[m\033(B\017\033[r\033[H\033[2J");
	expect_with(0, "\033[?1049h\033c\033c",
		    "\033[?1049h\033[!p\033[?1;6l\033[?7;25h\033[4l\033>\033[?1049l\033[m\033("
		    "B\017\033[r\033[H\033[2J"
		    "\033[!p\033[?1;6l\033[?7;25h\033[4l\033>\033[m\033(B\017\033[r\033[H\033[2J");
}

static void test_what_a_plan_allows(void **state)
{
	(void)state;
	expect_with(1u << TERMINAL_CLIPBOARD, "\033]52;c;aGVsbG8=\a", "\033]52;c;aGVsbG8=" ST);
	expect_with(1u << TERMINAL_CLIPBOARD, "\033]52;c;?\a\033]52;;?" ST, "");
	expect_with(1u << TERMINAL_CLIPBOARD, "\033]52;c;aG\n?Vs\033[31m",
		    "\033]52;c;aGVs" ST "\033[31m");
	expect_with(1u << TERMINAL_TITLE, "\033]2;a\001b\a\033]0;c" ST,
		    "\033[22;0t\033]2;ab" ST "\033]0;c" ST);
	expect_with(1u << TERMINAL_TITLE, "\033[21t\033]l\a", "");
	expect_with(1u << TERMINAL_NOTICES, "\033]9;a\a\033]777;notify;a;b" ST "\033]99;;x\a",
		    "\033]9;a" ST "\033]777;notify;a;b" ST);
	expect_with(1u << TERMINAL_COLOURS, "\033]11;#123456\a\033]104\a",
		    "\033]11;#123456" ST "\033]104" ST);
	expect_with(1u << TERMINAL_IMAGES, "\033P0;1q#0~\a~" ST "\033_Ga=T;x" ST,
		    "\033P0;1q#0~~" ST);
}

/* --- properties ----------------------------------------------------------------------- */

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % sides;
}

static void random_stream(uint32_t *seed, struct buf *into)
{
	static const char *const parts[] = {
		"\033",     "[",
		"]",        "P",
		"_",        "^",
		"X",        "k",
		"?",        "1049",
		";",        "52;c;",
		"h",        "l",
		"m",        "c",
		"n",        "t",
		"\a",       ST,
		"\302\233", "\302\235",
		"\302\234", "\302",
		"\233",     "\342\234\223",
		"\360\237", "text",
		"\n",       "\005",
		"\030",     "\177",
		"1",        "25",
		"1000",     "2004",
		"8;;",      "https://good.example/",
		"0;",       "11;?",
		"#",        "(",
		"0",        "B",
		"$",        "p",
		" q",       "!p",
		"1007",     "\033[",
		"\033]",    "\033P",
		"aGVs=",    "q",
		">",        "u",
		"<",        "i",
		"*y",       "\r",
	};
	uint32_t count = dice(seed, 40);

	for (uint32_t i = 0; i < count; i++)
		if (dice(seed, 8) == 0)
			buf_put_char(into, (char)dice(seed, 256));
		else
			buf_put_str(into, parts[dice(seed, BAWN_ARRAY_SIZE(parts))]);
}

/* Another reader of the same: what is written has no other ESC than those of known forms, no control
 * of eight bits, and none that a terminal answers or prints by. */
static bool is_clean(const struct buf *b, unsigned int allow)
{
	const char *s = buf_str(b);

	for (size_t i = 0; i < b->len; i++) {
		uint8_t byte = (uint8_t)s[i];

		if (byte == 0x05 || byte == 0x7f || byte == 0x18 || byte == 0 || (byte < 0x07) ||
		    (byte > 0x0f && byte < 0x1b) || (byte > 0x1b && byte < 0x20))
			return false;
		if (byte == 0xc2 && (uint8_t)s[i + 1] < 0xa0)
			return false;
		if (byte != 0x1b)
			continue;
		if (s[i + 1] == '[') {
			size_t words = strspn(s + i + 2, "0123456789;:?<=>!\"#$' ");

			if (strchr("ixy|w&", s[i + 2 + words]))
				return false;
			continue;
		}
		if (s[i + 1] == ']' && !allow && s[i + 2] != '8' && !strchr("14", s[i + 2]))
			return false;
		if (!strchr("]78=>DEHM69()*+#\\P", s[i + 1]) || (s[i + 1] == 'P' && !allow))
			return false;
	}
	return true;
}

static void fail_with(uint32_t seed, const char *what, const struct buf *in)
{
	print_error("%s: seed %u:", what, seed);
	for (size_t i = 0; i < in->len; i++)
		print_error(" %02x", (unsigned int)(uint8_t)in->ptr[i]);
	fail_msg("%s", what);
}

static void try_stream(uint32_t *seed, unsigned int allow)
{
	_cleanup_buf_ struct buf in = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf whole = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf cut = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf again = BUF_INIT(1 << 20);
	struct terminal_filter a = filter(allow), b = filter(allow), c = filter(allow);
	uint32_t began = *seed;

	random_stream(seed, &in);
	run(&a, buf_str(&in), in.len, &whole);
	for (size_t at = 0; at < in.len;) {
		size_t n = 1 + dice(seed, 6);

		n = n > in.len - at ? in.len - at : n;
		run(&b, buf_str(&in) + at, n, &cut);
		at += n;
	}
	run(&c, buf_str(&whole), whole.len, &again);
	if (whole.len != cut.len || (whole.len && memcmp(whole.ptr, cut.ptr, whole.len) != 0))
		fail_with(began, "a cut changes what is written", &in);
	if (whole.len != again.len || (whole.len && memcmp(whole.ptr, again.ptr, whole.len) != 0))
		fail_with(began, "what was written does not stay as it is", &in);
	if (memcmp(a.kept, b.kept, sizeof(a.kept)) != 0)
		fail_with(began, "a cut changes what is counted", &in);
	if (!is_clean(&whole, allow))
		fail_with(began, "something else passed", &in);
	if (whole.len > in.len * TERMINAL_FILTER_GROWTH)
		fail_with(began, "it grew", &in);
}

static void test_any_cut_and_twice(void **state)
{
	const char *said = getenv("BAWN_SEED");
	uint32_t seed = said ? (uint32_t)strtoul(said, NULL, 10) : 20261118;

	(void)state;
	print_message("seed %u (BAWN_SEED)\n", seed);
	for (int i = 0; i < 60000; i++)
		try_stream(&seed, i % 3 == 0 ? 0x1f : 0);
}

static void test_said_in_a_line(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf said = BUF_INIT(1 << 20);
	struct terminal_filter f = filter(0);

	(void)state;
	run(&f, "\033]2;t\a\033]133;A\a\033]7;x\a\005", 21, &b);
	terminal_filter_say(&f, &said);
	assert_string_equal(buf_str(&said), "");
	run(&f, "\033]52;c;eA==\a\033]52;c;eA==\a\033]9;x\a\033[5i", 34, &b);
	terminal_filter_say(&f, &said);
	assert_string_equal(buf_str(&said),
			    "2 writes to the clipboard, 1 notice and 1 order to print");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_passes_is_as_it_was),
		cmocka_unit_test(test_what_is_left_out_is_counted),
		cmocka_unit_test(test_nobody_asks_when_nobody_listens),
		cmocka_unit_test(test_behind_another_program),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_controls_within),
		cmocka_unit_test(test_reset_is_said_otherwise),
		cmocka_unit_test(test_what_a_plan_allows),
		cmocka_unit_test(test_any_cut_and_twice),
		cmocka_unit_test(test_said_in_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
