/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "http_field.h"
#include "http_path.h"
#include "name.h"
#include "str.h"

const char *const plan_layer_words[PLAN_LAYER_COUNT] = {
	[PLAN_LAYER_USER_NS] = "user-namespace",
	[PLAN_LAYER_MOUNT_NS] = "mount-namespace",
	[PLAN_LAYER_PID_NS] = "pid-namespace",
	[PLAN_LAYER_NET_NS] = "net-namespace",
	[PLAN_LAYER_IPC_NS] = "ipc-namespace",
	[PLAN_LAYER_UTS_NS] = "uts-namespace",
	[PLAN_LAYER_CGROUP_NS] = "cgroup-namespace",
	[PLAN_LAYER_LANDLOCK] = "landlock",
	[PLAN_LAYER_SECCOMP] = "seccomp",
	[PLAN_LAYER_CAPS] = "capabilities",
	[PLAN_LAYER_NO_NEW_PRIVS] = "no-new-privs",
	[PLAN_LAYER_NESTED_OFF] = "nested-off",
	[PLAN_LAYER_FDS] = "descriptors",
	[PLAN_LAYER_TTY] = "terminal",
	[PLAN_LAYER_ENV] = "environment",
	[PLAN_LAYER_HIDE_INIT] = "hide-init",
	[PLAN_LAYER_LIMITS] = "limits",
	[PLAN_LAYER_RECORD] = "record",
};

const char *const plan_limit_words[PLAN_LIMIT_COUNT] = {
	[PLAN_LIMIT_PROCESSES] = "processes",     [PLAN_LIMIT_OPEN_FILES] = "open-files",
	[PLAN_LIMIT_FILE_SIZE] = "file-size",     [PLAN_LIMIT_MEMORY] = "memory-per-process",
	[PLAN_LIMIT_CPU_TIME] = "cpu-time",       [PLAN_LIMIT_WALL_TIME] = "wall-time",
	[PLAN_LIMIT_IDLE_TIME] = "idle-time",     [PLAN_LIMIT_OUTPUT] = "output",
	[PLAN_LIMIT_NETWORK] = "network-bytes",   [PLAN_LIMIT_LAYERS] = "layers-size",
	[PLAN_LIMIT_RECORD] = "record-size",      [PLAN_LIMIT_DISK_FREE] = "disk-free",
	[PLAN_LIMIT_BOX_MEMORY] = "memory",       [PLAN_LIMIT_BOX_MEMORY_SOFT] = "memory-soft",
	[PLAN_LIMIT_BOX_CPU] = "cpu-percent",     [PLAN_LIMIT_BOX_CPU_WEIGHT] = "cpu-weight",
	[PLAN_LIMIT_BOX_IO_WEIGHT] = "io-weight",
};

const char *const plan_backend_words[2] = {"namespace", "host"};
const char *const plan_access_words[3] = {"none", "read", "write"};

static const char *const plan_mode_words[PLAN_MODE_COUNT] = {"review", "direct"};

const char *const plan_action_words[3] = {"deny", "ask", "allow"};
const char *const plan_scheme_words[PLAN_SCHEME_COUNT] = {"by-port", "tls", "http", "tcp"};

static const char *const plan_trust_words[PLAN_TRUST_COUNT] = {"bundle", "java", "chromium"};

const char *const plan_terminal_words[PLAN_TERMINAL_COUNT] = {"clipboard", "title", "notices",
							      "colours", "images"};

static const char *const plan_reads_words[PLAN_READS_COUNT] = {"all", "outside", "none"};

const char *const plan_secret_words[PLAN_SECRET_KIND_COUNT] = {"plain", "basic", "aws"};

static const char *const plan_proxy_words[PLAN_PROXY_KIND_COUNT] = {"connect", "socks5"};

static const char *const plan_mount_words[] = {"bind", "tmpfs", "proc", "dev",   "dir",
					       "file", "link",  "hide", "trust", "socket"};
static const char *const plan_note_words[] = {"not-given", "warning", "hidden", "published"};

