/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user's settings make of a bundle: the mirror's rules in place of its own, and no login in
 * anything but the list of values.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "mirror.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64];

static void put(const char *name, const char *text)
{
	char path[128], folder[128];

	(void)snprintf(path, sizeof(path), "%s/%s", home, name);
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		(void)mkdir(folder, 0700);
	}
	(void)unlink(path);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static const char *const all_files[] = {
	".npmrc",           ".netrc",        ".cargo/config.toml", ".cargo/credentials.toml",
	".m2/settings.xml", ".pip/pip.conf", ".config/uv/uv.toml"};

static void empty_all(void)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all_files); i++)
		put(all_files[i], "");
}

struct tried {
	struct arena arena;
	struct policy policy;
	struct mirrors mirrors;
};

static void tried_fini(struct tried *t)
{
	arena_fini(&t->arena);
}

/* One rule for each bundle, as if all were used; the ceiling's stands last.  What is named may be
 * written, and has another name. */
static void apply_write(struct tried *t, const char *const *variables, const char *written,
			const char *again)
{
	static const char *const bundles[] = {"npm", "pypi", "go", "crates", "maven", ""};
	static const struct plan_ports port[] = {{443, 443}};
	static struct plan_rule rules[BAWN_ARRAY_SIZE(bundles) + 1];
	struct error e = ERROR_INIT;
	struct host host;

	memset(t, 0, sizeof(*t));
	memset(&host, 0, sizeof(host));
	t->arena = ARENA_INIT(4 << 20);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rules); i++)
		rules[i] =
			(struct plan_rule){.action = PLAN_ACTION_ALLOW,
					   .host = "*.public.test",
					   .ports = {port, 1},
					   .ceiling = i == BAWN_ARRAY_SIZE(bundles),
					   .key = "",
					   .bundle = i < BAWN_ARRAY_SIZE(bundles) ? bundles[i] : "",
					   .origin = "--use"};
	t->policy.network.items = rules;
	t->policy.network.count = BAWN_ARRAY_SIZE(rules);
	host.home = home;
	host.uid = getuid();
	host.workspace.path = "/nonexistent";
	host.environ = (char *const *)(uintptr_t)variables;
	struct policy_path path = {.path = "given"};
	struct host_object named = {.path = written, .origin = "given"};
	struct host_object more = {.path = again, .origin = "given"};

	t->policy.write.items = &path;
	t->policy.write.count = written ? 1 : 0;
	host.named = (struct host_list){&named, written ? 1 : 0};
	host.again = (struct host_list){&more, again ? 1 : 0};
	assert_int_equal(mirrors_apply(&t->policy, &host, &t->arena, &t->mirrors, &e), 0);
	assert_true(t->policy.network.items[t->policy.network.count - 1].ceiling);
	t->policy.write.count = 0;
	t->policy.write.items = NULL;
}

static void apply(struct tried *t, const char *const *variables)
{
	apply_write(t, variables, NULL, NULL);
}

static const struct plan_rule *rule_of(const struct tried *t, const char *host)
{
	for (size_t i = 0; i < t->policy.network.count; i++)
		if (str_equal(t->policy.network.items[i].host, host))
			return &t->policy.network.items[i];
	fail_msg("there is no rule for %s", host);
	return &t->policy.network.items[0];
}

static size_t count_public(const struct tried *t, const char *bundle)
{
	size_t count = 0;

	for (size_t i = 0; i < t->policy.network.count; i++)
		count += str_equal(t->policy.network.items[i].bundle, bundle) &&
			 str_equal(t->policy.network.items[i].host, "*.public.test");
	return count;
}

