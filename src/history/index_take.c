/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes events.  It gathers in a table what a chunk has and what was done in it, and enters that
 * once, in the order of the key, when the chunk or the transaction ends: so the place in `session`
 * and everything before it become visible together.
 */
#include "clock.h"
#include "event_words.h"
#include "index_parts.h"

#include "str.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* The record that is being taken, and how far it is. */
struct index_taking {
	struct index *x;
	struct store_cursor cursor;
	struct index_place place;
	uint64_t block; /* the block of the events at hand */
	int64_t low, high;
	bool any;           /* some event of that block was taken now */
	unsigned int batch; /* events in one transaction */
};

/* --- facts ---------------------------------------------------------------------------- */

static struct span index_text_of(const struct index *x, struct index_text t)
{
	return (struct span){(const uint8_t *)x->texts.ptr + t.at, t.len};
}

static struct index_text index_keep_text(struct index *x, struct span text)
{
	struct index_text kept = {(uint32_t)x->texts.len, (uint32_t)text.len};

	buf_put(&x->texts, text.ptr, text.len);
	return kept;
}

static int index_compare(const void *a, const void *b, void *context)
{
	const struct index *x = context;
	const struct index_fact *f = &x->facts[*(const uint32_t *)a],
				*g = &x->facts[*(const uint32_t *)b];

	if (f->what != g->what)
		return f->what < g->what ? -1 : 1;
	struct span n = index_text_of(x, f->name), m = index_text_of(x, g->name);
	int r = memcmp(n.ptr, m.ptr, n.len < m.len ? n.len : m.len);

	if (r != 0 || n.len != m.len)
		return r ? r : n.len < m.len ? -1 : 1;
	return f->exec < g->exec ? -1 : f->exec > g->exec;
}

static void index_bind_text(struct index *x, sqlite3_stmt *st, int at, struct index_text t)
{
	struct span text = index_text_of(x, t);

	if (t.len > 0 || at == 9)
		(void)sqlite3_bind_blob(st, at, t.len ? (const char *)text.ptr : "", (int)t.len,
					SQLITE_STATIC);
	else
		(void)sqlite3_bind_null(st, at);
}

/* Enters what was gathered of the chunk. */
static void index_flush(struct index_taking *t)
{
	struct index *x = t->x;
	sqlite3_stmt *st = x->statements[INDEX_ADD_FACT];

	if (buf_error(&x->texts) && !x->failed)
		x->failed = SQLITE_NOMEM;
	if (x->fact_count > 0 && !x->failed)
		qsort_r(x->order, x->fact_count, sizeof(*x->order), index_compare, x);
	for (size_t i = 0; i < x->fact_count; i++) {
		struct index_fact *f = &x->facts[x->order[i]];

		index_bind_text(x, st, 9, f->name);
		index_bind_text(x, st, 10, f->reason);
		index_bind_text(x, st, 11, f->allow);
		index_run_statement(x, INDEX_ADD_FACT,
				    (int64_t[]){t->place.id, f->what,
						(int64_t)(t->block / INDEX_CHUNK), (int64_t)f->exec,
						(int64_t)f->mask, (int64_t)f->count,
						(int64_t)f->first, (int64_t)f->last},
				    8);
		f->hash = 0;
	}
	x->fact_count = 0;
	buf_clear(&x->texts);
}

/* The fact of that key, new or known. */
static struct index_fact *index_fact(struct index_taking *t, enum index_what what, struct span name,
				     uint64_t exec)
{
	struct index *x = t->x;

	if (x->fact_count >= INDEX_FACTS / 2 || x->texts.len > INDEX_TEXTS / 2)
		index_flush(t);
	uint64_t hash =
		keyed_hash(&x->key, name) ^ (exec + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)what << 32;
	size_t at = (size_t)(hash % INDEX_FACTS);

	hash |= 1;
	for (;; at = (at + 1) % INDEX_FACTS) {
		struct index_fact *f = &x->facts[at];

		if (f->hash == hash && f->what == (uint32_t)what && f->exec == exec &&
		    span_equal(index_text_of(x, f->name), name))
			return f;
		if (f->hash)
			continue;
		*f = (struct index_fact){.hash = hash,
					 .what = (uint32_t)what,
					 .exec = exec,
					 .name = index_keep_text(x, name)};
		x->order[x->fact_count++] = (uint32_t)at;
		return f;
	}
}