static const struct schema_field plan_string_fields[] = {
	SCHEMA_FIELD_STR(struct plan_string, text),
};
static const struct schema plan_string_schema = SCHEMA_OF(struct plan_string, plan_string_fields);

static const struct schema_field plan_mount_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_mount, kind, plan_mount_words),
	SCHEMA_FIELD_ENUM(struct plan_mount, access, plan_access_words),
	SCHEMA_FIELD_STR(struct plan_mount, target),
	SCHEMA_FIELD_STR(struct plan_mount, source),
	SCHEMA_FIELD_U64(struct plan_mount, dev),
	SCHEMA_FIELD_U64(struct plan_mount, ino),
	SCHEMA_FIELD_U64(struct plan_mount, size),
	SCHEMA_FIELD_BYTES(struct plan_mount, data),
	SCHEMA_FIELD_LIST(struct plan_mount, layers, &plan_string_schema),
	SCHEMA_FIELD_STR(struct plan_mount, upper),
	SCHEMA_FIELD_STR(struct plan_mount, role),
	SCHEMA_FIELD_STR(struct plan_mount, origin),
};
static const struct schema plan_mount_schema = SCHEMA_OF(struct plan_mount, plan_mount_fields);

static const struct schema_field plan_env_fields[] = {
	SCHEMA_FIELD_STR(struct plan_env, name),
	SCHEMA_FIELD_STR(struct plan_env, value),
	SCHEMA_FIELD_STR(struct plan_env, origin),
};
static const struct schema plan_env_schema = SCHEMA_OF(struct plan_env, plan_env_fields);

static const struct schema_field plan_limit_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_limit, kind, plan_limit_words),
	SCHEMA_FIELD_U64(struct plan_limit, value),
	SCHEMA_FIELD_STR(struct plan_limit, origin),
};
static const struct schema plan_limit_schema = SCHEMA_OF(struct plan_limit, plan_limit_fields);

static const struct schema_field plan_without_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_without, layer, plan_layer_words),
	SCHEMA_FIELD_STR(struct plan_without, origin),
};
static const struct schema plan_without_schema =
	SCHEMA_OF(struct plan_without, plan_without_fields);

static const struct schema_field plan_ports_fields[] = {
	SCHEMA_FIELD_U64(struct plan_ports, from),
	SCHEMA_FIELD_U64(struct plan_ports, to),
};
static const struct schema plan_ports_schema = SCHEMA_OF(struct plan_ports, plan_ports_fields);

static const struct schema_field plan_rule_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_rule, action, plan_action_words),
	SCHEMA_FIELD_STR(struct plan_rule, host),
	SCHEMA_FIELD_BYTES(struct plan_rule, address),
	SCHEMA_FIELD_LIST(struct plan_rule, ports, &plan_ports_schema),
	SCHEMA_FIELD_BOOL(struct plan_rule, ports_named),
	SCHEMA_FIELD_ENUM(struct plan_rule, scheme, plan_scheme_words),
	SCHEMA_FIELD_BOOL(struct plan_rule, private),
	SCHEMA_FIELD_LIST(struct plan_rule, methods, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan_rule, paths, &plan_string_schema),
	SCHEMA_FIELD_BOOL(struct plan_rule, passthrough),
	SCHEMA_FIELD_BOOL(struct plan_rule, websocket),
	SCHEMA_FIELD_BOOL(struct plan_rule, credentials),
	SCHEMA_FIELD_BOOL(struct plan_rule, mask),
	SCHEMA_FIELD_BOOL(struct plan_rule, sign),
	SCHEMA_FIELD_BOOL(struct plan_rule, unbound),
	SCHEMA_FIELD_STR(struct plan_rule, key),
	SCHEMA_FIELD_BOOL(struct plan_rule, ceiling),
	SCHEMA_FIELD_STR(struct plan_rule, bundle),
	SCHEMA_FIELD_STR(struct plan_rule, origin),
};
const struct schema plan_rule_schema = SCHEMA_OF(struct plan_rule, plan_rule_fields);

