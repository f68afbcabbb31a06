/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn why EVENT` and the second half of `bawn why PATH`: what the record says.  About an event:
 * who did it, down from the first program, how it was decided, by which rule, what would allow it,
 * and how we know.  About a path: what was done to it, or tried, how often and by whom.
 * src/verbs/verb_why.c answers about hosts, and what the plan says about a path.
 */
#include "event_words.h"
#include "inquiry.h"
#include "past.h"

#include "help.h"
#include "json.h"
#include "str.h"
#include "why_shape.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { WHY_LABEL = 9, WHY_BYTES_MAX = 4 << 20, WHY_ANCESTORS = 8, WHY_LINES = 8 };

struct why {
	struct inquiry q;
	struct text text;
	struct json *json; /* or NULL: words */
	struct event_words words;
	const char *path; /* the one that the user asks about */
	uint64_t count;
	struct error e;
};

static int why_program(void *context, uint64_t exec, struct buf *into)
{
	struct why *w = context;

	return index_program(w->q.index, &w->q.place, exec, into);
}

static void why_row(const struct why *w, const char *label, enum text_style style,
		    const char *words)
{
	_cleanup_buf_ struct buf wrapped = BUF_INIT(WHY_BYTES_MAX);

	help_wrap(&wrapped, words, WHY_LABEL + 2, (size_t)w->text.width);
	text_styled(&w->text, TEXT_FAINT, "  %-*s", WHY_LABEL, label);
	text_styled(&w->text, style, "%s\n", buf_str(&wrapped));
}

static void why_text(const struct why *w, const char *label, enum note_field field)
{
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_BYTES_MAX);

	if (event_text(&w->q.event, field).len == 0)
		return;
	text_escape(&words, event_text(&w->q.event, field));
	why_row(w, label, TEXT_PLAIN, buf_str(&words));
}

/* --- who ------------------------------------------------------------------------------ */

/* Prints "claude[1] > bash[3] > curl[13]" and the command of the last. */
static void why_who(struct why *w)
{
	_cleanup_buf_ struct buf chain = BUF_INIT(WHY_BYTES_MAX), command = BUF_INIT(WHY_BYTES_MAX);
	uint64_t execs[WHY_ANCESTORS], exec = event_number(&w->q.event, NOTE_FIELD_EXEC);
	size_t count = 0;
	uint64_t parent;

	if (!event_has(&w->q.event, NOTE_FIELD_EXEC))
		return;
	while (count < WHY_ANCESTORS && exec > 0) {
		execs[count++] = exec;
		if (index_parent(w->q.index, &w->q.place, exec, &parent,
				 count == 1 ? &command : NULL) < 0 ||
		    parent >= exec)
			break;
		exec = parent;
	}
	if (count == WHY_ANCESTORS)
		buf_put_str(&chain, "... > ");
	while (count-- > 0) {
		_cleanup_buf_ struct buf program = BUF_INIT(WHY_BYTES_MAX);

		(void)why_program(w, execs[count], &program);
		text_escape(&chain, buf_span(&program));
		buf_putf(&chain, "[%" PRIu64 "]%s", execs[count], count ? " > " : "");
	}
	why_row(w, "who", TEXT_PLAIN, buf_str(&chain));
	if (command.len > 0) {
		buf_clear(&chain);
		text_escape(&chain, buf_span(&command));
		why_row(w, "command", TEXT_PLAIN, buf_str(&chain));
	}
	if (event_is(&w->q.event, NOTE_FIELD_BY, "reported"))
		why_row(w, "", TEXT_PLAIN, "inferred from who held the connection at that moment");
}

/* --- an event ------------------------------------------------------------------------- */

static const char *why_known(const struct event *ev)
{
	if (event_is(ev, NOTE_FIELD_HOW, "kernel"))
		return "kernel: bawn did or measured it; the box cannot have changed what is here";
	if (event_is(ev, NOTE_FIELD_HOW, "reported"))
		return "reported: read from the memory of the process, which may have changed it "
		       "in the same moment";
	if (event_is(ev, NOTE_FIELD_HOW, "remembered"))
		return "remembered: as an earlier session measured it, by a file that is not "
		       "sealed";
	return NULL;
}

static void why_way(struct why *w)
{
	const struct event *ev = &w->q.event;
	_cleanup_buf_ struct buf line = BUF_INIT(WHY_BYTES_MAX);

	if (!event_is(ev, NOTE_FIELD_VERDICT, "refused"))
		return;
	if (event_text(ev, NOTE_FIELD_ALLOW).len > 0) {
		text_escape(&line, event_text(ev, NOTE_FIELD_ALLOW));
		why_row(w, "to allow", TEXT_PLAIN, "put beneath network: in your config.yaml");
		text_printf(&w->text, "%*s%s\n", WHY_LABEL + 6, "", buf_str(&line));
	} else if (ev->kind == NOTE_FILE) {
		why_row(w, "to allow", TEXT_PLAIN,
			event_is(ev, NOTE_FIELD_OP, "read") || event_is(ev, NOTE_FIELD_OP, "named")
				? "show it to the box with --read PATH, or files: read: in your "
				  "config.yaml"
				: "let the box write there with --write PATH, or files: write: in "
				  "your config.yaml");
	} else if (ev->kind == NOTE_CALL) {
		why_row(w, "to allow", TEXT_PLAIN,
			"no rule allows this system call; --debug opens those of debuggers");
	}
}

static void why_print_event(struct why *w)
{
	const struct event *ev = &w->q.event;
	_cleanup_buf_ struct buf line = BUF_INIT(WHY_BYTES_MAX), words = BUF_INIT(WHY_BYTES_MAX);
	bool refused = event_is(ev, NOTE_FIELD_VERDICT, "refused");

	w->words = (struct event_words){
		.workspace = inquiry_workspace(&w->q), .program = why_program, .context = w};
	event_words_line(&w->words, ev, &line);
	text_printf(&w->text, "%s: %s", w->q.session->name,
		    buf_str(&line) + strspn(buf_str(&line), " "));
	if (event_has(ev, NOTE_FIELD_VERDICT)) {
		text_escape(&words, event_text(ev, NOTE_FIELD_VERDICT));
		if (event_text(ev, NOTE_FIELD_REASON).len > 0) {
			buf_put_str(&words, ": ");
			text_escape(&words, event_text(ev, NOTE_FIELD_REASON));
		}
		why_row(w, "verdict", refused ? TEXT_BAD : TEXT_GOOD, buf_str(&words));
	} else {
		why_text(w, "reason", NOTE_FIELD_REASON);
	}
	why_text(w, "rule", NOTE_FIELD_RULE);
	why_text(w, "decided", NOTE_FIELD_ORIGIN);
	why_way(w);
	/* This reads nothing more of the record: the event's texts stay. */
	why_who(w);
	if (why_known(ev))
		why_row(w, "known", TEXT_PLAIN, why_known(ev));
	buf_clear(&words);
	buf_putf(&words, "%.*s, event %" PRIu64 " of %s", (int)ev->wall.len,
		 (const char *)ev->wall.ptr, ev->seq, w->q.session->folder);
	why_row(w, "recorded", TEXT_PLAIN, buf_str(&words));
}

static int why_event(struct why *w, const char *typed)
{
	char session[STORE_FOLDER_SIZE];
	uint64_t number = 0;

	if (why_shape_event(typed, session, sizeof(session), &number) < 0)
		return error_set(&w->e, -EINVAL, "'%s' is no number of an event", typed);
	int r = inquiry_open(&w->q, session[0] ? session : NULL, &w->e);

	if (r < 0)
		return r;
	r = inquiry_read(&w->q, number);
	if (r == -ENOENT) {
		r = error_set(&w->e, r, "%s has no event %" PRIu64, w->q.session->name, number);
		error_next(&w->e, "Its last is %" PRIu64 ".", w->q.place.seq);
	} else if (r < 0) {
		r = error_set(&w->e, r, "event %" PRIu64 " of %s cannot be read", number,
			      w->q.session->name);
	} else if (w->json) {
		inquiry_json_event(&w->q, w->json);
	} else {
		why_print_event(w);
	}
	return r;
}

/* --- a path --------------------------------------------------------------------------- */

static int why_on_deed(void *context, const struct index_deed *deed)
{
	struct why *w = context;
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_BYTES_MAX), who = BUF_INIT(WHY_BYTES_MAX);
	bool bad = deed->what == INDEX_DID_REFUSED_FILE || deed->what == INDEX_DID_TAMPER;

	if (!span_equal(deed->name, span_of_str(w->path)))
		return 0;
	w->count++;
	if (w->json) {
		json_open(w->json, '{');
		json_key_str(w->json, "what", index_what_word(deed->what));
		json_key_u64(w->json, "exec", deed->exec);
		json_key_u64(w->json, "count", deed->count);
		json_key_u64(w->json, "first", deed->first);
		json_key_u64(w->json, "last", deed->last);
		json_close(w->json, '}');
		return 0;
	}
	if (w->count > WHY_LINES)
		return 0;
	(void)why_program(w, deed->exec, &who);
	buf_putf(&words, "%" PRIu64 " time%s", deed->count, deed->count == 1 ? "" : "s");
	if (deed->exec > 0) {
		buf_put_str(&words, " by ");
		text_escape(&words, buf_span(&who));
		buf_putf(&words, "[%" PRIu64 "]", deed->exec);
	}
	buf_putf(&words, ", first event %" PRIu64, deed->first);
	if (deed->last != deed->first)
		buf_putf(&words, ", last %" PRIu64, deed->last);
	why_row(w,
		deed->what == INDEX_DID_REFUSED_FILE ? "refused"
		: deed->what == INDEX_DID_TAMPER     ? "ALARM"
						     : index_what_word(deed->what),
		bad ? TEXT_BAD : TEXT_PLAIN, buf_str(&words));
	return 0;
}

/* The last session of the folder that the path is in; the one of the current folder was tried
 * before. */
static int why_open_of(struct why *w, const char *path)
{
	const struct store_session *found = past_here(&w->q.ask.store, path, NULL);
	char folder[STORE_FOLDER_SIZE];

	if (!found)
		return -ENOENT;
	(void)snprintf(folder, sizeof(folder), "%s", found->folder);
	inquiry_close(&w->q);
	w->e = ERROR_INIT;
	return inquiry_open(&w->q, folder, &w->e);
}

static int why_no_record(struct why *w)
{
	bool none = w->q.ask.store.count == 0;

	if (!w->json)
		text_printf(&w->text, "          %s\n",
			    none ? "nothing has been recorded yet" : w->e.text);
	if (!w->json && !none)
		text_printf(&w->text, "          %s\n", w->e.next);
	w->e = ERROR_INIT;
	return 0;
}

static int why_path(struct why *w, const char *typed, const char *session)
{
	static const enum index_what kinds[] = {INDEX_DID_CHANGE, INDEX_DID_READ,
						INDEX_DID_REFUSED_FILE, INDEX_DID_TAMPER};
	_cleanup_buf_ struct buf name = BUF_INIT(WHY_BYTES_MAX);
	char path[PATH_MAX];
	int r = why_shape_path(typed, path, sizeof(path));

	if (r < 0)
		return error_sys(&w->e, r, "%s", typed);
	text_name(&name, span_of_str(path));
	w->path = path;
	w->count = 0;
	r = inquiry_open(&w->q, session, &w->e);
	if (r == -ENOENT && !session)
		r = why_open_of(w, path);
	if (r == -ENOENT && !session)
		return why_no_record(w);
	if (r < 0)
		return r;
	if (w->json) {
		json_open(w->json, '{');
		json_key_str(w->json, "path", path);
		json_key_str(w->json, "session", w->q.session->folder);
		json_key(w->json, "record");
		json_open(w->json, '[');
	} else {
		text_printf(&w->text, "%s  (record of %s)\n", buf_str(&name), w->q.session->name);
	}
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(kinds); i++)
		r = index_deeds_of(w->q.index, &w->q.place, kinds[i], span_of_str(path),
				   why_on_deed, w, &w->e);
	if (w->json) {
		json_close(w->json, ']');
		json_close(w->json, '}');
	} else if (r == 0 && w->count == 0) {
		text_printf(&w->text, "  the record has nothing about it\n");
	} else if (w->count > WHY_LINES) {
		text_printf(&w->text, "  and %" PRIu64 " more: bawn log --path %s\n",
			    w->count - WHY_LINES, buf_str(&name));
	}
	w->path = NULL;
	return r;
}

/* --- the verb ------------------------------------------------------------------------- */

int history_why(const struct invocation *i)
{
	_cleanup_free_ struct why *w = calloc(1, sizeof(*w));
	_cleanup_buf_ struct buf out = BUF_INIT(WHY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);
	int r = 0, answer = EXIT_OK;

	if (!w)
		return EXIT_BAWN;
	w->text = text_open(STDOUT_FILENO);
	w->json = invocation_has(i, OPTION_JSON) ? &j : NULL;
	json_open(&j, '[');
	for (int n = 0; r == 0 && n < i->argument_count; n++) {
		const char *typed = i->arguments[n];

		r = why_shape(typed) == WHY_EVENT
			    ? why_event(w, typed)
			    : why_path(w, typed, invocation_value(i, OPTION_SESSION));
		if (r == 0 && inquiry_answer(&w->q) != EXIT_OK)
			answer = EXIT_FOUND;
		inquiry_close(&w->q);
	}
	json_close(&j, ']');
	if (r == 0 && w->json)
		text_write(&w->text, &out);
	if (r < 0)
		verb_complain(&w->e);
	return r < 0 ? EXIT_BAWN : answer;
}
