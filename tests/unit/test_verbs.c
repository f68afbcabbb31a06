/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of verbs.h and everything that is made from them: rows that are
 * sane, command lines that mean one thing or are refused with a sentence, and
 * help, manual pages and completions that leave no option out.
 */
#include "cmocka_lead.h"

#include "advice.h"
#include "bawn_verbs.h"
#include "buf.h"
#include "grammar.h"
#include "help.h"
#include "parse.h"
#include "str.h"

#include <ctype.h>
#include <stdio.h>

enum { LINE_WIDTH = 80, SCREEN_LINES = 50, WORDS_MAX = 16 };

/* ---- the rows ---- */

static void assert_ascii(const char *text)
{
	for (; *text; text++)
		if (!isprint((unsigned char)*text) && *text != '\n' && *text != '\t')
			fail_msg("a byte %02x in: %s", (unsigned char)*text, text);
}

/* One line that begins small and ends without a full stop, so that it can be put anywhere. */
static void assert_phrase(const char *text)
{
	assert_non_null(text);
	assert_ascii(text);
	assert_true(islower((unsigned char)text[0]));
	assert_null(strchr(text, '\n'));
	assert_int_not_equal(text[strlen(text) - 1], '.');
}

static void test_options_are_sane(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &options[i];

		assert_int_equal(o->id, i);
		assert_phrase(o->help);
		assert_true(strlen(o->help) <= LINE_WIDTH - 28);
		assert_int_equal(strspn(o->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(o->name));
		assert_true(o->value || !o->repeats);
		bool used = false;

		/* A name means one thing to a verb; another verb may have its own. */
		for (size_t n = 0; n < verb_count; n++) {
			if (!verb_takes(&verbs[n], o->id))
				continue;
			used = true;
			for (size_t other = 0; other < i; other++) {
				if (!verb_takes(&verbs[n], options[other].id))
					continue;
				assert_string_not_equal(options[other].name, o->name);
				assert_true(!o->letter || options[other].letter != o->letter);
			}
		}
		assert_true(used);
	}
}

static void assert_pairs(const char *lines)
{
	assert_ascii(lines);
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		const char *tab = memchr(lines, '\t', len);

		assert_non_null(tab);
		assert_true(tab > lines && tab + 1 < lines + len);
		assert_null(memchr(tab + 1, '\t', (size_t)(lines + len - tab - 1)));
		lines += len + (lines[len] == '\n');
	}
}

/* How often bawn itself does it. */
static int acts_of(const char *name)
{
	int count = 0;

	for (size_t i = 0; i < bawn_program.count; i++)
		count += strcmp(bawn_program.verbs[i].name, name) == 0;
	return count;
}

static void test_verbs_are_sane(void **state)
{
	(void)state;
	for (size_t i = 0; i < verb_count; i++) {
		const struct verb *v = &verbs[i];

		assert_phrase(v->summary);
		assert_ascii(v->description);
		assert_int_equal(v->description[strlen(v->description) - 1], '.');
		assert_pairs(v->examples);
		assert_pairs(v->exits);
		assert_int_equal(acts_of(v->name), v->program ? 0 : 1);
		assert_true(verb_takes(v, OPTION_HELP));
		assert_true(v->arguments_max == -1 || v->arguments_max >= v->arguments_min);
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(verbs[n].name, v->name);
	}
}

/* Every example can be typed: what stands before a pipe or redirection is understood. */
static void test_examples_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < verb_count; i++) {
		for (const char *at = verbs[i].examples; *at;) {
			char line[256];
			char *argv[WORDS_MAX + 1] = {NULL};
			int argc = 0;
			const char *start = strstr(at, "bawn ");
			size_t len = strcspn(start, "\t|>)");
			_cleanup_invocation_ struct invocation got = {.verb = NULL};
			struct error e = ERROR_INIT;

			(void)snprintf(line, sizeof(line), "%.*s", (int)len, start);
			for (char *rest = line, *word;
			     (word = strsep(&rest, " ")) && argc < WORDS_MAX;)
				if (*word)
					argv[argc++] = word;
			if (parse_command_line(argc, argv, &got, &e) < 0)
				fail_msg("%.*s: %s", (int)len, start, e.text);
			assert_ptr_equal(got.verb, &verbs[i]);
			at += strcspn(at, "\n");
			at += *at == '\n';
		}
	}
}

