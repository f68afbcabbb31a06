/* SPDX-License-Identifier: Apache-2.0 */
/* DNS inside the box. */
#ifndef BAWN_ANSWER_H
#define BAWN_ANSWER_H

#include "span.h"

struct gate;

int answer_on_dns(void *context, uint32_t events);
/* One question, as UDP or in TCP framing: the answer's bytes; 0 when there is none to give. */
size_t answer_question(struct gate *g, struct span question, uint8_t *into, size_t size);
/* Whether the asker at this port (0: over TCP) may ask.  Takes one of its tokens. */
bool answer_may_ask(struct gate *g, uint16_t asker, int64_t now);

#endif
