/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a flow.  One scratch buffer serves all flows.  The gate writes what it
 * reads to the other end at once.  It keeps only what that end does not take, and then
 * reads no more.  So an idle connection costs its two sockets and
 * its struct, and a slow reader slows its own writer and nobody else.
 *
 * Bytes that the gate need not look at and that come in large pieces are spliced, which moves
 * pages instead of copying them: measured, half the gate's time for each byte.
 * One pipe serves all flows.  It is always empty between turns: the gate reads back what
 * the other end did not take, and keeps it like any other bytes.  A pipe
 * that cannot be emptied ends the gate, because it would mix two connections.
 */
#include "relay.h"

#include "clock.h"
#include "fd.h"
#include "flow.h"
#include "http_path.h"
#include "intercept.h"
#include "message_gate.h"
#include "proxy.h"
#include "refusal.h"
#include "tell.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	RELAY_SCRATCH = 256 << 10,
	RELAY_LARGE = 64 << 10, /* a piece of this size: the next one is spliced */
	RELAY_PIPE = 256 << 10,
	RELAY_SPLICE = 512 << 10, /* a piece of a pipe may be larger than a page */
	RELAY_LAST_MS = 1000,     /* of silence, after which earlier requests count as answered */
};

static uint8_t relay_scratch[RELAY_SCRATCH];
static int relay_pipe[2] = {-1, -1};

static int relay_on_box(void *context, uint32_t events);

void relay_init(void)
{
	if (pipe2(relay_pipe, O_NONBLOCK | O_CLOEXEC) == 0)
		(void)fcntl(relay_pipe[1], F_SETPIPE_SZ, RELAY_PIPE);
}

int relay_watch(struct flow *f, int end, uint32_t events)
{
	struct flow_end *e = &f->ends[end];
	bool there = e->handle.generation != 0;

	if (e->over || e->fd < 0 || (there && e->events == events))
		return 0;
	e->events = events;
	return there ? loop_set_events(&f->gate->loop, e->handle, events)
		     : loop_add(&f->gate->loop, e->fd, events,
				end == FLOW_BOX ? relay_on_box : relay_on_out, f, &e->handle);
}

static uint32_t relay_wanted(const struct flow *f, int end)
{
	const struct flow_end *mine = &f->ends[end];
	const struct flow_end *other = &f->ends[!end];
	uint32_t events = mine->pending.len > 0 ? EPOLLOUT : 0u;

	if (end == FLOW_BOX && f->check && f->check->upgrading)
		return events;
	if (!mine->eof && other->pending.len == 0)
		events |= EPOLLIN;
	return events;
}

/* Writes to an end; what it does not take now is kept.  0 or -errno. */
static int relay_write(struct flow *f, int end, struct span bytes)
{
	struct flow_end *to = &f->ends[end];
	ssize_t n = 0;

	if (to->pending.len == 0) {
		n = send(to->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n < 0)
			n = 0;
	}
	buf_put(&to->pending, bytes.ptr + n, bytes.len - (size_t)n);
	return buf_error(&to->pending);
}

/* When the origin has ended, sends our answer to the refused request. */
static int relay_answer_refused(struct flow *f)
{
	if (!f->ends[FLOW_OUT].eof || !f->check || !f->check->refused || f->first.len == 0)
		return 0;
	int r = relay_write(f, FLOW_BOX, buf_span(&f->first));

	buf_clear(&f->first);
	return r;
}

/* After each step: ends the flow if it is over, and sets the events that each end waits for. */
static void relay_update(struct flow *f)
{
	const struct flow_end *box = &f->ends[FLOW_BOX], *out = &f->ends[FLOW_OUT];

	if (relay_answer_refused(f) < 0) {
		flow_reset(f);
		return;
	}
	if (box->eof && out->eof && box->pending.len == 0 && out->pending.len == 0) {
		flow_end(f);
		return;
	}
	for (int end = 0; end < 2; end++) {
		struct flow_end *to = &f->ends[end];

		if (f->ends[!end].eof && to->pending.len == 0 && !to->shut) {
			(void)shutdown(to->fd, SHUT_WR);
			to->shut = true;
		}
	}
	for (int end = 0; end < 2; end++) {
		uint32_t wanted = relay_wanted(f, end);

		if (wanted == 0 && f->ends[end].handle.generation == 0)
			continue;
		if (relay_watch(f, end, wanted) < 0) {
			flow_reset(f);
			return;
		}
	}
}

