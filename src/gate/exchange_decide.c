/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request may go: it must be for the host that was dialled, its path must be one that
 * all servers read alike, and a rule must allow it.  These functions only return a verdict; they
 * send, answer and free nothing.
 */
#include "exchange_parts.h"

#include "authority.h"
#include "http_field.h"
#include "http_path.h"
#include "message_gate.h"
#include "relay.h"

#include <stdio.h>

/* Whether the request names the host that was dialled.  CHECK has compared the SNI before. */
static bool exchange_agrees(const struct intercept *i, struct span authority)
{
	const struct flow *f = i->flow;
	struct authority a;

	if (authority_parse(authority, &a) < 0 || (a.port != 0 && a.port != f->port))
		return false;
	if (f->name)
		return !a.is_address && name_equal(&a.name, &f->name->name);
	return a.is_address && address_equal(&a.address, &f->address);
}

static bool exchange_describe(struct exchange *x, const struct http_message *m, struct span path)
{
	char text[ADDRESS_TEXT_SIZE];
	const char *host = flow_host(x->intercept->flow, text);

	x->head = span_equal(m->method, SPAN_LITERAL("HEAD"));
	(void)snprintf(x->method, sizeof(x->method), "%.*s", (int)m->method.len,
		       (const char *)m->method.ptr);
	x->path = strndup((const char *)path.ptr, path.len);
	if (!x->path)
		return false;
	return asprintf(&x->what, "%s %s%s", x->method, host, x->path) >= 0 || (x->what = NULL);
}

/* --- what it asks to be taken for ------------------------------------------------------ */

/* Fields and parameters that name another method or target than the request line.  Some origins
 * obey them. */
struct exchange_other {
	size_t methods, targets; /* how often it says so */
	struct span method, target;
};

/*
 * Whether two names are equal, without case, and with '-' for everything that is neither letter nor
 * digit: CGI makes '_' and '-' the same, and some servers make '_' of all such characters.
 */
static bool exchange_same_name(struct span name, const char *word)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.ptr[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
			c = '-';
		if (!word[i] || c != (uint8_t)word[i])
			return false;
	}
	return word[name.len] == '\0';
}

static bool exchange_is_one_of(struct span name, const char *const *words)
{
	for (; *words; words++)
		if (exchange_same_name(name, *words))
			return true;
	return false;
}

static const char *const exchange_method_names[] = {
	"x-http-method-override", "x-http-method",
	"x-method-override",      "x-original-method",
	"x-forwarded-method",     "x-ms-http-method-override",
	"x-goog-method-override", "x-request-method",
	"x-verb-override",        NULL};
static const char *const exchange_target_names[] = {"x-original-url",
						    "x-rewrite-url",
						    "x-original-uri",
						    "x-override-url",
						    "x-original-path",
						    "x-http-path-override",
						    "x-http-destinationurl",
						    "x-waws-unencoded-url",
						    "x-forwarded-uri",
						    "x-forwarded-path",
						    "x-envoy-original-path",
						    "request-uri",
						    "base-url",
						    NULL};
static const char *const exchange_parameter_names[] = {"-method", "x-http-method-override",
						       "x-http-method", "x-method-override", NULL};

static int exchange_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The name of a parameter as the most lenient servers read it: without leading blanks, and cut
 * at "[" or at a zero byte.  At most `size` bytes of it.
 */
static struct span exchange_parameter_name(struct span raw, uint8_t *into, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < raw.len && len < size; i++) {
		uint8_t c = raw.ptr[i];
		int high = c == '%' && i + 2 < raw.len ? exchange_hex(raw.ptr[i + 1]) : -1;
		int low = high >= 0 ? exchange_hex(raw.ptr[i + 2]) : -1;

		if (low >= 0) {
			c = (uint8_t)(high << 4 | low);
			i += 2;
		}
		if (c == '[' || c == '\0')
			break;
		if (len > 0 || (c != '+' && c != ' '))
			into[len++] = c;
	}
	return (struct span){into, len};
}

/* Looks through the query, with every separator that some server uses. */
static void exchange_find_parameters(struct span query, struct exchange_other *other)
{
	while (query.len > 0) {
		size_t len = 0;

		while (len < query.len && query.ptr[len] != '&' && query.ptr[len] != ';')
			len++;
		const uint8_t *equals = len > 0 ? memchr(query.ptr, '=', len) : NULL;
		size_t name_len = equals ? (size_t)(equals - query.ptr) : len;
		uint8_t bytes[64];
		struct span name = exchange_parameter_name((struct span){query.ptr, name_len},
							   bytes, sizeof(bytes));

		if (name.len > 0 && exchange_is_one_of(name, exchange_parameter_names)) {
			other->methods++;
			other->method = (struct span){query.ptr + name_len + 1,
						      equals ? len - name_len - 1 : 0};
		}
		query = span_skip(query, len < query.len ? len + 1 : len);
	}
}

