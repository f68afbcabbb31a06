/* SPDX-License-Identifier: Apache-2.0 */
#include "event_words.h"

#include "plan.h"
#include "str.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { WORDS_WHO = 16, WORDS_DID = 10, WORDS_COMMAND_MAX = 4096 };

/* --- words ---------------------------------------------------------------------------- */

static const struct {
	enum note_kind kind;
	const char *op; /* NULL: any */
	const char *did;
} words_table[] = {
	{NOTE_SESSION, "begin", "began"},
	{NOTE_SESSION, "ready", "ready"},
	{NOTE_SESSION, "end", "ended"},
	{NOTE_SESSION, "exec", "EXEC"},
	{NOTE_SESSION, "attach", "ATTACH"},
	{NOTE_SESSION, "send", "SEND"},
	{NOTE_SESSION, "pause", "paused"},
	{NOTE_SESSION, "resume", "resumed"},
	{NOTE_SESSION, "stop", "STOP"},
	{NOTE_SESSION, "kill", "KILL"},
	{NOTE_PROCESS, "exec", "ran"},
	{NOTE_PROCESS, "ran", "is"},
	{NOTE_PROCESS, "exit", "exited"},
	{NOTE_PROCESS, "digest", "has digest"},
	{NOTE_FILE, "create", "created"},
	{NOTE_FILE, "write", "wrote"},
	{NOTE_FILE, "truncate", "truncated"},
	{NOTE_FILE, "delete", "deleted"},
	{NOTE_FILE, "rename", "renamed"},
	{NOTE_FILE, "link", "linked"},
	{NOTE_FILE, "symlink", "symlinked"},
	{NOTE_FILE, "mkdir", "made"},
	{NOTE_FILE, "rmdir", "removed"},
	{NOTE_FILE, "mknod", "made node"},
	{NOTE_FILE, "chmod", "chmod"},
	{NOTE_FILE, "chown", "chown"},
	{NOTE_FILE, "xattr", "attributes"},
	{NOTE_FILE, "times", "touched"},
	{NOTE_FILE, "read", "read"},
	{NOTE_FILE, "named", "named"},
	{NOTE_FILE, "connect", "connects to"},
	{NOTE_CALL, NULL, "called"},
	{NOTE_NETWORK, "connect", "connected"},
	{NOTE_NETWORK, "close", "closed"},
	{NOTE_NETWORK, "request", "requested"},
	{NOTE_NETWORK, "answer", "answered"},
	{NOTE_NETWORK, "certificate", "was shown"},
	{NOTE_NETWORK, "reach", "reached"},
	{NOTE_NETWORK, "listen", "listens at"},
	{NOTE_DNS, NULL, "looked up"},
	{NOTE_SECRET, "use", "used"},
	{NOTE_SECRET, "sign", "signed"},
	{NOTE_SECRET, "leak", "LEAK"},
	{NOTE_GRANT, NULL, "granted"},
	{NOTE_POLICY, NULL, "rules"},
	{NOTE_LIMIT, NULL, "limit"},
	{NOTE_TAMPER, NULL, "ALARM"},
	{NOTE_GAP, NULL, "MISSING"},
	{NOTE_HOLD, "released", "released"},
	{NOTE_HOLD, NULL, "held"},
	{NOTE_APPLY, "begin", "applies"},
	{NOTE_APPLY, "landed", "landed"},
	{NOTE_APPLY, "failed", "FAILED"},
	{NOTE_APPLY, "undo", "undoes"},
	{NOTE_APPLY, "redo", "redoes"},
	{NOTE_APPLY, "restored", "restored"},
	{NOTE_APPLY, "discard", "discards"},
	{NOTE_APPLY, "discarded", "discarded"},
	{NOTE_APPLY, "snapshot", "keeps"},
	{NOTE_APPLY, "restore", "restores"},
	{NOTE_APPLY, "fork", "forks"},
	{NOTE_APPLY, NULL, "applied"},
	{NOTE_KEEPING, NULL, "removed"},
	{NOTE_SEAL, NULL, "sealed"},
};

