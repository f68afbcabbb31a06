/* SPDX-License-Identifier: Apache-2.0 */
#include "take_out.h"

#include "http_field.h"
#include "put_in_parts.h"
#include "reframe.h"
#include "scrub.h"
#include "shape.h"
#include "str.h"
#include "take_out_parts.h"

#include <stdio.h>

/* ---- what a connection knows ---- */

/* Values change while the session runs, so a secret can have many.  The oldest goes. */
enum { WORDS_MAX = FINDER_WORDS_MAX };

/* One value and its placeholder; the value is wiped. */
struct word {
	uint8_t *value;
	size_t len;
	const char *placeholder; /* of the plan */
};

/* Finders that several answers share; the last answer frees them. */
struct words {
	unsigned int users;
	struct finder *finder;
	struct finder *lower; /* of the values in lower case, for the names of fields */
};

struct take_out {
	bool knows[PLAN_SECRETS_MAX];
	bool bodies; /* the box chooses the text around some value */
	size_t count;
	struct word words[WORDS_MAX];
	struct words *made; /* of all words; NULL: none, or to be made */
};

static void words_release(struct words *w)
{
	if (!w || --w->users > 0)
		return;
	finder_free(w->finder);
	finder_free(w->lower);
	free(w);
}

static void wipe_word(struct word *w)
{
	explicit_bzero(w->value, w->len);
	free(w->value);
}

struct take_out *take_out_new(void)
{
	return calloc(1, sizeof(struct take_out));
}

void take_out_free(struct take_out *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		wipe_word(&t->words[i]);
	words_release(t->made);
	free(t);
}

/* Drops one of too many: the oldest of the same secret, or else the oldest of all. */
static void drop_word(struct take_out *t, const char *placeholder)
{
	size_t at = 0;

	while (at + 1 < t->count && !str_equal(t->words[at].placeholder, placeholder))
		at++;
	if (!str_equal(t->words[at].placeholder, placeholder))
		at = 0;
	wipe_word(&t->words[at]);
	memmove(t->words + at, t->words + at + 1, (--t->count - at) * sizeof(t->words[0]));
}

/* before: the value is older than those that are there. */
static int add_word(struct take_out *t, struct span value, const char *placeholder, bool before)
{
	for (size_t i = 0; i < t->count; i++)
		if (span_equal(value, (struct span){t->words[i].value, t->words[i].len}))
			return 0;
	/* Too short: it looks like other text.  secrets_check_value refuses such values. */
	if (value.len < FINDER_WORD_MIN || (before && t->count == WORDS_MAX))
		return 0;
	uint8_t *copy = malloc(value.len);

	if (!copy)
		return -ENOMEM;
	if (t->count == WORDS_MAX)
		drop_word(t, placeholder);
	memcpy(copy, value.ptr, value.len);
	size_t at = before ? 0 : t->count;

	memmove(t->words + at + 1, t->words + at, (t->count++ - at) * sizeof(t->words[0]));
	t->words[at] = (struct word){copy, value.len, placeholder};
	words_release(t->made);
	t->made = NULL;
	return 0;
}

static int add_parts(struct take_out *t, const struct plan_secret *s, struct span value,
		     bool before)
{
	int r = 0;

	/* The value may have a token for which the plan has no placeholder. */
	for (size_t k = 0; r == 0 && k < PLAN_SECRET_PARTS_MAX; k++)
		r = add_word(t, secrets_part(s, value, k),
			     k < s->parts.count ? s->parts.items[k].placeholder : "", before);
	t->bodies |= s->in_body || s->in_query || s->in_websocket;
	return r;
}

int take_out_add_value(struct take_out *t, const struct plan_secret *s, struct span value)
{
	return add_parts(t, s, value, true);
}

int take_out_add(struct take_out *t, const struct put_in *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->need_count; i++) {
		r = add_parts(t, &p->book->secrets[p->values[i].secret], p->values[i].value, false);
		/* The gate got the earlier ones again before this request went. */
		if (r == 0)
			take_out_know(t, p->values[i].secret);
	}
	return r;
}

void take_out_know(struct take_out *t, size_t index)
{
	t->knows[index] = true;
}

