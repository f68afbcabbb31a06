/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about tools: found where they are, outermost only, and nothing private with them. */
#include "fake_home.h"

#include "host.h"
#include "str.h"

struct
try {
	struct arena arena;
	struct host host;
	struct error e;
};

static void try_gather(struct try *t)
{
	*t = (struct try){.arena = ARENA_INIT(1 << 20), .e = ERROR_INIT};
	if (host_gather(NULL, &t->arena, &t->host, &t->e) < 0)
		fail_msg("%s", t->e.text);
}

static void try_end(struct try *t)
{
	arena_fini(&t->arena);
}

static const struct host_object *find(const struct host_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (str_equal(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

/* With what is there now, exactly the folder `shown` of the home (NULL: none) is a tool. */
static void expect_tool(struct fake_home *f, const char *shown, const char *about)
{
	char path[PATH_MAX];
	struct try t;

	try_gather(&t);
	if (!shown) {
		if (t.host.tools.count != 0)
			fail_msg("%s: %s is shown", about, t.host.tools.items[0].name);
	} else {
		if (t.host.tools.count != 1)
			fail_msg("%s: %zu tool folders, not 1", about, t.host.tools.count);
		assert_string_equal(t.host.tools.items[0].name, fake_path(path, f->home, shown));
		assert_true(t.host.tools.items[0].ino != 0);
	}
	try_end(&t);
}

static void set_path(struct fake_home *f, const char *name)
{
	char path[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "/usr/bin:%s/%s:/bin", f->home, name);
	assert_int_equal(setenv("PATH", path, 1), 0);
}

static void managers_are_found_in_their_usual_place(void **state)
{
	static const struct {
		const char *make, *shown;
	} managers[] = {
		{".nvm/versions", ".nvm"},
		{".pyenv/shims", ".pyenv"},
		{".cargo/bin", ".cargo/bin"},
		{".rustup/toolchains", ".rustup"},
		{"go/bin", "go/bin"},
		{".local/share/uv/python", ".local/share/uv/python"},
		{".local/share/mise/shims", ".local/share/mise"},
		{".asdf/shims", ".asdf"},
		{".volta/bin", ".volta"},
		{".bun/bin", ".bun"},
		{".deno/bin", ".deno"},
		{".sdkman/candidates", ".sdkman"},
		{".local/share/fnm/node-versions", ".local/share/fnm"},
		{".fnm/node-versions", ".fnm"},
		{"n/bin", "n/bin"},
		{"n/private", NULL},
		{".rbenv/shims", ".rbenv"},
		{".rvm/bin", ".rvm"},
		{".local/share/pnpm", ".local/share/pnpm"},
		{".local/share/pipx/venvs", ".local/share/pipx"},
		{".local/pipx/venvs", ".local/pipx"},
		{".local/share/pypoetry/venv", ".local/share/pypoetry"},
		{".npm-global/lib", ".npm-global/lib"},
		{".cache/ms-playwright/chromium-1", ".cache/ms-playwright"},
		{".cache/puppeteer/chrome", ".cache/puppeteer"},
		{"miniconda3/bin", "miniconda3"},
		{".dotnet/tools", ".dotnet/tools"},
		{".dotnet/sdk/8", ".dotnet/sdk"},
		{".dotnet/corefx/cryptography/x509stores/my", NULL},
		{".ghcup/bin", ".ghcup"},
		{".opam/default", ".opam"},
		{".rye/shims", ".rye"},
		{".nodenv/shims", ".nodenv"},
		{".goenv/shims", ".goenv"},
		{".jenv/shims", ".jenv"},
		{".juliaup/bin", ".juliaup"},
		{".elan/bin", ".elan"},
		{".local/bin", ".local/bin"},
		{".local/lib/python3.11", ".local/lib"},
		{"bin", "bin"},
	};
	struct fake_home f;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(managers); i++) {
		fake_home_make(&f);
		expect_tool(&f, NULL, "an empty home");
		fake_dir(f.home, managers[i].make);
		expect_tool(&f, managers[i].shown, managers[i].make);
		fake_home_remove(&f);
	}
}

static void managers_are_found_by_their_variable(void **state)
{
	static const struct {
		const char *variable, *part;
	} managers[] = {
		{"NVM_DIR", ""},        {"PYENV_ROOT", ""},
		{"CARGO_HOME", "/bin"}, {"RUSTUP_HOME", ""},
		{"GOPATH", "/bin"},     {"GOROOT", ""},
		{"MISE_DATA_DIR", ""},  {"ASDF_DATA_DIR", ""},
		{"VOLTA_HOME", ""},     {"BUN_INSTALL", ""},
		{"DENO_INSTALL", ""},   {"SDKMAN_DIR", ""},
		{"FNM_DIR", ""},        {"N_PREFIX", "/bin"},
		{"RBENV_ROOT", ""},     {"PNPM_HOME", ""},
		{"JAVA_HOME", ""},      {"VIRTUAL_ENV", ""},
		{"CONDA_PREFIX", ""},   {"UV_PYTHON_INSTALL_DIR", ""},
	};
	struct fake_home f;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(managers); i++) {
		char path[PATH_MAX];
		char shown[64];

		fake_home_make(&f);
		fake_dir(f.home, "own/place/bin");
		assert_int_equal(
			setenv(managers[i].variable, fake_path(path, f.home, "own/place"), 1), 0);
		(void)snprintf(shown, sizeof(shown), "own/place%s", managers[i].part);
		expect_tool(&f, shown, managers[i].variable);
		(void)unsetenv(managers[i].variable);
		fake_home_remove(&f);
	}
}

static void tokens_beside_programs_are_not_shown(void **state)
{
	struct fake_home *f = *state;

	fake_dir(f->home, ".cargo/bin");
	fake_file(f->home, ".cargo/credentials.toml", "token");
	expect_tool(f, ".cargo/bin", "cargo with credentials");
	/* Not even when PATH names the folder above. */
	set_path(f, ".cargo");
	expect_tool(f, ".cargo/bin", "cargo itself on PATH");
}

static void what_path_names_is_shown(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	char value[3 * PATH_MAX];
	struct try t;

	fake_dir(f->home, "scripts/mine");
	fake_dir(f->root, "elsewhere/bin");
	(void)snprintf(value, sizeof(value),
		       "/usr/bin:%s/scripts//mine/:%s/elsewhere/bin:%s/missing:relative/bin::.:"
		       "/usr/bin:%s/scripts/mine",
		       f->home, f->root, f->home, f->home);
	assert_int_equal(setenv("PATH", value, 1), 0);
	try_gather(&t);
	assert_int_equal(t.host.tools.count, 2);
	assert_non_null(find(&t.host.tools, fake_path(path, f->home, "scripts/mine")));
	assert_non_null(find(&t.host.tools, fake_path(path, f->root, "elsewhere/bin")));
	/* PATH itself: in order, once each, only what is there, nothing relative. */
	assert_int_equal(t.host.search.count, 3);
	assert_string_equal(t.host.search.items[0].name, "/usr/bin");
	assert_string_equal(t.host.search.items[1].name, fake_path(path, f->home, "scripts/mine"));
	assert_string_equal(t.host.search.items[2].name, fake_path(path, f->root, "elsewhere/bin"));
	try_end(&t);
}

static void only_the_outermost_folder_is_a_tool(void **state)
{
	struct fake_home *f = *state;

	fake_dir(f->home, ".nvm/versions/node/v20/bin");
	set_path(f, ".nvm/versions/node/v20/bin");
	expect_tool(f, ".nvm", "node of nvm on PATH");
}

static void an_outer_folder_that_is_found_later_replaces_the_inner(void **state)
{
	struct fake_home *f = *state;
	char value[3 * PATH_MAX];
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, "opt/a/bin");
	fake_dir(f->home, "opt/b/bin");
	(void)snprintf(value, sizeof(value), "%s/opt/a/bin:%s/opt/b/bin:%s/opt", f->home, f->home,
		       f->home);
	assert_int_equal(setenv("PATH", value, 1), 0);
	try_gather(&t);
	assert_int_equal(t.host.tools.count, 1);
	assert_string_equal(t.host.tools.items[0].name, fake_path(path, f->home, "opt"));
	assert_int_equal(t.host.search.count, 3);
	try_end(&t);
}

