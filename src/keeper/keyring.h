/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's side of the process keys, for a plan that needs it:
 *
 *	keyring_start	 starts it first: it makes its CA while others start
 *	keyring_meet	 hands the gate its end of the channel to keys, and the authorities
 *	keyring_trust	 waits for the trust files of the box
 *	keyring_watch	 tells the keeper once when keys is gone
 *
 * The keeper holds no key and no value: the channels from the gate and from the client
 * lead to keys itself, and the ends pass through here unread.
 */
#ifndef BAWN_KEYRING_H
#define BAWN_KEYRING_H

#include "channel.h"
#include "loop.h"
#include "make.h"

struct keyring {
	struct make_result made;
	struct channel channel; /* fd -1: there is none */
	struct loop *loop;
	struct loop_handle handle;
	int gate; /* the gate's end, until the gate has it */
	int authorities[PLAN_AUTHORITIES_MAX];
	size_t authority_count;
	int trust[PLAN_TRUST_COUNT];
	size_t trust_count;
	struct error failure;
	void (*on_gone)(void *context);
	void *context;
};

#define KEYRING_INIT ((struct keyring){.made = {0, -1}, .channel = {.fd = -1}, .gate = -1})

/* `values` is keys' end of the channel to the client. */
int keyring_start(struct keyring *k, const struct plan *plan, int programs, int plan_fd, int values,
		  struct error *e);
int keyring_meet(struct keyring *k, int gate, struct error *e);
int keyring_trust(struct keyring *k, const struct plan *plan, struct error *e);
int keyring_watch(struct keyring *k, struct loop *loop, void (*on_gone)(void *), void *context);
void keyring_end(struct keyring *k);

#endif
