/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git in the box knows the user's name and address, by a made-up file in the place of the system's
 * settings, and nothing else of him.
 */
#include "fake_world.h"

#define OWN "/run/bawn/gitconfig"
#define SYSTEM "/etc/gitconfig"

static void knows(struct world *w, enum host_git_key key, const char *text)
{
	w->host.git.values[key] = (struct host_git_value){text, WORLD_HOME "/.gitconfig"};
}

static const char *content(struct world *w, const char *target)
{
	struct plan_mount m = world_mount(w, target);

	assert_int_equal(m.kind, PLAN_MOUNT_FILE);
	assert_int_equal(m.access, PLAN_ACCESS_READ);
	return arena_strn(&w->arena, (const char *)m.data.ptr, m.data.len);
}

static void without_a_name_nothing_is_there(void **state)
{
	struct world *w = *state;

	world_build(w);
	assert_null(world_at(w, SYSTEM));
	assert_null(world_at(w, OWN));
	assert_null(world_value(w, "GIT_CONFIG_SYSTEM"));
	assert_string_equal(w->plan.git_name, "");
	assert_string_equal(w->plan.git_email, "");
}

static void it_stands_where_the_systems_would(void **state)
{
	struct world *w = *state;

	knows(w, HOST_GIT_NAME, "Jo \"J\" \\ x; #y");
	knows(w, HOST_GIT_EMAIL, "jo@x.test");
	world_build(w);
	assert_string_equal(content(w, SYSTEM),
			    "# Made up by bawn.\n[user]\n\tname = \"Jo \\\"J\\\" \\\\ x; #y\"\n"
			    "[user]\n\temail = \"jo@x.test\"\n");
	assert_string_equal(world_value(w, "GIT_CONFIG_SYSTEM"), SYSTEM);
	assert_string_equal(w->plan.git_name, "Jo \"J\" \\ x; #y");
	assert_string_equal(w->plan.git_email, "jo@x.test");
	assert_string_equal(w->plan.git_origin, WORLD_HOME "/.gitconfig");
}

static void the_hosts_own_is_shown_and_comes_first(void **state)
{
	struct world *w = *state;
	struct host_object *o = world_add(w, &w->host.etc, SYSTEM);

	o->is_dir = false;
	o->is_file = true;
	knows(w, HOST_GIT_NAME, "Jo");
	world_build(w);
	assert_int_equal(world_mount(w, SYSTEM).kind, PLAN_MOUNT_BIND);
	assert_string_equal(content(w, OWN), "# Made up by bawn.\n[include]\n\tpath = " SYSTEM
					     "\n[user]\n\tname = \"Jo\"\n");
	assert_string_equal(world_value(w, "GIT_CONFIG_SYSTEM"), OWN);
}

static void what_would_begin_a_line_is_refused(void **state)
{
	static const char *const bad[] = {"a\nb", "\t", "x\x7f", "\x1b[0m", "a\r"};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		knows(w, HOST_GIT_NAME, bad[i]);
		world_build(w);
		assert_string_equal(w->plan.git_name, "");
		assert_null(world_at(w, SYSTEM));
		assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "the git setting user.name"));
	}
}

static void the_environment_wins(void **state)
{
	struct world *w = *state;

	knows(w, HOST_GIT_NAME, "Jo");
	knows(w, HOST_GIT_EMAIL, "jo@x.test");
	knows(w, HOST_GIT_AUTHOR_NAME, "Author");
	world_env(w, "GIT_AUTHOR_EMAIL=env@x.test");
	world_env(w, "GIT_COMMITTER_NAME=a\nb");
	world_env(w, "EMAIL=other@x.test");
	world_build(w);
	assert_string_equal(w->plan.git_name, "Author");
	assert_string_equal(w->plan.git_email, "env@x.test");
	assert_string_equal(world_value(w, "GIT_AUTHOR_EMAIL"), "env@x.test");
	assert_null(world_value(w, "GIT_COMMITTER_NAME"));
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "variable GIT_COMMITTER_NAME"));
	assert_null(world_value(w, "EMAIL"));
	WORLD_GRANT(w, env_drop, "GIT_*", "config.yaml:1");
	world_build(w);
	assert_null(world_value(w, "GIT_AUTHOR_EMAIL"));
	assert_null(world_value(w, "GIT_CONFIG_SYSTEM"));
}

