/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one form of an address: 16 bytes, v4 as v4-mapped v6 (::ffff:a.b.c.d).  Every
 * spelling becomes it before anything is decided, so 127.1, 0x7f000001 and
 * ::ffff:127.0.0.1 cannot be three different things.
 */
#ifndef BAWN_ADDRESS_H
#define BAWN_ADDRESS_H

#include "span.h"

struct address {
	uint8_t bytes[16];
};

enum {
	ADDRESS_PARSE_MAX = 253, /* bytes; glibc takes any number of leading zeros */
	ADDRESS_TEXT_SIZE = 46,  /* with its NUL */
};

enum address_flags {
	ADDRESS_BRACKETS = 1 << 0, /* v6 may stand in [brackets], and is taken without them too */
};

/*
 * Every spelling of v4 that glibc's inet_aton takes (1 to 4 parts, decimal, octal,
 * hex) and v6 as inet_pton does; nothing before, nothing after, no zone.  0 or -EINVAL.
 */
int address_parse(struct span raw, unsigned int flags, struct address *ret) BAWN_MUST_USE;

/* The usual spelling: dotted v4, RFC 5952 v6. */
void address_format(const struct address *a, char ret[ADDRESS_TEXT_SIZE]);

struct address address_from_v4(const uint8_t v4[4]);
bool address_is_v4(const struct address *a);

static inline bool address_equal(const struct address *a, const struct address *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/*
 * Whether a name must not lead there: the machine itself, its network, link-local and
 * metadata services, multicast, and what is reserved.  A v4 address inside a v6 one
 * (mapped, compatible, translated, NAT64, 6to4, Teredo) is checked too.
 * ret_why (NULL is allowed) gets a word or two, such as "loopback".
 *
 * The ranges of documentation (192.0.2.0/24, 2001:db8::/32 and so on) lead nowhere
 * and are not refused.
 */
bool address_is_refused(const struct address *a, const char **ret_why);

#endif
