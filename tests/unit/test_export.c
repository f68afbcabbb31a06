/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the words of others: the tables name what there is, docs/EXPORT.md says what they say,
 * and no byte of an event is lost or acts on what reads it.
 */
#include "cmocka_lead.h"

#include "export.h"
#include "fd.h"
#include "otlp_reply.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

static const char *source_root;
static struct event event;
static struct otlp_settings settings = {.arena = {.max = OTLP_SETTINGS_BYTES}};

static struct frame frame_of(const char *kind, const char *rest)
{
	return (struct frame){
		.seq = 3,
		.event = span_of_str(rest),
		.prev = SPAN_LITERAL(
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		.boot = 77,
		.wall = SPAN_LITERAL("2026-11-15T05:52:20.123456789Z"),
		.kind = span_of_str(kind),
		.rest = span_of_str(rest)};
}

static void export_one(const char *kind, const char *rest, struct buf *ret_otlp,
		       struct buf *ret_ocsf)
{
	_cleanup_export_ struct export *x =
		export_new("20261115-055220-calm-otter", "vm", &settings);
	struct frame f = frame_of(kind, rest);
	struct export_otlp o;
	struct otlp_reply reply;

	assert_non_null(x);
	export_read(&f, &event);
	export_otlp_begin(&o, ret_otlp, x);
	export_otlp_event(&o, &f, &event);
	export_otlp_end(&o);
	export_ocsf_event(ret_ocsf, x, &f, &event);
	assert_int_equal(buf_error(ret_otlp) | buf_error(ret_ocsf), 0);
	/* A reader of JSON that is not the writer. */
	assert_true(otlp_reply_read(buf_span(ret_otlp), &reply));
	assert_true(otlp_reply_read(buf_span(ret_ocsf), &reply));
}

static void assert_exported(const char *kind, const char *rest, const char *in_otlp,
			    const char *in_ocsf)
{
	_cleanup_buf_ struct buf otlp = BUF_INIT(1 << 20), ocsf = BUF_INIT(1 << 20);

	export_one(kind, rest, &otlp, &ocsf);
	if (!strstr(buf_str(&otlp), in_otlp))
		fail_msg("no %s in\n%s", in_otlp, buf_str(&otlp));
	if (!strstr(buf_str(&ocsf), in_ocsf))
		fail_msg("no %s in\n%s", in_ocsf, buf_str(&ocsf));
}

/* --- the tables ----------------------------------------------------------------------- */

static void test_every_kind_has_a_row(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NOTE_KIND_COUNT; i++) {
		bool found = false;

		for (size_t n = 0; n < export_row_count; n++)
			found |= export_rows[n].kind &&
				 str_equal(export_rows[n].kind, note_kinds[i]);
		if (!found)
			fail_msg("%s has no row", note_kinds[i]);
	}
	assert_null(export_rows[export_row_count - 1].kind);
}

/* {fields} are those of the record, brackets close, and the class is one that there is. */
static void test_rows_make_sense(void **state)
{
	(void)state;
	for (size_t n = 0; n < export_row_count; n++) {
		const struct export_row *row = &export_rows[n];
		int depth = 0;

		assert_int_equal(export_class_of(row)->uid, row->class);
		assert_true(row->severity == 9 || row->severity == 13 || row->severity == 17);
		for (const char *s = row->sentence; *s; s++) {
			depth += *s == '[' ? 1 : *s == ']' ? -1 : 0;
			assert_true(depth == 0 || depth == 1);
			if (*s != '{')
				continue;
			struct span name = {(const uint8_t *)s + 1, strcspn(s + 1, "}")};
			unsigned int i = 0;

			while (i < NOTE_FIELD_COUNT &&
			       !span_equal(name, span_of_str(note_fields[i].name)))
				i++;
			if (i == NOTE_FIELD_COUNT)
				fail_msg("no field of '%s' in note.h", row->sentence);
		}
		assert_int_equal(depth, 0);
	}
}

static void read_doc(struct buf *into)
{
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0);
	assert_int_equal(fd_read_file_at(root, "docs/EXPORT.md", into), 0);
}

