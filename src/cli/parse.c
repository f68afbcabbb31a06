/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include "buf.h"
#include "grammar.h"
#include "str.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARSE_AMOUNT_MAX = 64 << 10 };

struct parser {
	int argc;
	char **argv;
	int at; /* the next word */
	struct invocation *into;
	struct error *e;
};

bool invocation_has(const struct invocation *i, enum option_id id)
{
	return invocation_value(i, id) != NULL;
}

const char *invocation_value(const struct invocation *i, enum option_id id)
{
	const char *value = NULL;

	for (size_t n = 0; n < i->value_count; n++)
		if (i->values[n].id == id)
			value = i->values[n].value;
	return value;
}

int invocation_amount(const struct invocation *i, enum option_id id, enum amount what,
		      bool *ret_has, uint64_t *ret, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(PARSE_AMOUNT_MAX);
	const char *text = invocation_value(i, id);
	char name[32];

	*ret_has = false;
	*ret = 0;
	if (!text)
		return 0;
	(void)snprintf(name, sizeof(name), "--%s", options[id].name);
	const struct grammar_row row = {.name = what == AMOUNT_SIZE ? "SIZE" : "AGE",
					.type = what == AMOUNT_SIZE ? GRAMMAR_SIZE
								    : GRAMMAR_DURATION,
					.least = what == AMOUNT_SIZE ? 1 : 0,
					.most = INT64_MAX / 2};
	const struct value_site site = {.row = &row, .at = {.name = name}, .arena = &arena, .e = e};
	struct grammar_value value = {.set = false};
	int r = value_read_scalar(&site, text, &value);

	*ret_has = r == 0 && value.number != GRAMMAR_UNLIMITED;
	*ret = value.number;
	return r;
}

void invocation_fini(struct invocation *i)
{
	free(i->values);
	free(i->arguments);
	*i = (struct invocation){.verb = NULL};
}

const struct verb *verb_find(const char *name, struct error *e)
{
	const char *shown[64];
	size_t count = 0;

	for (size_t i = 0; i < verb_count; i++) {
		if (str_equal(verbs[i].name, name))
			return &verbs[i];
		if (!verbs[i].hidden && count < BAWN_ARRAY_SIZE(shown))
			shown[count++] = verbs[i].name;
	}
	const char *nearest = str_nearest(name, shown, count);

	(void)error_set(e, -EINVAL, "there is no verb '%s'", name);
	if (nearest)
		error_next(e, "Did you mean 'bawn %s'? 'bawn --help' lists the verbs.", nearest);
	else
		error_next(e, "'bawn --help' lists the verbs. To run a command in the box: "
			      "bawn run -- COMMAND");
	return NULL;
}

/* Says which verbs take the option: "It belongs to: run and shell." */
static void parse_say_whose(struct error *e, enum option_id id)
{
	_cleanup_buf_ struct buf list = BUF_INIT(sizeof(e->next));
	size_t left = 0;

	for (size_t i = 0; i < verb_count; i++)
		left += !verbs[i].hidden && verb_takes(&verbs[i], id);
	for (size_t i = 0; i < verb_count; i++) {
		if (verbs[i].hidden || !verb_takes(&verbs[i], id))
			continue;
		left--;
		buf_putf(&list, "%s%s", verbs[i].name, left > 1 ? ", " : left == 1 ? " and " : "");
	}
	error_next(e, "It belongs to: %s.", buf_str(&list));
}

/* Refuses an option: no verb has that name (of len bytes), or this verb does not take it. */
static int parse_refuse_option(struct parser *p, const char *name, size_t len)
{
	const struct verb *v = p->into->verb;
	const char *words[OPTION_COUNT];
	char typed[64];
	size_t count = 0;

	(void)snprintf(typed, sizeof(typed), "%.*s", (int)(len < 60 ? len : 60), name);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (str_equal(options[i].name, typed)) {
			int r = error_set(p->e, -EINVAL, "'bawn %s' does not take --%s", v->name,
					  typed);

			parse_say_whose(p->e, options[i].id);
			return r;
		}
		if (verb_takes(v, options[i].id))
			words[count++] = options[i].name;
	}
	int r = error_set(p->e, -EINVAL, "'bawn %s' has no option --%s", v->name, typed);
	const char *nearest = str_nearest(typed, words, count);

	if (nearest)
		error_next(p->e, "Did you mean --%s? 'bawn %s --help' lists its options.", nearest,
			   v->name);
	else
		error_next(p->e, "'bawn %s --help' lists its options.", v->name);
	return r;
}