bool take_out_knows(const struct take_out *t, size_t index)
{
	return t->knows[index];
}

bool take_out_looks(const struct take_out *t)
{
	return t->count > 0;
}

/* How many bytes at the start of the value are no secret: the placeholder has them too. */
static size_t known_of(const struct word *w)
{
	struct span placeholder = span_of_str(w->placeholder);
	size_t known = shape_known(placeholder);

	if (!placeholder.ptr || known > w->len)
		return 0;
	return memcmp(w->value, placeholder.ptr, known) == 0 ? known : 0;
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static int make_lower(const struct take_out *t, struct words *w)
{
	static const size_t none[WORDS_MAX];
	struct span values[WORDS_MAX];
	size_t len = 0;

	for (size_t i = 0; i < t->count; i++)
		len += t->words[i].len;
	uint8_t *text = malloc(len), *at = text;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		values[i] = (struct span){at, t->words[i].len};
		for (size_t k = 0; k < t->words[i].len; k++)
			*at++ = lower(t->words[i].value[k]);
	}
	int r = finder_new(values, NULL, none, t->count, &w->lower);

	explicit_bzero(text, len);
	free(text);
	return r;
}

static int make_words(struct take_out *t)
{
	struct span values[WORDS_MAX], masks[WORDS_MAX];
	size_t known[WORDS_MAX];
	struct words *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->users = 1;
	for (size_t i = 0; i < t->count; i++) {
		values[i] = (struct span){t->words[i].value, t->words[i].len};
		masks[i] = span_of_str(t->words[i].placeholder);
		known[i] = known_of(&t->words[i]);
	}
	int r = finder_new(values, masks, known, t->count, &w->finder);

	if (r == 0)
		r = make_lower(t, w);
	if (r < 0)
		words_release(w);
	else
		t->made = w;
	return r;
}

void take_out_blot(const struct take_out *t, uint8_t *bytes, size_t len)
{
	if (t->made)
		scrub_blot(t->made->finder, bytes, len);
}

int take_out_ask_plain(struct http_message *request)
{
	http_message_remove(request, "accept-encoding");
	/* Also refuse the compression of WebSockets. */
	http_message_remove(request, "sec-websocket-extensions");
	return http_message_add(request, SPAN_LITERAL("accept-encoding"), SPAN_LITERAL("identity"));
}

/* ---- one answer ---- */

/*
 * gRPC: a body of messages, each with its length before it.  The end of a message must not wait
 * for the next one, which may be an answer to it.  A value does not go on after the end of a
 * message, unless the box put the value between lengths of its own.
 */
struct messages {
	bool are;
	uint8_t head[5];
	size_t got; /* of head */
	uint64_t left;
};

/* How many of these bytes come before the end of the last message that ends in them. */
static size_t messages_whole(struct messages *m, struct span in)
{
	size_t whole = 0;

	for (size_t at = 0; m->are && at < in.len;) {
		if (m->got < sizeof(m->head)) {
			m->head[m->got++] = in.ptr[at++];
			for (size_t i = 1; m->got == sizeof(m->head) && i < sizeof(m->head); i++)
				m->left = m->left << 8 | m->head[i];
		} else {
			size_t n = m->left < in.len - at ? (size_t)m->left : in.len - at;

			m->left -= n;
			at += n;
		}
		if (m->got == sizeof(m->head) && m->left == 0) {
			m->got = 0;
			whole = at;
		}
	}
	return whole;
}

static bool are_messages(struct http_message *m)
{
	static const char *const kinds[] = {"application/grpc", "application/connect+"};
	const struct http_message_field *f = http_message_find(m, "content-type", 0);

	for (size_t i = 0; f && i < BAWN_ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (f->value.len >= len &&
		    http_same_word((struct span){f->value.ptr, len}, kinds[i]))
			return true;
	}
	return false;
}

/* A field's value with something taken out. */
struct changed {
	struct changed *next;
	size_t len;
	uint8_t bytes[];
};

struct take_out_answer {
	struct take_out *of;
	struct words *words; /* NULL: none yet */
	bool plain;          /* was asked for */
	bool unread;         /* a WebSocket that began before there was a value to look for */
	struct changed *changed;
	struct scrub scrub;
	struct inflater *inflater; /* NULL: it came plain */
	uint64_t in_fields;
	char why[120];
	struct reframe *frames;
	struct messages messages;
};

