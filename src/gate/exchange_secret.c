/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secrets of one request: which the head asks for (put_in.h), each released by keys or made
 * into a signature, and put in where they belong.
 *
 * No value is asked for before the record has, on disk, that it goes there.
 */
#include "exchange_parts.h"

#include "clock.h"

static void exchange_ask(struct exchange *x);
static void exchange_recall(struct exchange *x, struct http_message *m);

static void exchange_on_again(void *context, const struct key_ask_answer *answer)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;
	struct gate *g = i->gate;
	const struct message_value *v = answer->value;

	intercept_enter(i);
	if (answer->refused || !v || v->index >= g->plan.secrets.count || !g->taken ||
	    take_out_add_value(g->taken, &g->plan.secrets.items[v->index], v->index, v->value) < 0)
		exchange_fail(x, "what was put in before cannot be looked for in the answer");
	else
		exchange_recall(x, x->kept);
	intercept_leave(i);
}

/*
 * Values that went out before, over connections that have ended, are got again: the answer may
 * have them.  Then the request goes.
 */
static void exchange_recall(struct exchange *x, struct http_message *m)
{
	struct gate *g = x->intercept->gate;
	size_t next = 0;

	if (!g->taken)
		g->taken = take_out_new();
	while (g->taken && next < g->plan.secrets.count &&
	       (!g->released[next] || take_out_knows(g->taken, next)))
		next++;
	if (g->taken && next == g->plan.secrets.count) {
		exchange_forward(x, m);
		return;
	}
	x->state = EXCHANGE_ASKING;
	if (!g->taken || !exchange_keep(x, m))
		exchange_fail(x, "out of memory");
	else
		key_ask_again(&g->keys, &x->ask, next, exchange_on_again, x);
}

void exchange_secret_outcome(struct exchange *x, enum put_in_outcome outcome,
			     struct http_message *m)
{
	switch (outcome) {
	case PUT_IN_NOTHING:
		exchange_recall(x, m);
		return;
	case PUT_IN_NEEDS:
	case PUT_IN_SIGN:
		x->state = EXCHANGE_ASKING;
		if (!exchange_keep(x, m))
			exchange_fail(x, "out of memory");
		else
			exchange_ask(x);
		return;
	case PUT_IN_REFUSED:
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, put_in_why(x->put_in));
		return;
	}
}

static void exchange_on_value(void *context, const struct key_ask_answer *answer)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;

	intercept_enter(i);
	if (answer->refused) {
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, answer->refused);
	} else if (!answer->value || put_in_give(x->put_in, answer->value) < 0) {
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET,
				    "the secret's value cannot be put in");
	} else {
		x->needs_at++;
		exchange_ask(x);
	}
	intercept_leave(i);
}

static void exchange_on_signature(void *context, const struct key_ask_answer *answer)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;

	intercept_enter(i);
	if (answer->refused)
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, answer->refused);
	else
		exchange_secret_outcome(x, put_in_signed(x->put_in, x->kept, answer->signature),
					x->kept);
	intercept_leave(i);
}

static void exchange_sign(struct exchange *x)
{
	struct intercept *i = x->intercept;
	char text[ADDRESS_TEXT_SIZE];
	struct message_sign m = {.host = flow_host(i->flow, text),
				 .port = i->flow->port,
				 .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				 .method = x->method,
				 .path = x->path,
				 .unclear = x->unclear ? x->unclear : ""};

	put_in_signing(x->put_in, &m);
	key_ask_sign(&i->gate->keys, &x->ask, &m, exchange_on_signature, x);
}

/*
 * A service signs its body's hash: then the body is there before the head goes.  It is bounded
 * (PUT_IN_GATHER_MAX), and the box's side is told at once that it may give more.
 */
static void exchange_gather(struct exchange *x)
{
	const struct http_message go_on = {.status = 100};

	x->gathering = true;
	x->early.max = PUT_IN_GATHER_MAX;
	side_consumed(x->box, x->taken[EXCHANGE_UP]);
	x->taken[EXCHANGE_UP] = 0;
	if (x->kept->expect_continue && side_send_head(x->box, &go_on, false) < 0)
		exchange_cut(x, SIDE_INTERNAL);
	else
		x->kept->expect_continue = false;
}

void exchange_put_in(struct exchange *x)
{
	if (put_in_gathers(x->put_in) && !x->request_ended) {
		exchange_gather(x);
		return;
	}
	if (put_in_gathers(x->put_in))
		put_in_gathered(x->put_in, buf_span(&x->early));
	x->gathering = false;
	enum put_in_outcome outcome = put_in_apply(x->put_in, x->kept);

	if (outcome == PUT_IN_SIGN)
		exchange_sign(x);
	else if (outcome == PUT_IN_NEEDS)
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET,
				    "the secret's value cannot be put in");
	else
		exchange_secret_outcome(x, outcome, x->kept);
}

static void exchange_on_recorded(void *context, bool recorded)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;

	intercept_enter(i);
	x->state = EXCHANGE_ASKING;
	if (recorded)
		exchange_ask(x);
	else
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, "the record does not answer");
	intercept_leave(i);
}

/* Whether the record has that this secret goes there; if not, exchange_ask comes again. */
static bool exchange_is_recorded(struct exchange *x, size_t secret)
{
	struct gate *g = x->intercept->gate;
	char text[ADDRESS_TEXT_SIZE];
	const struct tell_request r = exchange_told(x, text);
	uint64_t id = tell_release(g, &r, secret);

	if (account_has(g->account, id))
		return true;
	x->state = EXCHANGE_RECORD;
	account_wait(g->account, &x->record, id, clock_now(), exchange_on_recorded, x);
	return false;
}

/* Asks for the next value; when all are there, puts them in. */
static void exchange_ask(struct exchange *x)
{
	struct intercept *i = x->intercept;
	char text[ADDRESS_TEXT_SIZE];
	size_t count = 0;
	const size_t *needs = put_in_needs(x->put_in, &count);

	if (x->needs_at >= count) {
		exchange_put_in(x);
		return;
	}
	if (!exchange_is_recorded(x, needs[x->needs_at]))
		return;
	struct message_release m = {.index = needs[x->needs_at],
				    .host = flow_host(i->flow, text),
				    .port = i->flow->port,
				    .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				    .method = x->method,
				    .path = x->path,
				    .unclear = x->unclear ? x->unclear : ""};

	key_ask_release(&i->gate->keys, &x->ask, &m, exchange_on_value, x);
}
