/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys by which the user knows a host: what ~/.ssh/known_hosts and the machine's own list say,
 * as ssh-keygen reads them (hashed names, ports).  We leave out keys that are marked as revoked,
 * and those of authorities.
 */
#ifndef BAWN_KNOWN_HOSTS_H
#define BAWN_KNOWN_HOSTS_H

#include "host.h"

/* Appends to h->ssh_keys; it is no error when there is none. */
int known_hosts_read(struct host *h, const char *host, uint64_t port, const char *origin,
		     struct arena *arena, struct error *e);

#endif
