/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret is a section beneath its name.  For a known name (share/secrets) the keys that are left
 * out have known values, so that the usual secrets need only a name.
 *
 * Invariants: a secret that leaves here for the user has at least one binding, each to a
 * canonical name, a port and one scheme; a way to be put in; and a shape for each part.
 */
#include "secret.h"

#include "authority.h"
#include "http_field.h"
#include "http_path.h"
#include "rule.h"
#include "shape.h"
#include "str.h"

#include <stdio.h>
#include <time.h>

/* What may stand in the section of a secret. */
static const char *const secret_keys[] = {
	[SECRET_HOSTS] = "hosts",
	[SECRET_SCHEME] = "scheme",
	[SECRET_METHODS] = "methods",
	[SECRET_PATHS] = "paths",
	[SECRET_KIND] = "kind",
	[SECRET_HEADERS] = "headers",
	[SECRET_PARAMETERS] = "parameters",
	[SECRET_IN] = "in",
	[SECRET_ENV] = "env",
	[SECRET_FILES] = "files",
	[SECRET_FROM] = "from",
	[SECRET_EXPIRES] = "expires",
	[SECRET_REFRESH] = "refresh",
	[SECRET_SHAPE] = "shape",
	[SECRET_KEY_COUNT] = NULL,
};

const char *const secret_in_words[] = {
	[SECRET_IN_AUTHORIZATION] = "authorization",
	[SECRET_IN_QUERY] = "query",
	[SECRET_IN_BODY] = "body",
	[SECRET_IN_WEBSOCKET] = "websocket",
	[SECRET_IN_COUNT] = NULL,
};

const char *const policy_from_words[POLICY_FROM_COUNT] = {
	[POLICY_FROM_STORE] = "store",     [POLICY_FROM_KEYRING] = "keyring",
	[POLICY_FROM_ENV] = "env",         [POLICY_FROM_FILE] = "file",
	[POLICY_FROM_COMMAND] = "command", [POLICY_FROM_SETTINGS] = "settings",
};

/* What bounds places, and so may stand in a ceiling. */
#define SECRET_PLACES \
	(1u << SECRET_HOSTS | 1u << SECRET_SCHEME | 1u << SECRET_METHODS | 1u << SECRET_PATHS)

/* A section while it is read. */
struct secret_draft {
	const struct value_site *s;
	const struct tree_node *of[SECRET_KEY_COUNT];
	struct secret_said said;
};

static struct value_place secret_place(const struct value_site *s, const struct tree_node *n)
{
	return (struct value_place){s->at.name, n->line, n->column, s->at.layer};
}

static int secret_error(const struct secret_draft *d, const struct tree_node *n, const char *why)
{
	const struct value_place at = secret_place(d->s, n);

	return value_error(&at, d->s->e, "%.128s: %s", n->text && *n->text ? n->text : "(empty)",
			   why);
}

static int secret_need(const struct secret_draft *d, const struct tree_node *n, const char *key,
		       enum tree_kind kind)
{
	static const char *const words[] = {"a single value", "a list", "a section"};
	const struct value_place at = secret_place(d->s, n);

	if (n->kind == kind && !n->empty)
		return 0;
	return value_error(&at, d->s->e, "%s takes %s", key, words[kind]);
}

bool secret_name_is_good(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				     "0123456789-";
	size_t len = strlen(name);

	return len > 0 && len <= 64 && strchr(letters, name[0]) && strspn(name, others) == len;
}

int secret_parse_time(const char *text, uint64_t *ret_seconds)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d"};

	if (str_parse_u64(text, ret_seconds) == 0)
		return 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(forms); i++) {
		struct tm tm;

		memset(&tm, 0, sizeof(tm));
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds = end && *end == '\0' ? timegm(&tm) : -1;

		if (seconds > 0) {
			*ret_seconds = (uint64_t)seconds;
			return 0;
		}
	}
	return -EINVAL;
}

/* --- places --- */

/* HOST, HOST:PORT, *.HOST or *.HOST:PORT. */
static int secret_read_host(struct secret_draft *d, const struct tree_node *n,
			    struct plan_binding *b)
{
	const struct value_site *s = d->s;
	int r = secret_need(d, n, "hosts", TREE_SCALAR);
	struct plan_ports *port = arena_alloc(s->arena, sizeof(*port));
	struct authority a;

	if (r < 0)
		return r;
	const char *below = str_after(n->text, "*.");

