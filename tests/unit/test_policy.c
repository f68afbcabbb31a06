/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of a policy and the merge of its layers: one test for each promise. */
#include "policy_try.h"

#include "grammar.h"
#include "policy_within.h"
#include "str.h"

#include <stdio.h>

#define FLAG(key, value)                         \
	{                                        \
		{                                \
			(key), (value), "--flag" \
		}                                \
	}

/* The same text as a user's file is refused with this sentence. */
static void user_refused(const char *text, const char *sentence)
{
	_cleanup_try_ struct try_outcome o = TRY(.user = text);

	try_refused(&o, sentence);
}

static void test_defaults(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.user = NULL);
	const struct policy *p = &o.policy;

	(void)state;
	try_good(&o);
	assert_int_equal(p->backend, PLAN_BACKEND_NAMESPACE);
	assert_string_equal(p->backend_origin, "default");
	assert_string_equal(p->preset, "");
	assert_int_equal(p->workspace_access, PLAN_ACCESS_WRITE);
	assert_true(p->tools);
	assert_false(p->debug);
	assert_int_equal(p->read.count + p->write.count + p->hide.count, 0);
	assert_int_equal(p->env_pass.count + p->env_drop.count + p->env_set.count, 0);
	assert_int_equal(p->without.count + p->network.count + p->notes.count, 0);
	assert_true(p->limits[PLAN_LIMIT_PROCESSES].set);
	assert_int_equal(p->limits[PLAN_LIMIT_PROCESSES].value, 1024);
	assert_int_equal(p->limits[PLAN_LIMIT_OPEN_FILES].value, 16384);
	assert_false(p->limits[PLAN_LIMIT_FILE_SIZE].set);
	assert_false(p->limits[PLAN_LIMIT_MEMORY].set);
	assert_false(p->limits[PLAN_LIMIT_CPU_TIME].set);
	assert_false(p->limits[PLAN_LIMIT_WALL_TIME].set);
	assert_false(p->limits[PLAN_LIMIT_NETWORK].set);
	assert_string_equal(p->limits[PLAN_LIMIT_WALL_TIME].origin, "default");
	assert_int_equal(p->tmp_size.value, 2ull << 30);
}

/* The limits of the grammar are the limits of the plan, in the same order. */
static void test_limits_are_the_plans(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLAN_LIMIT_COUNT; i++)
		assert_string_equal(str_after(grammar_rows[GRAMMAR_LIMITS + i].name, "limits."),
				    plan_limit_words[i]);
	assert_int_equal(PLAN_BACKEND_NAMESPACE, 0);
	assert_string_equal(grammar_rows[GRAMMAR_BACKEND].words[0], plan_backend_words[0]);
	assert_string_equal(grammar_rows[GRAMMAR_BACKEND].words[1], plan_backend_words[1]);
}

static void test_origins(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.preset = "env:\n  pass: [TERM_X]\n",
						 .user = "backend: host\n"
							 "workspace:\n"
							 "  access: read\n"
							 "files:\n"
							 "  read: [/opt//data/, ~/notes/./x]\n"
							 "  write:\n"
							 "    - ~/out\n"
							 "  hide: [~]\n"
							 "env:\n"
							 "  pass: [LC_*, no]\n"
							 "  drop: [GH_*]\n"
							 "  set: {A: no, B: ''}\n"
							 "tools: false\n"
							 "limits:\n"
							 "  processes: 4096\n"
							 "  file-size: 3T\n"
							 "  memory-per-process: 512M\n"
							 "  cpu-time: 90m\n"
							 "  wall-time: 2d\n"
							 "  network-bytes: 10G\n"
							 "  tmp-size: unlimited\n"
							 "debug: true\n"
							 "without: [landlock, seccomp]\n",
						 .repository = "limits:\n\n  open-files: 128\n",
						 .flags = {{"files.write", "/srv", "--write"}});
	const struct policy *p = &o.policy;

	(void)state;
	try_good(&o);
	assert_int_equal(p->backend, PLAN_BACKEND_HOST);
	assert_string_equal(p->backend_origin, "config.yaml:1");
	assert_string_equal(p->preset, "test");
	assert_int_equal(p->workspace_access, PLAN_ACCESS_READ);
	assert_string_equal(p->workspace_origin, "config.yaml:3");
	assert_int_equal(p->read.count, 2);
	assert_string_equal(p->read.items[0].path, "/opt/data");
	assert_string_equal(p->read.items[1].path, "~/notes/x");
	assert_string_equal(p->read.items[1].origin, "config.yaml:5");
	assert_int_equal(p->write.count, 2);
	assert_string_equal(p->write.items[0].path, "~/out");
	assert_string_equal(p->write.items[0].origin, "config.yaml:7");
	assert_string_equal(p->write.items[1].path, "/srv");
	assert_string_equal(p->write.items[1].origin, "--write");
	assert_string_equal(p->hide.items[0].path, "~");
	assert_int_equal(p->env_pass.count, 3);
	assert_string_equal(p->env_pass.items[0].path, "TERM_X");
	assert_string_equal(p->env_pass.items[0].origin, "preset test");
	assert_string_equal(p->env_pass.items[2].path, "no");
	assert_string_equal(p->env_drop.items[0].path, "GH_*");
	assert_int_equal(p->env_set.count, 2);
	assert_string_equal(p->env_set.items[0].name, "A");
	assert_string_equal(p->env_set.items[0].value, "no");
	assert_string_equal(p->env_set.items[1].value, "");
	assert_string_equal(p->env_set.items[1].origin, "config.yaml:12");
	assert_false(p->tools);
	assert_string_equal(p->tools_origin, "config.yaml:13");
	assert_int_equal(p->limits[PLAN_LIMIT_PROCESSES].value, 4096);
	assert_string_equal(p->limits[PLAN_LIMIT_PROCESSES].origin, "config.yaml:15");
	assert_int_equal(p->limits[PLAN_LIMIT_OPEN_FILES].value, 128);
	assert_string_equal(p->limits[PLAN_LIMIT_OPEN_FILES].origin, ".bawn.yaml:3");
	assert_int_equal(p->limits[PLAN_LIMIT_FILE_SIZE].value, 3ull << 40);
	assert_int_equal(p->limits[PLAN_LIMIT_MEMORY].value, 512ull << 20);
	assert_int_equal(p->limits[PLAN_LIMIT_CPU_TIME].value, 5400);
	assert_int_equal(p->limits[PLAN_LIMIT_WALL_TIME].value, 2 * 86400);
	assert_int_equal(p->limits[PLAN_LIMIT_NETWORK].value, 10ull << 30);
	assert_false(p->tmp_size.set);
	assert_string_equal(p->tmp_size.origin, "config.yaml:21");
	assert_true(p->debug);
	assert_string_equal(p->debug_origin, "config.yaml:22");
	assert_int_equal(p->without.count, 2);
	assert_int_equal(p->without.items[1].layer, PLAN_LAYER_SECCOMP);
	assert_string_equal(p->without.items[1].origin, "config.yaml:23");
	assert_int_equal(p->notes.count, 0);
}