/* "created", "ran"...: the word for each operation that note.h names; NULL: none. */
static const char *event_words_did(const struct event *ev)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words_table); i++)
		if (words_table[i].kind == ev->kind &&
		    (!words_table[i].op || event_is(ev, NOTE_FIELD_OP, words_table[i].op)))
			return words_table[i].did;
	return NULL;
}

bool event_words_is_quiet(const struct event *ev)
{
	return ev->kind == NOTE_SEAL ||
	       (ev->kind == NOTE_PROCESS &&
		(event_is(ev, NOTE_FIELD_OP, "ran") || event_is(ev, NOTE_FIELD_OP, "digest")));
}

static bool words_is_refused(const struct event *ev)
{
	return event_is(ev, NOTE_FIELD_VERDICT, "refused");
}

/* --- pieces --------------------------------------------------------------------------- */

void event_words_path(struct buf *into, struct span workspace, struct span path)
{
	if (workspace.len > 1 && path.len > workspace.len + 1 &&
	    memcmp(path.ptr, workspace.ptr, workspace.len) == 0 && path.ptr[workspace.len] == '/')
		path = span_skip(path, workspace.len + 1);
	text_name(into, path);
}

void event_words_home(struct buf *into, const char *home, struct span path)
{
	size_t len = home ? strlen(home) : 0;

	if (len > 1 && path.len >= len && memcmp(path.ptr, home, len) == 0 &&
	    (path.len == len || path.ptr[len] == '/')) {
		buf_put_char(into, '~');
		path = span_skip(path, len);
	}
	text_escape(into, path);
}

static bool words_wants_quotes(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || strchr("'\"\\$`;&|<>()*?[]#~!{}", s.ptr[i]))
			return true;
	return s.len == 0;
}

/* How many words come before the user's command: those of the script that makes a worktree. */
static size_t words_before_command(const struct event *ev, enum note_field field, uint8_t *scratch)
{
	struct event_items items = event_items_of(ev, field, scratch);
	struct span item;
	bool script = false;
	size_t count = 0;

	if (ev->kind != NOTE_SESSION || field != NOTE_FIELD_ARGV)
		return 0;
	for (; event_items_next(&items, &item); count++)
		script = script ||
			 (count == 1 && span_equal(item, span_of_str(PLAN_WORKTREE_SCRIPT)));
	return script && count > PLAN_WORKTREE_BEFORE ? PLAN_WORKTREE_BEFORE : 0;
}

void event_words_command(struct buf *into, const struct event *ev, enum note_field field,
			 uint8_t *scratch, size_t most)
{
	size_t before = words_before_command(ev, field, scratch);
	struct event_items items = event_items_of(ev, field, scratch);
	uint64_t missing = field == NOTE_FIELD_ARGV ? event_number(ev, NOTE_FIELD_CUT) : 0;
	size_t from = into->len;
	struct span item;

	while (event_items_next(&items, &item)) {
		const char *quote = words_wants_quotes(item) ? "'" : "";

		if (before > 0) {
			before--;
			continue;
		}
		if (into->len - from >= most) {
			missing += item.len + 1;
			continue;
		}
		missing += item.len > most ? item.len - most : 0;
		item.len = item.len < most ? item.len : most;
		buf_putf(into, "%s%s", into->len > from ? " " : "", quote);
		text_escape(into, item);
		buf_put_str(into, quote);
	}
	event_words_missing(into, missing);
}

void event_words_missing(struct buf *into, uint64_t bytes)
{
	char number[STR_GROUPED];

	if (bytes == 0)
		return;
	str_group(bytes, number);
	buf_putf(into, " ... (%s byte%s more)", number, bytes == 1 ? "" : "s");
}

/* "1.5 kB". */
static void event_words_bytes(struct buf *into, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t unit = 0;
	double value = (double)bytes;

	for (; value >= 999.5 && unit + 1 < BAWN_ARRAY_SIZE(units); unit++)
		value /= 1000;
	if (unit == 0 || value >= 99.95)
		buf_putf(into, "%.0f %s", value, units[unit]);
	else
		buf_putf(into, "%.1f %s", value, units[unit]);
}

