/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets in the plan: where the gate may put each in, and the placeholders that the box has
 * instead, in the variables and files that programs read.  This file does not know the value.
 *
 * A secret is in the plan only when a rule for the network allows one of its places: without one
 * nothing could use it.
 */
#include "build_parts.h"

#include "encode.h"
#include "rules.h"
#include "shape.h"
#include "str.h"

enum { BUILD_PLACEHOLDER_ROOM = PLAN_PLACEHOLDER_MAX + 1, BUILD_FILE_MAX = 64 << 10 };

const char *build_secret_of(const struct build *b, const char *variable)
{
	for (size_t i = 0; i < b->policy->secrets.count; i++) {
		const struct policy_secret *s = &b->policy->secrets.items[i];

		if (s->from == POLICY_FROM_ENV && str_equal(s->from_text, variable))
			return s->name;
		for (size_t n = 0; n < s->variables.count; n++)
			if (str_equal(s->variables.items[n].text, variable))
				return s->name;
		for (size_t n = 0; n < s->texts.count; n++)
			if (str_equal(s->texts.items[n].variable, variable))
				return s->name;
	}
	return NULL;
}

/* --- whether --- */

static bool build_covers(const char *outer, const char *inner)
{
	const char *below = str_after(outer, "*");

	return below ? strlen(inner) > strlen(below) && str_ends_with(inner, below)
		     : str_equal(outer, inner);
}

static bool build_leads(const struct plan_rule *rule, const struct plan_binding *binding)
{
	if (rule->ceiling || rule->action == PLAN_ACTION_DENY || rule->address.len > 0 ||
	    !(build_covers(rule->host, binding->host) || build_covers(binding->host, rule->host)))
		return false;
	for (size_t i = 0; i < rule->ports.count; i++)
		for (size_t n = 0; n < binding->ports.count; n++)
			if (rule->ports.items[i].from <= binding->ports.items[n].to &&
			    binding->ports.items[n].from <= rule->ports.items[i].to)
				return true;
	return false;
}

/* A rule that opens is preferred. */
const struct plan_rule *plan_rule_to(const struct plan_rule *rules, size_t count,
				     const struct policy_secret *s)
{
	const struct plan_rule *closed = NULL;

	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < s->bindings.count; n++) {
			if (!build_leads(&rules[i], &s->bindings.items[n]))
				continue;
			if (!rules[i].passthrough)
				return &rules[i];
			closed = &rules[i];
		}
	return closed;
}

/* The place as --allow takes it, in a shell. */
static const char *build_typed(struct build *b, const struct plan_binding *at)
{
	const char *quote = at->host[0] == '*' ? "'" : "";
	uint64_t port = at->ports.items[0].from;

	if (port == (at->scheme == PLAN_SCHEME_HTTP ? 80 : 443))
		return build_printf(b, "%s%s%s", quote, at->host, quote);
	return build_printf(b, "%s%s:%llu%s", quote, at->host, (unsigned long long)port, quote);
}

/* Why a secret is not in the plan; NULL when it is. */
static const char *build_no_secret(struct build *b, const struct policy_secret *s)
{
	const struct plan_rule *rule =
		plan_rule_to(b->policy->network.items, b->policy->network.count, s);

	if (b->plan.backend == PLAN_BACKEND_HOST)
		return "without a box nothing is put in";
	for (size_t i = 0; i < b->policy->without.count; i++)
		if (b->policy->without.items[i].layer == PLAN_LAYER_NET_NS)
			return "without net-namespace there is no gate to put it in";
	if (!rule)
		return build_printf(b, "no rule allows %s: --allow %s would",
				    s->bindings.items[0].host,
				    build_typed(b, &s->bindings.items[0]));
	return rule->passthrough ? build_printf(b, "passthrough leaves %s closed", rule->host)
				 : NULL;
}

/* --- what the box has --- */

static const char *build_placeholder(struct build *b, const struct policy_secret *s, size_t part)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BUILD_PLACEHOLDER_ROOM);
	const char *context = build_printf(b, "%s %s %zu", b->host->workspace.path, s->name, part);

	shape_fill(span_of_str(s->shapes.items[part].text), b->host->placeholder_key, context,
		   &text);
	return build_printf(b, "%s", buf_str(&text));
}