static int relay_flush(struct flow_end *to)
{
	ssize_t n = send(to->fd, to->pending.ptr, to->pending.len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memmove(to->pending.ptr, to->pending.ptr + n, to->pending.len - (size_t)n);
	to->pending.len -= (size_t)n;
	if (to->pending.len == 0)
		buf_fini(&to->pending); /* memory goes back; the maximum stays */
	return 0;
}

/* --- what the bytes must show --------------------------------------------------------- */

/*
 * Earlier requests went out, and their answers come first.  So the gate closes its direction to the
 * origin, and sends its own answer when the origin has ended.
 */
static void relay_refuse_in_turn(struct flow *f, const char *host, const struct rules_verdict *v)
{
	char page[8192];

	refusal_note(f->gate, MESSAGE_EVENT_CONNECT, host, f->port, v);
	buf_clear(&f->first);
	buf_put(&f->first, page, refusal_page(v, host, f->port, page, sizeof(page)));
	f->check->refused = true;
	f->ends[FLOW_BOX].eof = true;
	flow_set_state(f, FLOW_RELAY, RELAY_LAST_MS);
	relay_update(f);
}

static void relay_refuse(struct flow *f, const char *host, const char *reason)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};

	(void)snprintf(v.reason, sizeof(v.reason), "%s", reason);
	if (f->http && f->check && f->check->passed)
		relay_refuse_in_turn(f, host, &v);
	else
		flow_refuse(f, host, &v);
}

/* From here on the bytes pass unseen. */
static void relay_stop_checking(struct flow *f)
{
	free(f->check);
	f->check = NULL;
	buf_fini(&f->first);
}

/* To the outside.  False: the flow has ended. */
static bool relay_send(struct flow *f, struct span bytes)
{
	int r = relay_write(f, FLOW_OUT, bytes);

	if (r < 0)
		flow_reset(f);
	return r == 0;
}

static bool relay_send_first(struct flow *f)
{
	if (f->first.len > 0 && !relay_send(f, buf_span(&f->first)))
		return false;
	buf_clear(&f->first);
	return true;
}

/* Bytes that may not go out yet.  False: the flow has ended. */
static bool relay_hold(struct flow *f, struct span bytes)
{
	char text[ADDRESS_TEXT_SIZE];

	buf_put(&f->first, bytes.ptr, bytes.len);
	if (buf_error(&f->first) == 0)
		return true;
	relay_refuse(f, flow_host(f, text), "the TLS handshake is too long");
	return false;
}

/* Its rules are about requests: opens it, and intercept.c takes over. */
static void relay_open(struct flow *f, const struct client_hello *hello)
{
	static const struct intercept_events events = {
		.on_over = flow_end, .on_deadline = flow_set_deadline, .on_bytes = flow_spend};

	flow_set_state(f, FLOW_OPEN, 0);
	if (intercept_begin(f, hello, &events) < 0)
		flow_reset(f);
}

/* Handles a ClientHello and all bytes after it.  False as below. */
static bool relay_take_hello(struct flow *f, struct span bytes, size_t used)
{
	struct client_start *start = &f->check->start;
	char text[ADDRESS_TEXT_SIZE];
	struct rules_verdict v;

	if (!relay_name_fits(f, &start->hello.name, &v)) {
		flow_refuse(f, start->hello.name.len ? start->hello.name.text : flow_host(f, text),
			    &v);
		return false;
	}
	if (!f->name && start->hello.name.len > 0 && !relay_keep_name(f, &start->hello.name)) {
		flow_reset(f);
		return false;
	}
	if (f->open) {
		struct client_hello known = start->hello;

		if (relay_hold(f, bytes))
			relay_open(f, &known);
		return false;
	}
	f->check->passed = true;
	return relay_send_first(f) && relay_send(f, (struct span){bytes.ptr, used});
}

/*
 * TLS: checks the first bytes.  False: the flow has ended, or intercept.c has it now.
 */
