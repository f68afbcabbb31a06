/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include "str.h"
#include "text.h"

#include <inttypes.h>

/* clang-format off */

#define ACTOR EXPORT_ACTOR

/* The last one is for all that is none of the others. */
static const struct export_class export_classes[] = {
	{1001, "File System Activity", ACTOR | EXPORT_FILE},
	{1003, "Kernel Activity", ACTOR | EXPORT_KERNEL},
	{1007, "Process Activity", ACTOR | EXPORT_PROCESS},
	{2004, "Detection Finding", EXPORT_FINDING},
	{3003, "Authorize Session", EXPORT_USER},
	{3004, "Entity Management", EXPORT_ENTITY},
	{4001, "Network Activity", ACTOR | EXPORT_ENDPOINT},
	{4002, "HTTP Activity", ACTOR | EXPORT_ENDPOINT | EXPORT_HTTP},
	{4003, "DNS Activity", ACTOR | EXPORT_ENDPOINT | EXPORT_QUERY},
	{6002, "Application Lifecycle", EXPORT_APP},
	{6003, "API Activity", ACTOR | EXPORT_ENDPOINT | EXPORT_API},
	{0, "Base Event", 0},
};

#define OTHER EXPORT_ACTIVITY_OTHER
#define INFO EXPORT_INFO
#define WARN EXPORT_WARN
#define ERROR EXPORT_ERROR

/* For an HTTP request the activity is its method (export_ocsf.c). */
const struct export_row export_rows[] = {
	{"session", "begin", 6002, 3, INFO, "session {name} began[ in {workspace}][: {argv}]"},
	{"session", "ready", 0, OTHER, INFO, "the box is ready[, {probes} probes held]"},
	{"session", "exec", 0, OTHER, INFO, "somebody outside started another command in the box"},
	{"session", "attach", 0, OTHER, INFO, "somebody outside attached to the terminal"},
	{"session", "send", 0, OTHER, INFO, "somebody outside typed into the terminal"},
	{"session", "pause", 0, OTHER, INFO, "the session was paused from outside"},
	{"session", "resume", 0, OTHER, INFO, "the session was resumed from outside"},
	{"session", "stop", 0, OTHER, INFO, "the session was asked to end from outside"},
	{"session", "kill", 0, OTHER, INFO, "the session was ended from outside"},
	{"session", "end", 6002, 4, INFO, "the session ended[ with status {exit}][ by signal {signal}]"},
	{"process", "exec", 1007, 1, INFO, "run {path}[: {argv}]"},
	{"process", "ran", 1007, 1, INFO, "execution {exec} is {path}"},
	{"process", "exit", 1007, 2, INFO, "execution {exec} ended[ with status {exit}][ by signal {signal}]"},
	{"process", "digest", 0, OTHER, INFO, "{path} has the digest {digest}"},
	{"file", "create", 1001, 1, INFO, "create {path}"},
	{"file", "write", 1001, 3, INFO, "write {path}"},
	{"file", "truncate", 1001, 3, INFO, "truncate {path}"},
	{"file", "delete", 1001, 4, INFO, "delete {path}"},
	{"file", "rename", 1001, 5, INFO, "rename {path}[ to {to}]"},
	{"file", "link", 1001, 1, INFO, "link {path}[ as {to}]"},
	{"file", "symlink", 1001, 1, INFO, "make a link at {path}[ to {to}]"},
	{"file", "mkdir", 1001, 1, INFO, "make the folder {path}"},
	{"file", "rmdir", 1001, 4, INFO, "remove the folder {path}"},
	{"file", "mknod", 1001, 1, INFO, "make a node at {path}"},
	{"file", "chmod", 1001, 7, INFO, "change the mode of {path}"},
	{"file", "chown", 1001, 7, INFO, "change the owner of {path}"},
	{"file", "xattr", 1001, 6, INFO, "change an attribute of {path}"},
	{"file", "read", 1001, 2, INFO, "read {path}"},
	{"file", "named", 1001, OTHER, INFO, "name {path} to a program"},
	{"file", "connect", 1001, OTHER, INFO, "connect to the socket {path}"},
	{"file", NULL, 1001, OTHER, INFO, "[{op} ]{path}"},
	{"call", NULL, 1003, 4, INFO, "system call {call}"},
	{"network", "connect", 4001, 1, INFO, "connect to {host}[:{port}]"},
	{"network", "close", 4001, 2, INFO, "close {host}[:{port}][, {sent} bytes sent][, {received} received]"},
	{"network", "request", 4002, OTHER, INFO, "[{method} ]{host}[{path}][ answered {status}]"},
	{"network", "answer", 4002, OTHER, INFO, "{host} answered[ {status}]"},
	{"network", "reach", 4001, 1, INFO, "connection from outside to port {port} of the box"},
	{"network", "listen", 4001, 7, INFO, "a program of the box listens at port {port}"},
	{"network", "certificate", 4001, 6, INFO, "certificate of {host}[:{port}]"},
	{"network", NULL, 4001, OTHER, INFO, "[{op} ]{host}[:{port}]"},
	{"dns", NULL, 4003, 1, INFO, "ask for the name {host}"},
	{"secret", "use", 6003, 2, INFO, "use the secret {secret}[ at {host}]"},
	{"secret", "sign", 6003, 2, INFO, "sign with the secret {secret}[ for {host}]"},
	{"secret", "leak", 2004, 1, WARN, "the placeholder of {secret} was where it must not be[: {host}]"},
	{"secret", NULL, 6003, OTHER, INFO, "secret {secret}[: {op}]"},
	{"grant", NULL, 3003, 1, INFO, "[{origin} ]allowed[ {host}][:{port}][ {path}]"},
	{"policy", NULL, 3004, 3, INFO, "the rules were changed[ by {origin}]"},
	{"limit", NULL, 2004, 1, WARN, "a limit was reached[: {op}]"},
	{"tamper", "unattributed", 2004, 1, ERROR, "{path} changed without an event"},
	{"tamper", "covered", 2004, 1, WARN, "{path} was made, replaced or renamed outside, and covered"},
	{"tamper", "held", 2004, 1, ERROR, "{path} was replaced outside, and the box had it open"},
	{"tamper", "restless", 2004, 1, ERROR, "a process went on during a pause, and was ended"},
	{"tamper", "uncovered", 2004, 1, ERROR, "{path} was made, replaced or renamed outside, and could not be covered"},
	{"tamper", "unkept", 2004, 1, ERROR, "nobody keeps covers on any more"},
	{"tamper", "lost", 2004, 1, ERROR, "bawn-{host} ended"},
	{"tamper", NULL, 2004, 1, ERROR, "alarm[: {op}][ {path}]"},
	{"gap", NULL, 2004, 1, ERROR, "[{count} ]events are missing"},
	{"hold", NULL, 0, OTHER, INFO, "held back[ {path}]"},
	{"apply", "snapshot", 0, OTHER, INFO, "{name} kept as {to}"},
	{"apply", "restore", 0, OTHER, INFO, "{name} restored to {to}"},
	{"apply", "fork", 0, OTHER, INFO, "forked from {to}"},
	{"apply", NULL, 0, OTHER, INFO, "applied[ {path}]"},
	{"keeping", NULL, 3004, 4, INFO, "records were removed[: {name}]"},
	{"seal", NULL, 0, OTHER, INFO, "the record was sealed"},
	{NULL, NULL, 0, OTHER, INFO, "an event of another kind"},
};
const size_t export_row_count = BAWN_ARRAY_SIZE(export_rows);