static void home_and_private_places_are_never_tools(void **state)
{
	static const char *const names[] = {
		"",
		"..",
		"../..",
		".ssh",
		".ssh/bin",
		".aws",
		".gnupg",
		".config",
		".config/gh",
		".docker/bin",
		".kube",
		".claude",
		".claude/local",
		".codex",
		".mozilla",
		".local",
		".local/share",
		".local/share/keyrings",
		".password-store",
		".gemini",
		".cache",
		".m2",
		".local/state/bawn",
		".config/bawn",
		".local/state",
	};
	struct fake_home *f = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		fake_dir(f->home, names[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		struct try t;

		set_path(f, names[i]);
		try_gather(&t);
		if (t.host.tools.count != 0)
			fail_msg("PATH names ~/%s, and %s is shown", names[i],
				 t.host.tools.items[0].name);
		/* And it is said. */
		assert_int_equal(t.host.left_out.count, 1);
		assert_non_null(t.host.left_out.items[0].why);
		try_end(&t);
	}
}

static void a_link_does_not_make_a_private_place_a_tool(void **state)
{
	static const char *const leads[] = {".ssh",    ".",       "..",
					    ".config", ".claude", ".local/state/bawn"};
	struct fake_home *f = *state;
	char path[PATH_MAX];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(leads); i++) {
		fake_dir(f->home, leads[i]);
		fake_link(f->home, "bin", leads[i]);
		set_path(f, "bin");
		expect_tool(f, NULL, leads[i]);
		assert_int_equal(unlink(fake_path(path, f->home, "bin")), 0);
	}
}

