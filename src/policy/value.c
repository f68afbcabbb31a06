/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of values.  Each is read whole or refused with a sentence that says
 * what it should have been; none is guessed, rounded or cut.  Paths and numbers
 * leave here in one spelling, so that the layers above compare plain texts.
 */
#include "value.h"

#include "holds.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>

enum {
	VALUE_PATH_MAX = 4095,
	VALUE_COMPONENT_MAX = 255,
	VALUE_NAME_MAX = 255,
};

int value_error(const struct value_place *at, struct error *e, const char *fmt, ...)
{
	char sentence[384];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	if (at->line == 0)
		return error_set(e, -EINVAL, "%s: %s", at->name, sentence);
	return error_set(e, -EINVAL, "%s:%zu:%zu: %s", at->name, at->line, at->column, sentence);
}

int value_suggest(struct error *e, int code, const char *text, const char *const *words,
		  size_t count)
{
	const char *near = str_nearest(text, words, count);
	size_t len = e ? strlen(e->text) : 0;

	if (e && near)
		(void)snprintf(e->text + len, sizeof(e->text) - len, "; did you mean %s?", near);
	return code;
}

int value_no_memory(struct error *e)
{
	return error_set(e, -ENOMEM, "no memory to read the policy");
}

const char *value_origin(const struct value_place *at, struct arena *arena)
{
	if (at->line == 0 || at->layer == POLICY_PRESET)
		return arena_str(arena, at->name);
	return arena_printf(arena, "%s:%zu", at->name, at->line);
}

static size_t value_word_count(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* Index of text in words, or -1. */
static int value_word_find(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (str_equal(words[i], text))
			return i;
	return -1;
}

/* One of the row's words. */
static int value_read_word(const struct value_site *s, const char *text, uint64_t *ret_number)
{
	int i = value_word_find(s->row->words, text);

	if (i < 0) {
		int r = value_error(&s->at, s->e, "%s is %s or %s, not %.64s", s->row->name,
				    s->row->words[0], s->row->words[1], *text ? text : "empty");

		return value_suggest(s->e, r, text, s->row->words, value_word_count(s->row->words));
	}
	*ret_number = (uint64_t)i;
	return 0;
}

/* The factor of a unit; 0 when it is none. */
static uint64_t value_unit(enum grammar_type type, char unit)
{
	if (type == GRAMMAR_SIZE)
		return unit == 'K'   ? 1ull << 10
		       : unit == 'M' ? 1ull << 20
		       : unit == 'G' ? 1ull << 30
		       : unit == 'T' ? 1ull << 40
				     : 0;
	if (type == GRAMMAR_DURATION)
		return unit == 's'   ? 1
		       : unit == 'm' ? 60
		       : unit == 'h' ? 3600
		       : unit == 'd' ? 86400
				     : 0;
	return 0;
}

/* Digits and, by type, a unit.  0, -EINVAL or -ERANGE. */
static int value_parse_number(enum grammar_type type, const char *text, uint64_t *ret_number)
{
	char digits[24];
	size_t len = strspn(text, "0123456789");
	size_t rest = strlen(text + len);
	uint64_t factor = 1;
	uint64_t v = 0;

	/* A leading zero is octal to some readers of YAML and decimal to others. */
	if (len == 0 || (len > 1 && text[0] == '0') || rest > 1)
		return -EINVAL;
	if (rest == 1)
		factor = value_unit(type, text[len]);
	if (factor == 0 || (type == GRAMMAR_DURATION && rest == 0))
		return -EINVAL;
	if (len >= sizeof(digits))
		return -ERANGE;
	memcpy(digits, text, len);
	digits[len] = '\0';
	int r = str_parse_u64(digits, &v);

	if (r < 0)
		return r;
	return __builtin_mul_overflow(v, factor, ret_number) ? -ERANGE : 0;
}

static int value_read_number(const struct value_site *s, const char *text, uint64_t *ret_number)
{
	const char *kind = s->row->type == GRAMMAR_SIZE
				   ? "a size in bytes, or with K, M, G or T, as 512M"
			   : s->row->type == GRAMMAR_DURATION ? "a time with s, m, h or d, as 8h"
							      : "a plain number, as 512";
	uint64_t v = 0;

	if (str_equal(text, "unlimited")) {
		*ret_number = GRAMMAR_UNLIMITED;
		return 0;
	}
	int r = value_parse_number(s->row->type, text, &v);

	if (r == -EINVAL)
		return value_error(&s->at, s->e, "%s is %s, or unlimited, not %.64s", s->row->name,
				   kind, *text ? text : "empty");
	if (r < 0 || v > s->row->most)
		return value_error(&s->at, s->e, "%s: %.64s is too large", s->row->name, text);
	if (v < s->row->least)
		return value_error(&s->at, s->e, "%s: %.64s is too small; the least is %llu",
				   s->row->name, text, (unsigned long long)s->row->least);
	*ret_number = v;
	return 0;
}

static int value_read_name(const struct value_site *s, const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (len == 0 || len > 64 || text[len] != '\0')
		return value_error(&s->at, s->e,
				   "%s is a name of small letters, digits and -, not %.64s",
				   s->row->name, *text ? text : "empty");
	return 0;
}

/* Only a first check.  upstream_proxy.h reads it later, if the box needs it. */
static int value_read_url(const struct value_site *s, const char *text)
{
	if (strchr(text, '@'))
		return value_error(&s->at, s->e,
				   "%s has no login here; it stands in your variable https_proxy",
				   s->row->name);
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c > '~')
			return value_error(&s->at, s->e, "%s is written http://HOST:PORT",
					   s->row->name);
	for (size_t i = 0; s->row->words[i]; i++)
		if (str_equal(s->row->words[i], text))
			return 0;
	return strchr(text, ':') && strlen(text) < 512
		       ? 0
		       : value_error(
				 &s->at, s->e,
				 "%s is http://HOST:PORT, socks5://HOST:PORT, environment or none",
				 s->row->name);
}

