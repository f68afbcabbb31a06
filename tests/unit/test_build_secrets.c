/* SPDX-License-Identifier: Apache-2.0 */
/* What a box has of a secret: placeholders of its shape, in variables and in made-up files. */
#include "fake_world.h"

#include <stdio.h>

#define LIST(array)                             \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}

static struct plan_ports https[] = {{443, 443}};
static struct plan_binding bindings[] = {
	{.host = "api.example.test", .ports = LIST(https), .scheme = PLAN_SCHEME_TLS}};
static struct plan_string shapes[] = {{"ghp_{20:n}"}, {"{32:x}"}};
static struct plan_string variables[] = {{"KEY_ONE"}, {"KEY_TWO"}};
static struct plan_rule rules[] = {{.action = PLAN_ACTION_ALLOW,
				    .host = "api.example.test",
				    .ports = LIST(https),
				    .scheme = PLAN_SCHEME_TLS,
				    .origin = "test"}};

/* A plan with one secret and these files of it. */
static void build_with(struct world *w, struct policy_secret_file *files, size_t count)
{
	static struct policy_secret secret;

	secret = (struct policy_secret){.name = "KEY",
					.kind = PLAN_SECRET_AWS,
					.bindings = LIST(bindings),
					.in_authorization = true,
					.variables = LIST(variables),
					.files = {files, count},
					.shapes = LIST(shapes),
					.from = POLICY_FROM_ENV,
					.from_text = "KEY",
					.origin = "test"};
	w->policy.secrets.items = &secret;
	w->policy.secrets.count = 1;
	w->policy.network.items = rules;
	w->policy.network.count = 1;
	w->host.placeholder_key = SPAN_LITERAL("a key of thirty-two bytes, more ");
	if (w->host.trust.count == 0) {
		struct host_object *o =
			world_add(w, &w->host.trust, "/etc/ssl/certs/ca-certificates.crt");

		o->is_dir = false;
		o->is_file = true;
		o->origin = "bundle";
	}
	world_build(w);
	assert_int_equal(w->plan.secrets.count, 1);
}

static const char *part(const struct world *w, size_t n)
{
	return w->plan.secrets.items[0].parts.items[n].placeholder;
}

static void test_placeholders(void **state)
{
	struct world *w = *state;

	build_with(w, NULL, 0);
	assert_int_equal(w->plan.secrets.items[0].parts.count, 2);
	assert_int_equal(strlen(part(w, 0)), 24);
	assert_int_equal(strncmp(part(w, 0), "ghp_", 4), 0);
	assert_int_equal(strlen(part(w, 1)), 32);
	assert_int_equal(strspn(part(w, 1), "0123456789abcdef"), 32);
	assert_string_equal(world_value(w, "KEY_ONE"), part(w, 0));
	assert_string_equal(world_value(w, "KEY_TWO"), part(w, 1));
}

/* What the user set, or does not want there, is not replaced by a placeholder. */
static void test_variables_that_are_taken(void **state)
{
	struct policy_env_set set[] = {{"KEY_ONE", "mine", "--env"}};
	struct world *w = *state;

	w->policy.env_set.items = set;
	w->policy.env_set.count = 1;
	WORLD_GRANT(w, env_drop, "KEY_T*", ".bawn.yaml:1");
	build_with(w, NULL, 0);
	assert_string_equal(world_value(w, "KEY_ONE"), "mine");
	assert_null(world_value(w, "KEY_TWO"));
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(w->plan.secrets.items[0].parts.items[i].variables.count, 0);
}

/* <0> and <1> stand for the two placeholders. */
static void test_the_text_of_a_file(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"{}", "<0>\n"},
		{"{0}", "<0>\n"},
		{"{1}", "<1>\n"},
		{"machine a.test password {}", "machine a.test password <0>\n"},
		{"{0}:{1}", "<0>:<1>\n"},
		{"{}{}{1}{}", "<0><0><1><0>\n"},
		{"[default]\\nid = {0}\\nkey = {1}\\n", "[default]\nid = <0>\nkey = <1>\n"},
		{"{}\\n", "<0>\n"},
		{"\\n{}", "\n<0>\n"},
		{"a{2}b{9}c{}", "abc<0>\n"}, /* there are no such parts */
		{"{\"token\": \"{}\", \"n\": {10}}", "{\"token\": \"<0>\", \"n\": {10}}\n"},
		{"{x} {a} { } {{}}", "{x} {a} { } {<0>}\n"},
		{"a\\b\\\\ {}", "a\\b\\\\ <0>\n"},
		{"{} {", "<0> {\n"},
		{"{} {0", "<0> {0\n"},
		{"{} \\", "<0> \\\n"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct policy_secret_file file = {.path = "~/.config/tool/key",
						  .text = rows[i].text};
		struct buf wanted = BUF_INIT(4096);

		build_with(w, &file, 1);
		for (const char *c = rows[i].wanted; *c; c++)
			if (c[0] == '<' && c[2] == '>') {
				buf_put_str(&wanted, part(w, (size_t)(c[1] - '0')));
				c += 2;
			} else {
				buf_put_char(&wanted, *c);
			}
		struct plan_mount m = world_mount(w, WORLD_HOME "/.config/tool/key");

		assert_int_equal(m.kind, PLAN_MOUNT_FILE);
		if (!span_equal(m.data, buf_span(&wanted)))
			fail_msg("\"%s\" became \"%.*s\", not \"%s\"", rows[i].text,
				 (int)m.data.len, (const char *)m.data.ptr, buf_str(&wanted));
		buf_fini(&wanted);
	}
}

/* Where it would lie in something of the user's it is not, and that is said. */
static void test_where_a_file_is_not(void **state)
{
	static const char *const rows[] = {"/nowhere/key", WORLD_WORKSPACE "/key", WORLD_WORKSPACE};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct policy_secret_file file = {.path = rows[i], .text = "{}"};

		build_with(w, &file, 1);
		assert_int_equal(w->plan.secrets.items[0].files.count, 0);
		const struct plan_mount *m = world_at(w, rows[i]);

		assert_true(!m || m->kind != PLAN_MOUNT_FILE);
		assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, rows[i]));
	}
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(test_variables_that_are_taken),
		PROMISE(test_placeholders),
		PROMISE(test_the_text_of_a_file),
		PROMISE(test_where_a_file_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
