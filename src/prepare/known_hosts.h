/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By which keys the user knows a host: what ~/.ssh/known_hosts and the machine's own list say,
 * as ssh-keygen reads them (hashed names, ports).  Keys that are marked as revoked, and those
 * of authorities, are left out.
 */
#ifndef BAWN_KNOWN_HOSTS_H
#define BAWN_KNOWN_HOSTS_H

#include "host.h"

/* Appends to h->ssh_keys; none is no error. */
int known_hosts_read(struct host *h, const char *host, uint64_t port, const char *origin,
		     struct arena *arena, struct error *e);

#endif