#define FIELD(name) NOTE_FIELD_##name

/* Names from OpenTelemetry's conventions if there is one; sandbox.* are ours. */
const struct export_attribute export_attributes[] = {
	{"process", FIELD(PATH), "process.executable.path", false},
	{"process", FIELD(ARGV), "process.command_args", false},
	{"process", FIELD(CWD), "process.working_directory", false},
	{"process", FIELD(EXIT), "process.exit.code", false},
	{"session", FIELD(ARGV), "process.command_args", false},
	{"session", FIELD(CWD), "process.working_directory", false},
	{"session", FIELD(EXIT), "process.exit.code", false},
	{"network", FIELD(PATH), "url.path", false},
	{"secret", FIELD(PATH), "url.path", false},
	{"dns", FIELD(HOST), "dns.question.name", false},
	{NULL, FIELD(OP), "sandbox.op", false},
	{NULL, FIELD(HOW), "sandbox.how", false},
	{NULL, FIELD(VERDICT), "sandbox.decision", false},
	{NULL, FIELD(COUNT_OF), "sandbox.count", false},
	{NULL, FIELD(EXEC), "sandbox.exec.id", false},
	{NULL, FIELD(PARENT), "sandbox.exec.parent_id", false},
	{NULL, FIELD(PID), "process.pid", false},
	{NULL, FIELD(PATH), "file.path", false},
	{NULL, FIELD(INODE), "file.inode", false},
	{NULL, FIELD(MODE), "file.mode", true},
	{NULL, FIELD(HOST), "server.address", false},
	{NULL, FIELD(PORT), "server.port", false},
	{NULL, FIELD(ADDRESS), "network.peer.address", false},
	{NULL, FIELD(SCHEME), "network.protocol.name", false},
	{NULL, FIELD(METHOD), "http.request.method", false},
	{NULL, FIELD(STATUS), "http.response.status_code", false},
	{NULL, FIELD(RULE), "security_rule.name", false},
};
const size_t export_attribute_count = BAWN_ARRAY_SIZE(export_attributes);

/* clang-format on */

const struct export_row *export_row_of(const struct event *ev)
{
	const char *kind = ev->kind < NOTE_KIND_COUNT ? note_kinds[ev->kind] : "";
	const struct export_row *row = export_rows;

	while (row->kind &&
	       (!str_equal(row->kind, kind) || (row->op && !event_is(ev, NOTE_FIELD_OP, row->op))))
		row++;
	return row;
}

