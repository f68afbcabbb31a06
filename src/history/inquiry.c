/* SPDX-License-Identifier: Apache-2.0 */
#include "inquiry.h"

#include "audit.h"
#include "text.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum { INQUIRY_MOMENT_MS = 20, INQUIRY_MOMENTS = 100, INQUIRY_YOUNG_SECONDS = 5 };

/* Writes one line again and again while the work takes long; inquiry_wipe removes it. */
static void inquiry_tell(void *context, uint64_t events)
{
	struct text *t = context;

	text_printf(t, "reading the record: %" PRIu64 " events ", events);
	(void)!write(t->fd, "\r", 1);
}

static void inquiry_wipe(const struct text *t)
{
	static const char wipe[] = "\r\033[K";

	(void)!write(t->fd, wipe, sizeof(wipe) - 1);
}

/* 0; -ENOENT: there is no event yet; or another -errno. */
static int inquiry_index(struct inquiry *q, struct error *e)
{
	struct text t = text_open(STDERR_FILENO);
	struct index_progress progress = {t.tty ? inquiry_tell : NULL, &t};
	int r = index_update(q->index, &q->ask.store, q->session, 0, &progress, e);

	if (t.tty && r >= 0)
		inquiry_wipe(&t);
	/* Go on with what can be read, and say where it ends. */
	if (r == -EBADMSG) {
		q->unread_error = *e;
		q->unread = q->unread_error.text;
		r = 0;
	}
	q->whole = r > 0;
	if (r < 0)
		return r;
	return index_find(q->index, q->session, &q->place);
}

static int inquiry_update(struct inquiry *q, struct error *e)
{
	const struct timespec moment = {.tv_nsec = INQUIRY_MOMENT_MS * 1000000L};
	/* The recorder may not have locked its folder yet. */
	bool young = q->session->start + INQUIRY_YOUNG_SECONDS > time(NULL);
	int r = inquiry_index(q, e);

	/* A session that is just starting has its first event in a moment. */
	for (int i = 0;
	     r == -ENOENT && e->code == 0 && (q->running || young) && i < INQUIRY_MOMENTS; i++) {
		(void)nanosleep(&moment, NULL);
		q->running = store_is_running(&q->ask.store, q->session);
		r = inquiry_index(q, e);
	}
	if (r == -ENOENT && e->code == 0)
		return error_set(e, r,
				 q->running ? "the session %s is just starting: nothing is "
					      "recorded yet"
					    : "the record %s has no events",
				 q->running ? q->session->name : q->session->folder);
	return r;
}

/* What we say of the record is true only up to here; whoever shows it says so. */
static void inquiry_doubt(struct inquiry *q, const char *why)
{
	if (q->unread)
		return;
	(void)error_set(&q->unread_error, -EBADMSG, "%s", why);
	q->unread = q->unread_error.text;
}

/* Reads from the block's first event to the one with this number. */
static int inquiry_walk(struct inquiry *q, const struct index_block *from, uint64_t seq,
			struct frame *f)
{
	enum feed said = store_seek(&q->cursor, from->segment, from->offset);

	*f = (struct frame){.seq = 0};
	while (said == FEED_DONE && f->seq < seq)
		said = store_next(&q->cursor, f);
	return said == FEED_DONE && f->seq == seq ? 0 : -EBADMSG;
}

int inquiry_read(struct inquiry *q, uint64_t seq)
{
	struct index_block from;
	struct frame f;

	if (seq == 0 || seq > q->place.seq ||
	    index_block(q->index, &q->place, (seq - 1) / INDEX_BLOCK, &from, NULL) < 0)
		return -ENOENT;
	/* The hash of the block's last event proves every event in it. */
	if (inquiry_walk(q, &from, from.last, &f) < 0 || !hash_equal(&f.hash, &from.head) ||
	    inquiry_walk(q, &from, seq, &f) < 0) {
		inquiry_doubt(q, "its events are not those that were indexed");
		return -EBADMSG;
	}
	return event_read(&f, &q->event, NULL);
}