static const struct schema_field plan_secret_part_fields[] = {
	SCHEMA_FIELD_STR(struct plan_secret_part, placeholder),
	SCHEMA_FIELD_LIST(struct plan_secret_part, variables, &plan_string_schema),
};
static const struct schema plan_secret_part_schema =
	SCHEMA_OF(struct plan_secret_part, plan_secret_part_fields);

static const struct schema_field plan_binding_fields[] = {
	SCHEMA_FIELD_STR(struct plan_binding, host),
	SCHEMA_FIELD_LIST(struct plan_binding, ports, &plan_ports_schema),
	SCHEMA_FIELD_ENUM(struct plan_binding, scheme, plan_scheme_words),
	SCHEMA_FIELD_LIST(struct plan_binding, methods, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan_binding, paths, &plan_string_schema),
};
static const struct schema plan_binding_schema =
	SCHEMA_OF(struct plan_binding, plan_binding_fields);

static const struct schema_field plan_secret_fields[] = {
	SCHEMA_FIELD_STR(struct plan_secret, name),
	SCHEMA_FIELD_ENUM(struct plan_secret, kind, plan_secret_words),
	SCHEMA_FIELD_LIST(struct plan_secret, parts, &plan_secret_part_schema),
	SCHEMA_FIELD_LIST(struct plan_secret, bindings, &plan_binding_schema),
	SCHEMA_FIELD_BOOL(struct plan_secret, in_authorization),
	SCHEMA_FIELD_LIST(struct plan_secret, headers, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan_secret, parameters, &plan_string_schema),
	SCHEMA_FIELD_BOOL(struct plan_secret, in_query),
	SCHEMA_FIELD_BOOL(struct plan_secret, in_body),
	SCHEMA_FIELD_BOOL(struct plan_secret, in_websocket),
	SCHEMA_FIELD_LIST(struct plan_secret, files, &plan_string_schema),
	SCHEMA_FIELD_STR(struct plan_secret, source),
	SCHEMA_FIELD_STR(struct plan_secret, origin),
};
static const struct schema plan_secret_schema = SCHEMA_OF(struct plan_secret, plan_secret_fields);

static const struct schema_field plan_ssh_key_fields[] = {
	SCHEMA_FIELD_STR(struct plan_ssh_key, host),
	SCHEMA_FIELD_U64(struct plan_ssh_key, port),
	SCHEMA_FIELD_BYTES(struct plan_ssh_key, key),
	SCHEMA_FIELD_BOOL(struct plan_ssh_key, unbound),
	SCHEMA_FIELD_STR(struct plan_ssh_key, login_key),
	SCHEMA_FIELD_STR(struct plan_ssh_key, origin),
};
static const struct schema plan_ssh_key_schema =
	SCHEMA_OF(struct plan_ssh_key, plan_ssh_key_fields);

static const struct schema_field plan_proxy_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_proxy, kind, plan_proxy_words),
	SCHEMA_FIELD_STR(struct plan_proxy, host),
	SCHEMA_FIELD_BYTES(struct plan_proxy, address),
	SCHEMA_FIELD_U64(struct plan_proxy, port),
	SCHEMA_FIELD_BOOL(struct plan_proxy, login),
	SCHEMA_FIELD_BOOL(struct plan_proxy, plain),
	SCHEMA_FIELD_LIST(struct plan_proxy, direct, &plan_string_schema),
	SCHEMA_FIELD_STR(struct plan_proxy, origin),
};
static const struct schema plan_proxy_schema = SCHEMA_OF(struct plan_proxy, plan_proxy_fields);

static const struct schema_field plan_terminal_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_terminal_allowed, what, plan_terminal_words),
	SCHEMA_FIELD_STR(struct plan_terminal_allowed, origin),
};
static const struct schema plan_terminal_schema =
	SCHEMA_OF(struct plan_terminal_allowed, plan_terminal_fields);