	if (!port)
		return value_no_memory(s->e);
	if (strstr(n->text, "://") || strchr(n->text, '/'))
		return secret_error(d, n, "name the host alone; a path stands in paths");
	if (authority_parse(span_of_str(below ? below : n->text), &a) < 0)
		return secret_error(d, n, "not a host, or not a host and a port");
	if (a.is_address)
		return secret_error(d, n, "a secret is bound to names, not to addresses");
	b->host = arena_printf(s->arena, "%s%s", below ? "*." : "", a.name.text);
	if (!b->host)
		return value_no_memory(s->e);
	if (strlen(b->host) > NAME_TEXT_MAX)
		return secret_error(d, n, "there is no room for a name in front");
	port->from = a.port ? a.port : b->scheme == PLAN_SCHEME_HTTP ? 80 : 443;
	port->to = port->from;
	b->ports.items = port;
	b->ports.count = 1;
	return 0;
}

static int secret_read_scheme(struct secret_draft *d, unsigned int *ret_scheme)
{
	const struct tree_node *n = d->of[SECRET_SCHEME];

	*ret_scheme = PLAN_SCHEME_TLS;
	if (!n)
		return 0;
	int r = secret_need(d, n, "scheme", TREE_SCALAR);

	if (r < 0)
		return r;
	if (str_equal(n->text, plan_scheme_words[PLAN_SCHEME_HTTP]))
		*ret_scheme = PLAN_SCHEME_HTTP;
	else if (!str_equal(n->text, plan_scheme_words[PLAN_SCHEME_TLS]))
		return secret_error(d, n, "the scheme of a secret is tls or http");
	return 0;
}

/* hosts, scheme, methods and paths: a binding for each host. */
static int secret_read_places(struct secret_draft *d)
{
	struct secret_said *said = &d->said;
	const struct tree_node *hosts = d->of[SECRET_HOSTS];
	unsigned int scheme = PLAN_SCHEME_TLS;
	int r = secret_read_scheme(d, &scheme);

	if (r == 0 && d->of[SECRET_METHODS])
		r = rule_read_methods(d->s, d->of[SECRET_METHODS], &said->methods.items,
				      &said->methods.count);
	if (r == 0 && d->of[SECRET_PATHS])
		r = rule_read_paths(d->s, d->of[SECRET_PATHS], &said->paths.items,
				    &said->paths.count);
	if (r == 0 && hosts)
		r = secret_need(d, hosts, "hosts", TREE_LIST);
	if (r < 0 || !hosts)
		return r;
	struct plan_binding *items = arena_alloc(d->s->arena, PLAN_BINDINGS_MAX * sizeof(*items));

	if (!items)
		return value_no_memory(d->s->e);
	said->secret.bindings.items = items;
	for (const struct tree_node *n = hosts->children; r == 0 && n; n = n->next) {
		struct plan_binding *b = &items[said->secret.bindings.count];

		if (said->secret.bindings.count == PLAN_BINDINGS_MAX)
			return secret_error(d, n, "a secret has at most 64 hosts");
		b->scheme = scheme;
		b->methods.items = said->methods.items;
		b->methods.count = said->methods.count;
		b->paths.items = said->paths.items;
		b->paths.count = said->paths.count;
		r = secret_read_host(d, n, b);
		said->secret.bindings.count++;
	}
	return r;
}

/* --- how it is put in --- */

/* A list of words, each checked by `wrong`; of headers in lower case. */
static int secret_read_list(struct secret_draft *d, enum secret_key key, bool lower,
			    const char *(*wrong)(const char *), struct plan_string **ret_items,
			    size_t *ret_count)
{
	const struct tree_node *list = d->of[key];
	struct plan_string *items = arena_alloc(d->s->arena, PLAN_RULE_WORDS_MAX * sizeof(*items));
	size_t count = 0;
	int r = secret_need(d, list, secret_keys[key], TREE_LIST);

	if (r < 0)
		return r;
	if (!items)
		return value_no_memory(d->s->e);
	for (const struct tree_node *n = list->children; n; n = n->next) {
		r = secret_need(d, n, secret_keys[key], TREE_SCALAR);
		if (r < 0)
			return r;
		char *text = arena_str(d->s->arena, n->text);

		if (!text)
			return value_no_memory(d->s->e);
		for (char *c = text; lower && *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
		if (wrong(text))
			return secret_error(d, n, wrong(text));
		if (count == PLAN_RULE_WORDS_MAX)
			return secret_error(d, n, "a list of at most 64");
		items[count++].text = text;
	}
	*ret_items = items;
	*ret_count = count;
	return 0;
}

static const char *secret_wrong_header(const char *text)
{
	if (!http_is_token(span_of_str(text)))
		return "not the name of a header";
	return http_field_kind_of(span_of_str(text)) != HTTP_FIELD_OTHER ||
			       str_equal(text, "authorization")
		       ? "no secret is put in there; Authorization is named by in"
		       : NULL;
}

static const char *secret_wrong_parameter(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > PLAN_PARAMETER_MAX)
		return "the name of a parameter has 1 to 64 characters";
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"\\%&;=?#+", *c))
			return "not the name of a parameter";
	return NULL;
}

