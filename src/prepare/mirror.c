/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror_parts.h"

#include "http_path.h"
#include "secrets.h"
#include "shape.h"
#include "str.h"

/* Adds a new, zeroed item at the end of a list in the arena; NULL: no memory. */
static void *mirror_grow(struct mirror *m, void **items, size_t *count, size_t size)
{
	uint8_t *more = arena_alloc(m->arena, (*count + 1) * size);

	if (!more) {
		m->no_memory = true;
		return NULL;
	}
	if (*count > 0)
		memcpy(more, *items, *count * size);
	memset(more + *count * size, 0, size);
	*items = more;
	return more + (*count)++ * size;
}

#define MIRROR_LIST(list) (void **)(void *)&(list).items, &(list).count, sizeof(*(list).items)

void mirror_note(struct mirror *m, const char *what, const char *why, const char *origin)
{
	/* We may read a file several times, for several words. */
	for (size_t i = 0; i < m->policy->notes.count; i++) {
		const struct plan_note *n = &m->policy->notes.items[i];

		if (str_equal(n->what, what) && str_equal(n->why, why) &&
		    str_equal(n->origin, origin))
			return;
	}
	struct plan_note *note = mirror_grow(m, MIRROR_LIST(m->policy->notes));

	if (note)
		*note = (struct plan_note){
			.kind = PLAN_NOTE_NOT_GIVEN, .what = what, .why = why, .origin = origin};
}

const char mirror_in_address[] = "it is in the address, where a placeholder cannot be";

void mirror_note_login(struct mirror *m, const struct mirror_url *url, const char *why,
		       const char *origin)
{
	mirror_note(m, mirror_printf(m, "the login of the mirror %s", url->at.name.text), why,
		    origin);
}

void mirror_set(struct mirror *m, const char *variable, const char *value, const char *origin)
{
	struct policy_env_set *set = mirror_grow(m, MIRROR_LIST(m->policy->env_set));

	if (set)
		*set = (struct policy_env_set){variable, value, origin};
}

void mirror_file(struct mirror *m, const char *path, const char *text)
{
	struct policy_secret_file *file = mirror_grow(m, MIRROR_LIST(m->policy->made_up));

	if (file)
		*file = (struct policy_secret_file){path, text};
}

/* --- rules ---------------------------------------------------------------------------- */

/* Whether the policy uses the bundle; sets m->use_origin to who asked for it. */
static bool mirror_is_used(struct mirror *m)
{
	for (size_t i = 0; i < m->policy->network.count; i++) {
		const struct plan_rule *rule = &m->policy->network.items[i];

		if (!rule->ceiling && rule->action == PLAN_ACTION_ALLOW &&
		    str_equal(rule->bundle, m->bundle)) {
			m->use_origin = rule->origin;
			return true;
		}
	}
	return false;
}

static bool mirror_is_own(const struct mirror *m, const struct plan_rule *rule)
{
	return !rule->ceiling && str_equal(rule->bundle, m->bundle);
}