static void words_text(struct buf *into, const struct event *ev, enum note_field field,
		       const char *before)
{
	struct span text = event_text(ev, field);

	if (text.len == 0)
		return;
	buf_put_str(into, before);
	text_escape(into, text);
}

/* Appends host:port, an IPv6 address in brackets. */
static void words_host(struct buf *into, const struct event *ev)
{
	enum note_field field =
		event_has(ev, NOTE_FIELD_HOST) ? NOTE_FIELD_HOST : NOTE_FIELD_ADDRESS;
	struct span host = event_text(ev, field);
	bool bracket = host.len > 0 && memchr(host.ptr, ':', host.len);

	buf_put_str(into, bracket ? "[" : "");
	text_escape(into, host);
	buf_put_str(into, bracket ? "]" : "");
	if (event_has(ev, NOTE_FIELD_PORT))
		buf_putf(into, ":%" PRIu64, event_number(ev, NOTE_FIELD_PORT));
}

static void words_carried(struct buf *into, const struct event *ev)
{
	if (event_has(ev, NOTE_FIELD_SENT)) {
		buf_put_str(into, "  ");
		event_words_bytes(into, event_number(ev, NOTE_FIELD_SENT));
		buf_put_str(into, " out");
	}
	if (event_has(ev, NOTE_FIELD_RECEIVED)) {
		buf_put_str(into, ", ");
		event_words_bytes(into, event_number(ev, NOTE_FIELD_RECEIVED));
		buf_put_str(into, " in");
	}
	if (event_has(ev, NOTE_FIELD_MS))
		buf_putf(into, ", %" PRIu64 ".%" PRIu64 " s",
			 event_number(ev, NOTE_FIELD_MS) / 1000,
			 event_number(ev, NOTE_FIELD_MS) / 100 % 10);
}

static void words_ending(struct buf *into, const struct event *ev)
{
	if (event_has(ev, NOTE_FIELD_SIGNAL))
		buf_putf(into, "by signal %" PRIu64, event_number(ev, NOTE_FIELD_SIGNAL));
	else if (event_has(ev, NOTE_FIELD_EXIT))
		buf_putf(into, "with %" PRIu64, event_number(ev, NOTE_FIELD_EXIT));
}

/* --- objects by kind ------------------------------------------------------------------ */

static void words_process(struct event_words *w, const struct event *ev, struct buf *into)
{
	if (event_is(ev, NOTE_FIELD_OP, "exec")) {
		if (event_text(ev, NOTE_FIELD_ARGV).len > 0)
			event_words_command(into, ev, NOTE_FIELD_ARGV, w->scratch,
					    WORDS_COMMAND_MAX);
		else
			event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_PATH));
		struct span cwd = event_text(ev, NOTE_FIELD_CWD);

		if (cwd.len > 0 && !span_equal(cwd, w->workspace)) {
			buf_put_str(into, "  in ");
			event_words_path(into, w->workspace, cwd);
		}
		return;
	}
	event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_PATH));
	words_text(into, ev, NOTE_FIELD_DIGEST, "  sha256 ");
	words_ending(into, ev);
}

static void words_file(struct event_words *w, const struct event *ev, struct buf *into)
{
	bool folder = event_is(ev, NOTE_FIELD_OP, "mkdir") || event_is(ev, NOTE_FIELD_OP, "rmdir");

	event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_PATH));
	buf_put_str(into, folder ? "/" : "");
	if (event_has(ev, NOTE_FIELD_TO)) {
		buf_put_str(into, event_is(ev, NOTE_FIELD_OP, "rename") ? " to " : " -> ");
		event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_TO));
	}
	if (event_is(ev, NOTE_FIELD_OP, "chmod") && event_has(ev, NOTE_FIELD_MODE))
		buf_putf(into, "  to %04" PRIo64, event_number(ev, NOTE_FIELD_MODE));
	if (event_has(ev, NOTE_FIELD_SAID)) {
		buf_put_str(into, "  as ");
		event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_SAID));
	}
}

