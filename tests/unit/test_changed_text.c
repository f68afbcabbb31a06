/* SPDX-License-Identifier: Apache-2.0 */
/* git's settings and attributes, JSON, and characters that are not seen. */
#include "cmocka_lead.h"

#include "git_attributes.h"
#include "git_config.h"
#include "invisible.h"
#include "json_walk.h"
#include "str.h"

#include <stdio.h>

/* Settings as "section.sub.key=value" one a line; "!" at the end of what is refused. */
static const char *settings(const char *text)
{
	static char shown[4096];
	struct git_config g = {.left = span_of_str(text)};
	size_t at = 0;
	int r;

	shown[0] = '\0';
	while ((r = git_config_next(&g)) > 0)
		at += (size_t)snprintf(shown + at, sizeof(shown) - at, "%s%s%s.%s=%s|", g.section,
				       g.has_subsection ? "." : "", g.subsection, g.key, g.value);
	if (r < 0)
		(void)snprintf(shown + at, sizeof(shown) - at, "!");
	return shown;
}

static void test_git_config(void **state)
{
	static const struct {
		const char *text, *settings;
	} rows[] = {
		{"", ""},
		{"# x\n; y\n\n", ""},
		{"[core]\n\tpager = less -R \n", "core.pager=less -R|"},
		{"[CORE] Pager=x", "core.pager=x|"},
		{"[core]\npager", "core.pager=true|"},
		{"[core]\npager\nx=", "core.pager=true|core.x=|"},
		{"[filter \"A b\"]clean = !x", "filter.A b.clean=!x|"},
		{"[filter \"a\\\"\\\\\\x\"]\nc=d", "filter.a\"\\x.c=d|"},
		{"[a.B]c=d", "a.b.c=d|"},
		{"[a]b = \"x ; y\" # z\nc = x ; y", "a.b=x ; y|a.c=x|"},
		{"[a]b = x\\\n  y", "a.b=x  y|"},
		{"[a]b = x\\ty\\\\", "a.b=x\ty\\|"},
		{"[a]\r\nb = c\r\n", "a.b=c|"},
		{"[a]b = \"  c  \"  ", "a.b=  c  |"},
		{"[a]b=1[c]d=2", "a.b=1[c]d=2|"},
		{"[a]\n[b]c=d", "b.c=d|"},
		{"\xef\xbb\xbf[a]b=c", "a.b=c|"},
		/* what git refuses */
		{"a = b", "!"},
		{"[a", "!"},
		{"[a \"b]\nc=d", "!"},
		{"[a \"b\"x]\nc=d", "!"},
		{"[a b]\nc=d", "!"},
		{"[a_b]\nc=d", "!"},
		{"[a]b=1\n[c]1d=2", "a.b=1|!"},
		{"[a]b c", "!"},
		{"[a]b = \"c\nd", "!"},
		{"[a]b = \\q", "!"},
		{"[a]b = c\\", "!"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (!str_equal(settings(rows[i].text), rows[i].settings))
			fail_msg("%s: %s", rows[i].text, settings(rows[i].text));
}

static void test_git_attributes(void **state)
{
	static const char text[] = "*.bin filter=lfs diff=lfs -text\n\t\"a b\"merge=ours\r\n"
				   "[attr]m diff=python\nx filter= -filter filter\ny merge=union";
	static const struct {
		enum git_driver driver;
		const char *name;
		bool builtin;
	} found[] = {
		{GIT_DRIVER_FILTER, "lfs", false}, {GIT_DRIVER_DIFF, "lfs", false},
		{GIT_DRIVER_MERGE, "ours", false}, {GIT_DRIVER_DIFF, "python", true},
		{GIT_DRIVER_MERGE, "union", true},
	};
	struct git_attributes a = {.left = SPAN_LITERAL(text)};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(found); i++) {
		assert_true(git_attributes_next(&a));
		assert_int_equal(a.driver, found[i].driver);
		assert_true(span_equal(a.name, span_of_str(found[i].name)));
		assert_int_equal(git_attributes_is_builtin(a.driver, a.name), found[i].builtin);
	}
	assert_false(git_attributes_next(&a));
}

/* One letter for each token. */
static const char *tokens(const char *text, bool relaxed)
{
	static char shown[256];
	static const char letters[] = "!.([ks#w";
	struct json_walk w = {.left = span_of_str(text), .relaxed = relaxed};
	size_t at = 0;
	enum json_walk_token t;

	do {
		t = json_walk_next(&w);
		shown[at++] = t == JSON_WALK_CLOSE ? ')' : letters[t + 1];
	} while (t > JSON_WALK_END && at + 1 < sizeof(shown));
	shown[at] = '\0';
	return shown;
}

static void test_json_walk(void **state)
{
	static const struct {
		const char *text, *strict, *relaxed;
	} rows[] = {
		{"{}", "().", "()."},
		{" [ ] ", "().", "()."},
		{"{\"a\":[1,-0.5e3,\"x\",true,null],\"b\":{}}", "(k(##sww)k()).", "(k(##sww)k())."},
		{"1", "#.", "#."},
		{"{\"a\":1,}", "(k#!", "(k#)."},
		{"[1,]", "(#!", "(#)."},
		{"// x\n[/* y */1]", "!", "(#)."},
		{"[1 /* y", "(#!", "(#!"},
		{"{\"a\" 1}", "(k!", "(k!"},
		{"{\"a\":1 \"b\":2}", "(k#!", "(k#!"},
		{"{a:1}", "(!", "(!"},
		{"[1}", "(#!", "(#!"},
		{"[,1]", "(!", "(!"},
		{"[01]", "(!", "(!"},
		{"\"\\x\"", "!", "!"},
		{"\"\\u12g4\"", "!", "!"},
		{"\"a\nb\"", "!", "!"},
		{"\"\xff\"", "!", "!"},
		{"{}{}", "()!", "()!"},
		{"", "!", "!"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		if (!str_equal(tokens(rows[i].text, false), rows[i].strict))
			fail_msg("%s: %s", rows[i].text, tokens(rows[i].text, false));
		if (!str_equal(tokens(rows[i].text, true), rows[i].relaxed))
			fail_msg("%s, relaxed: %s", rows[i].text, tokens(rows[i].text, true));
	}
	assert_true(json_walk_is(SPAN_LITERAL("scripts"), "scripts"));
	assert_true(json_walk_is(SPAN_LITERAL("\\u0073cripts"), "scripts"));
	assert_true(json_walk_is(SPAN_LITERAL("a\\/b\\n"), "a/b\n"));
	assert_false(json_walk_is(SPAN_LITERAL("script"), "scripts"));
	assert_false(json_walk_is(SPAN_LITERAL("scripts2"), "scripts"));
}

static void test_json_walk_pass(void **state)
{
	struct json_walk w = {.left = span_of_str("{\"a\": {\"b\": [1, {}]} , \"c\": 2}")};

	(void)state;
	assert_int_equal(json_walk_next(&w), JSON_WALK_OPEN);
	assert_int_equal(json_walk_next(&w), JSON_WALK_KEY);
	struct span began = w.left;

	assert_int_equal(json_walk_pass(&w, json_walk_next(&w), began), JSON_WALK_CLOSE);
	assert_true(span_equal(w.text, SPAN_LITERAL(": {\"b\": [1, {}]}")));
	assert_int_equal(json_walk_next(&w), JSON_WALK_KEY);
	assert_true(json_walk_is(w.text, "c"));
}

static struct invisible looked(const char *text)
{
	struct invisible v = {.count = 0};

	invisible_feed(&v, span_of_str(text));
	invisible_end(&v);
	return v;
}

static void test_invisible(void **state)
{
	static const struct {
		const char *text;
		uint64_t count;
	} rows[] = {
		{"plain text\n", 0},
		{"na\xc3\xafve \xe2\x82\xac \xe4\xb8\xad", 0},
		{"\xef\xbb\xbfmark", 0},
		{"x\xef\xbb\xbf", 1},
		{"a\xe2\x80\xae"
		 "b",
		 1},                             /* RLO */
		{"\xe2\x81\xa6\xe2\x81\xa9", 2}, /* LRI PDI */
		{"a\xe2\x80\x8b"
		 "b",
		 1}, /* zero-width space */
		{"a\xe2\x80\x8d"
		 "b",
		 1},                                                 /* joiner between letters */
		{"\xe2\x9d\xa4\xef\xb8\x8f", 0},                     /* heart, as emoji */
		{"1\xef\xb8\x8f\xe2\x83\xa3", 0},                    /* keycap */
		{"a\xef\xb8\x8f", 1},                                /* selects nothing */
		{"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f", 1},         /* a second one */
		{"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", 0}, /* family */
		{"\xf0\x9f\x91\xa8\xe2\x80\x8d"
		 "x",
		 1}, /* joins nothing */
		{"\xf0\x9f\x91\xa8\xe2\x80\x8d", 1},
		{"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", 0}, /* Persian */
		{"x\xf3\xa0\x84\x80\xf3\xa0\x84\x81", 2},    /* selectors as data */
		{"\xe4\xb8\xad\xf3\xa0\x84\x80", 0},         /* variant of an ideograph */
		{"\xf3\xa0\x81\xb2\xf3\xa0\x81\xb5", 2},     /* tags as text */
		{"\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xbf", 0}, /* a flag */
		{"\xee\x82\xa0 \xee\x82\xa0", 0},                        /* icons */
		{"\xee\x82\xa0\xee\x82\xa0\xee\x82\xa0\xee\x82\xa0\xee\x82\xa0", 2},
		{"s\xc2\xadoft", 1},
		{"a\xf0\x93\x90\xb0", 1},                /* joins no hieroglyph */
		{"\xf0\x93\x80\x80\xf0\x93\x90\xb0", 0}, /* joins one */
		{"\xd8\x80 \xdb\x9d", 0},                /* signs that are seen */
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (looked(rows[i].text).count != rows[i].count)
			fail_msg("row %zu: %s: %u", i, rows[i].text,
				 (unsigned int)looked(rows[i].text).count);
	struct invisible v = looked("one\ntwo\nthr\xe2\x80\xae"
				    "ee\n\xe2\x80\x8b");

	assert_int_equal(v.first_line, 3);
	assert_int_equal(v.kind_count, 2);
	assert_int_equal(v.kinds[0], 0x202e);
	assert_int_equal(v.kinds[1], 0x200b);
	assert_true(invisible_is_text(&v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_config), cmocka_unit_test(test_git_attributes),
		cmocka_unit_test(test_json_walk),  cmocka_unit_test(test_json_walk_pass),
		cmocka_unit_test(test_invisible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
