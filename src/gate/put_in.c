/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking: the gate searches every part of a head for every placeholder of the plan, in every form.
 * It judges each one that it finds by its place, its form and the hosts that its secret is
 * bound to.  If one may not be replaced, the request is refused.
 */
#include "put_in_parts.h"

#include "encode.h"
#include "http_field.h"
#include "reframe.h"
#include "scrub.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the book ---- */

static int book_fill(struct put_in_book *b)
{
	struct span texts[PUT_IN_WORDS_MAX];

	for (size_t s = 0; s < b->count; s++)
		for (size_t i = 0; i < b->secrets[s].parts.count; i++) {
			if (b->word_count == PUT_IN_WORDS_MAX)
				return -E2BIG;
			texts[b->word_count] =
				span_of_str(b->secrets[s].parts.items[i].placeholder);
			b->words[b->word_count++] = (struct put_in_word){s, i};
		}
	return finder_new(texts, NULL, NULL, b->word_count, &b->finder);
}

int put_in_book_new(const struct plan_secret *secrets, size_t count, struct put_in_book **ret_book)
{
	struct put_in_book *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->secrets = secrets;
	b->count = count;
	int r = book_fill(b);

	if (r < 0) {
		put_in_book_free(b);
		return r;
	}
	*ret_book = b;
	return 0;
}

void put_in_book_free(struct put_in_book *book)
{
	if (!book)
		return;
	finder_free(book->finder);
	free(book);
}

void put_in_blot(const struct put_in_book *book, uint8_t *bytes, size_t len)
{
	if (book->word_count > 0)
		scrub_blot(book->finder, bytes, len);
}

/* ---- one request ---- */

struct put_in *put_in_new(const struct put_in_book *book)
{
	struct put_in *p = calloc(1, sizeof(*p));

	if (p) {
		p->book = book;
		p->secret = "";
	}
	return p;
}

void put_in_free(struct put_in *p)
{
	if (!p)
		return;
	while (p->memory) {
		struct put_in_memory *m = p->memory;

		p->memory = m->next;
		explicit_bzero(m->bytes, m->len);
		free(m);
	}
	if (p->kept.ptr)
		explicit_bzero(p->kept.ptr, p->kept.cap);
	buf_fini(&p->kept);
	reframe_free(p->frames);
	free(p);
}

uint8_t *put_in_alloc(struct put_in *p, size_t len)
{
	struct put_in_memory *m = malloc(sizeof(*m) + len + 1);

	if (!m)
		return NULL;
	m->next = p->memory;
	m->len = len + 1;
	m->bytes[len] = '\0';
	p->memory = m;
	return m->bytes;
}

enum put_in_outcome put_in_refuse(struct put_in *p, const char *secret, const char *fmt, ...)
{
	va_list args;

	p->secret = secret;
	va_start(args, fmt);
	(void)vsnprintf(p->why, sizeof(p->why), fmt, args);
	va_end(args);
	return PUT_IN_REFUSED;
}

const char *put_in_why(const struct put_in *p)
{
	return p->why;
}

const char *put_in_secret(const struct put_in *p)
{
	return p->secret;
}

bool put_in_masked(const struct put_in *p)
{
	return p->masked;
}

bool put_in_signs(const struct put_in *p)
{
	return p->signs;
}

const char *put_in_names(const struct put_in *p)
{
	return p->names;
}

const size_t *put_in_needs(const struct put_in *p, size_t *ret_count)
{
	*ret_count = p->need_count;
	return p->needs;
}

struct put_in_value *put_in_value_of(struct put_in *p, size_t secret)
{
	for (size_t i = 0; i < p->need_count; i++)
		if (p->values[i].secret == secret)
			return &p->values[i];
	return NULL;
}

struct span put_in_part(struct put_in *p, const struct finder_hit *hit)
{
	const struct put_in_word *w = &p->book->words[hit->word];
	const struct put_in_value *v = put_in_value_of(p, w->secret);

	return v ? secrets_part(&p->book->secrets[w->secret], v->value, w->part)
		 : (struct span){NULL, 0};
}