int take_out_begin(struct take_out *t, bool plain, struct take_out_answer **ret_answer)
{
	struct take_out_answer *a = calloc(1, sizeof(*a));

	*ret_answer = a;
	if (!a)
		return -ENOMEM;
	a->of = t;
	a->plain = plain;
	return 0;
}

/* Gets the current words: another request may have added one since the last look. */
static int look_up(struct take_out_answer *a)
{
	struct take_out *t = a->of;
	int r = t->count > 0 && !t->made ? make_words(t) : 0;

	if (r < 0 || a->words == t->made)
		return r;
	words_release(a->words);
	a->words = t->made;
	a->words->users++;
	a->scrub.finder = a->words->finder;
	return 0;
}

void take_out_end(struct take_out_answer *a)
{
	if (!a)
		return;
	while (a->changed) {
		struct changed *c = a->changed;

		a->changed = c->next;
		explicit_bzero(c->bytes, c->len);
		free(c);
	}
	scrub_fini(&a->scrub);
	inflater_free(a->inflater);
	reframe_free(a->frames);
	words_release(a->words);
	free(a);
}

uint64_t take_out_count(const struct take_out_answer *a)
{
	return a ? a->scrub.found + a->in_fields : 0;
}

const char *take_out_why(const struct take_out_answer *a)
{
	return a ? a->why : "";
}

static int scrub_field(struct take_out_answer *a, struct http_message_field *f)
{
	struct finder_hit hit;

	if (finder_next(a->words->finder, f->value, 0, true, &hit) != FINDER_FOUND)
		return 0;
	struct changed *c = malloc(sizeof(*c) + f->value.len);

	if (!c)
		return -ENOMEM;
	c->next = a->changed;
	c->len = f->value.len;
	memcpy(c->bytes, f->value.ptr, f->value.len);
	scrub_whole(a->words->finder, c->bytes, c->len, NULL);
	a->changed = c;
	a->in_fields++;
	f->value.ptr = c->bytes;
	return 0;
}

/* Drops fields with a value in their name: no program needs them. */
static void drop_names(struct take_out_answer *a, struct http_message *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->field_count; i++) {
		struct span name = m->fields[i].name;
		struct finder_hit hit;

		/* Names are in lower case here; hex looks the same then. */
		if (finder_next(a->words->lower, name, 0, true, &hit) == FINDER_FOUND ||
		    finder_next(a->words->finder, name, 0, true, &hit) == FINDER_FOUND)
			a->in_fields++;
		else
			m->fields[kept++] = m->fields[i];
	}
	m->field_count = kept;
}

/* The one field that says how it is compressed; NULL: none does.  `several`: more than one. */
static const struct http_message_field *find_encoding(struct http_message *m, bool *several)
{
	const struct http_message_field *found = NULL, *f = NULL;

	*several = false;
	for (size_t at = 0; (f = http_message_find(m, "content-encoding", at));
	     at = (size_t)(f - m->fields) + 1) {
		if (f->value.len == 0 || http_same_word(f->value, "identity"))
			continue;
		*several = found != NULL;
		found = f;
	}
	return found;
}

/* Prepares to pass a compressed body on plain, if we can read it. */
static int open_encoding(struct take_out_answer *a, struct http_message *m)
{
	bool several = false;
	const struct http_message_field *f = find_encoding(m, &several);

	if (!f)
		return 0;
	enum inflater_kind kind =
		several ? INFLATER_NONE
		: http_same_word(f->value, "gzip") || http_same_word(f->value, "x-gzip")
			? INFLATER_GZIP
		: http_same_word(f->value, "deflate") ? INFLATER_DEFLATE
						      : INFLATER_NONE;

	if (kind == INFLATER_NONE) {
		if (!a->plain)
			return 0;
		(void)snprintf(a->why, sizeof(a->why),
			       "the answer came compressed in a way that cannot be looked through,"
			       " although plain was asked for");
		return -EPROTO;
	}
	a->inflater = inflater_new(kind);
	if (!a->inflater)
		return -ENOMEM;
	http_message_remove(m, "content-encoding");
	if (m->body == HTTP_MESSAGE_LENGTH)
		m->body = HTTP_MESSAGE_UNKNOWN;
	return 0;
}