static struct exchange_other exchange_find_fields(const struct http_message *m)
{
	struct exchange_other other = {0};

	for (size_t i = 0; i < m->field_count; i++) {
		const struct http_message_field *f = &m->fields[i];

		if (exchange_is_one_of(f->name, exchange_method_names)) {
			other.methods++;
			other.method = f->value;
		} else if (exchange_is_one_of(f->name, exchange_target_names)) {
			other.targets++;
			other.target = f->value;
		}
	}
	return other;
}

static struct exchange_other exchange_find_other(const struct http_message *m)
{
	struct exchange_other other = exchange_find_fields(m);
	const uint8_t *mark = m->target.len > 0 ? memchr(m->target.ptr, '?', m->target.len) : NULL;

	if (mark)
		exchange_find_parameters(span_skip(m->target, (size_t)(mark + 1 - m->target.ptr)),
					 &other);
	return other;
}

static void exchange_deny(struct rules_verdict *v, const char *reason)
{
	v->action = PLAN_ACTION_DENY;
	v->allow_line[0] = '\0';
	(void)snprintf(v->reason, sizeof(v->reason), "%s", reason);
}

/* Keeps the other method or path.  False: it is unclear, or there is no memory. */
static bool exchange_keep_other(struct exchange *x, const struct exchange_other *other)
{
	static uint8_t bytes[HTTP_PATH_MAX];
	struct http_path path;
	const char *why = NULL;

	/* Servers read two of them in two ways, and an empty one in any. */
	if (other->methods > 1 || other->targets > 1)
		return false;
	(void)snprintf(x->other.method, sizeof(x->other.method), "%s", x->method);
	x->other.unclear = x->unclear;
	if (other->methods > 0) {
		if (other->method.len > 32 || !http_is_token(other->method))
			return false;
		for (size_t i = 0; i < other->method.len; i++) {
			char c = (char)other->method.ptr[i];

			x->other.method[i] = c >= 'a' && c <= 'z' ? (char)(c - 0x20) : c;
		}
		x->other.method[other->method.len] = '\0';
	}
	if (other->targets > 0) {
		if (other->target.len > HTTP_PATH_MAX ||
		    http_path_read(other->target, bytes, &path, &why) < 0)
			return false;
		x->other.path = strndup((const char *)path.path.ptr, path.path.len);
		x->other.unclear = path.unclear;
	} else {
		x->other.path = strdup(x->path);
	}
	return x->other.path != NULL;
}

/* Keeps what else of the message the rules need besides method and path. */
static void exchange_keep_asked(struct exchange *x, const struct http_message *m)
{
	const struct exchange_other found = exchange_find_other(m);

	x->websocket = m->websocket;
	x->body = m->body == HTTP_MESSAGE_UNKNOWN ||
		  (m->body == HTTP_MESSAGE_LENGTH && m->length > 0);
	if (found.methods + found.targets == 0)
		return;
	x->other.unclear_what = !exchange_keep_other(x, &found);
	x->other.is = x->other.unclear_what || strcmp(x->other.method, x->method) != 0 ||
		      strcmp(x->other.path, x->path) != 0;
}

/* The rules must allow both readings, and no secret is put into such a request. */
static void exchange_decide_other(const struct exchange *x, const struct rules_question *q,
				  struct rules_verdict *v)
{
	const struct plan *plan = x->intercept->gate->plan;
	struct rules_question other = *q;
	struct rules_verdict second;

	if (x->other.unclear_what) {
		exchange_deny(v, "it asks to be taken for another method or path, in a way that can"
				 " be read in two");
		return;
	}
	other.method = span_of_str(x->other.method);
	other.path = span_of_str(x->other.path);
	other.unclear = x->other.unclear;
	rules_decide(x->intercept->gate->rules, &other, &second);
	if (second.action != PLAN_ACTION_ALLOW)
		*v = second;
	else if (secrets_bound(plan->secrets.items, plan->secrets.count, &q->name, q->port))
		exchange_deny(v, "it asks to be taken for another method or path, where a secret is"
				 " bound");
}

