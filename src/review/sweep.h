/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BAWN_SWEEP_H
#define BAWN_SWEEP_H

#include "layers.h"

/* What was set aside (layers_retire) is removed by a process of its own, so that nobody waits for
 * it.  When that is killed, whoever ends a session next goes on with it. */
void sweep_apart(const struct layers *l);

#endif
