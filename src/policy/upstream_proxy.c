/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream_proxy.h"

#include "encode.h"
#include "host.h"
#include "str.h"
#include "tunnel.h"

#include <strings.h>

enum { UPSTREAM_PORT = 1080, UPSTREAM_URL_MAX = 2048 };

/* --- one URL -------------------------------------------------------------------------- */

static int upstream_kind(const char *url, const char *origin, const char **ret_rest,
			 unsigned int *ret_kind, struct error *e)
{
	static const struct {
		const char *scheme;
		unsigned int kind;
	} kinds[] = {
		{"http://", PLAN_PROXY_CONNECT},
		{"socks5h://", PLAN_PROXY_SOCKS5},
		{"socks5://", PLAN_PROXY_SOCKS5},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++)
		if (strncasecmp(url, kinds[i].scheme, strlen(kinds[i].scheme)) == 0) {
			*ret_rest = url + strlen(kinds[i].scheme);
			*ret_kind = kinds[i].kind;
			return 0;
		}
	const char *colon = strstr(url, "://");

	if (!colon) {
		*ret_rest = url;
		*ret_kind = PLAN_PROXY_CONNECT;
		return 0;
	}
	/* Do not show it: what looks like a wrong scheme may be a part of the login. */
	size_t len = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	bool scheme = url + len == colon && len <= 16;
	int r = error_set(e, -EINVAL,
			  "%s: bawn speaks to proxies by http:// and socks5://, not by %.*s%s",
			  origin, scheme ? (int)len : 0, url, scheme ? "://" : "another scheme");

	error_next(e,
		   "Name one of these, or go without a proxy: 'proxy: none' in your config.yaml.");
	return r;
}

static int upstream_bad(const char *origin, const char *why, struct error *e)
{
	int r = error_set(e, -EINVAL, "%s: %s", origin, why);

	error_next(e, "It is written http://HOST:PORT or socks5://HOST:PORT.");
	return r;
}

/* LOGIN of LOGIN@HOST, decoded. */
static int upstream_login(struct span login, const char *origin, struct arena *arena,
			  const char **ret_login, struct error *e)
{
	char *text = arena_alloc(arena, login.len + 1);
	ssize_t n = text ? decode_percent(login, (uint8_t *)text, login.len) : -ENOMEM;

	if (!text)
		return error_sys(e, -ENOMEM, "cannot read %s", origin);
	if (n < 0 || !tunnel_login_is_good((struct span){(const uint8_t *)text, (size_t)n}))
		return upstream_bad(
			origin,
			"its login cannot be sent: a user and a password of at most 255 "
			"bytes each, % and @ escaped",
			e);
	text[n] = '\0';
	*ret_login = text;
	return 0;
}

int upstream_proxy_parse(const char *url, const char *origin, struct arena *arena,
			 struct upstream_proxy *ret, struct error *e)
{
	struct upstream_proxy made = {.proxy = {.origin = origin}};
	struct authority a;
	const char *rest = NULL;
	char words[ADDRESS_TEXT_SIZE];

	if (strlen(url) > UPSTREAM_URL_MAX)
		return upstream_bad(origin, "it is too long", e);
	int r = upstream_kind(url, origin, &rest, &made.proxy.kind, e);

	if (r < 0 || !rest)
		return r;
	size_t len = strcspn(rest, "/?#");
	const char *at = memrchr(rest, '@', len);