/* No word of the policy has one of the values in it. */
static void see_no_value(const struct tried *t)
{
	const struct policy *p = &t->policy;

	for (size_t v = 0; v < t->mirrors.values.count; v++) {
		const char *value = t->mirrors.values.items[v].value;

		for (size_t i = 0; i < p->env_set.count; i++)
			assert_null(strstr(p->env_set.items[i].value, value));
		for (size_t i = 0; i < p->made_up.count; i++)
			assert_null(strstr(p->made_up.items[i].text, value));
		for (size_t i = 0; i < p->notes.count; i++)
			assert_null(strstr(p->notes.items[i].what, value));
		for (size_t i = 0; i < p->secrets.count; i++) {
			const struct policy_secret *s = &p->secrets.items[i];

			assert_int_equal(s->bindings.count, 1);
			for (size_t n = 0; n < s->texts.count; n++)
				assert_null(strstr(s->texts.items[n].text, value));
			for (size_t n = 0; n < s->files.count; n++)
				assert_null(strstr(s->files.items[n].text, value));
		}
	}
}

static void test_none(void **state)
{
	const char *const variables[] = {"GOPROXY=direct", "PIP_CONFIG_FILE=/dev/null", NULL};
	_cleanup_(tried_fini) struct tried t;

	(void)state;
	put(".npmrc", "registry=https://registry.public.test/\n//registry.public.test/"
		      ":_authToken=abcdefgh1\n");
	apply(&t, variables);
	assert_int_equal(count_public(&t, "npm"), 1);
	assert_int_equal(t.policy.secrets.count, 0);
	assert_int_equal(t.policy.env_set.count, 0);
}

static void test_all(void **state)
{
	const char *const variables[] = {
		"TOK=token-of-npm-1", "PIP_INDEX_URL=https://ada:pass-of-pip@pip.test:8443/simple",
		"GOPROXY=https://token-of-go-1:x-oauth-basic@go.test|direct", NULL};
	_cleanup_(tried_fini) struct tried t;

	(void)state;
	put(".npmrc", "registry = \"https://npm.test/npm/\"\n//npm.test/npm/:_authToken=${TOK}\n"
		      "@a:registry=http://a.test/\n//a.test/:username=ada\n"
		      "//a.test/:_password=cGFzcy1vZi1ucG0=\n");
	put(".cargo/config.toml", "[source.crates-io]\nreplace-with = \"corp\" # ours\n"
				  "[source.corp]\nregistry = \"sparse+https://crates.test/i/\"\n");
	put(".cargo/credentials.toml", "[registries.corp]\ntoken = \"token-of-cargo\"\n");
	put(".m2/settings.xml",
	    "<settings><servers><server><id>x</id><username>ada</username><password>pass-of-mvn"
	    "</password></server></servers><mirrors><mirror><id>x</id><mirrorOf>*</mirrorOf>"
	    "<url>https://mvn.test/m2</url></mirror></mirrors></settings>");
	apply(&t, variables);
	static const char *const hosts[] = {"npm.test", "a.test",      "pip.test",
					    "go.test",  "crates.test", "mvn.test"};
	static const char *const bundles[] = {"npm", "pypi", "go", "crates", "maven"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		const struct plan_rule *r = rule_of(&t, hosts[i]);

		assert_string_equal(r->methods.items[0].text, "GET");
		/* It lasts as long as the option that asked for the bundle. */
		assert_non_null(str_after(r->origin, "--use"));
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bundles); i++)
		assert_int_equal(count_public(&t, bundles[i]), 0);
	assert_int_equal(rule_of(&t, "a.test")->scheme, PLAN_SCHEME_HTTP);
	assert_int_equal(rule_of(&t, "pip.test")->ports.items[0].from, 8443);
	assert_int_equal(t.mirrors.values.count, 6);
	assert_int_equal(t.policy.secrets.count, 6);
	see_no_value(&t);
}

