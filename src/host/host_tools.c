/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own tools: what PATH really names, the folders of the usual version managers if they
 * exist, and what the links of ~/.local/bin lead to.  The box sees each read-only at its own place,
 * the outermost folder only.
 *
 * Never shown as a tool, whatever PATH or a link says: the home or a folder around it, a private
 * place or anything in or around one, bawn's own folders, a place of the system that is not
 * programs.  We follow a link only where the user keeps it: in a project, an agent of an earlier
 * session may have put it there to have something mounted in the next.
 */
#include "host_parts.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { HOST_TOOLS_MAX = 128, HOST_BIN_MAX = 512 };

/*
 * variable: where the user says it is.  place: where it is otherwise, in the home unless it begins
 * with '/'.  part: the folder of it that the box sees, when it must not see the rest.
 */
static const struct host_manager {
	const char *variable, *place, *part;
} host_managers[] = {
	{NULL, ".local/bin", ""},
	{NULL, ".local/lib", ""}, /* what pip --user and npm use for .local/bin */
	{NULL, "bin", ""},
	{"ASDF_DATA_DIR", ".asdf", ""},
	{"ASDF_DIR", NULL, ""},
	{"BUN_INSTALL", ".bun", ""},
	{"CARGO_HOME", ".cargo", "bin"}, /* beside it: tokens of registries */
	{NULL, "miniconda3", ""},
	{NULL, "anaconda3", ""},
	{NULL, "miniforge3", ""},
	{"MAMBA_ROOT_PREFIX", NULL, ""},
	{"CONDA_PREFIX", NULL, ""},
	{"DENO_INSTALL", ".deno", ""},
	{"DOTNET_ROOT", ".dotnet", "dotnet"}, /* beside them: private keys of certificates */
	{"DOTNET_ROOT", ".dotnet", "host"},
	{"DOTNET_ROOT", ".dotnet", "packs"},
	{"DOTNET_ROOT", ".dotnet", "sdk"},
	{"DOTNET_ROOT", ".dotnet", "sdk-manifests"},
	{"DOTNET_ROOT", ".dotnet", "shared"},
	{"DOTNET_ROOT", ".dotnet", "templates"},
	{"DOTNET_ROOT", ".dotnet", "tools"},
	{NULL, ".elan", ""},
	{"FNM_DIR", ".local/share/fnm", ""},
	{NULL, ".fnm", ""},
	{NULL, ".ghcup", ""},
	{"GOENV_ROOT", ".goenv", ""},
	{"GOPATH", "go", "bin"},
	{"GOROOT", NULL, ""},
	{"HOMEBREW_PREFIX", "/home/linuxbrew/.linuxbrew", ""},
	{"JAVA_HOME", NULL, ""},
	{"JENV_ROOT", ".jenv", ""},
	{NULL, ".juliaup", ""},
	{"MISE_DATA_DIR", ".local/share/mise", ""},
	{NULL, ".nix-profile", ""},
	{"NODENV_ROOT", ".nodenv", ""},
	{"NPM_CONFIG_PREFIX", ".npm-global", "bin"}, /* beside them: etc/npmrc */
	{"NPM_CONFIG_PREFIX", ".npm-global", "lib"},
	{"NVM_DIR", ".nvm", ""},
	{"N_PREFIX", "n", "bin"}, /* a folder of that name may be anything */
	{"N_PREFIX", "n", "include"},
	{"N_PREFIX", "n", "lib"},
	{"N_PREFIX", "n", "n"},
	{"N_PREFIX", "n", "share"},
	{"OPAMROOT", ".opam", ""},
	{"PIPX_HOME", ".local/share/pipx", ""},
	{NULL, ".local/pipx", ""},
	{"PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", ""},
	{"PNPM_HOME", ".local/share/pnpm", ""},
	{"POETRY_HOME", ".local/share/pypoetry", ""},
	{"PUPPETEER_CACHE_DIR", ".cache/puppeteer", ""},
	{"PYENV_ROOT", ".pyenv", ""},
	{"RBENV_ROOT", ".rbenv", ""},
	{"RUSTUP_HOME", ".rustup", ""},
	{"RYE_HOME", ".rye", ""},
	{"SDKMAN_DIR", ".sdkman", ""},
	{NULL, ".rvm", ""},
	{"TFENV_ROOT", ".tfenv", ""},
	{"UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", ""}, /* beside them: credentials */
	{"UV_TOOL_DIR", ".local/share/uv/tools", ""},
	{"VOLTA_HOME", ".volta", ""},
};

