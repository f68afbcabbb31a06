/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that want a proxy: CONNECT at port 3128 and SOCKS5 at port
 * 1080 of the address that also answers DNS.  They name a host and a port; from there
 * on the gate decides, dials and checks as for any other connection.
 *
 * Also DNS over TCP and the session's CRL, two more small protocols that the gate answers
 * itself.
 */
#include "proxy.h"

#include "answer.h"
#include "clock.h"
#include "flow.h"
#include "relay.h"

#include <stdio.h>
#include <sys/socket.h>

static bool proxy_send(struct flow *f, const void *bytes, size_t len)
{
	/* Nothing was sent before on this connection, so the socket has room, or it is broken. */
	if (send(f->ends[FLOW_BOX].fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	flow_reset(f);
	return false;
}

/* What the program named takes the place of where it connected to. */
static void proxy_go_to(struct flow *f, const struct authority *target)
{
	f->port = target->port;
	if (target->is_address) {
		f->name = NULL;
		f->address = target->address;
	} else {
		/* A name that no rule allows gets no made-up address. */
		struct rules_question q = {.name = target->name, .port = target->port};
		struct rules_verdict v;

		rules_decide(f->gate->rules, &q, &v);
		if (v.action != PLAN_ACTION_ALLOW) {
			flow_refuse(f, target->name.text, &v);
			return;
		}
		f->name = made_up_get(&f->gate->made_up, &target->name);
		if (!f->name) {
			flow_reset(f);
			return;
		}
	}
	flow_decide(f);
}

void proxy_answer(struct flow *f, bool connected, int error)
{
	static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	static const char failed[] =
		"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	uint8_t reply[SOCKS5_REPLY_SIZE];
	enum socks5_reply code = connected               ? SOCKS5_SUCCEEDED
				 : error == EACCES       ? SOCKS5_NOT_ALLOWED
				 : error == ECONNREFUSED ? SOCKS5_REFUSED
				 : error == ENETUNREACH  ? SOCKS5_NETWORK_UNREACHABLE
							 : SOCKS5_HOST_UNREACHABLE;

	socks5_format_reply(code, reply);
	bool sent = f->socks    ? proxy_send(f, reply, sizeof(reply))
		    : connected ? proxy_send(f, established, sizeof(established) - 1)
				: proxy_send(f, failed, sizeof(failed) - 1);

	if (!sent)
		return;
	if (!connected) {
		flow_end(f);
		return;
	}
	free(f->check);
	f->check = NULL;
	relay_begin(f);
}

static void proxy_feed_connect(struct flow *f, struct span bytes)
{
	struct http_head *head = &f->check->head;

	buf_put(&f->first, bytes.ptr, bytes.len);
	switch (buf_error(&f->first) ? FEED_BAD : http_head_read(head, buf_span(&f->first))) {
	case FEED_MORE:
		return;
	case FEED_BAD:
		flow_reset(f);
		return;
	case FEED_DONE:
		break;
	}
	bool early = head->len != f->first.len;

	buf_clear(&f->first);
	/* Only CONNECT, and no bytes after the head before our answer. */
	if (head->form != HTTP_TARGET_AUTHORITY || early || head->authority.port == 0) {
		static const char not_here[] =
			"HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\n"
			"Content-Length: 0\r\nConnection: close\r\n\r\n";

		if (proxy_send(f, not_here, sizeof(not_here) - 1))
			flow_end(f);
		return;
	}
	proxy_go_to(f, &head->authority);
}

static void proxy_feed_socks(struct flow *f, struct span bytes)
{
	struct flow_check *c = f->check;
	size_t used = 0;

	if (c->greeting.state != FEED_DONE) {
		uint8_t method[SOCKS5_METHOD_SIZE];
		enum feed said = socks5_greeting_feed(&c->greeting, bytes, &used);

		if (said == FEED_MORE)
			return;
		bool good = said == FEED_DONE && c->greeting.plain;

		socks5_format_method(good, method);
		if (!proxy_send(f, method, sizeof(method)))
			return;
		if (!good) {
			flow_end(f);
			return;
		}
		bytes.ptr += used;
		bytes.len -= used;
	}
	if (bytes.len == 0)
		return;
	switch (socks5_request_feed(&c->request, bytes, &used)) {
	case FEED_MORE:
		return;
	case FEED_BAD: {
		uint8_t reply[SOCKS5_REPLY_SIZE];

		socks5_format_reply(c->request.reply, reply);
		if (proxy_send(f, reply, sizeof(reply)))
			flow_end(f);
		return;
	}
	case FEED_DONE:
		break;
	}
	if (used != bytes.len)
		flow_reset(f); /* it sent bytes before our answer */
	else
		proxy_go_to(f, &c->request.target);
}

static void proxy_feed_dns(struct flow *f, struct span bytes)
{
	struct dns_frame *frame = &f->check->question;

	while (bytes.len > 0) {
		uint8_t answer[2 + DNS_MESSAGE_MAX];
		size_t used = 0;
		enum feed said = dns_frame_feed(frame, bytes, &used);

		bytes.ptr += used;
		bytes.len -= used;
		if (said == FEED_MORE)
			return;
		bool good = said != FEED_BAD && answer_may_ask(f->gate, 0, clock_now());
		size_t len = good ? answer_question(f->gate, dns_frame_message(frame), answer + 2,
						    DNS_MESSAGE_MAX)
				  : 0;

		if (len == 0) {
			flow_reset(f);
			return;
		}
		dns_format_length(len, answer);
		if (!proxy_send(f, answer, len + 2))
			return;
		dns_frame_next(frame);
	}
}

/* One request; the only thing here is the CRL, for programs that insist on one. */
static void proxy_feed_crl(struct flow *f, struct span bytes)
{
	struct http_head *head = &f->check->head;
	_cleanup_buf_ struct buf answer = BUF_INIT(CHANNEL_BYTES_MAX);

	buf_put(&f->first, bytes.ptr, bytes.len);
	enum feed said =
		buf_error(&f->first) ? FEED_BAD : http_head_read(head, buf_span(&f->first));
	struct span asked = buf_span(&f->first);

	if (said == FEED_MORE)
		return;
	const struct buf *crl = &f->gate->keys.crl;
	bool get = said == FEED_DONE && http_head_is_method(head, asked, "GET");
	bool good = (get || (said == FEED_DONE && http_head_is_method(head, asked, "HEAD"))) &&
		    crl->len > 0 &&
		    span_equal(http_piece_of(asked, head->target), span_of_str(PLAN_CRL_PATH));

	buf_putf(&answer,
		 "HTTP/1.1 %s\r\nContent-Type: application/pkix-crl\r\nContent-Length: %zu\r\n"
		 "Connection: close\r\n\r\n",
		 good ? "200 OK" : "404 Not Found", good ? crl->len : 0);
	if (good && get)
		buf_put(&answer, crl->ptr, crl->len);
	if (proxy_send(f, answer.ptr, answer.len)) {
		(void)shutdown(f->ends[FLOW_BOX].fd, SHUT_WR);
		flow_end(f);
	}
}

static void proxy_receive(struct flow *f, void (*feed)(struct flow *f, struct span bytes))
{
	uint8_t bytes[4096];
	ssize_t n = recv(f->ends[FLOW_BOX].fd, bytes, sizeof(bytes), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		flow_end(f);
		return;
	}
	if (!f->check)
		f->check = calloc(1, sizeof(*f->check));
	if (!f->check)
		flow_reset(f);
	else
		feed(f, (struct span){bytes, (size_t)n});
}

void proxy_read(struct flow *f)
{
	proxy_receive(f, f->socks ? proxy_feed_socks : proxy_feed_connect);
}

void proxy_read_dns(struct flow *f)
{
	proxy_receive(f, proxy_feed_dns);
}

void proxy_read_crl(struct flow *f)
{
	proxy_receive(f, proxy_feed_crl);
}
