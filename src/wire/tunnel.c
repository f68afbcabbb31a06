/* SPDX-License-Identifier: Apache-2.0 */
#include "tunnel.h"

#include "encode.h"
#include "socks5.h"

#include <strings.h>

enum {
	TUNNEL_STATUS_LINE, /* of CONNECT */
	TUNNEL_FIELDS,
	TUNNEL_METHOD, /* of SOCKS5 */
	TUNNEL_LOGGED_IN,
	TUNNEL_REPLY,
	TUNNEL_BOUND, /* the address in its reply, which says nothing to us */
};

enum { SOCKS5_NO_LOGIN = 0, SOCKS5_PASSWORD = 2, SOCKS5_LOGIN_VERSION = 1 };

/* --- what we say ---------------------------------------------------------------------- */

/* Host and port as CONNECT names them. */
static void tunnel_put_target(const struct tunnel *t, struct buf *out)
{
	char text[ADDRESS_TEXT_SIZE];

	if (!t->to.is_address) {
		buf_putf(out, "%s:%u", t->to.name.text, t->to.port);
		return;
	}
	address_format(&t->to.address, text);
	buf_putf(out, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text, t->to.port);
}

static void tunnel_put_connect(const struct tunnel *t, struct buf *out)
{
	buf_put_str(out, "CONNECT ");
	tunnel_put_target(t, out);
	buf_put_str(out, " HTTP/1.1\r\nHost: ");
	tunnel_put_target(t, out);
	buf_put_str(out, "\r\n");
	if (t->login.len > 0) {
		buf_put_str(out, "Proxy-Authorization: Basic ");
		encode_base64(out, t->login);
		buf_put_str(out, "\r\n");
	}
	buf_put_str(out, "\r\n");
}

static void tunnel_put_methods(const struct tunnel *t, struct buf *out)
{
	const uint8_t bytes[] = {SOCKS5_VERSION, t->login.len > 0 ? 2 : 1, SOCKS5_NO_LOGIN,
				 SOCKS5_PASSWORD};

	buf_put(out, bytes, t->login.len > 0 ? 4 : 3);
}

static void tunnel_put_login(const struct tunnel *t, struct buf *out)
{
	const uint8_t *colon = memchr(t->login.ptr, ':', t->login.len);
	size_t user = colon ? (size_t)(colon - t->login.ptr) : t->login.len;
	size_t password = colon ? t->login.len - user - 1 : 0;

	buf_put_char(out, SOCKS5_LOGIN_VERSION);
	buf_put_char(out, (char)user);
	buf_put(out, t->login.ptr, user);
	buf_put_char(out, (char)password);
	if (password > 0)
		buf_put(out, colon + 1, password);
}

static void tunnel_put_request(const struct tunnel *t, struct buf *out)
{
	size_t len = strlen(t->to.name.text);
	bool v4 = t->to.is_address && address_is_v4(&t->to.address);
	const uint8_t head[] = {SOCKS5_VERSION, 1, 0, !t->to.is_address ? 3 : v4 ? 1 : 4};
	const uint8_t port[] = {(uint8_t)(t->to.port >> 8), (uint8_t)t->to.port};

	buf_put(out, head, sizeof(head));
	if (!t->to.is_address) {
		buf_put_char(out, (char)len);
		buf_put(out, t->to.name.text, len);
	} else {
		buf_put(out, t->to.address.bytes + (v4 ? 12 : 0), v4 ? 4 : 16);
	}
	buf_put(out, port, sizeof(port));
}

void tunnel_begin(struct tunnel *t, enum tunnel_kind kind, const struct authority *to,
		  struct span login, struct buf *out)
{
	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->to = *to;
	t->login = login;
	t->step = kind == TUNNEL_CONNECT ? TUNNEL_STATUS_LINE : TUNNEL_METHOD;
	t->want = 2;
	if (kind == TUNNEL_CONNECT)
		tunnel_put_connect(t, out);
	else
		tunnel_put_methods(t, out);
}

bool tunnel_login_is_good(struct span login)
{
	const uint8_t *colon = login.len > 0 ? memchr(login.ptr, ':', login.len) : NULL;
	size_t user = colon ? (size_t)(colon - login.ptr) : login.len;

	for (size_t i = 0; i < login.len; i++)
		if (login.ptr[i] < ' ' || login.ptr[i] == 0x7f)
			return false;
	return user > 0 && user <= TUNNEL_PART_MAX &&
	       (!colon || login.len - user - 1 <= TUNNEL_PART_MAX);
}

/* --- what it says --------------------------------------------------------------------- */

static enum feed tunnel_fail(struct tunnel *t, enum tunnel_failure failure)
{
	t->failure = failure;
	return FEED_BAD;
}

/* "HTTP/1.1 200", and then nothing or a space and words. */
static enum feed tunnel_take_status(struct tunnel *t)
{
	const uint8_t *l = t->line;

	if (t->have < 12 || memcmp(l, "HTTP/1.", 7) != 0 || (l[7] != '0' && l[7] != '1') ||
	    l[8] != ' ' || (t->have > 12 && l[12] != ' '))
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	for (int i = 9; i < 12; i++) {
		if (l[i] < '0' || l[i] > '9')
			return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
		t->status = t->status * 10 + (l[i] - '0');
	}
	t->step = TUNNEL_FIELDS;
	return FEED_MORE;
}