static const char *secret_wrong_variable(const char *text)
{
	return secret_name_is_good(text) && !strchr(text, '-') ? NULL
							       : "not the name of a variable";
}

static const char *secret_wrong_shape(const char *text)
{
	return shape_check(span_of_str(text));
}

static const char *secret_wrong_in(const char *text)
{
	for (size_t i = 0; i < SECRET_IN_COUNT; i++)
		if (str_equal(secret_in_words[i], text))
			return NULL;
	return "it is put in authorization, query, body or websocket, or in headers";
}

static int secret_read_in(struct secret_draft *d)
{
	struct policy_secret *secret = &d->said.secret;
	struct plan_string *words = NULL;
	size_t count = 0;
	bool *const in[] = {
		[SECRET_IN_AUTHORIZATION] = &secret->in_authorization,
		[SECRET_IN_QUERY] = &secret->in_query,
		[SECRET_IN_BODY] = &secret->in_body,
		[SECRET_IN_WEBSOCKET] = &secret->in_websocket,
	};
	int r = 0;

	if (d->of[SECRET_HEADERS])
		r = secret_read_list(d, SECRET_HEADERS, true, secret_wrong_header,
				     &secret->headers.items, &secret->headers.count);
	if (r == 0 && d->of[SECRET_PARAMETERS])
		r = secret_read_list(d, SECRET_PARAMETERS, false, secret_wrong_parameter,
				     &secret->parameters.items, &secret->parameters.count);
	if (r == 0 && d->of[SECRET_IN])
		r = secret_read_list(d, SECRET_IN, false, secret_wrong_in, &words, &count);
	for (size_t i = 0; r == 0 && i < count; i++)
		for (size_t n = 0; n < SECRET_IN_COUNT; n++)
			if (str_equal(words[i].text, secret_in_words[n]))
				*in[n] = true;
	/* The default is what most programs do. */
	if (!d->of[SECRET_IN] && secret->headers.count == 0)
		secret->in_authorization = true;
	return r;
}

static int secret_read_kind(struct secret_draft *d)
{
	const struct tree_node *n = d->of[SECRET_KIND];

	if (!n)
		return 0;
	int r = secret_need(d, n, "kind", TREE_SCALAR);

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < PLAN_SECRET_KIND_COUNT; i++)
		if (str_equal(n->text, plan_secret_words[i])) {
			d->said.secret.kind = i;
			return 0;
		}
	return secret_error(d, n, "a secret is plain, basic or aws");
}

/* --- what the box has of it --- */

static int secret_read_files(struct secret_draft *d)
{
	struct policy_secret *secret = &d->said.secret;
	const struct tree_node *map = d->of[SECRET_FILES];
	int r = map ? secret_need(d, map, "files", TREE_MAP) : 0;
	size_t count = 0;

	if (r < 0 || !map)
		return r;
	for (const struct tree_node *n = map->children; n; n = n->next)
		count++;
	secret->files.items = arena_alloc(d->s->arena, count * sizeof(*secret->files.items));
	if (!secret->files.items)
		return value_no_memory(d->s->e);
	for (const struct tree_node *n = map->children; n; n = n->next) {
		const char *below = str_after(n->key, "~/");
		const char *path = below ? arena_printf(d->s->arena, "/%s", below) : n->key;

		r = secret_need(d, n, "files", TREE_SCALAR);
		if (r < 0)
			return r;
		if (!path)
			return value_no_memory(d->s->e);
		if (!str_path_is_normal(path) || str_equal(path, "/"))
			return secret_error(d, n, "its path is absolute or begins with ~/");
		if (!strstr(n->text, "{}") && !strstr(n->text, "{0}") && !strstr(n->text, "{1}"))
			return secret_error(d, n, "the text of a file has {} for the placeholder");
		secret->files.items[secret->files.count++] =
			(struct policy_secret_file){n->key, n->text};
	}
	return 0;
}