static bool relay_check_tls(struct flow *f, struct span bytes)
{
	struct client_start *start = &f->check->start;
	char text[ADDRESS_TEXT_SIZE];

	while (bytes.len > 0 && start->phase != CLIENT_START_OVER) {
		size_t used = 0;
		bool alive = false;

		switch (client_start_feed(start, bytes, &used)) {
		case CLIENT_START_HOLD:
			alive = relay_hold(f, (struct span){bytes.ptr, used});
			break;
		case CLIENT_START_WHOLE:
			alive = relay_take_hello(f, bytes, used);
			break;
		case CLIENT_START_PASS:
			alive = relay_send(f, (struct span){bytes.ptr, used});
			break;
		case CLIENT_START_BAD:
			relay_refuse(f,
				     start->phase == CLIENT_START_AGAIN && start->hello.name.len
					     ? start->hello.name.text
					     : flow_host(f, text),
				     start->why);
			break;
		}
		if (!alive)
			return false;
		bytes.ptr += used;
		bytes.len -= used;
	}
	if (start->phase == CLIENT_START_OVER)
		relay_stop_checking(f);
	return bytes.len == 0 || relay_send(f, bytes);
}

/* The server's first bytes say whether there will be a second ClientHello. */
static void relay_see_answer(struct flow *f, struct span bytes)
{
	client_start_answer(&f->check->start, bytes);
	if (f->check->start.phase == CLIENT_START_OVER)
		relay_stop_checking(f);
}

/* The origin decides whether there is a WebSocket.  Until then the gate does not read from the
 * box. */
static void relay_see_reply(struct flow *f, struct span bytes)
{
	static const char switching[] = "HTTP/1.1 101";
	struct flow_check *c = f->check;

	for (size_t i = 0; i < bytes.len && c->reply_len < sizeof(c->reply); i++)
		c->reply[c->reply_len++] = (char)bytes.ptr[i];
	if (c->reply_len < sizeof(c->reply))
		return;
	if (memcmp(c->reply, switching, sizeof(c->reply)) == 0)
		relay_stop_checking(f);
	else
		c->upgrading = f->websocket = false;
}

/* --- what the record is told of plain requests ---------------------------------------- */

/* status 0: we have not seen the beginning of its answer. */
void relay_tell_request(struct flow *f, unsigned int status)
{
	struct flow_request *asked = f->request;
	char text[ADDRESS_TEXT_SIZE];

	if (!asked)
		return;
	const struct tell_request r = {
		.host = flow_host(f, text),
		.port = f->port,
		.method = asked->method,
		.path = {asked->path, asked->path_len},
		.status = status,
		.more = {.has = 1u << FOLD_SENT | 1u << FOLD_TIME,
			 .sums = {[FOLD_SENT] = asked->sent,
				  [FOLD_TIME] = (uint64_t)(clock_now() - asked->at)}},
		.rule = f->rule ? f->rule->origin : ""};

	tell_request(f->gate, &r, NULL);
	free(asked);
	f->request = NULL;
}

/* Keeps what the note needs of the head that is about to go.  -ENOMEM. */
static int relay_keep_request(struct flow *f)
{
	static uint8_t bytes[HTTP_PATH_MAX];
	struct span head = buf_span(&f->first);
	struct span method = http_piece_of(head, f->check->head.method);
	struct span target = http_piece_of(head, f->check->head.target);

	if (!f->gate->account)
		return 0;
	/* First send the note of the request before, which has no answer yet. */
	relay_tell_request(f, 0);
	struct span path = tell_path(target, bytes);

	f->request = malloc(sizeof(*f->request) + path.len);
	if (!f->request)
		return -ENOMEM;
	*f->request = (struct flow_request){.at = clock_now(), .path_len = path.len};
	(void)snprintf(f->request->method, sizeof(f->request->method), "%.*s", (int)method.len,
		       (const char *)method.ptr);
	memcpy(f->request->path, path.ptr, path.len);
	return 0;
}

/*
 * Reads the status from the first bytes of an answer.  The gate does not parse the rest.  So of
 * several requests at once only the last gets a status, and their bytes count for the connection
 * only.
 */
static void relay_see_status(struct flow *f, struct span bytes)
{
	static const char version[] = "HTTP/1.";
	unsigned int status = 0;

	if (bytes.len >= 12 && memcmp(bytes.ptr, version, sizeof(version) - 1) == 0)
		for (size_t i = 9; i < 12 && bytes.ptr[i] >= '0' && bytes.ptr[i] <= '9'; i++)
			status = status * 10 + bytes.ptr[i] - '0';
	/* The real answer is still to come. */
	if (status >= 100 && status < 200 && status != 101)
		return;
	relay_tell_request(f, status >= 100 ? status : 0);
}

