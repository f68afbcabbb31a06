/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of each package manager, and makes those that it gets inside. */
#include "mirror_parts.h"

#include "credential.h"
#include "encode.h"
#include "str.h"

#include <dirent.h>
#include <stdio.h>

#define MIRROR_NPMRC "/run/bawn/npmrc"
#define MIRROR_CARGO "/.cargo/config.toml" /* cargo looks in each folder above the current one */

enum { MIRROR_MADE_MAX = 64 << 10, MIRROR_URLS_MAX = 16 };

static const char mirror_not_carried[] =
	"its address cannot be carried: http:// or https://, a name, and a path without a token";

static const char mirror_no_basic[] = "it is no user and password that can be carried";

/* Whether the bundle's own rules lead there already: then it is no mirror.  (Rules for mirrors are
 * `private`, a bundle's own never are.) */
static bool mirror_is_public(const struct mirror *m, const struct mirror_url *url)
{
	const char *name = url->at.name.text;

	for (size_t i = 0; i < m->policy->network.count; i++) {
		const struct plan_rule *r = &m->policy->network.items[i];
		const char *below = str_after(r->host, "*");

		if (r->ceiling || !str_equal(r->bundle, m->bundle) || r->private)
			continue;
		if (below ? strlen(name) > strlen(below) && str_ends_with(name, below)
			  : str_equal(name, r->host))
			return true;
	}
	return false;
}

/* The user's variable; NULL: it is not set, or empty. */
static const char *mirror_env(struct mirror *m, const char *name)
{
	const char *value = host_env(m->host->environ, name);

	return value && *value ? value : NULL;
}

/* A file below the user's folder of configurations. */
static const char *mirror_config(struct mirror *m, const char *below)
{
	const char *folder = mirror_env(m, "XDG_CONFIG_HOME");

	return folder && folder[0] == '/' ? mirror_printf(m, "%s/%s", folder, below)
					  : mirror_printf(m, "~/.config/%s", below);
}

/* The name in a line [section]; NULL: it is another line. */
static const char *mirror_section(struct mirror *m, const char *line)
{
	size_t len = strlen(line);

	return len > 2 && line[0] == '[' && line[len - 1] == ']'
		       ? mirror_printf(m, "%.*s", (int)len - 2, line + 1)
		       : NULL;
}

/* The value of key in one of the sections of a file; NULL: none.  go_on: lines that are further to
 * the right than the key above them belong to its value. */
static const char *mirror_find_lines(struct mirror *m, const char *text,
				     const char *const *sections, const char *key, bool go_on)
{
	const char *found = NULL, *section = "";
	size_t right = SIZE_MAX; /* the column of the key above; SIZE_MAX: there is none */
	bool here = false;       /* the key above is the one we look for */

	while (text) {
		const char *k = NULL, *v = NULL;
		size_t at = strspn(text, " \t");
		const char *line = mirror_line(m, &text);

		if (!line)
			break;
		if (!*line || *line == '#' || *line == ';')
			continue;
		if (go_on && right != SIZE_MAX && at > right) {
			if (here)
				found = mirror_printf(m, "%s %s", found, line);
			continue;
		}
		const char *begins = mirror_section(m, line);

		right = begins ? SIZE_MAX : at;
		here = false;
		if (begins) {
			section = begins;
			continue;
		}
		bool mine = false;

		for (size_t i = 0; sections[i]; i++)
			mine = mine || str_equal(sections[i], section);
		if (mine && mirror_pair(m, line, &k, &v) && str_equal(k, key)) {
			found = v;
			here = true;
		}
	}
	return found;
}

static const char *mirror_find(struct mirror *m, const char *text, const char *const *sections,
			       const char *key)
{
	return mirror_find_lines(m, text, sections, key, false);
}

/* --- npm -------------------------------------------------------------------------------- */

struct mirror_npmrc {
	const char *text, *path;
	const char *origin;
	struct mirror_url urls[MIRROR_URLS_MAX]; /* registries that are mirrors; the first may be
						    * the one for all */
	size_t count;
	bool whole; /* urls[0] is the one for all packages */
	struct buf made;
};

