/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word is found and taken out however it is written, wherever the bytes are cut, and
 * nothing else is touched.
 */
#include "cmocka_lead.h"

#include "../lib/spell.h"
#include "encode.h"
#include "finder.h"
#include "scrub.h"

#include <time.h>

static const char *const words[] = {
	"sk-ant-api03-Zx81/jW+kQ==_AA9~",
	"ghp_0123456789abcdefABCDEFghijklmnopqrst",
	"8letters",
	"pa%41ss&amp;wo\\rd\"=3D",
};
static const char *const masks[] = {
	"sk-ant-api03-Qy37/vU+oN==_BB8~",
	"ghp_zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQ",
	"PLACEHOL",
	"XXXXXXXXXXXXXXXXXXXXX",
};

enum { WORDS = BAWN_ARRAY_SIZE(words) };

/* How much of the words everybody knows: all, a beginning, nothing. */
static const size_t beginnings[WORDS] = {13, 4, 3, 3}, nothing[WORDS];
static const size_t *const knows[] = {NULL, beginnings, nothing};

static struct finder *make_known(const size_t *known)
{
	struct span w[WORDS], m[WORDS];
	struct finder *f = NULL;

	for (size_t i = 0; i < WORDS; i++) {
		w[i] = span_of_str(words[i]);
		m[i] = span_of_str(masks[i]);
	}
	assert_int_equal(finder_new(w, m, known, WORDS, &f), 0);
	return f;
}

static struct finder *make(void)
{
	return make_known(NULL);
}

static struct finder *make_one(size_t i)
{
	struct span w = span_of_str(words[i]), m = span_of_str(masks[i]);
	struct finder *f = NULL;

	assert_int_equal(finder_new(&w, &m, NULL, 1, &f), 0);
	return f;
}

/* Through a scrubber in pieces: the first of `first` bytes, then of `rest`. */
static uint64_t scrub_cut(const struct finder *f, struct span bytes, size_t first, size_t rest,
			  struct buf *into)
{
	struct scrub s = {.finder = f};

	buf_clear(into);
	for (size_t at = 0, size = first; at < bytes.len; at += size, size = rest) {
		size_t n = size < bytes.len - at ? size : bytes.len - at;
		uint8_t *copy = malloc(n + 1);
		struct span out;

		assert_non_null(copy);
		memcpy(copy, bytes.ptr + at, n);
		assert_int_equal(scrub_feed(&s, (struct span){copy, n}, false, &out), 0);
		buf_put(into, out.ptr, out.len);
		/* Never behind by more than a word, never ahead. */
		assert_true(into->len <= at + n);
		free(copy);
		size = n;
	}
	struct span out;

	assert_int_equal(scrub_feed(&s, (struct span){NULL, 0}, true, &out), 0);
	buf_put(into, out.ptr, out.len);
	assert_int_equal(buf_error(into), 0);
	uint64_t found = s.found;

	scrub_fini(&s);
	return found;
}

static bool is_clean(const struct finder *f, struct span bytes)
{
	struct finder_hit hit;

	return finder_next(f, bytes, 0, true, &hit) == FINDER_NOTHING;
}

/* Digits of hex may change their case: "30" does not say which one its neighbours have. */
static bool is_same(const struct buf *a, const struct buf *b, size_t from)
{
	for (size_t i = from; i < a->len && i < b->len; i++)
		if (a->ptr[i] != b->ptr[i] && (a->ptr[i] ^ b->ptr[i]) != 0x20)
			return false;
	return a->len == b->len;
}