static void test_unknown_keys(void **state)
{
	(void)state;
	user_refused("tools: true\nbackand: host\n",
		     "config.yaml:2:1: unknown key backand; did you mean backend?");
	user_refused("limits:\n    proceses: 10\n",
		     "config.yaml:2:5: unknown key limits.proceses; did you mean processes?");
	user_refused("fils:\n  read: []\n",
		     "config.yaml:1:1: unknown key fils; did you mean files?");
	user_refused("zzzzzzzz: 1\n", "config.yaml:1:1: unknown key zzzzzzzz");
	user_refused("'': 1\n", "config.yaml:1:1: unknown key (empty)");
	user_refused("<<: {tools: true}\n", "config.yaml:1:1: unknown key <<");
	user_refused("read: [/x]\n", "config.yaml:1:1: unknown key read; files.read stands in the "
				     "section files, as its read");
	user_refused("files.read: [/x]\n", "config.yaml:1:1: unknown key files.read; files.read "
					   "stands in the section files, as its read");
	user_refused("files:\n  tools: true\n",
		     "config.yaml:2:3: unknown key files.tools; tools stands in no section");
	user_refused("limits: 5\n", "config.yaml:1:9: limits is a section with keys beneath it");
	user_refused("limits: ''\n", "config.yaml:1:9: limits is a section with keys beneath it");
}

/* A section whose lines are all commented out says nothing, as it looks. */
static void test_empty_section(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "limits:\n  # processes: 1\ntools: false\n");

	(void)state;
	try_good(&o);
	assert_false(o.policy.tools);
}