/* What the session may write says nothing, by whichever name it may. */
static void test_agents_file(void **state)
{
	const char *const variables[] = {"CARGO_REGISTRIES_M_TOKEN=token-of-cargo", NULL};
	char cargo[128];

	(void)state;
	(void)snprintf(cargo, sizeof(cargo), "%s/.cargo", home);
	empty_all();
	put(".cargo/config.toml", "[source.crates-io]\nreplace-with = \"m\"\n"
				  "[source.m]\nregistry = \"https://evil.test/\"\n");
	for (int i = 0; i < 3; i++) {
		_cleanup_(tried_fini) struct tried t;
		size_t notes = 0;

		apply_write(&t, variables,
			    i == 0   ? NULL
			    : i == 1 ? cargo
				     : "/elsewhere",
			    i == 2 ? home : NULL);
		/* Without, it is the user's word. */
		assert_int_equal(count_public(&t, "crates"), i == 0 ? 0 : 1);
		assert_int_equal(t.policy.secrets.count, i == 0 ? 1 : 0);
		for (size_t n = 0; n < t.policy.notes.count; n++)
			notes += strstr(t.policy.notes.items[n].what, "config.toml") != NULL;
		assert_int_equal(notes, i == 0 ? 0 : 1);
	}
	put(".cargo/config.toml", "");
}

static void uv_says(const char *text, const char *host)
{
	const char *const variables[] = {NULL};
	_cleanup_(tried_fini) struct tried t;

	put(".config/uv/uv.toml", text);
	apply(&t, variables);
	assert_int_equal(count_public(&t, "pypi"), host ? 0 : 1);
	if (host)
		assert_true(rule_of(&t, host)->private);
	for (size_t i = 0; i < t.policy.network.count; i++)
		if (str_equal(t.policy.network.items[i].bundle, "pypi") && host)
			assert_string_equal(t.policy.network.items[i].host, host);
	put(".config/uv/uv.toml", "");
}

/* Of several indexes that one counts which is the default. */
static void test_uv_default(void **state)
{
	(void)state;
	empty_all();
	uv_says("[[index]]\nurl = \"https://a.test/simple\"\ndefault = true\n"
		"[[index]]\nname = \"torch\"\nurl = \"https://b.test/whl\"\n",
		"a.test");
	uv_says("[[index]]\nurl = \"https://b.test/whl\"\n"
		"[[index]]\ndefault = true # ours\nurl = \"https://a.test/simple\"\n"
		"[tool]\nurl = \"https://c.test/\"\n",
		"a.test");
	uv_says("[[index]]\nurl = \"https://a.test/simple\"\ndefault = false\n", NULL);
	uv_says("[[index]]\nurl = \"https://a.test/simple\"\n[x]\ndefault = true\n", NULL);
	uv_says("index-url = \"https://a.test/simple\"\n[[index]]\n"
		"url = \"https://b.test/\"\ndefault = true\n",
		"a.test");
}

static size_t count_notes(const struct tried *t, const char *what, const char *why)
{
	size_t count = 0;

	for (size_t i = 0; i < t->policy.notes.count; i++)
		count += strstr(t->policy.notes.items[i].what, what) &&
			 strstr(t->policy.notes.items[i].why, why);
	return count;
}

static const char *value_of(const struct tried *t, const char *variable)
{
	for (size_t i = 0; i < t->policy.env_set.count; i++)
		if (str_equal(t->policy.env_set.items[i].name, variable))
			return t->policy.env_set.items[i].value;
	fail_msg("%s is not set", variable);
	return "";
}

/* What Maven has for a login is given, or it is said why not; and no token is in the plan. */
static void test_maven_login(void **state)
{
	static const char token[] = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
	static const struct {
		const char *user, *password, *value, *why;
	} all[] = {
		{"ada", "pass-of-mvn", "pass-of-mvn", ""},
		{"${env.WHO}", "${env.MVN}", "pass-of-env", ""},
		{token, "pass-of-mvn", NULL, "looks like a credential"},
		{"${env.TOK}", "pass-of-mvn", NULL, "looks like a credential"},
		{"ada", "{COQLCE6DU6GtcS5P=}", NULL, "encrypted"},
		{"ada", "${env.UNSET}", NULL, "no password"},
		{"a&amp;b", "pass-of-mvn", NULL, "XML"},
	};
	const char *const variables[] = {"WHO=ada", "MVN=pass-of-env",
					 "TOK=ghp_abcdefghijklmnopqrstuvwxyz0123456789", NULL};

	(void)state;
	empty_all();
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++) {
		_cleanup_(tried_fini) struct tried t;
		char text[1024];

		(void)snprintf(text, sizeof(text),
			       "<servers><server><id>x</id><username>%s</username><password>%s"
			       "</password></server></servers><mirror><id>x</id><mirrorOf>*"
			       "</mirrorOf><url>https://mvn.test/m2</url></mirror>",
			       all[i].user, all[i].password);
		put(".m2/settings.xml", text);
		apply(&t, variables);
		see_no_value(&t);
		assert_int_equal(t.mirrors.values.count, all[i].value ? 1 : 0);
		if (all[i].value)
			assert_string_equal(t.mirrors.values.items[0].value, all[i].value);
		else
			assert_int_equal(count_notes(&t, "mvn.test", all[i].why), 1);
		for (size_t n = 0; n < t.policy.made_up.count; n++)
			assert_null(strstr(t.policy.made_up.items[n].text, token));
	}
	empty_all();
}

