/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel mutes askers that flood: a filter of the DNS socket drops what comes
 * from their ports.  That costs the sender's time, and happens before a question takes a place in
 * the queue that all askers share.  To read and drop it here would cost the gate as much as a flood
 * costs its sender, and on a busy machine the gate would lose.
 *
 * The filter is classic BPF, which needs no rights.  It sees a datagram from its UDP header
 * on; the first two bytes are the port it came from.  Muted ports stand in order, in blocks:
 *
 *	load port
 *	each block:	port above the block's last -> next block
 *			port equal to one of them   -> drop
 *			accept
 *		drop:	drop
 *	accept
 *
 * After a while all are unmuted.  An asker that goes on is muted again, for twice as long.
 */
#include "mute.h"

#include "gate.h"

#include <linux/filter.h>
#include <sys/socket.h>

enum {
	MUTE_BLOCK = 120, /* a conditional jump reaches 255 instructions */
	MUTE_CODE = MUTE_PORTS + (MUTE_PORTS / MUTE_BLOCK + 1) * 3 + 2,
	MUTE_APPLY_MS = 5, /* between two filters */
	MUTE_FIRST_MS = 500,
	MUTE_LAST_MS = 8000,
	MUTE_AGAIN_MS = 2000, /* an asker that floods within this time after its mute has gone on */
};

static int mute_by_port(const void *a, const void *b)
{
	uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return x < y ? -1 : x > y;
}

size_t mute_program(const uint16_t *ports, size_t count, struct sock_filter *into)
{
	size_t n = 0;

	into[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0);
	for (size_t at = 0; at < count; at += MUTE_BLOCK) {
		size_t here = count - at < MUTE_BLOCK ? count - at : MUTE_BLOCK;

		into[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JGT | BPF_K, ports[at + here - 1], (uint8_t)(here + 2), 0);
		for (size_t i = 0; i < here; i++)
			into[n++] = (struct sock_filter)BPF_JUMP(
				BPF_JMP | BPF_JEQ | BPF_K, ports[at + i], (uint8_t)(here - i), 0);
		into[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
		into[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	}
	into[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	return n;
}

static void mute_install(struct gate *g)
{
	static struct sock_filter code[MUTE_CODE];
	struct mute *m = &g->mute;
	struct sock_fprog program = {.filter = code};

	qsort(m->ports, m->count, sizeof(m->ports[0]), mute_by_port);
	program.len = (unsigned short)mute_program(m->ports, m->count, code);
	/* If this fails, the gate reads and drops floods itself. */
	(void)setsockopt(g->dns, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	m->applied = m->count;
}

void mute_add(struct gate *g, uint16_t port, int64_t now)
{
	struct mute *m = &g->mute;
	uint8_t bit = (uint8_t)(1u << port % 8);

	if (m->count == MUTE_PORTS || (m->is[port / 8] & bit))
		return;
	if (m->count == 0) {
		bool again = m->ms != 0 && now - m->until < MUTE_AGAIN_MS;

		m->ms = !again ? MUTE_FIRST_MS : m->ms < MUTE_LAST_MS ? m->ms * 2 : m->ms;
		m->until = now + m->ms;
		(void)gate_tick(g);
	}
	m->is[port / 8] |= bit;
	m->ports[m->count++] = port;
}

void mute_apply(struct gate *g, int64_t now)
{
	struct mute *m = &g->mute;

	if (m->count == m->applied || now - m->applied_at < MUTE_APPLY_MS)
		return;
	m->applied_at = now;
	mute_install(g);
}

bool mute_on_time(struct gate *g, int64_t now)
{
	struct mute *m = &g->mute;
	int none = 0;

	mute_apply(g, now);
	if (m->count > 0 && now >= m->until) {
		if (m->applied > 0)
			(void)setsockopt(g->dns, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
		m->count = m->applied = 0;
		memset(m->is, 0, sizeof(m->is));
	}
	return m->count > 0;
}
