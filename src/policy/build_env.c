/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of the box: variables that bawn makes, variables of the user that are on
 * the list, and those that the policy passes or sets.  Everything else stays outside.
 *
 *	env.drop	removes a name, whoever gave it
 *	env.set		wins over every other value, except for the variables that name
 *			trusted authorities, when connections are opened (build_trust.c)
 *	an exact name in the user's own file or on the command line passes, with a
 *		warning when it looks like a credential
 *	the list, a preset, a pattern: pass what does not look like a credential
 */
#include "build_parts.h"

#include "credential.h"
#include "str.h"

/* Taste and language: values that name no person and no place. */
static const char *const build_env_plain[] = {
	"CLICOLOR*",
	"COLORTERM",
	"EDITOR",
	"FORCE_COLOR",
	"LANG",
	"LANGUAGE",
	"LC_*",
	"LESS",
	"LS_COLORS",
	"MANPAGER",
	"NO_COLOR",
	"PAGER",
	"PYTHONDONTWRITEBYTECODE",
	"PYTHONUNBUFFERED",
	"RUST_BACKTRACE",
	"TERM",
	"TERM_PROGRAM",
	"TERM_PROGRAM_VERSION",
	"TZ",
	"VISUAL",
};

/* Variables that builds and tests read.  They pass when the value is a few plain words: nothing
 * that could be a place, an account or a program's text. */
static const char *const build_env_words[] = {
	"APP_ENV",           "CC",      "CFLAGS",   "CI",        "CXX",
	"CXXFLAGS",          "DEBUG",   "GOARCH",   "GOOS",      "LOG_LEVEL",
	"NODE_ENV",          "PORT",    "RACK_ENV", "RAILS_ENV", "RUST_LOG",
	"SOURCE_DATE_EPOCH", "VERBOSE",
};

enum { BUILD_ENV_WORDS_MAX = 128 };

/* Places of tools and certificates: pass when the box shows every place they name. */
static const char *const build_env_places[] = {
	"ANDROID_HOME",
	"ANDROID_SDK_ROOT",
	"ASDF_DATA_DIR",
	"ASDF_DIR",
	"BUN_INSTALL",
	"CARGO_HOME",
	"CONDA_EXE",
	"CONDA_PREFIX",
	"CONDA_PYTHON_EXE",
	"CPATH",
	"CUDA_HOME",
	"CUDA_PATH",
	"CURL_CA_BUNDLE",
	"C_INCLUDE_PATH",
	"CPLUS_INCLUDE_PATH",
	"DENO_INSTALL",
	"DOTNET_ROOT",
	"FNM_DIR",
	"GIT_SSL_CAINFO",
	"GOENV_ROOT",
	"GOPATH",
	"GOROOT",
	"GRADLE_HOME",
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
	"HOMEBREW_CELLAR",
	"HOMEBREW_PREFIX",
	"HOMEBREW_REPOSITORY",
	"JAVA_HOME",
	"JDK_HOME",
	"JENV_ROOT",
	"KOTLIN_HOME",
	"LD_LIBRARY_PATH",
	"LIBRARY_PATH",
	"M2_HOME",
	"MANPATH",
	"MAVEN_HOME",
	"MISE_DATA_DIR",
	"NIX_SSL_CERT_FILE",
	"NODENV_ROOT",
	"NODE_EXTRA_CA_CERTS",
	"NPM_CONFIG_PREFIX",
	"NVM_BIN",
	"NVM_DIR",
	"NVM_INC",
	"N_PREFIX",
	"OPAMROOT",
	"OPAM_SWITCH_PREFIX",
	"PIPX_HOME",
	"PIP_CERT",
	"PKG_CONFIG_PATH",
	"PLAYWRIGHT_BROWSERS_PATH",
	"PNPM_HOME",
	"POETRY_HOME",
	"PUPPETEER_CACHE_DIR",
	"PYENV_ROOT",
	"PYENV_VIRTUAL_ENV",
	"RBENV_ROOT",
	"REQUESTS_CA_BUNDLE",
	"RUSTUP_HOME",
	"RYE_HOME",
	"SCALA_HOME",
	"SDKMAN_CANDIDATES_DIR",
	"SDKMAN_DIR",
	"SSL_CERT_DIR",
	"SSL_CERT_FILE",
	"TFENV_ROOT",
	"VIRTUAL_ENV",
	"VOLTA_HOME",
	"rvm_path",
};

