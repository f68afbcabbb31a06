/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the kernel's log: it ends, and reads nothing beyond them.  The same bytes as
 * the packet in a proper frame: told when they begin like IP, with a port only for TCP and UDP.
 */
#include "../lib/cut.h"
#include "nflog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME = 24, PACKET_MAX = 1024 };

static void check_any(struct span messages)
{
	struct nflog_packet p;
	size_t before = messages.len;

	while (nflog_next(&messages, &p) > 0) {
		CUT_MUST(messages.len < before);
		CUT_MUST(p.port == 0 || p.protocol == NFLOG_TCP || p.protocol == NFLOG_UDP);
		before = messages.len;
	}
	CUT_MUST(messages.len == 0);
}

static void check_packet(const uint8_t *data, size_t size)
{
	_Alignas(4) uint8_t message[FRAME + PACKET_MAX];
	const uint32_t length = (uint32_t)(FRAME + size);
	const uint16_t type = 4 << 8, payload[2] = {(uint16_t)(4 + size), 9};
	struct nflog_packet p;

	memset(message, 0, FRAME);
	memcpy(message, &length, sizeof(length));
	memcpy(message + 4, &type, sizeof(type));
	memcpy(message + 20, payload, sizeof(payload));
	memcpy(message + FRAME, data, size);
	struct span messages = {message, length};
	bool told = nflog_next(&messages, &p) > 0;
	unsigned int version = size > 0 ? data[0] >> 4 : 0;

	CUT_MUST(told == ((version == 4 && size >= 20) || (version == 6 && size >= 40)));
	CUT_MUST(!told || address_is_v4(&p.to) || version == 6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_any((struct span){data, size});
	check_packet(data, size < PACKET_MAX ? size : PACKET_MAX);
	return 0;
}