/* Notes that the block at hand has this. */
static void index_use(struct index_taking *t, enum index_what what, struct span name, uint64_t exec)
{
	index_fact(t, what, name, exec)->mask |= 1ull << t->block % INDEX_CHUNK;
}

/* Notes that ev did `what` to `name`. */
static void index_add(struct index_taking *t, const struct event *ev, enum index_what what,
		      struct span name)
{
	uint64_t count = event_number(ev, NOTE_FIELD_COUNT_OF);

	if (name.len == 0)
		return;
	struct index_fact *f = index_fact(t, what, name, event_number(ev, NOTE_FIELD_EXEC));
	struct span reason = event_text(ev, NOTE_FIELD_REASON),
		    allow = event_text(ev, NOTE_FIELD_ALLOW);

	f->first = f->count ? f->first : ev->seq;
	f->count += count < 1 ? 1 : count;
	f->last = ev->seq;
	if (reason.len > 0 && !span_equal(reason, index_text_of(t->x, f->reason)))
		f->reason = index_keep_text(t->x, reason);
	if (allow.len > 0 && !span_equal(allow, index_text_of(t->x, f->allow)))
		f->allow = index_keep_text(t->x, allow);
}

/* --- kinds ---------------------------------------------------------------------------- */

static struct span index_last_part(struct span path)
{
	const uint8_t *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	return slash ? span_skip(path, (size_t)(slash - path.ptr) + 1) : path;
}

/* Appends "git status --short", as bytes: whoever shows it escapes them. */
static void index_command(struct index *x, const struct event *ev, struct buf *into)
{
	struct event_items items = event_items_of(ev, NOTE_FIELD_ARGV, x->scratch);
	uint64_t missing = event_number(ev, NOTE_FIELD_CUT);
	struct span item;

	while (event_items_next(&items, &item)) {
		size_t room = INDEX_COMMAND_MAX - into->len;

		if (room <= 1) {
			missing += item.len + 1;
			continue;
		}
		if (into->len > 0) {
			buf_put_char(into, ' ');
			room--;
		}
		missing += item.len > room ? item.len - room : 0;
		buf_put(into, item.ptr, item.len < room ? item.len : room);
	}
	if (into->len == 0)
		buf_put(into, event_text(ev, NOTE_FIELD_PATH).ptr,
			event_text(ev, NOTE_FIELD_PATH).len);
	if (into->len > INDEX_COMMAND_MAX)
		into->len = INDEX_COMMAND_MAX;
	event_words_missing(into, missing);
}

static void index_take_process(struct index_taking *t, const struct event *ev)
{
	struct index *x = t->x;
	int64_t exec = (int64_t)event_number(ev, NOTE_FIELD_EXEC);

	if (event_is(ev, NOTE_FIELD_OP, "exec")) {
		struct span program = index_last_part(event_text(ev, NOTE_FIELD_PATH));
		char room[4 * INDEX_COMMAND_MAX];
		struct buf command = {room, 0, sizeof(room), sizeof(room) - 1, 0};

		program.len = program.len < INDEX_PROGRAM_MAX ? program.len : INDEX_PROGRAM_MAX;
		index_command(x, ev, &command);
		sqlite3_stmt *st = x->statements[INDEX_ADD_RUN];

		(void)sqlite3_bind_blob(st, 7, program.len ? (const char *)program.ptr : "",
					(int)program.len, SQLITE_STATIC);
		(void)sqlite3_bind_blob(st, 8, room, (int)command.len, SQLITE_STATIC);
		index_run_statement(x, INDEX_ADD_RUN,
				    (int64_t[]){t->place.id, exec,
						(int64_t)event_number(ev, NOTE_FIELD_PARENT),
						(int64_t)event_number(ev, NOTE_FIELD_PID),
						(int64_t)ev->seq, (int64_t)ev->boot},
				    6);
		index_add(t, ev, INDEX_DID_RUN, program);
	} else if (event_is(ev, NOTE_FIELD_OP, "exit")) {
		int64_t code = event_has(ev, NOTE_FIELD_EXIT)
				       ? (int64_t)event_number(ev, NOTE_FIELD_EXIT)
				       : -1;
		int64_t by = event_has(ev, NOTE_FIELD_SIGNAL)
				     ? (int64_t)event_number(ev, NOTE_FIELD_SIGNAL)
				     : -1;

		index_run_statement(x, INDEX_END_RUN,
				    (int64_t[]){t->place.id, exec, (int64_t)ev->boot, code, by}, 5);
	}
}

