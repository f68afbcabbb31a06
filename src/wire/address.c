/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* Copies s to text; false: it does not fit, or has other bytes than these. */
static bool copy_text(struct span s, const char *allowed, char *text, size_t size)
{
	if (s.len == 0 || s.len >= size)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '\0' || !strchr(allowed, s.ptr[i]))
			return false;
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	return true;
}

static int parse_v4(struct span s, struct address *ret)
{
	char text[ADDRESS_PARSE_MAX + 1];
	struct in_addr v4;

	/* inet_aton stops at white space and ignores what follows, so refuse white space here. */
	if (!copy_text(s, "0123456789abcdefABCDEFxX.", text, sizeof(text)) ||
	    inet_aton(text, &v4) == 0)
		return -EINVAL;
	*ret = address_from_v4((const uint8_t *)&v4);
	return 0;
}

static int parse_v6(struct span s, struct address *ret)
{
	char text[ADDRESS_TEXT_SIZE];

	if (!copy_text(s, "0123456789abcdefABCDEF:.", text, sizeof(text)) ||
	    inet_pton(AF_INET6, text, ret->bytes) != 1)
		return -EINVAL;
	return 0;
}

int address_parse(struct span raw, unsigned int flags, struct address *ret)
{
	struct address a;
	bool bracketed = (flags & ADDRESS_BRACKETS) && raw.len >= 2 && raw.ptr[0] == '[' &&
			 raw.ptr[raw.len - 1] == ']';
	int r = bracketed ? parse_v6((struct span){raw.ptr + 1, raw.len - 2}, &a)
		: raw.len > 0 && memchr(raw.ptr, ':', raw.len) ? parse_v6(raw, &a)
							       : parse_v4(raw, &a);

	if (r == 0)
		*ret = a;
	return r;
}

struct address address_from_v4(const uint8_t v4[4])
{
	struct address a = {{[10] = 0xff, [11] = 0xff}};

	memcpy(a.bytes + 12, v4, 4);
	return a;
}

bool address_is_v4(const struct address *a)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

void address_format(const struct address *a, char ret[ADDRESS_TEXT_SIZE])
{
	bool v4 = address_is_v4(a);

	/* Cannot fail: the families exist and the size is that of the longest. */
	(void)inet_ntop(v4 ? AF_INET : AF_INET6, a->bytes + (v4 ? 12 : 0), ret, ADDRESS_TEXT_SIZE);
}

#define V4(a, b, c, d)                                                                   \
	{                                                                                \
		[10] = 0xff, [11] = 0xff, [12] = (a), [13] = (b), [14] = (c), [15] = (d) \
	}

struct range {
	uint8_t prefix[16];
	uint8_t bits;
	const char *why;
};

/* Narrower ranges first: their words say more. */
static const struct range refused[] = {
	{V4(169, 254, 169, 254), 128, "metadata"},
	{V4(169, 254, 170, 2), 128, "metadata"}, /* of a container's credentials */
	{V4(100, 100, 100, 200), 128, "metadata"},
	{V4(192, 0, 0, 192), 128, "metadata"},
	{V4(168, 63, 129, 16), 128, "metadata"}, /* the one with a public address */
	{{0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54}, 128, "metadata"},
	{{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128, "metadata"},
	{V4(0, 0, 0, 0), 96 + 8, "this machine"},
	{V4(10, 0, 0, 0), 96 + 8, "private"},
	{V4(100, 64, 0, 0), 96 + 10, "carrier network"},
	{V4(127, 0, 0, 0), 96 + 8, "loopback"},
	{V4(169, 254, 0, 0), 96 + 16, "link-local"},
	{V4(172, 16, 0, 0), 96 + 12, "private"},
	{V4(192, 0, 0, 0), 96 + 24, "reserved"},
	{V4(192, 168, 0, 0), 96 + 16, "private"},
	{V4(198, 18, 0, 0), 96 + 15, "benchmark network"},
	{V4(224, 0, 0, 0), 96 + 4, "multicast"},
	{V4(255, 255, 255, 255), 128, "broadcast"},
	{V4(240, 0, 0, 0), 96 + 4, "reserved"},
	{{0}, 128, "this machine"},
	{{[15] = 1}, 128, "loopback"},
	{{0xfc}, 7, "private"},
	{{0xfe, 0x80}, 10, "link-local"},
	{{0xfe, 0xc0}, 10, "private"}, /* site-local, of old */
	{{0xff}, 8, "multicast"},
};

/* The place of a v4 address inside a v6 one. */
struct embedding {
	uint8_t prefix[16];
	uint8_t bits;
	uint8_t at[4];
	uint8_t flip; /* xored over each byte */
	bool only;    /* no later row applies */
};

static const struct embedding embeddings[] = {
	{{0}, 96, {12, 13, 14, 15}, 0, true},                      /* v4-compatible */
	{{[8] = 0xff, [9] = 0xff}, 96, {12, 13, 14, 15}, 0, true}, /* v4-translated */
	{{0x00, 0x64, 0xff, 0x9b}, 96, {12, 13, 14, 15}, 0, true}, /* NAT64 */
	/*
	 * NAT64 with a prefix of the local network (RFC 8215).  The prefix is 48, 56, 64 or 96
	 * bits long and the address does not say which: all four readings must be
	 * allowed.  With zeros between prefix and end the short ones read 0.0.0.x.
	 */
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 96, {12, 13, 14, 15}, 0, true},
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {6, 7, 9, 10}, 0, false},
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {7, 9, 10, 11}, 0, false},
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {9, 10, 11, 12}, 0, false},
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {12, 13, 14, 15}, 0, false},
	{{0x20, 0x02}, 16, {2, 3, 4, 5}, 0, true},        /* 6to4 */
	{{0x20, 0x01}, 32, {4, 5, 6, 7}, 0, false},       /* Teredo: the server */
	{{0x20, 0x01}, 32, {12, 13, 14, 15}, 0xff, true}, /* and the client */
};

static bool has_prefix(const struct address *a, const uint8_t prefix[16], unsigned int bits)
{
	unsigned int whole = bits / 8, rest = bits % 8;

	if (memcmp(a->bytes, prefix, whole) != 0)
		return false;
	return rest == 0 || ((a->bytes[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

static const char *why_refused(const struct address *a)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(refused); i++)
		if (has_prefix(a, refused[i].prefix, refused[i].bits))
			return refused[i].why;
	return NULL;
}

static const char *why_embedded_refused(const struct address *a)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(embeddings); i++) {
		const struct embedding *e = &embeddings[i];

		if (!has_prefix(a, e->prefix, e->bits))
			continue;
		uint8_t v4[4];

		for (size_t k = 0; k < sizeof(v4); k++)
			v4[k] = a->bytes[e->at[k]] ^ e->flip;
		struct address inner = address_from_v4(v4);
		const char *why = why_refused(&inner);

		if (why || e->only)
			return why;
	}
	return NULL;
}

bool address_is_refused(const struct address *a, const char **ret_why)
{
	const char *why = why_refused(a);

	if (!why)
		why = why_embedded_refused(a);
	if (why && ret_why)
		*ret_why = why;
	return why != NULL;
}
