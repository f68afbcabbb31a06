/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about git's index: what `git status` rewrites is not part of what it says. */
#include "cmocka_lead.h"

#include "buf.h"
#include "git_index_believed.h"

#include <stdio.h>

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

/* Folders are among the entries where the index says that it is sparse, and end in a slash. */
static void a_sparse_one_has_folders(void **state)
{
	static const struct entry folder = {1, 0040000, 'a', 0, "a/"},
				  file = {1, 0100644, 'a', 0, "a"};
	static const struct entry bad[] = {{1, 0040000, 'a', 0, "a"}, {1, 0100644, 'a', 0, "a/"}};
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];

	(void)state;
	assert_int_equal(digest_of(&folder, 1, "sdir", a), 0);
	assert_int_equal(digest_of(&folder, 1, "TREE", b), -EPROTO);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++)
		assert_int_equal(digest_of(&bad[i], 1, "sdir", b), -EPROTO);
	assert_int_equal(digest_of(&file, 1, "sdir", b), 0);
	/* What no git writes: a folder behind a file that is in it, and one without a name. */
	static const struct entry twice[] = {{1, 0100644, 'a', 0, "a/b"},
					     {1, 0040000, 'a', 0, "a/"}};
	static const struct entry nameless[] = {{1, 0040000, 'a', 0, "/"},
						{1, 0040000, 'a', 0, "a//"}};
	const struct entry *const odd[] = {twice, nameless};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(odd); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096), path = BUF_INIT(4096);
		struct git_index x = GIT_INDEX_INIT;

		buf_put_str(&text, "DIRC");
		put_be32(&text, 2);
		put_be32(&text, 2);
		put_entry(&text, &odd[i][0]);
		put_entry(&text, &odd[i][1]);
		buf_put_str(&text, "sdir");
		put_be32(&text, 0);
		for (int k = 0; k < 20; k++)
			buf_put_char(&text, 'c');
		assert_int_equal(git_index_open(&x, buf_span(&text)), 0);
		assert_int_equal(git_index_believed(&x, &path), -EPROTO);
		git_index_close(&x);
	}
	assert_memory_not_equal(a, b, sizeof(a));
}

/* Of one that is split: its entries and what they mean, byte for byte; caches of the folder apart. */
static void the_same_one_is_known(void **state)
{
	static const struct {
		const char *one, *other;
		bool same;
	} rows[] = {{"link1", "link1", true},       {"link1", "link2", false},
		    {"link1UNTR1", "link1", true},  {"link1", "link1FSMN2", true},
		    {"link1TREE1", "link1", false}, {"UNTR1link1", "link1UNTR2", true},
		    {"link1", "", false},           {"", "link1", false}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct buf texts[2] = {BUF_INIT(4096), BUF_INIT(4096)};
		static const struct entry split = {1, 0100644, 'a', 0, ""};

		for (size_t n = 0; n < 2; n++) {
			const char *at = n ? rows[i].other : rows[i].one;

			buf_put_str(&texts[n], "DIRC");
			put_be32(&texts[n], 2);
			put_be32(&texts[n], 1);
			put_entry(&texts[n], &split);
			for (; *at; at += 5) {
				buf_put(&texts[n], at, 4);
				put_be32(&texts[n], 1);
				buf_put(&texts[n], at + 4, 1);
			}
			for (int k = 0; k < 20; k++)
				buf_put_char(&texts[n], n ? 'c' : 'd');
		}
		assert_true(git_index_is_same(buf_span(&texts[0]), buf_span(&texts[1]), 20) ==
			    rows[i].same);
		texts[1].ptr[20] ^= 1;
		assert_false(git_index_is_same(buf_span(&texts[0]), buf_span(&texts[1]), 20));
		buf_fini(&texts[0]);
		buf_fini(&texts[1]);
	}
}

/* An index of two files, a and d/b, with one extension. */
static int believed_of(const char *name, struct span extension, struct buf *path)
{
	static const struct entry entries[] = {{1, 0100644, 'a', 0, "a"},
					       {1, 0100644, 'b', 0, "d/b"}};
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct git_index x = GIT_INDEX_INIT;

	buf_put_str(&b, "DIRC");
	put_be32(&b, 2);
	put_be32(&b, 2);
	put_entry(&b, &entries[0]);
	put_entry(&b, &entries[1]);
	buf_put_str(&b, name);
	put_be32(&b, (uint32_t)extension.len);
	buf_put(&b, extension.ptr, extension.len);
	for (int i = 0; i < 20; i++)
		buf_put_char(&b, 'c');
	assert_int_equal(git_index_open(&x, buf_span(&b)), 0);
	int r = git_index_believed(&x, path);

	git_index_close(&x);
	return r;
}

