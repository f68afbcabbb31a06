/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's end of the channel to keys: leaves for names, values for one verdict each,
 * signatures.  The asker owns the struct of its question.  It gets one answer, unless it drops the
 * question (key_ask_drop).  Without keys every question is refused at once.
 *
 * Leaves are kept until they expire.  Values are not: an answer's bytes are good until its
 * function returns, and are wiped then.
 */
#ifndef BAWN_KEY_ASK_H
#define BAWN_KEY_ASK_H

#include "channel.h"
#include "loop.h"
#include "message_keys.h"
#include "tls.h"

enum { KEY_ASK_LEAVES = 512 }; /* kept; the oldest goes */

struct key_ask;

struct key_ask_answer {
	const char *refused;               /* NULL: it was not */
	const struct tls_leaf *leaf;       /* of LEAF; good until the next turn of the loop */
	const struct message_value *value; /* of RELEASE, AGAIN and LOGIN */
	struct span signature;             /* of SIGN */
};

typedef void (*key_ask_fn)(void *context, const struct key_ask_answer *answer);

/* One question.  All zeros: none. */
struct key_ask {
	uint64_t id; /* 0: not asked */
	key_ask_fn fn;
	void *context;
	struct key_ask *next, **link;
	char name[NAME_TEXT_MAX + 1]; /* of a leaf; a literal address is shorter */
};

struct key_ask_leaf {
	char name[NAME_TEXT_MAX + 1];
	uint64_t expires; /* seconds since 1970 */
	struct tls_leaf *leaf;
};

/* All zeros but for the channel's descriptor, -1. */
struct key_ask_link {
	struct channel channel;
	struct loop_handle handle;
	struct loop *loop;
	struct key_ask *asked;
	uint64_t next_id;
	struct buf crl;                        /* DER */
	int authorities[PLAN_AUTHORITIES_MAX]; /* PEM, opened outside; read when first needed */
	size_t authority_count;
	struct tls_world *world;
	size_t leaf_count, next_leaf;
	struct key_ask_leaf leaves[KEY_ASK_LEAVES];
};

/* Takes the descriptors: of the channel, then of the authorities. */
int key_ask_open(struct key_ask_link *l, struct loop *loop, int *fds, size_t count);

/* What all TLS of this gate shares, made at the first call; NULL: it cannot be. */
struct tls_world *key_ask_world(struct key_ask_link *l);

/* A leaf for a name that we already have; NULL: ask for it. */
const struct tls_leaf *key_ask_cached(struct key_ask_link *l, const char *name);

/* fn is called once, perhaps before these return.  a must stay until then, or be dropped. */
void key_ask_leaf(struct key_ask_link *l, struct key_ask *a, const char *name, key_ask_fn fn,
		  void *context);
void key_ask_release(struct key_ask_link *l, struct key_ask *a, struct message_release *m,
		     key_ask_fn fn, void *context);
/* former: as in message_again. */
void key_ask_again(struct key_ask_link *l, struct key_ask *a, uint64_t index, uint64_t former,
		   key_ask_fn fn, void *context);
void key_ask_sign(struct key_ask_link *l, struct key_ask *a, struct message_sign *m, key_ask_fn fn,
		  void *context);
/* The login of the proxy: a value. */
void key_ask_login(struct key_ask_link *l, struct key_ask *a, key_ask_fn fn, void *context);
void key_ask_drop(struct key_ask *a);

#endif