static void words_network(const struct event *ev, struct buf *into)
{
	if (event_has(ev, NOTE_FIELD_METHOD)) {
		text_escape(into, event_text(ev, NOTE_FIELD_METHOD));
		buf_put_char(into, ' ');
	}
	words_host(into, ev);
	if (event_has(ev, NOTE_FIELD_PATH))
		text_escape(into, event_text(ev, NOTE_FIELD_PATH));
	if (event_has(ev, NOTE_FIELD_STATUS))
		buf_putf(into, "  %" PRIu64, event_number(ev, NOTE_FIELD_STATUS));
	if (event_has(ev, NOTE_FIELD_HOST))
		words_text(into, ev, NOTE_FIELD_ADDRESS, "  at ");
	words_carried(into, ev);
}

static void words_session(struct event_words *w, const struct event *ev, struct buf *into)
{
	if (event_is(ev, NOTE_FIELD_OP, "begin")) {
		words_text(into, ev, NOTE_FIELD_NAME, "");
		buf_put_str(into, ": ");
		event_words_command(into, ev, NOTE_FIELD_ARGV, w->scratch, WORDS_COMMAND_MAX);
		words_text(into, ev, NOTE_FIELD_WORKSPACE, "  in ");
		words_text(into, ev, NOTE_FIELD_AGENT, ", preset ");
		if (event_text(ev, NOTE_FIELD_WITHOUT).len > 0) {
			buf_put_str(into, ", WITHOUT ");
			event_words_command(into, ev, NOTE_FIELD_WITHOUT, w->scratch,
					    WORDS_COMMAND_MAX);
		}
		return;
	}
	if (event_has(ev, NOTE_FIELD_PROBES))
		buf_putf(into, "%" PRIu64 " probes held", event_number(ev, NOTE_FIELD_PROBES));
	words_text(into, ev, NOTE_FIELD_WATCHED, "  watched: ");
	words_ending(into, ev);
	if (event_has(ev, NOTE_FIELD_EVENTS))
		buf_putf(into, ", %" PRIu64 " events", event_number(ev, NOTE_FIELD_EVENTS));
	if (event_number(ev, NOTE_FIELD_UNATTRIBUTED) > 0)
		buf_putf(into, ", %" PRIu64 " changes UNATTRIBUTED",
			 event_number(ev, NOTE_FIELD_UNATTRIBUTED));
}

/* A decision about all changes of a session, or about one of them. */
static void words_decision(const struct event_words *w, const struct event *ev, struct buf *into)
{
	if (!event_has(ev, NOTE_FIELD_PATH)) {
		size_t from = into->len;

		words_text(into, ev, NOTE_FIELD_NAME, "");
		words_text(into, ev, NOTE_FIELD_TO, ", snapshot ");
		words_text(into, ev, NOTE_FIELD_WORKSPACE, into->len > from ? "  in " : "in ");
		return;
	}
	if (ev->kind == NOTE_APPLY && !event_is(ev, NOTE_FIELD_OP, "restored") &&
	    !event_is(ev, NOTE_FIELD_OP, "discarded")) {
		text_escape(into, event_text(ev, NOTE_FIELD_OP));
		buf_put_char(into, ' ');
	}
	event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_PATH));
	if (event_has(ev, NOTE_FIELD_TO)) {
		buf_put_str(into, " -> ");
		event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_TO));
	}
	words_text(into, ev, NOTE_FIELD_RULE, "  by ");
}