static void a_link_that_an_agent_could_have_planted_is_not_followed(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	/* An earlier session in ~/code/other turned its bin into a link. */
	fake_dir(f->home, "Documents/letters");
	fake_dir(f->home, "code/other");
	fake_link(f->home, "code/other/bin", "../../Documents/letters");
	set_path(f, "code/other/bin");
	expect_tool(f, NULL, "a link in a project");
	/* The same from outside the home into it. */
	fake_dir(f->root, "work");
	fake_link(f->root, "work/bin", f->home);
	fake_link(f->root, "work/tools", "../home/jo/Documents");
	char value[PATH_MAX];
	assert_int_equal(setenv("PATH", fake_path(value, f->root, "work/tools"), 1), 0);
	expect_tool(f, NULL, "a link from outside into the home");
	try_gather(&t);
	assert_int_equal(t.host.left_out.count, 1);
	try_end(&t);
}

static void a_link_that_the_user_keeps_is_followed(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->root, "disk/nvm/versions");
	fake_link(f->home, ".nvm", "../../disk/nvm");
	try_gather(&t);
	assert_int_equal(t.host.tools.count, 1);
	assert_string_equal(t.host.tools.items[0].name, fake_path(path, f->home, ".nvm"));
	assert_string_equal(t.host.tools.items[0].path, fake_path(path, f->root, "disk/nvm"));
	try_end(&t);
}

static void fnm_leads_through_the_runtime_directory(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, ".local/share/fnm/node-versions/v20/installation/bin");
	fake_dir(f->root, "run");
	fake_link(f->root, "run/multishell",
		  "../home/jo/.local/share/fnm/node-versions/v20/installation");
	assert_int_equal(setenv("PATH", fake_path(path, f->root, "run/multishell/bin"), 1), 0);
	expect_tool(f, ".local/share/fnm", "fnm");
	try_gather(&t);
	assert_int_equal(t.host.search.count, 1);
	assert_string_equal(
		t.host.search.items[0].path,
		fake_path(path, f->home, ".local/share/fnm/node-versions/v20/installation/bin"));
	assert_int_equal(t.host.left_out.count, 0);
	try_end(&t);
}

static void links_of_local_bin_bring_what_they_need(void **state)
{
	static const struct {
		const char *make, *link, *text, *shown;
	} cases[] = {
		{".local/share/claude/versions/1.2.3", "claude", "../share/claude/versions/1.2.3",
		 ".local/share/claude/versions/1.2.3"},
		{".local/share/tools/lib/node_modules/@openai/codex/bin/codex.js", "codex",
		 "../share/tools/lib/node_modules/@openai/codex/bin/codex.js",
		 ".local/share/tools/lib/node_modules"},
		{".venvs/black/bin/black", "black", "../../.venvs/black/bin/black",
		 ".venvs/black/bin"},
		{".opencode/bin/opencode", "opencode", "../../.opencode/bin/opencode",
		 ".opencode/bin"},
		{"code/other/bin/tool", "tool", "../../code/other/bin/tool", NULL},
		{".ssh/id", "id", "../../.ssh/id", NULL},
		{".config/x/tool", "x", "../../.config/gh/../x/tool", ".config/x/tool"},
		{".config/y/bin/tool", "y", "../../.config/y/bin/tool", ".config/y/bin"},
		{"file", "up", "../../file", NULL},
	};
	struct fake_home f;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		char path[PATH_MAX];
		struct try t;

		fake_home_make(&f);
		fake_dir(f.home, ".local/bin");
		fake_file(f.home, cases[i].make, "x");
		if (strstr(cases[i].make, "venvs"))
			fake_file(f.home, ".venvs/black/pyvenv.cfg", "home = /usr/bin\n");
		fake_link(f.home, ".local/bin/x", "nowhere");
		assert_int_equal(unlink(fake_path(path, f.home, ".local/bin/x")), 0);
		(void)snprintf(path, sizeof(path), ".local/bin/%s", cases[i].link);
		fake_link(f.home, path, cases[i].text);
		try_gather(&t);
		assert_non_null(find(&t.host.tools, fake_path(path, f.home, ".local/bin")));
		/* Beside its programs an environment has the file that says what it is. */
		size_t environment = strstr(cases[i].make, "venvs") != NULL;

		if (t.host.tools.count != (cases[i].shown ? 2 + environment : 1))
			fail_msg("%s: %zu tool folders", cases[i].text, t.host.tools.count);
		if (cases[i].shown)
			assert_non_null(
				find(&t.host.tools, fake_path(path, f.home, cases[i].shown)));
		try_end(&t);
		fake_home_remove(&f);
	}
}