static void index_take_file(struct index_taking *t, const struct event *ev)
{
	struct span path = event_text(ev, NOTE_FIELD_PATH);

	if (event_is(ev, NOTE_FIELD_VERDICT, "refused")) {
		index_add(t, ev, INDEX_DID_REFUSED_FILE, path);
		return;
	}
	/* A connection to a socket neither reads a file nor changes one; nor does a call that
	 * failed. */
	if (event_is(ev, NOTE_FIELD_OP, "connect") || event_is(ev, NOTE_FIELD_VERDICT, "failed"))
		return;
	index_add(t, ev, event_is(ev, NOTE_FIELD_OP, "read") ? INDEX_DID_READ : INDEX_DID_CHANGE,
		  path);
	/* The text of a symlink is no file that was changed. */
	if (event_has(ev, NOTE_FIELD_TO) && !event_is(ev, NOTE_FIELD_OP, "symlink"))
		index_add(t, ev, INDEX_DID_CHANGE, event_text(ev, NOTE_FIELD_TO));
}

static void index_take_host(struct index_taking *t, const struct event *ev)
{
	struct span host = event_text(ev, NOTE_FIELD_HOST);
	char name[300];

	if (host.len == 0)
		host = event_text(ev, NOTE_FIELD_ADDRESS);
	int len = event_has(ev, NOTE_FIELD_PORT) ? snprintf(name, sizeof(name), "%.*s:%" PRIu64,
							    (int)(host.len < 256 ? host.len : 256),
							    host.len ? (const char *)host.ptr : "",
							    event_number(ev, NOTE_FIELD_PORT))
						 : 0;

	if (len > 0)
		host = (struct span){(const uint8_t *)name, strnlen(name, sizeof(name))};
	if (event_is(ev, NOTE_FIELD_VERDICT, "refused"))
		index_add(t, ev, INDEX_DID_REFUSED_HOST, host);
	else if (event_is(ev, NOTE_FIELD_OP, "connect"))
		index_add(t, ev, INDEX_DID_REACH, host);
}

static void index_take_session(struct index_taking *t, const struct event *ev, uint32_t segment,
			       uint64_t offset)
{
	if (event_is(ev, NOTE_FIELD_OP, "ready")) {
		t->place.ready_segment = segment;
		t->place.ready_offset = offset;
	} else if (event_is(ev, NOTE_FIELD_OP, "end")) {
		t->place.end_segment = segment;
		t->place.end_offset = offset;
	}
}

/* The first of these fields that the event has; else its op, else its kind. */
static struct span index_words(const struct event *ev, enum note_field a, enum note_field b)
{
	return event_has(ev, a)               ? event_text(ev, a)
	       : event_has(ev, b)             ? event_text(ev, b)
	       : event_has(ev, NOTE_FIELD_OP) ? event_text(ev, NOTE_FIELD_OP)
					      : ev->word;
}