/* A whole head is there: checks that it names the host of the flow, and sends it. */
static bool relay_pass_head(struct flow *f)
{
	struct flow_check *c = f->check;
	char text[ADDRESS_TEXT_SIZE];

	if (!relay_same_host(f, &c->head)) {
		const char *other = c->head.authority.is_address ? flow_host(f, text)
								 : c->head.authority.name.text;

		relay_refuse(f, other, "the request is for another host than was asked for");
		return false;
	}
	if (c->head.form == HTTP_TARGET_AUTHORITY) {
		relay_refuse(f, flow_host(f, text),
			     "what goes through a tunnel (CONNECT) cannot be checked");
		return false;
	}
	if (relay_says_websocket(&c->head, buf_span(&f->first)) &&
	    !relay_may_websocket(f, http_piece_of(buf_span(&f->first), c->head.method))) {
		relay_refuse(f, flow_host(f, text), RELAY_NO_WEBSOCKET);
		return false;
	}
	bool websocket = relay_wants_websocket(&c->head, buf_span(&f->first));

	if (relay_keep_request(f) < 0) {
		flow_reset(f);
		return false;
	}
	if (!relay_send_first(f))
		return false;
	c->upgrading = f->websocket = websocket && !c->passed;
	c->passed = true;
	c->body = http_body_of(&c->head);
	c->in_body = c->body.state == FEED_MORE;
	memset(&c->head, 0, sizeof(c->head));
	return true;
}

/* Takes bytes up to the end of a head; those behind it are left.  False: the flow has ended. */
static bool relay_take_head(struct flow *f, struct span *bytes)
{
	struct http_head *head = &f->check->head;
	char text[ADDRESS_TEXT_SIZE];

	/* A body may have come with it: look at no more bytes than a head can have. */
	size_t room = FLOW_FIRST_MAX - f->first.len;
	size_t took = bytes->len < room ? bytes->len : room;

	buf_put(&f->first, bytes->ptr, took);
	enum feed said =
		buf_error(&f->first) ? FEED_BAD : http_head_read(head, buf_span(&f->first));

	if (said == FEED_BAD || (said == FEED_MORE && took < bytes->len)) {
		relay_refuse(f, flow_host(f, text), head->why ? head->why : "the head is too long");
		return false;
	}
	size_t behind = said == FEED_DONE ? f->first.len - head->len : 0;

	bytes->ptr += took - behind;
	bytes->len -= took - behind;
	f->first.len -= behind;
	return said == FEED_MORE || relay_pass_head(f);
}

static bool relay_take_body(struct flow *f, struct span *bytes)
{
	struct flow_check *c = f->check;
	char text[ADDRESS_TEXT_SIZE];
	size_t used = 0;
	enum feed said = http_body_feed(&c->body, *bytes, &used);

	if (said == FEED_BAD) {
		relay_refuse(f, flow_host(f, text), c->body.why);
		return false;
	}
	if (f->request)
		f->request->sent += used;
	if (!relay_send(f, (struct span){bytes->ptr, used}))
		return false;
	c->in_body = said == FEED_MORE;
	bytes->ptr += used;
	bytes->len -= used;
	return true;
}

/* Plain HTTP: checks the head of every request, and passes its body unread. */
static bool relay_check_http(struct flow *f, struct span bytes)
{
	while (bytes.len > 0 && f->check) {
		if (f->check->upgrading) {
			char text[ADDRESS_TEXT_SIZE];

			relay_refuse(f, flow_host(f, text),
				     "it goes on before its upgrade was answered");
			return false;
		}
		if (!(f->check->in_body ? relay_take_body(f, &bytes) : relay_take_head(f, &bytes)))
			return false;
	}
	return bytes.len == 0 || relay_send(f, bytes);
}

/* The scheme that the first bytes look like.  A method begins with a letter, and so does ssh. */
static unsigned int relay_scheme(struct span bytes)
{
	uint8_t first = bytes.ptr[0] | 0x20;

	if (bytes.ptr[0] == 0x16)
		return PLAN_SCHEME_TLS;
	if (first < 'a' || first > 'z' || (bytes.len >= 4 && memcmp(bytes.ptr, "SSH-", 4) == 0))
		return PLAN_SCHEME_TCP;
	return PLAN_SCHEME_HTTP;
}

