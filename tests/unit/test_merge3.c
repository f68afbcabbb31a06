/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences by lines (src/content/linediff.c) and two texts put together that came from one
 * (merge3.c).  Each property is tried over many made-up texts; what a merge gives is written out
 * for the cases that a person meets.
 */
#include "cmocka_lead.h"

#include "merge3.h"

#include <stdio.h>

enum { TRY_BYTES = 1 << 22, TRY_ARENA = 128 << 20 };

static struct arena arena;
static uint64_t dice;

static int setup(void **state)
{
	(void)state;
	arena = ARENA_INIT(TRY_ARENA);
	dice = 88172645463325252ull;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

static uint64_t roll(uint64_t sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % sides;
}

static struct lines cut(const char *text)
{
	struct lines l;

	assert_int_equal(lines_cut(span_of_str(text), &arena, &l), 0);
	return l;
}

static size_t merge(const char *base, const char *ours, const char *theirs, struct buf *into)
{
	const struct merge3_texts t = {cut(base), cut(ours), cut(theirs), "yours", "session"};
	struct merge3 m;

	assert_int_equal(merge3(&t, &arena, into, &m), 0);
	return m.count;
}

static void expect_merge(const char *base, const char *ours, const char *theirs, const char *want,
			 size_t clashes)
{
	_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES);
	size_t count = merge(base, ours, theirs, &got);

	assert_string_equal(buf_str(&got), want);
	assert_int_equal(count, clashes);
}

static void what_a_person_meets(void **state)
{
	(void)state;
	expect_merge("", "", "", "", 0);
	expect_merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", 0);
	expect_merge("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n", 0);
	expect_merge("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n", 0);
	/* Both add the same at the same place: once. */
	expect_merge("a\n", "a\nn\n", "a\nn\n", "a\nn\n", 0);
	/* Nothing was there before, or one of them empties it. */
	expect_merge("", "mine\n", "", "mine\n", 0);
	expect_merge("a\nb\n", "", "a\nb\n", "", 0);
}

static void what_clashes(void **state)
{
	(void)state;
	expect_merge("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n",
		     "a\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> session\nc\n", 1);
	/* Lines that touch. */
	expect_merge("a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nb\nY\nd\n",
		     "a\n<<<<<<< yours\nX\nc\n=======\nb\nY\n>>>>>>> session\nd\n", 1);
	/* One changes what the other removes. */
	expect_merge("a\nb\nc\n", "a\nX\nc\n", "a\nc\n",
		     "a\n<<<<<<< yours\nX\n=======\n>>>>>>> session\nc\n", 1);
	/* What they agree on stands outside. */
	expect_merge("a\nz\n", "a\n1\nX\n2\nz\n", "a\n1\nY\n2\nz\n",
		     "a\n1\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> session\n2\nz\n", 1);
	/* A text without a last newline: markers still begin a line. */
	expect_merge("a\nb", "a\nX", "a\nY", "a\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> session\n",
		     1);
	expect_merge("", "mine\n", "other\n",
		     "<<<<<<< yours\nmine\n=======\nother\n>>>>>>> session\n", 1);
}

static void where_it_clashes(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES);
	const struct merge3_texts t = {cut("1\n2\n3\n4\n5\n6\n7\n"),
				       cut("0\n1\n2\n3\nX\n5\n6\n7\n"),
				       cut("1\n2\n3\nY\nZ\n5\n6\n7\n"), "yours", "session"};
	struct merge3 m;

	assert_int_equal(merge3(&t, &arena, &got, &m), 0);
	assert_int_equal(m.count, 1);
	assert_int_equal(m.clashes[0].base, 3);
	assert_int_equal(m.clashes[0].base_count, 1);
	assert_int_equal(m.clashes[0].ours, 4);
	assert_int_equal(m.clashes[0].ours_count, 1);
	assert_int_equal(m.clashes[0].theirs, 3);
	assert_int_equal(m.clashes[0].theirs_count, 2);
}

/* A text of up to 12 lines of a small alphabet; or another one with a few lines changed. */
static void make_up(char *into, size_t size, const char *from)
{
	size_t at = 0, lines = roll(13);

	if (!from) {
		for (size_t i = 0; i < lines; i++)
			at += (size_t)snprintf(into + at, size - at, "%c\n", (char)('a' + roll(4)));
	} else {
		for (const char *c = from; *c; c++) {
			uint64_t what = roll(16);

			if (what == 0 && *c != '\n' && c[1] == '\n') {
				c++;
				continue;
			}
			if (what == 1 && (c == from || c[-1] == '\n'))
				at += (size_t)snprintf(into + at, size - at, "%c\n",
						       (char)('a' + roll(6)));
			into[at++] = *c;
		}
	}
	if (at > 0 && roll(8) == 0)
		at--;
	into[at] = '\0';
}

