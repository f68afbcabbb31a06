/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an address: exactly what the C library takes, and back again.  And the
 * first bytes as an address of their own: v4 comes to the same verdict in every dress.
 */
#include "../lib/cut.h"
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the C library says of the same bytes; those it would stop at are none of ours. */
static bool libc_takes(struct span raw, struct address *ret)
{
	char text[ADDRESS_PARSE_MAX + 1];
	struct in_addr v4;

	if (raw.len == 0 || raw.len > ADDRESS_PARSE_MAX || memchr(raw.ptr, '\0', raw.len))
		return false;
	memcpy(text, raw.ptr, raw.len);
	text[raw.len] = '\0';
	if (strpbrk(text, " \t\n\v\f\r"))
		return false;
	if (inet_pton(AF_INET6, text, ret->bytes) == 1)
		return true;
	if (!inet_aton(text, &v4))
		return false;
	*ret = address_from_v4((const uint8_t *)&v4);
	return true;
}

static void check_text(struct span raw)
{
	char text[ADDRESS_TEXT_SIZE];
	struct address a, b;
	bool taken = address_parse(raw, 0, &a) == 0;

	CUT_MUST(taken == libc_takes(raw, &b));
	if (taken) {
		CUT_MUST(address_equal(&a, &b));
		CUT_MUST(address_parse(raw, ADDRESS_BRACKETS, &b) == 0 && address_equal(&a, &b));
		address_format(&a, text);
		CUT_MUST(address_parse(span_of_str(text), 0, &b) == 0 && address_equal(&a, &b));
	} else if (address_parse(raw, ADDRESS_BRACKETS, &a) == 0) {
		/* Only brackets made the difference. */
		CUT_MUST(raw.ptr[0] == '[' && raw.ptr[raw.len - 1] == ']');
		CUT_MUST(address_parse((struct span){raw.ptr + 1, raw.len - 2}, 0, &b) == 0 &&
			 address_equal(&a, &b));
	}
}

static void check_verdict(const struct address *a)
{
	const char *why = NULL;

	CUT_MUST(address_is_refused(a, &why) == (why != NULL));
	CUT_MUST(address_is_refused(a, NULL) == (why != NULL));
}

/* The same four bytes in every dress. */
static void check_dresses(const uint8_t v4[4])
{
	static const struct {
		uint8_t prefix[16];
		size_t at;
	} dresses[] = {
		{{0x00, 0x64, 0xff, 0x9b}, 12},
		{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 12},
		{{[8] = 0xff, [9] = 0xff}, 12},
		{{0x20, 0x02}, 2},
	};
	struct address plain = address_from_v4(v4);
	bool refused = address_is_refused(&plain, NULL);

	check_verdict(&plain);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(dresses); i++) {
		struct address a;

		memcpy(a.bytes, dresses[i].prefix, sizeof(a.bytes));
		memcpy(a.bytes + dresses[i].at, v4, 4);
		CUT_MUST(address_is_refused(&a, NULL) == refused);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct address a;

	check_text((struct span){data, size});
	if (size >= 4)
		check_dresses(data);
	if (size >= sizeof(a.bytes)) {
		memcpy(a.bytes, data, sizeof(a.bytes));
		check_verdict(&a);
	}
	return 0;
}