static void put_tree(struct buf *b, const char *mode, const char *name, const uint8_t *object)
{
	buf_putf(b, "%s %s", mode, name);
	buf_put(b, "", 1);
	buf_put(b, object, 20);
}

/* TREE: each folder's count and tree, as git makes them of the entries. */
static void trees_are_those_of_the_entries(void **state)
{
	static const char *const wrong[] = {"2 0\n", "0 0\n"};
	_cleanup_buf_ struct buf d = BUF_INIT(4096), top = BUF_INIT(4096), text = BUF_INIT(4096);
	_cleanup_buf_ struct buf path = BUF_INIT(4096);
	struct git_name sub, all;
	uint8_t object[20];

	(void)state;
	memset(object, 'b', sizeof(object));
	put_tree(&d, "100644", "b", object);
	git_name_of(GIT_KIND_TREE, buf_span(&d), 20, &sub);
	memset(object, 'a', sizeof(object));
	put_tree(&top, "100644", "a", object);
	put_tree(&top, "40000", "d", sub.bytes);
	git_name_of(GIT_KIND_TREE, buf_span(&top), 20, &all);
	buf_put(&text, "", 1);
	buf_put_str(&text, "2 1\n");
	buf_put(&text, all.bytes, 20);
	buf_put(&text, "d", 2);
	buf_put_str(&text, "1 0\n");
	buf_put(&text, sub.bytes, 20);
	assert_int_equal(believed_of("TREE", buf_span(&text), &path), 0);
	text.ptr[text.len - 1] ^= 1;
	assert_int_equal(believed_of("TREE", buf_span(&text), &path), -EBADMSG);
	assert_string_equal(buf_str(&path), "d");
	text.ptr[text.len - 1] ^= 1;
	text.ptr[5] ^= 1;
	assert_int_equal(believed_of("TREE", buf_span(&text), &path), -EBADMSG);
	assert_int_equal(path.len, 0);
	text.ptr[5] ^= 1;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wrong); i++) {
		memcpy(text.ptr + text.len - 24, wrong[i], 4);
		assert_int_equal(believed_of("TREE", buf_span(&text), &path), -EBADMSG);
	}
	/* Not known: nothing is believed. */
	buf_clear(&text);
	buf_put(&text, "\0-1 1\nd\0-1 0\n", 13);
	assert_int_equal(believed_of("TREE", buf_span(&text), &path), 0);
	/* A folder that has no entries, or no end. */
	buf_clear(&text);
	buf_put(&text,
		"\0-1 1\nx\0"
		"1 0\n",
		12);
	buf_put(&text, sub.bytes, 20);
	assert_int_equal(believed_of("TREE", buf_span(&text), &path), -EBADMSG);
	assert_int_equal(believed_of("TREE", (struct span){(uint8_t *)text.ptr, 9}, &path),
			 -EPROTO);
	assert_int_equal(believed_of("TREE", (struct span){(uint8_t *)text.ptr, 6}, &path), 0);
}

struct undo_seen {
	int count;
	struct buf paths;
	uint32_t modes;
};

static int on_undo(void *context, const char *path, uint32_t mode, const struct git_name *object)
{
	struct undo_seen *seen = context;

	assert_int_equal(object->len, 20);
	assert_int_equal(object->bytes[19], '0' + seen->count);
	buf_put_str(&seen->paths, path);
	seen->modes += mode;
	seen->count++;
	return 0;
}