/* A policy option sets a key that the grammar has, in a form that it reads. */
static void test_keys_are_in_the_grammar(void **state)
{
	static const struct {
		enum option_id id;
		const char *key, *value;
	} flags[] = {
		{OPTION_PRESET, "preset", "shell"},
		{OPTION_BACKEND, "backend", "host"},
		{OPTION_READ_ONLY, "workspace.access", "read"},
		{OPTION_READ, "files.read", "/a"},
		{OPTION_WRITE, "files.write", "/a"},
		{OPTION_HIDE, "files.hide", "/a"},
		{OPTION_ALLOW, "network.allow", "*.example.org:8443"},
		{OPTION_DENY, "network.deny", "example.org"},
		{OPTION_USE, "network.use", "npm"},
		{OPTION_SSH, "network.ssh", "example.org:2222"},
		{OPTION_HOST_PORT, "network.allow", "host.bawn:5432"},
		{OPTION_ENV, "env.pass", "NAME"},
		{OPTION_LIMIT, "limits.processes", "100"},
		{OPTION_WITHOUT, "without", "landlock"},
		{OPTION_DEBUG, "debug", "true"},
		{OPTION_KEEP_SYSTEM, "system.keep", "true"},
		{OPTION_DIRECT, "workspace.mode", "direct"},
		{OPTION_REVIEW, "workspace.mode", "review"},
	};
	size_t with_key = 0;

	(void)state;
	for (size_t i = 0; i < OPTION_COUNT; i++)
		with_key += options[i].key != NULL;
	assert_int_equal(with_key, BAWN_ARRAY_SIZE(flags));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(flags); i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		struct policy_flag flag = {flags[i].key, flags[i].value, "--flag"};
		struct grammar_values values = {.of = {{.set = false}}};
		struct error e = ERROR_INIT;

		assert_non_null(str_after(flags[i].key, options[flags[i].id].key));
		if (grammar_read_flag(&flag, &values, &arena, &e) < 0)
			fail_msg("%s: %s", flags[i].key, e.text);
	}
}

static void test_words_come_from_the_grammar(void **state)
{
	const char *words[OPTION_WORDS_MAX];

	(void)state;
	assert_int_equal(option_words(&options[OPTION_BACKEND], words), 2);
	assert_string_equal(words[1], "host");
	assert_int_equal(option_words(&options[OPTION_LIMIT], words), PLAN_LIMIT_COUNT + 2);
	assert_string_equal(words[0], "processes");
	assert_true(option_words(&options[OPTION_PRESET], words) > 0);
	assert_true(option_words(&options[OPTION_USE], words) > 10);
	assert_string_equal(words[0], "anthropic");
	assert_int_equal(option_words(&options[OPTION_ALLOW], words), 0);
	assert_int_equal(option_words(&options[OPTION_READ], words), 0);
	assert_int_equal(option_words(&options[OPTION_DEBUG], words), 0);
}

/* ---- the parser ---- */

struct line {
	const char *typed;  /* without "bawn", words separated by one blank; "" is an empty word */
	const char *verb;   /* NULL when it is refused */
	const char *values; /* "write=/a quiet=" in order; of a refusal: part of the sentence */
	const char *rest;   /* the arguments, joined by blanks; of a refusal: part of the way out */
};

