/* SPDX-License-Identifier: Apache-2.0 */
#include "nflog.h"

enum {
	NFLOG_HEADER = 16, /* of a message */
	NFLOG_FAMILY = 4,  /* what stands behind it, before the attributes */
	NFLOG_ATTRIBUTE = 4,
	NFLOG_PACKET_TYPE = 4 << 8, /* NFNL_SUBSYS_ULOG, NFULNL_MSG_PACKET */
	NFLOG_PAYLOAD = 9,          /* NFULA_PAYLOAD */
	NFLOG_TYPE_MASK = 0x3fff,
	NFLOG_V4 = 20, /* bytes of a header without options */
	NFLOG_V6 = 40,
};

static uint16_t nflog_host16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint32_t nflog_host32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* The length of an entry, and where the next begins; 0: it does not fit. */
static size_t nflog_fits(struct span s, size_t len, size_t least, size_t *ret_next)
{
	size_t next = (len + 3) & ~(size_t)3;

	if (len < least || len > s.len)
		return 0;
	*ret_next = next < s.len ? next : s.len;
	return len;
}

static struct span nflog_payload(struct span attributes)
{
	while (attributes.len >= NFLOG_ATTRIBUTE) {
		uint16_t type = nflog_host16(attributes.ptr + 2) & NFLOG_TYPE_MASK;
		size_t next = 0;
		size_t len = nflog_fits(attributes, nflog_host16(attributes.ptr), NFLOG_ATTRIBUTE,
					&next);

		if (len == 0)
			break;
		if (type == NFLOG_PAYLOAD)
			return (struct span){attributes.ptr + NFLOG_ATTRIBUTE,
					     len - NFLOG_ATTRIBUTE};
		attributes.ptr += next;
		attributes.len -= next;
	}
	return (struct span){NULL, 0};
}

static bool nflog_read_packet(struct span packet, struct nflog_packet *ret)
{
	size_t head = NFLOG_V6;
	bool first = true; /* of a datagram in pieces only the first has ports */

	memset(ret, 0, sizeof(*ret));
	if (packet.len >= NFLOG_V4 && packet.ptr[0] >> 4 == 4) {
		head = (size_t)(packet.ptr[0] & 15) * 4;
		first = (packet.ptr[6] & 0x1f) == 0 && packet.ptr[7] == 0;
		ret->protocol = packet.ptr[9];
		ret->to = address_from_v4(packet.ptr + 16);
	} else if (packet.len >= NFLOG_V6 && packet.ptr[0] >> 4 == 6) {
		ret->protocol = packet.ptr[6];
		memcpy(ret->to.bytes, packet.ptr + 24, sizeof(ret->to.bytes));
	} else {
		return false;
	}
	if (first && head >= NFLOG_V4 && packet.len >= head + 4 &&
	    (ret->protocol == NFLOG_TCP || ret->protocol == NFLOG_UDP))
		ret->port = (uint16_t)(packet.ptr[head + 2] << 8 | packet.ptr[head + 3]);
	return true;
}

int nflog_next(struct span *messages, struct nflog_packet *ret)
{
	while (messages->len >= NFLOG_HEADER) {
		struct span here = *messages;
		size_t next = 0;
		size_t len = nflog_fits(here, nflog_host32(here.ptr), NFLOG_HEADER, &next);

		if (len == 0)
			break;
		messages->ptr += next;
		messages->len -= next;
		if (nflog_host16(here.ptr + 4) != NFLOG_PACKET_TYPE ||
		    len < NFLOG_HEADER + NFLOG_FAMILY)
			continue;
		struct span attributes = {here.ptr + NFLOG_HEADER + NFLOG_FAMILY,
					  len - NFLOG_HEADER - NFLOG_FAMILY};

		if (nflog_read_packet(nflog_payload(attributes), ret))
			return 1;
	}
	messages->len = 0;
	return 0;
}
