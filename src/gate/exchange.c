/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer.
 *
 *	(head)	  it must be for the host that was dialled; then the rules decide, then the
 *		  secrets are looked at
 *	RECORD	  a secret goes there for the first time; the gate asks for its value only when
 *		  the record has that on disk
 *	ASKING	  the gate has asked keys for a value or a signature
 *	WAITING	  for a leg to the origin
 *	PASSING	  the origin has its head; bodies pass both ways
 *
 * Until PASSING the exchange keeps the head, and the part of the body that has come; the box's
 * side limits how much that is.  It gathers a whole body only when a signature needs its hash
 * (exchange_secret.c).  Else one side gives bytes to the other, and learns when they have gone
 * (side.h).
 *
 * The gate answers a refused request itself, in the box's protocol, with a page that says why.
 * When the origin's answer has begun, the gate cuts it instead, so that nobody takes half of it
 * for the whole.
 */
#include "exchange_parts.h"

#include "clock.h"
#include "message_gate.h"
#include "message_keys.h"
#include "refusal.h"

#include <stdio.h>

static struct exchange *exchange_new(struct intercept *i, struct side_stream *box)
{
	struct exchange *x = calloc(1, sizeof(*x));
	struct exchange **link = &i->exchanges;

	if (!x)
		return NULL;
	x->intercept = i;
	x->box = box;
	x->begun = clock_now();
	box->context = x;
	x->early = BUF_INIT(INTERCEPT_PENDING_MAX);
	while (*link)
		link = &(*link)->next;
	x->link = link;
	*link = x;
	return x;
}

static void exchange_forget_head(struct exchange *x)
{
	free(x->kept);
	free(x->kept_bytes);
	free(x->kept_trailers);
	free(x->kept_trailer_bytes);
	x->kept = x->kept_trailers = NULL;
	x->kept_bytes = x->kept_trailer_bytes = NULL;
	buf_fini(&x->early);
}

/* --- what the record is told ---------------------------------------------------------- */

/* The request as the note has it. */
static struct tell_request exchange_told(const struct exchange *x, char text[ADDRESS_TEXT_SIZE])
{
	const struct intercept *i = x->intercept;
	bool same = x->rule && x->changes == i->gate->changes;

	return (struct tell_request){
		.host = flow_host(i->flow, text),
		.port = i->flow->port,
		.tls = i->tls,
		.method = x->method,
		.path = span_of_str(x->path),
		.status = x->status,
		.more = {.has = 1u << FOLD_SENT | 1u << FOLD_RECEIVED | 1u << FOLD_TIME,
			 .sums = {x->passed[EXCHANGE_UP], x->passed[EXCHANGE_DOWN],
				  (uint64_t)(clock_now() - x->begun)}},
		.rule = same ? x->rule->origin : "",
		.taken = i->gate->taken};
}

/* Sends the note of this request, once: when it was refused, became a WebSocket, or is over. */
static void exchange_tell(struct exchange *x, const struct rules_verdict *refused)
{
	char text[ADDRESS_TEXT_SIZE];

	if (x->told)
		return;
	x->told = true;
	const struct tell_request r = exchange_told(x, text);

	tell_request(x->intercept->gate, &r, refused);
}

static void exchange_tell_secret(const struct exchange *x, const char *op, const char *secret,
				 const struct rules_verdict *refused)
{
	char text[ADDRESS_TEXT_SIZE];
	const struct tell_request r = exchange_told(x, text);

	tell_secret(x->intercept->gate, op, &r, secret, refused);
}

/* Frees the exchange.  Releases its streams, which resets those that have not ended. */
static void exchange_finish(struct exchange *x)
{
	exchange_tell(x, NULL);
	account_drop(&x->record);
	key_ask_drop(&x->ask);
	side_release(x->box);
	side_release(x->out);
	*x->link = x->next;
	if (x->next)
		x->next->link = x->link;
	exchange_forget_head(x);
	put_in_free(x->put_in);
	take_out_end(x->answer);
	free(x->what);
	free(x->path);
	free(x->other.path);
	free(x);
}

void exchange_free_all(struct intercept *i)
{
	while (i->exchanges)
		exchange_finish(i->exchanges);
}