/* The paths that each login is bound to, in one text. */
static void see_paths(const struct tried *t, const char *settings, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	for (size_t i = 0; i < t->policy.secrets.count; i++) {
		const struct plan_binding *b = &t->policy.secrets.items[i].bindings.items[0];

		buf_putf(&text, "%s%s", i ? "; " : "", b->paths.count ? "" : "all");
		for (size_t n = 0; n < b->paths.count; n++)
			buf_putf(&text, "%s%s", n ? " " : "", b->paths.items[n].text);
	}
	if (!str_equal(buf_str(&text), expected))
		fail_msg("%s: %s, not %s", settings, buf_str(&text), expected);
}

/* A forge has more than a registry: a login works at the paths that it is for. */
static void test_paths(void **state)
{
#define AT_FORGE(place) "//f.test" place ":_authToken=token-of-npm-1\n"
#define REGISTRY(path) "registry=https://f.test" path "\n"
	static const struct {
		const char *npmrc, *variable, *paths;
	} rows[] = {
		{REGISTRY("/npm/") AT_FORGE("/npm/"), NULL, "/npm/**"},
		{REGISTRY("/npm") AT_FORGE("/npm/"), NULL, "/npm/**"},
		{REGISTRY("/npm/") AT_FORGE("/npm"), NULL, "/npm/**"},
		{REGISTRY("/") AT_FORGE("/"), NULL, "all"},
		{REGISTRY("") AT_FORGE("/"), NULL, "all"},
		{REGISTRY("/a/npm/") AT_FORGE("/"), NULL, "/a/npm/**"},
		{REGISTRY("/a/npm/") AT_FORGE("/a/"), NULL, "/a/npm/**"},
		{REGISTRY("/a/npm/") AT_FORGE("/a/n"), NULL, "/a/n/**"},
		{REGISTRY("/a/npm/") AT_FORGE("/b/"), NULL, "/b/**"},
		{REGISTRY("/a/npm/") AT_FORGE("/a/npm/own/"), NULL, "/a/npm/own/**"},
		{REGISTRY("/a/") "@o:registry=https://f.test/b/\n" AT_FORGE("/"), NULL,
		 "/a/** /b/**"},
		{REGISTRY("/a/") "@o:registry=https://f.test/b/\n" AT_FORGE("/b/") AT_FORGE("/a/"),
		 NULL, "/b/**; /a/**"},
		{REGISTRY("/a/") AT_FORGE(".other/a/"), NULL, ""},
		{REGISTRY("/a*b/") AT_FORGE("/"), NULL, "/a%2Ab/**"},
		{REGISTRY("/a//b/") AT_FORGE("/"), NULL, ""},
		{REGISTRY("/a/../b/") AT_FORGE("/a/../b/"), NULL, ""},
		{REGISTRY("/api/v4/packages/npm/") AT_FORGE("/api/v4/packages/npm/"), NULL,
		 "/api/v4/packages/npm/** /api/v4/projects/*/packages/npm/**"},
		{REGISTRY("/x/api/v4/groups/7/-/packages/npm/") AT_FORGE("/"), NULL,
		 "/x/api/v4/groups/7/-/packages/npm/** /x/api/v4/projects/*/packages/npm/**"},
		{"", "PIP_INDEX_URL=https://ada:pass-of-pip@f.test/simple/", "all"},
		{"", "PIP_INDEX_URL=https://ada:pass-of-pip@f.test/p/simple", "/p/**"},
		{"", "PIP_INDEX_URL=https://ada:pass-of-pip@f.test/p/+simple/", "/p/**"},
		{"", "PIP_INDEX_URL=https://ada:pass-of-pip@f.test/p/notsimple/",
		 "/p/notsimple/**"},
		{"", "GOPROXY=https://ada:pass-of-go1@f.test/go,direct", "/go/**"},
		{"", "GOPROXY=https://ada:pass-of-go1@f.test", "all"},
	};
	static const struct {
		const char *index, *paths;
	} crates[] = {{"sparse+https://f.test/c/index/", "/c/**"},
		      {"sparse+https://f.test/index/", "all"},
		      {"https://f.test/c", "/c/**"}};

	(void)state;
	empty_all();
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *const variables[] = {"PIP_CONFIG_FILE=/dev/null", rows[i].variable,
						 NULL};
		_cleanup_(tried_fini) struct tried t;

		put(".npmrc", rows[i].npmrc);
		apply(&t, variables);
		see_paths(&t, rows[i].variable ? rows[i].variable : rows[i].npmrc, rows[i].paths);
	}
	put(".cargo/credentials.toml", "[registries.corp]\ntoken = \"token-of-cargo\"\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(crates); i++) {
		const char *const variables[] = {"PIP_CONFIG_FILE=/dev/null", NULL};
		_cleanup_(tried_fini) struct tried t;
		char text[256];

		(void)snprintf(text, sizeof(text),
			       "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\n"
			       "registry = \"%s\"\n",
			       crates[i].index);
		put(".cargo/config.toml", text);
		apply(&t, variables);
		see_paths(&t, text, crates[i].paths);
	}
	empty_all();
}

