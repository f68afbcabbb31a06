/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP/HTTP JSON, as in opentelemetry-proto's logs: keys in lowerCamelCase, 64-bit numbers as
 * decimal strings, enums as numbers.
 *
 *	{"resourceLogs":[{"resource":{"attributes":[...]},"scopeLogs":[{"scope":{...},
 *	 "logRecords":[...]}]}]}
 */
#include "config.h"
#include "encode.h"
#include "export.h"
#include "str.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

enum { OTLP_TEXT = 32, OTLP_NAME = 64 };

/* --- values --------------------------------------------------------------------------- */

static bool otlp_is_text(struct span s)
{
	uint32_t cp;

	while (s.len > 0) {
		size_t len = text_utf8(s, &cp);

		if (len == 0)
			return false;
		s = span_skip(s, len);
	}
	return true;
}

/* Puts {"stringValue":...}; what is not UTF-8 becomes {"bytesValue":...}, in base64. */
static void otlp_put_text(struct json *j, struct span text)
{
	json_open(j, '{');
	if (otlp_is_text(text)) {
		json_key(j, "stringValue");
		json_span(j, text);
	} else {
		json_key(j, "bytesValue");
		json_str(j, ""); /* the quotes; the text goes between them */
		j->out->len--;
		encode_base64(j->out, text);
		buf_put_char(j->out, '"');
	}
	json_close(j, '}');
}

static void otlp_put_number(struct json *j, uint64_t number)
{
	char digits[OTLP_TEXT];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	json_open(j, '{');
	json_key_str(j, number > INT64_MAX ? "stringValue" : "intValue", digits);
	json_close(j, '}');
}

static void otlp_put_list(struct export_otlp *o, const struct event *ev, enum note_field field)
{
	struct event_items items = export_items(o->x, ev, field);
	struct json *j = &o->json;
	struct span item;

	json_open(j, '{');
	json_key(j, "arrayValue");
	json_open(j, '{');
	json_key(j, "values");
	json_open(j, '[');
	while (event_items_next(&items, &item))
		otlp_put_text(j, item);
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, '}');
}

static void otlp_begin_attribute(struct json *j, const char *name)
{
	json_open(j, '{');
	json_key_str(j, "key", name);
	json_key(j, "value");
}

static void otlp_put_attribute(struct json *j, const char *name, struct span text)
{
	otlp_begin_attribute(j, name);
	otlp_put_text(j, text);
	json_close(j, '}');
}

static void otlp_put_field(struct export_otlp *o, const struct event *ev, enum note_field field)
{
	struct json *j = &o->json;
	const struct export_attribute *a = export_attribute_of(ev, field);
	char name[OTLP_NAME], octal[OTLP_TEXT];

	(void)snprintf(name, sizeof(name), "sandbox.%s", note_fields[field].name);
	otlp_begin_attribute(j, a ? a->name : name);
	if (a && a->octal) {
		(void)snprintf(octal, sizeof(octal), "%04" PRIo64, event_number(ev, field));
		otlp_put_text(j, span_of_str(octal));
	} else if (note_fields[field].type == NOTE_TYPE_NUMBER) {
		otlp_put_number(j, event_number(ev, field));
	} else if (note_fields[field].type == NOTE_TYPE_LIST) {
		otlp_put_list(o, ev, field);
	} else {
		otlp_put_text(j, event_text(ev, field));
	}
	json_close(j, '}');
}

/* --- the request ---------------------------------------------------------------------- */

/* Whether the user sets this attribute: the user's value wins over ours. */
static bool otlp_is_named(const struct otlp_settings *s, const char *name)
{
	for (size_t i = 0; i < s->attributes.count; i++)
		if (str_equal(s->attributes.items[i].name, name))
			return true;
	return false;
}