/* The parts of a Python environment; a project may be one, and have other things beside them. */
static const char *const host_python_parts[] = {"bin",   "include", "lib",
						"lib64", "share",   "pyvenv.cfg"};

/* Whether name is beneath something that the box sees already: the system, the workspace, an outer
 * tool. */
static bool host_is_shown(const struct host *h, const char *name)
{
	if (str_path_beneath(name, h->workspace.path))
		return true;
	for (size_t i = 0; i < h->programs.count; i++)
		if (str_path_beneath(name, h->programs.items[i].name))
			return true;
	for (size_t i = 0; i < h->tools.count; i++)
		if (str_path_beneath(name, h->tools.items[i].name))
			return true;
	return false;
}

/* Whether the first folder of name below the home is ~/.something, or name is right in the home. */
static bool host_is_users_own(const struct host *h, const char *name)
{
	const char *rest = name + strlen(h->home);

	return rest[0] == '/' && (rest[1] == '.' || !strchr(rest + 1, '/'));
}

static const char *host_tool_refusal_of(const struct host *h, const char *path)
{
	if (host_holds_home(h, path))
		return "it is your home or holds it";
	if (host_is_private(h, path))
		return "it is a private place";
	if (host_holds_private(h, path))
		return "private places lie in it";
	if (!str_path_beneath(path, h->home) && host_is_system_place(path))
		return "it is a place of the system";
	for (size_t i = 0; i < h->guarded.count; i++)
		if (str_path_beneath(path, h->guarded.items[i].path) ||
		    str_path_beneath(h->guarded.items[i].path, path))
			return "bawn keeps its own files there";
	return NULL;
}

/* Why the box must not see object as a tool; NULL when it may. */
static const char *host_tool_refusal(const struct host *h, const struct host_object *object)
{
	const char *why = host_tool_refusal_of(h, object->name);

	if (why || str_equal(object->name, object->path))
		return why;
	why = host_tool_refusal_of(h, object->path);
	if (why)
		return why;
	bool from_home = str_path_beneath(object->name, h->home);
	bool into_home = str_path_beneath(object->path, h->home);
	if (from_home ? !host_is_users_own(h, object->name) : into_home)
		return "a link outside your own dot folders leads there";
	return NULL;
}

static int host_leave_out(struct host *h, const struct host_object *object, const char *why,
			  struct arena *arena)
{
	struct host_object left = *object;

	for (size_t i = 0; i < h->left_out.count; i++)
		if (str_equal(h->left_out.items[i].name, object->name))
			return 0;
	left.why = why;
	return host_list_add(&h->left_out, arena, &left);
}

/* Adds a folder that we looked at, and drops those that are now within it. */
static int host_add_tool(struct host *h, const struct host_object *looked, struct arena *arena)
{
	struct host_object known = *looked;
	const struct host_object *object = &known;

	known.path = host_known_as(h, looked->path, arena);
	if ((!object->is_dir && !object->is_file) || host_is_shown(h, object->name) ||
	    h->tools.count >= HOST_TOOLS_MAX)
		return 0;
	const char *why = host_tool_refusal(h, object);
	/* The box may see what it leads to anyway: then PATH can name that instead. */
	if (why && host_is_shown(h, object->path))
		return 0;
	if (why)
		return host_leave_out(h, object, why, arena);

	size_t kept = 0;
	for (size_t i = 0; i < h->tools.count; i++)
		if (!str_path_beneath(h->tools.items[i].name, object->name))
			h->tools.items[kept++] = h->tools.items[i];
	if (kept < h->tools.count) {
		/* When one was dropped, the list has room; host_list_add relies on powers of
		 * two. */
		h->tools.items[kept] = *object;
		h->tools.count = kept + 1;
		return 0;
	}
	return host_list_add(&h->tools, arena, object);
}

/* Looks at a path and adds it.  It may be a file: one program, or something that one needs. */
static int host_try_tool(struct host *h, const char *path, const char *origin, struct arena *arena)
{
	struct host_object object;

	if (!path)
		return -ENOMEM;
	if (path[0] != '/' || host_is_shown(h, path))
		return 0;
	int r = host_look(path, arena, &object);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	object.origin = origin;
	return host_add_tool(h, &object, arena);
}