/* Resets the answer, so that the program sees that it is not whole. */
static void exchange_cut(struct exchange *x, enum side_why why)
{
	side_reset(x->box, why);
	if (!x->intercept->box_h2)
		x->intercept->cut = true;
	exchange_finish(x);
}

/* --- answering ourselves -------------------------------------------------------------- */

static const char *exchange_what(const struct exchange *x)
{
	return x->what ? x->what : "";
}

/* Sends a whole answer of our own, and ends the exchange. */
static void exchange_answer(struct exchange *x, unsigned int status, const struct rules_verdict *v)
{
	struct intercept *i = x->intercept;
	_cleanup_buf_ struct buf body = BUF_INIT(8192);
	struct http_message m;
	char text[ADDRESS_TEXT_SIZE];

	if (x->answer_begun) {
		exchange_cut(x, SIDE_CANCELLED);
		return;
	}
	refusal_text(&body, v, exchange_what(x), flow_host(i->flow, text), i->flow->port);
	memset(&m, 0, offsetof(struct http_message, fields));
	m.status = (uint16_t)status;
	m.body = HTTP_MESSAGE_LENGTH;
	m.length = body.len;
	(void)http_message_add(&m, SPAN_LITERAL("content-type"),
			       SPAN_LITERAL("text/plain; charset=utf-8"));
	(void)http_message_add(&m, SPAN_LITERAL("x-refused-by"), SPAN_LITERAL("bawn"));
	side_release(TAKE_PTR(x->out));
	int r = side_send_head(x->box, &m, x->head);

	if (r == 0 && !x->head)
		r = side_send_body(x->box, buf_span(&body), true);
	if (r < 0)
		exchange_cut(x, SIDE_INTERNAL);
	else
		exchange_finish(x);
}

/* Answers that it is refused, and tells the user. */
static void exchange_refuse(struct exchange *x, unsigned int status, enum message_event_kind kind,
			    const struct rules_verdict *v)
{
	refusal_note(x->intercept->gate, kind, exchange_what(x), x->intercept->flow->port, v);
	if (kind == MESSAGE_EVENT_SECRET) {
		bool leak = x->put_in && put_in_why(x->put_in)[0] != '\0';

		exchange_tell_secret(x, leak ? "leak" : "use", leak ? put_in_secret(x->put_in) : "",
				     v);
	}
	x->status = status;
	exchange_tell(x, v);
	exchange_answer(x, status, v);
}

static void exchange_refuse_for(struct exchange *x, unsigned int status,
				enum message_event_kind kind, const char *reason)
{
	struct rules_verdict v;

	memset(&v, 0, sizeof(v));
	(void)snprintf(v.reason, sizeof(v.reason), "%s", reason);
	exchange_refuse(x, status, kind, &v);
}

/* Answers why the origin cannot be reached.  That is no refusal, and is noted elsewhere. */
static void exchange_fail(struct exchange *x, const char *reason)
{
	struct rules_verdict v;

	memset(&v, 0, sizeof(v));
	(void)snprintf(v.reason, sizeof(v.reason), "%s", reason);
	x->status = 502;
	exchange_answer(x, 502, &v);
}

/*
 * The rules have changed: ends one exchange that they do not allow.  Cuts an answer that has
 * begun, or a WebSocket; else answers why.  Only the command that changed the rules learns how
 * many ended: they do not count as refusals.
 */
static bool exchange_end_one(struct intercept *i, bool passing)
{
	struct rules_verdict v;
	struct exchange *x = i->exchanges;

	while (x && ((x->state == EXCHANGE_PASSING) != passing || exchange_is_allowed_still(x, &v)))
		x = x->next;
	if (!x)
		return false;
	if (!x->answer_begun)
		x->status = 403;
	exchange_tell(x, &v);
	exchange_answer(x, 403, &v);
	return true;
}

/* One after the other, because the end of one may begin or end others.  First those that have
 * not been sent: else they would take the leg of one that ends. */
bool exchange_decide_again(struct intercept *i)
{
	bool ended = false;

	while (exchange_end_one(i, false) || exchange_end_one(i, true))
		ended = true;
	return ended;
}