/* What is kept of a merge's versions: told one by one, from this extension and no other. */
static void versions_of_a_merge_are_told(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	uint8_t object[20] = {0};

	(void)state;
	buf_put(&text,
		"a\0"
		"100644\0"
		"0\0"
		"100755\0",
		18);
	for (object[19] = '0'; object[19] < '2'; object[19]++)
		buf_put(&text, object, 20);
	buf_put(&text,
		"d/b\0"
		"0\0"
		"120000\0"
		"0\0",
		15);
	buf_put(&text, object, 20);
	for (int cut = 0; cut < 2; cut++)
		for (int other = 0; other < 2; other++) {
			_cleanup_buf_ struct buf b = BUF_INIT(4096);
			struct git_index x = GIT_INDEX_INIT;
			struct undo_seen seen = {.paths = BUF_INIT(64)};

			buf_put_str(&b, "DIRC");
			put_be32(&b, 2);
			put_be32(&b, 0);
			buf_put_str(&b, other ? "UNTR" : "REUC");
			put_be32(&b, (uint32_t)text.len - (uint32_t)cut);
			buf_put(&b, text.ptr, text.len - (size_t)cut);
			for (int i = 0; i < 20; i++)
				buf_put_char(&b, 'c');
			assert_int_equal(git_index_open(&x, buf_span(&b)), 0);
			assert_int_equal(git_index_undo(&x, on_undo, &seen),
					 cut && !other ? -EPROTO : 0);
			assert_int_equal(seen.count, other ? 0 : cut ? 2 : 3);
			if (!cut && !other) {
				assert_string_equal(buf_str(&seen.paths), "aad/b");
				assert_int_equal(seen.modes, 0100644 + 0100755 + 0120000);
			}
			git_index_close(&x);
			buf_fini(&seen.paths);
		}
}

/* More files than have one digit. */
static void large_trees_are_believed(void **state)
{
	enum { FILES = 23 };
	_cleanup_buf_ struct buf b = BUF_INIT(8192), tree = BUF_INIT(4096), path = BUF_INIT(64);
	struct git_index x = GIT_INDEX_INIT;
	struct git_name all;
	uint8_t object[20];

	(void)state;
	memset(object, 'a', sizeof(object));
	buf_put_str(&b, "DIRC");
	put_be32(&b, 2);
	put_be32(&b, FILES);
	for (int i = 0; i < FILES; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "f%02d", i);
		put_entry(&b, &(struct entry){1, 0100644, 'a', 0, name});
		put_tree(&tree, "100644", name, object);
	}
	git_name_of(GIT_KIND_TREE, buf_span(&tree), 20, &all);
	buf_put_str(&b, "TREE");
	put_be32(&b, 1 + 5 + 20);
	buf_put(&b,
		"\0"
		"23 0\n",
		6);
	size_t at = b.len;

	buf_put(&b, all.bytes, 20);
	for (int i = 0; i < 20; i++)
		buf_put_char(&b, 'c');
	for (int wrong = 0; wrong < 2; wrong++) {
		b.ptr[at] ^= (char)wrong;
		assert_int_equal(git_index_open(&x, buf_span(&b)), 0);
		assert_int_equal(git_index_believed(&x, &path), wrong ? -EBADMSG : 0);
		git_index_close(&x);
	}
}

static void entries_stand_where_it_says(void **state)
{
	static const struct {
		uint32_t words[5];
		size_t count;
		int ret;
	} tables[] = {
		{{1, 12, 2}, 3, 0},
		{{1, 12, 1, 76, 1}, 5, 0},
		{{1, 20, 2}, 3, -EPROTO},
		{{1, 12, 1}, 3, -EPROTO},
		{{1, 12, 3}, 3, -EPROTO},
		{{2, 12, 2}, 3, -EPROTO},
		{{1, 12, 1, 75, 1}, 5, -EPROTO},
	};
	_cleanup_buf_ struct buf path = BUF_INIT(4096);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tables); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(64);

		for (size_t w = 0; w < tables[i].count; w++)
			put_be32(&b, tables[i].words[w]);
		assert_int_equal(believed_of("IEOT", buf_span(&b), &path), tables[i].ret);
	}
	assert_int_equal(believed_of("EOIE", (struct span){(const uint8_t *)"\0\0\0\0", 4}, &path),
			 -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_do_not_matter),
		cmocka_unit_test(trees_are_those_of_the_entries),
		cmocka_unit_test(large_trees_are_believed),
		cmocka_unit_test(versions_of_a_merge_are_told),
		cmocka_unit_test(entries_stand_where_it_says),
		cmocka_unit_test(what_is_staged_does),
		cmocka_unit_test(entries_are_walked),
		cmocka_unit_test(what_is_not_read_is_said),
		cmocka_unit_test(a_sparse_one_has_folders),
		cmocka_unit_test(the_same_one_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
