/* SPDX-License-Identifier: Apache-2.0 */
/* Where values come from and where they are kept, with real files and real programs. */
#include "fake_home.h"

#include "message_keys.h"
#include "secret_source.h"
#include "secret_store.h"
#include "str.h"

#include <sys/stat.h>

static void test_words(void **state)
{
	static const struct {
		const char *command;
		const char *words[6]; /* none: refused */
	} rows[] = {
		{"op read op://a/b", {"op", "read", "op://a/b"}},
		{"  a   b\tc ", {"a", "b", "c"}},
		{"a 'b c' \"d e\"", {"a", "b c", "d e"}},
		{"a b\\ c \"d\\\"e\" 'f\\g'", {"a", "b c", "d\"e", "f\\g"}},
		{"a '' \"\"", {"a", "", ""}},
		{"a$HOME `x` $(y) ; z", {"a$HOME", "`x`", "$(y)", ";", "z"}},
		{"a'b'c", {"abc"}},
		{"", {NULL}},
		{"   ", {NULL}},
		{"a 'b", {NULL}},
		{"a \"b", {NULL}},
		{"'' a", {NULL}},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		const char *const *argv = NULL;
		struct error e = ERROR_INIT;
		int r = secret_split(rows[i].command, &arena, &argv, &e);
		size_t n = 0;

		assert_int_equal(r, rows[i].words[0] ? 0 : -EINVAL);
		for (; r == 0 && rows[i].words[n]; n++)
			assert_string_equal(argv[n], rows[i].words[n]);
		if (r == 0)
			assert_null(argv[n]);
	}
}

static struct host host_of(const struct fake_home *f, struct arena *arena)
{
	struct host h = {.uid = geteuid()};

	h.home = f->home;
	h.state_dir = arena_printf(arena, "%s/.local/state/bawn", f->home);
	assert_non_null(h.state_dir);
	return h;
}

/* A program that somebody else can change, or that lies in the workspace, is not run. */
static void test_programs(void **state)
{
	struct fake_home *f = *state;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct host h = host_of(f, &arena);
	const char *own = arena_printf(&arena, "%s/bin", f->home);
	const char *path = arena_printf(&arena, "PATH=.:%s:/usr/bin:/bin", own);
	char *environment[] = {arena_str(&arena, path), NULL};
	const char *tool = arena_printf(&arena, "%s/tool", own);
	struct error e = ERROR_INIT;

	h.environ = environment;
	fake_file(f->home, "bin/tool", "#!/bin/sh\n");
	assert_int_equal(chmod(own, 0755), 0);
	assert_int_equal(chmod(tool, 0755), 0);
	assert_string_equal(secret_program(&h, "tool", &arena, &e), tool);
	assert_string_equal(secret_program(&h, tool, &arena, &e), tool);
	assert_non_null(secret_program(&h, "sh", &arena, &e));
	assert_null(secret_program(&h, "no-such-program", &arena, &e));
	assert_int_equal(e.code, -ENOENT);
	assert_null(secret_program(&h, "../bin/tool", &arena, &e));
	assert_int_equal(chmod(tool, 0775), 0);
	assert_null(secret_program(&h, "tool", &arena, &e));
	assert_int_equal(e.code, -EPERM);
	assert_int_equal(chmod(tool, 0755), 0);
	assert_int_equal(chmod(own, 0777), 0);
	assert_null(secret_program(&h, "tool", &arena, &e));
	assert_int_equal(chmod(own, 0755), 0);
	h.workspace.path = own;
	assert_null(secret_program(&h, "tool", &arena, &e));
	assert_int_equal(e.code, -EPERM);
}

static int read_it(const struct host *h, const struct policy_secret *s, char *into, struct error *e)
{
	static char bytes[MESSAGE_VALUE_MAX + 1];
	struct buf b = {bytes, 0, sizeof(bytes), MESSAGE_VALUE_MAX, 0};
	uint64_t expires = 0;
	int r = secret_value_read(h, s, &b, &expires, e);

	(void)snprintf(into, 256, "%.*s", r == 0 ? (int)b.len : 0, bytes);
	return r;
}

