/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few rules of nf_tables that a box's network needs, as one batch:
 *
 *	pre	TCP to anywhere but loopback goes to a listener that answers for any
 *		address (tproxy)
 *	out	accepts loopback, the prefixes that are named and DNS; logs the rest, resets
 *		other TCP and refuses all else
 *
 * No library: libnftables alone would take six times as long as the kernel.
 */
#ifndef BAWN_NFT_H
#define BAWN_NFT_H

#include "netlink.h"

struct nft_prefix {
	bool v4;
	unsigned int bits;
	uint8_t bytes[16]; /* v4: only the first four */
};

/* Writes the batch, up to its prefixes. */
void nft_capture_begin(struct netlink *n, uint16_t port);
void nft_capture_accept(struct netlink *n, const struct nft_prefix *to);
/* Ends the batch and sends it: the kernel takes all of it, or nothing.  log: log what is
 * refused. */
int nft_capture_end(struct netlink *n, bool log);

/* A socket that gets that log, each packet at once; -errno where the kernel has none. */
int nft_open_log(void);

/*
 * Adds one more prefix later, through a netlink socket that was opened in the namespace.  The
 * kernel wants CAP_NET_ADMIN over the namespace, which its owner has from outside.
 */
int nft_capture_more(int fd, const struct nft_prefix *to);

#endif