/* Puts a rule after the bundle's own rules; `instead`: the first time it removes those. */
static void mirror_put_rule(struct mirror *m, const struct plan_rule *rule, bool instead)
{
	size_t count = m->policy->network.count, kept = 0, last = 0;
	struct plan_rule *rules = arena_alloc(m->arena, (count + 1) * sizeof(*rules));

	if (!rules) {
		m->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (mirror_is_own(m, &m->policy->network.items[i]))
			last = i;
	for (size_t i = 0; i < count; i++) {
		const struct plan_rule *r = &m->policy->network.items[i];

		if (!mirror_is_own(m, r) || !instead || m->replaced)
			rules[kept++] = *r;
		if (i == last)
			rules[kept++] = *rule;
	}
	m->replaced = m->replaced || instead;
	m->policy->network.items = rules;
	m->policy->network.count = kept;
}

static bool mirror_has_rule(const struct mirror *m, const struct mirror_url *url)
{
	for (size_t i = 0; i < m->policy->network.count; i++) {
		const struct plan_rule *r = &m->policy->network.items[i];

		if (!r->ceiling && str_equal(r->bundle, m->bundle) &&
		    str_equal(r->host, url->at.name.text) && r->ports.items[0].from == url->at.port)
			return true;
	}
	return false;
}

/* Adds what npm asks about known flaws, below the mirror's own path. */
static void mirror_audit(struct mirror *m, struct plan_rule rule, const struct mirror_url *url)
{
	static const char *const asked[] = {"advisories/bulk", "audits", "audits/quick"};
	static struct plan_string post[] = {{"POST"}};
	struct plan_string *paths = arena_alloc(m->arena, 3 * sizeof(*paths));
	size_t len = strlen(url->path);

	while (len > 0 && url->path[len - 1] == '/')
		len--;
	for (size_t i = 0; paths && i < 3; i++) {
		paths[i].text = mirror_printf(m, "%.*s/-/npm/v1/security/%s", (int)len, url->path,
					      asked[i]);
		if (strchr(paths[i].text, '*') || http_glob_check(span_of_str(paths[i].text)))
			return;
	}
	m->no_memory = m->no_memory || !paths;
	rule.methods.items = post;
	rule.paths.items = paths;
	rule.paths.count = paths ? 3 : 0;
	if (paths)
		mirror_put_rule(m, &rule, false);
}

void mirror_allow(struct mirror *m, const struct mirror_url *url, const char *origin, bool instead)
{
	static struct plan_string get[] = {{"GET"}};
	struct plan_ports *port = arena_alloc(m->arena, sizeof(*port));
	const char *host = arena_str(m->arena, url->at.name.text);

	if (!port || !host) {
		m->no_memory = true;
		return;
	}
	*port = (struct plan_ports){url->at.port, url->at.port};
	struct plan_rule rule = {
		.action = PLAN_ACTION_ALLOW,
		.host = host,
		.ports = {port, 1},
		.ports_named = true,
		.scheme = url->plain ? PLAN_SCHEME_HTTP : PLAN_SCHEME_TLS,
		.private = true, /* mirrors are mostly on the user's own network */
		.methods = {get, 1},
		.key = "",
		.bundle = m->bundle,
		/* Who asked comes first: rules from options are for one session (amend.c). */
		.origin = mirror_printf(m, "%s, by your %s", m->use_origin, origin),
	};

	if (!instead && mirror_has_rule(m, url))
		return;
	mirror_put_rule(m, &rule, instead);
	if (str_equal(m->bundle, "npm"))
		mirror_audit(m, rule, url);
}

/* --- logins --------------------------------------------------------------------------- */

/* The path without the slashes at its end. */
static size_t mirror_trim(const char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/')
		len--;
	return len;
}

static void mirror_add_glob(struct mirror *m, struct mirror_folders *f, const char *glob)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_equal(f->globs[i].text, glob))
			return;
	if (http_glob_check(span_of_str(glob)) || f->count == MIRROR_FOLDERS_MAX)
		f->unreadable = true;
	else
		f->globs[f->count++].text = glob;
	m->no_memory = m->no_memory || !*glob;
}

/*
 * GitLab lists the packages of a group, or of all, below one path, and has the archives below the
 * path of each project:
 *	/api/v4/packages/npm/		/api/v4/projects/42/packages/npm/
 */
static void mirror_add_gitlab(struct mirror *m, struct mirror_folders *f, const char *path,
			      size_t len)
{
	static const char api[] = "/api/v4/", end[] = "/packages/npm";
	const char *at = strstr(path, api);

	if (at && len > sizeof(end) && memchr(path, '*', len) == NULL &&
	    memcmp(path + len - (sizeof(end) - 1), end, sizeof(end) - 1) == 0)
		mirror_add_glob(m, f,
				mirror_printf(m, "%.*s%sprojects/*%s/**", (int)(at - path), path,
					      api, end));
}

void mirror_beneath(struct mirror *m, struct mirror_folders *f, const char *path)
{
	_cleanup_buf_ struct buf glob = BUF_INIT(HTTP_GLOB_MAX);
	size_t len = mirror_trim(path);

	f->all = f->all || len == 0;
	for (size_t i = 0; i < len; i++) {
		if (path[i] == '*')
			buf_put_str(&glob, "%2A");
		else
			buf_put_char(&glob, path[i]);
	}
	buf_put_str(&glob, "/**");
	if (buf_error(&glob)) {
		f->unreadable = true;
		return;
	}
	mirror_add_glob(m, f, mirror_printf(m, "%s", buf_str(&glob)));
	if (str_equal(m->bundle, "npm"))
		mirror_add_gitlab(m, f, path, len);
}