static void test_sources(void **state)
{
	struct fake_home *f = *state;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct host h = host_of(f, &arena);
	char path[] = "PATH=/usr/bin:/bin";
	char variable[] = "MINE=from-the-variable";
	char *environment[] = {path, variable, NULL};
	static const struct {
		unsigned int from;
		const char *text, *value; /* NULL: refused */
	} rows[] = {
		{POLICY_FROM_ENV, "MINE", "from-the-variable"},
		{POLICY_FROM_ENV, "OTHER", NULL},
		{POLICY_FROM_FILE, "~/token", "from-the-file"},
		{POLICY_FROM_FILE, "~/missing", NULL},
		{POLICY_FROM_FILE, "~/two-lines", NULL},
		{POLICY_FROM_FILE, "/dev/zero", NULL},
		{POLICY_FROM_COMMAND, "printf '%s\\n' \"from-the-command\"", "from-the-command"},
		{POLICY_FROM_COMMAND, "pwd", NULL}, /* "/" is too short, and not this folder */
		{POLICY_FROM_COMMAND, "sh -c 'echo from-the-command; exit 3'", NULL},
		{POLICY_FROM_COMMAND, "head -c 70000 /dev/zero", NULL},
		{POLICY_FROM_COMMAND, "printf short", NULL},
		{POLICY_FROM_STORE, "", NULL},
	};

	h.environ = environment;
	fake_file(f->home, "token", "from-the-file\r\n");
	fake_file(f->home, "two-lines", "from-the-file\nand-more\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct policy_secret s = {
			.name = "MINE", .from = rows[i].from, .from_text = rows[i].text};
		struct error e = ERROR_INIT;
		char value[256];
		int r = read_it(&h, &s, value, &e);

		if ((r == 0) != (rows[i].value != NULL))
			fail_msg("%s: %d %s", rows[i].text, r, e.text);
		if (rows[i].value)
			assert_string_equal(value, rows[i].value);
		else
			assert_true(e.text[0] != '\0');
	}
	const struct policy_secret past = {
		.name = "MINE", .from = POLICY_FROM_ENV, .from_text = "MINE", .expires = 1};
	struct error e = ERROR_INIT;
	char value[256];

	assert_int_equal(read_it(&h, &past, value, &e), -EKEYEXPIRED);
}

/* Three lines, or what the provider's own tool prints. */
static void test_aws(void **state)
{
	struct fake_home *f = *state;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct host h = host_of(f, &arena);
	char path[] = "PATH=/usr/bin:/bin";
	char id[] = "AWS_ACCESS_KEY_ID=AKIAEXAMPLE";
	char key[] = "AWS_SECRET_ACCESS_KEY=secretsecret";
	char *environment[] = {path, id, key, NULL};
	struct plan_string variables[] = {
		{"AWS_ACCESS_KEY_ID"}, {"AWS_SECRET_ACCESS_KEY"}, {"AWS_SESSION_TOKEN"}};
	struct policy_secret s = {.name = "AWS",
				  .kind = PLAN_SECRET_AWS,
				  .variables = {variables, 3},
				  .from = POLICY_FROM_ENV,
				  .from_text = "AWS"};
	struct error e = ERROR_INIT;
	char value[256];

	h.environ = environment;
	assert_int_equal(read_it(&h, &s, value, &e), 0);
	assert_string_equal(value, "AKIAEXAMPLE\nsecretsecret");
	fake_file(f->home, "env",
		  "export AWS_ACCESS_KEY_ID=ASIAEXAMPLE\nexport AWS_SECRET_ACCESS_KEY=secret+/12\n"
		  "export AWS_SESSION_TOKEN=tokentoken==\nexport AWS_CREDENTIAL_EXPIRATION=x\n");
	s.from = POLICY_FROM_FILE;
	s.from_text = "~/env";
	assert_int_equal(read_it(&h, &s, value, &e), 0);
	assert_string_equal(value, "ASIAEXAMPLE\nsecret+/12\ntokentoken==");
}