/* --- back-pressure -------------------------------------------------------------------- */

/* So many bytes have gone: tells the source's side that it may give more. */
static void exchange_consume(struct exchange *x, int way, size_t gone)
{
	struct side_stream *from = way == EXCHANGE_UP ? x->box : x->out;
	size_t n = x->queued[way] == 0    ? x->taken[way]
		   : gone < x->taken[way] ? gone
					  : x->taken[way];

	x->taken[way] -= n;
	if (n > 0 && from)
		side_consumed(from, n);
}

static int exchange_pass(struct exchange *x, int way, struct span bytes, bool end)
{
	struct side_stream *to = way == EXCHANGE_UP ? x->out : x->box;

	end = end && !x->trailers_follow;
	if (bytes.len == 0 && !end)
		return 0;
	int r = side_send_body(to, bytes, end);

	if (r == 0)
		x->queued[way] += bytes.len;
	return r;
}

static int exchange_give_up(void *context, struct span bytes, bool end)
{
	return exchange_pass(context, EXCHANGE_UP, bytes, end);
}

static int exchange_give_down(void *context, struct span bytes, bool end)
{
	return exchange_pass(context, EXCHANGE_DOWN, bytes, end);
}

/*
 * The answer is whole.  In HTTP/2 a box that reads nothing can have many answers on their way,
 * so the exchange stays until its bytes have gone.
 */
static void exchange_end(struct exchange *x)
{
	x->answer_ended = true;
	if (!x->intercept->box_h2 || x->queued[EXCHANGE_DOWN] == 0)
		exchange_finish(x);
}

static void exchange_on_sent(struct exchange *x, int way, size_t count)
{
	x->queued[way] -= count < x->queued[way] ? count : x->queued[way];
	exchange_consume(x, way, count);
}

/* --- the request ---------------------------------------------------------------------- */

/* Tells the user, once for a request, that the gate has blotted out something in it. */
static void exchange_tell_masked(struct exchange *x)
{
	struct rules_verdict v;

	if (x->told_masked || !x->put_in || !put_in_masked(x->put_in))
		return;
	x->told_masked = true;
	memset(&v, 0, sizeof(v));
	(void)snprintf(v.reason, sizeof(v.reason), MESSAGE_REASON_MASKED);
	refusal_note(x->intercept->gate, MESSAGE_EVENT_SECRET, exchange_what(x),
		     x->intercept->flow->port, &v);
	exchange_tell_secret(x, "leak", "", &v);
}

/* Sends a piece of the body to the origin.  False: the exchange is over. */
static bool exchange_send_up(struct exchange *x, struct span bytes, bool end)
{
	const struct put_in_sink sink = {exchange_give_up, x};
	int r = !x->put_in ? exchange_pass(x, EXCHANGE_UP, bytes, end)
		: x->raw   ? put_in_websocket(x->put_in, bytes, end, &sink)
			   : put_in_body(x->put_in, bytes, end, &sink);

	if (r == 0) {
		exchange_tell_masked(x);
		exchange_consume(x, EXCHANGE_UP, 0);
		return true;
	}
	if (r == -EPERM || r == -EPROTO) {
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, put_in_why(x->put_in));
	} else {
		/* The origin takes no more; its answer, if there is one, says why. */
		if (r == -EPIPE && x->answer_begun)
			return true;
		exchange_fail(x, "the request's body cannot be sent on");
	}
	return false;
}

static void exchange_send_trailers_up(struct exchange *x, struct http_message *m)
{
	x->trailers_follow = true;
	if (!exchange_send_up(x, (struct span){NULL, 0}, true))
		return;
	x->trailers_follow = false;
	if (exchange_trailers_ask(m))
		exchange_refuse_for(x, 403, MESSAGE_EVENT_REQUEST,
				    "it asks to be taken for another method or path, in a trailer");
	else if (x->put_in && put_in_trailers(x->put_in, m) < 0)
		exchange_refuse_for(x, 403, MESSAGE_EVENT_SECRET, put_in_why(x->put_in));
	else
		(void)side_send_trailers(x->out, m);
}

