/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a plan opens connections, programs in the box are told to trust the session's CA in
 * every way that they look for it; where it does not, nothing is touched.
 */
#include "fake_world.h"

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
#define BUNDLE "/etc/ssl/certs/ca-certificates.crt"

static struct plan_string get[] = {{"GET"}};
static struct plan_ports ports[] = {{443, 443}};
static struct plan_rule opening[] = {{.action = PLAN_ACTION_ALLOW,
				      .host = "api.example",
				      .ports = {ports, 1},
				      .methods = {get, 1},
				      .origin = "config.yaml:1"}};

static void trusts(struct world *w, const char *name, const char *path, const char *format)
{
	struct host_object *o = world_add(w, &w->host.trust, name);

	o->path = path;
	o->is_dir = false;
	o->is_file = true;
	o->origin = format;
}

static void opens(struct world *w)
{
	w->policy.network.items = opening;
	w->policy.network.count = 1;
}

static size_t trust_mounts(const struct world *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->plan.mounts.count; i++)
		count += w->plan.mounts.items[i].kind == PLAN_MOUNT_TRUST;
	return count;
}

static void nothing_is_there_when_nothing_is_opened(void **state)
{
	struct world *w = *state;

	trusts(w, BUNDLE, BUNDLE, "bundle");
	opens(w);
	opening[0].passthrough = true;
	world_build(w);
	opening[0].passthrough = false;
	assert_int_equal(trust_mounts(w), 0);
	assert_int_equal(w->plan.authorities.count, 0);
	assert_null(world_value(w, "SSL_CERT_FILE"));
	assert_null(world_value(w, "NODE_USE_SYSTEM_CA"));
}

static void every_way_to_find_authorities_is_served(void **state)
{
	static const char *const names[] = {
		"SSL_CERT_FILE",     "CURL_CA_BUNDLE",       "REQUESTS_CA_BUNDLE",  "PIP_CERT",
		"AWS_CA_BUNDLE",     "GIT_SSL_CAINFO",       "NODE_EXTRA_CA_CERTS", "DENO_CERT",
		"CARGO_HTTP_CAINFO", "CODEX_CA_CERTIFICATE", "NIX_SSL_CERT_FILE"};
	struct world *w = *state;

	trusts(w, BUNDLE, BUNDLE, "bundle");
	trusts(w, "/etc/ssl/certs/java/cacerts", "/etc/ssl/certs/java/cacerts", "java");
	trusts(w, "/usr/bin/chromium", "/usr/bin/chromium", "chromium");
	trusts(w, "/etc/bawn/authorities.pem", "/etc/bawn/authorities.pem", "own");
	opens(w);
	world_build(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		const char *value = world_value(w, names[i]);

		if (!value || !str_equal(value, BUNDLE))
			fail_msg("%s is %s", names[i], value ? value : "not set");
	}
	assert_string_equal(world_value(w, "NODE_USE_SYSTEM_CA"), "1");
	assert_string_equal(world_mount(w, BUNDLE).source, "bundle");
	assert_string_equal(world_mount(w, "/etc/ssl/certs/java/cacerts").source, "java");
	assert_string_equal(world_mount(w, "/etc/chromium/policies/managed/bawn.json").source,
			    "chromium");
	/* Whom the gate believes: the host's list, and what the administrator adds. */
	assert_int_equal(w->plan.authorities.count, 2);
	assert_string_equal(w->plan.authorities.items[0].text, BUNDLE);
	assert_string_equal(w->plan.authorities.items[1].text, "/etc/bawn/authorities.pem");
}

static void what_the_box_does_not_show_is_given_a_place(void **state)
{
	struct world *w = *state;

	trusts(w, "/etc/odd/ca.pem", "/srv/odd/ca.pem", "bundle");
	opens(w);
	world_build(w);
	assert_string_equal(w->plan.authorities.items[0].text, "/srv/odd/ca.pem");
	assert_string_equal(world_mount(w, "/etc/ssl/cert.pem").source, "bundle");
	assert_string_equal(world_value(w, "SSL_CERT_FILE"), "/etc/ssl/cert.pem");
}

static void a_value_of_the_users_own_is_overridden_and_said(void **state)
{
	static struct policy_env_set set[] = {{"PIP_CERT", "/home/jo/own.pem", "config.yaml:4"}};
	struct world *w = *state;

	w->environ[w->environ_count++] = (char *)(uintptr_t) "SSL_CERT_FILE=/home/jo/corp.pem";
	w->environ[w->environ_count++] = (char *)(uintptr_t) "CURL_CA_BUNDLE=" BUNDLE;
	w->host.environ = w->environ;
	w->policy.env_set.items = set;
	w->policy.env_set.count = 1;
	trusts(w, BUNDLE, BUNDLE, "bundle");
	opens(w);
	world_build(w);
	assert_string_equal(world_value(w, "SSL_CERT_FILE"), BUNDLE);
	assert_string_equal(world_value(w, "PIP_CERT"), BUNDLE);
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "variable SSL_CERT_FILE"));
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "config.yaml:4"));
	/* The same value is no difference. */
	assert_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "variable CURL_CA_BUNDLE"));
}

static void what_is_dropped_stays_dropped(void **state)
{
	struct world *w = *state;

	WORLD_GRANT(w, env_drop, "NODE_*", "config.yaml:5");
	trusts(w, BUNDLE, BUNDLE, "bundle");
	opens(w);
	world_build(w);
	assert_null(world_value(w, "NODE_EXTRA_CA_CERTS"));
	assert_non_null(world_value(w, "SSL_CERT_FILE"));
}

static void without_authorities_there_is_no_plan(void **state)
{
	struct world *w = *state;

	opens(w);
	world_refused(w, "no list of certificate authorities");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(nothing_is_there_when_nothing_is_opened),
		PROMISE(every_way_to_find_authorities_is_served),
		PROMISE(what_the_box_does_not_show_is_given_a_place),
		PROMISE(a_value_of_the_users_own_is_overridden_and_said),
		PROMISE(what_is_dropped_stays_dropped),
		PROMISE(without_authorities_there_is_no_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
