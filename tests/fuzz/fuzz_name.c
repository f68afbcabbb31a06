/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a name, as a pattern, as host and port; and as a pattern and a name with
 * a newline between.  What is taken is canonical: it says what was given but for case
 * and a last dot, it is no address, and a pattern covers only itself or what ends in
 * "." and its host.
 */
#include "../lib/cut.h"
#include "authority.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(const struct name *n)
{
	struct in_addr v4;
	struct in6_addr v6;
	struct name again;

	CUT_MUST(n->len > 0 && n->len <= NAME_TEXT_MAX && strlen(n->text) == n->len);
	CUT_MUST(strspn(n->text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n->len);
	CUT_MUST(n->text[0] != '.' && n->text[n->len - 1] != '.' && !strstr(n->text, ".."));
	CUT_MUST(!inet_aton(n->text, &v4) && inet_pton(AF_INET6, n->text, &v6) != 1);
	CUT_MUST(name_parse(span_of_str(n->text), &again) == 0 && name_equal(n, &again));
}

static void check_name(struct span raw)
{
	struct name n;

	if (name_parse(raw, &n) < 0)
		return;
	check_canonical(&n);
	CUT_MUST(n.len == raw.len || (n.len + 1u == raw.len && raw.ptr[n.len] == '.'));
	for (size_t i = 0; i < n.len; i++)
		CUT_MUST((char)raw.ptr[i] == n.text[i] || (raw.ptr[i] >= 'A' && raw.ptr[i] <= 'Z' &&
							   (raw.ptr[i] | 0x20) == n.text[i]));
	if (name_matches(&n, "github.com"))
		CUT_MUST(strcmp(n.text, "github.com") == 0);
	if (name_matches(&n, "*.example.org"))
		CUT_MUST(n.len > 12 && strcmp(n.text + n.len - 12, ".example.org") == 0);
}

static void check_pattern(struct span raw, const struct name *n)
{
	struct name_pattern p, again;

	if (name_parse_pattern(raw, &p) < 0)
		return;
	const char *host = p.text[0] == '*' ? p.text + 2 : p.text;
	struct name canonical;

	CUT_MUST(strlen(p.text) == p.len && !strchr(host, '*'));
	CUT_MUST(name_parse(span_of_str(host), &canonical) == 0 &&
		 strcmp(canonical.text, host) == 0);
	CUT_MUST(name_parse_pattern(span_of_str(p.text), &again) == 0 &&
		 strcmp(p.text, again.text) == 0);
	CUT_MUST(name_matches(&canonical, p.text) == (host == p.text));
	if (!n || !name_matches(n, p.text))
		return;
	if (host == p.text)
		CUT_MUST(strcmp(n->text, host) == 0);
	else
		CUT_MUST(n->len > strlen(host) + 1 && n->text[n->len - strlen(host) - 1] == '.' &&
			 strcmp(n->text + n->len - strlen(host), host) == 0);
}

static void check_authority(struct span raw)
{
	char text[NAME_TEXT_MAX + 10], host[ADDRESS_TEXT_SIZE] = "";
	struct authority a, again;

	if (authority_parse(raw, &a) < 0)
		return;
	if (a.is_address)
		address_format(&a.address, host);
	else
		check_canonical(&a.name);
	bool v6 = a.is_address && strchr(host, ':');
	int len = snprintf(text, sizeof(text), "%s%s%s", v6 ? "[" : "",
			   a.is_address ? host : a.name.text, v6 ? "]" : "");

	if (a.port > 0)
		(void)snprintf(text + len, sizeof(text) - (size_t)len, ":%u", a.port);
	CUT_MUST(authority_parse(span_of_str(text), &again) == 0);
	CUT_MUST(authority_same_host(&a, &again) && a.port == again.port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span raw = {data, size};
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;

	check_name(raw);
	check_authority(raw);
	check_pattern(raw, NULL);
	if (newline) {
		size_t before = (size_t)(newline - data);
		struct span rest = {newline + 1, size - before - 1};
		_cleanup_own_ struct span pattern = cut_own((struct span){data, before});
		struct name n;

		check_name(rest);
		check_pattern(pattern, name_parse(rest, &n) == 0 ? &n : NULL);
	}
	return 0;
}