static void otlp_put_resource(struct json *j, const struct export *x)
{
	const struct otlp_settings *s = x->settings;
	const struct otlp_pair ours[] = {
		{"service.name", s->service ? s->service : "bawn"},
		{"service.version", BAWN_VERSION},
		{"service.instance.id", x->session},
		{"host.name", x->host},
	};

	json_key(j, "resource");
	json_open(j, '{');
	json_key(j, "attributes");
	json_open(j, '[');
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ours); i++)
		if (!otlp_is_named(s, ours[i].name) || (i == 0 && s->service))
			otlp_put_attribute(j, ours[i].name, span_of_str(ours[i].value));
	/* This says whose events these are: with the number it names an event for good. */
	otlp_put_attribute(j, "session.id", span_of_str(x->session));
	for (size_t i = 0; i < s->attributes.count; i++) {
		const struct otlp_pair *p = &s->attributes.items[i];

		if (!str_equal(p->name, "session.id") &&
		    !(s->service && str_equal(p->name, "service.name")))
			otlp_put_attribute(j, p->name, span_of_str(p->value));
	}
	json_close(j, ']');
	json_close(j, '}');
}

void export_otlp_begin(struct export_otlp *o, struct buf *out, struct export *x)
{
	struct json *j = &o->json;

	*o = (struct export_otlp){.json = JSON_INIT(out, false), .x = x};
	json_open(j, '{');
	json_key(j, "resourceLogs");
	json_open(j, '[');
	json_open(j, '{');
	otlp_put_resource(j, x);
	json_key(j, "scopeLogs");
	json_open(j, '[');
	json_open(j, '{');
	json_key(j, "scope");
	json_open(j, '{');
	json_key_str(j, "name", "bawn");
	json_key_str(j, "version", BAWN_VERSION);
	json_close(j, '}');
	json_key(j, "logRecords");
	json_open(j, '[');
}

void export_otlp_end(struct export_otlp *o)
{
	static const char brackets[] = "]}]}]}";

	for (const char *b = brackets; *b; b++)
		json_close(&o->json, *b);
}

/* --- one event ------------------------------------------------------------------------ */

static void otlp_put_time(struct json *j, const struct event *ev)
{
	char text[OTLP_TEXT];

	(void)snprintf(text, sizeof(text), "%" PRId64, export_time(ev));
	json_key_str(j, "timeUnixNano", text);
	json_key_str(j, "observedTimeUnixNano", text);
}

static const char *otlp_severity_text(unsigned int severity)
{
	return severity == EXPORT_ERROR ? "ERROR" : severity == EXPORT_WARN ? "WARN" : "INFO";
}

static void otlp_put_attributes(struct export_otlp *o, const struct frame *f,
				const struct event *ev, bool raw)
{
	struct json *j = &o->json;

	json_key(j, "attributes");
	json_open(j, '[');
	otlp_put_attribute(j, "event.name", buf_span(&o->x->name));
	otlp_begin_attribute(j, "sandbox.seq");
	otlp_put_number(j, ev->seq);
	json_close(j, '}');
	otlp_put_attribute(j, "sandbox.chain.prev", f->prev);
	otlp_begin_attribute(j, "sandbox.boot");
	otlp_put_number(j, ev->boot);
	json_close(j, '}');
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++)
		if (event_has(ev, (enum note_field)i))
			otlp_put_field(o, ev, (enum note_field)i);
	if (raw)
		otlp_put_attribute(j, "sandbox.event", f->event);
	json_close(j, ']');
}

/* Makes sandbox.KIND.OP. */
static void otlp_make_name(struct buf *into, const struct event *ev)
{
	buf_clear(into);
	buf_put_str(into, "sandbox.");
	buf_put(into, ev->word.ptr, ev->word.len);
	if (!event_has(ev, NOTE_FIELD_OP))
		return;
	buf_put_char(into, '.');
	text_escape(into, event_text(ev, NOTE_FIELD_OP));
}

void export_otlp_event(struct export_otlp *o, const struct frame *f, const struct event *ev)
{
	const struct export_row *row = export_row_of(ev);
	unsigned int severity = export_severity(row, ev);
	struct json *j = &o->json;

	otlp_make_name(&o->x->name, ev);
	export_sentence(o->x, row, ev);
	json_open(j, '{');
	otlp_put_time(j, ev);
	json_key_u64(j, "severityNumber", severity);
	json_key_str(j, "severityText", otlp_severity_text(severity));
	json_key(j, "eventName");
	json_span(j, buf_span(&o->x->name));
	json_key(j, "body");
	otlp_put_text(j, buf_span(&o->x->sentence));
	/* Seals, and kinds of a newer bawn, have members that our table does not know. */
	otlp_put_attributes(o, f, ev, export_is_strange(row, ev));
	json_close(j, '}');
}