static void index_take_kind(struct index_taking *t, const struct event *ev, uint32_t segment,
			    uint64_t offset)
{
	static const struct {
		enum note_kind kind;
		enum index_what what;
		enum note_field name, other;
	} plain[] = {
		{NOTE_CALL, INDEX_DID_REFUSED_CALL, NOTE_FIELD_CALLED, NOTE_FIELD_PATH},
		{NOTE_TAMPER, INDEX_DID_TAMPER, NOTE_FIELD_PATH, NOTE_FIELD_REASON},
		{NOTE_GAP, INDEX_DID_GAP, NOTE_FIELD_REASON, NOTE_FIELD_PATH},
		{NOTE_LIMIT, INDEX_DID_LIMIT, NOTE_FIELD_REASON, NOTE_FIELD_NAME},
	};

	if (ev->kind == NOTE_FILE)
		index_take_file(t, ev);
	else if (ev->kind == NOTE_PROCESS)
		index_take_process(t, ev);
	else if (ev->kind == NOTE_NETWORK || ev->kind == NOTE_DNS)
		index_take_host(t, ev);
	else if (ev->kind == NOTE_SESSION)
		index_take_session(t, ev, segment, offset);
	else if (ev->kind == NOTE_SECRET && !event_is(ev, NOTE_FIELD_OP, "decision"))
		/* A decision stands for the uses that follow it: we count those. */
		index_add(t, ev,
			  event_is(ev, NOTE_FIELD_OP, "leak") ? INDEX_DID_LEAK : INDEX_DID_SECRET,
			  index_words(ev, NOTE_FIELD_SECRET, NOTE_FIELD_HOST));
	else if (ev->kind == NOTE_POLICY && event_is(ev, NOTE_FIELD_OP, "change"))
		/* Of one decision three events tell: this one says which it was, and that it holds. */
		index_add(t, ev, INDEX_DID_DECISION,
			  index_words(ev, NOTE_FIELD_HOST, NOTE_FIELD_REASON));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plain); i++)
		if (plain[i].kind == ev->kind)
			index_add(t, ev, plain[i].what,
				  index_words(ev, plain[i].name, plain[i].other));
}

/* --- blocks --------------------------------------------------------------------------- */

/* Binds the hash of the event that was taken last. */
static void index_bind_head(struct index_taking *t, enum index_statement s, int at)
{
	(void)sqlite3_bind_blob(t->x->statements[s], at, t->place.head.bytes,
				sizeof(t->place.head.bytes), SQLITE_TRANSIENT);
}

static void index_end_block(struct index_taking *t)
{
	if (t->any) {
		index_bind_head(t, INDEX_STRETCH_BLOCK, 6);
		index_run_statement(t->x, INDEX_STRETCH_BLOCK,
				    (int64_t[]){t->place.id, (int64_t)t->block, t->low, t->high,
						(int64_t)t->place.seq},
				    5);
	}
	t->any = false;
}

static void index_take(struct index_taking *t, const struct frame *f, uint32_t segment,
		       uint64_t offset)
{
	struct index *x = t->x;
	struct event *ev = &x->event;
	uint64_t block = (f->seq - 1) / INDEX_BLOCK;
	int64_t wall = 0;
	uint32_t nanoseconds;

	/* An event that cannot be read still has a kind, and `bawn log` says what it is. */
	(void)!event_read(f, ev, NULL);
	(void)!event_wall_seconds(f->wall, &wall, &nanoseconds);
	if (!t->any || block != t->block) {
		index_end_block(t);
		if (block / INDEX_CHUNK != t->block / INDEX_CHUNK)
			index_flush(t);
		t->block = block;
		t->low = t->high = wall;
		t->any = true;
		index_run_statement(
			x, INDEX_ADD_BLOCK,
			(int64_t[]){t->place.id, (int64_t)block, segment, (int64_t)offset, wall},
			5);
	}
	t->low = wall < t->low ? wall : t->low;
	t->high = wall > t->high ? wall : t->high;
	static const struct span none = {(const uint8_t *)"", 0};
	static const struct {
		enum note_field field;
		enum index_what what;
	} used[] = {{NOTE_FIELD_VERDICT, INDEX_USED_VERDICT},
		    {NOTE_FIELD_HOST, INDEX_USED_HOST},
		    {NOTE_FIELD_PATH, INDEX_USED_PATH},
		    {NOTE_FIELD_TO, INDEX_USED_PATH}};

	index_use(t, INDEX_USED_KIND, ev->word, 0);
	if (event_has(ev, NOTE_FIELD_EXEC))
		index_use(t, INDEX_USED_EXEC, none, event_number(ev, NOTE_FIELD_EXEC));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(used); i++)
		if (event_text(ev, used[i].field).len > 0)
			index_use(t, used[i].what, event_text(ev, used[i].field), 0);
	index_take_kind(t, ev, segment, offset);
	t->place.seq = f->seq;
	t->place.head = f->hash;
}

