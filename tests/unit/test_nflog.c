/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's log of refused packets, as src/wire/nflog.c reads it. */
#include "cmocka_lead.h"

#include "buf.h"
#include "nflog.h"

enum { PACKET = 4 << 8, PAYLOAD = 9 };

static const uint8_t syn4[] = {0x45, 0, 0,   60, 1,   2,  0x40, 0,  64, 6,   0, 0, 10, 255,
			       255,  1, 203, 0,  113, 10, 0xc3, 50, 1,  187, 0, 0, 0,  0};
static const uint8_t udp6[] = {0x60, 0, 0, 0, 0, 8, 17, 64,   0xfd, 0x5a, 0xff, 0xff, 0, 0, 0, 0,
			       0,    0, 0, 0, 0, 0, 0,  1,    0x20, 1,    0xd,  0xb8, 0, 0, 0, 0,
			       0,    0, 0, 0, 0, 0, 0,  0x10, 0x80, 0,    0,    123,  0, 8, 0, 0};

static void put_attribute(struct buf *b, uint16_t type, const void *bytes, size_t len)
{
	uint16_t head[2] = {(uint16_t)(len + 4), type};

	buf_put(b, head, sizeof(head));
	buf_put(b, bytes, len);
	buf_put(b, "\0\0\0", -len & 3);
}

/* A message with some other attribute before the packet. */
static void put_message(struct buf *b, uint16_t type, const void *packet, size_t len)
{
	static const uint8_t family[4] = {2, 0, 0, 1};
	size_t start = b->len;
	uint32_t head[4] = {0, type, 0, 0};

	buf_put(b, head, sizeof(head));
	buf_put(b, family, sizeof(family));
	put_attribute(b, 1, "\x08\0\3\0", 4);
	put_attribute(b, 10, "x", 1);
	put_attribute(b, PAYLOAD, packet, len);
	uint32_t size = (uint32_t)(b->len - start);

	memcpy(b->ptr + start, &size, sizeof(size));
}

static void test_packets_in_a_row(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct nflog_packet p;
	char text[ADDRESS_TEXT_SIZE];

	(void)state;
	put_message(&b, PACKET, syn4, sizeof(syn4));
	put_message(&b, 3, "an error", 8);
	put_message(&b, PACKET, "not IP", 6);
	put_message(&b, PACKET, udp6, sizeof(udp6));
	struct span messages = buf_span(&b);

	assert_int_equal(nflog_next(&messages, &p), 1);
	address_format(&p.to, text);
	assert_string_equal(text, "203.0.113.10");
	assert_int_equal(p.port, 443);
	assert_int_equal(p.protocol, NFLOG_TCP);
	assert_int_equal(nflog_next(&messages, &p), 1);
	address_format(&p.to, text);
	assert_string_equal(text, "2001:db8::10");
	assert_int_equal(p.port, 123);
	assert_int_equal(p.protocol, NFLOG_UDP);
	assert_int_equal(nflog_next(&messages, &p), 0);
	assert_int_equal(messages.len, 0);
}

/* Cut off anywhere: read as far as it goes, and never past its end. */
static void test_cut_anywhere(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	size_t found = 0;

	(void)state;
	put_message(&b, PACKET, syn4, sizeof(syn4));
	for (size_t len = 0; len <= b.len; len++) {
		uint8_t *exact = malloc(len ? len : 1);
		struct nflog_packet p;

		assert_non_null(exact);
		memcpy(exact, b.ptr, len);
		struct span messages = {exact, len};

		found += (size_t)nflog_next(&messages, &p);
		free(exact);
	}
	assert_int_equal(found, 1);
}

/* Without its port, or a later piece of a datagram: the address is told, the port is not. */
static void test_no_port(void **state)
{
	uint8_t piece[sizeof(syn4)];
	struct nflog_packet p;

	(void)state;
	memcpy(piece, syn4, sizeof(piece));
	piece[7] = 3;
	for (int i = 0; i < 3; i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(4096);
		size_t len = i == 0 ? 23 : sizeof(syn4);

		if (i == 2)
			piece[7] = 0, piece[0] = 0x41; /* a header shorter than a header */
		put_message(&b, PACKET, i == 0 ? syn4 : piece, len);
		struct span messages = buf_span(&b);

		assert_int_equal(nflog_next(&messages, &p), 1);
		assert_int_equal(p.port, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_in_a_row),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_no_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