static void test_store(void **state)
{
	struct fake_home *f = *state;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct host h = host_of(f, &arena);
	struct plan_ports port = {8443, 8443};
	struct plan_string words[] = {{"GET"}, {"/a b/**"}, {"x-key"}, {"sk-{20:n}"}};
	struct plan_binding binding = {.host = "*.example.org",
				       .ports = {&port, 1},
				       .scheme = PLAN_SCHEME_HTTP,
				       .methods = {&words[0], 1},
				       .paths = {&words[1], 1}};
	struct policy_secret_file file = {"~/.x", "a \"{}\" \\n"};
	struct policy_secret s = {.name = "MINE",
				  .bindings = {&binding, 1},
				  .in_body = true,
				  .headers = {&words[2], 1},
				  .files = {&file, 1},
				  .shapes = {&words[3], 1},
				  .from = POLICY_FROM_COMMAND,
				  .from_text = "op read 'x \"y\"'",
				  .refresh = 3600};
	struct policy policy;
	struct error e = ERROR_INIT;

	assert_int_equal(secret_store_list(&h, &arena, &policy, &e), 0);
	assert_int_equal(policy.secrets.count, 0);
	assert_int_equal(secret_store_remove(&h, "MINE", &arena, &e), -ENOENT);
	if (secret_store_put(&h, &s, &arena, &e) < 0)
		fail_msg("%s", e.text);
	s.name = "OTHER";
	assert_int_equal(secret_store_put(&h, &s, &arena, &e), 0);
	s.name = "MINE";
	s.refresh = 60;
	assert_int_equal(secret_store_put(&h, &s, &arena, &e), 0);
	assert_int_equal(secret_store_list(&h, &arena, &policy, &e), 0);
	assert_int_equal(policy.secrets.count, 2);
	const struct policy_secret *back = &policy.secrets.items[0];

	assert_string_equal(back->name, "MINE");
	assert_string_equal(back->bindings.items[0].host, "*.example.org");
	assert_int_equal(back->bindings.items[0].ports.items[0].from, 8443);
	assert_int_equal(back->bindings.items[0].scheme, PLAN_SCHEME_HTTP);
	assert_string_equal(back->bindings.items[0].paths.items[0].text, "/a b/**");
	assert_string_equal(back->files.items[0].text, "a \"{}\" \\n");
	assert_string_equal(back->from_text, "op read 'x \"y\"'");
	assert_int_equal(back->refresh, 60);
	assert_true(back->in_body && !back->in_authorization);
	assert_int_equal(secret_store_remove(&h, "MINE", &arena, &e), 0);
	assert_int_equal(secret_store_list(&h, &arena, &policy, &e), 0);
	assert_int_equal(policy.secrets.count, 1);
}

static void test_values(void **state)
{
	struct fake_home *f = *state;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct host h = host_of(f, &arena);
	_cleanup_buf_ struct buf value = BUF_INIT(4096);
	struct error e = ERROR_INIT;
	struct span key, again;
	struct stat st;
	const char *path = arena_printf(&arena, "%s/secrets/MINE", h.state_dir);

	assert_int_equal(secret_value_get(&h, POLICY_FROM_STORE, "MINE", &value, &arena, &e),
			 -ENOENT);
	assert_int_equal(secret_value_put(&h, POLICY_FROM_STORE, "MINE",
					  SPAN_LITERAL("canary-value"), &arena, &e),
			 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(secret_value_get(&h, POLICY_FROM_STORE, "MINE", &value, &arena, &e), 0);
	assert_string_equal(buf_str(&value), "canary-value");
	/* What others can read was read by others. */
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(secret_value_get(&h, POLICY_FROM_STORE, "MINE", &value, &arena, &e),
			 -EPERM);
	assert_int_equal(secret_value_remove(&h, POLICY_FROM_STORE, "MINE", &arena, &e), 0);
	assert_int_equal(secret_value_remove(&h, POLICY_FROM_STORE, "MINE", &arena, &e), -ENOENT);
	/* The key is made once, and that there was none before is no mistake of anybody's. */
	e = ERROR_INIT;
	assert_int_equal(secret_store_key(&h, false, &arena, &key, &e), 0);
	assert_int_equal(key.len, 0);
	assert_int_equal(secret_store_key(&h, true, &arena, &key, &e), 0);
	assert_int_equal(e.code, 0);
	assert_int_equal(key.len, SECRET_KEY_SIZE);
	assert_int_equal(secret_store_key(&h, false, &arena, &again, &e), 0);
	assert_true(span_equal(key, again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test_setup_teardown(test_programs, fake_home_setup, fake_home_teardown),
		cmocka_unit_test_setup_teardown(test_sources, fake_home_setup, fake_home_teardown),
		cmocka_unit_test_setup_teardown(test_aws, fake_home_setup, fake_home_teardown),
		cmocka_unit_test_setup_teardown(test_store, fake_home_setup, fake_home_teardown),
		cmocka_unit_test_setup_teardown(test_values, fake_home_setup, fake_home_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