static int secret_read_inside(struct secret_draft *d)
{
	struct policy_secret *secret = &d->said.secret;
	size_t least = secret->kind == PLAN_SECRET_AWS ? PLAN_SECRET_PARTS_MAX - 1 : 1;
	size_t most = secret->kind == PLAN_SECRET_AWS ? PLAN_SECRET_PARTS_MAX : 1;
	int r = secret_read_files(d);

	if (r == 0 && d->of[SECRET_ENV])
		r = secret_read_list(d, SECRET_ENV, false, secret_wrong_variable,
				     &secret->variables.items, &secret->variables.count);
	if (r == 0 && d->of[SECRET_SHAPE])
		r = secret_read_list(d, SECRET_SHAPE, false, secret_wrong_shape,
				     &secret->shapes.items, &secret->shapes.count);
	if (r < 0)
		return r;
	if (d->of[SECRET_SHAPE] && (secret->shapes.count < least || secret->shapes.count > most))
		return secret_error(d, d->of[SECRET_SHAPE],
				    most == 1 ? "it has one shape"
					      : "it has a shape for each part: two or three");
	if (secret->shapes.count > 0)
		return 0;
	static struct plan_string unknown[] = {{SHAPE_UNKNOWN}};
	static struct plan_string aws[] = {{"AKIA{16:A}"}, {"{40:b}"}};

	secret->shapes.items = most == 1 ? unknown : aws;
	secret->shapes.count = least;
	return 0;
}

/* --- where the value is --- */

/* "store", or a section of one key: {env: NAME}, {file: PATH}, {command: WORDS}. */
static int secret_read_from(struct secret_draft *d)
{
	struct policy_secret *secret = &d->said.secret;
	const struct tree_node *n = d->of[SECRET_FROM];

	if (!n) {
		secret->from = d->s->at.layer == POLICY_STORE ? POLICY_FROM_STORE : POLICY_FROM_ENV;
		secret->from_text = secret->from == POLICY_FROM_STORE ? "" : secret->name;
		return 0;
	}
	for (unsigned int i = 0; n->kind == TREE_SCALAR && i < POLICY_FROM_ENV; i++)
		if (str_equal(n->text, policy_from_words[i])) {
			secret->from = i;
			secret->from_text = "";
			return 0;
		}
	const struct tree_node *child = n->kind == TREE_MAP ? n->children : NULL;

	for (unsigned int i = POLICY_FROM_ENV; child && i <= POLICY_FROM_COMMAND; i++)
		if (str_equal(child->key, policy_from_words[i]))
			secret->from = i;
	if (!child || child->next || secret->from == POLICY_FROM_STORE) {
		const struct value_place at = secret_place(d->s, n);

		return value_error(&at, d->s->e,
				   "from is store, keyring, {env: NAME}, {file: PATH} or "
				   "{command: \"WORDS\"}");
	}
	int r = secret_need(d, child, child->key, TREE_SCALAR);

	if (r < 0)
		return r;
	if (*child->text == '\0')
		return secret_error(d, child, "from has no value here");
	if (secret->from == POLICY_FROM_ENV && secret_wrong_variable(child->text))
		return secret_error(d, child, secret_wrong_variable(child->text));
	if (secret->from == POLICY_FROM_FILE && child->text[0] != '/' &&
	    !str_after(child->text, "~/"))
		return secret_error(d, child, "its path is absolute or begins with ~/");
	secret->from_text = child->text;
	return 0;
}

static int secret_read_times(struct secret_draft *d)
{
	static const struct grammar_row duration = {
		.name = "refresh", .type = GRAMMAR_DURATION, .least = 1, .most = 3650ull * 86400};
	struct policy_secret *secret = &d->said.secret;
	const struct tree_node *expires = d->of[SECRET_EXPIRES];
	const struct tree_node *refresh = d->of[SECRET_REFRESH];
	int r = expires ? secret_need(d, expires, "expires", TREE_SCALAR) : 0;

	if (r == 0 && expires && secret_parse_time(expires->text, &secret->expires) < 0)
		r = secret_error(d, expires, "a time is 2027-01-31 or 2027-01-31T12:00:00Z");
	if (r == 0 && refresh)
		r = secret_need(d, refresh, "refresh", TREE_SCALAR);
	if (r < 0 || !refresh)
		return r;
	struct value_site site = *d->s;
	struct grammar_value value = {.set = false};

	site.row = &duration;
	site.at = secret_place(d->s, refresh);
	r = value_read_scalar(&site, refresh->text, &value);
	secret->refresh = value.number == GRAMMAR_UNLIMITED ? 0 : value.number;
	return r;
}

/* --- the whole section --- */

