/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOCKS5 (RFC 1928) as far as we speak it: no authentication, CONNECT only.
 *
 *	client		5, count, that many methods		socks5_greeting
 *	we		5, 0 or 255				socks5_format_method
 *	client		5, 1, 0, kind, host, u16 port		socks5_request
 *	we		5, reply, 0, 1, 0.0.0.0, 0		socks5_format_reply
 *
 * The host is four bytes (kind 1), sixteen (kind 4), or u8 length and a name (kind 3).
 * name_parse reads a name like any other, so there is no NUL in it; an address
 * in the place of a name is that address.
 */
#ifndef BAWN_SOCKS5_H
#define BAWN_SOCKS5_H

#include "authority.h"
#include "feed.h"

enum socks5_reply {
	SOCKS5_SUCCEEDED = 0,
	SOCKS5_FAILED = 1,
	SOCKS5_NOT_ALLOWED = 2,
	SOCKS5_NETWORK_UNREACHABLE = 3,
	SOCKS5_HOST_UNREACHABLE = 4,
	SOCKS5_REFUSED = 5,
	SOCKS5_COMMAND_UNKNOWN = 7,
	SOCKS5_KIND_UNKNOWN = 8,
};

enum {
	SOCKS5_VERSION = 5,
	SOCKS5_METHOD_SIZE = 2,
	SOCKS5_REPLY_SIZE = 10,
};

struct socks5_greeting {
	enum feed state;
	const char *why; /* when BAD */
	bool speaks;     /* the client speaks SOCKS5, so it can read a refusal */
	bool plain;      /* it accepts no authentication */
	uint16_t have;
	uint8_t count;
};

struct socks5_request {
	struct authority target; /* when DONE, with its port */
	enum feed state;
	const char *why;         /* when BAD */
	enum socks5_reply reply; /* when BAD: what to tell the client */
	uint16_t have;
	uint8_t bytes[4 + 1 + 255 + 2];
};

enum feed socks5_greeting_feed(struct socks5_greeting *g, struct span in, size_t *ret_used);
enum feed socks5_request_feed(struct socks5_request *q, struct span in, size_t *ret_used);

void socks5_format_method(bool accepted, uint8_t ret[SOCKS5_METHOD_SIZE]);
void socks5_format_reply(enum socks5_reply reply, uint8_t ret[SOCKS5_REPLY_SIZE]);

#endif
