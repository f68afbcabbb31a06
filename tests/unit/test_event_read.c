/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded comes back byte by byte, and what is not written as the recorder writes is
 * not taken.
 */
#include "cmocka_lead.h"

#include "event.h"
#include "event_read.h"
#include "filter.h"

#include <stdio.h>

static struct event event;

static int read_rest(const char *rest)
{
	struct frame f = {.seq = 3,
			  .wall = SPAN_LITERAL("2026-11-15T05:52:20.123456789Z"),
			  .kind = SPAN_LITERAL("file"),
			  .rest = span_of_str(rest)};

	return event_read(&f, &event, NULL);
}

static void assert_text(enum note_field field, const char *bytes, size_t len)
{
	struct span text = event_text(&event, field);

	assert_int_equal(text.len, len);
	assert_memory_equal(text.ptr, bytes, len);
}

static void test_fields(void **state)
{
	(void)state;
	assert_int_equal(
		read_rest(",\"op\":\"exec\",\"exec\":12,\"path\":\"/bin/x\",\"argv\":[\"a\","
			  "{\"b64\":\"/w==\"},\"\"],\"cwd\":\"/\"}"),
		0);
	static uint8_t scratch[FRAME_EVENT_MAX];
	struct event_items items = event_items_of(&event, NOTE_FIELD_ARGV, scratch);
	struct span item;

	assert_int_equal(event.kind, NOTE_FILE);
	assert_true(event_is(&event, NOTE_FIELD_OP, "exec"));
	assert_int_equal(event_number(&event, NOTE_FIELD_EXEC), 12);
	assert_false(event_has(&event, NOTE_FIELD_HOST));
	assert_text(NOTE_FIELD_CWD, "/", 1);
	assert_true(event_items_next(&items, &item) && item.len == 1 && item.ptr[0] == 'a');
	assert_true(event_items_next(&items, &item) && item.len == 1 && item.ptr[0] == 0xff);
	assert_true(event_items_next(&items, &item) && item.len == 0);
	assert_false(event_items_next(&items, &item));
}

static void test_escapes(void **state)
{
	(void)state;
	assert_int_equal(
		read_rest(",\"path\":\"\\u001b[31m\\u202e\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r"
			  "\\t\\u0000\",\"to\":\"\\u00e9\"}"),
		0);
	assert_text(NOTE_FIELD_PATH, "\033[31m\xe2\x80\xae\xf0\x9f\x98\x80\"\\/\b\f\n\r\t\0", 21);
	assert_text(NOTE_FIELD_TO, "\xc3\xa9", 2);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_int_equal(
		read_rest(",\"new\":{\"path\":\"no\",\"a\":[1,-2.5e3,null,{}]},\"op\":\"x\","
			  "\"other\":[]}"),
		0);
	assert_int_equal(event.has, 1ull << NOTE_FIELD_OP);
}

static void test_not_taken(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		",}",
		",\"op\":\"a\"",
		",\"op\":\"a\"}x",
		",\"op\":\"a\",\"op\":\"a\"}",
		",\"op\":7}",
		",\"exec\":\"7\"}",
		",\"exec\":07}",
		",\"exec\":-1}",
		",\"exec\":}",
		",\"exec\":18446744073709551616}",
		",\"path\":\"a\tb\"}",
		",\"path\":\"\\ud800\"}",
		",\"path\":\"\\udc00\\ud800\"}",
		",\"path\":\"\\u12g4\"}",
		",\"path\":\"\\x41\"}",
		",\"path\":\"\xff\"}",
		",\"path\":{\"b64\":\"!\"}}",
		",\"path\":{\"b64\":\"/w==\"",
		",\"path\":{\"b64\":\"/w==\",\"b64\":\"\"}}",
		",\"argv\":\"a\"}",
		",\"argv\":[1]}",
		",\"argv\":[\"a\",]}",
		",\"argv\":[\"a\"",
		",\"path\": \"a\"}",
		", \"path\":\"a\"}",
		",\"x\":[}",
		",\"x\":{\"a\"}}",
		",\"x\":{1:2}}",
		",\"x\":nul}",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		if (read_rest(bad[i]) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(event.has, 0);
		assert_int_equal(event.seq, 3);
	}
}

static void test_wall(void **state)
{
	int64_t seconds;
	uint32_t nanoseconds;

	(void)state;
	assert_int_equal(event_wall_seconds(SPAN_LITERAL("2026-11-15T05:52:20.000000123Z"),
					    &seconds, &nanoseconds),
			 0);
	assert_int_equal(seconds, 1794721940);
	assert_int_equal(nanoseconds, 123);
	assert_int_equal(event_wall_seconds(SPAN_LITERAL("2026"), &seconds, &nanoseconds),
			 -EBADMSG);
}

