/* SPDX-License-Identifier: Apache-2.0 */
/* A name is one text or none, and a rule covers exactly what it says. */
#include "cmocka_lead.h"

#include "authority.h"
#include "buf.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

static const char *source_root;

#define LABEL_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_253                           \
	LABEL_63 "." LABEL_63 "." LABEL_63 \
		 ".bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void test_names(void **state)
{
	static const struct {
		const char *raw, *text; /* NULL: see r */
		int r;
	} rows[] = {
		{"github.com", "github.com", 0},
		{"GitHub.COM.", "github.com", 0},
		{"localhost", "localhost", 0},
		{"a", "a", 0},
		{"1.example.org", "1.example.org", 0},
		{"127.0.0.1.example.org", "127.0.0.1.example.org", 0},
		{"0x7f.org", "0x7f.org", 0},
		{"1e3", "1e3", 0},
		{"a1", "a1", 0},
		{"x0x1", "x0x1", 0},
		{"0xg", "0xg", 0},
		{"a--b", "a--b", 0},
		{"xn--bcher-kva.example.org", "xn--bcher-kva.example.org", 0},
		{LABEL_63 ".org", LABEL_63 ".org", 0},
		{NAME_253, NAME_253, 0},
		{NAME_253 ".", NAME_253, 0},
		{"", NULL, -EINVAL},
		{".", NULL, -EINVAL},
		{"..", NULL, -EINVAL},
		{"a..", NULL, -EINVAL},
		{"a..b", NULL, -EINVAL},
		{".a", NULL, -EINVAL},
		{"-a", NULL, -EINVAL},
		{"a-", NULL, -EINVAL},
		{"a.-", NULL, -EINVAL},
		{"a_b", NULL, -EINVAL},
		{"*.a", NULL, -EINVAL},
		{"a:1", NULL, -EINVAL},
		{"a" LABEL_63 ".org", NULL, -EINVAL},
		{"b" NAME_253, NULL, -EINVAL},
		{"b" NAME_253 ".", NULL, -EINVAL},
		{NAME_253 "..", NULL, -EINVAL},
		{"127.0.0.1", NULL, -EADDRNOTAVAIL},
		{"127.0.0.1.", NULL, -EADDRNOTAVAIL},
		{"0", NULL, -EADDRNOTAVAIL},
		{"0x", NULL, -EADDRNOTAVAIL},
		{"0x7f.1", NULL, -EADDRNOTAVAIL},
		{"0X7F000001", NULL, -EADDRNOTAVAIL},
		{"a.1", NULL, -EADDRNOTAVAIL},
		{"a.0xbeef", NULL, -EADDRNOTAVAIL},
		{"1.2.3.4.5", NULL, -EADDRNOTAVAIL},
		{"99999999999999999999", NULL, -EADDRNOTAVAIL},
		{"::1", NULL, -EADDRNOTAVAIL},
		{"[::1]", NULL, -EADDRNOTAVAIL},
		{"[::1]:443", NULL, -EINVAL},
		{"[127.0.0.1]", NULL, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct name n = {3, "???"};
		int r = name_parse(span_of_str(rows[i].raw), &n);

		if (r != rows[i].r || !str_equal(n.text, rows[i].text ? rows[i].text : "???") ||
		    n.len != strlen(n.text))
			fail_msg("%s: %d, %s", rows[i].raw, r, n.text);
	}
}

/* Only these bytes, at any place; a NUL ends nothing. */
static void test_bytes(void **state)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";

	(void)state;
	for (unsigned int c = 0; c < 256; c++)
		for (size_t at = 1; at < 10; at++) {
			char raw[] = "abcd.efghi.jkl";
			bool edge = at == 3 || at == 5 || at == 9; /* of a label */
			bool ok = c != 0 && strchr(allowed, (int)c) &&
				  !(edge && (c == '.' || c == '-'));
			struct name n;

			raw[at] = (char)c;
			if (name_parse((struct span){(const uint8_t *)raw, sizeof(raw) - 1}, &n) !=
			    (ok ? 0 : -EINVAL))
				fail_msg("byte %u at %zu", c, at);
		}
}