static void properties(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char base[256], ours[512], theirs[512];
		_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES), other = BUF_INIT(TRY_BYTES);

		make_up(base, sizeof(base), NULL);
		make_up(ours, sizeof(ours), base);
		make_up(theirs, sizeof(theirs), roll(4) ? base : NULL);
		assert_int_equal(merge(base, ours, base, &got), 0);
		assert_string_equal(buf_str(&got), ours);
		buf_clear(&got);
		assert_int_equal(merge(base, base, theirs, &got), 0);
		assert_string_equal(buf_str(&got), theirs);
		buf_clear(&got);
		assert_int_equal(merge(base, ours, ours, &got), 0);
		assert_string_equal(buf_str(&got), ours);
		buf_clear(&got);
		size_t clashes = merge(base, ours, theirs, &got);

		/* NOLINTNEXTLINE(readability-suspicious-call-argument): they change places */
		assert_int_equal(merge(base, theirs, ours, &other), clashes);
		if (clashes == 0)
			assert_string_equal(buf_str(&got), buf_str(&other));
		arena_fini(&arena);
	}
}

/* --- differences ------------------------------------------------------------------------ */

/* The longest common subsequence, by the table that every textbook has. */
static size_t common(const struct lines *a, const struct lines *b)
{
	static size_t table[64][64];

	for (size_t i = a->count + 1; i-- > 0;)
		for (size_t j = b->count + 1; j-- > 0;) {
			if (i == a->count || j == b->count)
				table[i][j] = 0;
			else if (span_equal(a->items[i], b->items[j]))
				table[i][j] = table[i + 1][j + 1] + 1;
			else
				table[i][j] = table[i + 1][j] > table[i][j + 1] ? table[i + 1][j]
										: table[i][j + 1];
		}
	return table[0][0];
}

static void smallest_and_true(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char before[256], after[512];
		_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES);
		struct linediff d;

		make_up(before, sizeof(before), NULL);
		make_up(after, sizeof(after), roll(3) ? before : NULL);
		struct lines a = cut(before), b = cut(after);

		assert_int_equal(linediff(&a, &b, &arena, &d), 0);
		assert_false(d.coarse);
		assert_int_equal(d.removed, a.count - common(&a, &b));
		assert_int_equal(d.added, b.count - common(&a, &b));
		linediff_put(&a, &b, &d, NULL, &got);
		assert_string_equal(buf_str(&got), after);
		arena_fini(&arena);
	}
}

static void chosen_regions(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES);
	struct lines a = cut("1\n2\n3\n4\n5\n"), b = cut("0\n1\n2\nX\n4\n");
	const bool chosen[] = {false, true, false};
	struct linediff d;

	assert_int_equal(linediff(&a, &b, &arena, &d), 0);
	assert_int_equal(d.count, 3);
	linediff_put(&a, &b, &d, chosen, &got);
	assert_string_equal(buf_str(&got), "1\n2\nX\n4\n5\n");
}

/* An added function begins at its first line, not at the closing brace of the one above. */
static void where_a_person_would_begin(void **state)
{
	(void)state;
	struct lines a = cut("f()\n{\n\tone;\n}\n"),
		     b = cut("f()\n{\n\tone;\n}\n\ng()\n{\n\ttwo;\n}\n");
	struct linediff d;

	assert_int_equal(linediff(&a, &b, &arena, &d), 0);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.items[0].before, 4);
	assert_int_equal(d.items[0].after, 4);
	assert_int_equal(d.items[0].after_count, 5);
}

/* Two texts that share all their lines in another order: it ends in time, and is still true. */
static void time_is_bounded(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf before = BUF_INIT(TRY_BYTES), after = BUF_INIT(TRY_BYTES);
	_cleanup_buf_ struct buf got = BUF_INIT(TRY_BYTES);
	struct linediff d;

	for (int i = 0; i < 200000; i++) {
		buf_putf(&before, "%u\n", (unsigned int)roll(1000));
		buf_putf(&after, "%u\n", (unsigned int)roll(1000));
	}
	struct lines a = cut(buf_str(&before)), b = cut(buf_str(&after));

	assert_int_equal(linediff(&a, &b, &arena, &d), 0);
	assert_true(d.coarse);
	linediff_put(&a, &b, &d, NULL, &got);
	assert_true(span_equal(buf_span(&got), buf_span(&after)));
}

static void cutting(void **state)
{
	(void)state;
	assert_int_equal(cut("").count, 0);
	assert_int_equal(cut("\n").count, 1);
	assert_int_equal(cut("a").count, 1);
	assert_int_equal(cut("a\n\nb").count, 3);
	assert_true(lines_is_binary((struct span){(const uint8_t *)"a\0b", 3}));
	assert_false(lines_is_binary(span_of_str("a\nb")));
	size_t len = LINES_MAX + 1;
	_cleanup_free_ char *many = malloc(len);
	struct lines l;

	assert_non_null(many);
	memset(many, '\n', len);
	assert_int_equal(lines_cut((struct span){(uint8_t *)many, len}, &arena, &l), -E2BIG);
	assert_int_equal(lines_cut((struct span){(uint8_t *)many, len - 1}, &arena, &l), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_person_meets, setup, teardown),
		cmocka_unit_test_setup_teardown(what_clashes, setup, teardown),
		cmocka_unit_test_setup_teardown(where_it_clashes, setup, teardown),
		cmocka_unit_test_setup_teardown(properties, setup, teardown),
		cmocka_unit_test_setup_teardown(smallest_and_true, setup, teardown),
		cmocka_unit_test_setup_teardown(chosen_regions, setup, teardown),
		cmocka_unit_test_setup_teardown(where_a_person_would_begin, setup, teardown),
		cmocka_unit_test_setup_teardown(time_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(cutting, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