/* --- one record ----------------------------------------------------------------------- */

static void index_forget(struct index *x, int64_t id)
{
	static const char *const tables[] = {"block", "run", "fact"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tables); i++) {
		char sql[80];

		(void)snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE session=%" PRId64, tables[i],
			       id);
		int r = sqlite3_exec(x->db, sql, NULL, NULL, NULL);

		x->failed = x->failed ? x->failed : r;
	}
	index_run_statement(x, INDEX_DROP_SESSION, (int64_t[]){id}, 1);
}

/* Whether it is the same record: a folder of the same name may hold another one by now. */
static bool index_is_same(struct index *x, const struct store_session *session,
			  const struct hash *first)
{
	sqlite3_stmt *st = x->statements[INDEX_FIND_SESSION];

	(void)sqlite3_bind_text(st, 1, session->folder, -1, SQLITE_TRANSIENT);
	bool same = sqlite3_step(st) == SQLITE_ROW &&
		    sqlite3_column_bytes(st, 8) == sizeof(first->bytes) &&
		    memcmp(sqlite3_column_blob(st, 8), first->bytes, sizeof(first->bytes)) == 0;

	(void)sqlite3_reset(st);
	return same;
}

/* Goes to the first event that was not taken yet, which must follow the last one that was. */
static enum feed index_seek(struct index_taking *t)
{
	enum feed said = store_seek(&t->cursor, t->place.segment, t->place.offset);
	char head[HASH_HEX];

	if (said == FEED_DONE && t->place.seq > 0) {
		hash_format(&t->place.head, head);
		store_link(&t->cursor, t->place.seq, head);
	}
	return said;
}

/* Whether the record goes on where the index ends.  If it does not, somebody changed one of them.
 * Then we take the record again, and what is wrong with it shows. */
static bool index_goes_on(struct index_taking *t)
{
	struct frame f;

	return index_seek(t) == FEED_DONE && store_next(&t->cursor, &f) != FEED_BAD;
}

/* Finds or makes the session's row; FEED_MORE: the record has nothing yet. */
static enum feed index_enter(struct index_taking *t, const struct store_session *session)
{
	struct index *x = t->x;
	struct frame f;
	enum feed said = store_next(&t->cursor, &f);
	int r = index_find(x, session, &t->place);

	if (r == 0 &&
	    (said != FEED_DONE || !index_is_same(x, session, &f.hash) || !index_goes_on(t))) {
		index_forget(x, t->place.id);
		r = -ENOENT;
	}
	if (said != FEED_DONE)
		return said;
	if (r < 0) {
		sqlite3_stmt *st = x->statements[INDEX_ADD_SESSION];

		(void)sqlite3_bind_text(st, 1, session->folder, -1, SQLITE_TRANSIENT);
		(void)sqlite3_bind_blob(st, 2, f.hash.bytes, sizeof(f.hash.bytes),
					SQLITE_TRANSIENT);
		index_run_statement(x, INDEX_ADD_SESSION, NULL, 0);
		t->place = (struct index_place){.id = sqlite3_last_insert_rowid(x->db)};
	}
	return index_seek(t);
}