static void try_spelling(const struct spelling *how, size_t word, const size_t *known)
{
	struct finder *f = make_known(known), *alone = make_one(word);
	struct buf text = BUF_INIT(1 << 16), wanted = BUF_INIT(1 << 16), got = BUF_INIT(1 << 20);
	const char *around[] = {"{\"k\": \"", "\", \"n\": 1}"};

	buf_put_str(&text, around[0]);
	how->write(&text, span_of_str(words[word]));
	buf_put_str(&text, around[1]);
	buf_put_str(&wanted, around[0]);
	how->write(&wanted, span_of_str(masks[word]));
	buf_put_str(&wanted, around[1]);
	for (size_t cut = 1; cut <= text.len; cut++) {
		if (scrub_cut(f, buf_span(&text), cut, text.len, &got) != 1)
			fail_msg("%s of \"%s\", cut at %zu: not found: %s", how->name, words[word],
				 cut, buf_str(&got));
		assert_int_equal(got.len, text.len);
		if (how->exact && !is_same(&got, &wanted, SCRUB_LET + 20))
			fail_msg("%s of \"%s\", cut at %zu: %s", how->name, words[word], cut,
				 buf_str(&got));
	}
	if (scrub_cut(f, buf_span(&text), 1, 1, &got) != 1)
		fail_msg("%s of \"%s\", byte by byte", how->name, words[word]);
	assert_int_equal(got.len, text.len);
	if (scrub_cut(f, buf_span(&text), text.len, 1, &got) != 1 ||
	    !is_clean(alone, buf_span(&got)))
		fail_msg("%s of \"%s\": something is left: %s", how->name, words[word],
			 buf_str(&got));
	if (how->exact)
		assert_true(is_same(&got, &wanted, 0));
	buf_fini(&text);
	buf_fini(&wanted);
	buf_fini(&got);
	finder_free(f);
	finder_free(alone);
}

static void test_every_spelling(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(spellings_all); i++)
		for (size_t w = 0; w < WORDS; w++)
			for (size_t k = 0; k < BAWN_ARRAY_SIZE(knows); k++)
				try_spelling(&spellings_all[i], w, knows[k]);
}

/* What a program writes where a value itself has a backslash before what could be an escape. */
static void test_backslash_in_word(void **state)
{
	static const char *const values[] = {"CORP\\123user", "dir\\041\\377end", "a\\\\101bcdef"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(values); i++) {
		struct span w = span_of_str(values[i]), m = span_of_str("XXXXXXXXXXXXXXXXXXXXXXXX");
		char json[64] = "\"", *at = json + 1;
		struct finder *f = NULL;
		struct finder_hit hit = {0};

		for (const char *c = values[i]; *c; c++) {
			if (*c == '\\')
				*at++ = '\\';
			*at++ = *c;
		}
		*at++ = '"';
		*at = '\0';
		m.len = w.len;
		assert_int_equal(finder_new(&w, &m, NULL, 1, &f), 0);
		assert_int_equal(finder_next(f, w, 0, true, &hit), FINDER_FOUND);
		if (finder_next(f, span_of_str(json), 0, true, &hit) != FINDER_FOUND)
			fail_msg("%s", json);
		finder_free(f);
	}
}

/* ---- layers ---- */

static uint64_t seed;

static size_t pick(size_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % below);
}

/* Encoders as programs have them; each written apart from the code under test. */
static void layer_json(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into, strchr("\"\\", text.ptr[i]) ? "\\%c" : "%c", text.ptr[i]);
}

static void layer_json_slash(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into, strchr("\"\\/", text.ptr[i]) ? "\\%c" : "%c", text.ptr[i]);
}

static void layer_json_html(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into,
			 strchr("\"\\", text.ptr[i])    ? "\\%c"
			 : strchr("<>&'+", text.ptr[i]) ? "\\u%04x"
							: "%c",
			 text.ptr[i]);
}

static void layer_html(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = (char)text.ptr[i];
		const char *entity = c == '&'    ? "&amp;"
				     : c == '<'  ? "&lt;"
				     : c == '>'  ? "&gt;"
				     : c == '"'  ? "&quot;"
				     : c == '\'' ? "&#x27;"
						 : NULL;

		if (entity)
			buf_put_str(into, entity);
		else
			buf_put_char(into, c);
	}
}

static void layer_html_numbers(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into, strchr("&<>\"'", text.ptr[i]) ? "&#%u;" : "%c", text.ptr[i]);
}

static bool needs_percent(uint8_t c)
{
	return !((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
		 strchr("-._~", c));
}

static void layer_form(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into, needs_percent(text.ptr[i]) ? "%%%02X" : "%c", text.ptr[i]);
}

static void layer_form_lower(struct buf *into, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putf(into, needs_percent(text.ptr[i]) ? "%%%02x" : "%c", text.ptr[i]);
}

