/* SPDX-License-Identifier: Apache-2.0 */
/* docs/POLICY.md and man/bawn-policy.5 say what the table of the grammar says. */
#include "policy_try.h"

#include "fd.h"
#include "grammar.h"
#include "rule.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

static const char *source_root;

static void read_source(const char *path, struct buf *into)
{
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0);
	if (fd_read_file_at(root, path, into) < 0)
		fail_msg("%s cannot be read", path);
}

static const char *const type_words[] = {
	[GRAMMAR_NAME] = "name",
	[GRAMMAR_URL] = "URL, environment, none",
	[GRAMMAR_NUMBER] = "number",
	[GRAMMAR_SIZE] = "size",
	[GRAMMAR_DURATION] = "time",
	[GRAMMAR_WORDS] = "layers",
	[GRAMMAR_CHOICES] = NULL,
	[GRAMMAR_PATHS] = "paths",
	[GRAMMAR_NAMES] = "names",
	[GRAMMAR_MAP] = "names and values",
	[GRAMMAR_BOOL] = "true, false",
	[GRAMMAR_RULES] = "rules",
	[GRAMMAR_WORD] = NULL,
	[GRAMMAR_SECTIONS] = "secrets",
	[GRAMMAR_LEVELS] = "rules and levels",
	[GRAMMAR_PATTERNS] = "patterns",
};
static const char *const narrow_words[] = {
	[GRAMMAR_NARROW_LESS] = "less",      [GRAMMAR_NARROW_ADD] = "more of it",
	[GRAMMAR_NARROW_DENY] = "only deny", [GRAMMAR_NARROW_PLACES] = "fewer places",
	[GRAMMAR_NARROW_RAISE] = "stricter", [GRAMMAR_NARROW_NEVER] = "no",
};
static const char *const ceiling_words[] = {
	[GRAMMAR_CEILING_MOST] = "the most",
	[GRAMMAR_CEILING_WITHIN] = "only these; absent: any",
	[GRAMMAR_CEILING_ONLY] = "only these; absent: none",
	[GRAMMAR_CEILING_RULES] = "within these; absent: any",
	[GRAMMAR_CEILING_PLACES] = "only these, there; absent: any",
	[GRAMMAR_CEILING_LEAST] = "at least these",
	[GRAMMAR_CEILING_ADD] = "added to all",
	[GRAMMAR_CEILING_NO] = "no",
};

/* Every row of the grammar is a row of the document's table, word for word. */
static void test_table_in_policy_md(void **state)
{
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf line = BUF_INIT(1 << 12);

	(void)state;
	read_source("docs/POLICY.md", &doc);
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];

		buf_clear(&line);
		buf_putf(&line, "| `%s` | ", row->name);
		if (type_words[row->type])
			buf_put_str(&line, type_words[row->type]);
		else
			for (const char *const *w = row->words; *w; w++)
				buf_putf(&line, "%s%s", w == row->words ? "" : ", ", *w);
		buf_putf(&line, " | %s | %s | %s | %s |\n", row->standard ? row->standard : "",
			 narrow_words[row->narrow], ceiling_words[row->ceiling], row->help);
		if (!strstr(buf_str(&doc), buf_str(&line)))
			fail_msg("docs/POLICY.md lacks this line:\n%s", buf_str(&line));
	}
	for (const char *const *w = grammar_rows[GRAMMAR_WITHOUT].words; *w; w++)
		if (!strstr(buf_str(&doc), *w))
			fail_msg("docs/POLICY.md lacks the layer %s", *w);
}

/* The item of the manual that is about a key; fails when there is none. */
static struct span man_item(const struct buf *page, const char *name)
{
	_cleanup_buf_ struct buf head = BUF_INIT(256);

	buf_putf(&head, ".It Ic %s :", name);
	const char *at = strstr(buf_str(page), buf_str(&head));
	const char *end = at ? strstr(at + 1, "\n.It ") : NULL;

	if (at && !end)
		end = strstr(at, "\n.El");
	if (!end) {
		fail_msg("man/bawn-policy.5 lacks %s", name);
		return (struct span){NULL, 0};
	}
	return (struct span){(const uint8_t *)at, (size_t)(end - at)};
}

