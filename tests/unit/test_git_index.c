/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about git's index: what `git status` rewrites is not part of what it says. */
#include "cmocka_lead.h"

#include "buf.h"
#include "git_index.h"

static void put_be32(struct buf *b, uint32_t v)
{
	const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				  (uint8_t)v};

	buf_put(b, bytes, sizeof(bytes));
}

struct entry {
	uint32_t stat; /* all of its times and numbers */
	uint32_t mode;
	uint8_t object;
	uint8_t flags;
	const char *path;
};

static void put_entry(struct buf *b, const struct entry *e)
{
	size_t start = b->len;

	for (int i = 0; i < 6; i++)
		put_be32(b, e->stat);
	put_be32(b, e->mode);
	for (int i = 0; i < 3; i++)
		put_be32(b, e->stat);
	for (int i = 0; i < 20; i++)
		buf_put_char(b, (char)e->object);
	buf_put_char(b, (char)e->flags);
	buf_put_char(b, (char)strlen(e->path));
	buf_put_str(b, e->path);
	do
		buf_put_char(b, '\0');
	while ((b->len - start) % 8);
}

static int digest_of(const struct entry *entries, uint32_t count, const char *extension,
		     uint8_t ret[SHA256_SIZE])
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	buf_put_str(&b, "DIRC");
	put_be32(&b, 2);
	put_be32(&b, count);
	for (uint32_t i = 0; i < count; i++)
		put_entry(&b, &entries[i]);
	if (extension) {
		buf_put_str(&b, extension);
		put_be32(&b, 3);
		buf_put_str(&b, "abc");
	}
	for (int i = 0; i < 20; i++)
		buf_put_char(&b, 'c');
	return git_index_digest(buf_span(&b), ret);
}

static void times_do_not_matter(void **state)
{
	static const struct entry was = {1, 0100644, 'a', 0, "src/main.c"};
	static const struct entry touched = {2, 0100644, 'a', 0, "src/main.c"};
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];

	(void)state;
	assert_int_equal(digest_of(&was, 1, NULL, a), 0);
	assert_int_equal(digest_of(&touched, 1, "TREE", b), 0);
	assert_memory_equal(a, b, sizeof(a));
}

static void what_is_staged_does(void **state)
{
	static const struct entry was = {1, 0100644, 'a', 0, "src/main.c"};
	static const struct entry others[] = {
		{1, 0100755, 'a', 0, "src/main.c"},
		{1, 0100644, 'b', 0, "src/main.c"},
		{1, 0100644, 'a', 0, "src/main.h"},
		{1, 0100644, 'a', 0x10, "src/main.c"}, /* a stage of a conflict */
		{1, 0100644, 'a', 0x80, "src/main.c"}, /* assume-unchanged */
	};
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];

	(void)state;
	assert_int_equal(digest_of(&was, 1, NULL, a), 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		assert_int_equal(digest_of(&others[i], 1, NULL, b), 0);
		assert_memory_not_equal(a, b, sizeof(a));
	}
	const struct entry two[] = {was, others[2]};

	assert_int_equal(digest_of(two, 2, NULL, b), 0);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void entries_are_walked(void **state)
{
	static const struct entry entries[] = {{1, 0100644, 'a', 0, "a"},
					       {1, 0100644, 'b', 0, "b/c"}};
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct git_index x = GIT_INDEX_INIT;

	(void)state;
	buf_put_str(&b, "DIRC");
	put_be32(&b, 2);
	put_be32(&b, 2);
	put_entry(&b, &entries[0]);
	put_entry(&b, &entries[1]);
	for (int i = 0; i < 20; i++)
		buf_put_char(&b, 'c');
	assert_int_equal(git_index_open(&x, buf_span(&b)), 0);
	assert_true(git_index_next(&x));
	assert_string_equal(buf_str(&x.path), "a");
	assert_true(git_index_next(&x));
	assert_string_equal(buf_str(&x.path), "b/c");
	assert_int_equal(x.object.len, 20);
	assert_int_equal(x.object.ptr[19], 'b');
	assert_false(git_index_next(&x));
	git_index_close(&x);
}

static void what_is_not_read_is_said(void **state)
{
	static const struct entry was = {1, 0100644, 'a', 0, "a"};
	uint8_t a[SHA256_SIZE];

	(void)state;
	/* Its entries are in another file. */
	assert_int_equal(digest_of(&was, 1, "link", a), -ENOTSUP);
	assert_int_equal(git_index_digest(span_of_str("DIRC"), a), -EPROTO);
	assert_int_equal(git_index_digest((struct span){NULL, 0}, a), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_do_not_matter),
		cmocka_unit_test(what_is_staged_does),
		cmocka_unit_test(entries_are_walked),
		cmocka_unit_test(what_is_not_read_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
