/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the places of secrets.  A repository's file can take places away; a ceiling says
 * which there may be.  Both need the same comparison: are this host, port, scheme, method
 * and path within those of the other?
 */
#include "secret.h"

#include "http_path.h"
#include "str.h"

#include <inttypes.h>

static bool secret_host_covers(const char *outer, const char *inner)
{
	const char *below = str_after(outer, "*");

	if (!below)
		return str_equal(outer, inner);
	return strlen(inner) > strlen(below) && str_ends_with(inner, below);
}

static bool secret_ports_cover(const struct plan_binding *outer, const struct plan_binding *inner)
{
	for (size_t i = 0; i < inner->ports.count; i++) {
		size_t n = 0;

		while (n < outer->ports.count &&
		       !(outer->ports.items[n].from <= inner->ports.items[i].from &&
			 inner->ports.items[i].to <= outer->ports.items[n].to))
			n++;
		if (n == outer->ports.count)
			return false;
	}
	return true;
}

static bool secret_has_method(const struct plan_string *items, size_t count, const char *method)
{
	for (size_t i = 0; i < count; i++)
		if (http_method_is(items[i].text, span_of_str(method)))
			return true;
	return count == 0;
}

static bool secret_has_glob(const struct plan_string *items, size_t count, const char *glob)
{
	for (size_t i = 0; i < count; i++)
		if (http_glob_covers(span_of_str(items[i].text), span_of_str(glob)))
			return true;
	return count == 0;
}

static bool secret_binding_covers(const struct plan_binding *outer,
				  const struct plan_binding *inner)
{
	if (!secret_host_covers(outer->host, inner->host) || outer->scheme != inner->scheme ||
	    !secret_ports_cover(outer, inner) ||
	    (outer->methods.count > 0 && inner->methods.count == 0) ||
	    (outer->paths.count > 0 && inner->paths.count == 0))
		return false;
	for (size_t i = 0; i < inner->methods.count; i++)
		if (!secret_has_method(outer->methods.items, outer->methods.count,
				       inner->methods.items[i].text))
			return false;
	for (size_t i = 0; i < inner->paths.count; i++)
		if (!secret_has_glob(outer->paths.items, outer->paths.count,
				     inner->paths.items[i].text))
			return false;
	return true;
}

bool secret_is_given(const struct plan_binding *outer, size_t count,
		     const struct plan_binding *inner)
{
	for (size_t i = 0; i < count; i++)
		if (secret_binding_covers(&outer[i], inner))
			return true;
	return false;
}

/* --- narrowing --- */

/* Of two lists the words that both have, by `has`; an empty list has all.  False: none is left. */
static bool secret_common(const struct plan_string *a, size_t a_count, const struct plan_string *b,
			  size_t b_count,
			  bool (*has)(const struct plan_string *, size_t, const char *),
			  struct plan_string *into, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < a_count; i++)
		if (has(b, b_count, a[i].text))
			into[count++] = a[i];
	for (size_t i = 0; i < b_count; i++) {
		bool again = false;

		for (size_t n = 0; n < count; n++)
			again = again || str_equal(into[n].text, b[i].text);
		if (!again && has(a, a_count, b[i].text))
			into[count++] = b[i];
	}
	*ret_count = count;
	return count > 0 || (a_count == 0 && b_count == 0);
}

/* The part of a binding that lies within a host of the repository's; NULL host: in all of them. */
static int secret_narrow_one(const struct plan_binding *from, const struct plan_binding *host,
			     const struct secret_said *by, struct arena *arena,
			     struct plan_binding *ret)
{
	struct plan_string *methods =
		arena_alloc(arena, 2 * (size_t)PLAN_RULE_WORDS_MAX * sizeof(*methods));
	struct plan_string *paths =
		arena_alloc(arena, 2 * (size_t)PLAN_RULE_WORDS_MAX * sizeof(*paths));

	if (!methods || !paths)
		return -ENOMEM;
	*ret = *from;
	if (host) {
		bool inner = secret_host_covers(from->host, host->host);

		if (from->scheme != host->scheme || !secret_ports_cover(from, host) ||
		    !(inner || secret_host_covers(host->host, from->host)))
			return 0;
		ret->host = inner ? host->host : from->host;
		ret->ports.items = host->ports.items;
		ret->ports.count = host->ports.count;
	}
	ret->methods.items = methods;
	ret->paths.items = paths;
	return secret_common(from->methods.items, from->methods.count, by->methods.items,
			     by->methods.count, secret_has_method, methods, &ret->methods.count) &&
	       secret_common(from->paths.items, from->paths.count, by->paths.items, by->paths.count,
			     secret_has_glob, paths, &ret->paths.count) &&
	       ret->methods.count <= PLAN_RULE_WORDS_MAX && ret->paths.count <= PLAN_RULE_WORDS_MAX;
}

int secret_narrow(const struct policy_secret *secret, const struct secret_said *by,
		  struct arena *arena, struct plan_binding **ret_bindings, bool *ret_beyond)
{
	struct plan_binding *left = arena_alloc(arena, PLAN_BINDINGS_MAX * sizeof(*left));
	bool hosts = by->said >> SECRET_HOSTS & 1;
	size_t each = hosts ? by->secret.bindings.count : 1;
	int count = 0;

	*ret_beyond = (by->said & ~(1u << SECRET_HOSTS | 1u << SECRET_SCHEME |
				    1u << SECRET_METHODS | 1u << SECRET_PATHS)) != 0;
	for (size_t n = 0; left && n < each; n++) {
		const struct plan_binding *host = hosts ? &by->secret.bindings.items[n] : NULL;
		bool found = false;

		for (size_t i = 0; i < secret->bindings.count && count < PLAN_BINDINGS_MAX; i++) {
			int r = secret_narrow_one(&secret->bindings.items[i], host, by, arena,
						  &left[count]);

			if (r < 0)
				return r;
			found = found || r > 0;
			count += r;
		}
		*ret_beyond = *ret_beyond || !found;
	}
	*ret_bindings = left;
	return left ? count : -ENOMEM;
}

void secret_show_binding(const struct plan_binding *b, struct buf *into)
{
	uint64_t usual = b->scheme == PLAN_SCHEME_HTTP ? 80 : 443;

	buf_putf(into, "%s%s", b->scheme == PLAN_SCHEME_HTTP ? "http://" : "", b->host);
	for (size_t i = 0; i < b->ports.count; i++)
		if (b->ports.items[i].from != usual || b->ports.items[i].to != usual)
			buf_putf(into, "%s%" PRIu64, i ? "," : ":", b->ports.items[i].from);
	for (size_t i = 0; i < b->methods.count; i++)
		buf_putf(into, "%s%s", i ? ", " : " ", b->methods.items[i].text);
	for (size_t i = 0; i < b->paths.count; i++)
		buf_putf(into, "%s%s", i ? ", " : " ", b->paths.items[i].text);
}
