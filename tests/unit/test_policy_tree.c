/* SPDX-License-Identifier: Apache-2.0 */
/* What of YAML a policy file may be: only what can be read in one way. */
#include "policy_try.h"

#include "str.h"
#include "yaml_tree.h"

/* Every refusal names file, line, column and reason. */
static void test_refusals(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"tools: &a true\n",
		 "config.yaml:1:8: anchors (&name) are not used here; write the value out"},
		{"files:\n  read: &a [/x]\n",
		 "config.yaml:2:9: anchors (&name) are not used here; write the value out"},
		{"files: &a\n  read: [/x]\n",
		 "config.yaml:1:8: anchors (&name) are not used here; write the value out"},
		{"&a tools: true\n",
		 "config.yaml:1:1: anchors (&name) are not used here; write the value out"},
		{"tools: *a\n",
		 "config.yaml:1:8: aliases (*name) are not used here; write the value out"},
		{"files:\n  read: [*a]\n",
		 "config.yaml:2:10: aliases (*name) are not used here; write the value out"},
		{"tools: !!bool true\n",
		 "config.yaml:1:8: tags (!name) are not used here; leave it out"},
		{"tools: !x true\n",
		 "config.yaml:1:8: tags (!name) are not used here; leave it out"},
		/* The tag that says nothing; the column counts characters, not bytes. */
		{"tools: true # \303\251\nenv: {set: {A: \303\251, B: ! x}}\n",
		 "config.yaml:2:22: tags (!name) are not used here; leave it out"},
		{"tools: ! \"true\"\n",
		 "config.yaml:1:8: tags (!name) are not used here; leave it out"},
		{"files: ! {}\n", "config.yaml:1:8: tags (!name) are not used here; leave it out"},
		{"files: {read: ! []}\n",
		 "config.yaml:1:15: tags (!name) are not used here; leave it out"},
		{"%YAML 1.1\n---\ntools: true\n",
		 "config.yaml:1:1: directives (%YAML, %TAG) are not used here; leave them out"},
		{"%TAG ! tag:x,2000:\n---\ntools: true\n",
		 "config.yaml:1:1: directives (%YAML, %TAG) are not used here; leave them out"},
		{"tools: true\n---\ntools: true\n",
		 "config.yaml:2:1: the file holds more than one document; one is possible"},
		{"tools: true\ndebug: true\ntools: false\n",
		 "config.yaml:3:1: tools stands here twice; the first is at line 1"},
		{"env:\n  set:\n    A: 1\n    A: 1\n",
		 "config.yaml:4:5: A stands here twice; the first is at line 3"},
		{"tools: true\n\"tools\": true\n",
		 "config.yaml:2:1: tools stands here twice; the first is at line 1"},
		{"? [a, b]\n: c\n",
		 "config.yaml:1:3: a key is a single word, not a list or a section"},
		{"{a: b}: c\n", "config.yaml:1:1: a key is a single word, not a list or a section"},
		{"a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}\n",
		 "config.yaml:1:32: the file is nested deeper than 8 levels"},
		{"a: [[[[[[[[1]]]]]]]]\n",
		 "config.yaml:1:11: the file is nested deeper than 8 levels"},
		{"- tools\n",
		 "config.yaml:1:1: the file must hold keys and values, as in \"tools: false\""},
		{"tools\n",
		 "config.yaml:1:1: the file must hold keys and values, as in \"tools: false\""},
		{"\"\"\n",
		 "config.yaml:1:1: the file must hold keys and values, as in \"tools: false\""},
		{"tools: true\n# \377\n", "config.yaml:2:3: byte 0xff is not valid UTF-8"},
		{"# \303\251\300\200\n", "config.yaml:1:4: byte 0xc0 is not valid UTF-8"},
		{"\377\376t\n", "config.yaml:1:1: byte 0xff is not valid UTF-8"}, /* UTF-16 */
		{"# \033[31m\n", "config.yaml:1:3: control character U+001B is not allowed here"},
		{"# x\ntools: tr\177ue\n",
		 "config.yaml:2:10: control character U+007F is not allowed here"},
		/* A comment for the eye, a key for a YAML reader. */
		{"# x\rdebug: true\n",
		 "config.yaml:1:4: control character U+000D is not allowed here"},
		{"# x\302\205debug: true\n",
		 "config.yaml:1:4: control character U+0085 is not allowed here"},
		{"# x\342\200\250debug: true\n",
		 "config.yaml:1:4: control character U+2028 is not allowed here"},
		{"env: {set: {A: \"\\x07\"}}\n", "config.yaml:1:16: a key or value is one line, "
						 "without control or invisible characters"},
		{"env: {set: {A: \"a\\0b\"}}\n", "config.yaml:1:16: a key or value is one line, "
						 "without control or invisible characters"},
		{"env: {set: {A: \"\\u202e\"}}\n", "config.yaml:1:16: a key or value is one line, "
						   "without control or invisible characters"},
		{"env:\n  set:\n    A: |\n      x\n",
		 "config.yaml:3:8: a key or value is one line, "
		 "without control or invisible characters"},
		{"\"a\\0b\": 1\n",
		 "config.yaml:1:1: a key or value is one line, without control or "
		 "invisible characters"},
		{"tools: [true\n", "config.yaml:2:1: this is not valid YAML: did not find expected "
				   "',' or ']'"},
		{"tools: true\n\tdebug: true\n",
		 "config.yaml:2:1: a tab stands here: indent with spaces, not tabs"},
		{"network:\n\t- allow: example.org\n",
		 "config.yaml:2:1: a tab stands here: indent with spaces, not tabs"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o = TRY(.user = cases[i].text);

		try_refused(&o, cases[i].sentence);
	}
}