static bool span_has(struct span text, const char *word)
{
	return text.len > 0 && memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/* As it reads: "\-" is a minus. */
static void unescape_minus(struct buf *page)
{
	size_t len = 0;

	for (size_t i = 0; i < page->len; i++)
		if (page->ptr[i] != '\\' || page->ptr[i + 1] != '-')
			page->ptr[len++] = page->ptr[i];
	page->ptr[len] = '\0';
}

/* Every key is an item of the manual, with its help, its words and its default. */
static void test_man_page(void **state)
{
	_cleanup_buf_ struct buf page = BUF_INIT(1 << 20);

	(void)state;
	read_source("man/bawn-policy.5", &page);
	unescape_minus(&page);
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];
		const struct span item = man_item(&page, row->name);

		/* The help is a sentence there: with a capital. */
		if (!span_has(item, row->help + 1))
			fail_msg("man/bawn-policy.5 lacks, at %s: %s", row->name, row->help);
		if (row->standard && !span_has(item, row->standard))
			fail_msg("man/bawn-policy.5 lacks, at %s, the default %s", row->name,
				 row->standard);
		for (const char *const *w = row->words; w && *w; w++)
			if (!span_has(item, *w))
				fail_msg("man/bawn-policy.5 lacks, at %s, the word %s", row->name,
					 *w);
	}
}

/* What can stand in a rule, and every bundle, is in both. */
static void test_rules_are_explained(void **state)
{
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf page = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf word = BUF_INIT(256);
	const char *const *const lists[] = {rule_keys, policy_bundle_names()};

	(void)state;
	read_source("docs/POLICY.md", &doc);
	read_source("man/bawn-policy.5", &page);
	unescape_minus(&page);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lists); i++)
		for (const char *const *w = lists[i]; *w; w++) {
			buf_clear(&word);
			buf_putf(&word, "`%s`", *w);
			if (!strstr(buf_str(&doc), buf_str(&word)))
				fail_msg("docs/POLICY.md lacks %s", *w);
			buf_clear(&word);
			buf_putf(&word, i ? ".Cm %s" : ".It Ic %s :", *w);
			if (!strstr(buf_str(&page), buf_str(&word)))
				fail_msg("man/bawn-policy.5 lacks %s", *w);
		}
}

/* The next ```yaml block of text, as a span; NULL pointer when there is none. */
static struct span next_block(const char **at)
{
	static const char fence[] = "```yaml\n";
	const char *start = strstr(*at, fence);
	const char *end = start ? strstr(start + sizeof(fence) - 1, "```\n") : NULL;

	if (!end)
		return (struct span){NULL, 0};
	*at = end + 4;
	start += sizeof(fence) - 1;
	return (struct span){(const uint8_t *)start, (size_t)(end - start)};
}

/* The examples are read by bawn itself, together; the user's one shows every key. */
static void test_examples(void **state)
{
	static const struct {
		enum policy_layer layer;
		const char *first;
	} files[] = {
		{POLICY_USER, "# ~/.config/bawn/config.yaml"},
		{POLICY_REPOSITORY, "# .bawn.yaml"},
		{POLICY_CEILING, "# /etc/bawn/policy.yaml"},
	};
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct policy_source sources[BAWN_ARRAY_SIZE(files)] = {{.name = NULL}};
	struct error e = ERROR_INIT;
	struct policy p;
	size_t n = 0;

	(void)state;
	read_source("docs/POLICY.md", &doc);
	const char *at = buf_str(&doc);

	for (struct span block = next_block(&at); block.ptr; block = next_block(&at)) {
		assert_true(n < BAWN_ARRAY_SIZE(files));
		assert_memory_equal(block.ptr, files[n].first, strlen(files[n].first));
		sources[n] = (struct policy_source){files[n].layer, files[n].first, block};
		n++;
	}
	assert_int_equal(n, BAWN_ARRAY_SIZE(files));
	if (policy_merge(sources, n, NULL, 0, &arena, &p, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(p.notes.count, 0);
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const char *dot = strchr(grammar_rows[i].name, '.');
		const char *key = dot ? dot + 1 : grammar_rows[i].name;

		if (!span_has(sources[0].text, key))
			fail_msg("the example of docs/POLICY.md lacks %s", grammar_rows[i].name);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_in_policy_md),
		cmocka_unit_test(test_man_page),
		cmocka_unit_test(test_rules_are_explained),
		cmocka_unit_test(test_examples),
	};

	if (argc != 2)
		return 2;
	source_root = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