/* What each type of value refuses, in a file. */
static const struct {
	const char *text, *sentence;
} bad_values[] = {
	{"backend: hots", "backend is namespace or host, not hots; did you mean host?"},
	{"backend: ''", "backend is namespace or host, not empty"},
	{"backend:", "backend has no value here"},
	{"backend: [host]", "backend takes single values, not a list here"},
	{"backend: {host: 1}", "backend takes single values, not a section here"},
	{"tools: yes", "tools is false or true, not yes"},
	{"tools: no", "tools is false or true, not no"},
	{"tools: 1", "tools is false or true, not 1"},
	{"tools: True", "tools is false or true, not True; did you mean true?"},
	{"tools: null", "tools is false or true, not null"},
	{"preset: ../x", "preset is a name of small letters, digits and -, not ../x"},
	{"limits: {processes: many}",
	 "limits.processes is a plain number, as 512, or unlimited, not many"},
	{"limits: {processes: 1K}",
	 "limits.processes is a plain number, as 512, or unlimited, not 1K"},
	{"limits: {processes: -5}",
	 "limits.processes is a plain number, as 512, or unlimited, not -5"},
	{"limits: {processes: 0x40}",
	 "limits.processes is a plain number, as 512, or unlimited, not 0x40"},
	{"limits: {processes: 0100}",
	 "limits.processes is a plain number, as 512, or unlimited, not 0100"},
	{"limits: {processes: 1_000}",
	 "limits.processes is a plain number, as 512, or unlimited, not 1_000"},
	{"limits: {processes: 1e3}",
	 "limits.processes is a plain number, as 512, or unlimited, not 1e3"},
	{"limits: {processes: 0}", "limits.processes: 0 is too small; the least is 16"},
	{"limits: {processes: 4194305}", "limits.processes: 4194305 is too large"},
	{"limits: {processes: 18446744073709551615}",
	 "limits.processes: 18446744073709551615 is too large"},
	{"limits: {processes: 18446744073709551617}",
	 "limits.processes: 18446744073709551617 is too large"},
	{"limits: {processes: 99999999999999999999999999999999999999}",
	 "limits.processes: 99999999999999999999999999999999999999 is too large"},
	{"limits: {file-size: 16777216T}", "limits.file-size: 16777216T is too large"},
	{"limits: {file-size: 8388608T}", "limits.file-size: 8388608T is too large"},
	{"limits: {file-size: 0}", "limits.file-size: 0 is too small; the least is 1"},
	{"limits: {file-size: 1MB}", "limits.file-size is a size in bytes, or with K, M, G or "
				     "T, as 512M, or unlimited, not 1MB"},
	{"limits: {file-size: 1m}", "limits.file-size is a size in bytes, or with K, M, G or "
				    "T, as 512M, or unlimited, not 1m"},
	{"limits: {file-size: 1.5G}", "limits.file-size is a size in bytes, or with K, M, G or "
				      "T, as 512M, or unlimited, not 1.5G"},
	{"limits: {file-size: M}", "limits.file-size is a size in bytes, or with K, M, G or "
				   "T, as 512M, or unlimited, not M"},
	{"limits: {wall-time: 30}",
	 "limits.wall-time is a time with s, m, h or d, as 8h, or unlimited, not 30"},
	{"limits: {wall-time: 1h30m}",
	 "limits.wall-time is a time with s, m, h or d, as 8h, or unlimited, not 1h30m"},
	{"limits: {wall-time: 1w}",
	 "limits.wall-time is a time with s, m, h or d, as 8h, or unlimited, not 1w"},
	{"limits: {wall-time: 213503982334602d}",
	 "limits.wall-time: 213503982334602d is too large"},
	{"limits: {wall-time: 3651d}", "limits.wall-time: 3651d is too large"},
	{"files: {read: /x}", "files.read takes a list, as [one, two], or [] for none"},
	{"files: {read: }", "files.read takes a list, as [one, two], or [] for none"},
	{"files: {read: [[/x]]}", "files.read takes single values, not a list here"},
	{"files: {read: [/x: y]}", "files.read takes single values, not a section here"},
	{"files: {read: [x]}", "x is not a path that begins with / or ~/"},
	{"files: {read: ['']}", "an empty text is not a path that begins with / or ~/"},
	{"files: {read: [~root/x]}", "~root/x is not a path that begins with / or ~/"},
	{"files: {read: [$HOME/x]}", "$HOME/x is not a path that begins with / or ~/"},
	{"files: {read: [/a/../b]}", "a path with .. is not taken; write out where it leads"},
	{"files: {read: [~/..]}", "a path with .. is not taken; write out where it leads"},
	{"files: {read: [/a/*]}", "/a/*: patterns are not used in paths; name the folder"},
	{"files: {read: [/]}", "files.read cannot be the whole of /; name the folders"},
	{"files: {write: [//./]}", "files.write cannot be the whole of /; name the folders"},
	{"files: {hide: [/]}", "files.hide cannot be the whole of /; name the folders"},
	{"env: {pass: ['*']}", "env.pass cannot be everything; name what may pass"},
	{"env: {pass: [A-B]}", "env.pass takes names of letters, digits and _, with at most "
			       "one * at the end, not A-B"},
	{"env: {pass: [A*B]}", "env.pass takes names of letters, digits and _, with at most "
			       "one * at the end, not A*B"},
	{"env: {drop: ['*_X']}", "env.drop takes names of letters, digits and _, with at most "
				 "one * at the end, not *_X"},
	{"env: {pass: [A**]}", "env.pass takes names of letters, digits and _, with at most "
			       "one * at the end, not A**"},
	{"env: {pass: [1A]}", "env.pass takes names of letters, digits and _, with at most "
			      "one * at the end, not 1A"},
	{"env: {pass: [A=b]}", "env.pass takes names of letters, digits and _, with at most "
			       "one * at the end, not A=b"},
	{"env: {pass: ['']}", "env.pass takes names of letters, digits and _, with at most "
			      "one * at the end, not an empty text"},
	{"env: {set: [A]}", "env.set takes names and values, {} for none"},
	{"env: {set: {A*: x}}", "env.set takes names of letters, digits and _, not A*"},
	{"env: {set: {A: }}", "env.set has no value here"},
	{"env: {set: {A: [x]}}", "env.set takes single values, not a list here"},
	{"without: [landlok]", "without knows no layer landlok; did you mean landlock?"},
	{"without: [user-namespace]", "there is no box without its user-namespace"},
	{"without: [mount-namespace]", "there is no box without its mount-namespace"},
	{"without: [capabilities]", "there is no box without its capabilities"},
	{"without: landlock", "without takes a list, as [one, two], or [] for none"},
};

static void test_bad_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad_values); i++) {
		_cleanup_try_ struct try_outcome o = TRY(.user = bad_values[i].text);
		const char *sentence = strstr(o.e.text, ": ");

		if (o.r == 0 || !sentence)
			fail_msg("taken: %s", bad_values[i].text);
		assert_string_equal(sentence + 2, bad_values[i].sentence);
		assert_non_null(str_after(o.e.text, "config.yaml:1:"));
	}
}

static void test_no_box_is_chosen_by_name(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.flags = FLAG("without", "mount-namespace"));

	(void)state;
	try_refused(&o, "--flag: there is no box without its mount-namespace");
	assert_string_equal(o.e.next,
			    "for no box at all, choose it by name: --backend host (UNSAFE)");
}

/* Long paths and names are refused, not cut. */
static void test_long_values(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	buf_put_str(&text, "files: {read: [/");
	for (int i = 0; i < 256; i++)
		buf_put_char(&text, 'a');
	buf_put_str(&text, "]}");
	user_refused(buf_str(&text),
		     "config.yaml:1:16: a name in this path is longer than 255 bytes");
	buf_clear(&text);
	buf_put_str(&text, "files: {read: [");
	for (int i = 0; i < 2048; i++)
		buf_put_str(&text, "/a");
	buf_put_str(&text, "]}");
	user_refused(buf_str(&text),
		     "config.yaml:1:16: a path in files.read is longer than 4095 bytes");
}

