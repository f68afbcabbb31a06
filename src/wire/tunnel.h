/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the gate, as a client, asks a proxy for a way through: by CONNECT of HTTP/1.1, or by SOCKS5
 * (RFC 1928, with the login of RFC 1929).  The proxy gets the name, never a made-up address.
 *
 *	CONNECT	we	CONNECT host:port, Host, perhaps Proxy-Authorization: Basic
 *		it	a status line, fields, an empty line; 2xx is yes, and then the way begins
 *	SOCKS5	we	5, count, methods: 0, and 2 where there is a login
 *		it	5, method
 *		we	1, u8 user, u8 password			(method 2)
 *		it	1, 0					(method 2)
 *		we	5, 1, 0, kind, host, u16 port
 *		it	5, reply, 0, kind, address, u16 port
 *
 * The gate reads the proxy's answer byte by byte and keeps only the beginning of a line; it is at
 * most TUNNEL_ANSWER_MAX long.  It takes no byte after the answer: that is the origin's.
 */
#ifndef BAWN_TUNNEL_H
#define BAWN_TUNNEL_H

#include "authority.h"
#include "buf.h"
#include "feed.h"

enum tunnel_kind { TUNNEL_CONNECT, TUNNEL_SOCKS5, TUNNEL_KIND_COUNT };

enum {
	TUNNEL_ANSWER_MAX = 32 << 10,
	TUNNEL_LINE_MAX = 64,  /* of a line, its beginning */
	TUNNEL_PART_MAX = 255, /* of a login: its user, its password */
	TUNNEL_ASK_MAX = 2048, /* bytes that we say at most */
};

/* Why there is no way through. */
enum tunnel_failure {
	TUNNEL_FINE,
	TUNNEL_NOT_A_PROXY, /* what it says is no answer of this protocol */
	TUNNEL_LOGIN,       /* it wants a login, or does not take ours */
	TUNNEL_OTHER_LOGIN, /* it wants one of a kind that is not spoken here */
	TUNNEL_FORBIDDEN,   /* it does not let this host and port through */
	TUNNEL_UNREACHED,   /* it cannot reach the host */
	TUNNEL_REFUSED,     /* it says no, by `status` */
};

struct tunnel {
	enum tunnel_kind kind;
	struct authority to;
	struct span login; /* user:password; empty: none.  The owner's. */
	enum feed state;
	enum tunnel_failure failure; /* when BAD */
	unsigned int status;         /* of CONNECT; of SOCKS5 its reply */
	/* The reader's own. */
	int step;
	bool basic, other; /* kinds of login that it offered */
	size_t total, have, want;
	uint8_t line[TUNNEL_LINE_MAX];
};

/* `to` has a port.  Puts the first bytes to send into `out`. */
void tunnel_begin(struct tunnel *t, enum tunnel_kind kind, const struct authority *to,
		  struct span login, struct buf *out);

/* Takes *ret_used bytes of the proxy's answer.  Puts the next bytes to send into `out`. */
enum feed tunnel_feed(struct tunnel *t, struct span in, size_t *ret_used, struct buf *out);

/* Whether a login can be sent: a user and a password, neither too long, without control bytes. */
bool tunnel_login_is_good(struct span login);

#endif