static int parse_refuse_letter(struct parser *p, char letter)
{
	const struct verb *v = p->into->verb;
	size_t count = 0;

	for (size_t i = 0; i < OPTION_COUNT; i++)
		count += options[i].letter == letter;
	/* If the letter means several options, we cannot know which one the user meant. */
	for (size_t i = 0; count == 1 && i < OPTION_COUNT; i++) {
		if (options[i].letter != letter)
			continue;
		int r = error_set(p->e, -EINVAL, "'bawn %s' does not take -%c (--%s)", v->name,
				  letter, options[i].name);

		parse_say_whose(p->e, options[i].id);
		return r;
	}
	int r = error_set(p->e, -EINVAL, "'bawn %s' has no option -%c", v->name, letter);

	error_next(p->e, "'bawn %s --help' lists its options.", v->name);
	return r;
}

/* Checks a value that must be one of some words: for NAME=VALUE the name, and that a value
 * follows. */
static int parse_check_words(struct parser *p, const struct option *o, const char *value)
{
	const char *words[OPTION_WORDS_MAX];
	size_t count = option_words(o, words);
	bool pair = strchr(o->value, '=') != NULL;
	size_t len = pair ? strcspn(value, "=") : strlen(value);
	char word[64];

	(void)snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), value);
	for (size_t i = 0; i < count; i++) {
		if (!str_equal(words[i], word))
			continue;
		if (!pair || (value[len] == '=' && value[len + 1] != '\0'))
			return 0;
		int r = error_set(p->e, -EINVAL, "--%s %s says no value", o->name, word);

		error_next(p->e, "Write it as --%s %s=VALUE.", o->name, word);
		return r;
	}
	if (count == 0)
		return 0;
	int r = error_set(p->e, -EINVAL, "--%s: there is no '%s'", o->name, word);
	const char *nearest = str_nearest(word, words, count);
	_cleanup_buf_ struct buf list = BUF_INIT(sizeof(p->e->next));
	_cleanup_buf_ struct buf meant = BUF_INIT(sizeof(p->e->next));

	for (size_t i = 0; i < count; i++) {
		const char *rest = str_after(words[i], word);

		buf_putf(&list, "%s%s", i ? ", " : "", words[i]);
		if (rest && *rest == '-')
			buf_putf(&meant, "%s'%s'", meant.len ? " or " : "", words[i]);
	}
	if (nearest && meant.len == 0)
		buf_putf(&meant, "'%s'", nearest);
	error_next(p->e, "%s%s%sThere %s: %s.", meant.len ? "Did you mean " : "", buf_str(&meant),
		   meant.len ? "? " : "", count > 1 ? "are" : "is", buf_str(&list));
	return r;
}

/* Keeps an option; value is "" for a switch. */
static int parse_keep(struct parser *p, const struct option *o, const char *value)
{
	struct invocation *into = p->into;

	if (!o->value && invocation_has(into, o->id))
		return 0;
	if (o->value && value[0] == '\0')
		return error_set(p->e, -EINVAL, "--%s %s: the value is empty", o->name, o->value);
	if (o->value && !o->repeats && invocation_has(into, o->id))
		return error_set(p->e, -EINVAL, "--%s was given twice: '%s' and '%s'", o->name,
				 invocation_value(into, o->id), value);
	if (o->value) {
		int r = parse_check_words(p, o, value);

		if (r < 0)
			return r;
	}
	into->values[into->value_count++] = (struct invocation_value){o->id, value};
	return 0;
}

/* Takes the value from the next word.  A word that looks like an option means that the value was
 * forgotten. */
static int parse_next_value(struct parser *p, const struct option *o, const char **ret_value)
{
	const char *next = p->at < p->argc ? p->argv[p->at] : NULL;

	if (!next || str_after(next, "--")) {
		int r = error_set(p->e, -EINVAL, "--%s needs a value: --%s %s", o->name, o->name,
				  o->value);

		if (next && next[2] != '\0')
			error_next(p->e, "If '%s' is meant as the value: --%s=%s", next, o->name,
				   next);
		return r;
	}
	p->at++;
	*ret_value = next;
	return 0;
}

/* word is what follows "--", not empty. */
static int parse_long(struct parser *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word[len] == '=' ? word + len + 1 : NULL;
	const struct option *o = NULL;

	for (size_t i = 0; i < OPTION_COUNT && !o; i++)
		if (verb_takes(p->into->verb, options[i].id) && strlen(options[i].name) == len &&
		    memcmp(options[i].name, word, len) == 0)
			o = &options[i];
	if (!o)
		return parse_refuse_option(p, word, len);
	if (!o->value && value)
		return error_set(p->e, -EINVAL, "--%s takes no value", o->name);
	if (o->value && !value) {
		int r = parse_next_value(p, o, &value);

		if (r < 0)
			return r;
	}
	return parse_keep(p, o, value ? value : "");
}

/* word is what follows "-", not empty: letters of switches, at most one option with a value last.
 */
static int parse_letters(struct parser *p, const char *word)
{
	while (*word) {
		const struct option *o = NULL;
		const char *value = "";

		for (size_t i = 0; i < OPTION_COUNT && !o; i++)
			if (verb_takes(p->into->verb, options[i].id) && options[i].letter == *word)
				o = &options[i];
		if (!o)
			return parse_refuse_letter(p, *word);
		word++;
		if (o->value && *word) {
			value = word;
			word += strlen(word);
		} else if (o->value) {
			int r = parse_next_value(p, o, &value);

			if (r < 0)
				return r;
		}
		int r = parse_keep(p, o, value);

		if (r < 0)
			return r;
	}
	return 0;
}