static void test_flags(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.user = "limits: {processes: 100}\nfiles: {read: "
							 "[/a]}\nenv: {set: {A: 1, B: 2}}\n",
						 .flags = {{"limits.processes", "200", "--limit"},
							   {"files.read", "~/b", "--read"},
							   {"env.set", "A=x=y", "--env"},
							   {"limits.processes", "300", "--limit"}});

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.limits[PLAN_LIMIT_PROCESSES].value, 300);
	assert_string_equal(o.policy.limits[PLAN_LIMIT_PROCESSES].origin, "--limit");
	assert_int_equal(o.policy.read.count, 2);
	assert_string_equal(o.policy.read.items[1].path, "~/b");
	assert_int_equal(o.policy.env_set.count, 2);
	assert_string_equal(o.policy.env_set.items[0].value, "x=y");
	assert_string_equal(o.policy.env_set.items[0].origin, "--env");
	assert_string_equal(o.policy.env_set.items[1].value, "2");
}

static void test_bad_flags(void **state)
{
	static const struct {
		struct policy_flag flag;
		const char *sentence;
	} cases[] = {
		{{"file.read", "/x", "--read"},
		 "--read: unknown key file.read; did you mean files.read?"},
		{{"files.read", "x", "--read"}, "--read: x is not a path that begins with / or ~/"},
		{{"files.read", "/x\n", "--read"},
		 "--read: files.read is one line, without control or invisible characters"},
		{{"backend", "hst", "--backend"},
		 "--backend: backend is namespace or host, not hst; did you mean host?"},
		{{"env.set", "A", "--env"}, "--env: env.set takes NAME=VALUE, not A"},
		{{"env.set", "=b", "--env"},
		 "--env: env.set takes names of letters, digits and _, not an empty text"},
		{{"preset", "shel", "--preset"},
		 "--preset: there is no preset shel; did you mean shell?"},
		{{"preset", "zzzzzzz", "--preset"}, "--preset: there is no preset zzzzzzz"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct try_layers l = {.flags = {cases[i].flag}};
		_cleanup_try_ struct try_outcome o = try_merge(l);

		try_refused(&o, cases[i].sentence);
	}
}

/* --- presets --- */

static void test_presets(void **state)
{
	const char *const *names = policy_preset_names();
	size_t n = 0;

	(void)state;
	for (; names[n]; n++) {
		_cleanup_try_ struct try_outcome o = TRY(.flags = FLAG("preset", names[n]));

		try_good(&o);
		assert_string_equal(o.policy.preset, names[n]);
		if (n > 0)
			assert_true(strcmp(names[n - 1], names[n]) < 0);
	}
	assert_true(n >= 2);
	assert_null(policy_preset("nothing"));
}

static void test_preset_minimal(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.user = "preset: minimal\n");
	_cleanup_try_ struct try_outcome flag =
		TRY(.user = "preset: minimal\n", .flags = FLAG("preset", "shell"));

	(void)state;
	try_good(&o);
	assert_string_equal(o.policy.preset, "minimal");
	assert_int_equal(o.policy.workspace_access, PLAN_ACCESS_READ);
	assert_string_equal(o.policy.workspace_origin, "preset minimal");
	assert_false(o.policy.tools);
	try_good(&flag);
	assert_string_equal(flag.policy.preset, "shell");
	assert_int_equal(flag.policy.workspace_access, PLAN_ACCESS_WRITE);
}

/* The user's own file stands above the preset. */
static void test_user_over_preset(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.preset = "tools: false\nlimits: {processes: 64}\n",
		    .user = "limits: {processes: 128}\n");

	(void)state;
	try_good(&o);
	assert_false(o.policy.tools);
	assert_int_equal(o.policy.limits[PLAN_LIMIT_PROCESSES].value, 128);
}

static void test_preset_may_not_choose(void **state)
{
	static const char *const texts[] = {"backend: host", "preset: shell",
					    "without: [landlock]"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(texts); i++) {
		_cleanup_try_ struct try_outcome o = TRY(.preset = texts[i]);

		assert_int_equal(o.r, -EINVAL);
		assert_non_null(strstr(o.e.text, "has no place in a preset"));
	}
}

/* --- the repository's file --- */

/* Writes `key: value` as YAML, a section first where the key has one. */
static void yaml_of(struct buf *out, const struct grammar_row *row, const char *value)
{
	const char *dot = strchr(row->name, '.');

	buf_clear(out);
	if (dot)
		buf_putf(out, "%.*s:\n  %s: %s\n", (int)(dot - row->name), row->name, dot + 1,
			 value);
	else
		buf_putf(out, "%s: %s\n", row->name, value);
}

/* A small and a large value of each type; lists: one item. */
static const char *small_value(const struct grammar_row *row)
{
	switch (row->type) {
	case GRAMMAR_WORD:
	case GRAMMAR_BOOL:
		return row->words[0];
	case GRAMMAR_NAME:
		return "minimal";
	case GRAMMAR_URL:
		return "none";
	case GRAMMAR_NUMBER:
		return "100";
	case GRAMMAR_SIZE:
		return "20M";
	case GRAMMAR_DURATION:
		return "5s";
	case GRAMMAR_WORDS:
	case GRAMMAR_CHOICES:
	case GRAMMAR_PATHS:
	case GRAMMAR_NAMES:
	case GRAMMAR_RULES:
	case GRAMMAR_LEVELS:
	case GRAMMAR_PATTERNS:
		return "[]";
	case GRAMMAR_MAP:
	case GRAMMAR_SECTIONS:
		return "{}";
	}
	return NULL;
}

static const char *large_value(const struct grammar_row *row)
{
	switch (row->type) {
	case GRAMMAR_WORD:
	case GRAMMAR_BOOL:
		return row->words[1];
	case GRAMMAR_NAME:
		return "shell";
	case GRAMMAR_URL:
		return "http://proxy.example:3128";
	case GRAMMAR_NUMBER:
		return "200";
	case GRAMMAR_SIZE:
		return "21M";
	case GRAMMAR_DURATION:
		return "6s";
	case GRAMMAR_WORDS:
		return "[landlock]";
	case GRAMMAR_CHOICES:
		return "[clipboard]";
	case GRAMMAR_PATHS:
		return "[/x]";
	case GRAMMAR_NAMES:
		return "[X]";
	case GRAMMAR_MAP:
		return "{X: y}";
	case GRAMMAR_RULES:
		return "[allow: example.org]";
	case GRAMMAR_SECTIONS:
		return "{X: {hosts: [example.org]}}";
	case GRAMMAR_LEVELS:
		return "[ci=off]";
	case GRAMMAR_PATTERNS:
		return "[deploy/**]";
	}
	return NULL;
}