static bool build_is_set(const struct build *b, const char *variable)
{
	for (size_t i = 0; i < b->policy->env_set.count; i++)
		if (str_equal(b->policy->env_set.items[i].name, variable))
			return true;
	for (size_t i = 0; i < b->policy->env_drop.count; i++)
		if (policy_name_matches(b->policy->env_drop.items[i].path, variable))
			return true;
	return false;
}

static void build_variable(struct build *b, const struct policy_secret *s,
			   struct plan_secret_part *part, const char *variable)
{
	if (build_is_set(b, variable)) {
		build_note(b, PLAN_NOTE_NOT_GIVEN,
			   build_printf(b, "the placeholder of %s in %s", s->name, variable),
			   "env.set or env.drop names the variable", s->origin);
		return;
	}
	for (size_t i = 0; i < b->plan.env.count; i++)
		if (str_equal(b->plan.env.items[i].name, variable)) {
			build_note(
				b, PLAN_NOTE_NOT_GIVEN,
				build_printf(b, "the placeholder of %s in %s", s->name, variable),
				"another secret has the variable", s->origin);
			return;
		}
	*build_add_env(b) = (struct plan_env){variable, part->placeholder,
					      build_printf(b, "placeholder of %s", s->name)};
	*(struct plan_string *)build_grow(b, BUILD_LIST(part->variables)) =
		(struct plan_string){variable};
}

/* Of kind aws each part has its own variable; else the one part has all of them. */
static void build_parts(struct build *b, const struct policy_secret *s, struct plan_secret *secret)
{
	bool aws = s->kind == PLAN_SECRET_AWS;

	for (size_t i = 0; i < s->shapes.count; i++) {
		struct plan_secret_part *part = build_grow(b, BUILD_LIST(secret->parts));

		part->placeholder = build_placeholder(b, s, i);
		for (size_t n = 0; n < s->variables.count; n++)
			if (!aws || n == i)
				build_variable(b, s, part, s->variables.items[n].text);
	}
}

/* The text of a file: {} and {N} are placeholders, \\n a new line. */
static const char *build_file_text(struct build *b, const struct plan_secret *secret,
				   const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(BUILD_FILE_MAX);

	for (const char *c = text; *c; c++) {
		size_t part = c[0] == '{' && c[1] >= '0' && c[1] <= '9' && c[2] == '}'
				      ? (size_t)(c[1] - '0')
				      : 0;
		bool one = c[0] == '{' && c[1] == '}';
		bool numbered = c[0] == '{' && c[1] == (char)('0' + part) && c[2] == '}';

		if (one || numbered) {
			buf_put_str(&out, part < secret->parts.count
						  ? secret->parts.items[part].placeholder
						  : "");
			c += one ? 1 : 2;
		} else if (c[0] == '\\' && c[1] == 'n') {
			buf_put_char(&out, '\n');
			c++;
		} else {
			buf_put_char(&out, *c);
		}
	}
	if (out.len > 0 && out.ptr[out.len - 1] != '\n')
		buf_put_char(&out, '\n');
	return build_printf(b, "%s", buf_str(&out));
}

static void build_secret_file(struct build *b, const struct policy_secret *s,
			      struct plan_secret *secret, const struct policy_secret_file *file)
{
	const char *below = str_after(file->path, "~/");
	const char *target = below ? build_printf(b, "%s/%s", b->host->home, below) : file->path;
	const struct plan_mount *over = build_mount_over(b, target);
	const char *why = !over                             ? "there is no such place inside"
			  : over->kind == PLAN_MOUNT_HIDE   ? "it is hidden"
			  : str_equal(over->target, target) ? "it is shown as it is"
			  : over->kind == PLAN_MOUNT_BIND && !str_equal(over->role, "home")
				  ? "it would lie in a folder of yours"
				  : NULL;

