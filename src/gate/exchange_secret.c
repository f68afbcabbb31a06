/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secrets of one request.  put_in.h finds which ones the head needs; keys releases each or
 * makes a signature with it; then they are put in.
 *
 * The gate asks for no value before the record has on disk that it goes there
 * (exchange_is_recorded in exchange.c).
 */
#include "exchange_parts.h"
#include "message_gate.h"
#include "message_keys.h"

static const char exchange_cannot[] = "the secret's value cannot be put in";

/*
 * Asks keys again for values that went out over connections that have ended: the answer may have
 * them in it.  A secret that was read anew has several values, newest first.  Then the request
 * goes.
 */
static struct exchange_step exchange_recall(struct exchange *x)
{
	struct gate *g = x->intercept->gate;
	size_t next = 0;

	if (!g->taken)
		g->taken = take_out_new();
	if (!g->taken)
		return exchange_failure("out of memory");
	while (next < g->plan->secrets.count &&
	       (!g->released[next] || take_out_knows(g->taken, next)))
		next++;
	if (next == g->plan->secrets.count)
		return (struct exchange_step){.act = EXCHANGE_GO};
	return (struct exchange_step){.act = EXCHANGE_AGAIN, .secret = next};
}

struct exchange_step exchange_secret_outcome(struct exchange *x, enum put_in_outcome outcome)
{
	switch (outcome) {
	case PUT_IN_NOTHING:
		return exchange_recall(x);
	case PUT_IN_NEEDS:
	case PUT_IN_SIGN:
		return (struct exchange_step){.act = EXCHANGE_BEGIN};
	case PUT_IN_REFUSED:
		break;
	}
	return exchange_refusal(403, MESSAGE_EVENT_SECRET, put_in_why(x->put_in));
}

struct exchange_step exchange_secret_put_in(struct exchange *x)
{
	if (put_in_gathers(x->put_in) && !x->request_ended)
		return (struct exchange_step){.act = EXCHANGE_GATHER};
	if (put_in_gathers(x->put_in))
		put_in_gathered(x->put_in, buf_span(&x->early));
	x->gathering = false;
	enum put_in_outcome outcome = put_in_apply(x->put_in, x->kept);

	if (outcome == PUT_IN_SIGN)
		return (struct exchange_step){.act = EXCHANGE_SIGN};
	if (outcome == PUT_IN_NEEDS)
		return exchange_refusal(403, MESSAGE_EVENT_SECRET, exchange_cannot);
	return exchange_secret_outcome(x, outcome);
}

struct exchange_step exchange_secret_next(struct exchange *x)
{
	size_t count = 0;
	const size_t *needs = put_in_needs(x->put_in, &count);

	if (x->needs_at >= count)
		return exchange_secret_put_in(x);
	return (struct exchange_step){.act = EXCHANGE_VALUE, .secret = needs[x->needs_at]};
}

/* --- what keys said -------------------------------------------------------------------- */

static struct exchange_step exchange_take_again(struct exchange *x, const struct message_value *v)
{
	struct gate *g = x->intercept->gate;

	if (!v || v->index >= g->plan->secrets.count || !g->taken ||
	    take_out_add_value(g->taken, &g->plan->secrets.items[v->index], v->value) < 0)
		return exchange_failure(
			"what was put in before cannot be looked for in the answer");
	/* A new value in the meantime moves the older ones on by one; none is left out. */
	if (x->former < v->formers) {
		x->former++;
		return (struct exchange_step){.act = EXCHANGE_AGAIN, .secret = v->index};
	}
	x->former = 0;
	take_out_know(g->taken, v->index);
	return exchange_recall(x);
}

struct exchange_step exchange_secret_take(struct exchange *x, const struct key_ask_answer *answer)
{
	if (x->asked == EXCHANGE_AGAIN)
		return exchange_take_again(x, answer->refused ? NULL : answer->value);
	if (answer->refused)
		return exchange_refusal(403, MESSAGE_EVENT_SECRET, answer->refused);
	if (x->asked == EXCHANGE_SIGN)
		return exchange_secret_outcome(
			x, put_in_signed(x->put_in, x->kept, answer->signature));
	if (!answer->value || put_in_give(x->put_in, answer->value) < 0)
		return exchange_refusal(403, MESSAGE_EVENT_SECRET, exchange_cannot);
	x->needs_at++;
	return exchange_secret_next(x);
}

/* --- answers in parts ------------------------------------------------------------------ */

/*
 * Whether the answer must come whole.  If the box could choose the ranges of an answer, it could
 * get a value in pieces, and the gate would not know the pieces.  This holds for a request with
 * a value that may go anywhere at the host, and for hosts that may store values.  Not for signed
 * requests: the signature may cover the field.
 */
static bool exchange_is_read_whole(const struct exchange *x)
{
	const struct intercept *i = x->intercept;
	const struct plan *plan = i->gate->plan;
	size_t count = 0;
	const size_t *needs = x->put_in ? put_in_needs(x->put_in, &count) : NULL;
	bool whole = false;

	if (!i->flow->name || (x->put_in && put_in_signs(x->put_in)))
		return false;
	for (size_t n = 0; n < plan->secrets.count; n++) {
		const struct plan_secret *s = &plan->secrets.items[n];
		bool goes = s->in_body || s->in_query;

		for (size_t k = 0; k < count; k++)
			goes |= needs[k] == n;
		whole |= goes && secrets_is_anywhere(s, &i->flow->name->name);
	}
	return whole;
}

static bool exchange_is_letter(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

/* Whether a field's name has the word "range": range, if-range, x-ms-range.  Not content-range,
 * which describes the body that is sent. */
static bool exchange_asks_for_part(struct span name)
{
	static const char word[] = "range";
	const size_t len = sizeof(word) - 1;

	if (span_equal(name, span_of_str("content-range")))
		return false;
	for (size_t i = 0; i + len <= name.len; i++)
		if (memcmp(name.ptr + i, word, len) == 0 &&
		    (i == 0 || !exchange_is_letter(name.ptr[i - 1])) &&
		    (i + len == name.len || !exchange_is_letter(name.ptr[i + len])))
			return true;
	/* A-IM asks only for what has changed (RFC 3229), which is a part too. */
	return span_equal(name, span_of_str("a-im"));
}

/* The gate would not know a value that comes letter by letter, so it asks for the whole. */
void exchange_secret_ask_whole(const struct exchange *x, struct http_message *m)
{
	size_t kept = 0;

	if (!exchange_is_read_whole(x))
		return;
	for (size_t i = 0; i < m->field_count; i++)
		if (!exchange_asks_for_part(m->fields[i].name))
			m->fields[kept++] = m->fields[i];
	m->field_count = kept;
}
