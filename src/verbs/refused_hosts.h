/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we know about a refused host.  Whoever acts in the box chooses which names are shown at the
 * end of a session.  So only hosts that bawn itself knows get an offer: the bundle that opens them,
 * or a note that they are always refused.
 */
#ifndef BAWN_REFUSED_HOSTS_H
#define BAWN_REFUSED_HOSTS_H

#include "arena.h"
#include "plan.h"

struct refused_hosts {
	struct arena arena;
	struct plan_rule *rules; /* the rules of all bundles */
	size_t count;
};

#define REFUSED_HOSTS_INIT ((struct refused_hosts){.arena = ARENA_INIT(4 << 20)})

/* Reads the bundles; without memory there are none. */
void refused_hosts_read(struct refused_hosts *h);
void refused_hosts_fini(struct refused_hosts *h);

/* The bundle that opens the host at that port (0: at any); if there are two, the one that gives
 * less; NULL: none. */
const char *refused_hosts_bundle(const struct refused_hosts *h, const char *host, uint64_t port);

/* Programs report their use and their crashes there; nothing fails without it. */
bool refused_hosts_is_telemetry(const char *host);

#endif