static const struct plan_env *build_env_find(const struct build *b, const char *name)
{
	for (size_t i = 0; i < b->plan.env.count; i++)
		if (str_equal(b->plan.env.items[i].name, name))
			return &b->plan.env.items[i];
	return NULL;
}

static bool build_env_is_dropped(const struct build *b, const char *name)
{
	for (size_t i = 0; i < b->policy->env_drop.count; i++)
		if (policy_name_matches(b->policy->env_drop.items[i].path, name))
			return true;
	return false;
}

void build_env_put(struct build *b, const char *name, const char *value, const char *origin)
{
	if (!build_env_is_dropped(b, name) && !build_env_find(b, name))
		*build_add_env(b) =
			(struct plan_env){.name = name, .value = value, .origin = origin};
}

static bool build_env_is_words(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.,:=+*- ";
	size_t len = strspn(value, plain);

	return len <= BUILD_ENV_WORDS_MAX && value[len] == '\0';
}

/* Whether the box shows each place of a list with colons. */
static bool build_env_is_shown(struct build *b, const char *value)
{
	const struct host *h = b->host;

	if (*value == '\0')
		return false;
	while (*value) {
		size_t len = strcspn(value, ":");

		if (len > 0) {
			const char *place = build_printf(b, "%.*s", (int)len, value);

			if (str_path_beneath(place, h->home_name))
				place = build_printf(b, "%s%s", h->home,
						     place + strlen(h->home_name));
			if (place[0] != '/' || !build_shows(b, place))
				return false;
		}
		value += len;
		value += *value == ':';
	}
	return true;
}

#define BUILD_ENV_SYSTEM_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The entries of PATH that are there inside, in their order, each once. */
static const char *build_env_path(struct build *b)
{
	const struct host_list *search = &b->host->search;
	_cleanup_buf_ struct buf path = BUF_INIT(64 << 10);
	const char **taken = arena_alloc(b->arena, (search->count + 1) * sizeof(*taken));
	size_t count = 0;

	for (size_t i = 0; taken && i < search->count; i++) {
		const struct host_object *entry = &search->items[i];
		const char *shown = build_shows(b, entry->name)   ? entry->name
				    : build_shows(b, entry->path) ? entry->path
								  : NULL;
		bool again = false;

		for (size_t n = 0; shown && n < count; n++)
			again = again || str_equal(taken[n], shown);
		if (!shown || again || strchr(shown, ':'))
			continue;
		taken[count++] = shown;
		if (path.len > 0)
			buf_put_char(&path, ':');
		buf_put_str(&path, shown);
	}
	if (path.len == 0 || buf_error(&path))
		return b->plan.root.count > 0 ? BUILD_ENV_SYSTEM_PATH
					      : "/usr/local/bin:/usr/bin:/bin";
	if (b->plan.root.count > 0)
		buf_put_str(&path, ":" BUILD_ENV_SYSTEM_PATH);
	const char *value = arena_strn(b->arena, buf_str(&path), path.len);
	if (!value)
		b->no_memory = true;
	return value ? value : "";
}

static bool build_env_name_is_usable(const char *name, size_t len)
{
	static const char usable[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_";

	return len > 0 && len < 256 && strspn(name, usable) == len &&
	       !(name[0] >= '0' && name[0] <= '9');
}

static bool build_is_users_word(const struct policy_path *pass)
{
	return !str_ends_with(pass->path, "*") && !str_equal(pass->origin, "default") &&
	       !str_after(pass->origin, "preset ");
}

/* The origin that lets name pass: the user's exact name, then the policy, then our own lists; or
 * NULL. */
static const char *build_env_allowed(struct build *b, const char *name, const char *value,
				     bool *ret_users_word)
{
	const char *origin = NULL;

	*ret_users_word = false;
	for (size_t i = 0; i < b->policy->env_pass.count; i++) {
		const struct policy_path *pass = &b->policy->env_pass.items[i];

		if (!policy_name_matches(pass->path, name))
			continue;
		if (build_is_users_word(pass)) {
			*ret_users_word = true;
			return pass->origin;
		}
		origin = origin ? origin : pass->origin;
	}
	if (origin)
		return origin;
	/* Compare the first letter first: this runs for every variable at every start. */
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(build_env_plain); i++)
		if (build_env_plain[i][0] == name[0] &&
		    policy_name_matches(build_env_plain[i], name))
			return "default";
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(build_env_words); i++)
		if (build_env_words[i][0] == name[0] && str_equal(build_env_words[i], name))
			return build_env_is_words(value) ? "default" : NULL;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(build_env_places); i++)
		if (build_env_places[i][0] == name[0] && str_equal(build_env_places[i], name))
			return build_env_is_shown(b, value) ? "default" : NULL;
	return NULL;
}