static void mirror_npm_add(struct mirror *m, struct mirror_npmrc *n, const char *key,
			   const char *value, const char *origin)
{
	struct mirror_url url;

	if (n->count == MIRROR_URLS_MAX)
		return;
	if (!mirror_url_parse(m, mirror_expand(m, value), &url)) {
		mirror_note(m, mirror_printf(m, "the registry of %.64s", key), mirror_not_carried,
			    origin);
		return;
	}
	if (mirror_is_public(m, &url))
		return;
	if (url.user)
		mirror_note_login(m, &url, mirror_in_address, origin);
	bool all = str_equal(key, "registry");

	mirror_allow(m, &url, origin, all);
	if (all) {
		mirror_set(m, "npm_config_registry", url.clean, origin);
		mirror_set(m, "YARN_NPM_REGISTRY_SERVER", url.clean, origin);
		n->whole = true;
	}
	buf_putf(&n->made, "%s=%s\n", key, url.clean);
	n->urls[n->count++] = url;
}

/* One "//host/path/" of the file: whose login npm sends beneath that path. */
struct mirror_npm_place {
	const char *text;
	const struct mirror_url *url; /* the first registry beneath it, or else at its host */
	bool covers;                  /* there is one beneath it */
	struct mirror_folders folders;
};

/*
 * Finds which registry "//host/path/" means; false: none of ours.  Where registries lie beneath
 * that path the login is for those, else for the path itself: a forge may have archives beside
 * its registry.
 */
static bool mirror_npm_find(struct mirror *m, const struct mirror_npmrc *n,
			    struct mirror_npm_place *p)
{
	const char *host = p->text + strlen("//");
	size_t len = strcspn(host, "/"), deep = strlen(host);

	while (deep > len && host[deep - 1] == '/')
		deep--;
	for (size_t i = 0; i < n->count; i++) {
		const struct mirror_url *url = &n->urls[i];

		if (len == 0 || strncmp(url->after, host, len) != 0 ||
		    (url->after[len] && url->after[len] != '/'))
			continue;
		bool beneath = strncmp(url->after, host, deep) == 0 &&
			       (!url->after[deep] || url->after[deep] == '/');

		if (beneath)
			mirror_beneath(m, &p->folders, url->path);
		if (!p->url || (beneath && !p->covers))
			p->url = url;
		p->covers = p->covers || beneath;
	}
	if (p->url && !p->covers)
		mirror_beneath(m, &p->folders, host + len);
	return p->url != NULL;
}

static void mirror_npm_login(struct mirror *m, struct mirror_npmrc *n,
			     const struct mirror_npm_place *place, const char *user,
			     const char *value)
{
	const struct mirror_url *url = place->url;

	if (user && credential_in_value(user)) {
		mirror_note_login(m, url, "its user looks like a credential", n->origin);
		return;
	}
	struct policy_secret *s =
		mirror_secret(m, url, &place->folders, value, user != NULL, n->origin);
	const char *variable = mirror_printf(m, "BAWN_NPM_LOGIN_%zu", m->secrets);

	if (!s)
		return;
	if (user) {
		mirror_text(m, s, variable, mirror_printf(m, "{basic:%s}", user));
		buf_putf(&n->made, "%s:_auth=${%s}\n", place->text, variable);
		return;
	}
	mirror_variable(m, s, variable);
	if (n->whole && place->covers && url == &n->urls[0])
		mirror_variable(m, s, "YARN_NPM_AUTH_TOKEN");
	buf_putf(&n->made, "%s:_authToken=${%s}\n", place->text, variable);
}

/* The text behind base64, in the arena; NULL: it is no text. */
static const char *mirror_base64(struct mirror *m, const char *text)
{
	size_t len = strlen(text) + 1;
	char *bytes = arena_alloc(m->arena, len);
	ssize_t n = bytes ? decode_base64(span_of_str(text), (uint8_t *)bytes, len - 1) : -ENOMEM;

	m->no_memory = m->no_memory || !bytes;
	if (n < 0 || memchr(bytes, '\0', (size_t)n))
		return NULL;
	bytes[n] = '\0';
	return bytes;
}

/* Decodes user:password in base64; both are in the arena.  False: it is none. */
static bool mirror_basic(struct mirror *m, const char *text, const char **ret_user,
			 const char **ret_password)
{
	const char *said = mirror_base64(m, text);
	const char *colon = said ? strchr(said, ':') : NULL;

	if (!colon || strchr(said, '}'))
		return false;
	*ret_user = mirror_printf(m, "%.*s", (int)(colon - said), said);
	*ret_password = colon + 1;
	return true;
}