/*
 * For every key there is: the user says the small thing, the repository the
 * large one.  It is either a list whose growth hides more, or it is not given
 * and noted with file and line.  A new key without a rule fails here.
 */
static void test_repository_never_widens(void **state)
{
	_cleanup_buf_ struct buf user = BUF_INIT(1024);
	_cleanup_buf_ struct buf repository = BUF_INIT(1024);

	(void)state;
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];
		char place[32];

		assert_int_not_equal(row->narrow, GRAMMAR_NARROW_UNSAID);
		assert_int_not_equal(row->ceiling, GRAMMAR_CEILING_UNSAID);
		yaml_of(&user, row, small_value(row));
		yaml_of(&repository, row, large_value(row));
		_cleanup_try_ struct try_outcome before = TRY(.user = buf_str(&user));
		_cleanup_try_ struct try_outcome after =
			TRY(.user = buf_str(&user), .repository = buf_str(&repository));

		try_good(&before);
		try_good(&after);
		if (!policy_is_within(&after.policy, &before.policy))
			fail_msg("%s: a repository widened it", row->name);
		if (row->narrow == GRAMMAR_NARROW_ADD) {
			assert_false(policy_is_within(&before.policy, &after.policy));
			assert_int_equal(after.policy.notes.count, 0);
			continue;
		}
		assert_true(policy_is_within(&before.policy, &after.policy));
		assert_int_equal(after.policy.notes.count, 1);
		const struct plan_note *note = &after.policy.notes.items[0];

		assert_int_equal(note->kind, PLAN_NOTE_NOT_GIVEN);
		assert_non_null(str_after(note->what, row->name));
		assert_non_null(str_after(note->why, "a repository's file may only narrow"));
		(void)snprintf(place, sizeof(place), ".bawn.yaml:%d",
			       strchr(row->name, '.') ? 2 : 1);
		assert_string_equal(note->origin, place);
	}
}

/* And the other way round: what narrows is taken, with the repository as its origin. */
static void test_repository_narrows(void **state)
{
	_cleanup_buf_ struct buf user = BUF_INIT(1024);
	_cleanup_buf_ struct buf repository = BUF_INIT(1024);

	(void)state;
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];

		if (row->narrow != GRAMMAR_NARROW_LESS)
			continue;
		yaml_of(&user, row, large_value(row));
		yaml_of(&repository, row, small_value(row));
		_cleanup_try_ struct try_outcome before = TRY(.user = buf_str(&user));
		_cleanup_try_ struct try_outcome after =
			TRY(.user = buf_str(&user), .repository = buf_str(&repository));

		try_good(&before);
		try_good(&after);
		assert_int_equal(after.policy.notes.count, 0);
		assert_true(policy_is_within(&after.policy, &before.policy));
		if (policy_is_within(&before.policy, &after.policy))
			fail_msg("%s: a repository could not narrow it", row->name);
	}
}

/* Levels of holds: whoever may widen can say anything, a repository only more. */
static void test_holds(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "holds:\n  rules: [ci=flag, direnv=off, build-files=hold]\n"
			    "  paths: [deploy/**]\n",
		    .repository = "holds:\n  rules: [ci=hold, build-files=flag, vscode=off, "
				  "test-files=hold]\n  paths: [/ops]\n");
	const struct policy *p = &o.policy;
	const char *const said[][2] = {
		{"ci", "hold"}, {"direnv", "off"}, {"build-files", "hold"}, {"test-files", "hold"}};

	(void)state;
	try_good(&o);
	assert_int_equal(p->hold_rules.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(p->hold_rules.items[i].name, said[i][0]);
		assert_string_equal(p->hold_rules.items[i].value, said[i][1]);
	}
	assert_string_equal(p->hold_rules.items[0].origin, ".bawn.yaml:2");
	assert_int_equal(p->notes.count, 2);
	assert_string_equal(p->notes.items[0].what, "holds.rules: build-files=flag");
	assert_string_equal(p->notes.items[0].why,
			    "a repository's file may only narrow; hold stands, by config.yaml:2");
	assert_string_equal(p->notes.items[1].what, "holds.rules: vscode=off");
	assert_int_equal(p->hold_paths.count, 2);
}

static void test_holds_refused(void **state)
{
	_cleanup_try_ struct try_outcome rule = TRY(.user = "holds: {rules: [direnw=off]}\n");
	_cleanup_try_ struct try_outcome level = TRY(.user = "holds: {rules: [direnv=no]}\n");
	_cleanup_try_ struct try_outcome path = TRY(.user = "holds: {paths: [a/../b]}\n");
	_cleanup_try_ struct try_outcome low =
		TRY(.user = "holds: {rules: [ci=off]}\n", .ceiling = "holds: {rules: [ci=flag]}\n");
	_cleanup_try_ struct try_outcome raised =
		TRY(.ceiling = "holds: {rules: [test-files=hold]}\n");

	(void)state;
	try_refused(&rule, "config.yaml:1:17: holds.rules: there is no rule direnw; did you mean "
			   "direnv?");
	try_refused(&level, "config.yaml:1:17: holds.rules takes RULE=hold, RULE=flag or RULE=off, "
			    "not direnv=no");
	try_refused(&path, "config.yaml:1:17: holds.paths: a/../b cannot be held: a part of it is "
			   "empty, \".\" or \"..\"");
	try_refused(&low, "holds.rules has ci=off by config.yaml:1; the administrator's ceiling is "
			  "at least flag by /etc/bawn/policy.yaml:1");
	try_good(&raised);
	assert_int_equal(raised.policy.hold_rules.count, 1);
}