/* Keeps the head; false: out of memory. */
static bool exchange_keep(struct exchange *x, const struct http_message *m)
{
	if (x->kept == m)
		return true;
	x->kept = malloc(sizeof(*x->kept));
	if (x->kept) {
		memcpy(x->kept, m, sizeof(*m));
		x->kept_bytes = http_message_keep(x->kept, NULL);
	}
	return x->kept && x->kept_bytes;
}

/* From here on the gate takes the values that it puts in out of every answer. */
static int exchange_prepare_answer(struct exchange *x, struct http_message *m)
{
	struct intercept *i = x->intercept;
	struct gate *g = i->gate;
	const char *names = x->put_in ? put_in_names(x->put_in) : "";

	if (!g->book)
		return 0;
	if (!g->taken)
		g->taken = take_out_new();
	if (!g->taken)
		return -ENOMEM;
	if (names[0] != '\0') {
		size_t count = 0;
		const size_t *needs = put_in_needs(x->put_in, &count);
		int r = take_out_add(g->taken, x->put_in);

		if (r < 0)
			return r;
		for (size_t n = 0; n < count; n++)
			g->released[needs[n]] = true;
		refusal_use(i->gate, names, exchange_what(x), i->flow->port);
		exchange_tell_secret(x, put_in_signs(x->put_in) ? "sign" : "use", names, NULL);
	}
	/* Another request may put in a secret of this host while this answer is on its way. */
	bool plain =
		take_out_looks(g->taken) ||
		(i->flow->name && secrets_bound_host(g->plan->secrets.items, g->plan->secrets.count,
						     &i->flow->name->name));
	int r = plain ? take_out_ask_plain(m) : 0;

	exchange_secret_ask_whole(x, m);
	return r < 0 ? r : take_out_begin(g->taken, plain, &x->answer);
}

/* Sends the request to the origin, with all values put in; or lets it wait for a leg. */
static void exchange_forward(struct exchange *x, struct http_message *m)
{
	struct intercept *i = x->intercept;

	if (i->failure[0] != '\0') {
		exchange_fail(x, i->failure);
		return;
	}
	struct leg *leg = leg_open(i, x, &x->out);

	if (!leg && i->failure[0] != '\0') {
		exchange_fail(x, i->failure);
		return;
	}
	if (!leg) {
		x->state = EXCHANGE_WAITING;
		if (!exchange_keep(x, m))
			exchange_fail(x, "out of memory");
		return;
	}
	x->fresh = !leg->used;
	leg->used = true;
	x->state = EXCHANGE_PASSING;
	bool end = x->request_ended && x->early.len == 0 && !x->kept_trailers;
	int r = exchange_prepare_answer(x, m);

	if (r == 0)
		r = side_send_head(x->out, m, end);
	if (r < 0) {
		exchange_fail(x, r == -E2BIG ? "the request is too large" : "out of memory");
		return;
	}
	struct buf early = x->early;

	x->early = BUF_INIT(INTERCEPT_PENDING_MAX);
	bool last = x->request_ended && !x->kept_trailers;
	bool alive = end || early.len == 0 || exchange_send_up(x, buf_span(&early), last);

	buf_fini(&early);
	if (!alive)
		return;
	if (x->kept_trailers)
		exchange_send_trailers_up(x, x->kept_trailers);
	else
		exchange_forget_head(x);
}

/* --- what is to be done next ----------------------------------------------------------- */

static void exchange_act(struct exchange *x, struct http_message *m,
			 const struct exchange_step *step);

static void exchange_on_key(void *context, const struct key_ask_answer *answer)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;

	intercept_enter(i);
	const struct exchange_step step = exchange_secret_take(x, answer);

	exchange_act(x, x->kept, &step);
	intercept_leave(i);
}

static void exchange_on_recorded(void *context, bool recorded)
{
	struct exchange *x = context;
	struct intercept *i = x->intercept;

	intercept_enter(i);
	x->state = EXCHANGE_ASKING;
	const struct exchange_step step = recorded ? exchange_secret_next(x)
						   : exchange_refusal(403, MESSAGE_EVENT_SECRET,
								      "the record does not answer");

	exchange_act(x, x->kept, &step);
	intercept_leave(i);
}