/* Long texts stop no session, and nothing of them is cut. */
static void test_long(void **state)
{
	static char npmrc[64 << 10], pip[16 << 10], section[8 << 10], netrc[4096], word[2001];
	const char *const variables[] = {pip, "GOPROXY=https://go.test/", NULL};
	_cleanup_(tried_fini) struct tried t;
	size_t len = 0;

	(void)state;
	memset(word, 'w', sizeof(word) - 1);
	for (int i = 0; i < 16; i++)
		len += (size_t)snprintf(
			npmrc + len, sizeof(npmrc) - len,
			"@scope%d:registry=https://npm%d.test/%.200s/\n//npm%d.test/%.200s/"
			":_authToken=token-of-npm-%d\n",
			i, i, word, i, word, i);
	put(".npmrc", npmrc);
	len = (size_t)snprintf(pip, sizeof(pip), "PIP_EXTRA_INDEX_URL=");
	for (int i = 0; i < 50; i++)
		len += (size_t)snprintf(pip + len, sizeof(pip) - len, "https://pip%d.test/%.100s ",
					i, word);
	(void)snprintf(section, sizeof(section), "[%.2000s%.2000s%.2000s]\n", word, word, word);
	put(".cargo/config.toml", section);
	(void)snprintf(netrc, sizeof(netrc), "machine go.test login ada password %s\n", word);
	put(".netrc", netrc);
	apply(&t, variables);
	see_no_value(&t);
	assert_true(rule_of(&t, "npm15.test")->private);
	assert_true(rule_of(&t, "pip49.test")->private);
	assert_non_null(strstr(value_of(&t, "PIP_EXTRA_INDEX_URL"), "pip49.test"));
	assert_int_equal(t.mirrors.values.count, 17);
	assert_string_equal(t.mirrors.values.items[16].value, word);
	empty_all();
}