/* An event that has no line of its own: every field that it has, by its name. */
static void words_plain(struct event_words *w, const struct event *ev, struct buf *into)
{
	static const uint64_t elsewhere = 1ull << NOTE_FIELD_OP | 1ull << NOTE_FIELD_HOW |
					  1ull << NOTE_FIELD_VERDICT | 1ull << NOTE_FIELD_EXEC |
					  1ull << NOTE_FIELD_PID | 1ull << NOTE_FIELD_COUNT_OF |
					  1ull << NOTE_FIELD_REASON | 1ull << NOTE_FIELD_BY;
	size_t from = into->len;

	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++) {
		enum note_field field = (enum note_field)i;

		if (!event_has(ev, field) || (elsewhere >> i & 1))
			continue;
		buf_putf(into, "%s%s ", into->len > from ? "  " : "", note_fields[i].name);
		if (note_fields[i].type == NOTE_TYPE_NUMBER)
			buf_putf(into, "%" PRIu64, event_number(ev, field));
		else if (note_fields[i].type == NOTE_TYPE_LIST)
			event_words_command(into, ev, field, w->scratch, WORDS_COMMAND_MAX);
		else
			text_escape(into, event_text(ev, field));
	}
}

static void words_object(struct event_words *w, const struct event *ev, struct buf *into)
{
	if (ev->kind == NOTE_PROCESS)
		words_process(w, ev, into);
	else if (ev->kind == NOTE_FILE)
		words_file(w, ev, into);
	else if (ev->kind == NOTE_NETWORK)
		words_network(ev, into);
	else if (ev->kind == NOTE_SESSION)
		words_session(w, ev, into);
	else if (ev->kind == NOTE_DNS) {
		words_host(into, ev);
		words_text(into, ev, NOTE_FIELD_TYPE, "  ");
	} else if (ev->kind == NOTE_CALL) {
		words_text(into, ev, NOTE_FIELD_CALLED, "");
	} else if (ev->kind == NOTE_SECRET) {
		words_text(into, ev, NOTE_FIELD_SECRET, "secret ");
		if (event_has(ev, NOTE_FIELD_HOST)) {
			buf_put_str(into, " at ");
			words_host(into, ev);
		}
	} else if (ev->kind == NOTE_TAMPER && event_has(ev, NOTE_FIELD_HOST)) {
		words_text(into, ev, NOTE_FIELD_HOST, "bawn-");
		buf_put_str(into, " ended");
	} else if (ev->kind == NOTE_TAMPER) {
		words_text(into, ev, NOTE_FIELD_OP, "");
		buf_put_char(into, ' ');
		event_words_path(into, w->workspace, event_text(ev, NOTE_FIELD_PATH));
	} else if (ev->kind == NOTE_APPLY || ev->kind == NOTE_HOLD) {
		words_decision(w, ev, into);
	} else {
		words_plain(w, ev, into);
	}
}

/* --- the line ------------------------------------------------------------------------- */

static void words_clock(struct event_words *w, struct span wall, struct buf *into)
{
	int64_t seconds = 0;
	uint32_t nanoseconds;

	if (event_wall_seconds(wall, &seconds, &nanoseconds) < 0) {
		buf_put_str(into, "--:--:--");
		return;
	}
	if (w->clock[0] == '\0' || seconds != w->second) {
		time_t at = (time_t)seconds, now = time(NULL);
		struct tm t, today;

		memset(&t, 0, sizeof(t));
		memset(&today, 0, sizeof(today));
		(void)localtime_r(&at, &t);
		(void)localtime_r(&now, &today);
		bool same = t.tm_year == today.tm_year && t.tm_yday == today.tm_yday;

		(void)strftime(w->clock, sizeof(w->clock), same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S",
			       &t);
		w->second = seconds;
	}
	buf_put_str(into, w->clock);
}

/* Appends blanks up to so many columns since `from`; these are our own columns and escaped
 * names. */
static void words_pad(struct buf *b, size_t from, size_t columns)
{
	size_t used = 0;

	for (size_t at = from; at < b->len;) {
		uint32_t cp = 0;
		size_t len =
			text_utf8((struct span){(const uint8_t *)b->ptr + at, b->len - at}, &cp);

		used += text_columns(cp);
		at += len ? len : 1;
	}
	do
		buf_put_char(b, ' ');
	while (++used < columns);
}

