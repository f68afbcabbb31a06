/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCSF: each event is an object of the class that export_rows names, with what the class requires.
 * A set says which fields found a place; the others are in `unmapped`, under the record's own
 * names.
 */
#include "config.h"
#include "export.h"
#include "str.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { OCSF_TEXT = 160 };

enum {
	OCSF_ALLOWED = 1, /* for action and for disposition */
	OCSF_DENIED = 2,  /* action Denied, disposition Blocked */
	OCSF_OBSERVED = 3,
	OCSF_FOLDER = 2, /* types of file */
	OCSF_SYMBOLIC_LINK = 7,
	OCSF_SYSTEM_CALL = 2, /* type of kernel resource */
};

struct ocsf {
	struct json json;
	struct export *x;
	const struct event *ev;
	const struct export_row *row;
	const struct export_class *class;
	uint64_t placed; /* set of fields, like event.has */
	bool raw;        /* some text was not UTF-8 */
};

/* --- values --------------------------------------------------------------------------- */

static void ocsf_note_text(struct ocsf *o, struct span s)
{
	uint32_t cp;

	while (s.len > 0) {
		size_t len = text_utf8(s, &cp);

		if (len == 0) {
			o->raw = true;
			return;
		}
		s = span_skip(s, len);
	}
}

/* Puts "key": the field's value, when the event has it; whether it has. */
static bool ocsf_put(struct ocsf *o, const char *key, enum note_field field)
{
	struct json *j = &o->json;
	struct span item;

	o->placed |= 1ull << field;
	if (!event_has(o->ev, field))
		return false;
	json_key(j, key);
	if (note_fields[field].type == NOTE_TYPE_NUMBER) {
		json_u64(j, event_number(o->ev, field));
	} else if (note_fields[field].type == NOTE_TYPE_LIST) {
		struct event_items items = export_items(o->x, o->ev, field);

		json_open(j, '[');
		while (event_items_next(&items, &item)) {
			ocsf_note_text(o, item);
			json_span(j, item);
		}
		json_close(j, ']');
	} else {
		ocsf_note_text(o, event_text(o->ev, field));
		json_span(j, event_text(o->ev, field));
	}
	return true;
}

/* The id of an execution is unique only together with its session. */
static void ocsf_put_uid(struct ocsf *o, const char *key, uint64_t number)
{
	char text[OCSF_TEXT];

	(void)snprintf(text, sizeof(text), "%s:%" PRIu64, o->x->session, number);
	json_key_str(&o->json, key, text);
}

static void ocsf_begin(struct ocsf *o, const char *key)
{
	json_key(&o->json, key);
	json_open(&o->json, '{');
}

static void ocsf_end(struct ocsf *o)
{
	json_close(&o->json, '}');
}

/* --- objects -------------------------------------------------------------------------- */

static void ocsf_put_file(struct ocsf *o, const char *key, enum note_field path)
{
	struct span whole = event_text(o->ev, path);
	const uint8_t *slash = whole.len ? memrchr(whole.ptr, '/', whole.len) : NULL;
	bool folder = str_equal(o->row->kind, "file") && (event_is(o->ev, NOTE_FIELD_OP, "mkdir") ||
							  event_is(o->ev, NOTE_FIELD_OP, "rmdir"));
	bool link = event_is(o->ev, NOTE_FIELD_OP, "symlink");
	struct span name = slash ? span_skip(whole, (size_t)(slash - whole.ptr) + 1) : whole;

	ocsf_begin(o, key);
	json_key(&o->json, "name");
	json_span(&o->json, name.len ? name : SPAN_LITERAL("/"));
	json_key_u64(&o->json, "type_id", folder ? OCSF_FOLDER : link ? OCSF_SYMBOLIC_LINK : 0);
	(void)ocsf_put(o, "path", path);
	ocsf_end(o);
}

static void ocsf_put_device(struct ocsf *o)
{
	ocsf_begin(o, "device");
	json_key_u64(&o->json, "type_id", 0);
	json_key_str(&o->json, "hostname", o->x->host);
	ocsf_end(o);
}