static void layer_none(struct buf *into, struct span text)
{
	buf_put(into, text.ptr, text.len);
}

struct layer {
	const char *name;
	void (*write)(struct buf *into, struct span text);
};

static const struct layer layers[] = {
	{"nothing", layer_none},
	{"JSON", layer_json},
	{"JSON with slashes", layer_json_slash},
	{"JSON for HTML", layer_json_html},
	{"HTML", layer_html},
	{"HTML in numbers", layer_html_numbers},
	{"percent", layer_form},
	{"percent, lower case", layer_form_lower},
};

/* A value as people have them: letters, and some of those that are escaped somewhere. */
static size_t make_value(char value[48])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char odd[] = "\"\\&<>'/+=%#;:,{}[]()!?*@^|~$-_.";
	size_t len = 12 + pick(30);

	for (size_t i = 0; i < len; i++)
		value[i] = pick(4) == 0 ? odd[pick(sizeof(odd) - 1)]
					: letters[pick(sizeof(letters) - 1)];
	value[len] = '\0';
	return len;
}

/* Whether a value is no other one for who takes escapes off once: a second layer is found then. */
static bool is_settled(const char *value)
{
	for (const char *c = value; *c; c++)
		if ((*c == '\\' && strchr("\\ux0123\"&<>'/+=%#;:,{}[]()!?*@^|~$-_.", c[1])) ||
		    (strchr("%=", *c) && strchr("0123456789abcdefABCDEF", c[1])))
			return false;
	return true;
}

static struct finder *make_value_finder(const char *value)
{
	static const size_t none[1] = {0};
	struct span w = span_of_str(value);
	struct span m = span_of_str("PlaceholderPlaceholderPlaceholderPlaceholderPlaceh");
	struct finder *f = NULL;

	m.len = w.len;
	assert_int_equal(finder_new(&w, &m, none, 1, &f), 0);
	return f;
}

/* `before`, the value and `behind` in the first layer, all of it in the second. */
struct document {
	struct buf text;
	size_t at, len; /* of the value in it */
};

static void write_document(struct document *d, const char *value, const struct layer *inner,
			   const struct layer *outer)
{
	struct buf one = BUF_INIT(1 << 16);

	d->text = BUF_INIT(1 << 18);
	outer->write(&d->text, span_of_str("{\"password\": \""));
	d->at = d->text.len;
	inner->write(&one, span_of_str(value));
	outer->write(&d->text, buf_span(&one));
	d->len = d->text.len - d->at;
	outer->write(&d->text, span_of_str("\", \"n\": 1}"));
	assert_int_equal(buf_error(&d->text), 0);
	buf_fini(&one);
}

/* Wherever the document is cut, the same comes out. */
static void try_cuts(const struct finder *f, const struct document *d)
{
	struct buf whole = BUF_INIT(1 << 18), got = BUF_INIT(1 << 18);

	buf_put(&whole, d->text.ptr, d->text.len);
	scrub_whole(f, (uint8_t *)whole.ptr, whole.len, NULL);
	for (int i = 0; i < 3; i++) {
		size_t cut = 1 + pick(d->text.len), rest = 1 + pick(i == 0 ? 1 : d->text.len);

		(void)scrub_cut(f, buf_span(&d->text), cut, rest, &got);
		assert_string_equal(buf_str(&got), buf_str(&whole));
	}
	buf_fini(&whole);
	buf_fini(&got);
}

/* A value with letters that have to be escaped is found below two layers of escapes. */
static void test_two_layers_of_escapes(void **state)
{
	size_t settled = 0, others = 0, missed = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		char value[48];

		(void)make_value(value);
		struct finder *f = make_value_finder(value);

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(layers); i++)
			for (size_t k = 0; k < BAWN_ARRAY_SIZE(layers); k++) {
				struct finder_hit hit = {0};
				struct document d;

				write_document(&d, value, &layers[i], &layers[k]);
				bool found = finder_next(f, buf_span(&d.text), 0, true, &hit) ==
						     FINDER_FOUND &&
					     hit.at == d.at && hit.len == d.len;

				if (!found && is_settled(value))
					fail_msg("%s in %s, value <%s>: %s (%zu+%zu, not %zu+%zu)",
						 layers[i].name, layers[k].name, value,
						 buf_str(&d.text), hit.at, hit.len, d.at, d.len);
				if (round < 40)
					try_cuts(f, &d);
				settled += is_settled(value);
				others += !is_settled(value);
				missed += !found;
				buf_fini(&d.text);
			}
		finder_free(f);
	}
	print_message("%zu found; of %zu values that have an escape in them %zu were missed\n",
		      settled, others, missed);
	assert_true(settled > 1000 && missed * 20 < others);
}