	if (why) {
		*(struct plan_note *)build_grow(b, BUILD_LIST(b->plan.notes)) = (struct plan_note){
			.kind = PLAN_NOTE_NOT_GIVEN,
			.what = build_printf(b, "the placeholder of %s in %s", s->name, file->path),
			.why = why,
			.origin = s->origin,
			.said = true,
		};
		return;
	}
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_FILE,
		.access = PLAN_ACCESS_READ,
		.target = target,
		.data = span_of_str(build_file_text(b, secret, file->text)),
		.role = "placeholder",
		.origin = s->origin,
	};
	*(struct plan_string *)build_grow(b, BUILD_LIST(secret->files)) =
		(struct plan_string){target};
}

/* {} and {basic:USER} of a variable's text. */
static const char *build_text(struct build *b, const struct plan_secret *secret, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(BUILD_FILE_MAX);
	const char *placeholder = secret->parts.count ? secret->parts.items[0].placeholder : "";

	while (*text) {
		const char *user = str_after(text, "{basic:");
		const char *end = user ? strchr(user, '}') : NULL;

		if (end) {
			encode_base64(&out,
				      span_of_str(build_printf(b, "%.*s:%s", (int)(end - user),
							       user, placeholder)));
			text = end + 1;
		} else if (text[0] == '{' && text[1] == '}') {
			buf_put_str(&out, placeholder);
			text += 2;
		} else {
			buf_put_char(&out, *text++);
		}
	}
	return build_printf(b, "%s", buf_str(&out));
}

static void build_secret_text(struct build *b, const struct policy_secret *s,
			      struct plan_secret *secret, const struct policy_secret_text *t)
{
	struct plan_secret_part shown = {.placeholder = build_text(b, secret, t->text)};

	build_variable(b, s, &shown, t->variable);
}

static const char *build_source(struct build *b, const struct policy_secret *s)
{
	switch (s->from) {
	case POLICY_FROM_STORE:
		return "kept in a file of bawn's own";
	case POLICY_FROM_KEYRING:
		return "kept in your keyring";
	case POLICY_FROM_ENV:
		return build_printf(b, "your variable %s", s->from_text);
	case POLICY_FROM_FILE:
		return build_printf(b, "the file %s", s->from_text);
	case POLICY_FROM_SETTINGS:
		return build_printf(b, "your settings, %s", s->from_text);
	default:
		return build_printf(b, "the command %s", s->from_text);
	}
}

static void build_secret(struct build *b, const struct policy_secret *s)
{
	const char *why = build_no_secret(b, s);

	if (why) {
		build_note(b, PLAN_NOTE_NOT_GIVEN, build_printf(b, "the secret %s", s->name), why,
			   s->origin);
		return;
	}
	struct plan_secret *secret = build_grow(b, BUILD_LIST(b->plan.secrets));

	*secret = (struct plan_secret){
		.name = s->name,
		.kind = s->kind,
		.bindings = {s->bindings.items, s->bindings.count},
		.in_authorization = s->in_authorization,
		.headers = {s->headers.items, s->headers.count},
		.parameters = {s->parameters.items, s->parameters.count},
		.in_query = s->in_query,
		.in_body = s->in_body,
		.in_websocket = s->in_websocket,
		.source = build_source(b, s),
		.origin = s->origin,
	};
	build_parts(b, s, secret);
	for (size_t i = 0; i < s->files.count; i++)
		build_secret_file(b, s, secret, &s->files.items[i]);
	const char *git = build_git_password(b, secret);

	if (git)
		*(struct plan_string *)build_grow(b, BUILD_LIST(secret->files)) =
			(struct plan_string){git};
	for (size_t i = 0; i < s->texts.count; i++)
		build_secret_text(b, s, secret, &s->texts.items[i]);
}

void build_secrets(struct build *b)
{
	for (size_t i = 0; b->plan.backend != PLAN_BACKEND_HOST && i < b->policy->made_up.count;
	     i++)
		build_file(b, b->policy->made_up.items[i].path, b->policy->made_up.items[i].text);
	for (size_t i = 0; i < b->policy->secrets.count; i++)
		build_secret(b, &b->policy->secrets.items[i]);
}
