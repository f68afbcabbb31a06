/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host that the bytes of a flow name.  When the box connected to a name, the handshake and
 * every request must name it.  When it connected to an address, a request must name that
 * address; the handshake names nothing, or a name that the rules allow by itself: one address
 * may have many sites, and this name only picks one of them.
 */
#include "relay.h"

#include "http_field.h"

#include <stdio.h>
#include <strings.h>

static bool relay_deny(struct rules_verdict *v, const char *reason)
{
	*v = (struct rules_verdict){.action = PLAN_ACTION_DENY};
	(void)snprintf(v->reason, sizeof(v->reason), "%s", reason);
	return false;
}

/* Whether the handshake with an allowed address may name this host. */
static bool relay_may_name(const struct flow *f, const struct name *name, struct rules_verdict *v)
{
	const struct rules_question q = {.name = *name, .port = f->port, .scheme = PLAN_SCHEME_TLS};

	rules_decide(f->gate->rules, &q, v);
	if (v->action != PLAN_ACTION_ALLOW)
		return false;
	/* A flow that passes unread cannot be checked against a rule about requests. */
	if (v->open && !f->open)
		return relay_deny(v, "its requests must be read: it is reached by its name, not by"
				     " an address");
	return true;
}

bool relay_name_fits(const struct flow *f, const struct name *name, struct rules_verdict *ret_v)
{
	if (!f->name)
		return name->len == 0 || relay_may_name(f, name, ret_v);
	if (name->len == 0)
		return relay_deny(ret_v, "the TLS handshake names no host (SNI)");
	return name_equal(name, &f->name->name) ||
	       relay_deny(ret_v, "the TLS handshake names another host than was asked for");
}

bool relay_keep_name(struct flow *f, const struct name *name)
{
	if (!f->named)
		f->named = malloc(sizeof(*f->named));
	if (f->named)
		*f->named = *name;
	return f->named != NULL;
}

bool relay_same_host(const struct flow *f, const struct http_head *head)
{
	const struct authority *a = &head->authority;

	if (a->port != 0 && a->port != f->port)
		return false;
	if (f->name)
		return !a->is_address && name_equal(&a->name, &f->name->name);
	return a->is_address && address_equal(&a->address, &f->address);
}

static bool relay_is_upgrade(const struct http_head *head, size_t field, struct span bytes)
{
	return http_same_word(http_piece_of(bytes, head->fields[field].name), "upgrade");
}

/*
 * The gate cannot check the bytes after an upgrade.  So only an upgrade to a WebSocket is allowed,
 * which names no other host; HTTP/2 could.
 */
bool relay_wants_websocket(const struct http_head *head, struct span bytes)
{
	for (size_t i = 0; head->upgrade && i < head->field_count; i++) {
		struct span value = http_piece_of(bytes, head->fields[i].value);

		if (relay_is_upgrade(head, i, bytes))
			return http_same_word(value, "websocket");
	}
	return false;
}

bool relay_says_websocket(const struct http_head *head, struct span bytes)
{
	static const char word[] = "websocket";

	for (size_t i = 0; i < head->field_count; i++) {
		struct span value = http_piece_of(bytes, head->fields[i].value);

		for (size_t at = 0; relay_is_upgrade(head, i, bytes) && at + 9 <= value.len; at++)
			if (strncasecmp((const char *)value.ptr + at, word, 9) == 0)
				return true;
	}
	return false;
}

bool relay_may_websocket(const struct flow *f, struct span method)
{
	/* With a rule about paths the connection would be opened, so any path will do here. */
	struct rules_question q = {.port = f->port,
				   .literal = !f->name,
				   .address = f->address,
				   .scheme = PLAN_SCHEME_HTTP,
				   .request = true,
				   .method = method,
				   .path = SPAN_LITERAL("/")};
	struct rules_verdict v;

	if (f->name)
		q.name = f->name->name;
	rules_decide(f->gate->rules, &q, &v);
	return v.action == PLAN_ACTION_ALLOW && v.websocket;
}