static void test_repository_notes(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "limits: {processes: 100}\n",
		    .repository = "limits:\n"
				  "  processes: 4096\n"
				  "  open-files: 64\n"
				  "files:\n"
				  "  write: [/etc, ~/.ssh]\n"
				  "  hide: [deploy/keys/, ./a//b, /srv]\n"
				  "env: {set: {PATH: /evil}}\n"
				  "backend: namespace\n");
	const struct policy *p = &o.policy;

	(void)state;
	try_good(&o);
	assert_int_equal(p->limits[PLAN_LIMIT_PROCESSES].value, 100);
	assert_string_equal(p->limits[PLAN_LIMIT_PROCESSES].origin, "config.yaml:1");
	assert_int_equal(p->limits[PLAN_LIMIT_OPEN_FILES].value, 64);
	assert_int_equal(p->write.count, 0);
	assert_int_equal(p->hide.count, 3);
	assert_string_equal(p->hide.items[0].path, "deploy/keys");
	assert_string_equal(p->hide.items[0].origin, ".bawn.yaml:6");
	assert_string_equal(p->hide.items[1].path, "a/b");
	assert_string_equal(p->hide.items[2].path, "/srv");
	assert_int_equal(p->notes.count, 5);
	assert_string_equal(p->notes.items[0].what, "backend: namespace");
	assert_string_equal(p->notes.items[0].why, "a repository's file may only narrow");
	assert_string_equal(p->notes.items[0].origin, ".bawn.yaml:8");
	assert_string_equal(p->notes.items[1].what, "files.write: /etc");
	assert_string_equal(p->notes.items[2].what, "files.write: ~/.ssh");
	assert_string_equal(p->notes.items[2].origin, ".bawn.yaml:5");
	assert_string_equal(p->notes.items[3].what, "env.set: PATH=/evil");
	assert_string_equal(p->notes.items[4].what, "limits.processes: 4096");
	assert_string_equal(p->notes.items[4].why, "a repository's file may only narrow; 100 "
						   "stands, by config.yaml:1");
	assert_string_equal(p->notes.items[4].origin, ".bawn.yaml:2");
}

/* What it says twice over is neither news nor a complaint. */
static void test_repository_agrees(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.repository = "workspace: {access: write}\nlimits: {file-size: unlimited}\n");

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.notes.count, 0);
	assert_string_equal(o.policy.workspace_origin, "default");
}

/* A repository's file that is not understood stops the start, and is named. */
static void test_repository_errors(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"tols: false\n", ".bawn.yaml:1:1: unknown key tols; did you mean tools?"},
		{"tools: maybe\n", ".bawn.yaml:1:8: tools is false or true, not maybe"},
		{"without: [x]\n", ".bawn.yaml:1:11: without knows no layer x"},
		{"files: {hide: [../x]}\n",
		 ".bawn.yaml:1:16: a path with .. is not taken; write out where it leads"},
		{"files: {hide: [a/../../x]}\n",
		 ".bawn.yaml:1:16: a path with .. is not taken; write out where it leads"},
		{"files: {hide: [.]}\n",
		 ".bawn.yaml:1:16: . is the whole workspace; name what is in it"},
		{"files: {hide: [./~/x]}\n",
		 ".bawn.yaml:1:16: ./~/x: a name that begins with ~ is not taken"},
		{"files: {hide: [./~]}\n",
		 ".bawn.yaml:1:16: ./~: a name that begins with ~ is not taken"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o = TRY(.repository = cases[i].text);

		try_refused(&o, cases[i].sentence);
	}
}

/* The flags are the user's word of today: they may go back over what the repository narrowed. */
static void test_flags_over_repository(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.repository = "workspace: {access: read}\n",
						 .flags = FLAG("workspace.access", "write"));

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.workspace_access, PLAN_ACCESS_WRITE);
	assert_string_equal(o.policy.workspace_origin, "--flag");
}

/* Nobody passes or sets what somebody drops. */
static void test_drop_wins(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "env:\n  pass: [AWS_REGION, LANG, AWS_*]\n  set: {AWS_KEY: x, B: y}\n",
		    .repository = "env: {drop: [AWS_*]}\n");

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.env_pass.count, 1);
	assert_string_equal(o.policy.env_pass.items[0].path, "LANG");
	assert_int_equal(o.policy.env_set.count, 1);
	assert_string_equal(o.policy.env_set.items[0].name, "B");
	assert_int_equal(o.policy.notes.count, 3);
	assert_string_equal(o.policy.notes.items[0].what, "env.pass: AWS_REGION");
	assert_string_equal(o.policy.notes.items[0].why, "env.drop names it, by .bawn.yaml:1");
	assert_string_equal(o.policy.notes.items[0].origin, "config.yaml:2");
	assert_string_equal(o.policy.notes.items[2].what, "env.set: AWS_KEY=x");
}

/* --- the ceiling --- */