static const char *mirror_npm_value(struct mirror *m, const struct mirror_npmrc *n, const char *key)
{
	static const char *const top[] = {"", NULL};
	const char *value = n->text ? mirror_find(m, n->text, top, key) : NULL;

	return value ? mirror_expand(m, value) : NULL;
}

static void mirror_npm_logins(struct mirror *m, struct mirror_npmrc *n)
{
	const char *at = n->text;

	for (const char *line; (line = mirror_line(m, &at));) {
		const char *key = NULL, *value = NULL, *user = NULL, *password = NULL;

		if (!mirror_pair(m, line, &key, &value) || !str_after(key, "//"))
			continue;
		const char *colon = strrchr(key, ':');
		struct mirror_npm_place place = {
			.text = colon ? mirror_printf(m, "%.*s", (int)(colon - key), key) : "//"};

		if (!str_after(place.text, "//") || !mirror_npm_find(m, n, &place))
			continue;
		value = mirror_expand(m, value);
		if (str_equal(colon, ":_authToken")) {
			mirror_npm_login(m, n, &place, NULL, value);
		} else if (str_equal(colon, ":_auth")) {
			if (!mirror_basic(m, value, &user, &password))
				mirror_note_login(m, place.url, mirror_no_basic, n->origin);
			else
				mirror_npm_login(m, n, &place, user, password);
		} else if (str_equal(colon, ":_password")) {
			password = mirror_base64(m, value);
			user = mirror_npm_value(m, n, mirror_printf(m, "%s:username", place.text));
			if (!user || strchr(user, '}') || !password)
				mirror_note_login(m, place.url, mirror_no_basic, n->origin);
			else
				mirror_npm_login(m, n, &place, user, password);
		}
	}
}

void mirror_npm(struct mirror *m)
{
	const char *own = mirror_env(m, "npm_config_userconfig");
	const char *variable = mirror_env(m, "npm_config_registry") ? "npm_config_registry"
								    : "NPM_CONFIG_REGISTRY";
	const char *said = mirror_env(m, variable);
	struct mirror_npmrc n = {.path = own && own[0] == '/' ? own : "~/.npmrc",
				 .made = BUF_INIT(MIRROR_MADE_MAX)};

	n.text = mirror_read(m, n.path);
	n.origin = n.path;
	const char *registry = said ? said : mirror_npm_value(m, &n, "registry");

	if (registry)
		mirror_npm_add(m, &n, "registry", registry, said ? variable : n.origin);
	const char *at = n.text;

	for (const char *line; (line = mirror_line(m, &at));) {
		const char *key = NULL, *value = NULL;

		if (line[0] == '@' && mirror_pair(m, line, &key, &value) &&
		    str_ends_with(key, ":registry"))
			mirror_npm_add(m, &n, key, value, n.origin);
	}
	if (n.count > 0) {
		mirror_npm_logins(m, &n);
		mirror_file(m, MIRROR_NPMRC, mirror_printf(m, "%s", buf_str(&n.made)));
		mirror_set(m, "npm_config_globalconfig", MIRROR_NPMRC, n.origin);
	}
	buf_fini(&n.made);
}

/* --- tools that have their address in a variable ------------------------------------------- */

/* Which half of a login is secret: a token may be in the place of the user. */
enum mirror_login { MIRROR_NO_LOGIN, MIRROR_PASSWORD, MIRROR_USER, MIRROR_BOTH };

static enum mirror_login mirror_login_of(const struct mirror_url *url)
{
	if (!url->user || (!*url->user && !*url->password))
		return MIRROR_NO_LOGIN;
	/* What people write as the password when the token is the user. */
	bool nothing = !*url->password || str_equal(url->password, "x-oauth-basic") ||
		       str_equal(url->password, "x");

	if (nothing)
		return MIRROR_USER;
	return credential_in_value(url->user) ? MIRROR_BOTH : MIRROR_PASSWORD;
}

/*
 * Makes the text of variables from several addresses: each without its login, but the first that
 * has a login gets its user and a placeholder.  Words that are no address (direct, off) stay.
 */