static void test_document_has_the_tables(void **state)
{
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20), line = BUF_INIT(1 << 12);

	(void)state;
	read_doc(&doc);
	for (size_t i = 0; i < export_row_count; i++) {
		const struct export_row *r = &export_rows[i];

		buf_clear(&line);
		buf_putf(&line, "\n| %s%s%s | %u %s | %u | %u | %s |\n",
			 r->kind ? r->kind : "any other", r->op ? " " : "", r->op ? r->op : "",
			 r->class, export_class_of(r)->name, r->activity, r->severity, r->sentence);
		if (!strstr(buf_str(&doc), buf_str(&line)))
			fail_msg("docs/EXPORT.md lacks:%s", buf_str(&line));
	}
	for (size_t i = 0; i < export_attribute_count; i++) {
		const struct export_attribute *a = &export_attributes[i];

		buf_clear(&line);
		buf_putf(&line, "\n| `%s` | %s | `%s` |\n", note_fields[a->field].name,
			 a->kind ? a->kind : "any", a->name);
		if (!strstr(buf_str(&doc), buf_str(&line)))
			fail_msg("docs/EXPORT.md lacks:%s", buf_str(&line));
	}
	assert_non_null(strstr(buf_str(&doc), "OCSF " EXPORT_OCSF_VERSION));
}

/* --- events --------------------------------------------------------------------------- */

static void test_values(void **state)
{
	(void)state;
	assert_exported(
		"process",
		",\"op\":\"exec\",\"how\":\"reported\",\"exec\":12,\"parent\":3,\"pid\":4711,"
		"\"path\":\"/usr/bin/git\",\"argv\":[\"git\",\"status\"]}",
		"{\"key\":\"process.command_args\",\"value\":{\"arrayValue\":{\"values\":[{"
		"\"stringValue\":\"git\"},{\"stringValue\":\"status\"}]}}}",
		"\"process\":{\"uid\":\"20261115-055220-calm-otter:12\",\"pid\":4711,"
		"\"cmd_line\":\"git status\",\"file\":{\"name\":\"git\",\"type_id\":0,"
		"\"path\":\"/usr/bin/git\"},");
	assert_exported("file", ",\"op\":\"chmod\",\"path\":\"/w/x\",\"mode\":420}",
			"{\"key\":\"file.mode\",\"value\":{\"stringValue\":\"0644\"}}",
			"\"type_uid\":100107,");
	assert_exported("network",
			",\"op\":\"request\",\"path\":\"/v1\",\"host\":\"a.test\","
			"\"method\":\"POST\",\"status\":200}",
			"\"stringValue\":\"POST a.test/v1 answered 200\"",
			"\"activity_id\":6,\"type_uid\":400206,");
	assert_exported("network", ",\"op\":\"request\",\"host\":\"a.test\",\"method\":\"PATCH\"}",
			"http.request.method", "\"activity_id\":99,\"activity_name\":\"PATCH\",");
	assert_exported("limit", ",\"count\":9223372036854775808}",
			"{\"stringValue\":\"9223372036854775808\"}",
			"\"count\":9223372036854775808");
	assert_exported("session", ",\"op\":\"end\",\"signal\":9}",
			"\"the session ended by signal 9\"", "\"activity_id\":4,");
}

static void test_times(void **state)
{
	(void)state;
	assert_exported("dns", ",\"host\":\"a.test\"}", "\"timeUnixNano\":\"1794721940123456789\"",
			"\"time\":1794721940123,");
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_exported(
		"network",
		",\"op\":\"connect\",\"verdict\":\"refused\",\"host\":\"evil.test\","
		"\"port\":443,\"rule\":\"config.yaml:3\",\"reason\":\"no rule names it\"}",
		"\"severityNumber\":13,\"severityText\":\"WARN\",\"eventName\":"
		"\"sandbox.network.connect\",\"body\":{\"stringValue\":\"refused: connect to "
		"evil.test:443 (no rule names it)\"}",
		"\"action_id\":2,\"disposition_id\":2,\"policy\":{\"name\":\"config.yaml:3\"}");
	assert_exported("network",
			",\"op\":\"connect\",\"verdict\":\"refused\",\"host\":\"e.test\"}",
			"server.address", "\"type_uid\":400105,");
	assert_exported("network",
			",\"op\":\"connect\",\"verdict\":\"allowed\",\"host\":\"e.test\"}",
			"\"severityNumber\":9,", "\"action_id\":1,\"disposition_id\":1,");
	assert_exported("tamper", ",\"op\":\"unattributed\",\"path\":\"/w/x\"}",
			"\"severityNumber\":17,\"severityText\":\"ERROR\"", "\"severity_id\":4,");
}

