/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the environment: what passes, what never does, and who can say otherwise. */
#include "fake_world.h"

#include "credential.h"

/*
 * One variable of the user's, and whether it is in the box when the policy says nothing, when a
 * pattern passes everything ("*"), and when the user names it.
 */
enum { NO, YES };

static const struct {
	const char *entry;
	int by_default, by_pattern, by_name;
} variables[] = {
	/* taste and language */
	{"TERM=xterm-256color", YES, YES, YES},
	{"TERM=screen.xterm-256color", YES, YES, YES},
	{"COLORTERM=truecolor", YES, YES, YES},
	{"LANG=en_GB.UTF-8", YES, YES, YES},
	{"LC_ALL=C.UTF-8", YES, YES, YES},
	{"LC_TIME=de_DE.UTF-8", YES, YES, YES},
	{"LANGUAGE=en_GB:en", YES, YES, YES},
	{"TZ=America/Argentina/ComodRivadavia", YES, YES, YES},
	{"NO_COLOR=1", YES, YES, YES},
	{"CLICOLOR_FORCE=1", YES, YES, YES},
	{"FORCE_COLOR=3", YES, YES, YES},
	{"EDITOR=/usr/bin/vim", YES, YES, YES},
	{"VISUAL=code --wait", YES, YES, YES},
	{"PAGER=less -R", YES, YES, YES},
	{"LESS=-R --quit-if-one-screen", YES, YES, YES},
	{"LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00", YES, YES, YES},
	/* places: only what is shown */
	{"NVM_DIR=/home/jo/.nvm", YES, YES, YES},
	{"NVM_BIN=/home/jo/.nvm/versions/node/v20.11.1/bin", YES, YES, YES},
	{"PYENV_ROOT=/home/jo/.pyenv", NO, YES, YES},
	{"GOPATH=/home/jo/go", NO, YES, YES},
	{"PLAYWRIGHT_BROWSERS_PATH=/opt/browsers", YES, YES, YES},
	{"PLAYWRIGHT_BROWSERS_PATH=0", NO, YES, YES},
	{"GOROOT=/usr/local/go", YES, YES, YES},
	{"JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64", YES, YES, YES},
	{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", YES, YES, YES},
	{"SSL_CERT_DIR=/etc/ssl/certs:/home/jo/certs", NO, YES, YES},
	{"LD_LIBRARY_PATH=/usr/local/cuda/lib64:/opt/x/lib", YES, YES, YES},
	{"LD_LIBRARY_PATH=/home/jo/lib", NO, YES, YES},
	{"RUSTUP_HOME=relative/rustup", NO, YES, YES},
	{"VIRTUAL_ENV=/home/jo/code/project/.venv", YES, YES, YES},
	{"CARGO_HOME=/home/jo/.cargo", NO, YES, YES},
	{"VOLTA_HOME=", NO, YES, YES},
	/* what builds go by, while it is a few plain words */
	{"CI=true", YES, YES, YES},
	{"NODE_ENV=production", YES, YES, YES},
	{"PORT=3000", YES, YES, YES},
	{"DEBUG=app:*,-app:noise", YES, YES, YES},
	{"RUST_LOG=info,hyper=warn", YES, YES, YES},
	{"CC=gcc-12", YES, YES, YES},
	{"CFLAGS=-O2 -g -Wall", YES, YES, YES},
	{"CFLAGS=-I/home/jo/private/include", NO, YES, YES},
	{"CC=/home/jo/bin/cc", NO, YES, YES},
	{"DEBUG=$(id)", NO, YES, YES},
	{"LOG_LEVEL=jo@example.com", NO, YES, YES},
	{"CI_JOB_TOKEN=x", NO, NO, YES},
	{"APP_ENV=da39a3ee5e6b4b0d3255bfef95601890afd80709", NO, NO, YES},
	{"MAKEFLAGS= --jobserver-auth=3,4", NO, YES, YES},
	{"PYTHONPATH=/usr/lib", NO, YES, YES},
	/* nobody's business */
	{"DISPLAY=:0", NO, YES, YES},
	{"WAYLAND_DISPLAY=wayland-0", NO, YES, YES},
	{"XDG_SESSION_ID=3", NO, YES, YES},
	{"XDG_DATA_DIRS=/usr/share", NO, YES, YES},
	{"MAIL=/var/mail/jo", NO, YES, YES},
	{"HOSTNAME=jos-laptop", NO, YES, YES},
	{"LD_PRELOAD=/tmp/x.so", NO, YES, YES},
	{"NODE_OPTIONS=--require /tmp/x.js", NO, YES, YES},
	{"HTTP_PROXY=http://proxy.corp:3128", NO, YES, YES},
	/* credentials by name */
	{"GITHUB_TOKEN=x", NO, NO, YES},
	{"GH_TOKEN=x", NO, NO, YES},
	{"NPM_TOKEN=x", NO, NO, YES},
	{"OPENAI_API_KEY=x", NO, NO, YES},
	{"ANTHROPIC_API_KEY=x", NO, NO, YES},
	{"GEMINI_API_KEY=x", NO, NO, YES},
	{"AWS_ACCESS_KEY_ID=x", NO, NO, YES},
	{"AWS_PROFILE=work", NO, NO, YES},
	{"AWS_SESSION_TOKEN=x", NO, NO, YES},
	{"AZURE_CLIENT_SECRET=x", NO, NO, YES},
	{"GOOGLE_APPLICATION_CREDENTIALS=/home/jo/key.json", NO, NO, YES},
	{"DB_PASSWORD=x", NO, NO, YES},
	{"MYSQL_PWD=x", NO, NO, YES},
	{"PGPASSWORD=x", NO, NO, YES},
	{"SSH_AUTH_SOCK=/run/user/1000/ssh", NO, NO, YES},
	{"SSH_AGENT_PID=17", NO, NO, YES},
	{"GPG_AGENT_INFO=x", NO, NO, YES},
	{"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", NO, NO, YES},
	{"VAULT_ADDR=https://vault", NO, NO, YES},
	{"STRIPE_KEY=x", NO, NO, YES},
	{"SLACK_WEBHOOK=x", NO, NO, YES},
	{"SENTRY_DSN=x", NO, NO, YES},
	{"stripeSecret=x", NO, NO, YES},
	{"my_api_key=x", NO, NO, YES},
	{"SIGNING_KEY_PASSPHRASE=x", NO, NO, YES},
	{"LC_SECRET=x", NO, NO, YES},
	{"CLICOLOR_TOKEN=x", NO, NO, YES},
	/* credentials by value, under the most harmless names */
	{"EDITOR=ghp_abcdefghijklmnopqrstuvwxyz", NO, NO, YES},
	{"PAGER=sk-ant-api03-x", NO, NO, YES},
	{"LANG=github_pat_11AAAA", NO, NO, YES},
	{"LC_ALL=xoxb-123", NO, NO, YES},
	{"LC_NAME=AKIAIOSFODNN7EXAMPLE", NO, NO, YES},
	{"LC_PAPER=AIzaSyA-1234567", NO, NO, YES},
	{"TZ=glpat-xxxx", NO, NO, YES},
	{"LESS=npm_xxxx", NO, NO, YES},
	{"TERM=eyJhbGciOiJIUzI1NiJ9.e30.x", NO, NO, YES},
	{"VISUAL=-----BEGIN OPENSSH PRIVATE KEY-----", NO, NO, YES},
	{"LANGUAGE=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NO, NO, YES},
	{"LC_CTYPE=550e8400-e29b-41d4-a716-446655440000", NO, NO, YES},
	{"LC_TIME=da39a3ee5e6b4b0d3255bfef95601890afd80709", NO, NO, YES},
	{"MANPAGER=https://jo:hunter2@example.com/x", NO, NO, YES},
	{"CONFIG=https://jo:hunter2@example.com/x", NO, NO, YES},
};

static const char *name_of(struct world *w, const char *entry)
{
	return arena_strn(&w->arena, entry, strcspn(entry, "="));
}

static void furnish(struct world *w)
{
	world_init(w);
	(void)world_add(w, &w->host.tools, WORLD_HOME "/.nvm");
	(void)world_add(w, &w->host.tools, WORLD_HOME "/.cargo/bin");
}

static void expect_passes(struct world *w, const char *entry, int expected, const char *how)
{
	const char *name = name_of(w, entry);

	world_build(w);
	const char *value = world_value(w, name);
	if ((value != NULL) != (expected == YES))
		fail_msg("%s %s, %s", entry, value ? "passes" : "does not pass", how);
	if (value)
		assert_string_equal(value, entry + strlen(name) + 1);
}

static void each_variable_passes_or_not_as_promised(void **state)
{
	(void)state;
	assert_true(BAWN_ARRAY_SIZE(variables) >= 60);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(variables); i++) {
		struct world w;

		furnish(&w);
		world_env(&w, variables[i].entry);
		expect_passes(&w, variables[i].entry, variables[i].by_default, "by default");
		arena_fini(&w.arena);

		furnish(&w);
		world_env(&w, variables[i].entry);
		WORLD_GRANT(&w, env_pass, "*", "config.yaml:5");
		expect_passes(&w, variables[i].entry, variables[i].by_pattern, "by a pattern");
		if (variables[i].by_pattern == NO)
			assert_non_null(world_note(&w, PLAN_NOTE_NOT_GIVEN,
						   name_of(&w, variables[i].entry)));
		arena_fini(&w.arena);

		/* The user's own word: it passes, and what looks like a credential is warned of. */
		furnish(&w);
		world_env(&w, variables[i].entry);
		WORLD_GRANT(&w, env_pass, name_of(&w, variables[i].entry), "--env");
		expect_passes(&w, variables[i].entry, variables[i].by_name, "by its name");
		if (variables[i].by_pattern == NO) {
			const struct plan_note *note =
				world_note(&w, PLAN_NOTE_WARNING, name_of(&w, variables[i].entry));

			assert_true(note && str_equal(note->origin, "--env"));
		}
		arena_fini(&w.arena);

		/* A preset's is not. */
		furnish(&w);
		world_env(&w, variables[i].entry);
		WORLD_GRANT(&w, env_pass, name_of(&w, variables[i].entry), "preset claude");
		expect_passes(&w, variables[i].entry, variables[i].by_pattern, "by a preset");
		arena_fini(&w.arena);

		/* What is dropped stays outside, whoever named it. */
		furnish(&w);
		world_env(&w, variables[i].entry);
		WORLD_GRANT(&w, env_pass, name_of(&w, variables[i].entry), "--env");
		WORLD_GRANT(&w, env_drop, name_of(&w, variables[i].entry), ".bawn.yaml:3");
		expect_passes(&w, variables[i].entry, NO, "when dropped");
		arena_fini(&w.arena);
	}
}

static void values_of_credentials_are_in_no_note(void **state)
{
	struct world *w = *state;

	world_env(w, "GITHUB_TOKEN=ghp_verysecretvalue");
	WORLD_GRANT(w, env_pass, "*", "config.yaml:5");
	world_build(w);
	for (size_t i = 0; i < w->plan.notes.count; i++) {
		assert_null(strstr(w->plan.notes.items[i].what, "verysecret"));
		assert_null(strstr(w->plan.notes.items[i].why, "verysecret"));
	}
	assert_null(world_value(w, "GITHUB_TOKEN"));
}

static void the_boxs_own_variables_are_always_there(void **state)
{
	struct world *w = *state;

	world_env(w, "HOME=/root");
	world_env(w, "USER=mallory");
	world_env(w, "TMPDIR=/home/jo/tmp");
	world_env(w, "XDG_RUNTIME_DIR=/run/user/77");
	world_env(w, "XDG_CONFIG_HOME=/home/jo/.config");
	world_env(w, "PWD=/");
	world_build(w);
	assert_string_equal(world_value(w, "HOME"), WORLD_HOME);
	assert_string_equal(world_value(w, "USER"), "jo");
	assert_string_equal(world_value(w, "LOGNAME"), "jo");
	assert_string_equal(world_value(w, "TMPDIR"), "/tmp");
	assert_string_equal(world_value(w, "XDG_RUNTIME_DIR"), "/run/user/1000");
	assert_string_equal(world_value(w, "PWD"), WORLD_WORKSPACE);
	assert_string_equal(world_value(w, "BAWN"), "1");
	assert_null(world_value(w, "XDG_CONFIG_HOME"));
}

static void path_names_only_what_is_there_inside(void **state)
{
	struct world *w = *state;
	struct host_object *o;

	(void)world_add(w, &w->host.tools, WORLD_HOME "/.nvm");
	(void)world_add(w, &w->host.search, WORLD_HOME "/.nvm/bin");
	(void)world_add(w, &w->host.search, WORLD_HOME "/unseen/bin");
	(void)world_add(w, &w->host.search, "/usr/local/bin");
	/* A link that does not exist inside leads to something that does. */
	o = world_add(w, &w->host.search, "/run/user/1000/fnm/bin");
	o->path = WORLD_HOME "/.nvm/other/bin";
	o = world_add(w, &w->host.search, "/run/user/1000/again/bin");
	o->path = WORLD_HOME "/.nvm/other/bin";
	(void)world_add(w, &w->host.search, WORLD_WORKSPACE "/node_modules/.bin");
	world_build(w);
	assert_string_equal(world_value(w, "PATH"),
			    "/usr/bin:/bin:" WORLD_HOME "/.nvm/bin:/usr/local/bin:" WORLD_HOME
			    "/.nvm/other/bin:" WORLD_WORKSPACE "/node_modules/.bin");
	w->policy.tools = false;
	world_build(w);
	assert_string_equal(world_value(w, "PATH"),
			    "/usr/bin:/bin:/usr/local/bin:" WORLD_WORKSPACE "/node_modules/.bin");
}

static void an_empty_path_is_the_systems(void **state)
{
	struct world *w = *state;

	w->host.search.count = 0;
	world_build(w);
	assert_string_equal(world_value(w, "PATH"), "/usr/local/bin:/usr/bin:/bin");
}

static void what_is_set_wins_and_what_is_dropped_is_gone(void **state)
{
	struct world *w = *state;
	struct policy_env_set set[] = {{"HOME", "/elsewhere", "--env"},
				       {"TERM", "dumb", "--env"},
				       {"NEW", "value", "config.yaml:9"}};

	w->policy.env_set.items = set;
	w->policy.env_set.count = BAWN_ARRAY_SIZE(set);
	world_env(w, "TERM=xterm");
	world_env(w, "NEW=outside");
	world_env(w, "LANG=C");
	WORLD_GRANT(w, env_drop, "LA*", ".bawn.yaml:1");
	WORLD_GRANT(w, env_drop, "BAWN", ".bawn.yaml:1");
	world_build(w);
	assert_string_equal(world_value(w, "HOME"), "/elsewhere");
	assert_string_equal(world_value(w, "TERM"), "dumb");
	assert_string_equal(world_value(w, "NEW"), "value");
	assert_null(world_value(w, "LANG"));
	assert_null(world_value(w, "BAWN"));
}

static void strange_names_stay_outside(void **state)
{
	struct world *w = *state;

	world_env(w, "BASH_FUNC_ls%%=() { evil; }");
	world_env(w, "=nameless");
	world_env(w, "no-value");
	world_env(w, "1ST=x");
	world_env(w, "A B=x");
	WORLD_GRANT(w, env_pass, "*", "config.yaml:5");
	world_build(w);
	for (size_t i = 0; i < w->plan.env.count; i++)
		if (!str_equal(w->plan.env.items[i].origin, "default"))
			fail_msg("%s passes", w->plan.env.items[i].name);
}

static void the_first_of_two_is_the_one(void **state)
{
	struct world *w = *state;

	world_env(w, "LANG=first");
	world_env(w, "LANG=second");
	world_build(w);
	assert_string_equal(world_value(w, "LANG"), "first");
	size_t seen = 0;
	for (size_t i = 0; i < w->plan.env.count; i++)
		seen += str_equal(w->plan.env.items[i].name, "LANG");
	assert_int_equal(seen, 1);
}

static void a_variable_that_is_not_set_is_said(void **state)
{
	struct world *w = *state;

	WORLD_GRANT(w, env_pass, "NOT_THERE", "--env");
	WORLD_GRANT(w, env_pass, "NOT_THERE_*", "config.yaml:2");
	world_build(w);
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "NOT_THERE"));
	assert_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "config.yaml:2"));
}