int inquiry_read_at(struct inquiry *q, uint64_t segment, uint64_t offset)
{
	struct frame f;
	enum feed said = store_seek(&q->cursor, (uint32_t)segment, offset);

	if (said == FEED_DONE)
		said = store_next(&q->cursor, &f);
	if (said == FEED_BAD)
		inquiry_doubt(q, q->cursor.why);
	if (said != FEED_DONE)
		return said == FEED_MORE ? -ENOENT : -EBADMSG;
	return f.seq <= q->place.seq ? inquiry_read(q, f.seq) : event_read(&f, &q->event, NULL);
}

/* Checks that what was indexed is what the ledger has, and that the events that we show are still
 * those. */
static void inquiry_check(struct inquiry *q, uint64_t number)
{
	_cleanup_audit_ struct audit ledger = {.count = 0};
	struct error why = ERROR_INIT;
	char head[HASH_HEX];

	hash_format(&q->place.head, head);
	if (!q->running && q->whole && !q->unread &&
	    audit_vouch(&ledger, &q->ask.store, q->session, number, q->place.seq, head, &why) < 0)
		inquiry_doubt(q, why.text);
	if (q->place.ready_segment > 0)
		(void)inquiry_read_at(q, q->place.ready_segment, q->place.ready_offset);
	if (q->place.end_segment > 0)
		(void)inquiry_read_at(q, q->place.end_segment, q->place.end_offset);
}

static void inquiry_json_field(const struct event *ev, enum note_field field, struct json *j)
{
	static uint8_t scratch[FRAME_EVENT_MAX];
	struct event_items items = event_items_of(ev, field, scratch);
	struct span item;

	json_key(j, note_fields[field].name);
	if (note_fields[field].type == NOTE_TYPE_NUMBER) {
		json_u64(j, event_number(ev, field));
	} else if (note_fields[field].type == NOTE_TYPE_LIST) {
		json_open(j, '[');
		while (event_items_next(&items, &item))
			json_span(j, item);
		json_close(j, ']');
	} else {
		json_span(j, event_text(ev, field));
	}
}

void inquiry_json_event(const struct inquiry *q, struct json *j)
{
	const struct event *ev = &q->event;

	json_open(j, '{');
	json_key_str(j, "session", q->session->folder);
	json_key_u64(j, "seq", ev->seq);
	json_key(j, "wall");
	json_span(j, ev->wall);
	json_key(j, "kind");
	json_span(j, ev->word);
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++)
		if (event_has(ev, (enum note_field)i))
			inquiry_json_field(ev, (enum note_field)i, j);
	json_close(j, '}');
}

int inquiry_open(struct inquiry *q, const char *wanted, struct error *e)
{
	q->cursor = STORE_CURSOR_INIT;
	q->unread = NULL;
	int r = history_open(&q->ask, e);

	if (r < 0)
		return r;
	q->session = history_find(&q->ask, wanted, e);
	if (!q->session)
		return e->code;
	q->running = store_is_running(&q->ask.store, q->session);
	r = index_open(&q->ask.store, &q->index, e);
	if (r == 0)
		r = inquiry_update(q, e);
	if (r == 0)
		r = store_cursor_open(&q->ask.store, q->session, &q->cursor, e);
	if (r < 0)
		return r;
	uint64_t number = 0;

	if (inquiry_read_at(q, 0, 0) == 0) {
		struct span text = event_text(&q->event, NOTE_FIELD_WORKSPACE);

		number = event_number(&q->event, NOTE_FIELD_NUMBER);
		q->workspace_len = text.len < sizeof(q->workspace) ? text.len : 0;
		if (q->workspace_len > 0)
			memcpy(q->workspace, text.ptr, q->workspace_len);
	}
	inquiry_check(q, number);
	return 0;
}

int inquiry_answer(const struct inquiry *q)
{
	struct error e = ERROR_INIT;

	if (!q->unread)
		return EXIT_OK;
	(void)error_set(&e, -EBADMSG, "the record %s: %s", q->session->folder, q->unread);
	error_next(&e, "'bawn record verify %s' says what is wrong.", q->session->folder);
	verb_complain(&e);
	return EXIT_FOUND;
}

void inquiry_close(struct inquiry *q)
{
	store_cursor_close(&q->cursor);
	index_close(&q->index);
	history_close(&q->ask);
}