/* Puts who did it: the execution, as far as we know it. */
static void ocsf_put_actor(struct ocsf *o)
{
	bool of_process = o->class->objects & EXPORT_PROCESS;
	enum note_field who = of_process ? NOTE_FIELD_PARENT : NOTE_FIELD_EXEC;

	ocsf_begin(o, "actor");
	json_key_str(&o->json, "app_name", "bawn");
	ocsf_begin(o, "session");
	json_key_str(&o->json, "uid", o->x->session);
	ocsf_end(o);
	if (event_number(o->ev, who) > 0) {
		ocsf_begin(o, "process");
		ocsf_put_uid(o, "uid", event_number(o->ev, who));
		if (!of_process)
			(void)ocsf_put(o, "pid", NOTE_FIELD_PID);
		o->placed |= 1ull << who;
		ocsf_end(o);
	}
	ocsf_end(o);
}

static void ocsf_put_command(struct ocsf *o)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1 << 20);
	struct event_items items = export_items(o->x, o->ev, NOTE_FIELD_ARGV);
	struct span item;

	while (event_items_next(&items, &item)) {
		if (line.len > 0)
			buf_put_char(&line, ' ');
		ocsf_note_text(o, item);
		buf_put(&line, item.ptr, item.len);
	}
	json_key(&o->json, "cmd_line");
	json_span(&o->json, buf_span(&line));
}

static void ocsf_put_process(struct ocsf *o)
{
	ocsf_begin(o, "process");
	ocsf_put_uid(o, "uid", event_number(o->ev, NOTE_FIELD_EXEC));
	o->placed |= 1ull << NOTE_FIELD_EXEC;
	(void)ocsf_put(o, "pid", NOTE_FIELD_PID);
	(void)ocsf_put(o, "working_directory", NOTE_FIELD_CWD);
	/* The words themselves stay in `unmapped`: joined, they can be read in two ways. */
	if (event_has(o->ev, NOTE_FIELD_ARGV))
		ocsf_put_command(o);
	if (event_has(o->ev, NOTE_FIELD_PATH))
		ocsf_put_file(o, "file", NOTE_FIELD_PATH);
	if (event_number(o->ev, NOTE_FIELD_PARENT) > 0) {
		ocsf_begin(o, "parent_process");
		ocsf_put_uid(o, "uid", event_number(o->ev, NOTE_FIELD_PARENT));
		ocsf_end(o);
	}
	ocsf_end(o);
	(void)ocsf_put(o, "exit_code", NOTE_FIELD_EXIT);
}

static void ocsf_put_kernel(struct ocsf *o)
{
	ocsf_begin(o, "kernel");
	if (!ocsf_put(o, "name", NOTE_FIELD_CALLED))
		json_key_str(&o->json, "name", "unknown");
	json_key_u64(&o->json, "type_id", OCSF_SYSTEM_CALL);
	ocsf_end(o);
}

static void ocsf_put_endpoints(struct ocsf *o)
{
	struct json *j = &o->json;

	ocsf_begin(o, "src_endpoint");
	json_key_str(j, "uid", o->x->session);
	json_key_str(j, "hostname", o->x->host);
	ocsf_end(o);
	if (o->class->objects & EXPORT_QUERY)
		return;
	if (event_has(o->ev, NOTE_FIELD_HOST) || event_has(o->ev, NOTE_FIELD_ADDRESS)) {
		ocsf_begin(o, "dst_endpoint");
		(void)ocsf_put(o, "hostname", NOTE_FIELD_HOST);
		(void)ocsf_put(o, "ip", NOTE_FIELD_ADDRESS);
		(void)ocsf_put(o, "port", NOTE_FIELD_PORT);
		ocsf_end(o);
	}
	if (event_has(o->ev, NOTE_FIELD_SENT) || event_has(o->ev, NOTE_FIELD_RECEIVED)) {
		ocsf_begin(o, "traffic");
		(void)ocsf_put(o, "bytes_out", NOTE_FIELD_SENT);
		(void)ocsf_put(o, "bytes_in", NOTE_FIELD_RECEIVED);
		ocsf_end(o);
	}
	(void)ocsf_put(o, "duration", NOTE_FIELD_MS);
}

static void ocsf_put_http(struct ocsf *o)
{
	ocsf_begin(o, "http_request");
	(void)ocsf_put(o, "http_method", NOTE_FIELD_METHOD);
	ocsf_begin(o, "url");
	(void)ocsf_put(o, "hostname", NOTE_FIELD_HOST);
	(void)ocsf_put(o, "path", NOTE_FIELD_PATH);
	(void)ocsf_put(o, "port", NOTE_FIELD_PORT);
	ocsf_end(o);
	ocsf_end(o);
	if (event_has(o->ev, NOTE_FIELD_STATUS)) {
		ocsf_begin(o, "http_response");
		(void)ocsf_put(o, "code", NOTE_FIELD_STATUS);
		ocsf_end(o);
	}
}