static void mirror_list(struct mirror *m, const char *value, const char *between,
			const char *const *variables, const char *origin, bool instead)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(MIRROR_MADE_MAX);
	_cleanup_buf_ struct buf with = BUF_INIT(MIRROR_MADE_MAX);
	struct mirror_url login = {.clean = NULL};
	enum mirror_login login_kind = MIRROR_NO_LOGIN;
	bool any = false;

	for (const char *at = value; *at;) {
		size_t len = strcspn(at, between), gap = strspn(at + len, between);
		const char *word = mirror_printf(m, "%.*s", (int)len, at);
		struct mirror_url url;

		if (mirror_url_parse(m, word, &url)) {
			bool mirror = !mirror_is_public(m, &url);

			if (mirror) {
				mirror_netrc(m, &url);
				mirror_allow(m, &url, origin, instead && !any);
				any = true;
			}
			enum mirror_login kind = mirror ? mirror_login_of(&url) : MIRROR_NO_LOGIN;
			bool mine = kind != MIRROR_NO_LOGIN && kind != MIRROR_BOTH && !login.clean;

			if (mine) {
				login = url;
				login_kind = kind;
			} else if (kind != MIRROR_NO_LOGIN) {
				mirror_note_login(
					m, &url,
					kind == MIRROR_BOTH
						? "its user looks like a credential, and so does "
						  "its password"
						: "of a list one mirror can have a login",
					origin);
			}
			buf_put_str(&plain, url.clean);
			if (mine && kind == MIRROR_USER) {
				buf_putf(&with, "%s{}:", url.before);
				encode_percent(&with, span_of_str(url.password), "");
				buf_putf(&with, "@%s", url.after);
			} else if (mine) {
				buf_put_str(&with, url.before);
				encode_percent(&with, span_of_str(url.user), "");
				buf_putf(&with, ":{}@%s", url.after);
			} else {
				buf_put_str(&with, url.clean);
			}
		} else if (*word && !strpbrk(word, ":@/{}")) {
			buf_put_str(&plain, word);
			buf_put_str(&with, word);
		} else if (*word) {
			mirror_note(m, mirror_printf(m, "a mirror of %s", m->bundle),
				    mirror_not_carried, origin);
		}
		buf_put(&plain, at + len, gap);
		buf_put(&with, at + len, gap);
		at += len + gap;
	}
	struct mirror_folders folders = {.count = 0};
	bool user = login_kind == MIRROR_USER;

	if (login.clean)
		folders = mirror_folders_of(m, &login);
	struct policy_secret *s =
		login.clean ? mirror_secret(m, &login, &folders, user ? login.user : login.password,
					    !user, origin)
			    : NULL;

	for (size_t i = 0; any && variables[i]; i++) {
		if (s)
			mirror_text(m, s, variables[i], mirror_printf(m, "%s", buf_str(&with)));
		else
			mirror_set(m, variables[i], mirror_printf(m, "%s", buf_str(&plain)),
				   origin);
	}
}

/* --- pip and uv ------------------------------------------------------------------------- */

/* The url of the [[index]] of uv.toml that is the default one; NULL: there is none. */
static const char *mirror_uv_default(struct mirror *m, const char *text)
{
	const char *found = NULL, *url = NULL;
	bool index = false, chosen = false;

	for (const char *line; (line = mirror_line(m, &text));) {
		const char *k = NULL, *v = NULL;
		const char *section = mirror_section(m, line);

		if (section) {
			index = str_equal(section, "[index]");
			url = NULL;
			chosen = false;
		} else if (index && mirror_pair(m, line, &k, &v)) {
			if (str_equal(k, "url"))
				url = v;
			else if (str_equal(k, "default"))
				chosen = strcspn(v, " \t#") == 4 && str_after(v, "true");
		}
		if (url && chosen)
			found = url;
	}
	return found;
}

