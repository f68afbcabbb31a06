/* SPDX-License-Identifier: Apache-2.0 */
/* Where a record is sent, what a collector answers, and how far it came. */
#include "cmocka_lead.h"

#include "fd.h"
#include "otlp_cursor.h"
#include "otlp_reply.h"
#include "otlp_settings.h"
#include "otlp_wire.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENV(...) ((char *const[]){(char *)(uintptr_t) "HOME=/", __VA_ARGS__, NULL})
#define VAR(text) ((char *)(uintptr_t)("OTEL_" text))
#define TO(url) VAR("EXPORTER_OTLP_ENDPOINT=" url)

static int try_settings(struct otlp_settings *s, char *const *environment, struct error *e)
{
	*s = OTLP_SETTINGS_INIT;
	*e = ERROR_INIT;
	return otlp_settings_read(s, environment, e);
}

static void test_endpoints(void **state)
{
	static const struct {
		const char *variable, *host, *authority, *path;
		unsigned int port;
		bool tls;
	} rows[] = {
		{"ENDPOINT=http://a.test:4318", "a.test", "a.test:4318", "/v1/logs", 4318, false},
		{"ENDPOINT=http://a.test:4318/", "a.test", "a.test:4318", "/v1/logs", 4318, false},
		{"ENDPOINT=https://a.test/in/", "a.test", "a.test", "/in/v1/logs", 443, true},
		{"LOGS_ENDPOINT=https://a.test", "a.test", "a.test", "/", 443, true},
		{"LOGS_ENDPOINT=http://a.test/x?y=1", "a.test", "a.test", "/x?y=1", 80, false},
		{"ENDPOINT=http://[2001:db8::1]:80", "2001:db8::1", "[2001:db8::1]:80", "/v1/logs",
		 80, false},
		{"ENDPOINT=http://192.0.2.1", "192.0.2.1", "192.0.2.1", "/v1/logs", 80, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_otlp_settings_ struct otlp_settings s;
		struct error e;
		char text[256];

		(void)snprintf(text, sizeof(text), "OTEL_EXPORTER_OTLP_%s", rows[i].variable);
		if (try_settings(&s, ENV(text), &e) < 0)
			fail_msg("%s: %s", text, e.text);
		assert_true(s.on);
		assert_string_equal(s.host, rows[i].host);
		assert_string_equal(s.authority, rows[i].authority);
		assert_string_equal(s.path, rows[i].path);
		assert_int_equal(s.at.port, rows[i].port);
		assert_int_equal(s.tls, rows[i].tls);
		assert_int_equal(s.timeout_ms, OTLP_TIMEOUT_MS);
	}
}

/* What is written and cannot be done is refused, and the variable is named. */
static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"ENDPOINT=a.test:4318",
		"ENDPOINT=ftp://a.test",
		"ENDPOINT=http://",
		"ENDPOINT=http://user:password@a.test",
		"ENDPOINT=http://a.test:0",
		"ENDPOINT=http://a.test:99999",
		"ENDPOINT=http://a.test/x y",
		"ENDPOINT=http://a.test/x#y",
		"ENDPOINT=http://a.test?x",
		"ENDPOINT=http://a_b.test\r\nX: y",
		"PROTOCOL=grpc",
		"PROTOCOL=http/protobuf",
		"COMPRESSION=zstd",
		"TIMEOUT=soon",
		"TIMEOUT=0",
		"TIMEOUT=-1",
		"HEADERS=no-value",
		"HEADERS==x",
		"HEADERS=a b=x",
		"HEADERS=a=x%0d%0aHost: y",
		"HEADERS=a=%zz",
		"HEADERS=a=%00",
		"HEADERS=Content-Length=3",
		"HEADERS=host=x",
		"CLIENT_CERTIFICATE=/x",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wrong); i++) {
		_cleanup_otlp_settings_ struct otlp_settings s;
		char text[256], name[64];
		struct error e;

		(void)snprintf(text, sizeof(text), "OTEL_EXPORTER_OTLP_%s", wrong[i]);
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		if (try_settings(&s, ENV(text, TO("http://a.test")), &e) == 0)
			fail_msg("%s was taken", wrong[i]);
		if (!strstr(e.text, name))
			fail_msg("%s is not named in: %s", name, e.text);
		/* A header's value may be a credential. */
		assert_null(strstr(e.text, "x%0d"));
	}
}