/* In base64 and in hex of what JSON and a form make of it. */
static void test_packed_as_it_was_written(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		char value[48];

		(void)make_value(value);
		struct finder *f = make_value_finder(value);
		static const struct layer written[] = {{"JSON", layer_json}, {"form", layer_form}};

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(written); i++)
			for (size_t k = 0; k < BAWN_ARRAY_SIZE(spellings_all); k++) {
				struct buf one = BUF_INIT(1 << 16), two = BUF_INIT(1 << 16);
				struct finder_hit hit = {0};

				if (strncmp(spellings_all[k].name, "base64", 6) != 0 &&
				    strncmp(spellings_all[k].name, "hex", 3) != 0)
					continue;
				written[i].write(&one, span_of_str(value));
				spellings_all[k].write(&two, buf_span(&one));
				if (finder_next(f, buf_span(&two), 0, true, &hit) != FINDER_FOUND)
					fail_msg("%s of %s, value <%s>: %s", spellings_all[k].name,
						 written[i].name, value, buf_str(&two));
				scrub_whole(f, (uint8_t *)two.ptr, two.len, NULL);
				assert_true(is_clean(f, buf_span(&two)));
				buf_fini(&one);
				buf_fini(&two);
			}
		finder_free(f);
	}
}

/* What stands in its place does not tell which of its letters were escaped, nor as what. */
static void test_mask_tells_no_letter(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		char value[2][48];
		size_t len = make_value(value[0]);

		/* The same letters in another order. */
		memcpy(value[1], value[0], sizeof(value[0]));
		for (size_t i = len - 1; i > 0; i--) {
			size_t k = pick(i + 1);
			char c = value[1][i];

			value[1][i] = value[1][k];
			value[1][k] = c;
		}
		if (!is_settled(value[0]) || !is_settled(value[1]))
			continue;
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(layers); i++)
			for (size_t k = 0; k < BAWN_ARRAY_SIZE(layers); k++) {
				struct document d[2];

				for (int n = 0; n < 2; n++) {
					struct finder *f = make_value_finder(value[n]);

					write_document(&d[n], value[n], &layers[i], &layers[k]);
					scrub_whole(f, (uint8_t *)d[n].text.ptr, d[n].text.len,
						    NULL);
					finder_free(f);
				}
				if (strcmp(buf_str(&d[0].text), buf_str(&d[1].text)) != 0)
					fail_msg("%s in %s, <%s> and <%s>: %s, %s", layers[i].name,
						 layers[k].name, value[0], value[1],
						 buf_str(&d[0].text), buf_str(&d[1].text));
				buf_fini(&d[0].text);
				buf_fini(&d[1].text);
			}
	}
	/* A form that was escaped here and there still decodes to the placeholder. */
	struct finder *f = make_value_finder("Zq7+pLx/yWm2kRt9ez8Ha+Qw==");
	char text[] = "k=Zq7%2BpLx%2FyWm2kRt9ez8Ha%2BQw%3D%3D&n=1";
	uint8_t back[64];

	scrub_whole(f, (uint8_t *)text, strlen(text), NULL);
	ssize_t n = decode_percent(span_of_str(text), back, sizeof(back));

	assert_true(n > 0);
	assert_memory_equal(back, "k=PlaceholderPlaceholderPlac&n=1", (size_t)n);
	finder_free(f);
}

