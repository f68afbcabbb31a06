/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that read records are another program's, bawn-record (src/ask). */
#ifndef BAWN_ELSEWHERE_H
#define BAWN_ELSEWHERE_H

#include "verbs.h"

/* Becomes bawn-record with the words that bawn was given; returns (EXIT_BAWN) only when that
 * fails. */
int elsewhere_run(const struct invocation *i);

#endif
