/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn sessions --all`: every recorded run, the newest first: when, its name, how it ended, its
 * folder, its command; and on a second line how much it changed and was refused.  It reads this
 * from the two ends of each record (past.h).
 */
#include "event_words.h"
#include "history.h"
#include "keep.h"
#include "past.h"
#include "room.h"

#include "help.h"
#include "json.h"
#include "session_names.h"
#include "str.h"
#include "text.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	PAST_OUT_MAX = 256 << 20,
	PAST_FLUSH = 64 << 10,
	PAST_NAME = 16,
	PAST_COMMAND = 200,
	PAST_INDENT = 18, /* when, and two blanks */
	PAST_BEFORE = 47, /* columns before the folder */
};

/* One record, as we print it. */
struct past_line {
	const struct store_session *session;
	struct buf command, workspace, agent; /* raw bytes, except the command, which is escaped */
	struct buf changed;                   /* in words, escaped; empty: not known */
	bool known;                           /* we could read its first event */
	bool running, ended, has_exit, has_signal, has_refused, compared;
	uint64_t exit, signal, changes, refused;
	int64_t began, finished; /* seconds since 1970; finished 0: not known */
};

struct past_list {
	struct history ask;
	struct past *past;
	struct text text;
	struct buf out;
	struct json *json;
	uint8_t scratch[FRAME_EVENT_MAX];
	struct error e;
};

/* --- reading ---------------------------------------------------------------------------- */

static void past_take_begin(struct past_list *l, struct past_line *line)
{
	const struct event *ev = &l->past->event;
	struct span workspace = event_text(ev, NOTE_FIELD_WORKSPACE);
	struct span agent = event_text(ev, NOTE_FIELD_AGENT);
	uint32_t nanoseconds;

	line->known = true;
	buf_put(&line->workspace, workspace.ptr, workspace.len);
	buf_put(&line->agent, agent.ptr, agent.len);
	event_words_command(&line->command, ev, NOTE_FIELD_ARGV, l->scratch, PAST_COMMAND);
	(void)!event_wall_seconds(ev->wall, &line->began, &nanoseconds);
}

static void past_take_end(struct past_list *l, struct past_line *line)
{
	const struct event *ev = &l->past->event;
	uint32_t nanoseconds;

	line->ended = true;
	line->has_exit = event_has(ev, NOTE_FIELD_EXIT);
	line->exit = event_number(ev, NOTE_FIELD_EXIT);
	line->has_signal = event_has(ev, NOTE_FIELD_SIGNAL);
	line->signal = event_number(ev, NOTE_FIELD_SIGNAL);
	line->compared = event_has(ev, NOTE_FIELD_CONFIRMED);
	line->changes =
		event_number(ev, NOTE_FIELD_CONFIRMED) + event_number(ev, NOTE_FIELD_UNATTRIBUTED);
	line->has_refused = event_has(ev, NOTE_FIELD_REFUSED);
	line->refused = event_number(ev, NOTE_FIELD_REFUSED);
	(void)!event_wall_seconds(ev->wall, &line->finished, &nanoseconds);
}

static void past_read(struct past_list *l, const struct store_session *session,
		      struct past_line *line)
{
	buf_clear(&line->command);
	buf_clear(&line->workspace);
	buf_clear(&line->agent);
	buf_clear(&line->changed);
	*line = (struct past_line){.session = session,
				   .command = line->command,
				   .workspace = line->workspace,
				   .agent = line->agent,
				   .changed = line->changed,
				   .began = session->start};
	if (past_open(l->past, &l->ask.store, session) == 0) {
		past_take_begin(l, line);
		if (past_to_end(l->past) == 0)
			past_take_end(l, line);
	}
	past_close(l->past);
	past_changed(&l->ask.store, session, &line->changed);
	line->running = !line->ended && store_is_running(&l->ask.store, session);
}

/* --- words ------------------------------------------------------------------------------ */

/* "exit 3". */
static void past_put_ending(struct buf *into, const struct past_line *line)
{
	if (line->has_signal)
		buf_putf(into, "signal %" PRIu64, line->signal);
	else if (line->has_exit)
		buf_putf(into, "exit %" PRIu64, line->exit);
	else
		buf_put_str(into, line->running ? "running"
				  : line->ended ? "ended"
				  : line->known ? "interrupted"
						: "unreadable");
}

/* Puts "changed 2 files, 1 commit; 3 refused", on a line of its own; nothing if there was nothing.
 * For a run whose end nobody counted: how many paths it wrote. */
static void past_put_counts(const struct past_list *l, struct buf *into,
			    const struct past_line *line)
{
	_cleanup_buf_ struct buf words = BUF_INIT(PAST_OUT_MAX), wrapped = BUF_INIT(PAST_OUT_MAX);

	if (line->changed.len > 0 && !str_equal(buf_str(&line->changed), "nothing"))
		buf_putf(&words, "changed %s", buf_str(&line->changed));
	else if (line->changed.len == 0 && line->compared && line->changes > 0)
		buf_putf(&words, "%" PRIu64 " path%s written", line->changes,
			 line->changes == 1 ? "" : "s");
	if (line->has_refused && line->refused > 0)
		buf_putf(&words, "%s%" PRIu64 " refused", words.len ? "; " : "", line->refused);
	if (words.len == 0)
		return;
	help_wrap(&wrapped, buf_str(&words), PAST_INDENT,
		  l->text.tty ? (size_t)l->text.width : PAST_OUT_MAX);
	buf_putf(into, "%*s%s\n", PAST_INDENT, "", buf_str(&wrapped));
}

static void past_put_line(struct past_list *l, const struct past_line *line)
{
	_cleanup_buf_ struct buf row = BUF_INIT(PAST_OUT_MAX), ending = BUF_INIT(64);
	char shown[LAYERS_NAME_MAX + 1];
	bool bad = line->has_signal || line->exit != 0 || (!line->ended && !line->running);

	words_when(&row, line->began, false);
	session_label_shown(l->ask.host.state_dir, line->session->name, shown);
	buf_putf(&row, "  %-*s", PAST_NAME, shown);
	past_put_ending(&ending, line);
	text_put(&l->text, &row, bad ? TEXT_WARN : TEXT_PLAIN, buf_span(&ending));
	buf_putf(&row, "%*s", ending.len < 13 ? 13 - (int)ending.len : 1, "");
	size_t from = row.len;

	event_words_home(&row, l->ask.host.home, buf_span(&line->workspace));
	buf_put_str(&row, "  ");
	if (line->agent.len > 0)
		text_escape(&row, buf_span(&line->agent));
	else
		buf_put(&row, line->command.ptr, line->command.len);
	if (l->text.tty)
		text_cut(&row, from,
			 l->text.width > PAST_BEFORE + 20 ? (size_t)l->text.width - PAST_BEFORE
							  : 20);
	buf_put_char(&row, '\n');
	past_put_counts(l, &row, line);
	buf_put(&l->out, row.ptr, row.len);
}

static void past_put_json(struct past_list *l, const struct past_line *line)
{
	struct json *j = l->json;

	json_open(j, '{');
	json_key_str(j, "name", line->session->name);
	json_key_str(j, "record", line->session->folder);
	json_key_u64(j, "began", (uint64_t)line->began);
	if (line->finished > 0)
		json_key_u64(j, "finished", (uint64_t)line->finished);
	json_key_bool(j, "running", line->running);
	json_key_bool(j, "ended", line->ended);
	json_key(j, "workspace");
	json_span(j, buf_span(&line->workspace));
	json_key(j, "agent");
	json_span(j, buf_span(&line->agent));
	json_key(j, "command");
	json_span(j, buf_span(&line->command));
	if (line->has_exit)
		json_key_u64(j, "exit", line->exit);
	if (line->has_signal)
		json_key_u64(j, "signal", line->signal);
	if (line->changed.len > 0)
		json_key_str(j, "changed", buf_str(&line->changed));
	if (line->compared)
		json_key_u64(j, "changes", line->changes);
	if (line->has_refused)
		json_key_u64(j, "refused", line->refused);
	json_close(j, '}');
}

/* --- the verb --------------------------------------------------------------------------- */

static void past_put(struct past_list *l, const struct past_line *line)
{
	if (l->json) {
		past_put_json(l, line);
		return;
	}
	past_put_line(l, line);
	if (l->out.len < PAST_FLUSH)
		return;
	text_write(&l->text, &l->out);
	buf_clear(&l->out);
}

/* Sorts them, the newest first.  The names of folders tell only the second. */
static const struct store_session **past_order(const struct store *s)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant. */
	const struct store_session **order = calloc(s->count + 1, sizeof(*order));
	size_t count = 0;

	for (size_t n = s->count; order && n-- > 0;) {
		const struct store_session *at = &s->sessions[n];
		size_t place = count;

		if (!store_is_session(at))
			continue;
		while (place > 0 && order[place - 1]->start == at->start &&
		       store_is_newer(s, at, order[place - 1]))
			place--;
		for (size_t k = count; k > place; k--)
			order[k] = order[k - 1];
		order[place] = at;
		count++;
	}
	return order;
}

static int past_list_all(struct past_list *l)
{
	_cleanup_free_ const struct store_session **order = past_order(&l->ask.store);
	struct past_line line = {.command = BUF_INIT(PAST_OUT_MAX),
				 .workspace = BUF_INIT(PAST_OUT_MAX),
				 .agent = BUF_INIT(PAST_OUT_MAX),
				 .changed = BUF_INIT(PAST_OUT_MAX)};

	if (!order)
		return error_set(&l->e, -ENOMEM, "no memory");
	for (size_t n = 0; order[n]; n++) {
		past_read(l, order[n], &line);
		past_put(l, &line);
	}
	if (!l->json && !order[0])
		buf_put_str(&l->out, "no session is recorded\n");
	buf_fini(&line.command);
	buf_fini(&line.workspace);
	buf_fini(&line.agent);
	buf_fini(&line.changed);
	return 0;
}

static void past_put_room(struct past_list *l, const struct room *room)
{
	_cleanup_buf_ struct buf words = BUF_INIT((size_t)PAST_COMMAND * 4);

	buf_put_str(&words, "bawn keeps ");
	room_put(&words, room);
	buf_put_str(&words, "; 'bawn prune --older-than 90d' makes room");
	help_wrap(&l->out, buf_str(&words), 2, l->text.tty ? (size_t)l->text.width : PAST_OUT_MAX);
	buf_put_char(&l->out, '\n');
}

int history_sessions(const struct invocation *i)
{
	_cleanup_free_ struct past_list *l = calloc(1, sizeof(*l));
	_cleanup_free_ struct past *past = malloc(sizeof(*past));

	if (!l || !past)
		return EXIT_BAWN;
	l->past = past;
	l->text = text_open(STDOUT_FILENO);
	l->out = BUF_INIT(PAST_OUT_MAX);
	struct json j = JSON_INIT(&l->out, true);
	int r = history_open(&l->ask, &l->e);

	l->json = invocation_has(i, OPTION_JSON) ? &j : NULL;
	if (r == 0) {
		struct room room = {.all = 0};

		room_measure(l->ask.host.state_dir, &room);
		if (l->json) {
			json_open(&j, '{');
			json_key(&j, "room");
			room_json(&j, &room);
			json_key(&j, "sessions");
			json_open(&j, '[');
		}
		r = past_list_all(l);
		if (l->json) {
			json_close(&j, ']');
			json_close(&j, '}');
		} else {
			past_put_room(l, &room);
		}
		text_write(&l->text, &l->out);
	}
	if (r < 0)
		verb_complain(&l->e);
	buf_fini(&l->out);
	history_close(&l->ask);
	return r < 0 ? EXIT_BAWN : EXIT_OK;
}