int value_read_scalar(const struct value_site *s, const char *text, struct grammar_value *ret_value)
{
	struct grammar_value v = {.set = true, .layer = s->at.layer};
	int r = s->row->type == GRAMMAR_NAME  ? value_read_name(s, text)
		: s->row->type == GRAMMAR_URL ? value_read_url(s, text)
		: s->row->words               ? value_read_word(s, text, &v.number)
					      : value_read_number(s, text, &v.number);
	if (r < 0)
		return r;
	v.text = arena_str(s->arena, text);
	v.origin = value_origin(&s->at, s->arena);
	if (!v.text || !v.origin)
		return value_no_memory(s->e);
	*ret_value = v;
	return 0;
}

/* Adds the components of a path to out, in one spelling: no empty ones, no ".". */
static int value_path_components(const struct value_site *s, const char *text, struct buf *out)
{
	while (*text) {
		size_t len = strcspn(text, "/");

		if (len == 2 && strncmp(text, "..", 2) == 0)
			return value_error(&s->at, s->e,
					   "a path with .. is not taken; write out where it leads");
		if (len > VALUE_COMPONENT_MAX)
			return value_error(&s->at, s->e,
					   "a name in this path is longer than %d bytes",
					   VALUE_COMPONENT_MAX);
		if (len > 0 && !(len == 1 && text[0] == '.')) {
			if (out->len > 0 && out->ptr[out->len - 1] != '/')
				buf_put_char(out, '/');
			buf_put(out, text, len);
		}
		text += len;
		text += strspn(text, "/");
	}
	return 0;
}

/* Writes the beginning of a path to out and returns the rest; NULL when it may not begin so. */
static const char *value_path_start(const struct value_site *s, const char *text, struct buf *out)
{
	if (text[0] == '/') {
		buf_put_char(out, '/');
		return text + 1;
	}
	if (text[0] == '~') {
		buf_put_char(out, '~');
		return text[1] == '\0' || text[1] == '/' ? text + 1 : NULL;
	}
	return s->at.layer == POLICY_REPOSITORY && text[0] != '\0' ? text : NULL;
}

static int value_read_path(const struct value_site *s, const char *text, struct grammar_item *item)
{
	_cleanup_buf_ struct buf out = BUF_INIT(VALUE_PATH_MAX + 1);
	bool is_ceiling =
		s->at.layer == POLICY_CEILING && s->row->ceiling == GRAMMAR_CEILING_WITHIN;

	if (strlen(text) > VALUE_PATH_MAX)
		return value_error(&s->at, s->e, "a path in %s is longer than %d bytes",
				   s->row->name, VALUE_PATH_MAX);
	if (strchr(text, '*'))
		return value_error(&s->at, s->e,
				   "%.128s: patterns are not used in paths; name the folder", text);
	const char *rest = value_path_start(s, text, &out);

	if (!rest)
		return value_error(&s->at, s->e, "%.128s is not a path that begins with / or ~/",
				   *text ? text : "an empty text");
	int r = value_path_components(s, rest, &out);

	if (r < 0)
		return r;
	if (buf_error(&out))
		return value_no_memory(s->e);
	if (out.len == 0)
		return value_error(&s->at, s->e,
				   "%.128s is the whole workspace; name what is in it", text);
	/* "./~" in a repository's file must not come out as the home. */
	if (buf_str(&out)[0] == '~' && text[0] != '~')
		return value_error(&s->at, s->e, "%.128s: a name that begins with ~ is not taken",
				   text);
	if (str_equal(buf_str(&out), "/") && !is_ceiling)
		return value_error(&s->at, s->e, "%s cannot be the whole of /; name the folders",
				   s->row->name);
	item->text = arena_str(s->arena, buf_str(&out));
	return item->text ? 0 : value_no_memory(s->e);
}

/* Length of the name of a variable at the start of text; 0 when there is none. */
static size_t value_variable(const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				      "0123456789";
	size_t len = strspn(text, letters);

	return text[0] >= '0' && text[0] <= '9' ? 0 : len;
}