	if (at) {
		const struct span login = {(const uint8_t *)rest, (size_t)(at - rest)};

		r = login.len > 0 ? upstream_login(login, origin, arena, &made.login, e) : 0;
		len -= login.len + 1;
		rest = at + 1;
	}
	if (r < 0)
		return r;
	if (strspn(rest + len, "/") != strlen(rest + len))
		return upstream_bad(origin, "the address of a proxy has no path", e);
	if (authority_parse((struct span){(const uint8_t *)rest, len}, &a) < 0)
		return upstream_bad(origin, "this names no host that could be a proxy", e);
	made.proxy.port = a.port ? a.port : UPSTREAM_PORT;
	made.proxy.login = made.login != NULL;
	if (a.is_address) {
		uint8_t *bytes = arena_alloc(arena, sizeof(a.address.bytes));

		address_format(&a.address, words);
		if (bytes)
			memcpy(bytes, a.address.bytes, sizeof(a.address.bytes));
		made.proxy.address = (struct span){bytes, bytes ? sizeof(a.address.bytes) : 0};
	}
	made.proxy.host = arena_str(arena, a.is_address ? words : a.name.text);
	if (!made.proxy.host || (a.is_address && made.proxy.address.len == 0))
		return error_sys(e, -ENOMEM, "cannot read %s", origin);
	*ret = made;
	return 0;
}

/* --- what is not reached by it --------------------------------------------------------- */

/* One entry, taken apart. */
struct upstream_entry {
	bool every;
	bool is_network; /* an address and how many bits of it count */
	struct address address;
	unsigned int bits;
	struct name name; /* it, and all beneath */
	uint16_t port;    /* 0: any */
};

static bool upstream_read_network(const char *text, size_t len, struct upstream_entry *ret)
{
	const char *slash = memchr(text, '/', len);
	size_t host = slash ? (size_t)(slash - text) : len;
	uint64_t bits = 128;
	char number[8] = "";

	if (address_parse((struct span){(const uint8_t *)text, host}, ADDRESS_BRACKETS,
			  &ret->address) < 0)
		return false;
	if (slash) {
		size_t n = len - host - 1;

		if (n == 0 || n >= sizeof(number))
			return false;
		memcpy(number, slash + 1, n);
		if (str_parse_u64(number, &bits) < 0)
			return false;
		bits += address_is_v4(&ret->address) ? 96 : 0;
	}
	ret->is_network = true;
	ret->bits = (unsigned int)bits;
	return bits <= 128;
}

static bool upstream_read_entry(const char *text, struct upstream_entry *ret)
{
	struct authority a;
	size_t len = strlen(text);

	memset(ret, 0, sizeof(*ret));
	if (str_equal(text, "*")) {
		ret->every = true;
		return true;
	}
	if (upstream_read_network(text, len, ret))
		return true;
	text += strncmp(text, "*.", 2) == 0 ? 2 : *text == '.' ? 1 : 0;
	if (authority_parse(span_of_str(text), &a) < 0)
		return false;
	ret->port = a.port;
	ret->name = a.name;
	ret->is_network = a.is_address;
	ret->address = a.address;
	ret->bits = 128;
	return true;
}

int upstream_proxy_direct(const char *no_proxy, struct arena *arena, struct plan_proxy *into)
{
	struct plan_string *items = arena_alloc(arena, PLAN_DIRECT_MAX * sizeof(*items));
	size_t count = 0;

	if (!items)
		return -ENOMEM;
	while (*(no_proxy += strspn(no_proxy, ", \t"))) {
		size_t len = strcspn(no_proxy, ", \t");
		struct upstream_entry entry;
		const char *text = arena_strn(arena, no_proxy, len);

		if (!text)
			return -ENOMEM;
		if (count < PLAN_DIRECT_MAX && upstream_read_entry(text, &entry))
			items[count++].text = text;
		no_proxy += len;
	}
	into->direct.items = items;
	into->direct.count = count;
	return 0;
}

static bool upstream_within(const struct address *a, const struct upstream_entry *n)
{
	unsigned int whole = n->bits / 8, rest = n->bits % 8;

	if (memcmp(a->bytes, n->address.bytes, whole) != 0)
		return false;
	return rest == 0 || ((a->bytes[whole] ^ n->address.bytes[whole]) >> (8 - rest)) == 0;
}

static bool upstream_fits(const struct upstream_entry *entry, const struct authority *to)
{
	if (entry->port != 0 && entry->port != to->port)
		return false;
	if (entry->every)
		return true;
	if (to->is_address || entry->is_network)
		return to->is_address && entry->is_network && upstream_within(&to->address, entry);
	size_t len = strlen(entry->name.text), whole = strlen(to->name.text);

	return whole >= len && str_equal(to->name.text + whole - len, entry->name.text) &&
	       (whole == len || to->name.text[whole - len - 1] == '.');
}