static void ordinary_values_are_no_credentials(void **state)
{
	static const char *const values[] = {
		"",
		"1",
		"xterm-256color-italic-truecolor",
		"en_GB.UTF-8",
		"/home/jo/.nvm/versions/node/v20.11.1/bin",
		"v20.11.1-linux-x64-release",
		"America/Argentina/ComodRivadavia",
		"aVeryLongCamelCaseNameOfAThing",
		"correct-horse-battery-staple",
		"--quit-if-one-screen --RAW-CONTROL-CHARS",
		"https://example.com/a/b?x=1",
		"user@example.com",
		"java-17-openjdk-amd64",
		"00000000000000000000000000000000",
		"NVIDIA-GeForce-RTX-4090-24GB",
		"/aB3dE5gH7jK9mN1pQ3sT5vX7",
		"~/aB3dE5gH7jK9mN1pQ3sT5vX7",
		"./aB3dE5gH7jK9mN1pQ3sT5vX7",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(values); i++)
		if (credential_in_value(values[i]))
			fail_msg("%s looks like a credential", values[i]);
	/* The control: the same, and no path. */
	assert_true(credential_in_value("aB3dE5gH7jK9mN1pQ3sT5vX7"));
	assert_false(credential_in_name("PWD"));
	assert_false(credential_in_name("OLDPWD"));
	assert_false(credential_in_name("PATH"));
	assert_false(credential_in_name("KEYBOARD"));
	assert_false(credential_in_name("MONKEY_HOUSE"));
	assert_true(credential_in_name("A_KEY"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_variable_passes_or_not_as_promised),
		PROMISE(values_of_credentials_are_in_no_note),
		PROMISE(the_boxs_own_variables_are_always_there),
		PROMISE(path_names_only_what_is_there_inside),
		PROMISE(an_empty_path_is_the_systems),
		PROMISE(what_is_set_wins_and_what_is_dropped_is_gone),
		PROMISE(strange_names_stay_outside),
		PROMISE(the_first_of_two_is_the_one),
		PROMISE(a_variable_that_is_not_set_is_said),
		cmocka_unit_test(ordinary_values_are_no_credentials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