static const struct schema_field plan_note_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan_note, kind, plan_note_words),
	SCHEMA_FIELD_STR(struct plan_note, what),
	SCHEMA_FIELD_STR(struct plan_note, why),
	SCHEMA_FIELD_STR(struct plan_note, origin),
};
static const struct schema plan_note_schema = SCHEMA_OF(struct plan_note, plan_note_fields);

static const struct schema_field plan_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan, backend, plan_backend_words),
	SCHEMA_FIELD_STR(struct plan, backend_origin),
	SCHEMA_FIELD_STR(struct plan, preset),
	SCHEMA_FIELD_STR(struct plan, workspace),
	SCHEMA_FIELD_ENUM(struct plan, workspace_access, plan_access_words),
	SCHEMA_FIELD_STR(struct plan, workspace_origin),
	SCHEMA_FIELD_ENUM(struct plan, workspace_mode, plan_mode_words),
	SCHEMA_FIELD_STR(struct plan, workspace_mode_origin),
	SCHEMA_FIELD_BOOL(struct plan, trusted),
	SCHEMA_FIELD_STR(struct plan, home),
	SCHEMA_FIELD_STR(struct plan, home_store),
	SCHEMA_FIELD_STR(struct plan, cwd),
	SCHEMA_FIELD_LIST(struct plan, argv, &plan_string_schema),
	SCHEMA_FIELD_U64(struct plan, uid),
	SCHEMA_FIELD_U64(struct plan, gid),
	SCHEMA_FIELD_U64(struct plan, host_uid),
	SCHEMA_FIELD_U64(struct plan, host_gid),
	SCHEMA_FIELD_STR(struct plan, user),
	SCHEMA_FIELD_STR(struct plan, hostname),
	SCHEMA_FIELD_STR(struct plan, stands_on),
	SCHEMA_FIELD_BOOL(struct plan, system_keep),
	SCHEMA_FIELD_LIST(struct plan, root, &plan_mount_schema),
	SCHEMA_FIELD_BOOL(struct plan, debug),
	SCHEMA_FIELD_STR(struct plan, debug_origin),
	SCHEMA_FIELD_LIST(struct plan, mounts, &plan_mount_schema),
	SCHEMA_FIELD_LIST(struct plan, env, &plan_env_schema),
	SCHEMA_FIELD_LIST(struct plan, limits, &plan_limit_schema),
	SCHEMA_FIELD_LIST(struct plan, without, &plan_without_schema),
	SCHEMA_FIELD_LIST(struct plan, ablate, &plan_without_schema),
	SCHEMA_FIELD_LIST(struct plan, network, &plan_rule_schema),
	SCHEMA_FIELD_LIST(struct plan, proxies, &plan_proxy_schema),
	SCHEMA_FIELD_LIST(struct plan, authorities, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, secrets, &plan_secret_schema),
	SCHEMA_FIELD_LIST(struct plan, ssh_keys, &plan_ssh_key_schema),
	SCHEMA_FIELD_STR(struct plan, ssh_agent),
	SCHEMA_FIELD_STR(struct plan, git_name),
	SCHEMA_FIELD_STR(struct plan, git_email),
	SCHEMA_FIELD_STR(struct plan, git_origin),
	SCHEMA_FIELD_ENUM(struct plan, record_reads, plan_reads_words),
	SCHEMA_FIELD_STR(struct plan, record_origin),
	SCHEMA_FIELD_LIST(struct plan, record_marks, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, direct_late, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, hold_rules, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, hold_paths, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, terminal, &plan_terminal_schema),
	SCHEMA_FIELD_LIST(struct plan, notes, &plan_note_schema),
	SCHEMA_FIELD_STR(struct plan, seccomp_profile),
	SCHEMA_FIELD_BYTES(struct plan, seccomp),
};
const struct schema plan_schema = SCHEMA_OF(struct plan, plan_fields);

