/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a connection of the box (flow_state.h), from the accept to its end. */
#ifndef BAWN_FLOW_H
#define BAWN_FLOW_H

#include "flow_state.h"

/* Takes over a socket that was accepted; its own address is where the program wanted to go. */
void flow_accept(struct gate *g, int fd);
void flow_end(struct flow *f);   /* both closed in order */
void flow_reset(struct flow *f); /* both reset: the program sees ECONNRESET */
void flow_refuse(struct flow *f, const char *host, const struct rules_verdict *v);

/* Decides about host and port (name or literal) and goes on to look up and dial, or refuses. */
void flow_decide(struct flow *f);

/* The rules have changed: decides again about a pending flow, and resets one that is no longer
 * allowed; of an opened one it ends the requests that are not.  True: something ended, and the
 * flow may be gone. */
bool flow_decide_again(struct flow *f);
void flow_set_state(struct flow *f, enum flow_state state, int64_t deadline_ms);
void flow_set_deadline(struct flow *f, int64_t at); /* ms; 0: none */
void flow_resolved(struct gate *g, const struct message_resolved *answer);
void flow_on_tunnel(struct flow *f); /* of TUNNEL: its socket has something */
void flow_on_time(struct flow *f, int64_t now);

/*
 * Counts bytes that are about to pass.  False: the session has reached its limit, and all of its
 * connections have ended, the caller's too.  A reader asks gate_room first how many it may read.
 */
bool flow_spend(struct gate *g, size_t count);

/* The same for bytes that pass elsewhere: returns how many of them may. */
uint64_t flow_spend_most(struct gate *g, uint64_t count);

#endif