/* Whether the host is this machine.  A proxy would take such a name for itself. */
static bool upstream_is_here(const struct authority *to)
{
	struct upstream_entry loopback;

	if (!to->is_address)
		return str_equal(to->name.text, "localhost") ||
		       plan_is_own_machine(to->name.text) ||
		       str_ends_with(to->name.text, ".localhost");
	return (upstream_read_entry("127.0.0.0/8", &loopback) &&
		upstream_within(&to->address, &loopback)) ||
	       (upstream_read_entry("::1", &loopback) && upstream_within(&to->address, &loopback));
}

bool upstream_proxy_leads(const struct plan_proxy *proxy, const struct authority *to, bool plain)
{
	struct upstream_entry entry;

	if (upstream_is_here(to) || (proxy->plain && !plain))
		return false;
	for (size_t i = 0; i < proxy->direct.count; i++)
		if (upstream_read_entry(proxy->direct.items[i].text, &entry) &&
		    upstream_fits(&entry, to))
			return false;
	return true;
}

/* --- which ---------------------------------------------------------------------------- */

/* The first of the names that is set, and not empty; or NULL. */
static const char *upstream_said(char *const *variables, const char *const *names, size_t count,
				 const char **ret_name)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = host_env(variables, names[i]);

		if (value && *value) {
			*ret_name = names[i];
			return value;
		}
	}
	return NULL;
}

static int upstream_of_environment(char *const *variables, struct arena *arena,
				   struct upstream_proxy *ret, bool *ret_there, struct error *e)
{
	static const char *const all[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	static const char *const plain[] = {"http_proxy"};
	static const char *const direct[] = {"no_proxy", "NO_PROXY"};
	const char *name = NULL;
	const char *url = upstream_said(variables, all, BAWN_ARRAY_SIZE(all), &name);
	bool only_plain = !url;

	if (!url)
		url = upstream_said(variables, plain, BAWN_ARRAY_SIZE(plain), &name);
	*ret_there = url != NULL;
	if (!url)
		return 0;
	int r = upstream_proxy_parse(url, name, arena, ret, e);

	if (r < 0)
		return r;
	ret->proxy.plain = only_plain;
	const char *not_by_it = upstream_said(variables, direct, BAWN_ARRAY_SIZE(direct), &name);

	r = upstream_proxy_direct(not_by_it ? not_by_it : "", arena, &ret->proxy);
	return r < 0 ? error_sys(e, r, "cannot read no_proxy") : 0;
}

int upstream_proxy_find(const char *written, const char *written_origin, char *const *variables,
			struct arena *arena, struct upstream_proxy *ret, bool *ret_there,
			struct error *e)
{
	struct upstream_proxy own = {.login = NULL}, around = own;
	struct error ignored = ERROR_INIT;
	bool there = false;

	*ret_there = false;
	if (str_equal(written, "none"))
		return 0;
	if (str_equal(written, "environment"))
		return upstream_of_environment(variables, arena, ret, ret_there, e);
	int r = upstream_proxy_parse(written, written_origin, arena, &own, e);

	if (r == 0 && own.login)
		r = upstream_bad(written_origin,
				 "the login of a proxy stands in https_proxy, not in a policy", e);
	if (r < 0)
		return r;
	/* If the environment names the same proxy, use its login and its exceptions. */
	if (upstream_of_environment(variables, arena, &around, &there, &ignored) == 0 && there &&
	    around.proxy.host && own.proxy.host && around.proxy.port == own.proxy.port &&
	    str_equal(around.proxy.host, own.proxy.host)) {
		own.login = around.login;
		own.proxy.login = own.login != NULL;
		own.proxy.direct.items = around.proxy.direct.items;
		own.proxy.direct.count = around.proxy.direct.count;
	}
	*ret = own;
	*ret_there = true;
	return 0;
}
