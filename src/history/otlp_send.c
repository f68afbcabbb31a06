/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_send.h"

#include "otlp_reply.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

enum { SEND_BODY_MAX = OTLP_BATCH_BYTES + (2 << 20), SEND_BODY_KEPT = 1 << 20 };

void otlp_sender_init(struct otlp_sender *s, const struct otlp_settings *settings, const char *host,
		      int owner)
{
	memset(s, 0, sizeof(*s));
	s->settings = settings;
	s->host = host;
	s->clock = (struct otlp_clock){.owner = owner};
	otlp_wire_init(&s->wire, settings, &s->clock);
}

void otlp_sender_fini(struct otlp_sender *s)
{
	otlp_wire_fini(&s->wire);
}

/* --- where the record goes on --------------------------------------------------------- */

/* Goes to the event after the last acknowledged one, by the place that was kept or from the
 * start. */
static int stream_find_place(struct otlp_stream *s, struct error *e)
{
	struct store_cursor *c = &s->record;
	struct frame f;

	if (s->cursor.seq == 0)
		return 0;
	if (s->cursor.segment > 0 &&
	    store_seek(c, (uint32_t)s->cursor.segment, s->cursor.offset) == FEED_DONE &&
	    store_next(c, &f) == FEED_DONE && f.seq == s->cursor.seq + 1)
		return store_seek(c, (uint32_t)s->cursor.segment, s->cursor.offset) < 0 ? -EIO : 0;
	(void)store_seek(c, 0, 0);
	while (store_next(c, &f) == FEED_DONE)
		if (f.seq == s->cursor.seq)
			return 0;
	/* The place may be the present end; else the record was cut. */
	if (c->why[0])
		return error_set(e, -EBADMSG, "%s: %s", s->session->folder, c->why);
	return 0;
}

int otlp_stream_open(struct otlp_stream *s, struct otlp_sender *sender, const struct store *store,
		     const struct store_session *session, int sent, bool create, struct error *e)
{
	*s = OTLP_STREAM_INIT;
	s->store = store;
	s->session = session;
	s->batch_max = OTLP_BATCH_EVENTS;
	s->body = BUF_INIT(SEND_BODY_MAX);
	s->export = export_new(session->folder, sender->host, sender->settings);
	int r = s->export ? otlp_cursor_open(sent, session->folder, create, &s->cursor, e)
			  : error_set(e, -ENOMEM, "no memory");

	if (r == 0)
		r = store_cursor_open(store, session, &s->record, e);
	if (r == 0)
		r = stream_find_place(s, e);
	if (r < 0)
		otlp_stream_close(s);
	return r;
}

void otlp_stream_close(struct otlp_stream *s)
{
	store_cursor_close(&s->record);
	otlp_cursor_close(&s->cursor);
	export_free(&s->export);
	buf_fini(&s->body);
}

/* --- a batch -------------------------------------------------------------------------- */

static void stream_forget(struct otlp_stream *s)
{
	s->count = 0;
	if (s->body.cap > SEND_BODY_KEPT)
		buf_fini(&s->body);
	s->body = (struct buf){s->body.ptr, 0, s->body.cap, SEND_BODY_MAX, 0};
}

/* Reads what there is, up to a batch: how many events, or -errno. */
static int stream_fill(struct otlp_stream *s, struct error *e)
{
	struct export_otlp o;
	struct frame f;
	enum feed said = FEED_DONE;

	stream_forget(s);
	export_otlp_begin(&o, &s->body, s->export);
	while (s->count < s->batch_max && s->body.len < OTLP_BATCH_BYTES &&
	       (said = store_next(&s->record, &f)) == FEED_DONE) {
		if (f.seq <= s->cursor.seq)
			continue;
		export_read(&f, &s->export->event);
		export_otlp_event(&o, &f, &s->export->event);
		s->last = f.seq;
		s->count++;
	}
	export_otlp_end(&o);
	s->at_end = said == FEED_MORE && s->over;
	if (said == FEED_BAD && s->count == 0)
		return error_set(e, -EBADMSG, "%s: %s", s->session->folder, s->record.why);
	if (buf_error(&s->body))
		return error_sys(e, buf_error(&s->body), "putting a batch of events together");
	return (int)s->count;
}

/* Goes back to the cursor, so that the batch is read again. */
static int stream_go_back(struct otlp_stream *s, struct error *e)
{
	stream_forget(s);
	(void)store_seek(&s->record, 0, 0);
	return stream_find_place(s, e);
}

