/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an agent may have written a file of the user. bawn reads some of these files outside, and
 * what an agent may have written must decide nothing there.
 */
#ifndef BAWN_AGENTS_FILE_H
#define BAWN_AGENTS_FILE_H

#include "host.h"
#include "policy.h"

/*
 * Whether this session can write the file: it is in the workspace or in a folder that is granted
 * for writing, by whichever name.  real has no links in it.  Call it when the workspace is known
 * and the folders that the policy grants for writing were looked up.  Nobody can tell what an
 * earlier session could write.
 */
bool agents_file(const struct host *h, const struct policy *policy, const char *real);

#endif