/* The value of the first place that has one; *ret_origin names the place. */
static const char *mirror_python(struct mirror *m, bool extra, const char **ret_origin)
{
	static const char *const variables[2][4] = {
		{"PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", NULL},
		{"PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", NULL, NULL},
	};
	static const char *const pip[] = {"global", "install", NULL}, *const uv[] = {"", "pip",
										     NULL};
	const char *key = extra ? "extra-index-url" : "index-url";
	const char *const files[] = {mirror_env(m, "PIP_CONFIG_FILE"),
				     mirror_config(m, "pip/pip.conf"), "~/.pip/pip.conf",
				     "/etc/pip.conf"};

	for (size_t i = 0; variables[extra][i]; i++) {
		*ret_origin = variables[extra][i];
		if (mirror_env(m, *ret_origin))
			return mirror_env(m, *ret_origin);
	}
	/* This is how a user tells pip to have no file. */
	bool none = files[0] && str_equal(files[0], "/dev/null");

	for (size_t i = 0; !none && i < BAWN_ARRAY_SIZE(files); i++) {
		const char *text = files[i] && (files[i][0] == '/' || files[i][0] == '~')
					   ? mirror_read(m, files[i])
					   : NULL;
		const char *found = text ? mirror_find_lines(m, text, pip, key, true) : NULL;

		*ret_origin = files[i];
		if (found)
			return found;
	}
	*ret_origin = mirror_config(m, "uv/uv.toml");
	const char *text = extra ? NULL : mirror_read(m, *ret_origin);
	const char *found = text ? mirror_find(m, text, uv, key) : NULL;

	return text && !found ? mirror_uv_default(m, text) : found;
}

void mirror_pypi(struct mirror *m)
{
	static const char *const all[] = {"PIP_INDEX_URL", "UV_DEFAULT_INDEX", NULL};
	static const char *const more[] = {"PIP_EXTRA_INDEX_URL", "UV_INDEX", NULL};
	const char *origin = NULL;
	const char *index = mirror_python(m, false, &origin);

	if (index)
		mirror_list(m, index, " \t", all, origin, true);
	const char *extra = mirror_python(m, true, &origin);

	if (extra)
		mirror_list(m, extra, " \t", more, origin, false);
}

/* --- go ----------------------------------------------------------------------------------- */

void mirror_go(struct mirror *m)
{
	static const char *const top[] = {"", NULL};
	static const char *const proxy[] = {"GOPROXY", NULL};
	static const char *const others[] = {"GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GONOPROXY"};
	const char *file = mirror_env(m, "GOENV");
	const char *path = file && file[0] == '/' ? file : mirror_config(m, "go/env");
	const char *text = mirror_read(m, path);
	const char *said = mirror_env(m, "GOPROXY");
	const char *value = said ? said : text ? mirror_find(m, text, top, "GOPROXY") : NULL;
	size_t before = m->policy->env_set.count + m->policy->secrets.count;

	if (!value)
		return;
	mirror_list(m, value, ",|", proxy, said ? "GOPROXY" : path, true);
	if (m->policy->env_set.count + m->policy->secrets.count == before)
		return;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		const char *own = mirror_env(m, others[i]);
		const char *other = own ? own : text ? mirror_find(m, text, top, others[i]) : NULL;

		if (other && !strchr(other, '@'))
			mirror_set(m, others[i], other, own ? others[i] : path);
	}
}

/* --- cargo ---------------------------------------------------------------------------------- */

static const char *mirror_cargo_file(struct mirror *m, const char *name, const char **ret_path)
{
	const char *home = mirror_env(m, "CARGO_HOME");
	const char *folder = home && home[0] == '/' ? home : "~/.cargo";
	const char *old = mirror_printf(m, "%s/%s", folder, name);

	*ret_path = mirror_printf(m, "%s.toml", old);
	const char *text = mirror_read(m, *ret_path);

	return text ? text : mirror_read(m, old);
}

/* The name of a variable: CARGO_REGISTRIES_NAME_TOKEN. */
static const char *mirror_cargo_variable(struct mirror *m, const char *name)
{
	char upper[128];
	size_t len = 0;

	for (; len < sizeof(upper) - 1 && name[len]; len++)
		upper[len] = name[len] >= 'a' && name[len] <= 'z' ? (char)(name[len] - 32)
			     : name[len] == '-'                   ? '_'
								  : name[len];
	upper[len] = '\0';
	return mirror_printf(m, "CARGO_REGISTRIES_%s_TOKEN", upper);
}