static void tunnel_take_field(struct tunnel *t)
{
	static const char name[] = "proxy-authenticate:";
	size_t at = sizeof(name) - 1;

	if (t->have <= at || strncasecmp((const char *)t->line, name, at) != 0)
		return;
	while (at < t->have && t->line[at] == ' ')
		at++;
	bool basic = t->have - at >= 5 && strncasecmp((const char *)t->line + at, "basic", 5) == 0;

	t->basic = t->basic || basic;
	t->other = t->other || !basic;
}

static enum feed tunnel_take_head(struct tunnel *t)
{
	if (t->status >= 200 && t->status < 300)
		return FEED_DONE;
	switch (t->status) {
	case 407:
		return tunnel_fail(t, t->other && !t->basic ? TUNNEL_OTHER_LOGIN : TUNNEL_LOGIN);
	case 403:
	case 405:
		return tunnel_fail(t, TUNNEL_FORBIDDEN);
	case 502:
	case 503:
	case 504:
		return tunnel_fail(t, TUNNEL_UNREACHED);
	default:
		return tunnel_fail(t, TUNNEL_REFUSED);
	}
}

/* A line is whole, without its end. */
static enum feed tunnel_take_line(struct tunnel *t)
{
	enum feed said = FEED_MORE;

	if (t->have > 0 && t->have < TUNNEL_LINE_MAX && t->line[t->have - 1] == '\r')
		t->have--;
	if (t->step == TUNNEL_STATUS_LINE)
		said = tunnel_take_status(t);
	else if (t->have == 0)
		said = tunnel_take_head(t);
	else
		tunnel_take_field(t);
	t->have = 0;
	return said;
}

static enum feed tunnel_feed_connect(struct tunnel *t, uint8_t byte)
{
	if (byte == '\n')
		return tunnel_take_line(t);
	if (byte == '\0')
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	if (t->have < TUNNEL_LINE_MAX)
		t->line[t->have++] = byte;
	/* Do not wait for a peer that does not begin like HTTP/1. */
	if (t->step == TUNNEL_STATUS_LINE && t->have <= 7 &&
	    memcmp(t->line, "HTTP/1.", t->have) != 0)
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	return FEED_MORE;
}

static enum feed tunnel_next(struct tunnel *t, int step, size_t want)
{
	t->step = step;
	t->want = want;
	t->have = 0;
	return FEED_MORE;
}

static enum feed tunnel_take_method(struct tunnel *t, struct buf *out)
{
	if (t->line[0] != SOCKS5_VERSION)
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	if (t->line[1] == SOCKS5_PASSWORD && t->login.len > 0) {
		tunnel_put_login(t, out);
		return tunnel_next(t, TUNNEL_LOGGED_IN, 2);
	}
	if (t->line[1] != SOCKS5_NO_LOGIN)
		return tunnel_fail(t, t->login.len > 0 ? TUNNEL_OTHER_LOGIN : TUNNEL_LOGIN);
	tunnel_put_request(t, out);
	return tunnel_next(t, TUNNEL_REPLY, 5);
}

static enum feed tunnel_take_reply(struct tunnel *t)
{
	if (t->line[0] != SOCKS5_VERSION)
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	t->status = t->line[1];
	switch (t->status) {
	case SOCKS5_SUCCEEDED:
		break;
	case SOCKS5_NOT_ALLOWED:
		return tunnel_fail(t, TUNNEL_FORBIDDEN);
	case SOCKS5_FAILED:
	case SOCKS5_NETWORK_UNREACHABLE:
	case SOCKS5_HOST_UNREACHABLE:
	case SOCKS5_REFUSED:
		return tunnel_fail(t, TUNNEL_UNREACHED);
	default:
		return tunnel_fail(t, TUNNEL_REFUSED);
	}
	/* One byte of what follows is here already. */
	switch (t->line[3]) {
	case 1:
		return tunnel_next(t, TUNNEL_BOUND, 3 + 2);
	case 3:
		return tunnel_next(t, TUNNEL_BOUND, (size_t)t->line[4] + 2);
	case 4:
		return tunnel_next(t, TUNNEL_BOUND, 15 + 2);
	default:
		return tunnel_fail(t, TUNNEL_NOT_A_PROXY);
	}
}

static enum feed tunnel_feed_socks(struct tunnel *t, uint8_t byte, struct buf *out)
{
	if (t->have < TUNNEL_LINE_MAX)
		t->line[t->have] = byte;
	if (++t->have < t->want)
		return FEED_MORE;
	switch (t->step) {
	case TUNNEL_METHOD:
		return tunnel_take_method(t, out);
	case TUNNEL_LOGGED_IN:
		if (t->line[0] != SOCKS5_LOGIN_VERSION || t->line[1] != 0)
			return tunnel_fail(t, TUNNEL_LOGIN);
		tunnel_put_request(t, out);
		return tunnel_next(t, TUNNEL_REPLY, 5);
	case TUNNEL_REPLY:
		return tunnel_take_reply(t);
	default:
		return FEED_DONE;
	}
}

enum feed tunnel_feed(struct tunnel *t, struct span in, size_t *ret_used, struct buf *out)
{
	size_t used = 0;

	while (t->state == FEED_MORE && used < in.len) {
		uint8_t byte = in.ptr[used++];

		if (++t->total > TUNNEL_ANSWER_MAX)
			t->state = tunnel_fail(t, TUNNEL_NOT_A_PROXY);
		else if (t->kind == TUNNEL_CONNECT)
			t->state = tunnel_feed_connect(t, byte);
		else
			t->state = tunnel_feed_socks(t, byte, out);
	}
	*ret_used = used;
	return t->state;
}
