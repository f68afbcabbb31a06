/* SPDX-License-Identifier: Apache-2.0 */
/* Little protocols that the gate answers itself: CONNECT and SOCKS5, DNS over TCP, the CRL. */
#ifndef BAWN_PROXY_H
#define BAWN_PROXY_H

#include "flow_state.h"

void proxy_read(struct flow *f);
void proxy_read_dns(struct flow *f); /* DNS over TCP */
void proxy_read_crl(struct flow *f);
void proxy_answer(struct flow *f, bool connected, int error);

#endif