static void test_lists(void **state)
{
	_cleanup_otlp_settings_ struct otlp_settings s;
	struct error e;

	(void)state;
	assert_int_equal(try_settings(&s,
				      ENV(TO("http://a.test"), VAR("EXPORTER_OTLP_HEADERS=a=1"),
					  VAR("EXPORTER_OTLP_LOGS_HEADERS= b = two%2C%203 ,,c="),
					  VAR("RESOURCE_ATTRIBUTES=team=x=y,place=caf%C3%A9"),
					  VAR("SERVICE_NAME=ours")),
				      &e),
			 0);
	assert_int_equal(s.headers.count, 2);
	assert_string_equal(s.headers.items[0].name, "b");
	assert_string_equal(s.headers.items[0].value, "two, 3");
	assert_string_equal(s.headers.items[1].value, "");
	assert_int_equal(s.attributes.count, 2);
	assert_string_equal(s.attributes.items[0].value, "x=y");
	assert_string_equal(s.attributes.items[1].value, "caf\xc3\xa9");
	assert_string_equal(s.service, "ours");
	otlp_settings_fini(&s);
	assert_true(try_settings(&s, ENV(TO("http://a.test"), VAR("RESOURCE_ATTRIBUTES=a=%FF")),
				 &e) < 0);
}

static void test_wanted(void **state)
{
	(void)state;
	assert_true(otlp_settings_wanted(ENV(TO("x"))));
	assert_false(otlp_settings_wanted(ENV(TO(""))));
	assert_false(otlp_settings_wanted(ENV(TO("x"), VAR("SDK_DISABLED=TRUE"))));
	assert_true(otlp_settings_wanted(ENV(TO("x"), VAR("SDK_DISABLED=no"))));
	assert_false(otlp_settings_wanted(ENV(TO("x"), VAR("LOGS_EXPORTER=none"))));
	assert_false(otlp_settings_wanted(ENV(VAR("EXPORTER_OTLP_ENDPOINTS=x"))));
}

