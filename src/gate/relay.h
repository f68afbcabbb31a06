/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a flow, and the hosts that they name. */
#ifndef BAWN_RELAY_H
#define BAWN_RELAY_H

#include "flow_state.h"

void relay_init(void);
int relay_on_out(void *context, uint32_t events);
void relay_begin(struct flow *f); /* the outside is connected */
void relay_late(struct flow *f);  /* its deadline has come */
int relay_watch(struct flow *f, int end, uint32_t events);
void relay_tell_request(struct flow *f, unsigned int status); /* f->request, if there is one */

/* --- relay_name.c --------------------------------------------------------------------- */

#define RELAY_NO_WEBSOCKET "the rule for it does not say `websocket: true`"
/* Whether a ClientHello may name this ("": nothing); false: ret_v says why not. */
bool relay_name_fits(const struct flow *f, const struct name *name, struct rules_verdict *ret_v);
bool relay_keep_name(struct flow *f, const struct name *name); /* false: no memory */
bool relay_same_host(const struct flow *f, const struct http_head *head);
bool relay_wants_websocket(const struct http_head *head, struct span bytes);
/* Whether some server could take the head as a request for a WebSocket; whether a rule allows
 * it. */
bool relay_says_websocket(const struct http_head *head, struct span bytes);
bool relay_may_websocket(const struct flow *f, struct span method);

#endif