/* --- filters --- */

static void test_filter_path(void **state)
{
	static const struct {
		const char *wanted, *path;
		bool fits;
	} rows[] = {
		{"/etc", "/etc", true},
		{"/etc", "/etc/passwd", true},
		{"/etc/", "/etc/passwd", true},
		{"/etc", "/etcetera", false},
		{"/etc", "/home/etc/x", false},
		{"src", "/home/u/src/main.c", true},
		{"src/main.c", "/home/u/src/main.c", true},
		{"main.c", "/home/u/src/main.c", true},
		{"ain.c", "/home/u/src/main.c", false},
		{"main", "/home/u/src/main.c", false},
		{"*.c", "/home/u/src/main.c", true},
		{"*.h", "/home/u/src/main.c", false},
		{"/home/*/main.c", "/home/u/src/main.c", true},
		{"/", "/x", true},
		{"src", "src", true},
		{"src", "", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (filter_path(rows[i].wanted, span_of_str(rows[i].path)) != rows[i].fits)
			fail_msg("--path %s and %s", rows[i].wanted, rows[i].path);
}

static void test_filter_host(void **state)
{
	(void)state;
	assert_true(filter_host("evil.test", SPAN_LITERAL("evil.test"), 443));
	assert_false(filter_host("evil.test", SPAN_LITERAL("not.evil.test"), 443));
	assert_true(filter_host("*.test", SPAN_LITERAL("evil.test"), 443));
	assert_true(filter_host("evil.test:443", SPAN_LITERAL("evil.test"), 443));
	assert_false(filter_host("evil.test:80", SPAN_LITERAL("evil.test"), 443));
	assert_true(filter_host("2001:db8::1", SPAN_LITERAL("2001:db8::1"), 443));
	assert_true(filter_host("[2001:db8::1]:443", SPAN_LITERAL("2001:db8::1"), 443));
	assert_false(filter_host("[2001:db8::1]:80", SPAN_LITERAL("2001:db8::1"), 443));
	assert_false(filter_host(":", SPAN_LITERAL("evil.test"), 443));
}

static void test_filter_event(void **state)
{
	struct filter f = {.kinds = {{"file", "network"}, 2}};

	(void)state;
	assert_int_equal(read_rest(",\"op\":\"write\",\"verdict\":\"refused\",\"exec\":12,\"path\":"
				   "\"/a/b\"}"),
			 0);
	assert_true(filter_lets(&f, &event, SPAN_LITERAL("git")));
	f.verdicts = (struct filter_list){{"allowed"}, 1};
	assert_false(filter_lets(&f, &event, SPAN_LITERAL("git")));
	f.verdicts = (struct filter_list){{"refused"}, 1};
	f.processes = (struct filter_list){{"make", "12"}, 2};
	assert_true(filter_lets(&f, &event, SPAN_LITERAL("git")));
	f.processes = (struct filter_list){{"make", "g*t"}, 2};
	assert_true(filter_lets(&f, &event, SPAN_LITERAL("git")));
	f.processes = (struct filter_list){{"make"}, 1};
	assert_false(filter_lets(&f, &event, SPAN_LITERAL("git")));
	f = (struct filter){.since = 1794721940, .until = 1794721941};
	assert_true(filter_lets(&f, &event, SPAN_LITERAL("")));
	f.until = f.since;
	assert_false(filter_lets(&f, &event, SPAN_LITERAL("")));
	f = (struct filter){.hosts = {{"evil.test"}, 1}};
	assert_false(filter_lets(&f, &event, SPAN_LITERAL("")));
}

static void test_filter_time(void **state)
{
	struct error e = ERROR_INIT;
	int64_t at = 0;

	(void)state;
	assert_int_equal(filter_time("10m", 1794721940, &at, &e), 0);
	assert_int_equal(at, 1794721340);
	assert_int_equal(filter_time("2026-11-15T05:52:20Z", 0, &at, &e), 0);
	assert_int_equal(at, 1794721940);
	assert_int_equal(filter_time("2026-11-15", 0, &at, &e), 0);
	assert_int_equal(filter_time("yesterday", 0, &at, &e), -EINVAL);
	assert_int_equal(filter_time("", 0, &at, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),      cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_unknown),     cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_wall),        cmocka_unit_test(test_filter_path),
		cmocka_unit_test(test_filter_host), cmocka_unit_test(test_filter_event),
		cmocka_unit_test(test_filter_time),
	};

	return cmocka_run_group_tests_name("event_read", tests, NULL, NULL);
}