struct mirror_folders mirror_folders_of(struct mirror *m, const struct mirror_url *url)
{
	/* Packages lie beside the index, in folders that are not known. */
	static const struct {
		const char *bundle, *index;
	} indexes[] = {{"pypi", "/simple"}, {"pypi", "/+simple"}, {"crates", "/index"}};
	struct mirror_folders f = {.count = 0};
	size_t len = mirror_trim(url->path);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(indexes); i++) {
		size_t own = strlen(indexes[i].index);

		if (str_equal(m->bundle, indexes[i].bundle) && len >= own &&
		    memcmp(url->path + len - own, indexes[i].index, own) == 0) {
			len -= own;
			break;
		}
	}
	mirror_beneath(m, &f, mirror_printf(m, "%.*s/", (int)len, url->path));
	return f;
}

struct policy_secret *mirror_secret(struct mirror *m, const struct mirror_url *url,
				    const struct mirror_folders *folders, const char *value,
				    bool basic, const char *origin)
{
	static struct plan_string unknown[] = {{SHAPE_UNKNOWN}};
	unsigned int kind = basic ? PLAN_SECRET_BASIC : PLAN_SECRET_PLAIN;
	const char *name =
		mirror_printf(m, "%s-mirror%s", m->bundle,
			      m->secrets ? mirror_printf(m, "-%zu", m->secrets + 1) : "");
	const char *wrong = secrets_check_value(kind, span_of_str(value));

	if (!wrong && m->policy->secrets_bounded)
		wrong = "the administrator's ceiling says which secrets there may be";
	if (!wrong && m->policy->secrets.count >= PLAN_SECRETS_MAX)
		wrong = "there are too many secrets";
	if (!wrong && !folders->all && folders->unreadable)
		wrong = "its path can be read in two ways";
	if (wrong) {
		mirror_note_login(m, url, wrong, origin);
		return NULL;
	}
	struct plan_binding *binding = arena_alloc(m->arena, sizeof(*binding));
	struct plan_ports *port = arena_alloc(m->arena, sizeof(*port));
	size_t count = folders->all ? 0 : folders->count;
	struct plan_string *paths = arena_alloc(m->arena, (count + 1) * sizeof(*paths));
	struct mirror_value *kept = mirror_grow(m, MIRROR_LIST(m->made->values));
	struct policy_secret *s = mirror_grow(m, MIRROR_LIST(m->policy->secrets));

	if (!binding || !port || !paths || !kept || !s) {
		m->no_memory = true;
		return NULL;
	}
	m->secrets++;
	*port = (struct plan_ports){url->at.port, url->at.port};
	*binding = (struct plan_binding){
		.host = mirror_printf(m, "%s", url->at.name.text),
		.ports = {port, 1},
		.scheme = url->plain ? PLAN_SCHEME_HTTP : PLAN_SCHEME_TLS,
		.paths = {paths, count},
	};
	memcpy(paths, folders->globs, count * sizeof(*paths));
	*kept = (struct mirror_value){name, value};
	*s = (struct policy_secret){
		.name = name,
		.kind = kind,
		.bindings = {binding, 1},
		.in_authorization = true,
		.shapes = {unknown, 1},
		.from = POLICY_FROM_SETTINGS,
		.from_text = origin,
		.origin = origin,
	};
	return s;
}

void mirror_variable(struct mirror *m, struct policy_secret *s, const char *variable)
{
	struct plan_string *v = mirror_grow(m, MIRROR_LIST(s->variables));

	if (v)
		v->text = variable;
}

void mirror_text(struct mirror *m, struct policy_secret *s, const char *variable, const char *text)
{
	struct policy_secret_text *t = mirror_grow(m, MIRROR_LIST(s->texts));

	if (t)
		*t = (struct policy_secret_text){variable, text};
}

void mirror_secret_file(struct mirror *m, struct policy_secret *s, const char *path,
			const char *text)
{
	struct policy_secret_file *file = mirror_grow(m, MIRROR_LIST(s->files));

	if (file)
		*file = (struct policy_secret_file){path, text};
}

/* --- all of them ---------------------------------------------------------------------- */

int mirrors_apply(struct policy *policy, const struct host *host, struct arena *arena,
		  struct mirrors *ret, struct error *e)
{
	static const struct {
		const char *bundle;
		void (*read)(struct mirror *m);
	} all[] = {
		{"npm", mirror_npm},       {"pypi", mirror_pypi}, {"go", mirror_go},
		{"crates", mirror_crates}, {"apt", mirror_apt},   {"maven", mirror_maven},
	};

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++) {
		struct mirror m = {.policy = policy,
				   .host = host,
				   .arena = arena,
				   .made = ret,
				   .bundle = all[i].bundle};

		if (!mirror_is_used(&m))
			continue;
		all[i].read(&m);
		if (m.no_memory)
			return error_sys(e, -ENOMEM, "cannot read your mirrors");
	}
	return 0;
}
