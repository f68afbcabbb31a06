/* SPDX-License-Identifier: Apache-2.0 */
#include "socks5.h"

enum {
	METHOD_NONE = 0,
	METHOD_UNACCEPTABLE = 255,
	COMMAND_CONNECT = 1,
	KIND_V4 = 1,
	KIND_NAME = 3,
	KIND_V6 = 4,
	HEAD_SIZE = 4,
	PORT_SIZE = 2,
};

static enum feed greeting_bad(struct socks5_greeting *g, const char *why)
{
	g->why = why;
	return FEED_BAD;
}

static enum feed on_greeting_byte(struct socks5_greeting *g, uint8_t byte)
{
	g->have++;
	if (g->have == 1) {
		g->speaks = byte == SOCKS5_VERSION;
		return g->speaks ? FEED_MORE
				 : greeting_bad(g, "the client does not speak version 5 of SOCKS");
	}
	if (g->have == 2) {
		g->count = byte;
		return byte > 0 ? FEED_MORE : greeting_bad(g, "the client offers no SOCKS method");
	}
	if (byte == METHOD_NONE)
		g->plain = true;
	if (g->have < 2 + g->count)
		return FEED_MORE;
	return g->plain ? FEED_DONE : greeting_bad(g, "the client insists on a SOCKS user name");
}

enum feed socks5_greeting_feed(struct socks5_greeting *g, struct span in, size_t *ret_used)
{
	size_t used = 0;

	while (g->state == FEED_MORE && used < in.len)
		g->state = on_greeting_byte(g, in.ptr[used++]);
	if (ret_used)
		*ret_used = used;
	return g->state;
}

static enum feed request_bad(struct socks5_request *q, enum socks5_reply reply, const char *why)
{
	q->reply = reply;
	q->why = why;
	return FEED_BAD;
}

/* The first four bytes, each as soon as it is there. */
static enum feed on_head_byte(struct socks5_request *q, uint8_t byte)
{
	switch (q->have) {
	case 1:
		if (byte != SOCKS5_VERSION)
			return request_bad(q, SOCKS5_FAILED,
					   "the SOCKS request is not of version 5");
		break;
	case 2:
		if (byte != COMMAND_CONNECT)
			return request_bad(q, SOCKS5_COMMAND_UNKNOWN,
					   "the SOCKS request is not CONNECT");
		break;
	case 3:
		if (byte != 0)
			return request_bad(q, SOCKS5_FAILED,
					   "the reserved byte of the SOCKS request is not zero");
		break;
	default:
		if (byte != KIND_V4 && byte != KIND_NAME && byte != KIND_V6)
			return request_bad(q, SOCKS5_KIND_UNKNOWN,
					   "the SOCKS request has an unknown kind of host");
	}
	return FEED_MORE;
}

/* The host's bytes, once its length is known. */
static struct span request_host(const struct socks5_request *q)
{
	const uint8_t *at = q->bytes + HEAD_SIZE;

	switch (q->bytes[HEAD_SIZE - 1]) {
	case KIND_V4:
		return (struct span){at, 4};
	case KIND_V6:
		return (struct span){at, 16};
	default:
		return (struct span){at + 1, at[0]};
	}
}

static int parse_host(const struct socks5_request *q, struct authority *ret)
{
	struct span host = request_host(q);

	if (q->bytes[HEAD_SIZE - 1] == KIND_NAME)
		return authority_parse_host(host, ret);
	*ret = (struct authority){.is_address = true};
	if (host.len == 4)
		ret->address = address_from_v4(host.ptr);
	else
		memcpy(ret->address.bytes, host.ptr, host.len);
	return 0;
}

static enum feed on_request(struct socks5_request *q)
{
	const uint8_t *port = q->bytes + q->have - PORT_SIZE;
	struct authority target;

	if (parse_host(q, &target) < 0)
		return request_bad(
			q, SOCKS5_FAILED,
			"the host of the SOCKS request is neither a name nor an address");
	target.port = (uint16_t)(port[0] << 8 | port[1]);
	if (target.port == 0)
		return request_bad(q, SOCKS5_FAILED, "the SOCKS request has no port");
	q->target = target;
	return FEED_DONE;
}

static enum feed on_request_byte(struct socks5_request *q, uint8_t byte)
{
	q->bytes[q->have++] = byte;
	if (q->have <= HEAD_SIZE)
		return on_head_byte(q, byte);
	struct span host = request_host(q);
	size_t size = (size_t)(host.ptr - q->bytes) + host.len + PORT_SIZE;

	return q->have < size ? FEED_MORE : on_request(q);
}

enum feed socks5_request_feed(struct socks5_request *q, struct span in, size_t *ret_used)
{
	size_t used = 0;

	while (q->state == FEED_MORE && used < in.len)
		q->state = on_request_byte(q, in.ptr[used++]);
	if (ret_used)
		*ret_used = used;
	return q->state;
}

void socks5_format_method(bool accepted, uint8_t ret[SOCKS5_METHOD_SIZE])
{
	ret[0] = SOCKS5_VERSION;
	ret[1] = accepted ? METHOD_NONE : METHOD_UNACCEPTABLE;
}

void socks5_format_reply(enum socks5_reply reply, uint8_t ret[SOCKS5_REPLY_SIZE])
{
	/* The bound address means nothing to a client of ours: 0.0.0.0:0. */
	memset(ret, 0, SOCKS5_REPLY_SIZE);
	ret[0] = SOCKS5_VERSION;
	ret[1] = (uint8_t)reply;
	ret[3] = KIND_V4;
}