static void parse_rest(struct parser *p)
{
	while (p->at < p->argc)
		p->into->arguments[p->into->argument_count++] = p->argv[p->at++];
}

static int parse_words(struct parser *p)
{
	const struct verb *v = p->into->verb;
	int r = 0;

	while (r == 0 && p->at < p->argc) {
		char *word = p->argv[p->at];

		if (word[0] != '-' || word[1] == '\0') {
			if (v->command) {
				parse_rest(p);
				break;
			}
			p->into->arguments[p->into->argument_count++] = word;
			p->at++;
		} else if (str_equal(word, "--")) {
			p->at++;
			p->into->dashed = p->into->argument_count == 0;
			if (v->arguments_max != 0)
				parse_rest(p);
		} else {
			p->at++;
			r = word[1] == '-' ? parse_long(p, word + 2) : parse_letters(p, word + 1);
		}
	}
	return r;
}

/* What the usage says after the options. */
static const char *parse_wants(const struct verb *v)
{
	const char *rest = str_after(v->usage, "[OPTIONS] ");

	return rest ? rest : v->usage;
}

static int parse_check_arguments(const struct invocation *i, struct error *e)
{
	const struct verb *v = i->verb;
	int r = 0;

	if (invocation_has(i, OPTION_HELP))
		return 0;
	if (i->argument_count < v->arguments_min)
		r = error_set(e, -EINVAL, "'bawn %s' needs %s", v->name,
			      v->command ? "a command" : parse_wants(v));
	else if (v->arguments_max == 0 && i->argument_count > 0)
		r = error_set(e, -EINVAL, "'bawn %s' takes no arguments, and '%s' is one", v->name,
			      i->arguments[0]);
	else if (v->arguments_max > 0 && i->argument_count > v->arguments_max)
		r = error_set(e, -EINVAL, "'%s' is one argument too many for 'bawn %s'",
			      i->arguments[v->arguments_max], v->name);
	if (r < 0 && i->argument_count < v->arguments_min && !v->command)
		error_next(e, "'bawn %s --help' shows examples.", v->name);
	else if (r < 0)
		error_next(e, "Usage: bawn %s %s", v->name, v->usage);
	int checked = v->first_word && i->argument_count > 1 ? 1 : i->argument_count;

	for (int n = 0; r == 0 && v->words && n < checked; n++) {
		const char *nearest = str_nearest(i->arguments[n], v->words, v->word_count);

		if (nearest && str_equal(nearest, i->arguments[n]))
			continue;
		r = error_set(e, -EINVAL, "'bawn %s' does not know '%s'", v->name, i->arguments[n]);
		if (nearest)
			error_next(e, "Did you mean '%s'? Usage: bawn %s %s", nearest, v->name,
				   v->usage);
		else
			error_next(e, "Usage: bawn %s %s", v->name, v->usage);
	}
	return r;
}

/* The verb that the first word means, or one of the options that stand for a verb. */
static const struct verb *parse_verb(const char *word, struct error *e)
{
	static const struct {
		const char *typed, *verb;
	} instead[] = {{"--help", "help"}, {"-h", "help"}, {"--version", "version"}};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(instead); i++)
		if (str_equal(word, instead[i].typed))
			word = instead[i].verb;
	if (word[0] == '-') {
		(void)error_set(e, -EINVAL, "the verb comes first, then its options such as %s",
				word);
		error_next(e, "As in: bawn run --read-only -- COMMAND. "
			      "'bawn --help' lists the verbs.");
		return NULL;
	}
	return verb_find(word, e);
}

static int parse_into(struct invocation *i, int argc, char **argv, struct error *e)
{
	struct parser p = {.argc = argc, .argv = argv, .at = 2, .into = i, .e = e};

	i->words = argv;
	i->verb = parse_verb(argc > 1 ? argv[1] : "help", e);
	if (!i->verb)
		return -EINVAL;
	/* We keep each switch once, and a word holds at most one value. */
	i->values = calloc((size_t)argc + OPTION_COUNT, sizeof(*i->values));
	i->arguments = calloc((size_t)argc + 1, sizeof(*i->arguments));
	if (!i->values || !i->arguments)
		return error_sys(e, -ENOMEM, "reading the command line");
	int r = parse_words(&p);

	return r < 0 ? r : parse_check_arguments(i, e);
}

int parse_command_line(int argc, char **argv, struct invocation *ret_invocation, struct error *e)
{
	struct invocation i = {.verb = NULL};
	int r = parse_into(&i, argc, argv, e);

	if (r < 0)
		invocation_fini(&i);
	else
		*ret_invocation = i;
	return r;
}