static int secret_collect(struct secret_draft *d, const struct tree_node *n, bool known)
{
	for (const struct tree_node *c = n->children; c; c = c->next) {
		const struct value_place at = {d->s->at.name, c->key_line, c->key_column,
					       d->s->at.layer};
		unsigned int key = 0;

		while (key < SECRET_KEY_COUNT && !str_equal(secret_keys[key], c->key))
			key++;
		if (key == SECRET_KEY_COUNT) {
			int r = value_error(&at, d->s->e, "unknown key %.64s of a secret",
					    *c->key ? c->key : "(empty)");

			return value_suggest(d->s->e, r, c->key, secret_keys, SECRET_KEY_COUNT);
		}
		if (d->s->at.layer == POLICY_CEILING && !(SECRET_PLACES >> key & 1))
			return value_error(&at, d->s->e,
					   "%s has no place in the administrator's ceiling; it "
					   "bounds hosts, methods and paths",
					   c->key);
		d->of[key] = c;
		if (!known)
			d->said.said |= 1u << key;
	}
	return 0;
}

/* Fills in the known values of the name, in a layer of policy that may add secrets. */
static int secret_recall(struct secret_draft *d)
{
	const struct policy_source *known = policy_known_secret(d->said.secret.name);
	const struct tree_node *root = NULL;

	if (!known || d->s->at.layer == POLICY_REPOSITORY || d->s->at.layer == POLICY_CEILING)
		return 0;
	int r = tree_parse(known->name, known->text, d->s->arena, &root, d->s->e);

	return r < 0 || !root ? r : secret_collect(d, root, true);
}

static int secret_read_parts(struct secret_draft *d)
{
	int r = secret_read_kind(d);

	if (r == 0)
		r = secret_read_places(d);
	if (r == 0)
		r = secret_read_in(d);
	if (r == 0)
		r = secret_read_inside(d);
	if (r == 0)
		r = secret_read_from(d);
	return r < 0 ? r : secret_read_times(d);
}

/* What must be there in a section that brings a secret. */
static int secret_complete(const struct secret_draft *d)
{
	const struct policy_secret *secret = &d->said.secret;

	if (secret->bindings.count == 0)
		return value_error(&d->s->at, d->s->e,
				   "the secret %s names no hosts; it works only where it is bound",
				   secret->name);
	if (secret->kind == PLAN_SECRET_BASIC && !secret->in_authorization)
		return value_error(
			&d->s->at, d->s->e,
			"the secret %s is the password of Basic, and so in authorization",
			secret->name);
	if (d->of[SECRET_PARAMETERS] && !secret->in_query && !secret->in_body)
		return value_error(&d->s->at, d->s->e,
				   "the secret %s names parameters; they are of the query or the"
				   " body, which in has to name",
				   secret->name);
	if (!secret->in_authorization && !secret->in_query && !secret->in_body &&
	    !secret->in_websocket && secret->headers.count == 0)
		return value_error(&d->s->at, d->s->e, "the secret %s is put in nowhere",
				   secret->name);
	return 0;
}

int secret_read(const struct value_site *s, const struct tree_node *n, struct grammar_value *value)
{
	struct secret_draft d = {.s = s};
	bool brings = s->at.layer != POLICY_CEILING && s->at.layer != POLICY_REPOSITORY;
	bool every = str_equal(n->key, "*") && s->at.layer == POLICY_CEILING;
	struct secret_said *said = arena_alloc(s->arena, sizeof(*said));
	struct grammar_item item = {
		.text = n->key, .layer = s->at.layer, .origin = value_origin(&s->at, s->arena)};

	if (!said || !item.origin)
		return value_no_memory(s->e);
	if (!every && !secret_name_is_good(n->key))
		return value_error(&s->at, s->e,
				   "%.64s is no name for a secret: letters, digits, _ and -",
				   *n->key ? n->key : "(empty)");
	if (n->kind != TREE_MAP && !n->empty)
		return value_error(&s->at, s->e, "the secret %s is a section, {} for what is known",
				   n->key);
	d.said.secret.name = n->key;
	d.said.secret.origin = item.origin;
	int r = secret_recall(&d);

	if (r == 0)
		r = secret_collect(&d, n, false);
	if (r == 0)
		r = secret_read_parts(&d);
	if (r == 0 && brings)
		r = secret_complete(&d);
	if (r < 0)
		return r;
	*said = d.said;
	item.secret = said;
	return grammar_append(value, s->row, &item, s->arena) < 0 ? value_no_memory(s->e) : 0;
}
