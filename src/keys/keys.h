/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys: the process that holds the session's CA key and the real values of its
 * secrets, and nothing else.  It has no network, opens no file, and reads no HTTP.
 *
 *	keeper	sends nothing; when it is gone, keys ends
 *	client	VALUE | REFUSED, once for each secret and for the proxy's login, and again after
 *		each NEED
 *	gate	LEAF -> CERTIFICATE, RELEASE, AGAIN and LOGIN -> VALUE, SIGN -> SIGNATURE; each may be
 *		REFUSED
 *
 * keys decides once more whether a secret may go where the gate wants it, by the same function
 * (secrets.h).  So even a gate under an attacker's control gets a value only for a place that
 * the plan binds it to, and never the secret key of AWS.
 *
 * A question for a value that has not come yet, or has expired, waits for the client's answer,
 * KEYS_PATIENCE at most.  keys keeps a value that the gate has had when a new one replaces it:
 * answers may still have it.  A message that the tables do not permit ends the process; then the
 * gate opens no more connections.
 */
#ifndef BAWN_KEYS_H
#define BAWN_KEYS_H

#include "ca.h"
#include "channel.h"
#include "locked_value.h"
#include "loop.h"
#include "message.h"

enum {
	KEYS_WAITING_MAX = 64, /* questions that wait for a value */
	KEYS_PATIENCE = 60,    /* seconds */
	KEYS_FORMERS_MAX = 32, /* values of one secret that were used before; the oldest goes */
};

/* One question, as it came. */
struct keys_waiting {
	uint32_t type; /* 0: free */
	uint64_t index;
	uint64_t until; /* seconds since 1970 */
	uint8_t *body;
	size_t len;
};

struct keys {
	struct loop loop;
	struct channel keeper, gate, client;
	struct loop_handle keeper_handle, gate_handle, client_handle, timer_handle;
	int timer;
	const struct plan *plan;
	struct ca *ca;
	struct locked_value values[PLAN_SECRETS_MAX + 1]; /* the last is the proxy's login */
	struct locked_value formers[PLAN_SECRETS_MAX + 1][KEYS_FORMERS_MAX]; /* the newest first */
	size_t former_count[PLAN_SECRETS_MAX + 1];
	bool awaited[PLAN_SECRETS_MAX + 1]; /* the client owes us an answer */
	bool given[PLAN_SECRETS_MAX + 1];   /* the gate has had the value */
	struct keys_waiting waiting[KEYS_WAITING_MAX];
};

/* The caller owns the descriptors. */
void keys_init(struct keys *k, const struct plan *plan, struct ca *ca, int keeper, int gate,
	       int client);
void keys_fini(struct keys *k); /* wipes; the authority is the caller's */

/* Handles one message of the gate or the client, as channel_receive. */
int keys_receive_gate(struct keys *k, struct error *e);
int keys_receive_client(struct keys *k, struct error *e);

/* Refuses the questions that have waited too long at `now`. */
void keys_expire(struct keys *k, uint64_t now);

/* The whole process, from its descriptors on: its exit code. */
int keys_run(void);

#endif
