/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an agent may have written a file of the user's.  bawn reads some of these outside, and
 * what an agent may have written decides nothing there.
 */
#ifndef BAWN_AGENTS_FILE_H
#define BAWN_AGENTS_FILE_H

#include "host.h"
#include "policy.h"

/*
 * Whether this session can write the file: it lies in the workspace or in a folder that is given for
 * writing, by whichever name.  real has no links in it.  The workspace is known, and what the policy
 * gives for writing was looked up.  What an earlier session was given nobody can tell.
 */
bool agents_file(const struct host *h, const struct policy *policy, const char *real);

#endif