static void test_ceiling_exceeded(void **state)
{
	_cleanup_try_ struct try_outcome user = TRY(.user = "limits:\n\n  processes: 4096\n",
						    .ceiling = "limits:\n  processes: 1024\n");
	_cleanup_try_ struct try_outcome flag = TRY(.ceiling = "limits:\n  processes: 1024\n",
						    .flags = FLAG("limits.processes", "4096"));
	_cleanup_try_ struct try_outcome unlimited =
		TRY(.ceiling = "limits:\n  wall-time: 8h\n",
		    .flags = FLAG("limits.wall-time", "unlimited"));
	_cleanup_try_ struct try_outcome host =
		TRY(.ceiling = "backend: namespace\n", .flags = FLAG("backend", "host"));

	(void)state;
	try_refused(&user, "limits.processes is 4096 by config.yaml:3; the administrator's ceiling "
			   "is 1024 by /etc/bawn/policy.yaml:2");
	assert_int_equal(user.r, -EPERM);
	assert_string_equal(user.e.next, "ask for less, or ask the administrator");
	try_refused(&flag,
		    "limits.processes is 4096 by --flag; the administrator's ceiling is 1024 "
		    "by /etc/bawn/policy.yaml:2");
	try_refused(&unlimited, "limits.wall-time is unlimited by --flag; the administrator's "
				"ceiling is 8h by /etc/bawn/policy.yaml:2");
	try_refused(&host, "backend is host by --flag; the administrator's ceiling is namespace by "
			   "/etc/bawn/policy.yaml:1");
}

/* What nobody chose is lowered without a word, and names the ceiling as its origin. */
static void test_ceiling_lowers_defaults(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.preset = "debug: true\n", .repository = "limits: {open-files: 2048}\n",
		    .ceiling = "limits:\n"
			       "  processes: 512\n"
			       "  wall-time: 8h\n"
			       "  open-files: 1024\n"
			       "debug: false\n"
			       "workspace: {access: read}\n"
			       "tools: false\n");
	const struct policy *p = &o.policy;

	(void)state;
	try_good(&o);
	assert_int_equal(p->limits[PLAN_LIMIT_PROCESSES].value, 512);
	assert_string_equal(p->limits[PLAN_LIMIT_PROCESSES].origin, "/etc/bawn/policy.yaml:2");
	assert_true(p->limits[PLAN_LIMIT_WALL_TIME].set);
	assert_int_equal(p->limits[PLAN_LIMIT_WALL_TIME].value, 8 * 3600);
	assert_int_equal(p->limits[PLAN_LIMIT_OPEN_FILES].value, 1024);
	assert_false(p->debug);
	assert_string_equal(p->debug_origin, "/etc/bawn/policy.yaml:5");
	assert_int_equal(p->workspace_access, PLAN_ACCESS_READ);
	assert_false(p->tools);
	assert_int_equal(p->notes.count, 0);
}

/* The ceiling is about the outcome: a choice that a flag took back is no offence. */
static void test_ceiling_sees_the_outcome(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "limits: {processes: 4096}\n", .ceiling = "limits: {processes: 1024}\n",
		    .flags = FLAG("limits.processes", "100"));

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.limits[PLAN_LIMIT_PROCESSES].value, 100);
}

static void test_ceiling_lists(void **state)
{
	static const struct {
		const char *ceiling, *user, *sentence; /* NULL: allowed */
	} cases[] = {
		{"files: {read: [/opt]}", "files: {read: [/opt/a, /opt]}", NULL},
		{"files: {read: [/opt]}", "files: {read: [/optional]}",
		 "files.read has /optional by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		{"files: {read: []}", "files: {read: [/opt]}",
		 "files.read has /opt by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		{"files: {read: [~/src]}", "files: {read: [~/src/x]}", NULL},
		{"files: {read: [/]}", "files: {read: [~/src/x, /y]}", NULL},
		/* Who may write may read. */
		{"files: {read: [], write: [/data]}", "files: {read: [/data/x]}", NULL},
		/* A ceiling on reading holds for writing, which is reading too. */
		{"files: {read: [/opt]}", "files: {write: [/data]}",
		 "files.write has /data by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml, does not allow it"},
		{"files: {read: [/opt]}", "files: {write: [/opt/x]}", NULL},
		{"files: {read: [/opt], write: []}", "files: {write: [/opt/x]}",
		 "files.write has /opt/x by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		/* A ceiling on writing leaves reading free. */
		{"files: {write: []}", "files: {read: [/opt/x]}", NULL},
		{"env: {pass: [LC_*, TERM]}", "env: {pass: [LC_ALL, LC_X*, TERM]}", NULL},
		{"env: {pass: [LC_*]}", "env: {pass: [L*]}",
		 "env.pass has L* by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		{"env: {pass: [TERM]}", "env: {pass: [TERM*]}",
		 "env.pass has TERM* by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		{"env: {pass: ['*']}", "env: {pass: [A, B*]}", NULL},
		{"without: [landlock]", "without: [landlock]", NULL},
		{"without: [landlock]", "without: [seccomp]",
		 "without has seccomp by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml:1, does not allow it"},
		/* A ceiling that does not speak of it allows none to be left out. */
		{"# nothing", "without: [seccomp]",
		 "without has seccomp by config.yaml:1; the administrator's ceiling, "
		 "/etc/bawn/policy.yaml, does not allow it"},
		/* And leaves the rest free, the backend too. */
		{"# nothing", "backend: host\nfiles: {write: [/x]}\nenv: {pass: [X]}", NULL},
		{"backend: host", "backend: host", NULL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o =
			TRY(.user = cases[i].user, .ceiling = cases[i].ceiling);

		if (cases[i].sentence)
			try_refused(&o, cases[i].sentence);
		else
			try_good(&o);
	}
}

/* What a preset asks beyond the ceiling is not given, and said. */
static void test_ceiling_over_preset(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.preset = "files: {read: [/a, /opt/x, /b]}\n",
						 .ceiling = "files: {read: [/opt]}\n");

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.read.count, 1);
	assert_string_equal(o.policy.read.items[0].path, "/opt/x");
	assert_int_equal(o.policy.notes.count, 2);
	assert_string_equal(o.policy.notes.items[0].what, "files.read: /a");
	assert_string_equal(o.policy.notes.items[0].why,
			    "the administrator's ceiling, /etc/bawn/policy.yaml:1");
	assert_string_equal(o.policy.notes.items[0].origin, "preset test");
}

static void test_ceiling_hides_for_everyone(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "files: {hide: [/a]}\n",
		    .ceiling = "files: {hide: [/srv/keys]}\nenv: {drop: [CORP_*]}\n",
		    .flags = FLAG("env.set", "CORP_X=1"));

	(void)state;
	try_good(&o);
	assert_int_equal(o.policy.hide.count, 2);
	assert_string_equal(o.policy.hide.items[1].path, "/srv/keys");
	assert_string_equal(o.policy.hide.items[1].origin, "/etc/bawn/policy.yaml:1");
	assert_int_equal(o.policy.env_set.count, 0);
}

static void test_ceiling_errors(void **state)
{
	_cleanup_try_ struct try_outcome preset = TRY(.ceiling = "preset: shell\n");
	_cleanup_try_ struct try_outcome set = TRY(.ceiling = "env:\n  set: {A: b}\n");

	(void)state;
	try_refused(&preset,
		    "/etc/bawn/policy.yaml:1:1: preset has no place in the administrator's "
		    "ceiling");
	try_refused(&set, "/etc/bawn/policy.yaml:2:3: env.set has no place in the administrator's "
			  "ceiling");
}

/* Under every ceiling there is: within the policy without it. */
static void test_ceiling_never_widens(void **state)
{
	_cleanup_buf_ struct buf ceiling = BUF_INIT(1024);

	(void)state;
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];

		if (row->ceiling == GRAMMAR_CEILING_NO)
			continue;
		for (int large = 0; large < 2; large++) {
			yaml_of(&ceiling, row, large ? large_value(row) : small_value(row));
			_cleanup_try_ struct try_outcome before = TRY(.preset = "tools: true\n");
			_cleanup_try_ struct try_outcome after =
				TRY(.preset = "tools: true\n", .ceiling = buf_str(&ceiling));

			try_good(&before);
			try_good(&after);
			if (!policy_is_within(&after.policy, &before.policy))
				fail_msg("%s: a ceiling widened it", row->name);
		}
	}
}