static const struct line lines[] = {
	/* verbs, and what stands for one */
	{"doctor", "doctor", "", ""},
	{"--help", "help", "", ""},
	{"-h", "help", "", ""},
	{"--version", "version", "", ""},
	{"help run", "help", "", "run"},
	{"help --help", "help", "help=", ""},
	{"completion fish", "completion", "", "fish"},
	{"man run", "man", "", "run"},
	{"doctr", NULL, "no verb 'doctr'", "Did you mean 'bawn doctor'?"},
	{"frobnicate", NULL, "no verb 'frobnicate'", "bawn run -- COMMAND"},
	{"mn", NULL, "no verb 'mn'", "'bawn --help' lists"},
	{"--json explain", NULL, "verb comes first", "bawn run"},
	{"", NULL, "no verb ''", "'bawn --help'"},

	/* forms of an option */
	{"run --write /a ls", "run", "write=/a", "ls"},
	{"run --write=/a ls", "run", "write=/a", "ls"},
	{"run --write=a=b ls", "run", "write=a=b", "ls"},
	{"run --write=--odd ls", "run", "write=--odd", "ls"},
	{"run -w /a ls", "run", "workspace=/a", "ls"},
	{"run -w/a ls", "run", "workspace=/a", "ls"},
	{"run -qw/a ls", "run", "quiet= workspace=/a", "ls"},
	{"run -qw /a ls", "run", "quiet= workspace=/a", "ls"},
	{"run -w - ls", "run", "workspace=-", "ls"},
	{"run -w -a ls", "run", "workspace=-a", "ls"},
	{"run --read a --write b --read c ls", "run", "read=a write=b read=c", "ls"},
	{"run -q -q --quiet ls", "run", "quiet=", "ls"},
	{"run --env A --env B=c ls", "run", "env=A env=B=c", "ls"},
	{"run --limit processes=20 --limit tmp-size=1G ls", "run",
	 "limit=processes=20 limit=tmp-size=1G", "ls"},
	{"run --without landlock --without seccomp ls", "run", "without=landlock without=seccomp",
	 "ls"},
	{"run --backend host ls", "run", "backend=host", "ls"},
	{"run --allow a.test --allow b.test:22 --deny c.test --use npm ls", "run",
	 "allow=a.test allow=b.test:22 deny=c.test use=npm", "ls"},
	{"policy test --use npm a.test b.test:22", "policy", "use=npm", "test a.test b.test:22"},
	{"policy check --json", "policy", "json=", "check"},
	{"run --read-only --debug --stdio ls", "run", "read-only= debug= stdio=", "ls"},

	/* where options end */
	{"run ls -l", "run", "", "ls -l"},
	{"run ls -- --quiet", "run", "", "ls -- --quiet"},
	{"run -- ls -l", "run", "", "ls -l"},
	{"run -- --quiet", "run", "", "--quiet"},
	{"run -q -- -- x", "run", "quiet=", "-- x"},
	{"run - --quiet", "run", "", "- --quiet"},
	{"run  x", "run", "", " x"},
	{"explain --json make -j4", "explain", "json=", "make -j4"},
	{"explain", "explain", "", ""},
	{"verify -- --without seccomp", "verify", "without=seccomp", ""},
	{"completion bash --help", "completion", "help=", "bash"},
	{"run --help", "run", "help=", ""},
	{"doctor --help x", "doctor", "help=", "x"},

	/* refusals */
	{"run --wrte /a ls", NULL, "'bawn run' has no option --wrte", "Did you mean --write?"},
	{"run --zzzzzzzz ls", NULL, "no option --zzzzzzzz", "'bawn run --help'"},
	{"run --writ=/a ls", NULL, "no option --writ", "--write?"},
	{"run -x ls", NULL, "no option -x", "'bawn run --help'"},
	{"run -qx ls", NULL, "no option -x", "'bawn run --help'"},
	{"run --json ls", NULL, "'bawn run' does not take --json",
	 "explain, verify, sessions, why, policy, secret, "},
	{"doctor -w /a", NULL, "does not take -w (--workspace)",
	 "run, shell, explain, verify, policy, "},
	{"shell --stdio", NULL, "'bawn shell' does not take --stdio",
	 "It belongs to: run and exec."},
	{"policy", NULL, "'bawn policy' needs", "'bawn policy --help' shows examples."},
	{"policy tset a.test", NULL, "'bawn policy' does not know 'tset'", "Did you mean 'test'?"},
	{"run --use nmp ls", NULL, "there is no 'nmp'", "Did you mean 'npm'?"},
	{"doctor --allow a.test", NULL, "'bawn doctor' does not take --allow", ""},
	{"run --quiet=yes ls", NULL, "--quiet takes no value", ""},
	{"run --write", NULL, "--write needs a value: --write PATH", ""},
	{"run --write -- ls", NULL, "--write needs a value", ""},
	{"run --write --read a ls", NULL, "--write needs a value", "--write=--read"},
	{"run -w", NULL, "--workspace needs a value", ""},
	{"run --write= ls", NULL, "the value is empty", ""},
	{"run --workspace= ls", NULL, "the value is empty", ""},
	{"run -w a -w b ls", NULL, "--workspace was given twice: 'a' and 'b'", ""},
	{"run --backend vm ls", NULL, "--backend: there is no 'vm'", "There are: namespace, host."},
	{"run --backend nmespace ls", NULL, "no 'nmespace'", "Did you mean 'namespace'?"},
	{"run --without user-namespace ls", NULL, "no 'user-namespace'", "landlock"},
	{"run --limit proceses=2 ls", NULL, "no 'proceses'", "Did you mean 'processes'?"},
	{"run --limit processes ls", NULL, "says no value", "--limit processes=VALUE"},
	{"run --limit processes= ls", NULL, "says no value", "--limit processes=VALUE"},
	{"run --preset shel ls", NULL, "no 'shel'", "Did you mean 'shell'?"},
	{"run", NULL, "'bawn run' needs a command", "bawn run [OPTIONS] [--] COMMAND"},
	{"run -q --", NULL, "needs a command", "Usage: bawn run"},
	{"doctor x", NULL, "'bawn doctor' takes no arguments", "Usage: bawn doctor"},
	{"shell ls", NULL, "'bawn shell' takes no arguments", "Usage: bawn shell"},
	{"help run shell", NULL, "'shell' is one argument too many", "Usage: bawn help"},
	{"completion", NULL, "'bawn completion' needs bash|zsh|fish",
	 "'bawn completion --help' shows examples."},
	{"completion csh", NULL, "does not know 'csh'", "Did you mean 'zsh'?"},
	{"completion powershell", NULL, "does not know 'powershell'", "Usage: bawn completion"},
};

