/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows a head.  Bytes without a placeholder go on as they came, without a copy.
 * Bytes that may be the beginning of a placeholder wait until more has come.  When nothing is put
 * in, the first few of them go on, as in scrub.h, but never a whole placeholder.
 */
#include "put_in_parts.h"

#include "encode.h"
#include "reframe.h"
#include "scrub.h"

/* Sends one value, escaped as its place needs it. */
static int give_value(struct put_in *p, struct span value, const struct put_in_sink *sink)
{
	struct buf text = {.max = 6 * value.len};

	if (p->how == PUT_IN_RAW)
		return sink->give(sink->context, value, false);
	/* Large enough from the start, so that the buf never moves. */
	text.cap = 6 * value.len + 1;
	text.ptr = (char *)put_in_alloc(p, 6 * value.len);
	if (!text.ptr)
		return -ENOMEM;
	if (p->how == PUT_IN_JSON)
		encode_json(&text, value);
	else
		encode_percent(&text, value, "");
	return sink->give(sink->context, buf_span(&text), false);
}

static int keep(struct put_in *p, struct span bytes)
{
	struct buf larger = BUF_INIT(FINDER_KEPT_MAX + SCRUB_PIECE_MAX + 64);

	if (bytes.len == 0) {
		p->kept.len = 0;
		return 0;
	}
	/* `bytes` may point into p->kept, so copy before freeing. */
	buf_put(&larger, bytes.ptr, bytes.len);
	buf_fini(&p->kept);
	p->kept = larger;
	return buf_error(&p->kept);
}

static bool goes_in(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot)
{
	const struct put_in_value *v = put_in_value_of(p, p->book->words[hit->word].secret);

	if (!v || v->value.len == 0)
		return false;
	return spot == PUT_IN_AT_BODY ? v->in_body : spot == PUT_IN_AT_WEBSOCKET && v->in_websocket;
}

/* The last bytes before `at`, from those that have gone and from these. */
static struct span before_of(const struct put_in *p, size_t at, struct span bytes,
			     uint8_t room[2 * PUT_IN_BEHIND])
{
	size_t near = at < PUT_IN_BEHIND ? at : PUT_IN_BEHIND;

	if (near == PUT_IN_BEHIND)
		return (struct span){bytes.ptr + at - near, near};
	memcpy(room, p->behind, p->behind_len);
	memcpy(room + p->behind_len, bytes.ptr, near);
	return (struct span){room, p->behind_len + near};
}

/* What is beside a placeholder that would be replaced. */
struct stand {
	bool named;         /* in a parameter that its secret names, if it names any */
	const char *wanted; /* NULL, or put_in_unless_whole */
};

static struct stand stand_of(const struct put_in *p, const struct finder_hit *hit,
			     struct span bytes, enum put_in_spot spot)
{
	static const enum put_in_as as[] = {[PUT_IN_RAW] = PUT_IN_AS_WORD,
					    [PUT_IN_PERCENT] = PUT_IN_AS_PARAMETER,
					    [PUT_IN_JSON] = PUT_IN_AS_STRING};
	const struct plan_secret *s = &p->book->secrets[p->book->words[hit->word].secret];
	uint8_t room[2 * PUT_IN_BEHIND];
	struct span before = before_of(p, hit->at, bytes, room);

	return (struct stand){.named = spot != PUT_IN_AT_BODY || put_in_is_named(s, before, p->how),
			      .wanted = put_in_unless_whole(as[p->how], before,
							    span_skip(bytes, hit->at + hit->len))};
}

/* These bytes have gone: remembers the last of them. */
static void note_behind(struct put_in *p, struct span bytes)
{
	size_t n = bytes.len < PUT_IN_BEHIND ? bytes.len : PUT_IN_BEHIND;
	size_t stay = p->behind_len < PUT_IN_BEHIND - n ? p->behind_len : PUT_IN_BEHIND - n;

	if (n == 0)
		return;
	memmove(p->behind, p->behind + p->behind_len - stay, stay);
	memcpy(p->behind + stay, bytes.ptr + bytes.len - n, n);
	p->behind_len = stay + n;
}

/* Refuses a placeholder in a body, and says why. */
static int refuse(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot,
		  const struct stand *stand)
{
	const struct span none = {NULL, 0};
	const struct plan_secret *s = &p->book->secrets[p->book->words[hit->word].secret];
	int r = put_in_judge(p, hit, spot, none);

	if (r == 0 && !stand->named)
		put_in_refuse(p, s->name,
			      "the placeholder of the secret %s stands in the body, and not as a"
			      " parameter that the secret names",
			      s->name);
	else if (r == 0 && stand->wanted)
		put_in_refuse_part(p, hit, spot, none, stand->wanted);
	else if (r == 0)
		put_in_refuse(p, s->name,
			      "the placeholder of the secret %s is in a request to which the"
			      " secret is not bound",
			      s->name);
	return -EPERM;
}

/* Sends stars, as many as the placeholder is long, so that the body keeps its length. */
static int give_mask(struct put_in *p, size_t len, const struct put_in_sink *sink)
{
	static const uint8_t blots[] = "********************************";
	int r = 0;

	p->masked = true;
	while (r == 0 && len > 0) {
		size_t n = len < sizeof(blots) - 1 ? len : sizeof(blots) - 1;

		r = sink->give(sink->context, (struct span){blots, n}, false);
		len -= n;
	}
	return r;
}

static bool is_masked(const struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot)
{
	return p->mask && (spot == PUT_IN_AT_BODY || spot == PUT_IN_AT_WEBSOCKET) &&
	       (hit->form == FINDER_PLAIN || hit->form == FINDER_ESCAPED);
}