static void test_bytes(void **state)
{
	(void)state;
	assert_exported("file", ",\"op\":\"write\",\"path\":{\"b64\":\"L/8=\"}}",
			"{\"key\":\"file.path\",\"value\":{\"bytesValue\":\"L/8=\"}}",
			"\"raw_data\":\",\\\"op\\\":\\\"write\\\",\\\"path\\\":{\\\"b64\\\":");
	/* The sentence is text that does nothing; the attribute is the path itself. */
	assert_exported("file", ",\"op\":\"write\",\"path\":\"/\\u001b[31m\\u202ex\"}",
			"{\"stringValue\":\"write /\\\\x1b[31m\\\\u{202e}x\"}",
			"\"path\":\"/\\u001b[31m\\u202ex\"");
}

static void test_strange_events(void **state)
{
	(void)state;
	assert_exported("seal", ",\"root\":\"aa\",\"mac\":\"bb\"}", "\"sandbox.event\"",
			"\"raw_data\":");
	assert_exported("novelty", ",\"op\":\"x\",\"more\":{\"a\":[1,2]}}", "\"sandbox.novelty.x\"",
			"\"class_uid\":0,");
	assert_exported("file", ",\"path\":17}", "\"sandbox.event\"", "\"raw_data\":");
}

/* Whatever is not mapped is there under its own name. */
static void test_nothing_is_dropped(void **state)
{
	_cleanup_buf_ struct buf rest = BUF_INIT(1 << 16);

	(void)state;
	for (unsigned int k = 0; k < NOTE_KIND_COUNT; k++) {
		_cleanup_buf_ struct buf otlp = BUF_INIT(1 << 20), ocsf = BUF_INIT(1 << 20);

		buf_clear(&rest);
		for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++) {
			if (note_fields[i].type == NOTE_TYPE_NUMBER)
				buf_putf(&rest, ",\"%s\":%u", note_fields[i].name, 100000 + i);
			else if (note_fields[i].type == NOTE_TYPE_LIST)
				buf_putf(&rest, ",\"%s\":[\"mark-%u-\"]", note_fields[i].name, i);
			else
				buf_putf(&rest, ",\"%s\":\"mark-%u-\"", note_fields[i].name, i);
		}
		buf_put_char(&rest, '}');
		export_one(note_kinds[k], buf_str(&rest), &otlp, &ocsf);
		for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++) {
			bool number = note_fields[i].type == NOTE_TYPE_NUMBER;
			char mark[32], octal[32];

			(void)snprintf(mark, sizeof(mark), number ? "%u" : "mark-%u-",
				       number ? 100000 + i : i);
			(void)snprintf(octal, sizeof(octal), "%o", 100000 + i);
			if (!strstr(buf_str(&otlp), mark) && !strstr(buf_str(&otlp), octal))
				fail_msg("%s: %s is not in\n%s", note_kinds[k], note_fields[i].name,
					 buf_str(&otlp));
			if (!strstr(buf_str(&ocsf), mark))
				fail_msg("%s: %s is not in\n%s", note_kinds[k], note_fields[i].name,
					 buf_str(&ocsf));
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_has_a_row),
		cmocka_unit_test(test_rows_make_sense),
		cmocka_unit_test(test_document_has_the_tables),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_strange_events),
		cmocka_unit_test(test_nothing_is_dropped),
	};

	source_root = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