/* Whether the record has on disk that this secret goes there.  If not, notes it, and
 * exchange_on_recorded is called later. */
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

static void exchange_ask_value(struct exchange *x, size_t secret)
{
	struct intercept *i = x->intercept;
	char text[ADDRESS_TEXT_SIZE];

	if (!exchange_is_recorded(x, secret))
		return;
	struct message_release m = {.index = secret,
				    .host = flow_host(i->flow, text),
				    .port = i->flow->port,
				    .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				    .method = x->method,
				    .path = x->path,
				    .sure = x->sure};

	key_ask_release(&i->gate->keys, &x->ask, &m, exchange_on_key, x);
}

static void exchange_ask_signature(struct exchange *x)
{
	struct intercept *i = x->intercept;
	char text[ADDRESS_TEXT_SIZE];
	struct message_sign m = {.host = flow_host(i->flow, text),
				 .port = i->flow->port,
				 .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				 .method = x->method,
				 .path = x->path,
				 .sure = x->sure};

	put_in_signing(x->put_in, &m);
	key_ask_sign(&i->gate->keys, &x->ask, &m, exchange_on_key, x);
}

/*
 * Gathers the whole body before the head goes, for a service that signs the body's hash.  At most
 * PUT_IN_GATHER_MAX; the box's side may give more at once.
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

static void exchange_begin_secrets(struct exchange *x)
{
	const struct exchange_step step = exchange_secret_next(x);

	exchange_act(x, x->kept, &step);
}

static void exchange_put_in(struct exchange *x)
{
	const struct exchange_step step = exchange_secret_put_in(x);

	exchange_act(x, x->kept, &step);
}

/* May free x: callers do not touch x after it. */
static void exchange_act(struct exchange *x, struct http_message *m,
			 const struct exchange_step *step)
{
	bool asks = step->act != EXCHANGE_GO && step->act != EXCHANGE_REFUSE &&
		    step->act != EXCHANGE_FAIL;

	if (asks) {
		x->state = EXCHANGE_ASKING;
		x->asked = step->act;
		if (!exchange_keep(x, m)) {
			exchange_fail(x, "out of memory");
			return;
		}
	}
	switch (step->act) {
	case EXCHANGE_GO:
		exchange_forward(x, m);
		return;
	case EXCHANGE_BEGIN:
		exchange_begin_secrets(x);
		return;
	case EXCHANGE_VALUE:
		exchange_ask_value(x, step->secret);
		return;
	case EXCHANGE_AGAIN:
		key_ask_again(&x->intercept->gate->keys, &x->ask, step->secret, x->former,
			      exchange_on_key, x);
		return;
	case EXCHANGE_SIGN:
		exchange_ask_signature(x);
		return;
	case EXCHANGE_GATHER:
		exchange_gather(x);
		return;
	case EXCHANGE_REFUSE:
		exchange_refuse(x, step->status, step->kind, &step->why);
		return;
	case EXCHANGE_FAIL:
		exchange_fail(x, step->why.reason);
		return;
	}
}

/* --- a leg that it waited for --------------------------------------------------------- */

void exchange_on_leg(struct intercept *i)
{
	struct exchange *next;

	for (struct exchange *x = i->exchanges; x; x = next) {
		next = x->next;
		if (x->state == EXCHANGE_WAITING)
			exchange_forward(x, x->kept);
	}
	/* The origin was reached before, so the next request tries again. */
	if (i->served && i->reached)
		i->failure[0] = '\0';
}

/* --- what the box's side tells -------------------------------------------------------- */

static void exchange_on_box_head(void *owner, struct side_stream *s, struct http_message *m,
				 bool end)
{
	struct leg *leg = owner;
	struct exchange *x = exchange_new(leg->intercept, s);

	if (!x) {
		side_reset(s, SIDE_INTERNAL);
		side_release(s);
		return;
	}
	x->request_ended = end;
	const struct exchange_step step = exchange_decide(x, m);

	exchange_act(x, m, &step);
}