/* Refuses the scheme in the words of the rules, with the line that would allow it. */
static void relay_refuse_scheme(struct flow *f, unsigned int scheme)
{
	struct rules_question q = {.port = f->port, .scheme = scheme};
	struct rules_verdict v;
	char text[ADDRESS_TEXT_SIZE];

	if (f->name)
		q.name = f->name->name;
	q.literal = !f->name;
	q.address = f->address;
	rules_decide(f->gate->rules, &q, &v);
	f->http = scheme == PLAN_SCHEME_HTTP;
	if (scheme != PLAN_SCHEME_TCP) {
		flow_refuse(f, flow_host(f, text), &v);
		return;
	}
	/* Such a program reads neither a page nor an alert. */
	refusal_note(f->gate, MESSAGE_EVENT_CONNECT, flow_host(f, text), f->port, &v);
	flow_reset(f);
}

/* The first byte tells TLS from HTTP where a rule allows both. */
static bool relay_check(struct flow *f, struct span bytes)
{
	if (f->state == FLOW_CHECK) {
		bool tls = bytes.ptr[0] == 0x16;

		f->http = !tls;
		if (!(f->schemes & 1u << (tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP))) {
			relay_refuse_scheme(f, relay_scheme(bytes));
			return false;
		}
		/* Where there are secrets, plain requests are looked through for placeholders too.
		 */
		if (f->http && (f->open || f->gate->plan->secrets.count > 0)) {
			buf_put(&f->first, bytes.ptr, bytes.len);
			relay_open(f, NULL);
			return false;
		}
		flow_set_state(f, FLOW_RELAY, GATE_CHECK_MS);
	}
	bool alive = f->http ? relay_check_http(f, bytes) : relay_check_tls(f, bytes);

	/* It has passed CHECK in time: no deadline from here on. */
	if (alive && (!f->check || f->check->passed))
		flow_set_state(f, FLOW_RELAY, 0);
	return alive;
}

/* --- both ways ------------------------------------------------------------------------ */

/* Empties the pipe into what is pending for an end. */
static int relay_keep_pipe(struct flow *f, int end, size_t left)
{
	while (left > 0) {
		ssize_t n = read(relay_pipe[0], relay_scratch,
				 left < RELAY_SCRATCH ? left : RELAY_SCRATCH);

		if (n <= 0)
			_exit(1);
		buf_put(&f->ends[end].pending, relay_scratch, (size_t)n);
		left -= (size_t)n;
	}
	return buf_error(&f->ends[end].pending);
}

/* How many of an end's next bytes nobody looks at. */
static size_t relay_unseen(const struct flow *f, int end)
{
	const struct flow_check *c = f->check;

	if (end == FLOW_OUT && f->request)
		return 0;
	if (!c)
		return RELAY_SPLICE;
	if (c->refused || c->upgrading || c->start.phase == CLIENT_START_ANSWER)
		return 0;
	if (end == FLOW_OUT)
		return RELAY_SPLICE;
	uint64_t body = c->in_body ? http_body_unseen(&c->body) : 0;

	return body < RELAY_SPLICE ? (size_t)body : RELAY_SPLICE;
}

/* As relay_turn, for so many bytes that nobody looks at. */
static int relay_turn_spliced(struct flow *f, int end, size_t count)
{
	struct flow_end *from = &f->ends[end], *to = &f->ends[!end];
	ssize_t n = splice(from->fd, NULL, relay_pipe[1], NULL, count, SPLICE_F_NONBLOCK);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		flow_reset(f);
		return -1;
	}
	from->large = n >= RELAY_LARGE;
	if (n == 0) {
		from->eof = true;
		return 0;
	}
	(void)flow_spend(f->gate, (size_t)n); /* cannot fail: gate_room was asked */
	f->passed[end] += (uint64_t)n;
	if (end == FLOW_BOX && f->check)
		http_body_skip(&f->check->body, (uint64_t)n);
	if (end == FLOW_BOX && f->request)
		f->request->sent += (uint64_t)n;
	ssize_t sent = splice(relay_pipe[0], NULL, to->fd, NULL, (size_t)n, SPLICE_F_NONBLOCK);
	int error = sent < 0 && errno != EAGAIN ? -errno : 0;
	int r = relay_keep_pipe(f, !end, (size_t)(sent < 0 ? n : n - sent));

	if (error < 0 || r < 0) {
		flow_reset(f);
		return -1;
	}
	return 0;
}