static void build_env_consider(struct build *b, const char *entry)
{
	size_t len = strcspn(entry, "=");
	bool users_word;

	if (entry[len] != '=' || !build_env_name_is_usable(entry, len))
		return;
	const char *name = build_printf(b, "%.*s", (int)len, entry);
	const char *value = entry + len + 1;

	if (build_env_is_dropped(b, name) || build_env_find(b, name))
		return;
	const char *origin = build_env_allowed(b, name, value, &users_word);
	if (!origin)
		return;
	const char *held = b->plan.backend != PLAN_BACKEND_HOST ? build_secret_of(b, name) : NULL;

	if (held) {
		build_note(b, PLAN_NOTE_NOT_GIVEN, build_printf(b, "variable %s", name),
			   build_printf(b, "it is the secret %s, whose value stays outside", held),
			   origin);
		return;
	}
	bool secret = credential_in_name(name) || credential_in_value(value);
	if (secret && !users_word) {
		build_note(b, PLAN_NOTE_NOT_GIVEN, build_printf(b, "variable %s", name),
			   "it looks like a credential; --env with its whole name passes it",
			   origin);
		return;
	}
	if (secret)
		build_note(b, PLAN_NOTE_WARNING, build_printf(b, "variable %s", name),
			   "it looks like a credential, and the agent can read it", origin);
	build_env_put(b, name, value, origin);
}

static void build_env_note_unset(struct build *b)
{
	for (size_t i = 0; i < b->policy->env_pass.count; i++) {
		const struct policy_path *pass = &b->policy->env_pass.items[i];

		if (build_is_users_word(pass) && !host_env(b->host->environ, pass->path) &&
		    !build_env_find(b, pass->path))
			build_note(b, PLAN_NOTE_NOT_GIVEN,
				   build_printf(b, "variable %s", pass->path), "it is not set",
				   pass->origin);
	}
}

static void build_env_own(struct build *b)
{
	const struct host *h = b->host;

	build_env_put(b, "HOME", h->home, "default");
	build_env_put(b, "USER", b->plan.user, "default");
	build_env_put(b, "LOGNAME", b->plan.user, "default");
	build_env_put(b, "SHELL", build_shell(b), "default");
	build_env_put(b, "PATH", build_env_path(b), "default");
	build_env_put(b, "PWD", b->plan.cwd, "default");
	build_env_put(b, "TMPDIR", "/tmp", "default");
	build_env_put(b, "XDG_RUNTIME_DIR",
		      build_printf(b, "/run/user/%llu", (unsigned long long)h->uid), "default");
}

void build_env(struct build *b)
{
	bool host = b->plan.backend == PLAN_BACKEND_HOST;

	for (size_t i = 0; i < b->policy->env_set.count; i++)
		build_env_put(b, b->policy->env_set.items[i].name,
			      b->policy->env_set.items[i].value,
			      b->policy->env_set.items[i].origin);
	build_env_put(b, "BAWN", "1", "default");
	if (!host) {
		build_env_own(b);
		build_git_env(b);
	}
	for (size_t i = 0; b->host->environ && b->host->environ[i]; i++) {
		const char *entry = b->host->environ[i];
		size_t len = strcspn(entry, "=");

		/* No box: the command gets the environment that it would have without bawn. */
		if (host && entry[len] == '=')
			build_env_put(b, build_printf(b, "%.*s", (int)len, entry), entry + len + 1,
				      "host");
		else if (!host)
			build_env_consider(b, entry);
	}
	if (!host)
		build_env_note_unset(b);
}