/* Sends all bytes that can go, with placeholders replaced.  *ret_stays is where the rest begins. */
static int pass(struct put_in *p, struct span bytes, bool end, enum put_in_spot spot,
		const struct put_in_sink *sink, size_t *out, size_t *ret_stays)
{
	struct finder_hit hit = {0};
	enum finder_outcome o;
	size_t from = 0;

	while ((o = finder_next(p->book->finder, bytes, from, end, &hit)) == FINDER_FOUND) {
		struct stand stand = {.named = true};
		bool goes = goes_in(p, &hit, spot) && hit.form == FINDER_PLAIN;
		size_t behind = hit.at + hit.len;

		/* The next byte decides whether the placeholder is whole. */
		if (goes && behind == bytes.len && !end) {
			o = FINDER_BEGUN;
			break;
		}
		if (goes) {
			stand = stand_of(p, &hit, bytes, spot);
			goes = stand.named && !stand.wanted;
		}
		if (!goes && !is_masked(p, &hit, spot))
			return refuse(p, &hit, spot, &stand);
		int r = hit.at > *out
				? sink->give(sink->context,
					     (struct span){bytes.ptr + *out, hit.at - *out}, false)
				: 0;

		/* The first few bytes of a blotted-out placeholder may have gone already. */
		if (r == 0)
			r = goes ? give_value(p, put_in_part(p, &hit), sink)
				 : give_mask(p, behind - (*out > hit.at ? *out : hit.at), sink);
		if (r < 0)
			return r;
		*out = from = behind;
	}
	*ret_stays = o == FINDER_BEGUN ? hit.at : bytes.len;
	return 0;
}

static int put_in_stream(struct put_in *p, struct span in, bool end, enum put_in_spot spot,
			 const struct put_in_sink *sink)
{
	struct span bytes = in;
	size_t out = p->kept.len > 0 ? p->sent : 0, stays = 0;

	if (p->book->word_count == 0)
		return sink->give(sink->context, in, end);
	if (in.len > SCRUB_PIECE_MAX)
		return -E2BIG;
	if (p->kept.len > 0) {
		buf_put(&p->kept, in.ptr, in.len);
		if (buf_error(&p->kept))
			return buf_error(&p->kept);
		bytes = buf_span(&p->kept);
	}
	int r = pass(p, bytes, end, spot, sink, &out, &stays);

	if (r < 0)
		return r;
	size_t tail = bytes.len - stays;
	size_t goes = !p->replaces && tail <= SCRUB_LET ? bytes.len : stays;

	if (goes < out)
		goes = out;
	if (goes > out || end)
		r = sink->give(sink->context, span_skip((struct span){bytes.ptr, goes}, out), end);
	p->sent = goes - stays;
	if (p->replaces)
		note_behind(p, (struct span){bytes.ptr, stays});
	return r < 0 ? r : keep(p, span_skip(bytes, stays));
}

int put_in_body(struct put_in *p, struct span in, bool end, const struct put_in_sink *sink)
{
	if (p->form.looked_at) {
		int r = put_in_check_form(p, in, end);

		if (r < 0)
			return r;
	}
	/* A gathered body comes in one piece. */
	while (in.len > SCRUB_PIECE_MAX) {
		int r = put_in_stream(p, (struct span){in.ptr, SCRUB_PIECE_MAX}, false,
				      PUT_IN_AT_BODY, sink);

		if (r < 0)
			return r;
		in = (struct span){in.ptr + SCRUB_PIECE_MAX, in.len - SCRUB_PIECE_MAX};
	}
	return put_in_stream(p, in, end, PUT_IN_AT_BODY, sink);
}

/* ---- WebSocket ---- */

static int collect(void *context, struct span bytes, bool end)
{
	struct buf *into = context;

	(void)end;
	buf_put(into, bytes.ptr, bytes.len);
	return buf_error(into);
}

/* Values go into text only; a placeholder in binary is refused as one in the wrong place. */
static int on_message(void *context, bool text, struct span piece, bool end, struct buf *into)
{
	struct put_in *p = context;
	const struct put_in_sink sink = {collect, into};
	bool replaces = p->replaces;

	p->replaces = replaces && text;
	p->how = PUT_IN_RAW;
	int r = put_in_stream(p, piece, end, text ? PUT_IN_AT_WEBSOCKET : PUT_IN_AT_BINARY, &sink);

	p->replaces = replaces;
	if (end) {
		p->kept.len = 0;
		p->sent = 0;
		p->behind_len = 0;
	}
	return r;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): others change what they are shown */
static int on_control(void *context, uint8_t *bytes, size_t len)
{
	const struct stand stand = {.named = true};
	struct put_in *p = context;
	struct finder_hit hit;

	return finder_next(p->book->finder, (struct span){bytes, len}, 0, true, &hit) ==
			       FINDER_FOUND
		       ? refuse(p, &hit, PUT_IN_AT_BINARY, &stand)
		       : 0;
}

int put_in_websocket(struct put_in *p, struct span in, bool end, const struct put_in_sink *sink)
{
	static const struct reframe_ops ops = {on_message, on_control};

	if (p->book->word_count == 0)
		return sink->give(sink->context, in, end);
	if (!p->frames)
		p->frames = reframe_new(true, !p->replaces);
	if (!p->frames)
		return -ENOMEM;
	int r = reframe_feed(p->frames, in, end, &ops, p, sink);

	if (r == -EPROTO)
		put_in_refuse(p, "", "what was sent is no WebSocket: %s", p->frames->in.why);
	return r;
}