const struct export_class *export_class_of(const struct export_row *row)
{
	const struct export_class *class = export_classes;

	while (class->uid != row->class && class->uid != 0)
		class ++;
	return class;
}

const struct export_attribute *export_attribute_of(const struct event *ev, enum note_field field)
{
	const char *kind = ev->kind < NOTE_KIND_COUNT ? note_kinds[ev->kind] : "";

	for (size_t i = 0; i < export_attribute_count; i++) {
		const struct export_attribute *a = &export_attributes[i];

		if (a->field == field && (!a->kind || str_equal(a->kind, kind)))
			return a;
	}
	return NULL;
}

unsigned int export_severity(const struct export_row *row, const struct event *ev)
{
	return row->severity == EXPORT_INFO && event_is(ev, NOTE_FIELD_VERDICT, "refused")
		       ? EXPORT_WARN
		       : row->severity;
}

/* --- one export ----------------------------------------------------------------------- */

enum { EXPORT_TEXT_MAX = 1 << 20 };

struct export *export_new(const char *session, const char *host,
			  const struct otlp_settings *settings)
{
	struct export *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->session = session;
	x->host = host;
	x->settings = settings;
	x->sentence = x->name = BUF_INIT(EXPORT_TEXT_MAX);
	return x;
}

void export_free(struct export **x)
{
	if (!*x)
		return;
	buf_fini(&(*x)->sentence);
	buf_fini(&(*x)->name);
	free(*x);
	*x = NULL;
}

void export_read(const struct frame *f, struct event *ret)
{
	struct error e = ERROR_INIT;

	if (event_read(f, ret, &e) < 0)
		ret->has = 0;
}

int64_t export_time(const struct event *ev)
{
	uint32_t nanoseconds = 0;
	int64_t seconds = 0;

	if (event_wall_seconds(ev->wall, &seconds, &nanoseconds) < 0 || seconds < 0 ||
	    seconds > INT64_MAX / 1000000000 - 1)
		return 0;
	return seconds * 1000000000 + (int64_t)nanoseconds;
}

/* --- the sentence --------------------------------------------------------------------- */

static enum note_field export_field(struct span name)
{
	unsigned int i = 0;

	while (i < NOTE_FIELD_COUNT && !span_equal(name, span_of_str(note_fields[i].name)))
		i++;
	return (enum note_field)i;
}

struct event_items export_items(struct export *x, const struct event *ev, enum note_field field)
{
	return event_items_of(ev, field, x->scratch);
}

static void export_put_list(struct export *x, const struct event *ev, enum note_field field)
{
	struct event_items items = export_items(x, ev, field);
	struct buf *into = &x->sentence;
	struct span item;
	bool first = true;

	while (event_items_next(&items, &item)) {
		if (!first)
			buf_put_char(into, ' ');
		first = false;
		text_escape(into, item);
	}
}

/* Puts {field} at s; false: the event does not have it.  *ret_len: its length in the row's text. */
static bool export_put_field(struct export *x, const struct event *ev, const char *s,
			     size_t *ret_len)
{
	struct buf *into = &x->sentence;
	size_t len = strcspn(s, "}");
	enum note_field field = export_field((struct span){(const uint8_t *)s + 1, len - 1});

	*ret_len = len + 1;
	if (field == NOTE_FIELD_COUNT || !event_has(ev, field))
		return false;
	if (note_fields[field].type == NOTE_TYPE_NUMBER)
		buf_putf(into, "%" PRIu64, event_number(ev, field));
	else if (note_fields[field].type == NOTE_TYPE_LIST)
		export_put_list(x, ev, field);
	else
		text_escape(into, event_text(ev, field));
	return true;
}

/* Removes what was put since `from`. */
static void export_take_back(struct buf *into, size_t from)
{
	if (into->ptr && into->len > from) {
		into->len = from;
		into->ptr[from] = '\0';
	}
}

void export_sentence(struct export *x, const struct export_row *row, const struct event *ev)
{
	struct buf *into = &x->sentence;
	size_t bracket = 0, len = 0;
	bool whole = true;

	buf_clear(into);
	bool refused = event_is(ev, NOTE_FIELD_VERDICT, "refused");

	if (refused || event_is(ev, NOTE_FIELD_VERDICT, "failed")) {
		buf_put_str(into, refused ? "refused: " : "failed: ");
		bracket = into->len;
	}
	for (const char *s = row->sentence; *s; s += len) {
		len = 1;
		if (*s == '[') {
			bracket = into->len;
			whole = true;
		} else if (*s == ']') {
			if (!whole)
				export_take_back(into, bracket);
		} else if (*s == '{') {
			whole = export_put_field(x, ev, s, &len) && whole;
		} else {
			buf_put_char(into, *s);
		}
	}
	if (event_has(ev, NOTE_FIELD_REASON)) {
		buf_put_str(into, " (");
		text_escape(into, event_text(ev, NOTE_FIELD_REASON));
		buf_put_char(into, ')');
	}
}