static void exchange_on_box_body(void *owner, struct side_stream *s, struct span bytes, bool end)
{
	struct exchange *x = s->context;

	(void)owner;
	x->request_ended = end;
	x->passed[EXCHANGE_UP] += bytes.len;
	if (!x->gathering)
		x->taken[EXCHANGE_UP] += bytes.len;
	if (x->state == EXCHANGE_PASSING) {
		/* A WebSocket closes by its own frames.  When the box ends the connection, both
		 * ways end. */
		if (exchange_send_up(x, bytes, end) && x->raw && end)
			exchange_finish(x);
		return;
	}
	buf_put(&x->early, bytes.ptr, bytes.len);
	if (buf_error(&x->early)) {
		exchange_fail(x, "the request's body is too large to be held here");
		return;
	}
	if (x->gathering && bytes.len > 0)
		side_consumed(s, bytes.len);
	if (x->gathering && end)
		exchange_put_in(x);
}

static void exchange_on_box_trailers(void *owner, struct side_stream *s, struct http_message *m)
{
	struct exchange *x = s->context;

	(void)owner;
	x->request_ended = true;
	if (x->state == EXCHANGE_PASSING) {
		exchange_send_trailers_up(x, m);
		return;
	}
	x->kept_trailers = malloc(sizeof(*m));
	if (x->kept_trailers) {
		memcpy(x->kept_trailers, m, sizeof(*m));
		x->kept_trailer_bytes = http_message_keep(x->kept_trailers, NULL);
	}
	if (!x->kept_trailers || !x->kept_trailer_bytes)
		exchange_fail(x, "out of memory");
	else if (x->gathering)
		exchange_put_in(x);
}

static void exchange_on_box_reset(void *owner, struct side_stream *s, enum side_why why,
				  const char *words)
{
	struct exchange *x = s->context;

	(void)owner;
	(void)words;
	if (x->out)
		side_reset(x->out, why);
	exchange_finish(x);
}

static void exchange_on_box_sent(void *owner, struct side_stream *s, size_t count)
{
	struct exchange *x = s->context;

	(void)owner;
	exchange_on_sent(x, EXCHANGE_DOWN, count);
	if (x->answer_ended && x->queued[EXCHANGE_DOWN] == 0)
		exchange_finish(x);
}

static void exchange_on_bad(void *owner, struct side_stream *s, unsigned int status,
			    const char *words)
{
	struct leg *leg = owner;
	struct intercept *i = leg->intercept;
	char text[ADDRESS_TEXT_SIZE];

	if (!s) {
		struct rules_verdict v;

		memset(&v, 0, sizeof(v));
		(void)snprintf(v.reason, sizeof(v.reason), "%s", words);
		const struct tell_request r = {.host = flow_host(i->flow, text),
					       .port = i->flow->port,
					       .tls = i->tls,
					       .method = "",
					       .rule = ""};

		refusal_note(i->gate, MESSAGE_EVENT_REQUEST, r.host, r.port, &v);
		tell_request(i->gate, &r, &v);
		return;
	}
	struct exchange *x = s->context ? s->context : exchange_new(i, s);

	if (!x) {
		side_release(s);
		return;
	}
	if (!x->what)
		x->what = strdup(flow_host(i->flow, text));
	exchange_refuse_for(x, status, MESSAGE_EVENT_REQUEST, words);
}

static void exchange_on_box_free(void *owner)
{
	(void)owner;
}

const struct side_events exchange_box_events = {
	.on_head = exchange_on_box_head,
	.on_body = exchange_on_box_body,
	.on_trailers = exchange_on_box_trailers,
	.on_reset = exchange_on_box_reset,
	.on_sent = exchange_on_box_sent,
	.on_bad = exchange_on_bad,
	.on_free = exchange_on_box_free,
};

/* --- what the origin's side tells ----------------------------------------------------- */

static void exchange_take_out_failed(struct exchange *x, int r)
{
	if (r == -EPROTO && x->answer)
		exchange_refuse_for(x, 502, MESSAGE_EVENT_SECRET, take_out_why(x->answer));
	else if (x->answer_begun)
		exchange_cut(x, SIDE_INTERNAL);
	else
		exchange_fail(x, "the answer cannot be passed on");
}