static void words_who(struct event_words *w, const struct event *ev, struct buf *into)
{
	char room[64];
	struct buf program = {room, 0, sizeof(room), sizeof(room) - 1, 0};
	size_t from = into->len;

	if (!event_has(ev, NOTE_FIELD_EXEC)) {
		buf_put_str(into, ev->kind == NOTE_SESSION ? "bawn" : "-");
		words_pad(into, from, WORDS_WHO);
		return;
	}
	if (w->program && w->program(w->context, event_number(ev, NOTE_FIELD_EXEC), &program) == 0)
		text_escape(into, buf_span(&program));
	text_cut(into, from, WORDS_WHO - 5);
	buf_putf(into, "[%" PRIu64 "]", event_number(ev, NOTE_FIELD_EXEC));
	words_pad(into, from, WORDS_WHO);
}

static const char *words_style(const struct event_words *w, const struct event *ev)
{
	if (!w->colour)
		return "";
	if (words_is_refused(ev) || ev->kind == NOTE_TAMPER || ev->kind == NOTE_GAP ||
	    event_is(ev, NOTE_FIELD_OP, "leak"))
		return "\033[1;31m";
	if (ev->kind == NOTE_GRANT || ev->kind == NOTE_POLICY || ev->kind == NOTE_LIMIT)
		return "\033[33m";
	return ev->kind == NOTE_SESSION ? "\033[1m" : "";
}

/* Puts the line up to the object; returns how many columns it took. */
static size_t words_begin(struct event_words *w, const struct event *ev, struct buf *into)
{
	size_t from = into->len, styles = 0;
	const char *faint = w->colour ? "\033[2m" : "", *plain = w->colour ? "\033[0m" : "";

	if (w->session) {
		buf_putf(into, "%s%s%s", faint, w->session, plain);
		words_pad(into, from + strlen(faint) + strlen(plain), 18);
		styles += strlen(faint) + strlen(plain);
	}
	buf_putf(into, "%s%6" PRIu64 "%s  ", faint, ev->seq, plain);
	styles += strlen(faint) + strlen(plain);
	words_clock(w, ev->wall, into);
	buf_put_str(into, "  ");
	words_who(w, ev, into);
	return into->len - from - styles;
}

void event_words_line(struct event_words *w, const struct event *ev, struct buf *into)
{
	bool refused = words_is_refused(ev), failed = event_is(ev, NOTE_FIELD_VERDICT, "failed");
	const char *did = event_words_did(ev), *style = words_style(w, ev);
	size_t used = words_begin(w, ev, into), did_from = into->len;

	buf_put_str(into, style);
	if (refused || failed)
		buf_put_str(into, refused ? "refused" : "failed");
	else if (did)
		buf_put_str(into, did);
	else
		text_escape(into, event_has(ev, NOTE_FIELD_OP) ? event_text(ev, NOTE_FIELD_OP)
							       : ev->word);
	text_cut(into, did_from + strlen(style), (size_t)WORDS_DID * 2);
	buf_put_str(into, style[0] ? "\033[0m" : "");
	words_pad(into, did_from + strlen(style) + (style[0] ? 4 : 0), WORDS_DID);
	used += into->len - did_from - strlen(style) - (style[0] ? 4 : 0);
	size_t from = into->len;

	if (refused && ev->kind == NOTE_CALL)
		buf_put_str(into, "call ");
	else if ((refused || failed) && event_has(ev, NOTE_FIELD_OP)) {
		text_escape(into, event_text(ev, NOTE_FIELD_OP));
		buf_put_char(into, ' ');
	}
	words_object(w, ev, into);
	if (event_number(ev, NOTE_FIELD_COUNT_OF) > 1)
		buf_putf(into, "  x%" PRIu64, event_number(ev, NOTE_FIELD_COUNT_OF));
	words_text(into, ev, NOTE_FIELD_REASON, "  ");
	if (w->width > 0)
		text_cut(into, from, (size_t)w->width > used + 16 ? (size_t)w->width - used : 16);
	buf_put_char(into, '\n');
}

void event_words_unreadable(struct event_words *w, const struct event *ev, struct buf *into)
{
	(void)words_begin(w, ev, into);
	buf_put_str(into, "UNREADABLE  it does not have the form of an event\n");
}