static void check_understood(const struct line *l, const struct invocation *got)
{
	_cleanup_buf_ struct buf values = BUF_INIT(4096);
	_cleanup_buf_ struct buf rest = BUF_INIT(4096);

	for (size_t i = 0; i < got->value_count; i++)
		buf_putf(&values, "%s%s=%s", i ? " " : "", options[got->values[i].id].name,
			 got->values[i].value);
	for (int i = 0; i < got->argument_count; i++)
		buf_putf(&rest, "%s%s", i ? " " : "", got->arguments[i]);
	assert_string_equal(got->verb->name, l->verb);
	assert_string_equal(buf_str(&values), l->values);
	assert_string_equal(buf_str(&rest), l->rest);
	assert_null(got->arguments[got->argument_count]);
}

static void test_parser(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lines); i++) {
		const struct line *l = &lines[i];
		_cleanup_invocation_ struct invocation got = {.verb = NULL};
		struct error e = ERROR_INIT;
		char program[] = "bawn", words[256];
		char *argv[WORDS_MAX + 1] = {program};
		int argc = 1;

		(void)snprintf(words, sizeof(words), "%s", l->typed);
		for (char *rest = words; rest && argc < WORDS_MAX;)
			argv[argc++] = strsep(&rest, " ");
		print_message("# bawn %s\n", l->typed);
		int r = parse_command_line(argc, argv, &got, &e);

		if (l->verb) {
			if (r < 0)
				fail_msg("%s", e.text);
			check_understood(l, &got);
			continue;
		}
		assert_int_equal(r, -EINVAL);
		assert_non_null(strstr(e.text, l->values));
		assert_non_null(strstr(e.next, l->rest));
		assert_null(got.verb);
	}
}

/* Words of any length stay within the sentence. */
static void test_parser_with_long_words(void **state)
{
	enum { LONG = 100000 };
	_cleanup_free_ char *word = malloc(LONG + 1);
	static const char *const starts[] = {"--", "--limit=", "--backend=", "-", ""};

	(void)state;
	assert_non_null(word);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(starts); i++) {
		char program[] = "bawn", verb[] = "doctor", run[] = "run";
		_cleanup_invocation_ struct invocation got = {.verb = NULL};
		struct error e = ERROR_INIT;

		memset(word, 'x', LONG);
		word[LONG] = '\0';
		memcpy(word, starts[i], strlen(starts[i]));
		char *argv[] = {program, i == 4 ? verb : run, word, NULL};

		assert_int_equal(parse_command_line(3, argv, &got, &e), -EINVAL);
		assert_true(strlen(e.text) < sizeof(e.text));
	}
}