static const struct schema_field plan_brief_fields[] = {
	SCHEMA_FIELD_ENUM(struct plan, backend, plan_backend_words),
	SCHEMA_FIELD_STR(struct plan, preset),
	SCHEMA_FIELD_STR(struct plan, workspace),
	SCHEMA_FIELD_STR(struct plan, home),
	SCHEMA_FIELD_LIST(struct plan, argv, &plan_string_schema),
	SCHEMA_FIELD_LIST(struct plan, limits, &plan_limit_schema),
};
const struct schema plan_brief_schema = SCHEMA_OF(struct plan, plan_brief_fields);

const struct plan plan_none;

bool plan_rule_opens(const struct plan_rule *rule)
{
	return !rule->passthrough && (rule->methods.count > 0 || rule->paths.count > 0);
}

bool plan_needs_keys(const struct plan *p)
{
	/* A box without a gate has nobody who opens TLS. */
	if (p->backend == PLAN_BACKEND_HOST || plan_goes_without(p, PLAN_LAYER_NET_NS))
		return false;
	for (size_t i = 0; i < p->network.count; i++)
		if (plan_rule_opens(&p->network.items[i]))
			return true;
	return p->secrets.count > 0 || plan_has_login(p);
}

bool plan_has_login(const struct plan *p)
{
	return p->proxies.count > 0 && p->proxies.items[0].login;
}

bool plan_mount_has_layers(const struct plan_mount *m)
{
	return m->kind == PLAN_MOUNT_BIND &&
	       (m->layers.count > 0 || (m->upper && m->upper[0] != '\0'));
}

const char *plan_mount_up(const struct plan_mount *m)
{
	return str_equal(m->role, PLAN_REPOSITORY) ? "up/.git" : "up";
}

const struct plan_mount *plan_writable_workspace(const struct plan *p)
{
	for (size_t i = 0; i < p->mounts.count; i++) {
		const struct plan_mount *m = &p->mounts.items[i];

		if (m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_WRITE &&
		    str_equal(m->role, "workspace") && str_equal(m->target, p->workspace))
			return m;
	}
	return NULL;
}

const struct plan_mount *plan_mount_of(const struct plan *p, const char *role)
{
	for (size_t i = 0; i < p->mounts.count; i++)
		if (str_equal(p->mounts.items[i].role, role))
			return &p->mounts.items[i];
	return NULL;
}

const struct plan_mount *plan_mount_above(const struct plan *p, const struct plan_mount *m)
{
	const struct plan_mount *above = NULL;

	for (const struct plan_mount *at = p->mounts.items; at < m; at++)
		if (str_path_beneath(m->target, at->target) && !str_equal(m->target, at->target) &&
		    (!above || strlen(at->target) >= strlen(above->target)))
			above = at;
	return above;
}

int plan_trust_of(const struct plan_mount *m)
{
	if (m->kind != PLAN_MOUNT_TRUST)
		return -1;
	for (int i = 0; i < PLAN_TRUST_COUNT; i++)
		if (str_equal(m->source, plan_trust_words[i]))
			return i;
	return -1;
}

bool plan_has_trust(const struct plan *p, enum plan_trust format)
{
	for (size_t i = 0; i < p->mounts.count; i++)
		if (plan_trust_of(&p->mounts.items[i]) == (int)format)
			return true;
	return false;
}

const struct plan_limit *plan_limit_of(const struct plan *p, unsigned int kind)
{
	for (size_t i = 0; i < p->limits.count; i++)
		if (p->limits.items[i].kind == kind)
			return &p->limits.items[i];
	return NULL;
}

bool plan_goes_without(const struct plan *p, enum plan_layer layer)
{
	for (size_t i = 0; i < p->without.count; i++)
		if (p->without.items[i].layer == layer)
			return true;
	for (size_t i = 0; i < p->ablate.count; i++)
		if (p->ablate.items[i].layer == layer)
			return true;
	return false;
}

/* Besides plain HTTP: where TLS, if any, begins only after words of another protocol. */
const struct plan_usual_port plan_usual_ports[PLAN_USUAL_PORT_COUNT] = {
	{80, PLAN_SCHEME_HTTP},  {22, PLAN_SCHEME_TCP}, /* ssh */
	{3306, PLAN_SCHEME_TCP},                        /* mysql */
	{5432, PLAN_SCHEME_TCP},                        /* postgres */
	{6379, PLAN_SCHEME_TCP},                        /* redis */
};