static int host_find_manager(struct host *h, const struct host_manager *m,
			     const struct host_home_names *names, struct arena *arena)
{
	const char *value = m->variable ? host_env(h->environ, m->variable) : NULL;
	const char *slash = *m->part ? "/" : "";

	if (value && value[0] == '/') {
		/* GOPATH is a list; programs go into its first folder. */
		int len = (int)strcspn(value, ":");

		value = arena_printf(arena, "%.*s%s%s", len, value, slash, m->part);
		return host_try_tool(h, value ? host_rehome(h, value, arena) : NULL, m->variable,
				     arena);
	}
	if (!m->place)
		return 0;
	if (m->place[0] == '/')
		return host_try_tool(h, m->place, m->place, arena);
	if (!host_may_have(names, "", m->place))
		return 0;
	const char *origin = arena_printf(arena, "~/%s%s%s", m->place, slash, m->part);
	if (!origin)
		return -ENOMEM;
	return host_try_tool(h, arena_printf(arena, "%s%s", h->home, origin + 1), origin, arena);
}

/* Whether path/../name exists. */
static bool host_has_beside(const char *path, const char *name)
{
	char beside[4096];
	const char *slash = strrchr(path, '/');
	int n = snprintf(beside, sizeof(beside), "%.*s/%s", (int)(slash - path), path, name);

	return n > 0 && (size_t)n < sizeof(beside) && access(beside, F_OK) == 0;
}

/* The bin folder of a Python environment works only with the rest of the environment. */
static bool host_is_python_bin(const char *path)
{
	return str_ends_with(path, "/bin") &&
	       (host_has_beside(path, "pyvenv.cfg") || host_has_beside(path, "conda-meta"));
}

static char *host_parent(const char *path, struct arena *arena)
{
	return arena_strn(arena, path, (size_t)(strrchr(path, '/') - path));
}

/* Adds the parts of an environment; one of conda as a whole, because it is never a project. */
static int host_try_python(struct host *h, const char *env, const char *origin, struct arena *arena)
{
	char *marker = env ? arena_printf(arena, "%s/pyvenv.cfg", env) : NULL;
	int r = 0;

	if (!marker)
		return -ENOMEM;
	if (access(marker, F_OK) < 0)
		return host_try_tool(h, env, origin, arena);
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(host_python_parts); i++) {
		const char *path = arena_printf(arena, "%s/%s", env, host_python_parts[i]);
		struct host_object object;

		if (!path)
			return -ENOMEM;
		/* lib64 is a link to lib, within the environment. */
		if (str_equal(host_python_parts[i], "lib64") &&
		    host_look(path, arena, &object) == 0 && object.is_dir && object.link &&
		    str_path_beneath(object.path, env) && host_is_shown(h, object.path) &&
		    !host_is_shown(h, path)) {
			object.origin = origin;
			r = host_list_add(&h->tools, arena, &object);
			continue;
		}
		r = host_try_tool(h, path, origin, arena);
	}
	return r;
}

static int host_find_path_entry(struct host *h, const char *entry, struct arena *arena)
{
	struct host_object object = {.name = NULL};

	/* "", "." and the like mean the current folder: a box must not run programs from it
	 * unasked. */
	if (entry[0] != '/')
		return 0;
	entry = host_rehome(h, entry, arena);
	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < h->search.count; i++)
		if (str_equal(h->search.items[i].name, entry))
			return 0;
	/* If the box sees it already, it only has to exist. */
	bool shown = str_path_is_normal(entry) && host_is_shown(h, entry);
	struct stat st;
	int r = 0;
	if (!shown)
		r = host_look(entry, arena, &object);
	else if (stat(entry, &st) < 0)
		r = -errno;
	else
		object = (struct host_object){.name = entry,
					      .path = entry,
					      .dev = st.st_dev,
					      .ino = st.st_ino,
					      .is_dir = S_ISDIR(st.st_mode)};
	if (r < 0 || !object.is_dir)
		return r == -ENOMEM ? r : 0;
	object.origin = "PATH";
	r = host_list_add(&h->search, arena, &object);
	if (r < 0 || shown)
		return r;
	if (str_equal(object.name, object.path) && str_path_beneath(object.path, h->home) &&
	    host_is_python_bin(object.path))
		return host_try_python(h, host_parent(object.path, arena), "PATH", arena);
	return host_add_tool(h, &object, arena);
}