static void ocsf_put_query(struct ocsf *o)
{
	ocsf_begin(o, "query");
	(void)ocsf_put(o, "hostname", NOTE_FIELD_HOST);
	(void)ocsf_put(o, "type", NOTE_FIELD_TYPE);
	ocsf_end(o);
}

static void ocsf_put_api(struct ocsf *o)
{
	ocsf_begin(o, "api");
	if (!ocsf_put(o, "operation", NOTE_FIELD_OP))
		json_key_str(&o->json, "operation", "use");
	ocsf_begin(o, "service");
	(void)ocsf_put(o, "name", NOTE_FIELD_SECRET);
	ocsf_end(o);
	ocsf_end(o);
}

static void ocsf_put_app(struct ocsf *o)
{
	ocsf_begin(o, "app");
	json_key_str(&o->json, "name", "bawn");
	json_key_str(&o->json, "vendor_name", "bawn");
	if (!ocsf_put(o, "version", NOTE_FIELD_VERSION))
		json_key_str(&o->json, "version", BAWN_VERSION);
	json_key_str(&o->json, "uid", o->x->session);
	ocsf_end(o);
	ocsf_put_device(o);
}

static void ocsf_put_finding(struct ocsf *o)
{
	ocsf_begin(o, "finding_info");
	ocsf_put_uid(o, "uid", o->ev->seq);
	json_key(&o->json, "title");
	json_span(&o->json, buf_span(&o->x->sentence));
	json_key(&o->json, "types");
	json_open(&o->json, '[');
	json_str(&o->json, o->row->kind);
	json_close(&o->json, ']');
	ocsf_end(o);
	ocsf_put_device(o);
}

static void ocsf_put_user(struct ocsf *o)
{
	char uid[OCSF_TEXT];

	(void)snprintf(uid, sizeof(uid), "%u", (unsigned int)geteuid());
	ocsf_begin(o, "user");
	json_key_str(&o->json, "uid", uid);
	ocsf_end(o);
	ocsf_begin(o, "session");
	json_key_str(&o->json, "uid", o->x->session);
	ocsf_end(o);
	json_key(&o->json, "privileges");
	json_open(&o->json, '[');
	json_span(&o->json, buf_span(&o->x->sentence));
	json_close(&o->json, ']');
}

static void ocsf_put_entity(struct ocsf *o)
{
	ocsf_begin(o, "entity");
	json_key_str(&o->json, "name", o->row->kind);
	json_key_str(&o->json, "uid", o->x->session);
	ocsf_end(o);
}

static void ocsf_put_objects(struct ocsf *o)
{
	static const struct {
		enum export_object object;
		void (*put)(struct ocsf *o);
	} objects[] = {
		{EXPORT_ACTOR, ocsf_put_actor},
		{EXPORT_ACTOR, ocsf_put_device},
		{EXPORT_PROCESS, ocsf_put_process},
		{EXPORT_KERNEL, ocsf_put_kernel},
		{EXPORT_ENDPOINT, ocsf_put_endpoints},
		{EXPORT_HTTP, ocsf_put_http},
		{EXPORT_QUERY, ocsf_put_query},
		{EXPORT_API, ocsf_put_api},
		{EXPORT_APP, ocsf_put_app},
		{EXPORT_FINDING, ocsf_put_finding},
		{EXPORT_USER, ocsf_put_user},
		{EXPORT_ENTITY, ocsf_put_entity},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(objects); i++)
		if (o->class->objects & objects[i].object)
			objects[i].put(o);
	if (o->class->objects & EXPORT_FILE)
		ocsf_put_file(o, "file", NOTE_FIELD_PATH);
}

/* --- the event ------------------------------------------------------------------------ */

/* The activity of an HTTP request is its method. */
static unsigned int ocsf_activity(const struct ocsf *o)
{
	static const char *const methods[] = {"",        "CONNECT", "DELETE", "GET",  "HEAD",
					      "OPTIONS", "POST",    "PUT",    "TRACE"};

	if (o->class->objects & EXPORT_HTTP)
		for (unsigned int i = 1; i < BAWN_ARRAY_SIZE(methods); i++)
			if (event_is(o->ev, NOTE_FIELD_METHOD, methods[i]))
				return i;
	if (o->class->uid == 4001 && o->row->activity == 1 &&
	    event_is(o->ev, NOTE_FIELD_VERDICT, "refused"))
		return 5; /* Refuse */
	return o->row->activity;
}

