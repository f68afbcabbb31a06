/* SPDX-License-Identifier: Apache-2.0 */
/* What the keeper says while the session runs: other rules; how often was this refused? how much went through? */
#ifndef BAWN_CHANGE_H
#define BAWN_CHANGE_H

#include "channel.h"

int change_on_rules(void *context, struct channel_packet *packet, struct error *e);
int change_on_count(void *context, struct channel_packet *packet, struct error *e);
int change_on_used(void *context, struct channel_packet *packet, struct error *e);

#endif