/* The collector has these, or will never have them: moves the cursor.  1 or -errno. */
static int stream_pass(struct otlp_stream *s, uint64_t refused, struct error *e)
{
	if (refused > s->count)
		refused = s->count;
	s->sent += s->count - refused;
	s->refused += refused;
	s->cursor.refused += refused;
	s->cursor.seq = s->last;
	s->cursor.segment = s->record.number;
	s->cursor.offset = s->record.offset;
	s->cursor.whole = s->at_end;
	stream_forget(s);
	int r = otlp_cursor_keep(&s->cursor, e);

	return r < 0 ? r : 1;
}

/* --- what became of it ---------------------------------------------------------------- */

static void sender_note(struct otlp_sender *sender, const char *what, struct span message)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	buf_put_str(&text, what);
	if (message.len > 0) {
		if (message.len > 160)
			message.len = 160;
		buf_put_str(&text, ": ");
		text_escape(&text, message);
	}
	(void)snprintf(sender->problem, sizeof(sender->problem), "%s", buf_str(&text));
}

/* Sets the next try: twice as long each time, and half of it random, so that many do not come back
 * at once.  Returns -EAGAIN. */
static int sender_pause(struct otlp_sender *sender, int64_t asked_ms)
{
	int64_t pause = OTLP_PAUSE_MS;
	uint32_t chance = 0;

	for (unsigned int i = 0; i < sender->failures && pause < OTLP_PAUSE_MAX_MS; i++)
		pause *= 2;
	if (pause > OTLP_PAUSE_MAX_MS)
		pause = OTLP_PAUSE_MAX_MS;
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = (uint32_t)otlp_clock_now();
	pause = pause / 2 + (int64_t)(chance % (uint32_t)(pause / 2 + 1));
	if (asked_ms > pause)
		pause = asked_ms;
	sender->failures++;
	sender->not_before = otlp_clock_now() + pause;
	return -EAGAIN;
}

static int sender_on_too_large(struct otlp_sender *sender, struct otlp_stream *s, struct error *e)
{
	if (s->count == 1) {
		sender_note(sender, "an event is too large for the collector", (struct span){0});
		return stream_pass(s, 1, e);
	}
	s->batch_max = s->count / 2;
	int r = stream_go_back(s, e);

	sender->not_before = 0;
	return r < 0 ? r : -EAGAIN;
}

static int sender_on_answer(struct otlp_sender *sender, struct otlp_stream *s,
			    const struct otlp_answer *answer, struct error *e)
{
	struct otlp_reply reply;
	char words[64];

	(void)otlp_reply_read(buf_span(&answer->body), &reply);
	(void)snprintf(words, sizeof(words), "the collector answered %u", answer->status);
	if (answer->status == 429 || (answer->status >= 502 && answer->status <= 504)) {
		sender_note(sender, words, reply.message);
		return sender_pause(sender, answer->retry_after_ms);
	}
	sender->failures = 0;
	if (answer->status == 413)
		return sender_on_too_large(sender, s, e);
	if (answer->status == 400) {
		sender_note(sender, words, reply.message);
		return stream_pass(s, s->count, e);
	}
	if (answer->status < 200 || answer->status > 299) {
		sender_note(sender, words, reply.message);
		return error_set(e, -EREMOTEIO, "%s", sender->problem);
	}
	if (reply.rejected > 0)
		sender_note(sender, "the collector did not keep some events", reply.message);
	return stream_pass(s, reply.rejected, e);
}

int otlp_send(struct otlp_sender *sender, struct otlp_stream *s, struct error *e)
{
	struct otlp_answer answer = OTLP_ANSWER_INIT;
	struct error why = ERROR_INIT;
	int r = s->count > 0 ? (int)s->count : stream_fill(s, e);

	if (r <= 0)
		return r;
	r = otlp_wire_post(&sender->wire, buf_span(&s->body), &answer, &why);
	if (r == 0) {
		r = sender_on_answer(sender, s, &answer, e);
	} else {
		(void)snprintf(sender->problem, sizeof(sender->problem), "%.255s", why.text);
		if (r == -EBADMSG || r == -EKEYREJECTED)
			*e = why;
		else
			r = sender_pause(sender, -1);
	}
	buf_fini(&answer.body);
	return r;
}

int otlp_stream_finish(struct otlp_stream *s, struct error *e)
{
	if (s->cursor.whole)
		return 0;
	s->cursor.whole = true;
	return otlp_cursor_keep(&s->cursor, e);
}

uint64_t otlp_stream_left(struct otlp_stream *s, uint64_t most)
{
	uint64_t left = s->count;
	struct frame f;

	while (left < most && store_next(&s->record, &f) == FEED_DONE)
		left++;
	return left;
}
