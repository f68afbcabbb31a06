/* SPDX-License-Identifier: Apache-2.0 */
/* Hunks and their lines, and what kind of file it is. */
#include "cmocka_lead.h"

#include "sniff.h"
#include "unified.h"

#include <stdio.h>

static void put_line(void *context, char sign, const struct span *text)
{
	struct buf *out = context;

	buf_put_char(out, sign);
	buf_put(out, text->ptr, text->len);
	if (text->len == 0 || text->ptr[text->len - 1] != '\n')
		buf_put_str(out, "~\n");
}

/* "@1,2+1,2 within" and the lines. */
static void show(const char *before, const char *after, struct buf *out)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct lines sides[2];
	struct linediff d;
	struct hunks hunks;

	assert_int_equal(lines_cut(span_of_str(before), &arena, &sides[0]), 0);
	assert_int_equal(lines_cut(span_of_str(after), &arena, &sides[1]), 0);
	assert_int_equal(linediff(&sides[0], &sides[1], &arena, &d), 0);
	assert_int_equal(unified_hunks(&sides[0], &d, &arena, &hunks), 0);
	for (size_t i = 0; i < hunks.count; i++) {
		const struct hunk *h = &hunks.items[i];

		buf_putf(out, "@%zu,%zu+%zu,%zu\n", h->before, h->before_count, h->after,
			 h->after_count);
		if (h->within)
			put_line(out, '=', h->within);
		unified_lines(&sides[0], &sides[1], &d, h, put_line, out);
	}
}

static void assert_shown(const char *before, const char *after, const char *want)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	show(before, after, &out);
	assert_string_equal(buf_str(&out), want);
}

static void test_a_line_has_its_surroundings(void **state)
{
	(void)state;
	assert_shown("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
		     "@1,7+1,7\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

static void test_near_regions_share_a_hunk(void **state)
{
	(void)state;
	assert_shown("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
		     "@0,8+0,8\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
	assert_shown("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
		     "@0,4+0,4\n-a\n+A\n 1\n 2\n 3\n@5,4+5,4\n=a\n 5\n 6\n 7\n-b\n+B\n");
}

static void test_whole_files(void **state)
{
	(void)state;
	assert_shown("", "1\n2\n", "@0,0+0,2\n+1\n+2\n");
	assert_shown("1\n2\n", "", "@0,2+0,0\n-1\n-2\n");
	assert_shown("same\n", "same\n", "");
	assert_shown("", "", "");
}

static void test_a_missing_newline_is_a_difference(void **state)
{
	(void)state;
	assert_shown("1\n2", "1\n2\n", "@0,2+0,2\n 1\n-2~\n+2\n");
	assert_shown("1\n2\n", "1\n2", "@0,2+0,2\n 1\n-2\n+2~\n");
}

static void test_a_hunk_says_what_it_is_in(void **state)
{
	(void)state;
	assert_shown("int f(void)\n{\n\ta;\n\tb;\n\tc;\n\td;\n}\n",
		     "int f(void)\n{\n\ta;\n\tb;\n\tc;\n\tD;\n}\n",
		     "@2,5+2,5\n=int f(void)\n \ta;\n \tb;\n \tc;\n-\td;\n+\tD;\n }\n");
}

static void test_files_are_known_by_their_start(void **state)
{
	static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0};
	static const uint8_t tar[512] = {[257] = 'u', 's', 't', 'a', 'r'};

	(void)state;
	assert_string_equal(sniff((struct span){png, sizeof(png)}), "PNG image");
	assert_string_equal(sniff((struct span){png, 4}), "data");
	assert_string_equal(sniff((struct span){tar, sizeof(tar)}), "tar archive");
	assert_string_equal(sniff(SPAN_LITERAL("\x7f"
					       "ELF\2")),
			    "ELF program or library");
	assert_string_equal(sniff((struct span){NULL, 0}), "data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_has_its_surroundings),
		cmocka_unit_test(test_near_regions_share_a_hunk),
		cmocka_unit_test(test_whole_files),
		cmocka_unit_test(test_a_missing_newline_is_a_difference),
		cmocka_unit_test(test_a_hunk_says_what_it_is_in),
		cmocka_unit_test(test_files_are_known_by_their_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
