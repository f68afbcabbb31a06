/* SPDX-License-Identifier: Apache-2.0 */
/* A rule is added to the user's file, and all else in it stays as it was. */
#include "fake_home.h"

#include "config_edit.h"
#include "fd.h"
#include "str.h"

struct edit {
	const char *before, *after; /* after NULL: refused */
	size_t line;
};

static const struct edit edits[] = {
	{"", "network:\n  - allow: a.test\n", 2},
	{"# nothing yet\n", "# nothing yet\n\nnetwork:\n  - allow: a.test\n", 4},
	{"tools: true", "tools: true\n\nnetwork:\n  - allow: a.test\n", 4},
	{"network:\n", "network:\n  - allow: a.test\n", 2},
	{"network: # none\ntools: true\n", "network: # none\n  - allow: a.test\ntools: true\n", 2},
	{"network:\n- allow: b.test\n", "network:\n- allow: b.test\n- allow: a.test\n", 3},
	{"network:\n    - allow: b.test # why\n    # more\ntools: true\n",
	 "network:\n    - allow: b.test # why\n    - allow: a.test\n    # more\ntools: true\n", 3},
	{"network:\n  - allow: b.test\n    ports: [80,\n      443]\n  - deny: c.test",
	 "network:\n  - allow: b.test\n    ports: [80,\n      443]\n  - deny: c.test\n  - allow: "
	 "a.test\n",
	 6},
	{"network:\n  - {allow: b.test, ports: [80]}\n",
	 "network:\n  - {allow: b.test, ports: [80]}\n  - allow: a.test\n", 3},
	{"network:\n  - allow: b.test\n    scheme: tcp\n    ports:\n      - 22\n      - 23\ndebug: "
	 "false\n",
	 "network:\n  - allow: b.test\n    scheme: tcp\n    ports:\n      - 22\n      - 23\n  - "
	 "allow: a.test\ndebug: false\n",
	 7},
	/* What says the opposite in so many words goes; what says more stays. */
	{"network:\n  - deny: a.test\n  - allow: b.test\n",
	 "network:\n  - allow: b.test\n  - allow: a.test\n", 3},
	{"network:\n  - deny: a.test # for now\n",
	 "network:\n  - deny: a.test # for now\n  - allow: a.test\n", 3},
	{"network:\n  - deny: a.test\n    ports: [80]\n",
	 "network:\n  - deny: a.test\n    ports: [80]\n  - allow: a.test\n", 4},
	{"network:\n  - deny: aa.test\n", "network:\n  - deny: aa.test\n  - allow: a.test\n", 3},
	/* What cannot be done so that only a line is added. */
	{"network: []\n", NULL, 0},
	{"network: [{allow: b.test}]\n", NULL, 0},
	{"network:\n  [\n  {allow: b.test}]\n", NULL, 0},
	{"{tools: true}\n", NULL, 0},
	{"network:\n  - {allow: b.test,\n     ports: [80]\n    }\n", NULL, 0},
	{"tools: true\n...\n", NULL, 0},
};

static void test_a_line_is_added(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(edits); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
		struct error e = ERROR_INIT;
		size_t line = 0;
		int r = config_add_line("config.yaml", span_of_str(edits[i].before),
					"- allow: a.test", &out, &line, &e);

		if (!edits[i].after) {
			if (r != -EOPNOTSUPP)
				fail_msg("%d for:\n%s%s", r, edits[i].before, buf_str(&out));
			continue;
		}
		if (r < 0)
			fail_msg("%s, of:\n%s", e.text, edits[i].before);
		assert_string_equal(buf_str(&out), edits[i].after);
		assert_int_equal(line, edits[i].line);
	}
}

static void test_it_is_not_added_twice(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct error e = ERROR_INIT;
	size_t line = 0;

	(void)state;
	assert_int_equal(config_add_line("c", span_of_str("network:\n  - allow: 'a.test'\n"),
					 "- allow: a.test", &out, &line, &e),
			 -EALREADY);
}

static void test_a_broken_file_is_left_alone(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct error e = ERROR_INIT;
	size_t line = 0;

	(void)state;
	assert_true(config_add_line("c.yaml", span_of_str("network: [\n"), "- allow: a.test", &out,
				    &line, &e) < 0);
	assert_non_null(strstr(e.text, "c.yaml:"));
}

static void test_lines_name_hosts_in_quotes_where_needed(void **state)
{
	static struct plan_ports port[] = {{443, 443}};
	static const uint8_t address[16] = {0x20, 1};
	const struct plan_rule rules[] = {
		{.action = PLAN_ACTION_ALLOW, .host = "a.test"},
		{.action = PLAN_ACTION_DENY,
		 .host = "*.a.test",
		 .ports = {port, 1},
		 .ports_named = true},
		{.action = PLAN_ACTION_ALLOW, .host = "2001::", .address = {address, 16}},
	};
	static const char *const lines[] = {"- allow: a.test", "- deny: \"*.a.test:443\"",
					    "- allow: \"[2001::]\""};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rules); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1024);

		config_rule_line(&out, &rules[i]);
		assert_string_equal(buf_str(&out), lines[i]);
	}
}

static void read_file(const char *path, struct buf *into)
{
	buf_clear(into);
	assert_int_equal(fd_read_file_at(AT_FDCWD, path, into), 0);
}

static int add_rule(const char *path, const struct plan_rule *rule, size_t *ret_line,
		    struct error *e)
{
	_cleanup_buf_ struct buf words = BUF_INIT(1024);

	return config_add_rule(path, rule, &words, ret_line, e);
}

static void test_the_file_is_replaced_whole(void **state)
{
	const struct fake_home *f = *state;
	const struct plan_rule rule = {.action = PLAN_ACTION_ALLOW, .host = "a.test"};
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct error e = ERROR_INIT;
	char path[PATH_MAX];
	char real[PATH_MAX];
	struct stat st;
	size_t line = 0;

	/* Made, with its folders, when there is none. */
	(void)fake_path(path, f->home, ".config/bawn/config.yaml");
	assert_int_equal(add_rule(path, &rule, &line, &e), 0);
	read_file(path, &text);
	assert_string_equal(buf_str(&text), "network:\n  - allow: a.test\n");
	/* Through a link, which stays one. */
	fake_file(f->home, "dots/real.yaml", "tools: true\n");
	assert_int_equal(unlink(path), 0);
	fake_link(f->home, ".config/bawn/config.yaml", fake_path(real, f->home, "dots/real.yaml"));
	assert_int_equal(add_rule(path, &rule, &line, &e), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	read_file(real, &text);
	assert_non_null(strstr(buf_str(&text), "tools: true\n\nnetwork:\n"));
	assert_int_equal(stat(real, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	/* Nothing stays beside it. */
	assert_false(fake_exists(f->home, "dots/.real.yaml.bawn-1"));
	assert_int_equal(add_rule(path, &rule, &line, &e), -EALREADY);
	/* A file with two names would lose one of them. */
	char second[PATH_MAX];

	assert_int_equal(link(real, fake_path(second, f->home, "dots/second.yaml")), 0);
	assert_int_equal(add_rule(path, &rule, &line, &e), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_is_added),
		cmocka_unit_test(test_it_is_not_added_twice),
		cmocka_unit_test(test_a_broken_file_is_left_alone),
		cmocka_unit_test(test_lines_name_hosts_in_quotes_where_needed),
		cmocka_unit_test_setup_teardown(test_the_file_is_replaced_whole, fake_home_setup,
						fake_home_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