void mirror_crates(struct mirror *m)
{
	static const char *const replaced[] = {"source.crates-io", "source.\"crates-io\"", NULL};
	const char *path = NULL, *kept = NULL;
	const char *text = mirror_cargo_file(m, "config", &path);
	const char *name = text ? mirror_find(m, text, replaced, "replace-with") : NULL;
	struct mirror_url url;

	if (!name ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
		    strlen(name))
		return;
	const char *const source[] = {mirror_printf(m, "source.%s", name), NULL};
	const char *const registry[] = {mirror_printf(m, "registries.%s", name), NULL};
	const char *index = mirror_find(m, text, source, "registry");

	if (!index)
		index = mirror_find(m, text, registry, "index");
	if (!index || !mirror_url_parse(m, index, &url)) {
		mirror_note(m, mirror_printf(m, "cargo's source %s", name), mirror_not_carried,
			    path);
		return;
	}
	if (mirror_is_public(m, &url))
		return;
	if (url.user)
		mirror_note_login(m, &url, mirror_in_address, path);
	mirror_allow(m, &url, path, true);
	mirror_file(m, MIRROR_CARGO,
		    mirror_printf(m,
				  "[source.crates-io]\nreplace-with = \"%s\"\n"
				  "[source.%s]\nregistry = \"%s\"\n"
				  "[registries.%s]\nindex = \"%s\"\n"
				  "[registry]\nglobal-credential-providers = [\"cargo:token\"]\n",
				  name, name, url.clean, name, url.clean));
	const char *variable = mirror_cargo_variable(m, name);
	const char *token = mirror_env(m, variable);
	const char *credentials = mirror_cargo_file(m, "credentials", &kept);

	if (!token && credentials)
		token = mirror_find(m, credentials, registry, "token");
	if (!token)
		token = mirror_find(m, text, registry, "token");
	const struct mirror_folders folders = mirror_folders_of(m, &url);
	struct policy_secret *s =
		token ? mirror_secret(m, &url, &folders, token, false, credentials ? kept : path)
		      : NULL;

	if (s)
		mirror_variable(m, s, variable);
}

/* --- apt ------------------------------------------------------------------------------------ */

static void mirror_apt_words(struct mirror *m, const char *line, const char *origin, bool *public)
{
	while (*(line += strspn(line, " \t"))) {
		size_t len = strcspn(line, " \t");
		const char *word = mirror_printf(m, "%.*s", (int)len, line);
		struct mirror_url url;

		line += len;
		if (!mirror_url_parse(m, word, &url))
			continue;
		if (mirror_is_public(m, &url)) {
			*public = true;
			continue;
		}
		if (url.user)
			mirror_note_login(m, &url, "no login is carried for apt", origin);
		mirror_allow(m, &url, origin, false);
	}
}

static void mirror_apt_file(struct mirror *m, const char *path, bool *public)
{
	const char *text = mirror_read(m, path);

	for (const char *line; (line = mirror_line(m, &text));)
		if (str_after(line, "deb ") || str_after(line, "deb\t") || str_after(line, "URIs:"))
			mirror_apt_words(m, line, path, public);
}

/* Removes the bundle's own rules if the user has other sources.  (The caller keeps them when one of
 * the sources is among them.) */
static void mirror_apt_drop(struct mirror *m)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < m->policy->network.count; i++)
		any = any || (str_equal(m->policy->network.items[i].bundle, m->bundle) &&
			      m->policy->network.items[i].private);
	for (size_t i = 0; any && i < m->policy->network.count; i++) {
		const struct plan_rule *r = &m->policy->network.items[i];

		if (r->ceiling || !str_equal(r->bundle, m->bundle) || r->private)
			m->policy->network.items[kept++] = *r;
	}
	if (any)
		m->policy->network.count = kept;
}

void mirror_apt(struct mirror *m)
{
	static const char folder[] = "/etc/apt/sources.list.d";
	bool public = false;
	DIR *d = opendir(folder);

	mirror_apt_file(m, "/etc/apt/sources.list", &public);
	for (const struct dirent *entry; d && (entry = readdir(d));)
		if (str_ends_with(entry->d_name, ".list") ||
		    str_ends_with(entry->d_name, ".sources"))
			mirror_apt_file(m, mirror_printf(m, "%s/%s", folder, entry->d_name),
					&public);
	if (d)
		(void)closedir(d);
	if (!public)
		mirror_apt_drop(m);
}