int put_in_give(struct put_in *p, const struct message_value *value)
{
	struct put_in_value *v = put_in_value_of(p, (size_t)value->index);

	if (!v || v->value.len > 0 || value->value.len == 0)
		return -EINVAL;
	/* A value goes into fields and lines, so it may have no byte that ends one. */
	for (size_t i = 0; i < value->value.len; i++) {
		uint8_t c = value->value.ptr[i];
		bool parts = p->book->secrets[v->secret].kind == PLAN_SECRET_AWS && c == '\n';

		if (!http_is_value_byte(c) && !parts)
			return -EINVAL;
	}
	uint8_t *copy = put_in_alloc(p, value->value.len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, value->value.ptr, value->value.len);
	v->value = (struct span){copy, value->value.len};
	return 0;
}

/* ---- judging ---- */

static const char *const spot_words[PUT_IN_SPOTS] = {
	[PUT_IN_AT_LINE] = "in the address",
	[PUT_IN_AT_QUERY] = "in the query",
	[PUT_IN_AT_AUTHORIZATION] = "in Authorization",
	[PUT_IN_AT_BASIC] = "in Basic authorization",
	[PUT_IN_AT_FIELD] = "in a field",
	[PUT_IN_AT_NAME] = "in a field's name",
	[PUT_IN_AT_TRAILER] = "in a trailer",
	[PUT_IN_AT_BODY] = "in the body",
	[PUT_IN_AT_WEBSOCKET] = "in a WebSocket message",
	[PUT_IN_AT_BINARY] = "in a WebSocket message that is not text",
};

static bool has_header(const struct plan_secret *s, struct span field)
{
	for (size_t i = 0; i < s->headers.count; i++)
		if (http_same_word(field, s->headers.items[i].text))
			return true;
	return false;
}

/* Whether this is the secret that the request is signed with. */
static bool signs_with(const struct put_in *p, const struct plan_secret *s)
{
	return p->signs && &p->book->secrets[p->signer] == s;
}

/* Whether the secret may go to this spot. */
static bool goes_there(const struct put_in *p, const struct plan_secret *s, enum put_in_spot spot,
		       struct span field)
{
	switch (spot) {
	case PUT_IN_AT_QUERY:
		return s->in_query || signs_with(p, s);
	case PUT_IN_AT_AUTHORIZATION:
		return signs_with(p, s) || (s->kind == PLAN_SECRET_PLAIN &&
					    (s->in_authorization || has_header(s, field)));
	case PUT_IN_AT_BASIC:
		return s->in_authorization || has_header(s, field);
	case PUT_IN_AT_FIELD:
		return has_header(s, field) ||
		       (signs_with(p, s) && http_same_word(field, "x-amz-security-token"));
	case PUT_IN_AT_BODY:
		return s->in_body;
	case PUT_IN_AT_WEBSOCKET:
		return s->in_websocket;
	case PUT_IN_AT_LINE:
	case PUT_IN_AT_NAME:
	case PUT_IN_AT_TRAILER:
	case PUT_IN_AT_BINARY:
	case PUT_IN_SPOTS:
		break;
	}
	return false;
}

int put_in_judge(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot,
		 struct span field)
{
	const struct plan_secret *s = &p->book->secrets[p->book->words[hit->word].secret];
	bool plain = hit->form == FINDER_PLAIN ||
		     (hit->form == FINDER_ESCAPED && spot == PUT_IN_AT_QUERY);

	bool key =
		s->kind == PLAN_SECRET_AWS && p->book->words[hit->word].part == PLAN_SECRET_AWS_KEY;

	if (key || !goes_there(p, s, spot, field))
		put_in_refuse(p, s->name,
			      "the placeholder of the secret %s stands %s%s%.*s, where it"
			      " is not put in",
			      s->name, spot_words[spot], field.len > 0 ? " " : "",
			      field.len > 64 ? 64 : (int)field.len, (const char *)field.ptr);
	else if (!plain)
		put_in_refuse(
			p, s->name,
			"the placeholder of the secret %s stands %s %s; only as it is would it"
			" be put in",
			s->name, spot_words[spot], finder_form_words[hit->form]);
	else
		return 0;
	return -EPERM;
}