bool plan_is_own_machine(const char *host)
{
	return str_equal(host, PLAN_OWN_MACHINE);
}

bool plan_rule_is_looked_up(const struct plan_rule *rule)
{
	return rule->action == PLAN_ACTION_ALLOW && rule->address.len == 0 &&
	       !plan_is_own_machine(rule->host);
}

enum plan_scheme plan_scheme_of_port(uint64_t port)
{
	for (size_t i = 0; i < PLAN_USUAL_PORT_COUNT; i++)
		if (plan_usual_ports[i].port == port)
			return (enum plan_scheme)plan_usual_ports[i].scheme;
	return PLAN_SCHEME_TLS;
}

int plan_encode(const struct plan *p, struct buf *into)
{
	buf_put_str(into, PLAN_MAGIC);
	schema_encode(into, &plan_schema, p);
	return buf_error(into);
}

static int plan_check_source(const struct plan_mount *m, struct error *e)
{
	if (m->kind == PLAN_MOUNT_BIND && !str_path_is_normal(m->source))
		return error_set(e, -EBADMSG, "mount source %s is not a normal absolute path",
				 m->source);
	if (m->layers.count > PLAN_MOUNT_LAYERS_MAX)
		return error_set(e, -EBADMSG, "%s has %zu layers; at most %d are possible",
				 m->target, m->layers.count, PLAN_MOUNT_LAYERS_MAX);
	for (size_t i = 0; i < m->layers.count; i++)
		if (!str_path_is_normal(m->layers.items[i].text))
			return error_set(e, -EBADMSG, "a layer of %s is not a normal absolute path",
					 m->target);
	if (m->upper[0] != '\0' && !str_path_is_normal(m->upper))
		return error_set(e, -EBADMSG, "the layer of %s is not a normal absolute path",
				 m->target);
	return 0;
}

/* The root of a system: the box writes to its layer only. */
static int plan_check_root(const struct plan *p, struct error *e)
{
	if (p->root.count == 0)
		return 0;
	const struct plan_mount *m = &p->root.items[0];

	if (p->root.count > 1 || m->kind != PLAN_MOUNT_BIND || !str_equal(m->target, "/") ||
	    str_equal(m->source, "/") || !plan_mount_has_layers(m))
		return error_set(e, -EBADMSG, "the plan's own root is not one");
	return plan_check_source(m, e);
}

static int plan_check_mount(const struct plan_mount *m, struct error *e)
{
	if (!str_path_is_normal(m->target) || str_equal(m->target, "/"))
		return error_set(e, -EBADMSG, "mount target %s is not a normal absolute path",
				 m->target);
	int r = plan_check_source(m, e);

	if (r < 0)
		return r;
	if (m->kind == PLAN_MOUNT_LINK && m->source[0] == '\0')
		return error_set(e, -EBADMSG, "link %s leads nowhere", m->target);
	if (m->kind == PLAN_MOUNT_TRUST && plan_trust_of(m) < 0)
		return error_set(e, -EBADMSG, "%s is no format of a trust file", m->source);
	return 0;
}

/* What rules and bindings have in common; `what` and `name` say of which. */
static int plan_check_ports(const struct plan_ports *ports, size_t count, const char *what,
			    const char *name, struct error *e)
{
	if (count == 0 || count > PLAN_RULE_PORTS_MAX)
		return error_set(e, -EBADMSG, "the %s %s names %zu ports", what, name, count);
	for (size_t i = 0; i < count; i++)
		if (ports[i].from == 0 || ports[i].from > ports[i].to || ports[i].to > UINT16_MAX)
			return error_set(e, -EBADMSG, "the %s %s names an impossible port", what,
					 name);
	return 0;
}

