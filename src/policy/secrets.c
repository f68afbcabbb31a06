/* SPDX-License-Identifier: Apache-2.0 */
#include "secrets.h"

#include "http_path.h"

static bool secrets_has_port(const struct plan_binding *b, uint16_t port)
{
	for (size_t i = 0; i < b->ports.count; i++)
		if (b->ports.items[i].from <= port && port <= b->ports.items[i].to)
			return true;
	return false;
}

static bool secrets_at_host(const struct plan_binding *b, const struct name *host, uint16_t port)
{
	return name_matches(host, b->host) && secrets_has_port(b, port);
}

bool secrets_is_bound(const struct plan_secret *secret, const struct name *host, uint16_t port)
{
	for (size_t i = 0; i < secret->bindings.count; i++)
		if (secrets_at_host(&secret->bindings.items[i], host, port))
			return true;
	return false;
}

bool secrets_is_anywhere(const struct plan_secret *secret, const struct name *host)
{
	for (size_t i = 0; i < secret->bindings.count; i++)
		if (name_matches(host, secret->bindings.items[i].host) &&
		    secret->bindings.items[i].paths.count == 0)
			return true;
	return false;
}

bool secrets_bound_host(const struct plan_secret *items, size_t count, const struct name *host)
{
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < items[i].bindings.count; n++)
			if (name_matches(host, items[i].bindings.items[n].host))
				return true;
	return false;
}

bool secrets_bound(const struct plan_secret *items, size_t count, const struct name *host,
		   uint16_t port)
{
	for (size_t i = 0; i < count; i++)
		if (secrets_is_bound(&items[i], host, port))
			return true;
	return false;
}

static bool secrets_has_method(const struct plan_binding *b, struct span method)
{
	for (size_t i = 0; i < b->methods.count; i++)
		if (http_method_is(b->methods.items[i].text, method))
			return true;
	return b->methods.count == 0;
}

static bool secrets_has_path(const struct plan_binding *b, const struct secrets_place *at)
{
	for (size_t i = 0; i < b->paths.count; i++)
		if (http_glob_holds(span_of_str(b->paths.items[i].text), at->path, at->sure))
			return true;
	return b->paths.count == 0;
}

/* How far a binding fits: each step is a better reason than the one before. */
enum secrets_fit {
	SECRETS_FIT_NOTHING,
	SECRETS_FIT_HOST,
	SECRETS_FIT_PORT,
	SECRETS_FIT_SCHEME,
	SECRETS_FIT_METHOD,
	SECRETS_FIT_ALL,
};

static enum secrets_fit secrets_fit(const struct plan_binding *b, const struct secrets_place *at)
{
	if (!name_matches(&at->host, b->host))
		return SECRETS_FIT_NOTHING;
	if (!secrets_has_port(b, at->port))
		return SECRETS_FIT_HOST;
	if (b->scheme != at->scheme)
		return SECRETS_FIT_PORT;
	if (!secrets_has_method(b, at->method))
		return SECRETS_FIT_SCHEME;
	return secrets_has_path(b, at) ? SECRETS_FIT_ALL : SECRETS_FIT_METHOD;
}

const char *secrets_refuse(const struct plan_secret *secret, const struct secrets_place *at)
{
	static const char *const reasons[] = {
		[SECRETS_FIT_NOTHING] = "it is not bound to this host",
		[SECRETS_FIT_HOST] = "it is not bound to this port",
		[SECRETS_FIT_PORT] = "it is not bound to this scheme",
		[SECRETS_FIT_SCHEME] = "it is not bound to this method",
		[SECRETS_FIT_METHOD] = "it is not bound to this path",
		[SECRETS_FIT_ALL] = NULL,
	};
	enum secrets_fit best = SECRETS_FIT_NOTHING;

	for (size_t i = 0; i < secret->bindings.count; i++) {
		enum secrets_fit fit = secrets_fit(&secret->bindings.items[i], at);

		best = fit > best ? fit : best;
	}
	return reasons[best];
}

struct span secrets_part(const struct plan_secret *secret, struct span value, size_t part)
{
	struct span rest = value;

	if (secret->kind != PLAN_SECRET_AWS)
		return part == 0 ? value : (struct span){value.ptr, 0};
	for (;;) {
		const uint8_t *end = rest.len > 0 ? memchr(rest.ptr, '\n', rest.len) : NULL;
		size_t len = end ? (size_t)(end - rest.ptr) : rest.len;

		if (part-- == 0)
			return (struct span){rest.ptr, len};
		if (!end)
			return (struct span){value.ptr, 0};
		rest = (struct span){end + 1, rest.len - len - 1};
	}
}

const char *secrets_check_value(unsigned int kind, struct span value)
{
	const struct plan_secret secret = {.kind = kind};
	size_t parts = kind == PLAN_SECRET_AWS ? PLAN_SECRET_PARTS_MAX : 1;

	if (value.len == 0)
		return "it is empty";
	if (value.len > PLAN_PLACEHOLDER_MAX)
		return "it is longer than 8192 bytes";
	for (size_t i = 0; i < value.len; i++) {
		bool line = kind == PLAN_SECRET_AWS && value.ptr[i] == '\n';

		if ((value.ptr[i] < 0x21 || value.ptr[i] > 0x7e) && !line)
			return "it has a space, a line break or another byte that no header can "
			       "carry";
	}
	if (secrets_part(&secret, value, parts).len > 0)
		return "it has too many lines";
	for (size_t i = 0; i < parts; i++) {
		size_t len = secrets_part(&secret, value, i).len;

		if (len == 0 && i < PLAN_SECRET_AWS_TOKEN)
			return "it needs two lines: the key's id, and the secret key";
		if (len > 0 && len < PLAN_PLACEHOLDER_MIN)
			return "it is shorter than 8 bytes, and could not be told from other text";
	}
	return NULL;
}