/* The head of an answer, interim or final. */
static void exchange_on_out_head(void *owner, struct side_stream *s, struct http_message *m,
				 bool end)
{
	struct exchange *x = s->context;
	bool interim = http_message_is_interim(m);

	(void)owner;
	if (interim && ++x->interims > EXCHANGE_INTERIMS) {
		exchange_fail(x, "the origin sends interim answers without end");
		return;
	}
	/* Alt-Svc would send the program to QUIC, which the gate refuses. */
	http_message_remove(m, "alt-svc");
	int r = take_out_head(x->answer, m, !end && !interim);

	if (x->intercept->gate->book && x->intercept->flow->name)
		put_in_note_cookies(x->intercept->gate->book, &x->intercept->flow->name->name, m);
	if (r == 0)
		r = side_send_head(x->box, m, end);
	if (r < 0) {
		exchange_take_out_failed(x, r);
		return;
	}
	x->answer_begun = !interim;
	x->raw = m->status == 101;
	x->status = interim ? x->status : m->status;
	if (x->raw)
		exchange_tell(x, NULL);
	if (end)
		exchange_finish(x);
}

static void exchange_on_out_body(void *owner, struct side_stream *s, struct span bytes, bool end)
{
	struct exchange *x = s->context;
	const struct put_in_sink sink = {exchange_give_down, x};

	(void)owner;
	x->taken[EXCHANGE_DOWN] += bytes.len;
	x->passed[EXCHANGE_DOWN] += bytes.len;
	int r = !x->answer ? exchange_pass(x, EXCHANGE_DOWN, bytes, end)
		: x->raw   ? take_out_websocket(x->answer, bytes, end, &sink)
			   : take_out_body(x->answer, bytes, end, &sink);

	if (r < 0) {
		exchange_take_out_failed(x, r);
		return;
	}
	exchange_consume(x, EXCHANGE_DOWN, 0);
	if (end)
		exchange_end(x);
}

static void exchange_on_out_trailers(void *owner, struct side_stream *s, struct http_message *m)
{
	struct exchange *x = s->context;
	const struct put_in_sink sink = {exchange_give_down, x};
	int r = 0;

	(void)owner;
	x->trailers_follow = true;
	if (x->answer)
		r = take_out_body(x->answer, (struct span){NULL, 0}, true, &sink);
	x->trailers_follow = false;
	if (r == 0)
		r = take_out_head(x->answer, m, false);
	if (r == 0)
		r = side_send_trailers(x->box, m);
	if (r < 0)
		exchange_take_out_failed(x, r);
	else
		exchange_end(x);
}

static void exchange_on_out_reset(void *owner, struct side_stream *s, enum side_why why,
				  const char *words)
{
	struct exchange *x = s->context;
	char reason[160];

	(void)owner;
	/* The origin has answered and does not want the rest of the request. */
	if (x->answer_ended)
		return;
	/*
	 * The origin closed a connection that it had used before.  The program sees the same,
	 * and sends the request again if that is safe.  HTTP/2 says when it is.
	 */
	bool again = x->intercept->box_h2 ? why == SIDE_REFUSED : why == SIDE_CUT && !x->fresh;

	if (x->answer_begun || again) {
		exchange_cut(x, why);
		return;
	}
	(void)snprintf(reason, sizeof(reason), "the origin gave no answer: %s", words);
	exchange_fail(x, reason);
}

static void exchange_on_out_sent(void *owner, struct side_stream *s, size_t count)
{
	(void)owner;
	exchange_on_sent(s->context, EXCHANGE_UP, count);
}

static void exchange_on_out_bad(void *owner, struct side_stream *s, unsigned int status,
				const char *words)
{
	(void)owner;
	(void)s;
	(void)status;
	(void)words;
}

static void exchange_on_out_free(void *owner)
{
	struct leg *leg = owner;

	exchange_on_leg(leg->intercept);
}

const struct side_events exchange_out_events = {
	.on_head = exchange_on_out_head,
	.on_body = exchange_on_out_body,
	.on_trailers = exchange_on_out_trailers,
	.on_reset = exchange_on_out_reset,
	.on_sent = exchange_on_out_sent,
	.on_bad = exchange_on_out_bad,
	.on_free = exchange_on_out_free,
};
