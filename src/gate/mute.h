/* SPDX-License-Identifier: Apache-2.0 */
/* Askers that flood, silenced by the kernel. */
#ifndef BAWN_MUTE_H
#define BAWN_MUTE_H

#include "base.h"

struct gate;
struct sock_filter;

enum { MUTE_PORTS = 512 };

/* The ports that are muted. */
struct mute {
	size_t count, applied;
	int64_t until, applied_at, ms;
	uint16_t ports[MUTE_PORTS];
	uint8_t is[65536 / 8];
};

void mute_add(struct gate *g, uint16_t port, int64_t now);
void mute_apply(struct gate *g, int64_t now);   /* sets the filter if ports were added */
bool mute_on_time(struct gate *g, int64_t now); /* whether time still matters */
/* The filter for these ports, which are in order; into has room for MUTE_PORTS of them. */
size_t mute_program(const uint16_t *ports, size_t count, struct sock_filter *into);

#endif