static void of_a_python_environment_its_own_parts_are_shown(void **state)
{
	static const char *const shown[] = {"venvs/data/bin", "venvs/data/lib", "venvs/data/lib64",
					    "venvs/data/pyvenv.cfg"};
	static const char *const ways[] = {"PATH", "VIRTUAL_ENV"};
	struct fake_home *f = *state;
	char path[PATH_MAX];

	fake_dir(f->home, "venvs/data/bin");
	fake_dir(f->home, "venvs/data/lib/python3");
	fake_link(f->home, "venvs/data/lib64", "lib");
	fake_file(f->home, "venvs/data/pyvenv.cfg", "home = /usr/bin\n");
	fake_file(f->home, "venvs/data/.env", "TOKEN=x\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ways); i++) {
		struct try t;

		if (i == 0)
			set_path(f, "venvs/data/bin");
		else
			assert_int_equal(
				setenv("VIRTUAL_ENV", fake_path(path, f->home, "venvs/data"), 1),
				0);
		try_gather(&t);
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(shown); n++)
			if (!find(&t.host.tools, fake_path(path, f->home, shown[n])))
				fail_msg("%s: %s is not shown", ways[i], shown[n]);
		assert_int_equal(t.host.tools.count, BAWN_ARRAY_SIZE(shown));
		try_end(&t);
	}
	(void)unsetenv("VIRTUAL_ENV");
}

static void tools_in_the_workspace_are_the_workspace(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	fake_dir(f->project, "node_modules/.bin");
	set_path(f, "code/project/node_modules/.bin");
	assert_int_equal(setenv("VIRTUAL_ENV", f->project, 1), 0);
	expect_tool(f, NULL, "tools of the project");
	try_gather(&t);
	assert_int_equal(t.host.search.count, 3);
	assert_int_equal(t.host.left_out.count, 0);
	try_end(&t);
	(void)unsetenv("VIRTUAL_ENV");
}

static void a_home_with_many_files_is_still_looked_at(void **state)
{
	struct fake_home *f = *state;

	/* More names than are read at one time. */
	for (int i = 0; i < 6000; i++) {
		char name[160];

		(void)snprintf(name, sizeof(name), "%0128d", i);
		fake_file(f->home, name, "");
	}
	fake_dir(f->home, ".pyenv");
	expect_tool(f, ".pyenv", "a large home");
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(managers_are_found_in_their_usual_place),
		cmocka_unit_test(managers_are_found_by_their_variable),
		PROMISE(tokens_beside_programs_are_not_shown),
		PROMISE(what_path_names_is_shown),
		PROMISE(only_the_outermost_folder_is_a_tool),
		PROMISE(an_outer_folder_that_is_found_later_replaces_the_inner),
		PROMISE(home_and_private_places_are_never_tools),
		PROMISE(a_link_does_not_make_a_private_place_a_tool),
		PROMISE(a_link_that_an_agent_could_have_planted_is_not_followed),
		PROMISE(a_link_that_the_user_keeps_is_followed),
		PROMISE(fnm_leads_through_the_runtime_directory),
		cmocka_unit_test(links_of_local_bin_bring_what_they_need),
		PROMISE(of_a_python_environment_its_own_parts_are_shown),
		PROMISE(tools_in_the_workspace_are_the_workspace),
		PROMISE(a_home_with_many_files_is_still_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
