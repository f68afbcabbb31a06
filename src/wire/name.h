/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one form of a host name, for DNS questions, SNI, Host, CONNECT and SOCKS.
 * The rules compare the text that is parsed here, and the gate looks up and dials that
 * same text.
 *
 * A name is labels of 1 to 63 of [a-z0-9-] that neither begin nor end with '-',
 * joined by dots, 253 bytes at most.  Case is folded and one trailing dot dropped;
 * any other byte is refused, so there is no NUL, no escape, no second character
 * set to be read in another way further on.  Names of other alphabets come as
 * A-labels (xn--), which are plain labels here and never decoded.
 *
 * What a C library would take for an address is no name: see address.h.
 */
#ifndef BAWN_NAME_H
#define BAWN_NAME_H

#include "span.h"

enum {
	NAME_TEXT_MAX = 253,
	NAME_LABEL_MAX = 63,
};

/* All zeros is "no name": equal to nothing, matched by nothing. */
struct name {
	uint8_t len;
	char text[NAME_TEXT_MAX + 1]; /* canonical, ends in a NUL */
};

/*
 * 0; -EINVAL: not a host name; -EADDRNOTAVAIL: a literal address, or something
 * that ends in a number as only an address does (127.1, 0x7f.1, 2130706433, [::1]).
 */
int name_parse(struct span raw, struct name *ret) BAWN_MUST_USE;

bool name_equal(const struct name *a, const struct name *b);

/* "host", or "*." and a host: canonical, as name_parse_pattern writes it. */
struct name_pattern {
	uint8_t len;
	char text[NAME_TEXT_MAX + 1];
};

/* As name_parse.  A star stands only as the whole first label, before another one. */
int name_parse_pattern(struct span raw, struct name_pattern *ret) BAWN_MUST_USE;

/*
 * Whether a canonical pattern covers n.  "*.example.org" is one or more whole labels
 * in front of example.org, never example.org itself.
 */
bool name_matches(const struct name *n, const char *pattern);

#endif
