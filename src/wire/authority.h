/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a client says it wants to go: a name or an address, and a port.  The form of
 * Host, of CONNECT, of an absolute URI and of a SOCKS request, once parsed.
 */
#ifndef BAWN_AUTHORITY_H
#define BAWN_AUTHORITY_H

#include "address.h"
#include "name.h"

struct authority {
	bool is_address;
	uint16_t port; /* 0: none was given */
	struct name name;
	struct address address;
};

/*
 * host[:port] or [v6][:port]: no user part, no path, no empty port, a port of 1 to
 * 65535 in plain decimal.  Any spelling of a v4 address is an address.  0 or -EINVAL.
 */
int authority_parse(struct span raw, struct authority *ret) BAWN_MUST_USE;

/* A host with neither port nor brackets, as SOCKS gives it.  0 or -EINVAL. */
int authority_parse_host(struct span raw, struct authority *ret) BAWN_MUST_USE;

bool authority_same_host(const struct authority *a, const struct authority *b);

#endif