/* The forms that put_in tells apart. */
static void test_forms(void **state)
{
	static const struct {
		const char *text;
		enum finder_outcome outcome;
		enum finder_form form;
		size_t at, len;
	} rows[] = {
		{"x8letters", FINDER_FOUND, FINDER_PLAIN, 1, 8},
		{"x%38letters", FINDER_FOUND, FINDER_ESCAPED, 1, 10},
		{"8letter\\u0073", FINDER_FOUND, FINDER_ESCAPED, 0, 13},
		{"OGxldHRlcnM=", FINDER_FOUND, FINDER_BASE64, 0, 10},
		{"--386c657474657273", FINDER_FOUND, FINDER_HEX, 2, 16},
		{"8letter", FINDER_BEGUN, 0, 0, 0},
		{"8letterS", FINDER_NOTHING, 0, 0, 0},
		{"88letters", FINDER_FOUND, FINDER_PLAIN, 1, 8},
		{"%8letters", FINDER_FOUND, FINDER_PLAIN, 1, 8},
		{"%%38letters", FINDER_FOUND, FINDER_ESCAPED, 1, 10},
		{"\\8letters", FINDER_FOUND, FINDER_PLAIN, 1, 8},
		{"%u8letters", FINDER_FOUND, FINDER_PLAIN, 2, 8},
		{"8 letters", FINDER_NOTHING, 0, 0, 0},
		{"", FINDER_NOTHING, 0, 0, 0},
		{"z", FINDER_NOTHING, 0, 0, 0},
		{"zz8", FINDER_BEGUN, 0, 2, 0},
		{"zz%", FINDER_BEGUN, 0, 2, 0},
	};
	struct finder *f = make_one(2);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct finder_hit hit = {0};
		enum finder_outcome o = finder_next(f, span_of_str(rows[i].text), 0, false, &hit);

		if (o != rows[i].outcome)
			fail_msg("%s: %d", rows[i].text, (int)o);
		if (o != FINDER_NOTHING)
			assert_int_equal(hit.at, rows[i].at);
		if (o != FINDER_FOUND)
			continue;
		assert_int_equal(hit.len, rows[i].len);
		assert_int_equal(hit.form, rows[i].form);
	}
	finder_free(f);
}

/* What is not the word goes through as it came, at every cut, also what looks like it. */
static void test_nothing_else(void **state)
{
	static const char *const texts[] = {
		"8letter8letter8letter%8letter\\8letter\\u00388letter&#8letter&#56;8letter=38",
		"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\u\\u0\\u00\\u003\\u0038",
		"%25%25%25%25%25%25%25%2525%252525%38le%74te",
		"386c6574746572730"[0] == '3' ? "386c65747465727" : "",
		"sk-ant-api03-ghp_0123456789abcdefABCDEFghijklmnopqrs",
	};
	struct buf got = BUF_INIT(1 << 16);

	(void)state;
	for (size_t k = 0; k < BAWN_ARRAY_SIZE(knows); k++) {
		struct finder *f = make_known(knows[k]);

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(texts); i++)
			for (size_t cut = 1; cut <= strlen(texts[i]); cut++) {
				assert_int_equal(scrub_cut(f, span_of_str(texts[i]), cut, 1, &got),
						 0);
				assert_string_equal(buf_str(&got), texts[i]);
			}
		finder_free(f);
	}
	buf_fini(&got);
}

/* A conversation of small messages does not wait: at most SCRUB_LET bytes look like nothing. */
static void test_no_waiting(void **state)
{
	struct finder *f = make();
	struct scrub s = {.finder = f};
	struct span out;

	(void)state;
	for (size_t i = 1; i <= SCRUB_LET; i++) {
		assert_int_equal(
			scrub_feed(&s, (struct span){(const uint8_t *)"\n8le", i + 1}, false, &out),
			0);
		assert_int_equal(out.len, i + 1);
	}
	/* The rest of the word is still taken out. */
	assert_int_equal(scrub_feed(&s, SPAN_LITERAL("tters!"), false, &out), 0);
	assert_int_equal(out.len, 6);
	assert_memory_equal(out.ptr, "CEHOL!", 6);
	assert_int_equal(s.found, 1);
	scrub_fini(&s);
	finder_free(f);
}