static int plan_check_requests(const struct plan_string *methods, size_t method_count,
			       const struct plan_string *paths, size_t path_count, const char *what,
			       const char *name, struct error *e)
{
	if (method_count > PLAN_RULE_WORDS_MAX || path_count > PLAN_RULE_WORDS_MAX)
		return error_set(e, -EBADMSG, "the %s %s names too many methods or paths", what,
				 name);
	for (size_t i = 0; i < method_count; i++)
		if (!http_is_token(span_of_str(methods[i].text)))
			return error_set(e, -EBADMSG, "the %s %s names an impossible method", what,
					 name);
	for (size_t i = 0; i < path_count; i++)
		if (http_glob_check(span_of_str(paths[i].text)) != NULL)
			return error_set(e, -EBADMSG, "the %s %s names an impossible path", what,
					 name);
	return 0;
}

static int plan_check_rule(const struct plan_rule *rule, struct error *e)
{
	if (rule->host[0] == '\0' || (rule->address.len != 0 && rule->address.len != 16))
		return error_set(e, -EBADMSG, "a rule for the network names no host");
	int r = plan_check_ports(rule->ports.items, rule->ports.count, "rule for", rule->host, e);

	if (r < 0)
		return r;
	return plan_check_requests(rule->methods.items, rule->methods.count, rule->paths.items,
				   rule->paths.count, "rule for", rule->host, e);
}

static int plan_check_binding(const struct plan_secret *secret, const struct plan_binding *b,
			      struct error *e)
{
	struct name_pattern pattern;

	if (name_parse_pattern(span_of_str(b->host), &pattern) < 0 ||
	    !str_equal(pattern.text, b->host))
		return error_set(e, -EBADMSG, "the secret %s is bound to no host", secret->name);
	if (b->scheme != PLAN_SCHEME_TLS && b->scheme != PLAN_SCHEME_HTTP)
		return error_set(e, -EBADMSG, "the secret %s is bound to no scheme", secret->name);
	int r = plan_check_ports(b->ports.items, b->ports.count, "secret", secret->name, e);

	if (r < 0)
		return r;
	return plan_check_requests(b->methods.items, b->methods.count, b->paths.items,
				   b->paths.count, "secret", secret->name, e);
}

static int plan_check_secret(const struct plan_secret *secret, struct error *e)
{
	size_t most = secret->kind == PLAN_SECRET_AWS ? PLAN_SECRET_PARTS_MAX : 1;
	size_t least = secret->kind == PLAN_SECRET_AWS ? PLAN_SECRET_PARTS_MAX - 1 : 1;
	int r = 0;

	if (secret->name[0] == '\0')
		return error_set(e, -EBADMSG, "a secret has no name");
	if (secret->parts.count < least || secret->parts.count > most)
		return error_set(e, -EBADMSG, "the secret %s has %zu parts", secret->name,
				 secret->parts.count);
	for (size_t i = 0; i < secret->parts.count; i++) {
		size_t len = strlen(secret->parts.items[i].placeholder);

		if (len < PLAN_PLACEHOLDER_MIN || len > PLAN_PLACEHOLDER_MAX)
			return error_set(e, -EBADMSG, "the secret %s has an impossible placeholder",
					 secret->name);
	}
	for (size_t i = 0; i < secret->headers.count; i++)
		if (!http_is_token(span_of_str(secret->headers.items[i].text)))
			return error_set(e, -EBADMSG, "the secret %s names an impossible header",
					 secret->name);
	for (size_t i = 0; i < secret->parameters.count; i++)
		if (strlen(secret->parameters.items[i].text) > PLAN_PARAMETER_MAX)
			return error_set(e, -EBADMSG, "the secret %s names an impossible parameter",
					 secret->name);
	if (secret->bindings.count == 0 || secret->bindings.count > PLAN_BINDINGS_MAX)
		return error_set(e, -EBADMSG, "the secret %s has %zu bindings", secret->name,
				 secret->bindings.count);
	for (size_t i = 0; r == 0 && i < secret->bindings.count; i++)
		r = plan_check_binding(secret, &secret->bindings.items[i], e);
	return r;
}