/* Takes one batch: 1 when there is nothing further, 0 when there is. */
static int index_take_batch(struct index_taking *t, bool *ret_bad)
{
	struct frame f;

	for (unsigned int i = 0; i < t->batch; i++) {
		uint32_t segment = t->cursor.number;
		uint64_t offset = t->cursor.offset;
		enum feed said = store_next(&t->cursor, &f);

		*ret_bad = said == FEED_BAD;
		if (said != FEED_DONE)
			return 1;
		/* It may have gone on to the next segment for this event. */
		if (t->cursor.number != segment) {
			segment = t->cursor.number;
			offset = 0;
		}
		index_take(t, &f, segment, offset);
	}
	return 0;
}

static void index_leave(struct index_taking *t)
{
	struct index_place *p = &t->place;

	index_end_block(t);
	index_flush(t);
	p->segment = t->cursor.number;
	p->offset = t->cursor.offset;
	index_bind_head(t, INDEX_MOVE_SESSION, 9);
	index_run_statement(t->x, INDEX_MOVE_SESSION,
			    (int64_t[]){p->id, p->segment, (int64_t)p->offset, (int64_t)p->seq,
					(int64_t)p->ready_segment, (int64_t)p->ready_offset,
					(int64_t)p->end_segment, (int64_t)p->end_offset},
			    8);
}

/* A transaction that failed leaves nothing behind, here or in the file.  Returns -errno. */
static int index_give_up(struct index *x, int failed, struct error *e)
{
	int r = index_fail(x, failed, e);

	index_run_statement(x, INDEX_ROLLBACK, NULL, 0);
	x->failed = SQLITE_OK;
	return r;
}

/* One transaction: 1 at the present end, 0 before it, or -errno; -EBUSY: another process writes. */
static int index_step(struct index_taking *t, const struct store_session *session, bool first,
		      struct error *e)
{
	struct index *x = t->x;
	bool bad = false;
	int done = 0;

	x->failed = SQLITE_OK;
	index_run_statement(x, INDEX_BEGIN, NULL, 0);
	if (x->failed)
		return index_fail(x, x->failed, e);
	struct index_place now;
	enum feed said = first ? index_enter(t, session) : FEED_DONE;

	/* Between two of our transactions another process may have gone on: then we leave it to
	 * that one. */
	if (!first && (index_find(x, session, &now) < 0 || now.seq != t->place.seq)) {
		index_run_statement(x, INDEX_ROLLBACK, NULL, 0);
		return error_set(e, -EBUSY, "another process writes the index");
	}
	if (said == FEED_DONE) {
		done = index_take_batch(t, &bad);
		index_leave(t);
	}
	index_run_statement(x, INDEX_COMMIT, NULL, 0);
	if (x->failed)
		return index_give_up(x, x->failed, e);
	if (said == FEED_BAD || bad)
		return error_set(e, -EBADMSG, "%s", t->cursor.why);
	return said == FEED_MORE || done ? 1 : 0;
}

int index_update(struct index *x, const struct store *s, const struct store_session *session,
		 unsigned int budget_ms, const struct index_progress *progress, struct error *e)
{
	/* With little time we take small pieces. */
	struct index_taking t = {.x = x,
				 .cursor = STORE_CURSOR_INIT,
				 .batch = budget_ms && budget_ms < 1000 ? INDEX_BATCH / 8
									: INDEX_BATCH};
	int64_t began = clock_ms(CLOCK_MONOTONIC);
	int r = store_cursor_open(s, session, &t.cursor, e);

	for (bool first = true; r == 0; first = false) {
		r = index_step(&t, session, first, e);
		if (progress && progress->tell && clock_ms(CLOCK_MONOTONIC) - began > 1000)
			progress->tell(progress->context, t.place.seq);
		if (r == 0 && budget_ms && clock_ms(CLOCK_MONOTONIC) - began >= budget_ms)
			break;
	}
	store_cursor_close(&t.cursor);
	return r == -EBUSY || r == -EROFS ? 0 : r;
}