static void try_many(const size_t *known)
{
	struct finder *f = make_known(known);
	struct buf got = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);

	for (int i = 0; i < 300; i++)
		buf_put_str(&text, words[i % WORDS]);
	for (size_t cut = 1; cut < 100; cut += 7) {
		assert_int_equal(scrub_cut(f, buf_span(&text), cut, cut, &got), 300);
		assert_int_equal(got.len, text.len);
		for (size_t w = 0; w < WORDS; w++)
			assert_null(memmem(got.ptr, got.len, words[w], strlen(words[w])));
	}
	buf_fini(&got);
	buf_fini(&text);
	finder_free(f);
}

static void test_many_and_next_to_each_other(void **state)
{
	(void)state;
	for (size_t k = 0; k < BAWN_ARRAY_SIZE(knows); k++)
		try_many(knows[k]);
}

static void test_what_cannot_be_a_word(void **state)
{
	struct span w = SPAN_LITERAL("7letter");
	struct finder *f = NULL;

	(void)state;
	assert_int_equal(finder_new(&w, NULL, NULL, 1, &f), -EINVAL);
	assert_null(f);
	assert_int_equal(finder_new(NULL, NULL, NULL, 0, &f), 0);
	struct finder_hit hit;

	assert_int_equal(finder_next(f, SPAN_LITERAL("anything"), 0, false, &hit), FINDER_NOTHING);
	finder_free(f);
	/* A mask of another length is brought to the word's. */
	struct span eight = SPAN_LITERAL("8letters"), mask = SPAN_LITERAL("abc");
	uint8_t text[] = "x8lettersy";

	assert_int_equal(finder_new(&eight, &mask, NULL, 1, &f), 0);
	scrub_whole(f, text, sizeof(text) - 1, NULL);
	assert_string_equal((char *)text, "xabc*****y");
	finder_free(f);
}

static void test_encode(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
	uint8_t back[16];
	struct buf b = BUF_INIT(64);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		buf_clear(&b);
		encode_base64(&b, span_of_str(rows[i].bytes));
		assert_string_equal(buf_str(&b), rows[i].text);
		ssize_t n = decode_base64(span_of_str(rows[i].text), back, sizeof(back));

		assert_int_equal(n, strlen(rows[i].bytes));
		assert_memory_equal(back, rows[i].bytes, (size_t)n);
	}
	assert_int_equal(decode_base64(SPAN_LITERAL("Zg"), back, sizeof(back)), 1);
	static const char *const not [] = {
		"Z", "Zh==", "Zg=", "Zg===", "Z=g=", "Zm9v ", "Zm9-", "====", "Zm9v="};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(not ); i++)
		assert_int_equal(decode_base64(span_of_str(not [i]), back, sizeof(back)), -EINVAL);
	assert_int_equal(decode_base64(SPAN_LITERAL("Zm9v"), back, 2), -E2BIG);
	buf_clear(&b);
	encode_percent(&b, SPAN_LITERAL("a/b c%~"), "/");
	assert_string_equal(buf_str(&b), "a/b%20c%25~");
	assert_int_equal(decode_percent(buf_span(&b), back, sizeof(back)), 7);
	assert_memory_equal(back, "a/b c%~", 7);
	assert_int_equal(decode_percent(SPAN_LITERAL("%4"), back, sizeof(back)), -EINVAL);
	buf_clear(&b);
	encode_json(&b, SPAN_LITERAL("a\"\\\n"));
	assert_string_equal(buf_str(&b), "a\\\"\\\\\\u000a");
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_spelling),
		cmocka_unit_test(test_backslash_in_word),
		cmocka_unit_test(test_two_layers_of_escapes),
		cmocka_unit_test(test_packed_as_it_was_written),
		cmocka_unit_test(test_mask_tells_no_letter),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_nothing_else),
		cmocka_unit_test(test_no_waiting),
		cmocka_unit_test(test_many_and_next_to_each_other),
		cmocka_unit_test(test_what_cannot_be_a_word),
		cmocka_unit_test(test_encode),
	};

	/* Another one every time; SEED has the one that a failure printed. */
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	const char *said = getenv("SEED");

	seed = said ? strtoull(said, NULL, 10)
		    : (uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec | 1;
	print_message("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests_name("finder", tests, NULL, NULL);
}