static void test_replies(void **state)
{
	static const struct {
		const char *body;
		bool json;
		uint64_t rejected;
		const char *message;
	} rows[] = {
		{"{}", true, 0, ""},
		{" {\n} ", true, 0, ""},
		{"{\"partialSuccess\":{\"rejectedLogRecords\":\"3\",\"errorMessage\":\"no\"}}",
		 true, 3, "no"},
		{"{\"partialSuccess\": {\"errorMessage\": \"a\\\"b\", \"rejectedLogRecords\": 12}}",
		 true, 12, "a\\\"b"},
		{"{\"a\":[1,{\"partialSuccess\":{\"rejectedLogRecords\":9}}],\"b\":null}", true, 0,
		 ""},
		{"{\"partialSuccess\":{\"x\":{\"rejectedLogRecords\":9}}}", true, 0, ""},
		{"{\"rejectedLogRecords\":9}", true, 0, ""},
		{"{\"code\":3,\"message\":\"bad\"}", true, 0, "bad"},
		{"{\"partialSuccess\":{\"rejectedLogRecords\":\"-1\"}}", true, 0, ""},
		{"{\"partialSuccess\":{\"rejectedLogRecords\":\"99999999999999999999\"}}", true, 0,
		 ""},
		{"", false, 0, ""},
		{"{", false, 0, ""},
		{"{\"a\"}", false, 0, ""},
		{"{\"a\":1}}", false, 0, ""},
		{"{\"a\":\"x", false, 0, ""},
		{"<html>", false, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct otlp_reply r;

		if (otlp_reply_read(span_of_str(rows[i].body), &r) != rows[i].json)
			fail_msg("%s", rows[i].body);
		if (!rows[i].json)
			continue;
		assert_int_equal(r.rejected, rows[i].rejected);
		assert_true(span_equal(r.message, span_of_str(rows[i].message)));
	}
}

static void test_retry_after(void **state)
{
	const int64_t now = 1794721940; /* Sun, 15 Nov 2026 05:52:20 */

	(void)state;
	assert_int_equal(otlp_retry_after(span_of_str("3"), now), 3000);
	assert_int_equal(otlp_retry_after(span_of_str("0"), now), 0);
	assert_int_equal(otlp_retry_after(span_of_str("999999999"), now), 3600 * 1000);
	assert_int_equal(otlp_retry_after(span_of_str("Sun, 15 Nov 2026 05:52:30 GMT"), now),
			 10000);
	assert_int_equal(otlp_retry_after(span_of_str("Sun, 15 Nov 2026 05:00:00 GMT"), now), 0);
	assert_int_equal(otlp_retry_after(span_of_str("soon"), now), -1);
	assert_int_equal(otlp_retry_after(span_of_str("-5"), now), -1);
	assert_int_equal(otlp_retry_after(span_of_str(""), now), -1);
}

/* It comes back as it was kept; one that is torn begins anew; two do not share it. */
static void test_cursor(void **state)
{
	char path[] = "/tmp/bawn-test-XXXXXX";
	struct otlp_cursor c, other;
	struct error e = ERROR_INIT;

	(void)state;
	assert_non_null(mkdtemp(path));
	_cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(otlp_cursor_open(dir, "one", false, &c, &e), -ENOENT);
	assert_int_equal(otlp_cursor_open(dir, "one", true, &c, &e), 0);
	assert_int_equal(c.seq, 0);
	c.seq = 1024;
	c.segment = 2;
	c.offset = UINT64_MAX;
	c.refused = 7;
	assert_int_equal(otlp_cursor_keep(&c, &e), 0);
	assert_int_equal(otlp_cursor_open(dir, "one", false, &other, &e), -EBUSY);
	otlp_cursor_close(&c);
	assert_int_equal(otlp_cursor_open(dir, "one", false, &c, &e), 0);
	assert_true(c.seq == 1024 && c.segment == 2 && c.offset == UINT64_MAX && c.refused == 7 &&
		    !c.whole);
	_cleanup_fd_ int file = openat(c.folder, "cursor", O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(fd_write_all(file, "bawn-sent 1\nseq 10", 18), 0);
	otlp_cursor_close(&c);
	assert_int_equal(otlp_cursor_open(dir, "one", false, &c, &e), 0);
	assert_int_equal(c.seq, 0);
	assert_int_equal(unlinkat(c.folder, "cursor", 0), 0);
	otlp_cursor_close(&c);
	assert_int_equal(unlinkat(dir, "one", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(path), 0);
}

static void test_cursor_is_strict(void **state)
{
	static const char *const wrong[] = {
		"",
		"bawn-sent 2\nseq 1 segment 1 offset 0 refused 0 whole 0\n",
		"bawn-sent 1\nseq 01 segment 1 offset 0 refused 0 whole 0\n",
		"bawn-sent 1\nseq 1 segment 1 offset 0 refused 0 whole 2\n",
		"bawn-sent 1\nseq 1 segment 4294967296 offset 0 refused 0 whole 0\n",
		"bawn-sent 1\nseq 18446744073709551616 segment 1 offset 0 refused 0 whole 0\n",
		"bawn-sent 1\nseq 1 segment 1 offset 0 refused 0 whole 0\n ",
		"bawn-sent 1\nseq 1 segment 1 offset 0 refused 0 whole 0",
	};
	struct otlp_cursor c;

	(void)state;
	assert_int_equal(
		otlp_cursor_parse(
			SPAN_LITERAL("bawn-sent 1\nseq 1 segment 1 offset 0 refused 0 whole 1\n"),
			&c),
		0);
	assert_true(c.whole);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wrong); i++)
		if (otlp_cursor_parse(span_of_str(wrong[i]), &c) == 0)
			fail_msg("taken: %s", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoints), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lists),     cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_replies),   cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_cursor),    cmocka_unit_test(test_cursor_is_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