static void test_patterns(void **state)
{
	static const struct {
		const char *raw, *text;
		int r;
	} rows[] = {
		{"github.com", "github.com", 0},
		{"GitHub.com.", "github.com", 0},
		{"*.Example.org", "*.example.org", 0},
		{"*.org", "*.org", 0},
		{"localhost", "localhost", 0},
		{"*", NULL, -EINVAL},
		{"*.", NULL, -EINVAL},
		{"*..", NULL, -EINVAL},
		{"*.*", NULL, -EINVAL},
		{"*.*.org", NULL, -EINVAL},
		{"**.org", NULL, -EINVAL},
		{"*a.org", NULL, -EINVAL},
		{"a*.org", NULL, -EINVAL},
		{"a.*.org", NULL, -EINVAL},
		{"*.example.org:443", NULL, -EINVAL},
		{"*.a_b.org", NULL, -EINVAL},
		{"*." NAME_253, NULL, -EINVAL},
		{".example.org", NULL, -EINVAL},
		{"", NULL, -EINVAL},
		{"https://github.com", NULL, -EINVAL},
		{"127.0.0.1", NULL, -EADDRNOTAVAIL},
		{"*.127.0.0.1", NULL, -EADDRNOTAVAIL},
		{"*.1", NULL, -EADDRNOTAVAIL},
		{"[::1]", NULL, -EADDRNOTAVAIL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct name_pattern p = {3, "???"};
		int r = name_parse_pattern(span_of_str(rows[i].raw), &p);

		if (r != rows[i].r || !str_equal(p.text, rows[i].text ? rows[i].text : "???") ||
		    p.len != strlen(p.text))
			fail_msg("%s: %d, %s", rows[i].raw, r, p.text);
	}
}

static void test_matches(void **state)
{
	static const struct {
		const char *name, *pattern;
		bool matches;
	} rows[] = {
		{"github.com", "github.com", true},
		{"a.github.com", "github.com", false},
		{"github.co", "github.com", false},
		{"github.comm", "github.com", false},
		{"a.example.org", "*.example.org", true},
		{"a.b.example.org", "*.example.org", true},
		{"example.org", "*.example.org", false},
		{"aexample.org", "*.example.org", false},
		{"a.example.org.test", "*.example.org", false},
		{"org", "*.example.org", false},
		{"a.org", "*.org", true},
		{"org", "*.org", false},
		/* No pattern at all, and nothing that a parser would have let pass. */
		{"a", "", false},
		{"a", "*", false},
		{"a", "*.", false},
		{"a.org", "*org", false},
		{"a.org", "*.*", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct name n;

		assert_int_equal(name_parse(span_of_str(rows[i].name), &n), 0);
		if (name_matches(&n, rows[i].pattern) != rows[i].matches)
			fail_msg("%s and %s", rows[i].name, rows[i].pattern);
	}
	const struct name none = {0};

	assert_false(name_matches(&none, ""));
	assert_false(name_matches(&none, "*."));
	assert_false(name_equal(&none, &none));
}

static uint8_t hex(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes that a host of the table stands for; its length. */
static size_t unescape(struct span s, uint8_t *into)
{
	size_t len = 0;

	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.ptr[i];

		if (c == '\\') {
			assert_true(++i < s.len);
			c = s.ptr[i];
			if (c == 'x') {
				assert_true(i + 2 < s.len);
				c = (uint8_t)(hex((char)s.ptr[i + 1]) << 4 |
					      hex((char)s.ptr[i + 2]));
				i += 2;
			} else {
				c = c == 'r' ? '\r' : c == 'n' ? '\n' : c == 't' ? '\t' : '\\';
			}
		}
		into[len++] = c;
	}
	return len;
}

static bool is_allowed(struct span host)
{
	struct authority a;

	if (authority_parse(host, &a) < 0 || a.is_address || (a.port != 0 && a.port != 443))
		return false;
	return name_matches(&a.name, "github.com") || name_matches(&a.name, "*.example.org");
}

/* What reaches further: the host without a port, as DNS, SNI and SOCKS give it. */
static bool is_allowed_name(struct span host)
{
	struct name n;

	if (name_parse(host, &n) < 0)
		return false;
	return name_matches(&n, "github.com") || name_matches(&n, "*.example.org");
}

static void check_row(struct span line)
{
	const uint8_t *tab = memchr(line.ptr, '\t', line.len);
	uint8_t raw[512];

	assert_non_null(tab);
	struct span host = {line.ptr, (size_t)(tab - line.ptr)};
	struct span rest = {tab + 1, line.len - host.len - 1};
	const uint8_t *end = memchr(rest.ptr, '\t', rest.len);

	assert_non_null(end);
	rest.len = (size_t)(end - rest.ptr);
	bool allow = span_equal(rest, SPAN_LITERAL("allow"));

	assert_true(allow || span_equal(rest, SPAN_LITERAL("deny")));
	assert_true(host.len <= sizeof(raw));
	struct span bytes = {raw, unescape(host, raw)};
	bool port = memchr(raw, ':', bytes.len) != NULL;

	if (is_allowed(bytes) != allow || is_allowed_name(bytes) != (allow && !port))
		fail_msg("%.*s is not %s", (int)host.len, (const char *)host.ptr,
			 allow ? "allowed" : "denied");
}

static void test_hosts_table(void **state)
{
	_cleanup_buf_ struct buf table = BUF_INIT(1u << 20);
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t rows = 0;

	(void)state;
	assert_true(root >= 0);
	assert_true(fd_read_file_at(root, "tests/data/hosts.tsv", &table) >= 0);
	for (const char *at = buf_str(&table), *end; (end = strchr(at, '\n')); at = end + 1) {
		struct span line = {(const uint8_t *)at, (size_t)(end - at)};

		if (at[0] == '#' || str_after(at, "host\tverdict"))
			continue;
		check_row(line);
		rows++;
	}
	assert_true(rows >= 200);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_patterns),    cmocka_unit_test(test_matches),
		cmocka_unit_test(test_hosts_table),
	};

	if (argc != 2)
		return 2;
	source_root = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
