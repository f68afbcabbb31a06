/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn policy reload`: reads the policy files again for a live session. */
#ifndef BAWN_RELOAD_H
#define BAWN_RELOAD_H

#include "verbs.h"

int reload_run(const struct invocation *i); /* the exit code */

#endif