static int plan_check_proxy(const struct plan_proxy *proxy, struct error *e)
{
	struct name name;
	bool named = proxy->address.len == 0;

	if ((named && (name_parse(span_of_str(proxy->host), &name) < 0 ||
		       !str_equal(name.text, proxy->host))) ||
	    (!named && proxy->address.len != 16) || proxy->port == 0 || proxy->port > UINT16_MAX ||
	    proxy->direct.count > PLAN_DIRECT_MAX)
		return error_set(e, -EBADMSG, "the proxy is none that can be dialled");
	return 0;
}

static int plan_check_network(const struct plan *p, struct error *e)
{
	int r = 0;

	if (p->network.count > PLAN_RULES_MAX)
		return error_set(e, -EBADMSG,
				 "the plan has %zu rules for the network; at most %d are possible",
				 p->network.count, PLAN_RULES_MAX);
	for (size_t i = 0; r == 0 && i < p->network.count; i++)
		r = plan_check_rule(&p->network.items[i], e);
	if (r == 0 && p->secrets.count > PLAN_SECRETS_MAX)
		return error_set(e, -EBADMSG, "the plan has %zu secrets; at most %d are possible",
				 p->secrets.count, PLAN_SECRETS_MAX);
	for (size_t i = 0; r == 0 && i < p->secrets.count; i++)
		r = plan_check_secret(&p->secrets.items[i], e);
	if (r == 0 && p->proxies.count > 1)
		return error_set(e, -EBADMSG, "the plan has more than one proxy");
	return r == 0 && p->proxies.count > 0 ? plan_check_proxy(&p->proxies.items[0], e) : r;
}

static int plan_check(const struct plan *p, struct error *e)
{
	if (p->argv.count == 0)
		return error_set(e, -EBADMSG, "the plan names no command");
	if (!str_path_is_normal(p->cwd))
		return error_set(e, -EBADMSG, "directory %s is not a normal absolute path", p->cwd);
	if (p->mounts.count > PLAN_MOUNTS_MAX)
		return error_set(e, -EBADMSG, "the plan has %zu mounts; at most %d are possible",
				 p->mounts.count, PLAN_MOUNTS_MAX);
	int r = plan_check_root(p, e);

	for (size_t i = 0; r == 0 && i < p->mounts.count; i++)
		r = plan_check_mount(&p->mounts.items[i], e);
	if (r < 0)
		return r;
	if (p->seccomp.len % 8 != 0 || p->seccomp.len / 8 > 4096)
		return error_set(e, -EBADMSG, "the system call filter has an impossible size");
	if (p->authorities.count > PLAN_AUTHORITIES_MAX)
		return error_set(e, -EBADMSG, "the plan names %zu files of authorities",
				 p->authorities.count);
	for (size_t i = 0; i < p->authorities.count; i++)
		if (!str_path_is_normal(p->authorities.items[i].text))
			return error_set(e, -EBADMSG, "authorities %s is no normal absolute path",
					 p->authorities.items[i].text);
	return plan_check_network(p, e);
}

int plan_decode(struct span bytes, const struct plan **ret_plan, struct arena *arena,
		struct error *e)
{
	struct reader r = reader_of(bytes);
	struct plan p;

	memset(&p, 0, sizeof(p));
	if (!span_equal(reader_take(&r, sizeof(PLAN_MAGIC) - 1), SPAN_LITERAL(PLAN_MAGIC)))
		return error_set(e, -EBADMSG, "this is not a plan of this version of bawn");
	int ret = schema_decode(&r, &plan_schema, &p, arena, e);
	if (ret < 0)
		return ret;
	if (reader_left(&r) != 0)
		return error_set(e, -EBADMSG, "%zu bytes follow the plan", reader_left(&r));
	ret = plan_check(&p, e);
	if (ret < 0)
		return ret;
	struct plan *kept = arena_alloc(arena, sizeof(*kept));

	if (!kept)
		return error_sys(e, -ENOMEM, "reading the plan");
	*kept = p;
	*ret_plan = kept;
	return 0;
}