/* policy_is_within must be able to say no, for each thing it looks at. */
static void test_within_can_say_no(void **state)
{
	_cleanup_buf_ struct buf narrow = BUF_INIT(1024);
	_cleanup_buf_ struct buf wide = BUF_INIT(1024);

	(void)state;
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct grammar_row *row = &grammar_rows[i];
		bool grows_narrow = row->narrow == GRAMMAR_NARROW_ADD;

		yaml_of(&narrow, row, grows_narrow ? large_value(row) : small_value(row));
		yaml_of(&wide, row, grows_narrow ? small_value(row) : large_value(row));
		_cleanup_try_ struct try_outcome a = TRY(.user = buf_str(&narrow));
		_cleanup_try_ struct try_outcome b = TRY(.user = buf_str(&wide));

		try_good(&a);
		try_good(&b);
		assert_true(policy_is_within(&a.policy, &a.policy));
		if (policy_is_within(&b.policy, &a.policy))
			fail_msg("%s: the wider policy passes as the narrower", row->name);
	}
}

static void test_sources(void **state)
{
	static const struct policy_source twice[] = {
		{POLICY_USER, "a.yaml", {NULL, 0}},
		{POLICY_USER, "b.yaml", {NULL, 0}},
	};
	static const struct policy_source flags[] = {{POLICY_FLAGS, "a.yaml", {NULL, 0}}};
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct policy p;

	(void)state;
	assert_int_equal(policy_merge(twice, 2, NULL, 0, &arena, &p, &e), -EINVAL);
	assert_string_equal(e.text, "a.yaml and b.yaml are both given for one layer");
	assert_int_equal(policy_merge(flags, 1, NULL, 0, &arena, &p, &e), -EINVAL);
	assert_string_equal(e.text, "a.yaml: this layer is not read from a file");
}

static void test_name_patterns(void **state)
{
	(void)state;
	assert_true(policy_name_matches("A", "A"));
	assert_false(policy_name_matches("A", "AB"));
	assert_true(policy_name_matches("A*", "A"));
	assert_true(policy_name_matches("A*", "AB"));
	assert_true(policy_name_matches("A*", "AB*"));
	assert_false(policy_name_matches("AB*", "A*"));
	assert_false(policy_name_matches("A", "A*"));
	assert_true(policy_name_matches("*", "A"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_limits_are_the_plans),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_empty_section),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_no_box_is_chosen_by_name),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_bad_flags),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_preset_minimal),
		cmocka_unit_test(test_user_over_preset),
		cmocka_unit_test(test_preset_may_not_choose),
		cmocka_unit_test(test_repository_never_widens),
		cmocka_unit_test(test_repository_narrows),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_holds_refused),
		cmocka_unit_test(test_repository_notes),
		cmocka_unit_test(test_repository_agrees),
		cmocka_unit_test(test_repository_errors),
		cmocka_unit_test(test_flags_over_repository),
		cmocka_unit_test(test_drop_wins),
		cmocka_unit_test(test_ceiling_exceeded),
		cmocka_unit_test(test_ceiling_lowers_defaults),
		cmocka_unit_test(test_ceiling_sees_the_outcome),
		cmocka_unit_test(test_ceiling_lists),
		cmocka_unit_test(test_ceiling_over_preset),
		cmocka_unit_test(test_ceiling_hides_for_everyone),
		cmocka_unit_test(test_ceiling_errors),
		cmocka_unit_test(test_ceiling_never_widens),
		cmocka_unit_test(test_within_can_say_no),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_name_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