static int value_read_pattern(const struct value_site *s, const char *text,
			      struct grammar_item *item)
{
	size_t len = value_variable(text);
	bool star = text[len] == '*' && text[len + 1] == '\0';

	if (len > VALUE_NAME_MAX || (!star && (len == 0 || text[len] != '\0')))
		return value_error(&s->at, s->e,
				   "%s takes names of letters, digits and _, with at most one * at "
				   "the end, not %.64s",
				   s->row->name, *text ? text : "an empty text");
	/* A bare "*" would pass the whole environment: only a ceiling may say that. */
	if (len == 0 && s->row->ceiling == GRAMMAR_CEILING_WITHIN && s->at.layer != POLICY_CEILING)
		return value_error(&s->at, s->e, "%s cannot be everything; name what may pass",
				   s->row->name);
	item->text = arena_str(s->arena, text);
	return item->text ? 0 : value_no_memory(s->e);
}

static int value_read_choice(const struct value_site *s, const char *text,
			     struct grammar_item *item)
{
	int word = value_word_find(s->row->words, text);

	if (word < 0) {
		int r = value_error(&s->at, s->e, "%s knows no %.64s", s->row->name,
				    *text ? text : "(empty)");

		return value_suggest(s->e, r, text, s->row->words, value_word_count(s->row->words));
	}
	item->text = s->row->words[word];
	return 0;
}

static int value_read_layer(const struct value_site *s, const char *text, struct grammar_item *item)
{
	size_t layer = 0;

	while (layer < PLAN_LAYER_COUNT && !str_equal(plan_layer_words[layer], text))
		layer++;
	if (layer == PLAN_LAYER_COUNT) {
		int r = value_error(&s->at, s->e, "%s knows no layer %.64s", s->row->name,
				    *text ? text : "(empty)");

		return value_suggest(s->e, r, text, s->row->words, value_word_count(s->row->words));
	}
	if (value_word_find(s->row->words, text) < 0) {
		int r = value_error(&s->at, s->e, "there is no box without its %s", text);

		error_next(s->e, "for no box at all, choose it by name: --backend host (UNSAFE)");
		return r;
	}
	item->layer_word = (unsigned int)layer;
	item->text = plan_layer_words[layer];
	return 0;
}

static int value_read_variable(const struct value_site *s, const char *name, const char *value,
			       struct grammar_item *item)
{
	size_t len = value_variable(name);

	if (len == 0 || len > VALUE_NAME_MAX || name[len] != '\0')
		return value_error(&s->at, s->e,
				   "%s takes names of letters, digits and _, not %.64s",
				   s->row->name, *name ? name : "an empty text");
	item->text = arena_str(s->arena, name);
	item->value = arena_str(s->arena, value);
	return item->text && item->value ? 0 : value_no_memory(s->e);
}

/* "RULE=LEVEL" */
static int value_read_level(const struct value_site *s, const char *text, struct grammar_item *item)
{
	const char *equals = strchr(text, '='), *near = NULL;

	if (!equals || policy_hold_level(equals + 1) < 0)
		return value_error(&s->at, s->e,
				   "%s takes RULE=hold, RULE=flag or RULE=off, not %.64s",
				   s->row->name, *text ? text : "an empty text");
	item->text = arena_strn(s->arena, text, (size_t)(equals - text));
	item->value = arena_str(s->arena, equals + 1);
	if (!item->text || !item->value)
		return value_no_memory(s->e);
	if (policy_hold_find(item->text, &near))
		return 0;
	return value_error(&s->at, s->e, "%s: there is no rule %.64s%s%s%s", s->row->name,
			   item->text, near ? "; did you mean " : "", near ? near : "",
			   near ? "?" : "");
}

static int value_read_hold_path(const struct value_site *s, const char *text,
				struct grammar_item *item)
{
	const char *wrong = policy_hold_pattern_wrong(text);

	if (wrong)
		return value_error(&s->at, s->e, "%s: %.64s cannot be held: %s", s->row->name, text,
				   wrong);
	item->text = arena_str(s->arena, text);
	return item->text ? 0 : value_no_memory(s->e);
}

int value_read_item(const struct value_site *s, const char *name, const char *text,
		    struct grammar_value *value)
{
	struct grammar_item item = {.layer = s->at.layer, .origin = value_origin(&s->at, s->arena)};
	enum grammar_type type = s->row->type;
	int r = name                       ? value_read_variable(s, name, text, &item)
		: type == GRAMMAR_PATHS    ? value_read_path(s, text, &item)
		: type == GRAMMAR_NAMES    ? value_read_pattern(s, text, &item)
		: type == GRAMMAR_LEVELS   ? value_read_level(s, text, &item)
		: type == GRAMMAR_PATTERNS ? value_read_hold_path(s, text, &item)
		: type == GRAMMAR_CHOICES  ? value_read_choice(s, text, &item)
					   : value_read_layer(s, text, &item);
	if (r < 0)
		return r;
	if (!item.origin || grammar_append(value, s->row, &item, s->arena) < 0)
		return value_no_memory(s->e);
	return 0;
}