static int host_find_path(struct host *h, struct arena *arena)
{
	const char *at = host_env(h->environ, "PATH");
	int r = 0;

	for (int i = 0; r == 0 && at && i < HOST_TOOLS_MAX; i++) {
		size_t len = strcspn(at, ":");
		char *entry = arena_strn(arena, at, len);

		r = entry ? host_find_path_entry(h, entry, arena) : -ENOMEM;
		at = at[len] ? at + len + 1 : NULL;
	}
	return r;
}

/* dir/text without "." and "..", by the letters: dir has no links. */
static char *host_join(const char *dir, const char *text, struct arena *arena)
{
	char *path = arena_printf(arena, "%s/%s", text[0] == '/' ? "" : dir, text);
	size_t len = 0;

	if (!path)
		return NULL;
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (len > 0 && path[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && at[0] == '.')) {
			path[len++] = '/';
			memmove(path + len, at, n);
			len += n;
		}
		at += n;
	}
	path[len] = '\0';
	return path;
}

/* What the box must see so that the program at path runs: its package, its environment, its folder
 * if that has programs, else the file. */
static char *host_tool_unit(char *path, bool *ret_python, struct arena *arena)
{
	char *modules = strstr(path, "/node_modules/");

	if (modules)
		return arena_strn(arena, path, (size_t)(modules - path) + strlen("/node_modules"));
	char *parent = host_parent(path, arena);

	*ret_python = parent && *parent && host_is_python_bin(parent);
	if (*ret_python)
		return host_parent(parent, arena);
	return parent && !str_ends_with(parent, "/bin") ? path : parent;
}

static int host_follow_bin_link(struct host *h, const char *bin, const char *name, const char *text,
				struct arena *arena)
{
	char *path = host_join(bin, text, arena);

	if (!path)
		return -ENOMEM;
	if (!str_path_is_normal(path) || host_is_shown(h, path))
		return 0;
	const char *origin = arena_printf(arena, "~/.local/bin/%s", name);
	bool python = false;
	char *unit = host_tool_unit(path, &python, arena);
	if (!origin || !unit)
		return -ENOMEM;
	if (*unit == '\0')
		return 0;
	struct host_object object = {.name = unit, .path = unit, .origin = origin};
	/* For a file its folder counts: a file right in the home is no tool. */
	const char *folder = unit == path ? host_parent(path, arena) : unit;

	if (!folder)
		return -ENOMEM;
	if (!str_path_beneath(folder, h->home) || !host_is_users_own(h, folder) ||
	    str_equal(folder, h->home))
		return host_leave_out(h, &object, "it is none of your own dot folders", arena);
	return python ? host_try_python(h, unit, origin, arena)
		      : host_try_tool(h, unit, origin, arena);
}

/* Follows links like ~/.local/bin/claude -> ~/.local/share/claude/versions/1.2.3. */
static int host_find_bin_links(struct host *h, struct arena *arena)
{
	const char *bin = arena_printf(arena, "%s/.local/bin", h->home);
	int r = 0;

	if (!bin)
		return -ENOMEM;
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, bin, NULL);
	const struct dirent *entry;

	if (!dir)
		return 0;
	/* Its real path: a ".." of a link in it counts from there. */
	r = host_path_of(dirfd(dir), arena, &bin);
	for (int i = 0; r == 0 && i < HOST_BIN_MAX && (entry = dir_next(dir, NULL)); i++) {
		char text[4096];

		if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
			continue;
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, text, sizeof(text));
		if (n <= 0 || (size_t)n >= sizeof(text))
			continue;
		text[n] = '\0';
		r = host_follow_bin_link(h, bin, entry->d_name, text, arena);
	}
	return r == -ENOMEM ? r : 0;
}

int host_find_tools(struct host *h, const struct host_home_names *names, struct arena *arena)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(host_managers); i++)
		r = host_find_manager(h, &host_managers[i], names, arena);
	const char *active = host_env(h->environ, "VIRTUAL_ENV");

	if (r == 0 && active && active[0] == '/')
		r = host_try_python(h, host_rehome(h, active, arena), "VIRTUAL_ENV", arena);
	if (r == 0)
		r = host_find_path(h, arena);
	return r < 0 ? r : host_find_bin_links(h, arena);
}