bool exchange_trailers_ask(const struct http_message *m)
{
	const struct exchange_other found = exchange_find_fields(m);

	return found.methods + found.targets > 0;
}

/*
 * Whether a request has a body although its method has none.  Some origins do not read it, and
 * take it for the next request; for others it is an upload that looks like a download.
 */
static bool exchange_hides_body(const struct exchange *x, const struct rules_verdict *v)
{
	return x->body && v->rule && v->rule->methods.count > 0 &&
	       (strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0);
}

/* --- the verdict ------------------------------------------------------------------------ */

static struct rules_question exchange_question(const struct exchange *x)
{
	const struct intercept *i = x->intercept;
	const struct flow *f = i->flow;
	struct rules_question q = {.port = f->port,
				   .literal = !f->name,
				   .address = f->address,
				   .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				   .request = true,
				   .method = span_of_str(x->method),
				   .path = span_of_str(x->path),
				   .unclear = x->unclear};

	if (f->name)
		q.name = f->name->name;
	return q;
}

/* Asks the rules, and keeps the rule that decided. */
static void exchange_judge(struct exchange *x, const struct rules_question *q,
			   struct rules_verdict *v)
{
	struct intercept *i = x->intercept;

	rules_decide(i->gate->rules, q, v);
	if (v->action == PLAN_ACTION_ALLOW && x->other.is)
		exchange_decide_other(x, q, v);
	if (v->action == PLAN_ACTION_ALLOW && exchange_hides_body(x, v))
		exchange_deny(v, "it is a GET or HEAD with a body, where the rule names methods");
	x->rule = v->rule;
	x->changes = i->gate->changes;
	x->judged = true;
	if (v->action == PLAN_ACTION_ALLOW && x->websocket && !v->websocket)
		exchange_deny(v, RELAY_NO_WEBSOCKET);
}

bool exchange_is_allowed_still(struct exchange *x, struct rules_verdict *ret_verdict)
{
	/* The gate itself answers such a request at once. */
	if (!x->judged)
		return true;
	const struct rules_question q = exchange_question(x);

	exchange_judge(x, &q, ret_verdict);
	return ret_verdict->action == PLAN_ACTION_ALLOW;
}

/* The rules allow it: now its secrets. */
static struct exchange_step exchange_look_for_secrets(struct exchange *x, struct http_message *m,
						      const struct rules_question *q,
						      const struct rules_verdict *v)
{
	const struct secrets_place at = {.host = q->name,
					 .port = q->port,
					 .scheme = q->scheme,
					 .method = q->method,
					 .path = q->path,
					 .sure = x->sure};

	if (!x->intercept->gate->book)
		return (struct exchange_step){.act = EXCHANGE_GO};
	x->put_in = put_in_new(x->intercept->gate->book);
	if (!x->put_in)
		return exchange_failure("out of memory");
	return exchange_secret_outcome(x, put_in_look(x->put_in, m, &at, v->credentials, v->mask));
}

struct exchange_step exchange_decide(struct exchange *x, struct http_message *m)
{
	static uint8_t bytes[HTTP_PATH_MAX];
	struct intercept *i = x->intercept;
	struct http_path path = {.path = SPAN_LITERAL("*")};
	struct rules_verdict v;
	const char *why = "the request's target is too long";
	bool asterisk = span_equal(m->target, SPAN_LITERAL("*"));
	int r = asterisk                        ? 0
		: m->target.len > sizeof(bytes) ? -EINVAL
						: http_path_read(m->target, bytes, &path, &why);

	x->unclear = path.unclear;
	x->sure = path.sure;
	if (!exchange_describe(x, m, r == 0 ? path.path : SPAN_LITERAL("/")))
		return exchange_failure("out of memory");
	if (r < 0)
		return exchange_refusal(400, MESSAGE_EVENT_REQUEST, why);
	if (!exchange_agrees(i, m->authority))
		return exchange_refusal(421, MESSAGE_EVENT_REQUEST,
					"the request is for another host than was asked for");
	const struct rules_question q = exchange_question(x);

	exchange_keep_asked(x, m);
	exchange_judge(x, &q, &v);
	if (v.action == PLAN_ACTION_ALLOW)
		return exchange_look_for_secrets(x, m, &q, &v);
	return (struct exchange_step){
		.act = EXCHANGE_REFUSE, .status = 403, .kind = MESSAGE_EVENT_REQUEST, .why = v};
}