/* ---- what is made from the tables ---- */

static size_t count_lines(const char *text)
{
	size_t lines_seen = 0;

	for (; *text; text++)
		lines_seen += *text == '\n';
	return lines_seen;
}

static void assert_fits(const char *text)
{
	assert_ascii(text);
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > LINE_WIDTH)
			fail_msg("%zu columns: %.*s", len, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void test_help(void **state)
{
	_cleanup_buf_ struct buf first = BUF_INIT(HELP_BYTES_MAX);
	_cleanup_buf_ struct buf all = BUF_INIT(HELP_BYTES_MAX);

	(void)state;
	help_first(&first);
	help_all(&all);
	assert_true(count_lines(buf_str(&all)) <= SCREEN_LINES);
	assert_true(count_lines(buf_str(&first)) < count_lines(buf_str(&all)));
	assert_fits(buf_str(&all));
	for (size_t i = 0; i < verb_count; i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);

		assert_int_equal(strstr(buf_str(&all), verbs[i].summary) == NULL, verbs[i].hidden);
		help_verb(&b, &verbs[i]);
		assert_int_equal(buf_error(&b), 0);
		assert_fits(buf_str(&b));
		assert_true(strstr(buf_str(&b), "Examples:") < strstr(buf_str(&b), "Options:"));
		for (size_t n = 0; n < OPTION_COUNT; n++)
			assert_int_equal(strstr(buf_str(&b), options[n].help) != NULL,
					 verb_takes(&verbs[i], (enum option_id)n));
	}
}

static void test_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < verb_count; i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);

		man_verb(&b, &verbs[i]);
		assert_int_equal(buf_error(&b), 0);
		for (size_t n = 0; n < OPTION_COUNT; n++) {
			_cleanup_buf_ struct buf name = BUF_INIT(256);

			buf_put_str(&name, "\\fB\\-\\-");
			for (const char *c = options[n].name; *c; c++)
				buf_putf(&name, "%s%c", *c == '-' ? "\\" : "", *c);
			buf_put_str(&name, "\\fR");
			bool takes = false;

			for (size_t same = 0; same < OPTION_COUNT; same++)
				takes |= str_equal(options[same].name, options[n].name) &&
					 verb_takes(&verbs[i], (enum option_id)same);
			assert_int_equal(strstr(buf_str(&b), buf_str(&name)) != NULL, takes);
		}
	}
}

static void test_completions(void **state)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	static const char *const leads[] = {"--", "--", "-l "};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shells); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);
		const char *words[OPTION_WORDS_MAX];

		assert_int_equal(completion_write(&b, shells[i]), 0);
		assert_int_equal(buf_error(&b), 0);
		assert_ascii(buf_str(&b));
		for (size_t n = 0; n < OPTION_COUNT; n++) {
			_cleanup_buf_ struct buf name = BUF_INIT(256);

			buf_putf(&name, "%s%s", leads[i], options[n].name);
			assert_non_null(strstr(buf_str(&b), buf_str(&name)));
			for (size_t w = option_words(&options[n], words); w-- > 0;)
				assert_non_null(strstr(buf_str(&b), words[w]));
		}
	}
	_cleanup_buf_ struct buf none = BUF_INIT(64);

	assert_int_equal(completion_write(&none, "csh"), -EINVAL);
	assert_int_equal(none.len, 0);
}

static void test_wrap(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"one", "one"},
		{"one two", "one two"},
		{"one two three four", "one two\n  three\n  four"},
		{"a-word-that-is-too-long b", "a-word-that-is-too-long\n  b"},
		{" one \n two ", "one two"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(4096);

		help_wrap(&b, rows[i].text, 2, 10);
		assert_string_equal(buf_str(&b), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_are_sane),
		cmocka_unit_test(test_verbs_are_sane),
		cmocka_unit_test(test_examples_are_understood),
		cmocka_unit_test(test_keys_are_in_the_grammar),
		cmocka_unit_test(test_words_come_from_the_grammar),
		cmocka_unit_test(test_parser),
		cmocka_unit_test(test_parser_with_long_words),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_completions),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests_name("verbs", tests, NULL, NULL);
}