int take_out_head(struct take_out_answer *a, struct http_message *m, bool has_body)
{
	int r = a ? look_up(a) : 0;

	if (a && has_body)
		a->messages.are = are_messages(m);
	if (!a || r < 0 || !a->words)
		return r;
	drop_names(a, m);
	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = scrub_field(a, &m->fields[i]);
	return r == 0 && has_body ? open_encoding(a, m) : r;
}

/* whole: no value that has begun goes on after these bytes. */
static int give_part(struct take_out_answer *a, struct span in, bool whole, bool end,
		     const struct put_in_sink *sink)
{
	struct span out = in;
	int r = look_up(a);

	if (r == 0 && a->words)
		r = scrub_feed(&a->scrub, in, whole, &out);
	if (r < 0)
		return r;
	return out.len > 0 || end ? sink->give(sink->context, out, end) : 0;
}

static int give(struct take_out_answer *a, struct span in, bool end, const struct put_in_sink *sink)
{
	size_t whole = messages_whole(&a->messages, in);

	if (whole > 0 && !a->of->bodies) {
		int r = give_part(a, (struct span){in.ptr, whole}, true, false, sink);

		if (r < 0)
			return r;
		in = span_skip(in, whole);
	}
	return in.len > 0 || end ? give_part(a, in, end, end, sink) : 0;
}

static int give_inflated(struct take_out_answer *a, struct span in, bool end,
			 const struct put_in_sink *sink)
{
	struct span piece;
	int r;

	inflater_input(a->inflater, in);
	while ((r = inflater_next(a->inflater, &piece)) > 0) {
		r = give(a, piece, false, sink);
		if (r < 0)
			return r;
	}
	if (r == 0 && end && !inflater_is_whole(a->inflater))
		r = -EPROTO;
	if (r < 0) {
		(void)snprintf(a->why, sizeof(a->why), "%s",
			       r == -EMSGSIZE ? "the answer unpacks to more than is sensible"
					      : "the answer's compression is broken");
		return -EPROTO;
	}
	return end ? give(a, (struct span){NULL, 0}, true, sink) : 0;
}

int take_out_body(struct take_out_answer *a, struct span in, bool end,
		  const struct put_in_sink *sink)
{
	if (!a)
		return sink->give(sink->context, in, end);
	return a->inflater ? give_inflated(a, in, end, sink) : give(a, in, end, sink);
}

/* ---- WebSocket ---- */

static int on_message(void *context, bool text, struct span piece, bool end, struct buf *into)
{
	struct take_out_answer *a = context;
	struct span out = piece;
	int r = look_up(a);

	(void)text;
	if (r == 0 && a->words)
		r = scrub_feed(&a->scrub, piece, end, &out);
	if (r < 0)
		return r;
	buf_put(into, out.ptr, out.len);
	return buf_error(into);
}

static int on_control(void *context, uint8_t *bytes, size_t len)
{
	struct take_out_answer *a = context;
	bool changed = false;
	int r = look_up(a);

	if (r == 0 && a->words)
		scrub_whole(a->words->finder, bytes, len, &changed);
	a->in_fields += changed;
	return r;
}

int take_out_websocket(struct take_out_answer *a, struct span in, bool end,
		       const struct put_in_sink *sink)
{
	static const struct reframe_ops ops = {on_message, on_control};

	int r = a ? look_up(a) : 0;

	if (r < 0)
		return r;
	/* It was not asked for plain, so it may be compressed, and we did not see its beginning. */
	if (a && !a->plain && !a->frames && !a->words)
		a->unread = true;
	if (!a || a->unread)
		return sink->give(sink->context, in, end);
	if (!a->frames)
		a->frames = reframe_new(false, false);
	if (!a->frames)
		return -ENOMEM;
	r = reframe_feed(a->frames, in, end, &ops, a, sink);
	if (r == -EPROTO)
		(void)snprintf(a->why, sizeof(a->why), "what came is no WebSocket: %s",
			       a->frames->in.why);
	return r;
}
