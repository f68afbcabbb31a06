/* SPDX-License-Identifier: Apache-2.0 */
#include "take_out.h"

#include "http_field.h"
#include "put_in_parts.h"
#include "reframe.h"
#include "scrub.h"
#include "take_out_parts.h"

#include <stdio.h>

/* ---- what a connection knows ---- */

enum { WORDS_MAX = 48 };

/* One value and its placeholder; the value is wiped. */
struct word {
	uint8_t *value;
	size_t len;
	const char *placeholder; /* of the plan */
};

/* A finder that several answers look through; it goes with the last of them. */
struct words {
	unsigned int users;
	struct finder *finder;
};

struct take_out {
	size_t count;
	struct word words[WORDS_MAX];
	struct words *made; /* of all words; NULL: none, or to be made */
};

static void words_release(struct words *w)
{
	if (!w || --w->users > 0)
		return;
	finder_free(w->finder);
	free(w);
}

struct take_out *take_out_new(void)
{
	return calloc(1, sizeof(struct take_out));
}

void take_out_free(struct take_out *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		explicit_bzero(t->words[i].value, t->words[i].len);
		free(t->words[i].value);
	}
	words_release(t->made);
	free(t);
}

static int add_word(struct take_out *t, struct span value, const char *placeholder)
{
	for (size_t i = 0; i < t->count; i++)
		if (span_equal(value, (struct span){t->words[i].value, t->words[i].len}))
			return 0;
	/* Too short to be told from other text; such values are refused when they are added. */
	if (value.len < FINDER_WORD_MIN)
		return 0;
	if (t->count == WORDS_MAX)
		return -E2BIG;
	uint8_t *copy = malloc(value.len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, value.ptr, value.len);
	t->words[t->count++] = (struct word){copy, value.len, placeholder};
	words_release(t->made);
	t->made = NULL;
	return 0;
}

int take_out_add(struct take_out *t, const struct put_in *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->need_count; i++) {
		const struct plan_secret *s = &p->book->secrets[p->values[i].secret];

		/* A token may be there of which the plan has no placeholder. */
		for (size_t k = 0; r == 0 && k < PLAN_SECRET_PARTS_MAX; k++)
			r = add_word(t, secrets_part(s, p->values[i].value, k),
				     k < s->parts.count ? s->parts.items[k].placeholder : "");
	}
	return r;
}

static int make_words(struct take_out *t)
{
	struct span values[WORDS_MAX], masks[WORDS_MAX];
	struct words *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		values[i] = (struct span){t->words[i].value, t->words[i].len};
		masks[i] = span_of_str(t->words[i].placeholder);
	}
	int r = finder_new(values, masks, t->count, &w->finder);

	if (r < 0) {
		free(w);
		return r;
	}
	w->users = 1;
	t->made = w;
	return 0;
}

void take_out_blot(const struct take_out *t, uint8_t *bytes, size_t len)
{
	if (t->made)
		scrub_blot(t->made->finder, bytes, len);
}

int take_out_ask_plain(const struct take_out *t, struct http_message *request)
{
	if (t->count == 0)
		return 0;
	http_message_remove(request, "accept-encoding");
	/* A WebSocket's own compression would hide its text as well. */
	http_message_remove(request, "sec-websocket-extensions");
	return http_message_add(request, SPAN_LITERAL("accept-encoding"), SPAN_LITERAL("identity"));
}

/* ---- one answer ---- */

/* A field's value with something taken out. */
struct changed {
	struct changed *next;
	size_t len;
	uint8_t bytes[];
};

struct take_out_answer {
	struct words *words;
	struct changed *changed;
	struct scrub scrub;
	struct inflater *inflater; /* NULL: it came plain */
	uint64_t in_fields;
	char why[120];
	struct reframe *frames;
};

int take_out_begin(struct take_out *t, struct take_out_answer **ret_answer)
{
	*ret_answer = NULL;
	if (t->count == 0)
		return 0;
	if (!t->made) {
		int r = make_words(t);

		if (r < 0)
			return r;
	}
	struct take_out_answer *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->words = t->made;
	a->words->users++;
	a->scrub.finder = a->words->finder;
	*ret_answer = a;
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

/* A name that holds a value is none that a program could want. */
static void drop_names(struct take_out_answer *a, struct http_message *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->field_count; i++) {
		struct finder_hit hit;

		if (finder_next(a->words->finder, m->fields[i].name, 0, true, &hit) == FINDER_FOUND)
			a->in_fields++;
		else
			m->fields[kept++] = m->fields[i];
	}
	m->field_count = kept;
}

/* What was compressed goes on plain, when we can read it. */
static int open_encoding(struct take_out_answer *a, struct http_message *m)
{
	const struct http_message_field *f = http_message_find(m, "content-encoding", 0);

	if (!f || f->value.len == 0 || http_same_word(f->value, "identity"))
		return 0;
	enum inflater_kind kind =
		http_same_word(f->value, "gzip") || http_same_word(f->value, "x-gzip")
			? INFLATER_GZIP
		: http_same_word(f->value, "deflate") ? INFLATER_DEFLATE
						      : INFLATER_NONE;

	if (kind == INFLATER_NONE ||
	    http_message_find(m, "content-encoding", (size_t)(f - m->fields) + 1)) {
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
	int r = 0;

	if (!a)
		return 0;
	drop_names(a, m);
	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = scrub_field(a, &m->fields[i]);
	return r == 0 && has_body ? open_encoding(a, m) : r;
}

static int give(struct take_out_answer *a, struct span in, bool end, const struct put_in_sink *sink)
{
	struct span out;
	int r = scrub_feed(&a->scrub, in, end, &out);

	if (r < 0)
		return r;
	return out.len > 0 || end ? sink->give(sink->context, out, end) : 0;
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
	struct span out;
	int r = scrub_feed(&a->scrub, piece, end, &out);

	(void)text;
	if (r < 0)
		return r;
	buf_put(into, out.ptr, out.len);
	return buf_error(into);
}

static int on_control(void *context, uint8_t *bytes, size_t len)
{
	struct take_out_answer *a = context;
	bool changed = false;

	scrub_whole(a->words->finder, bytes, len, &changed);
	a->in_fields += changed;
	return 0;
}

int take_out_websocket(struct take_out_answer *a, struct span in, bool end,
		       const struct put_in_sink *sink)
{
	static const struct reframe_ops ops = {on_message, on_control};

	if (!a)
		return sink->give(sink->context, in, end);
	if (!a->frames)
		a->frames = reframe_new(false, false);
	if (!a->frames)
		return -ENOMEM;
	int r = reframe_feed(a->frames, in, end, &ops, a, sink);

	if (r == -EPROTO)
		(void)snprintf(a->why, sizeof(a->why), "what came is no WebSocket: %s",
			       a->frames->in.why);
	return r;
}