/* Reads once from an end and passes it on; then others have their turn.  -1: the flow has ended. */
static int relay_turn(struct flow *f, int end)
{
	struct flow_end *from = &f->ends[end];
	size_t unseen = from->large ? gate_room(f->gate, relay_unseen(f, end)) : 0;

	if (unseen >= RELAY_LARGE)
		return relay_turn_spliced(f, end, unseen);
	ssize_t n = recv(from->fd, relay_scratch, gate_room(f->gate, sizeof(relay_scratch)), 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		flow_reset(f);
		return -1;
	}
	if (n == 0) {
		from->eof = true;
		return 0;
	}
	f->passed[end] += (uint64_t)n;
	if (!flow_spend(f->gate, (size_t)n))
		return -1;
	struct span bytes = {relay_scratch, (size_t)n};

	from->large = n >= RELAY_LARGE && relay_pipe[0] >= 0;
	if (end == FLOW_OUT && f->check && f->check->start.phase == CLIENT_START_ANSWER)
		relay_see_answer(f, bytes);
	if (end == FLOW_BOX && f->check) {
		if (!relay_check(f, bytes))
			return -1;
	} else if (relay_write(f, !end, bytes) < 0) {
		flow_reset(f);
		return -1;
	}
	if (end == FLOW_OUT && f->request)
		relay_see_status(f, bytes);
	if (end == FLOW_OUT && f->check && f->check->refused)
		flow_set_state(f, FLOW_RELAY, RELAY_LAST_MS);
	else if (end == FLOW_OUT && f->check && f->check->upgrading)
		relay_see_reply(f, bytes);
	return 0;
}

static int relay_on_end(struct flow *f, int end, uint32_t events)
{
	struct flow_end *mine = &f->ends[end];

	if ((events & EPOLLOUT) && mine->pending.len > 0 && relay_flush(mine) < 0) {
		flow_reset(f);
		return 0;
	}
	/* We have read its end already.  epoll always reports that both ways are over. */
	if (mine->eof && (events & (EPOLLERR | EPOLLHUP))) {
		if ((events & EPOLLERR) || !mine->shut) {
			flow_reset(f);
			return 0;
		}
		loop_remove(&f->gate->loop, &mine->handle);
		mine->over = true;
	}
	/* It has ended, and its last bytes have no room yet.  epoll would report that again and
	 * again, so watch no events until there is room. */
	if (!mine->eof && f->ends[!end].pending.len > 0) {
		if (events & (EPOLLHUP | EPOLLERR))
			loop_remove(&f->gate->loop, &mine->handle);
	} else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !mine->eof &&
		   relay_turn(f, end) < 0) {
		return 0;
	}
	relay_update(f);
	return 0;
}

static int relay_on_box(void *context, uint32_t events)
{
	struct flow *f = context;

	switch (f->state) {
	case FLOW_PROXY:
		proxy_read(f);
		return 0;
	case FLOW_DNS:
		proxy_read_dns(f);
		return 0;
	case FLOW_CRL:
		proxy_read_crl(f);
		return 0;
	case FLOW_CHECK:
	case FLOW_RELAY:
		return relay_on_end(f, FLOW_BOX, events);
	case FLOW_DECIDE:
	case FLOW_RECORD:
	case FLOW_LOOKUP:
	case FLOW_DIAL:
	case FLOW_TUNNEL:
	case FLOW_OPEN:
		break;
	}
	/* We do not read from the box yet, so this is its end: nobody waits for the answer. */
	flow_reset(f);
	return 0;
}

int relay_on_out(void *context, uint32_t events)
{
	struct flow *f = context;

	if (f->state != FLOW_TUNNEL)
		return relay_on_end(f, FLOW_OUT, events);
	flow_on_tunnel(f);
	return 0;
}

void relay_late(struct flow *f)
{
	if (f->intercept) {
		intercept_late(f->intercept);
		return;
	}
	if (f->state == FLOW_LOOKUP || f->state == FLOW_DIAL)
		tell_not_connected(f, "it took too long");
	if (!f->check || !f->check->refused || f->ends[FLOW_OUT].eof) {
		flow_reset(f);
		return;
	}
	f->ends[FLOW_OUT].eof = true;
	relay_update(f);
}

void relay_begin(struct flow *f)
{
	if (f->schemes & 1u << PLAN_SCHEME_TCP) {
		flow_set_state(f, FLOW_RELAY, 0);
	} else {
		f->check = calloc(1, sizeof(*f->check));
		if (!f->check) {
			flow_reset(f);
			return;
		}
		flow_set_state(f, FLOW_CHECK, GATE_CHECK_MS);
	}
	relay_update(f);
}
