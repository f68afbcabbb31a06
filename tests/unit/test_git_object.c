/* SPDX-License-Identifier: Apache-2.0 */
/* git's objects as bytes: names by both sums, deltas, trees, commits. */
#include "cmocka_lead.h"

#include "git_object.h"

static void name_is(struct span content, uint8_t len, const char *hex)
{
	struct git_name n;
	char is[GIT_HEX_MAX + 1];

	git_name_of(GIT_KIND_BLOB, content, len, &n);
	git_name_hex(&n, is);
	assert_string_equal(is, hex);
}

/* As `git hash-object` says. */
static void test_names(void **state)
{
	char long_text[200];

	(void)state;
	memset(long_text, 'a', sizeof(long_text));
	name_is(SPAN_LITERAL(""), 20, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
	name_is(SPAN_LITERAL("hello\n"), 20, "ce013625030ba8dba906f756967f9e9ca394464a");
	name_is((struct span){(const uint8_t *)long_text, sizeof(long_text)}, 20,
		"1d33d17ad3abab24046a78cf5a4abc31e69865b3");
	name_is(SPAN_LITERAL("hello\n"), 32,
		"2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4");
}

static void test_delta(void **state)
{
	_cleanup_buf_ struct buf into = BUF_INIT(64), small = BUF_INIT(4);
	static const uint8_t delta[] = {5, 8, 0x91, 1, 4, 4, 'e', 'v', 'i', 'l'};
	static const uint8_t past[] = {5, 8, 0x91, 2, 4, 4, 'e', 'v', 'i', 'l'};
	static const uint8_t other[] = {6, 8, 0x91, 1, 4, 4, 'e', 'v', 'i', 'l'};
	const struct span base = SPAN_LITERAL("abcde");

	(void)state;
	assert_int_equal(git_delta(base, (struct span){delta, sizeof(delta)}, &into), 0);
	assert_string_equal(buf_str(&into), "bcdeevil");
	assert_int_equal(git_delta(base, (struct span){delta, sizeof(delta)}, &small), -E2BIG);
	assert_int_equal(git_delta(base, (struct span){past, sizeof(past)}, &into), -EBADMSG);
	assert_int_equal(git_delta(base, (struct span){other, sizeof(other)}, &into), -EBADMSG);
}

static void test_commit(void **state)
{
	static const char text[] = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
				   "parent ce013625030ba8dba906f756967f9e9ca394464a\n"
				   "author A <a@x.test> 5 +0000\n"
				   "committer A <a@x.test> 1700000000 +0100\n\nparent of none\n";
	struct git_commit c;

	(void)state;
	assert_int_equal(git_commit_parse(span_of_str(text), &c), 0);
	assert_int_equal(c.parent_count, 1);
	assert_int_equal(c.when, 1700000000);
	assert_int_equal(git_commit_parse(SPAN_LITERAL("tree 12\n"), &c), -EBADMSG);
	/* git reads capitals; and a parent that cannot be read is not none. */
	assert_int_equal(
		git_commit_parse(SPAN_LITERAL("tree 4B825DC642CB6EB9A060E54BF8D69288FBEE4904\n"
					      "parent CE013625030BA8DBA906F756967F9E9CA394464A\n"),
				 &c),
		0);
	assert_int_equal(c.parent_count, 1);
	assert_int_equal(c.tree.bytes[0], 0x4b);
	assert_int_equal(
		git_commit_parse(SPAN_LITERAL("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
					      "parent ce013625030ba8dba906f756967f9e9ca394464\n"),
				 &c),
		-EBADMSG);
}

/* A name with a slash in it would be another path. */
static void test_tree(void **state)
{
	static const char text[] = "100644 a\0"
				   "01234567890123456789"
				   "40000 b\0"
				   "01234567890123456789";
	struct git_tree t = {.left = {(const uint8_t *)text, sizeof(text) - 1}, .len = 20};
	struct git_tree bad = {.left = SPAN_LITERAL("100644 a/b\0"
						    "01234567890123456789"),
			       .len = 20};

	(void)state;
	assert_int_equal(git_tree_next(&t), 1);
	assert_int_equal(t.mode, 0100644);
	assert_int_equal(git_tree_next(&t), 1);
	assert_int_equal(t.mode, 040000);
	assert_int_equal(git_tree_next(&t), 0);
	assert_int_equal(git_tree_next(&bad), -EBADMSG);
}

static void test_packed(void **state)
{
	struct git_packed p = {
		.left = SPAN_LITERAL("# pack-refs with: peeled\n"
				     "ce013625030ba8dba906f756967f9e9ca394464a refs/tags/x\n"
				     "^e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
				     "nonsense\n")};

	(void)state;
	assert_int_equal(git_packed_next(&p), 1);
	assert_int_equal(p.name.len, strlen("refs/tags/x"));
	assert_int_equal(git_packed_next(&p), -EBADMSG);
}

/* A line of a log: two names, of one length or the other, and what was done. */
static void test_log(void **state)
{
	static const char name1[] = "ce013625030ba8dba906f756967f9e9ca394464a";
	static const char name2[] = "1d33d17ad3abab24046a78cf5a4abc31e69865b3";
	_cleanup_buf_ struct buf line = BUF_INIT(256);
	struct git_log_line l;
	char hex[GIT_HEX_MAX + 1];

	(void)state;
	buf_putf(&line, "%s %s A <a@x.test> 5 +0000\tcommit: x", name1, name2);
	assert_true(git_log_parse(buf_span(&line), &l));
	git_name_hex(&l.old, hex);
	assert_string_equal(hex, name1);
	git_name_hex(&l.new, hex);
	assert_string_equal(hex, name2);
	assert_true(span_equal(l.words, SPAN_LITERAL(" A <a@x.test> 5 +0000\tcommit: x")));
	/* Cut off before the end of the second. */
	for (size_t len = 0; len < 81; len++)
		assert_false(git_log_parse((struct span){(uint8_t *)line.ptr, len}, &l));
	assert_true(git_log_parse((struct span){(uint8_t *)line.ptr, 81}, &l));
	assert_int_equal(l.words.len, 0);
}

/* "blob 12", a NUL, and then the content. */
static void test_loose_head(void **state)
{
	static const char *const words[] = {"commit", "tree", "blob", "tag"};
	static const enum git_kind kinds[] = {GIT_KIND_COMMIT, GIT_KIND_TREE, GIT_KIND_BLOB,
					      GIT_KIND_TAG};
	enum git_kind kind;
	uint64_t size;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(64);

		buf_putf(&b, "%s 120", words[i]);
		buf_put(&b, "", 1);
		assert_int_equal(git_loose_head(buf_span(&b), &kind, &size), (int)b.len);
		assert_int_equal(kind, kinds[i]);
		assert_int_equal(size, 120);
		for (size_t len = 0; len < b.len; len++)
			assert_true(git_loose_head((struct span){(uint8_t *)b.ptr, len}, &kind,
						   &size) < 0);
		b.ptr[0] = 'x';
		assert_true(git_loose_head(buf_span(&b), &kind, &size) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),      cmocka_unit_test(test_delta),
		cmocka_unit_test(test_commit),     cmocka_unit_test(test_tree),
		cmocka_unit_test(test_packed),     cmocka_unit_test(test_log),
		cmocka_unit_test(test_loose_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