/* What cannot be carried is said. */
static void test_left_out(void **state)
{
	const char *const variables[] = {NULL};
	_cleanup_(tried_fini) struct tried t, more;
	static char text[8192];
	char word[2001];

	(void)state;
	empty_all();
	memset(word, 'Q', sizeof(word) - 1);
	word[2000] = '\0';
	/* "ada:" and 1500 bytes; and a password as long. */
	(void)snprintf(text, sizeof(text),
		       "@a:registry=https://a.test/\n//a.test/:_auth=YWRhOnBh%s\n"
		       "@b:registry=https://b.test/\n//b.test/:_password=%s\n"
		       "//b.test/:username=ada\n"
		       "@c:registry=https://c.test/\n//c.test/:_auth=%%%%\n"
		       "@d:registry=https://d.test/\n//d.test/:_password=cGFzcy1vZi1ucG0=\n"
		       "@e:registry=https://ada:pass-of-e@e.test/\n",
		       word, word);
	put(".npmrc", text);
	apply(&t, variables);
	assert_int_equal(t.mirrors.values.count + count_notes(&t, "the login of", ""), 5);
	assert_int_equal(count_notes(&t, "c.test", "no user and password"), 1);
	assert_int_equal(count_notes(&t, "d.test", "no user and password"), 1);
	assert_int_equal(count_notes(&t, "e.test", "address"), 1);
	see_no_value(&t);
	empty_all();
	/* pip's usual form of several lines. */
	put(".pip/pip.conf", "[global]\n  index-url = https://one.test/simple\n"
			     "extra-index-url =\n    https://two.test/simple\n\n"
			     "    # theirs\n\thttps://three.test/simple\ntimeout = 5\n"
			     "    https://four.test/simple\n");
	apply(&more, variables);
	assert_string_equal(value_of(&more, "PIP_INDEX_URL"), "https://one.test/simple");
	assert_true(rule_of(&more, "two.test")->private);
	assert_true(rule_of(&more, "three.test")->private);
	assert_null(strstr(value_of(&more, "PIP_EXTRA_INDEX_URL"), "four.test"));
	empty_all();
}

/* Where the ceiling says which secrets there may be, none is added; and a broken file stops nothing. */
static void test_broken(void **state)
{
	static const char *const texts[] = {
		"registry",
		"registry=",
		"=",
		"//:_authToken=x",
		"registry=https://",
		"registry=\"",
		"@:registry=https://a.test/\n//a.test/:_auth=====",
		"registry=https://a.test/${",
		"[source.crates-io]\nreplace-with = \"\n",
		"<mirror>",
		"<!--",
		"machine",
		"\377\376\n\t \r",
		"registry=https://a@b@c.test/",
		"registry=https://%zz:x@a.test/",
	};
	static const char *const files[] = {
		".npmrc",           ".netrc",       ".cargo/config.toml", ".cargo/credentials.toml",
		".m2/settings.xml", ".pip/pip.conf"};
	const char *const variables[] = {"GOPROXY=,|,https://,https://:@/,https://go.test", NULL};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(texts) * BAWN_ARRAY_SIZE(files); i++) {
		_cleanup_(tried_fini) struct tried t;

		put(files[i % BAWN_ARRAY_SIZE(files)], texts[i / BAWN_ARRAY_SIZE(files)]);
		apply(&t, variables);
		see_no_value(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),        cmocka_unit_test(test_all),
		cmocka_unit_test(test_agents_file), cmocka_unit_test(test_uv_default),
		cmocka_unit_test(test_maven_login), cmocka_unit_test(test_long),
		cmocka_unit_test(test_left_out),    cmocka_unit_test(test_broken),
		cmocka_unit_test(test_paths),
	};

	(void)snprintf(home, sizeof(home), "/tmp/bawn-mirror-XXXXXX");
	if (!mkdtemp(home))
		return 1;
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	static const char *const folders[] = {".cargo", ".m2", ".pip", ".config/uv", ".config", ""};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all_files) + BAWN_ARRAY_SIZE(folders); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%s", home,
			       i < BAWN_ARRAY_SIZE(all_files)
				       ? all_files[i]
				       : folders[i - BAWN_ARRAY_SIZE(all_files)]);
		(void)remove(path);
	}
	return r;
}