/* A NUL in the text is no end of it. */
static void test_nul(void **state)
{
	static const char text[] = "tools: true\n\0debug: true\n";
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	const struct tree_node *root = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(tree_parse("f", (struct span){(const uint8_t *)text, sizeof(text) - 1},
				    &arena, &root, &e),
			 -EINVAL);
	assert_string_equal(e.text, "f:2:1: control character U+0000 is not allowed here");
}

static void test_nothing_is_a_policy(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "# nothing here\n", "---\n", "--- \n...\n", "\357\273\277", "{}"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(texts); i++) {
		_cleanup_try_ struct try_outcome o = TRY(.user = texts[i]);

		try_good(&o);
		assert_string_equal(o.policy.backend_origin, "default");
	}
	/* A span that is nowhere at all. */
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	const struct policy_source nowhere = {POLICY_USER, "f", {NULL, 0}};
	struct policy p;

	assert_int_equal(policy_merge(&nowhere, 1, NULL, 0, &arena, &p, NULL), 0);
}

static void test_bounds(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_arena_ struct arena arena = ARENA_INIT(4 << 20);
	const struct tree_node *root = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	while (text.len < TREE_TEXT_MAX)
		buf_put_char(&text, '#');
	assert_int_equal(tree_parse("f", buf_span(&text), &arena, &root, &e), 0);
	buf_put_char(&text, '#');
	assert_int_equal(tree_parse("f", buf_span(&text), &arena, &root, &e), -EFBIG);
	assert_string_equal(e.text, "f: the file is larger than 64 KiB");

	/* The root, the key, the list and 4093 items are 4096. */
	buf_clear(&text);
	buf_put_str(&text, "a: [");
	for (int i = 0; i < 4093; i++)
		buf_put_str(&text, "1,");
	buf_put_str(&text, "]\n");
	assert_int_equal(tree_parse("f", buf_span(&text), &arena, &root, &e), 0);
	text.len -= 2;
	buf_put_str(&text, "1]\n");
	assert_int_equal(tree_parse("f", buf_span(&text), &arena, &root, &e), -EINVAL);
	assert_string_equal(e.text, "f:1:8191: the file has more than 4096 keys and values");
}

static void test_shape(void **state)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	const struct tree_node *root = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(
		tree_parse("f", span_of_str("a: no\r\nb:\r\n  - 'x'\r\n  - {}\r\nc:\r\nd: ''\r\n"),
			   &arena, &root, &e),
		0);
	const struct tree_node *n = root->children;

	assert_int_equal(root->kind, TREE_MAP);
	assert_string_equal(n->key, "a");
	assert_int_equal(n->kind, TREE_SCALAR);
	assert_string_equal(n->text, "no");
	assert_int_equal(n->line, 1);
	assert_int_equal(n->column, 4);
	n = n->next;
	assert_string_equal(n->key, "b");
	assert_int_equal(n->key_line, 2);
	assert_int_equal(n->kind, TREE_LIST);
	assert_null(n->children->key);
	assert_string_equal(n->children->text, "x");
	assert_int_equal(n->children->line, 3);
	assert_int_equal(n->children->column, 5);
	assert_int_equal(n->children->next->kind, TREE_MAP);
	assert_null(n->children->next->next);
	n = n->next;
	assert_string_equal(n->key, "c");
	assert_true(n->empty);
	n = n->next;
	assert_string_equal(n->key, "d");
	assert_false(n->empty);
	assert_null(n->next);
}

/* With the Nth piece of memory missing: an error, never a crash or half a tree. */
static void test_no_memory(void **state)
{
	static const char text[] = "files:\n  hide: [/a, /b, /c]\nenv:\n  set: {A: b, C: d}\n";
	bool whole = false;

	(void)state;
	for (size_t room = 0; !whole; room += 16) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(room);
		const struct policy_source source = {POLICY_USER, "f", SPAN_LITERAL(text)};
		struct error e = ERROR_INIT;
		struct policy p;
		int r = policy_merge(&source, 1, NULL, 0, &arena, &p, &e);

		whole = r == 0;
		if (r < 0)
			assert_int_equal(r, -ENOMEM);
		assert_true(room < 1 << 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_nothing_is_a_policy),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
