/* SPDX-License-Identifier: Apache-2.0 */
/* A port of the box that is reached from outside, as a person writes it: "3000", "3000:8080",
 * "3000:192.0.2.1:8080", "3000:[2001:db8::1]:8080". */
#ifndef BAWN_PUBLISHED_H
#define BAWN_PUBLISHED_H

#include "buf.h"
#include "error.h"

#include <netinet/in.h>

struct published {
	uint16_t inside;
	uint16_t outside;        /* 0: the same, or where that is taken any other */
	struct in6_addr address; /* v4 as v4-mapped; all zero and not everywhere: 127.0.0.1 */
	bool everywhere;         /* the address was said, and is no loopback address */
};

int published_parse(const char *text, struct published *ret, struct error *e);

/* Where it listens: "127.0.0.1:3000". */
void published_words(struct buf *into, const struct published *p);

#endif