void put_in_refuse_part(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot,
			struct span field, const char *wanted)
{
	const char *name = p->book->secrets[p->book->words[hit->word].secret].name;

	if (spot != PUT_IN_AT_FIELD)
		field.len = 0;
	put_in_refuse(p, name,
		      "the placeholder of the secret %s has other text beside it %s%s%.*s; write it"
		      " as %s",
		      name, spot_words[spot], field.len > 0 ? " " : "",
		      field.len > 32 ? 32 : (int)field.len, (const char *)field.ptr, wanted);
}

/* What a placeholder must be there: the whole of what. */
static enum put_in_as as_what(const struct put_in *p, const struct finder_hit *hit,
			      enum put_in_spot spot, struct span field)
{
	const struct put_in_word *w = &p->book->words[hit->word];
	bool signs = signs_with(p, &p->book->secrets[w->secret]);

	if (spot == PUT_IN_AT_BASIC)
		return PUT_IN_AS_BASIC;
	if (spot == PUT_IN_AT_QUERY && !(signs && w->part == PLAN_SECRET_AWS_ID))
		return PUT_IN_AS_PARAMETER;
	if (signs && (spot == PUT_IN_AT_QUERY || spot == PUT_IN_AT_AUTHORIZATION))
		return PUT_IN_AS_CREDENTIAL;
	return http_same_word(field, "cookie") ? PUT_IN_AS_COOKIE : PUT_IN_AS_FIELD;
}

/* ---- looking ---- */

struct look {
	struct put_in *p;
	const struct secrets_place *at;
};

static int need(struct put_in *p, size_t secret)
{
	if (put_in_value_of(p, secret))
		return 0;
	if (p->need_count == PUT_IN_NEEDS_MAX) {
		put_in_refuse(p, "", "the request has placeholders of more than %d secrets",
			      PUT_IN_NEEDS_MAX);
		return -EPERM;
	}
	p->values[p->need_count] = (struct put_in_value){.secret = secret};
	p->needs[p->need_count++] = secret;
	return 0;
}

/* Checks the text before and after a placeholder. */
static int look_beside(struct put_in *p, const struct finder_hit *hit, struct span text,
		       enum put_in_spot spot, struct span field)
{
	const struct plan_secret *s = &p->book->secrets[p->book->words[hit->word].secret];
	struct span before = {text.ptr, hit->at};

	if (spot == PUT_IN_AT_QUERY && !signs_with(p, s) &&
	    !put_in_is_named(s, before, PUT_IN_PERCENT)) {
		put_in_refuse(p, s->name,
			      "the placeholder of the secret %s stands in the query, and not"
			      " as a parameter that the secret names",
			      s->name);
		return -EPERM;
	}
	const char *wanted = put_in_unless_whole(as_what(p, hit, spot, field), before,
						 span_skip(text, hit->at + hit->len));

	if (wanted)
		put_in_refuse_part(p, hit, spot, field, wanted);
	return wanted ? -EPERM : 0;
}

/* Judges every placeholder in text. */
static int look_at(const struct look *l, struct span text, enum put_in_spot spot, struct span field)
{
	struct finder_hit hit;

	for (size_t from = 0;
	     finder_next(l->p->book->finder, text, from, true, &hit) == FINDER_FOUND;
	     from = hit.at + hit.len) {
		size_t secret = l->p->book->words[hit.word].secret;
		const struct plan_secret *s = &l->p->book->secrets[secret];
		const char *not_here = secrets_refuse(s, l->at);

		if (not_here) {
			put_in_refuse(l->p, s->name,
				      "the request has the placeholder of the secret %s: %s",
				      s->name, not_here);
			return -EPERM;
		}
		int r = put_in_judge(l->p, &hit, spot, field);

		l->p->found++;
		l->p->last_found = secret;
		if (r == 0)
			r = look_beside(l->p, &hit, text, spot, field);
		if (r == 0)
			r = need(l->p, secret);
		if (r < 0)
			return r;
	}
	return 0;
}

