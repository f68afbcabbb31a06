/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of packets that it refused: netlink messages of nfnetlink_log, each
 * with the beginning of one packet.
 *
 *	message		u32 length (with this), u16 type, u16 flags, u32, u32 (host order);
 *			u8 family, u8, u16; attributes
 *	attribute	u16 length (with this), u16 type, bytes; each begins at a multiple of 4
 *	packet		IPv4 or IPv6, the attribute NFULA_PAYLOAD; cut off anywhere
 *
 * The kernel makes the frame; a program in the box made the packet.
 */
#ifndef BAWN_NFLOG_H
#define BAWN_NFLOG_H

#include "address.h"

enum { NFLOG_TCP = 6, NFLOG_UDP = 17 };

struct nflog_packet {
	struct address to;
	uint16_t port;    /* of TCP and UDP; else 0 */
	uint8_t protocol; /* IPPROTO_* */
};

/*
 * Takes the next packet out of the bytes of one receive; *messages is then the rest.  1: there was
 * one, 0: there are no more.  Skips what it cannot read.
 */
int nflog_next(struct span *messages, struct nflog_packet *ret);

#endif
