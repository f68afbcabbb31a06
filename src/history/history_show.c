/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn show`: the story of a session on one screen, over all its runs.  What was run and how it
 * ended, what it changed, reached and was refused, with the line that would allow it, the alarms,
 * and how complete all this is.  Sums come from the index; what the session says about itself comes
 * from its own events.
 */
#include "event_words.h"
#include "session_names.h"
#include "show_runs.h"

#include "help.h"
#include "json.h"
#include "str.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	SHOW_LABEL = 11,
	SHOW_NAMES = 6, /* in a row */
	SHOW_SENTENCE = 160,
	SHOW_REFUSED = 4, /* of each kind */
	SHOW_JSON = 1000,
	SHOW_EARLIER = 8, /* runs */
	SHOW_GROUPS = 128,
	SHOW_GROUP_MAX = 64,
	SHOW_BYTES_MAX = 4 << 20,
};

/* Changed files, by the folder that they are in. */
struct show_group {
	char name[SHOW_GROUP_MAX];
	uint64_t files;
};

struct show {
	struct inquiry q; /* about the last run */
	struct show_runs runs;
	struct text text;
	struct json *json;
	struct buf row;         /* the row that we put together */
	uint64_t names, events; /* in that row: different ones, and in all */
	size_t named;
	const char *label; /* for the first of several rows */
	struct show_group groups[SHOW_GROUPS];
	size_t group_count;
	uint64_t grouped; /* files that are in no group */
	uint64_t count;   /* of refusals, alarms */
	struct error e;
};

static int show_sum(struct show *s, enum index_what what, size_t most,
		    int (*found)(void *context, const struct index_deed *deed))
{
	return show_runs_sum(&s->q, &s->runs, what, most, found, s, &s->e);
}

/* --- rows ----------------------------------------------------------------------------- */

static void show_row(struct show *s, const char *label, enum text_style style, const char *words)
{
	_cleanup_buf_ struct buf wrapped = BUF_INIT(SHOW_BYTES_MAX);
	size_t width = (size_t)s->text.width;

	help_wrap(&wrapped, words, SHOW_LABEL, width < 120 ? width : 120);
	text_styled(&s->text, TEXT_FAINT, "%-*s", SHOW_LABEL, label);
	text_styled(&s->text, style, "%s\n", buf_str(&wrapped));
}

static const char *show_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Appends a name to the row: "git 120, make 80". */
static int show_on_name(void *context, const struct index_deed *deed)
{
	struct show *s = context;
	size_t from = s->row.len;

	s->names = deed->names;
	s->events += deed->count;
	if (s->named++ > 0)
		buf_put_str(&s->row, ", ");
	if (deed->what == INDEX_DID_DECISION || deed->what == INDEX_DID_LIMIT) {
		text_escape(&s->row, deed->name); /* a sentence, and no name */
		text_cut(&s->row, from, SHOW_SENTENCE);
	} else {
		event_words_path(&s->row, inquiry_workspace(&s->q), deed->name);
		text_cut(&s->row, from, 60);
	}
	if (deed->count > 1)
		buf_putf(&s->row, " %" PRIu64, deed->count);
	return 0;
}

/* Prints one row of names, the most frequent first; nothing when there are none. */
static int show_names(struct show *s, const char *label, enum index_what what, const char *one,
		      enum text_style style)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SHOW_BYTES_MAX);

	buf_clear(&s->row);
	s->names = s->events = s->named = 0;
	int r = show_sum(s, what, SHOW_NAMES, show_on_name);

	if (r < 0 || s->names == 0)
		return r;
	if (one)
		buf_putf(&line, "%" PRIu64 " %s%s: ", s->names, one, show_plural(s->names));
	buf_put(&line, s->row.ptr, s->row.len);
	if (s->names > s->named)
		buf_putf(&line, " and %" PRIu64 " more", s->names - s->named);
	show_row(s, label, style, buf_str(&line));
	return 0;
}

/* --- what was changed ----------------------------------------------------------------- */

/* "src" for src/a/b.c in the workspace, "/tmp" for what is there. */
static void show_group_name(const struct show *s, struct span path, struct buf *into)
{
	struct span workspace = inquiry_workspace(&s->q);
	bool inside = workspace.len > 1 && path.len > workspace.len + 1 &&
		      memcmp(path.ptr, workspace.ptr, workspace.len) == 0 &&
		      path.ptr[workspace.len] == '/';

	if (inside)
		path = span_skip(path, workspace.len + 1);
	const uint8_t *slash = path.len > 1 ? memchr(path.ptr + 1, '/', path.len - 1) : NULL;

	if (slash)
		path.len = (size_t)(slash - path.ptr) + (inside ? 1 : 0);
	text_escape(into, path);
	text_cut(into, 0, SHOW_GROUP_MAX / 2);
}

static int show_on_change(void *context, const struct index_deed *deed)
{
	struct show *s = context;
	char room[4 * SHOW_GROUP_MAX];
	_cleanup_buf_ struct buf name = BUF_INIT(SHOW_BYTES_MAX);

	show_group_name(s, deed->name, &name);
	(void)snprintf(room, sizeof(room), "%.*s", SHOW_GROUP_MAX - 1, buf_str(&name));
	s->names = deed->names;
	for (size_t i = 0; i < s->group_count; i++)
		if (str_equal(s->groups[i].name, room)) {
			s->groups[i].files++;
			return 0;
		}
	if (s->group_count == SHOW_GROUPS) {
		s->grouped++;
		return 0;
	}
	struct show_group *g = &s->groups[s->group_count++];

	(void)snprintf(g->name, sizeof(g->name), "%.*s", SHOW_GROUP_MAX - 1, room);
	g->files = 1;
	return 0;
}

static int show_compare(const void *a, const void *b)
{
	const struct show_group *x = a, *y = b;

	return x->files != y->files ? (x->files < y->files ? 1 : -1) : strcmp(x->name, y->name);
}

static int show_changes(struct show *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SHOW_BYTES_MAX);

	s->names = 0;
	int r = show_sum(s, INDEX_DID_CHANGE, 0, show_on_change);

	if (r < 0)
		return r;
	/* First the count that every screen has; below it all that was written on the way, by
	 * path. */
	past_changed(&s->q.ask.store, s->q.session, &line);
	if (line.len > 0)
		show_row(s, "changed", TEXT_PLAIN, buf_str(&line));
	buf_clear(&line);
	if (s->names == 0) {
		show_row(s, "wrote", TEXT_PLAIN, "nothing");
		return 0;
	}
	qsort(s->groups, s->group_count, sizeof(*s->groups), show_compare);
	buf_putf(&line, "%" PRIu64 " path%s: ", s->names, show_plural(s->names));
	for (size_t i = 0; i < s->group_count && i < SHOW_NAMES; i++) {
		buf_putf(&line, "%s%s", i ? ", " : "", s->groups[i].name);
		if (s->groups[i].files > 1)
			buf_putf(&line, " %" PRIu64, s->groups[i].files);
	}
	if (s->group_count > SHOW_NAMES || s->grouped)
		buf_put_str(&line, " and elsewhere");
	show_row(s, "wrote", TEXT_PLAIN, buf_str(&line));
	return 0;
}

/* --- refusals ------------------------------------------------------------------------- */

static int show_on_refusal(void *context, const struct index_deed *deed)
{
	struct show *s = context;
	_cleanup_buf_ struct buf line = BUF_INIT(SHOW_BYTES_MAX);
	size_t from;

	s->count++;
	buf_put_str(&line, deed->what == INDEX_DID_REFUSED_CALL   ? "call "
			   : deed->what == INDEX_DID_REFUSED_FILE ? "file "
								  : "");
	from = line.len;
	event_words_path(&line, inquiry_workspace(&s->q), deed->name);
	text_cut(&line, from, 48);
	buf_putf(&line, " x%" PRIu64, deed->count);
	if (deed->reason.len > 0) {
		buf_put_str(&line, ", ");
		text_escape(&line, deed->reason);
	}
	show_row(s, s->label, TEXT_BAD, buf_str(&line));
	s->label = "";
	if (deed->allow.len > 0) {
		buf_clear(&line);
		text_escape(&line, deed->allow);
		text_printf(&s->text, "%*s%s\n", SHOW_LABEL + 4, "", buf_str(&line));
	}
	if (deed->names > s->names)
		s->names = deed->names;
	return 0;
}

static int show_refusals(struct show *s)
{
	static const enum index_what kinds[] = {INDEX_DID_REFUSED_HOST, INDEX_DID_REFUSED_FILE,
						INDEX_DID_REFUSED_CALL};
	uint64_t left_out = 0;
	int r = 0;

	s->label = "refused";
	s->count = 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds) && r == 0; i++) {
		s->names = 0;
		r = show_sum(s, kinds[i], SHOW_REFUSED, show_on_refusal);
		left_out += s->names > SHOW_REFUSED ? s->names - SHOW_REFUSED : 0;
	}
	if (r == 0 && s->count == 0)
		show_row(s, "refused", TEXT_PLAIN, "nothing");
	if (r == 0 && left_out > 0)
		text_printf(&s->text, "%*sand %" PRIu64 " more: bawn log --verdict refused %s\n",
			    SHOW_LABEL, "", left_out, s->q.session->name);
	return r;
}

/* --- the session itself --------------------------------------------------------------- */

static void show_time(struct span wall, struct buf *into, int64_t *ret_seconds)
{
	uint32_t nanoseconds;

	if (event_wall_seconds(wall, ret_seconds, &nanoseconds) == 0)
		words_when(into, *ret_seconds, true);
	else
		buf_put_str(into, "at no known time");
}

/* How it ended, in words, or that it still runs. */
static void show_ending(struct show *s, struct buf *into, int64_t begin)
{
	struct inquiry *q = &s->q;
	int64_t end = 0;
	uint32_t nanoseconds;
	bool ended = q->place.end_segment > 0 &&
		     inquiry_read_at(q, q->place.end_segment, q->place.end_offset) == 0;

	if (!ended && inquiry_read(q, q->place.seq) < 0)
		return;
	if (event_wall_seconds(q->event.wall, &end, &nanoseconds) == 0 && end >= begin) {
		buf_put_str(into, ", ");
		words_duration(into, (uint64_t)(end - begin));
	}
	if (!ended) {
		buf_put_str(into, q->running ? ", still running" : ", INTERRUPTED: it has no end");
		return;
	}
	if (event_has(&q->event, NOTE_FIELD_SIGNAL))
		buf_putf(into, ", ended by signal %" PRIu64,
			 event_number(&q->event, NOTE_FIELD_SIGNAL));
	else if (event_has(&q->event, NOTE_FIELD_EXIT))
		buf_putf(into, ", exit %" PRIu64, event_number(&q->event, NOTE_FIELD_EXIT));
}

/* Prints the runs before the one that the head is about, the newest first. */
static void show_earlier(struct show *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SHOW_BYTES_MAX);
	size_t earlier = s->runs.count - 1 + s->runs.left_out;

	for (size_t i = 1; i < s->runs.count && i <= SHOW_EARLIER; i++) {
		const struct show_run *run = &s->runs.items[i];

		buf_clear(&line);
		words_when(&line, run->began, true);
		if (run->finished >= run->began && run->finished > 0) {
			buf_put_str(&line, ", ");
			words_duration(&line, (uint64_t)(run->finished - run->began));
		}
		if (run->has_signal)
			buf_putf(&line, ", ended by signal %" PRIu64, run->signal);
		else if (run->has_exit)
			buf_putf(&line, ", exit %" PRIu64, run->exit);
		else
			buf_put_str(&line, run->running ? ", still running"
					   : run->ended ? ""
							: ", INTERRUPTED: it has no end");
		buf_putf(&line, "  (%s)", run->session->folder);
		show_row(s, i == 1 ? "before" : "", TEXT_PLAIN, buf_str(&line));
	}
	if (earlier > SHOW_EARLIER)
		text_printf(&s->text, "%*sand %zu runs before: bawn sessions --all\n", SHOW_LABEL,
			    "", earlier - SHOW_EARLIER);
}

static void show_head(struct show *s)
{
	struct inquiry *q = &s->q;
	_cleanup_buf_ struct buf command = BUF_INIT(SHOW_BYTES_MAX),
				 where = BUF_INIT(SHOW_BYTES_MAX), when = BUF_INIT(SHOW_BYTES_MAX);
	static uint8_t scratch[FRAME_EVENT_MAX];
	char shown[LAYERS_NAME_MAX + 1];
	int64_t begin = 0;

	if (inquiry_read_at(q, 0, 0) < 0)
		return;
	event_words_command(&command, &q->event, NOTE_FIELD_ARGV, scratch, 200);
	session_label_shown(q->ask.host.state_dir, q->session->name, shown);
	text_styled(&s->text, TEXT_STRONG, "%s  ", shown);
	size_t used = strlen(shown) + 2, width = (size_t)s->text.width;

	text_cut(&command, 0, width > used + 20 ? width - used : 20);
	text_printf(&s->text, "%s\n", buf_str(&command));
	event_words_home(&where, s->q.ask.host.home, inquiry_workspace(q));
	if (event_has(&q->event, NOTE_FIELD_ACCESS)) {
		buf_put_str(&where, " (");
		text_escape(&where, event_text(&q->event, NOTE_FIELD_ACCESS));
		buf_put_char(&where, ')');
	}
	if (event_text(&q->event, NOTE_FIELD_AGENT).len > 0) {
		buf_put_str(&where, ", preset ");
		text_escape(&where, event_text(&q->event, NOTE_FIELD_AGENT));
	}
	if (event_text(&q->event, NOTE_FIELD_WITHOUT).len > 0) {
		buf_put_str(&where, ", WITHOUT ");
		event_words_command(&where, &q->event, NOTE_FIELD_WITHOUT, scratch, 200);
	}
	show_row(s, "in", TEXT_PLAIN, buf_str(&where));
	show_time(q->event.wall, &when, &begin);
	show_ending(s, &when, begin);
	show_row(s, "began", TEXT_PLAIN, buf_str(&when));
	show_earlier(s);
}

/* --- how complete it is ----------------------------------------------------------------- */

static int show_on_count(void *context, const struct index_deed *deed)
{
	struct show *s = context;

	s->count += deed->count;
	return 0;
}

static uint64_t show_count(struct show *s, enum index_what what)
{
	s->count = 0;
	(void)show_sum(s, what, 0, show_on_count);
	return s->count;
}

static void show_record(struct show *s)
{
	struct inquiry *q = &s->q;
	_cleanup_buf_ struct buf line = BUF_INIT(SHOW_BYTES_MAX);
	uint64_t gaps = show_count(s, INDEX_DID_GAP);
	const char *unread = q->unread ? q->unread : s->runs.unread[0] ? s->runs.unread : NULL;
	bool good = !unread && gaps == 0 && (q->place.end_segment > 0 || q->running);
	uint64_t events = 0;

	for (size_t i = 0; i < s->runs.count; i++)
		events += s->runs.items[i].place.seq;
	buf_putf(&line, "%" PRIu64 " events, ", events);
	if (q->place.ready_segment > 0 &&
	    inquiry_read_at(q, q->place.ready_segment, q->place.ready_offset) == 0 &&
	    event_has(&q->event, NOTE_FIELD_WATCHED)) {
		buf_put_str(&line, "watched: ");
		text_escape(&line, event_text(&q->event, NOTE_FIELD_WATCHED));
		buf_put_str(&line, ", ");
	}
	if (gaps > 0)
		buf_putf(&line, "%" PRIu64 " events MISSING, ", gaps);
	else
		buf_put_str(&line, "no gaps, ");
	if (unread) {
		buf_put_str(&line, "UNREADABLE: ");
		text_escape(&line, span_of_str(unread));
	} else {
		buf_put_str(&line, q->place.end_segment > 0 ? "whole"
				   : q->running             ? "still growing"
							    : "INTERRUPTED");
	}
	if (!q->whole && !q->unread)
		buf_put_str(&line, "; the index is behind, these sums are of its part");
	show_row(s, "record", good ? TEXT_PLAIN : TEXT_BAD, buf_str(&line));
}

static int show_alarms(struct show *s)
{
	uint64_t alarms = show_count(s, INDEX_DID_TAMPER) + show_count(s, INDEX_DID_LEAK);
	int r = 0;

	if (alarms == 0) {
		show_row(s, "alarms", TEXT_PLAIN, "none");
		return 0;
	}
	r = show_names(s, "ALARMS", INDEX_DID_TAMPER, "object", TEXT_BAD);
	if (r == 0)
		r = show_names(s, "LEAKS", INDEX_DID_LEAK, "placeholder", TEXT_BAD);
	return r;
}

static int show_screen(struct show *s)
{
	show_head(s);
	int r = show_names(s, "ran", INDEX_DID_RUN, "program", TEXT_PLAIN);

	if (r == 0)
		r = show_changes(s);
	if (r == 0)
		r = show_names(s, "read", INDEX_DID_READ, "file", TEXT_PLAIN);
	if (r == 0)
		r = show_names(s, "reached", INDEX_DID_REACH, NULL, TEXT_PLAIN);
	if (r == 0)
		r = show_names(s, "secrets", INDEX_DID_SECRET, NULL, TEXT_PLAIN);
	if (r == 0)
		r = show_names(s, "decided", INDEX_DID_DECISION, NULL, TEXT_PLAIN);
	if (r == 0)
		r = show_names(s, "limits", INDEX_DID_LIMIT, NULL, TEXT_WARN);
	if (r == 0)
		r = show_refusals(s);
	if (r == 0)
		r = show_alarms(s);
	if (r == 0)
		show_record(s);
	return r;
}

/* --- JSON ----------------------------------------------------------------------------- */

static int show_on_json(void *context, const struct index_deed *deed)
{
	struct show *s = context;

	json_open(s->json, '{');
	json_key(s->json, "name");
	json_span(s->json, deed->name);
	json_key_u64(s->json, "count", deed->count);
	/* Numbers of events are of one record. */
	if (s->runs.count == 1) {
		json_key_u64(s->json, "first", deed->first);
		json_key_u64(s->json, "last", deed->last);
	}
	if (deed->reason.len > 0) {
		json_key(s->json, "reason");
		json_span(s->json, deed->reason);
	}
	if (deed->allow.len > 0) {
		json_key(s->json, "allow");
		json_span(s->json, deed->allow);
	}
	json_close(s->json, '}');
	return 0;
}

static void show_json_fields(struct show *s, const char *key, int read)
{
	if (read < 0)
		return;
	json_key(s->json, key);
	inquiry_json_event(&s->q, s->json);
}

static void show_json_runs(struct show *s)
{
	struct json *j = s->json;

	json_key(j, "runs");
	json_open(j, '[');
	for (size_t i = 0; i < s->runs.count; i++) {
		const struct show_run *run = &s->runs.items[i];

		json_open(j, '{');
		json_key_str(j, "record", run->session->folder);
		json_key_u64(j, "began", (uint64_t)run->began);
		if (run->finished > 0)
			json_key_u64(j, "finished", (uint64_t)run->finished);
		if (run->has_exit)
			json_key_u64(j, "exit", run->exit);
		if (run->has_signal)
			json_key_u64(j, "signal", run->signal);
		json_key_u64(j, "events", run->place.seq);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int show_json(struct show *s)
{
	struct inquiry *q = &s->q;
	struct json *j = s->json;
	int r = 0;

	json_open(j, '{');
	json_key_str(j, "session", q->session->folder);
	json_key_str(j, "name", q->session->name);
	json_key_str(j, "state",
		     q->unread                  ? "unreadable"
		     : q->place.end_segment > 0 ? "whole"
		     : q->running               ? "running"
						: "interrupted");
	if (q->unread || s->runs.unread[0])
		json_key_str(j, "why", q->unread ? q->unread : s->runs.unread);
	json_key_u64(j, "events", q->place.seq);
	json_key_bool(j, "indexed", q->whole);
	show_json_fields(s, "begin", inquiry_read_at(q, 0, 0));
	if (q->place.ready_segment > 0)
		show_json_fields(s, "ready",
				 inquiry_read_at(q, q->place.ready_segment, q->place.ready_offset));
	if (q->place.end_segment > 0)
		show_json_fields(s, "end",
				 inquiry_read_at(q, q->place.end_segment, q->place.end_offset));
	show_json_runs(s);
	past_changed(&q->ask.store, q->session, &s->row);
	if (s->row.len > 0)
		json_key_str(j, "left_changed", buf_str(&s->row));
	for (unsigned int what = INDEX_DID_CHANGE; r == 0 && what <= INDEX_DID_DECISION; what++) {
		json_key(j, index_what_word((enum index_what)what));
		json_open(j, '[');
		r = show_sum(s, (enum index_what)what, SHOW_JSON, show_on_json);
		json_close(j, ']');
	}
	json_close(j, '}');
	return r;
}

int history_show(const struct invocation *i)
{
	_cleanup_free_ struct show *s = calloc(1, sizeof(*s));
	_cleanup_buf_ struct buf out = BUF_INIT(64 << 20);
	struct json j = JSON_INIT(&out, true);

	if (!s)
		return EXIT_BAWN;
	s->text = text_open(STDOUT_FILENO);
	s->row = BUF_INIT(SHOW_BYTES_MAX);
	s->json = &j;
	const char *wanted = i->argument_count ? i->arguments[0] : NULL;
	int r = inquiry_open(&s->q, wanted, &s->e);

	/* Who names a record means that one run. */
	if (r == 0)
		r = show_runs_find(&s->q, wanted && str_equal(wanted, s->q.session->folder),
				   &s->runs, &s->e);
	if (r == 0 && invocation_has(i, OPTION_JSON)) {
		r = show_json(s);
		text_write(&s->text, &out);
	} else if (r == 0) {
		r = show_screen(s);
	}
	bool unread = s->q.unread != NULL || s->runs.unread[0];

	if (r < 0)
		verb_complain(&s->e);
	inquiry_close(&s->q);
	buf_fini(&s->row);
	return r < 0 ? EXIT_BAWN : unread ? EXIT_FOUND : EXIT_OK;
}
