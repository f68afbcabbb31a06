/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn log`: events, one line each.
 *
 * Without a filter we read the record from its first event on, or from the place where the last N
 * begin, and need nothing else.  With a filter, the index says which blocks to read; what is after
 * the end of the index we read whole.  In both cases the record itself decides whether an event is
 * shown.
 */
#include "history.h"
#include "audit.h"
#include "event_words.h"
#include "index.h"

#include "json.h"
#include "encode.h"
#include "fd.h"
#include "log_tree.h"
#include "str.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	LOG_FLUSH = 64 << 10,
	LOG_OUT_MAX = 4 << 20,
	LOG_INDEX_MS = 2000, /* a question waits so long for the index; the rest is read */
	LOG_NAMES_MS = 50,   /* the same, when only names of programs are needed */
	LOG_SLICE_MS = 50,   /* of indexing, between two times of showing what was found */
	LOG_FOLLOW_MS = 100,
	LOG_PROGRAMS_MAX = 1 << 20,
};

/* The names of programs in a record, as we read it. */
struct log_programs {
	char (*names)[INDEX_PROGRAM_MAX];
	size_t room;
};

struct log {
	struct history ask;
	struct index *index; /* or NULL */
	struct index_place place;
	bool known; /* place is valid */
	const struct store_session *session;
	uint64_t number; /* the session's, as its first event says */
	struct store_cursor cursor;
	struct filter filter;
	struct log_programs programs;
	struct text text;
	struct buf out;
	uint64_t last; /* show only the last so many; 0: all */
	uint64_t skip; /* so many are not shown */
	uint64_t shown;
	uint64_t done;                             /* we have looked at the events up to this one */
	bool json, follow, all, count_only, begun; /* begun: something was written */
	struct event event;
	struct event_words words;
	struct audit ledger; /* as we last read it (audit_vouch) */
	struct error e;
};

/* --- out ------------------------------------------------------------------------------ */

static void log_flush(struct log *l)
{
	if (l->out.len == 0)
		return;
	text_write(&l->text, &l->out);
	buf_clear(&l->out);
	l->begun = true;
}

static bool log_is_plain(struct span s)
{
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = s.ptr[0] >= 0x20 && s.ptr[0] < 0x7f ? 1 : text_utf8(s, &cp);

		if (len == 0 ||
		    (len > 1 ? text_is_hidden(cp) : s.ptr[0] < 0x20 || s.ptr[0] == 0x7f))
			return false;
		s = span_skip(s, len);
	}
	return true;
}

/* Puts the event as it is recorded, with its session before it. */
static void log_put_json(struct log *l, const struct frame *f, bool readable)
{
	buf_putf(&l->out, "{\"session\":\"%s\",", l->session->folder);
	if (readable && log_is_plain(f->event)) {
		buf_put(&l->out, f->event.ptr + 1, f->event.len - 1);
		buf_put_char(&l->out, '\n');
		return;
	}
	buf_putf(&l->out, "\"seq\":%" PRIu64 ",\"unreadable\":{\"b64\":\"", f->seq);
	encode_base64(&l->out, f->event);
	buf_put_str(&l->out, "\"}}\n");
}

/* --- programs ------------------------------------------------------------------------- */

static void log_learn(struct log *l)
{
	struct log_programs *p = &l->programs;
	struct span path = event_text(&l->event, NOTE_FIELD_PATH);
	uint64_t exec = event_number(&l->event, NOTE_FIELD_EXEC);
	const uint8_t *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	if (slash)
		path = span_skip(path, (size_t)(slash - path.ptr) + 1);
	if (exec >= LOG_PROGRAMS_MAX)
		return;
	if (exec >= p->room) {
		size_t room = p->room ? p->room : 1024;

		while (room <= exec)
			room *= 2;
		void *more = reallocarray(p->names, room, sizeof(*p->names));

		if (!more)
			return;
		p->names = more;
		memset(p->names + p->room, 0, (room - p->room) * sizeof(*p->names));
		p->room = room;
	}
	memset(p->names[exec], 0, sizeof(*p->names));
	if (path.len > 0)
		memcpy(p->names[exec], path.ptr,
		       path.len < INDEX_PROGRAM_MAX ? path.len : INDEX_PROGRAM_MAX - 1);
}

static int log_program(void *context, uint64_t exec, struct buf *into)
{
	struct log *l = context;

	if (exec < l->programs.room && l->programs.names[exec][0]) {
		buf_put_str(into, l->programs.names[exec]);
		return 0;
	}
	return l->index && l->known ? index_program(l->index, &l->place, exec, into) : -ENOENT;
}

/* --- one event ------------------------------------------------------------------------ */

static bool log_wants(struct log *l)
{
	char room[INDEX_PROGRAM_MAX * 2];
	struct buf program = {room, 0, sizeof(room), sizeof(room) - 1, 0};

	if (!l->json && l->filter.kinds.count == 0 && event_words_is_quiet(&l->event))
		return false;
	if (l->filter.processes.count > 0 && event_has(&l->event, NOTE_FIELD_EXEC))
		(void)log_program(l, event_number(&l->event, NOTE_FIELD_EXEC), &program);
	return filter_lets(&l->filter, &l->event, buf_span(&program));
}

static void log_take(struct log *l, const struct frame *f)
{
	bool readable = event_read(f, &l->event, NULL) == 0;

	if (l->event.kind == NOTE_PROCESS && event_is(&l->event, NOTE_FIELD_OP, "exec"))
		log_learn(l);
	if (!log_wants(l))
		return;
	l->shown++;
	if (l->count_only)
		return;
	if (l->skip > 0) {
		l->skip--;
		return;
	}
	if (l->json)
		log_put_json(l, f, readable);
	else if (readable)
		event_words_line(&l->words, &l->event, &l->out);
	else
		event_words_unreadable(&l->words, &l->event, &l->out);
	if (l->out.len >= LOG_FLUSH)
		log_flush(l);
}

static int log_bad(struct log *l)
{
	int r = error_set(&l->e, -EBADMSG, "the record %s cannot be read further: %s",
			  l->session->folder, l->cursor.why);

	error_next(&l->e, "'bawn record verify %s' says what is wrong.", l->session->folder);
	return r;
}

/* --- reading -------------------------------------------------------------------------- */

/* Reads to the present end of the record. */
static int log_stream(struct log *l)
{
	struct frame f;
	enum feed said;

	while ((said = store_next(&l->cursor, &f)) == FEED_DONE)
		log_take(l, &f);
	return said == FEED_BAD ? log_bad(l) : 0;
}

/* Reads the events of one block that the index knows. */
static int log_block(struct log *l, uint64_t block)
{
	struct index_block at;
	enum feed said = FEED_DONE;
	struct frame f = {.seq = 0};
	/* A mask may have bits of blocks that do not exist. */
	if (block * INDEX_BLOCK >= l->place.seq)
		return 0;
	int r = index_block(l->index, &l->place, block, &at, &l->e);

	if (r < 0)
		return r;
	said = store_seek(&l->cursor, at.segment, at.offset);
	while (said == FEED_DONE && f.seq < at.last &&
	       (said = store_next(&l->cursor, &f)) == FEED_DONE)
		if (f.seq > l->done && f.seq <= l->place.seq && f.seq <= at.last)
			log_take(l, &f);
	if (said != FEED_BAD && (f.seq != at.last || !hash_equal(&f.hash, &at.head))) {
		(void)snprintf(l->cursor.why, sizeof(l->cursor.why),
			       "the events up to %" PRIu64 " are not those that were indexed",
			       at.last);
		said = FEED_BAD;
	}
	return said == FEED_BAD ? log_bad(l) : 0;
}

static int log_tail(struct log *l)
{
	enum feed said = store_seek(&l->cursor, l->place.segment, l->place.offset);
	char head[HASH_HEX];

	if (said == FEED_DONE && l->place.seq > 0) {
		hash_format(&l->place.head, head);
		store_link(&l->cursor, l->place.seq, head);
	}
	return said == FEED_BAD ? log_bad(l) : log_stream(l);
}

/* Reads the blocks of one chunk that may have something, from block `from` on. */
static int log_chunk(struct log *l, uint64_t chunk, uint64_t from)
{
	uint64_t mask = index_chunk(l->index, &l->place, chunk, &l->filter);
	int r = 0;

	for (uint64_t n = 0; r == 0 && n < INDEX_CHUNK; n++) {
		if ((mask >> n & 1) && chunk * INDEX_CHUNK + n >= from)
			r = log_block(l, chunk * INDEX_CHUNK + n);
		/* The first line does not wait for others. */
		if (!l->begun)
			log_flush(l);
	}
	return r;
}

/* Finds the block from which on the last N are, counting from the end. */
static int log_count_back(struct log *l, uint64_t *ret_from)
{
	uint64_t chunk = index_chunks(&l->place);
	int r;

	l->count_only = true;
	l->shown = 0;
	r = log_tail(l);
	*ret_from = chunk * INDEX_CHUNK;
	while (r == 0 && chunk-- > 0 && l->shown < l->last) {
		uint64_t mask = index_chunk(l->index, &l->place, chunk, &l->filter);

		for (uint64_t k = 1; r == 0 && k <= INDEX_CHUNK && l->shown < l->last; k++) {
			uint64_t n = INDEX_CHUNK - k;

			*ret_from = chunk * INDEX_CHUNK + n;
			if (mask >> n & 1)
				r = log_block(l, *ret_from);
		}
	}
	l->skip = l->shown > l->last ? l->shown - l->last : 0;
	l->count_only = false;
	return r;
}

/* Reads what the index knows, then what it learns, slice by slice; then the rest. */
static int log_by_index(struct log *l)
{
	struct error e = ERROR_INIT;
	uint64_t from = 0;
	int r = l->last ? log_count_back(l, &from) : 0, more;

	do {
		uint64_t chunk = from / INDEX_CHUNK;

		chunk = l->done / INDEX_BATCH > chunk ? l->done / INDEX_BATCH : chunk;
		for (; r == 0 && chunk < index_chunks(&l->place); chunk++) {
			r = log_chunk(l, chunk, from);
			log_flush(l);
		}
		l->done = l->place.seq;
		more = r < 0 || l->last ? 1
					: index_update(l->index, &l->ask.store, l->session,
						       LOG_SLICE_MS, NULL, &e);
		if (more >= 0 && index_find(l->index, l->session, &l->place) < 0)
			break;
	} while (r == 0 && more >= 0 && l->place.seq > l->done);
	return r < 0 ? r : log_tail(l);
}

/* Goes back over the lines of the segments to where the last N events begin. */
static int log_seek_back(struct log *l)
{
	uint32_t behind, number = store_count_segments(l->cursor.folder, &behind);
	uint64_t left = l->last;
	enum feed said = FEED_DONE;

	for (; number > 0 && said == FEED_DONE; number--) {
		said = store_seek(&l->cursor, number, 0);
		struct span bytes = l->cursor.segment.bytes;
		struct frame f;
		const uint8_t *end = bytes.len ? memrchr(bytes.ptr, '\n', bytes.len) : NULL;

		/* `end` is the newline at the end of the frame that we look at. */
		while (said == FEED_DONE && end) {
			size_t len = (size_t)(end - bytes.ptr);
			const uint8_t *before = len ? memrchr(bytes.ptr, '\n', len) : NULL;
			size_t at = before ? (size_t)(before - bytes.ptr) + 1 : 0;

			(void)store_seek(&l->cursor, number, at);
			if (frame_read(span_skip(bytes, at), &f) != FEED_DONE)
				return 0; /* the reading forward will say what is wrong */
			(void)!event_read(&f, &l->event, NULL);
			if (log_wants(l) && --left == 0)
				return 0;
			end = before;
		}
	}
	if (said == FEED_DONE)
		said = store_seek(&l->cursor, 0, 0);
	return said == FEED_BAD ? log_bad(l) : 0;
}

static int log_follow(struct log *l)
{
	for (;;) {
		bool running = store_is_running(&l->ask.store, l->session);
		int r = log_stream(l);

		log_flush(l);
		if (r < 0 || !running)
			return r;
		struct pollfd out = {.fd = l->text.fd, .events = 0};

		(void)poll(&out, 1, LOG_FOLLOW_MS);
		if (out.revents & (POLLERR | POLLHUP))
			return 0;
	}
}

/* --- one session ---------------------------------------------------------------------- */

/* We read the record to its end: the ledger must have the same end. */
static int log_vouch(struct log *l)
{
	int r = audit_vouch(&l->ledger, &l->ask.store, l->session, l->number, l->cursor.seq,
			    l->cursor.head, &l->e);

	if (r < 0)
		error_next(&l->e, "'bawn record verify %s' says what is wrong.",
			   l->session->folder);
	return r;
}

/* Reads where the workspace is from the first event; then goes back to the begin. */
static int log_begin(struct log *l)
{
	static char workspace[NOTE_TEXT_MAX];
	struct frame f;
	enum feed said = store_next(&l->cursor, &f);

	l->words.workspace = (struct span){NULL, 0};
	l->number = 0;
	if (said == FEED_BAD)
		return log_bad(l);
	if (said == FEED_DONE && event_read(&f, &l->event, NULL) == 0) {
		struct span text = event_text(&l->event, NOTE_FIELD_WORKSPACE);

		l->number = event_number(&l->event, NOTE_FIELD_NUMBER);
		text.len = text.len < sizeof(workspace) ? text.len : 0;
		if (text.len > 0)
			memcpy(workspace, text.ptr, text.len);
		l->words.workspace = (struct span){(const uint8_t *)workspace, text.len};
	}
	return store_seek(&l->cursor, 0, 0) == FEED_BAD ? log_bad(l) : 0;
}

/* Asks the index.  It may be behind: then we read more. */
static void log_ask_index(struct log *l, unsigned int budget_ms)
{
	struct error e = ERROR_INIT;

	if (!l->index && index_open(&l->ask.store, &l->index, &e) < 0)
		return;
	(void)index_update(l->index, &l->ask.store, l->session, budget_ms, NULL, &e);
	l->known = index_find(l->index, l->session, &l->place) == 0;
}

static int log_session(struct log *l)
{
	bool filtered = !filter_is_empty(&l->filter);
	/* A session that runs now may end while we read it. */
	bool over = !store_is_running(&l->ask.store, l->session);
	int r = store_cursor_open(&l->ask.store, l->session, &l->cursor, &l->e);

	free(l->programs.names);
	l->programs = (struct log_programs){NULL, 0};
	l->known = false;
	l->skip = l->done = 0;
	l->words.session = l->all ? l->session->name : NULL;
	if (r == 0)
		r = log_begin(l);
	if (r == 0 && (filtered || l->last))
		log_ask_index(l, !filtered ? LOG_NAMES_MS : l->last ? LOG_INDEX_MS : LOG_SLICE_MS);
	if (r == 0 && filtered && l->known)
		r = log_by_index(l);
	else if (r == 0 && l->last && !filtered)
		r = log_seek_back(l) < 0 ? -EBADMSG : log_stream(l);
	else if (r == 0)
		r = log_stream(l);
	log_flush(l);
	if (r == 0 && l->follow)
		r = log_follow(l);
	if (r == 0 && (over || l->follow))
		r = log_vouch(l);
	store_cursor_close(&l->cursor);
	return r;
}

/* --- the verb ------------------------------------------------------------------------- */

static int log_list(struct log *l, const struct invocation *i, enum option_id id,
		    struct filter_list *ret)
{
	for (size_t n = 0; n < i->value_count; n++) {
		if (i->values[n].id != id)
			continue;
		if (ret->count == FILTER_LIST_MAX)
			return error_set(&l->e, -E2BIG, "--%s was given more than %d times",
					 options[id].name, FILTER_LIST_MAX);
		ret->items[ret->count++] = i->values[n].value;
	}
	return 0;
}

static int log_options(struct log *l, const struct invocation *i)
{
	const char *since = invocation_value(i, OPTION_SINCE),
		   *until = invocation_value(i, OPTION_UNTIL),
		   *last = invocation_value(i, OPTION_LAST);
	struct filter *f = &l->filter;
	int64_t now = (int64_t)time(NULL);
	int r = log_list(l, i, OPTION_EVENT_KIND, &f->kinds);

	if (r == 0)
		r = log_list(l, i, OPTION_EVENT_HOST, &f->hosts);
	if (r == 0)
		r = log_list(l, i, OPTION_EVENT_PATH, &f->paths);
	if (r == 0)
		r = log_list(l, i, OPTION_PROCESS, &f->processes);
	if (r == 0)
		r = log_list(l, i, OPTION_VERDICT, &f->verdicts);
	if (r == 0 && since)
		r = filter_time(since, now, &f->since, &l->e);
	if (r == 0 && until)
		r = filter_time(until, now, &f->until, &l->e);
	if (r == 0 && last && (str_parse_u64(last, &l->last) < 0 || l->last == 0))
		r = error_set(&l->e, -EINVAL, "-n %s: this is not a number of events", last);
	l->json = invocation_has(i, OPTION_JSON);
	l->follow = invocation_has(i, OPTION_FOLLOW);
	return r;
}

static int log_sessions(struct log *l, const char *wanted)
{
	int r = 0;

	l->all = wanted && str_equal(wanted, "all");
	if (l->all && (l->follow || l->last))
		return error_set(&l->e, -EINVAL, "--follow and -n are for one session");
	for (size_t n = 0; l->all && n < l->ask.store.count; n++) {
		l->session = &l->ask.store.sessions[n];
		int one = log_session(l);

		/* Report one that is wrong, and go on with the others. */
		if (one < 0) {
			verb_complain(&l->e);
			l->e = ERROR_INIT;
			r = r == -EBADMSG ? r : one;
		}
	}
	if (l->all)
		return r;
	l->session = history_find(&l->ask, wanted, &l->e);
	return l->session ? log_session(l) : l->e.code;
}

int history_log(const struct invocation *i)
{
	if (invocation_has(i, OPTION_TREE))
		return log_tree(i);
	_cleanup_free_ struct log *l = calloc(1, sizeof(*l));
	const char *named = invocation_value(i, OPTION_SESSION);
	int usage, r;

	if (!l)
		return EXIT_BAWN;
	l->cursor = STORE_CURSOR_INIT;
	l->text = text_open(STDOUT_FILENO);
	l->out = BUF_INIT(LOG_OUT_MAX);
	l->words.colour = l->text.colour;
	l->words.width = l->text.tty ? l->text.width : 0;
	l->words.program = log_program;
	l->words.context = l;
	usage = log_options(l, i);
	r = usage < 0 ? usage : history_open(&l->ask, &l->e);
	if (r == 0)
		r = log_sessions(l, i->argument_count ? i->arguments[0] : named);
	if (r < 0 && l->e.code != 0)
		verb_complain(&l->e);
	index_close(&l->index);
	audit_fini(&l->ledger);
	free(l->programs.names);
	buf_fini(&l->out);
	history_close(&l->ask);
	return usage < 0 ? EXIT_USAGE : r == -EBADMSG ? EXIT_FOUND : r < 0 ? EXIT_BAWN : EXIT_OK;
}