/* A secret at this many places, of which the names have this length. */
static void has_secret(struct world *w, const char *host, size_t places, const char *shape)
{
	static struct plan_ports https[] = {{443, 443}};
	static struct plan_binding bindings[PLAN_BINDINGS_MAX];
	static struct plan_string shapes[1];
	static struct policy_secret secret;
	static struct plan_rule rule;

	for (size_t i = 0; i < places; i++)
		bindings[i] = (struct plan_binding){
			.host = host, .ports = {https, 1}, .scheme = PLAN_SCHEME_TLS};
	shapes[0].text = shape;
	secret = (struct policy_secret){.name = "TOKEN",
					.bindings = {bindings, places},
					.in_authorization = true,
					.shapes = {shapes, 1},
					.from = POLICY_FROM_ENV,
					.from_text = "TOKEN",
					.origin = "test"};
	rule = (struct plan_rule){.action = PLAN_ACTION_ALLOW,
				  .host = host,
				  .ports = {https, 1},
				  .scheme = PLAN_SCHEME_TLS,
				  .origin = "test"};
	w->policy.secrets.items = &secret;
	w->policy.secrets.count = 1;
	w->policy.network.items = &rule;
	w->policy.network.count = 1;
	w->host.placeholder_key = SPAN_LITERAL("a key of thirty-two bytes, more ");
	if (w->host.trust.count == 0)
		world_add(w, &w->host.trust, "/etc/ssl/certs/ca-certificates.crt")->origin =
			"bundle";
	world_build(w);
	assert_int_equal(w->plan.secrets.count, 1);
}

static void a_token_is_a_password_at_its_host(void **state)
{
	static const struct {
		const char *host, *user;
	} hosts[] = {{"git.example", "x-access-token"},
		     {"gitlab.example", "oauth2"},
		     {"bitbucket.example", "x-token-auth"},
		     {"*.git.example", "x-access-token"}};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		has_secret(w, hosts[i].host, 1, "ghp_{20:n}");
		const char *want =
			arena_printf(&w->arena,
				     "[credential \"https://%s\"]\n\thelper = \"!f() { test "
				     "\\\"$1\\\" != get || "
				     "printf 'username=%s\\\\npassword=%s\\\\n'; }; f\"\n",
				     hosts[i].host, hosts[i].user,
				     w->plan.secrets.items[0].parts.items[0].placeholder);

		if (!strstr(content(w, SYSTEM), want))
			fail_msg("%s\nhas no\n%s", content(w, SYSTEM), want);
		assert_string_equal(w->plan.secrets.items[0].files.items[0].text, SYSTEM);
	}
	/* Hosts of an API have no repositories; what a shell would read is not written. */
	has_secret(w, "api.example", 1, "ghp_{20:n}");
	assert_null(world_at(w, SYSTEM));
	has_secret(w, "git.example", 1, "{40:p}");
	assert_null(world_at(w, SYSTEM));
	/* So much that it would not fit: none, and the box starts. */
	has_secret(w, "git.example", PLAN_BINDINGS_MAX, "ghp_{999:n}{999:n}");
	assert_null(world_at(w, SYSTEM));
}

static void without_a_box_nothing_is_carried(void **state)
{
	struct world *w = *state;

	knows(w, HOST_GIT_NAME, "Jo");
	w->policy.backend = PLAN_BACKEND_HOST;
	world_build(w);
	assert_string_equal(w->plan.git_name, "");
	assert_null(world_value(w, "GIT_CONFIG_SYSTEM"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(without_a_name_nothing_is_there),
		PROMISE(it_stands_where_the_systems_would),
		PROMISE(the_hosts_own_is_shown_and_comes_first),
		PROMISE(what_would_begin_a_line_is_refused),
		PROMISE(the_environment_wins),
		PROMISE(a_token_is_a_password_at_its_host),
		PROMISE(without_a_box_nothing_is_carried),
	};

	return cmocka_run_group_tests_name("build_git", tests, NULL, NULL);
}