static int look_at_field(const struct look *l, const struct http_message_field *f)
{
	const struct span none = {NULL, 0};
	struct span rest, text;
	bool authorization = http_same_word(f->name, "authorization");
	int r = look_at(l, f->name, PUT_IN_AT_NAME, none);

	if (r < 0 || !put_in_is_basic(f->value, &rest))
		return r < 0 ? r
			     : look_at(l, f->value,
				       authorization ? PUT_IN_AT_AUTHORIZATION : PUT_IN_AT_FIELD,
				       f->name);
	r = put_in_decode_basic(l->p, rest, &text);
	if (r == -ENOMEM)
		return r;
	/* A Basic credential is searched only after decoding; all else as it is. */
	return r < 0 ? look_at(l, f->value, PUT_IN_AT_FIELD, f->name)
		     : look_at(l, text, PUT_IN_AT_BASIC,
			       authorization ? SPAN_LITERAL("authorization") : f->name);
}

/* Secrets that go into what follows the head: their values are needed before it begins. */
static int look_ahead(const struct look *l, const struct http_message *m)
{
	struct put_in *p = l->p;

	for (size_t i = 0; i < p->book->count; i++) {
		const struct plan_secret *s = &p->book->secrets[i];
		bool body = s->in_body && m->body != HTTP_MESSAGE_NONE;
		bool websocket = s->in_websocket && m->websocket;

		if ((!body && !websocket) || secrets_refuse(s, l->at))
			continue;
		int r = need(p, i);

		if (r < 0)
			return r;
		put_in_value_of(p, i)->in_body = body;
		put_in_value_of(p, i)->in_websocket = websocket;
		p->replaces = true;
	}
	return 0;
}

/* Looks at one field.  A field with a placeholder must be the only one of its name. */
static int look_at_one(const struct look *l, const struct http_message *m, size_t i)
{
	size_t found = l->p->found;
	int r = look_at_field(l, &m->fields[i]);

	if (r < 0 || l->p->found == found || put_in_is_once(m, i))
		return r;
	put_in_refuse(l->p, l->p->book->secrets[l->p->last_found].name,
		      "the field %.*s has a placeholder and stands there more than once; send it"
		      " once",
		      m->fields[i].name.len > 32 ? 32 : (int)m->fields[i].name.len,
		      (const char *)m->fields[i].name.ptr);
	return -EPERM;
}

static int look_at_all(const struct look *l, const struct http_message *m)
{
	const struct span none = {NULL, 0};
	struct put_in_target target = put_in_split(m->target);
	int r = look_at(l, m->method, PUT_IN_AT_LINE, none);

	if (r == 0)
		r = look_at(l, m->authority, PUT_IN_AT_LINE, none);
	if (r == 0)
		r = look_at(l, target.path, PUT_IN_AT_LINE, none);
	if (r == 0)
		r = look_at(l, target.query, PUT_IN_AT_QUERY, none);
	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = look_at_one(l, m, i);
	return r == 0 ? look_ahead(l, m) : r;
}

enum put_in_outcome put_in_look(struct put_in *p, const struct http_message *m,
				const struct secrets_place *at, bool credentials, bool mask)
{
	const struct look l = {p, at};
	int r = p->book->word_count > 0 ? put_in_look_signed(p, m) : 0;

	if (r == 0 && p->book->word_count > 0)
		r = look_at_all(&l, m);
	p->mask = mask;
	if (r == 0 && !credentials &&
	    secrets_bound(p->book->secrets, p->book->count, &at->host, at->port))
		r = put_in_check_foreign(p, m, at);
	if (r == -EPERM)
		return PUT_IN_REFUSED;
	if (r < 0)
		return put_in_refuse(p, "", "there is no memory to look at the request");
	return p->need_count > 0 ? PUT_IN_NEEDS : PUT_IN_NOTHING;
}

int put_in_trailers(struct put_in *p, struct http_message *m)
{
	for (size_t i = 0; i < m->field_count; i++) {
		const struct span both[] = {m->fields[i].name, m->fields[i].value};
		struct finder_hit hit;

		for (size_t k = 0; k < BAWN_ARRAY_SIZE(both); k++)
			if (finder_next(p->book->finder, both[k], 0, true, &hit) == FINDER_FOUND)
				return put_in_judge(p, &hit, PUT_IN_AT_TRAILER,
						    (struct span){NULL, 0});
	}
	return 0;
}
