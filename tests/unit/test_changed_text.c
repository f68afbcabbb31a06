/* SPDX-License-Identifier: Apache-2.0 */
/* git's settings and attributes, JSON, and characters that are not seen. */
#include "cmocka_lead.h"

#include "buf.h"
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

static void put_code_point(struct buf *b, uint32_t cp)
{
	if (cp < 0x80) {
		buf_put_char(b, (char)cp);
		return;
	}
	int more = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;

	buf_put_char(b, (char)((0xff << (7 - more) & 0xff) | cp >> (6 * more)));
	while (more-- > 0)
		buf_put_char(b, (char)(0x80 | (cp >> (6 * more) & 0x3f)));
}

/* How many of these, in a row, are invisible. */
static uint64_t invisible_of(const uint32_t *cps, size_t count)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);

	for (size_t i = 0; i < count; i++)
		put_code_point(&b, cps[i]);
	return looked(buf_str(&b)).count;
}

/* Joiners are letters' business in these blocks, from the first letter to the last. */
static void test_joiners(void **state)
{
	static const struct {
		uint32_t first, last;
	} blocks[] = {{0x600, 0x7ff},   {0x8a0, 0xdff},   {0xf00, 0x109f},   {0x1780, 0x18af},
		      {0xfb50, 0xfdff}, {0xfe70, 0xfefc}, {0x11000, 0x1173f}};
	static const int beside[] = {-1, 0, 1};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(blocks); i++)
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(beside); k++)
			for (uint32_t joiner = 0x200c; joiner <= 0x200d; joiner++) {
				uint32_t first = (uint32_t)((int)blocks[i].first + beside[k]);
				uint32_t last = (uint32_t)((int)blocks[i].last + beside[k]);
				const uint32_t head[] = {first, joiner, first};
				const uint32_t tail[] = {last, joiner, last};

				assert_int_equal(invisible_of(head, 3) - 2 * invisible_of(head, 1),
						 beside[k] < 0);
				assert_int_equal(invisible_of(tail, 3) - 2 * invisible_of(tail, 1),
						 beside[k] > 0);
			}
}

/* Behind a black flag six letters of the tag block and their end, and not one more. */
static void test_flags(void **state)
{
	uint32_t cps[12] = {0x1f3f4};

	(void)state;
	for (size_t i = 1; i < BAWN_ARRAY_SIZE(cps); i++) {
		cps[i] = 0xe0061;
		assert_int_equal(invisible_of(cps, i + 1), i <= 7 ? 0 : i - 7);
		cps[i] = 0xe007f;
		assert_int_equal(invisible_of(cps, i + 1), i <= 7 ? 0 : i - 7);
		cps[i] = 0xe0061;
	}
}

/* Each field may be as long as there is room for, and no byte longer. */
static void test_git_config_room(void **state)
{
	enum { MOST = GIT_CONFIG_VALUE_MAX + 1 };
	static const struct {
		const char *lead, *rest;
		size_t max, at;
	} rows[] = {
		{"[", "]\nkey=v\n", GIT_CONFIG_SECTION_MAX, offsetof(struct git_config, section)},
		{"[s \"", "\"]\nkey=v\n", GIT_CONFIG_SUBSECTION_MAX,
		 offsetof(struct git_config, subsection)},
		{"[s]\n", "=v\n", GIT_CONFIG_KEY_MAX, offsetof(struct git_config, key)},
		{"[s]\nkey=", "\n", GIT_CONFIG_VALUE_MAX, offsetof(struct git_config, value)},
	};
	static struct git_config g;
	static char word[MOST + 1];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t more = 0; more < 2; more++) {
			_cleanup_buf_ struct buf b = BUF_INIT((size_t)2 * MOST);

			memset(word, 'a', rows[i].max + more);
			word[rows[i].max + more] = '\0';
			buf_put_str(&b, rows[i].lead);
			buf_put_str(&b, word);
			buf_put_str(&b, rows[i].rest);
			memset(&g, 0, sizeof(g));
			g.left = buf_span(&b);
			assert_int_equal(git_config_next(&g), more ? -EBADMSG : 1);
			if (!more)
				assert_string_equal((const char *)&g + rows[i].at, word);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_config), cmocka_unit_test(test_git_attributes),
		cmocka_unit_test(test_json_walk),  cmocka_unit_test(test_json_walk_pass),
		cmocka_unit_test(test_invisible),  cmocka_unit_test(test_joiners),
		cmocka_unit_test(test_flags),      cmocka_unit_test(test_git_config_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