static void ocsf_put_classification(struct ocsf *o)
{
	unsigned int severity = export_severity(o->row, o->ev);
	unsigned int activity = ocsf_activity(o);
	struct json *j = &o->json;

	json_key_u64(j, "class_uid", o->class->uid);
	json_key_str(j, "class_name", o->class->name);
	json_key_u64(j, "category_uid", o->class->uid / 1000u);
	json_key_u64(j, "activity_id", activity);
	if (activity == EXPORT_ACTIVITY_OTHER &&
	    !ocsf_put(o, "activity_name",
		      o->class->objects & EXPORT_HTTP ? NOTE_FIELD_METHOD : NOTE_FIELD_OP)) {
		json_key(j, "activity_name");
		json_span(j, o->ev->word);
	}
	json_key_u64(j, "type_uid", o->class->uid * 100u + activity);
	json_key_u64(j, "severity_id",
		     severity == EXPORT_ERROR  ? 4
		     : severity == EXPORT_WARN ? 2
					       : 1);
	json_key(j, "time");
	json_i64(j, export_time(o->ev) / 1000000);
	json_key(j, "message");
	json_span(j, buf_span(&o->x->sentence));
}

static void ocsf_put_metadata(struct ocsf *o)
{
	struct json *j = &o->json;

	ocsf_begin(o, "metadata");
	json_key_str(j, "version", EXPORT_OCSF_VERSION);
	ocsf_begin(o, "product");
	json_key_str(j, "name", "bawn");
	json_key_str(j, "vendor_name", "bawn");
	json_key_str(j, "version", BAWN_VERSION);
	ocsf_end(o);
	json_key(j, "profiles");
	json_open(j, '[');
	json_str(j, "host");
	json_str(j, "security_control");
	json_close(j, ']');
	ocsf_put_uid(o, "uid", o->ev->seq);
	json_key_u64(j, "sequence", o->ev->seq);
	json_key_str(j, "correlation_uid", o->x->session);
	json_key(j, "log_name");
	json_span(j, o->ev->word);
	ocsf_end(o);
}

static void ocsf_put_verdict(struct ocsf *o)
{
	bool refused = event_is(o->ev, NOTE_FIELD_VERDICT, "refused");
	bool allowed = event_is(o->ev, NOTE_FIELD_VERDICT, "allowed");
	unsigned int action = refused ? OCSF_DENIED : allowed ? OCSF_ALLOWED : OCSF_OBSERVED;

	json_key_u64(&o->json, "action_id", action);
	if (refused || allowed) {
		json_key_u64(&o->json, "disposition_id", action);
		o->placed |= 1ull << NOTE_FIELD_VERDICT;
	}
	if (event_has(o->ev, NOTE_FIELD_RULE)) {
		ocsf_begin(o, "policy");
		(void)ocsf_put(o, "name", NOTE_FIELD_RULE);
		ocsf_end(o);
	}
	(void)ocsf_put(o, "status_detail", NOTE_FIELD_REASON);
	(void)ocsf_put(o, "count", NOTE_FIELD_COUNT_OF);
}

/* Puts the fields that have no place above, and what proves where the event belongs. */
static void ocsf_put_unmapped(struct ocsf *o, const struct frame *f)
{
	uint64_t left = o->ev->has & ~o->placed;

	ocsf_begin(o, "unmapped");
	json_key(&o->json, "prev");
	json_span(&o->json, f->prev);
	json_key_u64(&o->json, "boot", o->ev->boot);
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++)
		if (left >> i & 1)
			(void)ocsf_put(o, note_fields[i].name, (enum note_field)i);
	ocsf_end(o);
}

void export_ocsf_event(struct buf *out, struct export *x, const struct frame *f,
		       const struct event *ev)
{
	const struct export_row *row = export_row_of(ev);
	struct ocsf o = {.json = JSON_INIT(out, false),
			 .x = x,
			 .ev = ev,
			 .row = row,
			 .class = export_class_of(row)};

	export_sentence(x, row, ev);
	json_open(&o.json, '{');
	ocsf_put_classification(&o);
	ocsf_put_metadata(&o);
	ocsf_put_verdict(&o);
	ocsf_put_objects(&o);
	ocsf_put_unmapped(&o, f);
	if (o.raw || export_is_strange(row, ev)) {
		json_key(&o.json, "raw_data");
		json_span(&o.json, f->event);
	}
	json_close(&o.json, '}');
}
