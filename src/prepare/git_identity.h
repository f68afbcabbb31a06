/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the user is to git: the name and the e-mail address in the user's own settings outside, in
 * the files in which git looks for them and in what those include.  We take no other setting.
 *
 * Only the user's own files decide which files we read.  We do not look at the repository's
 * settings.  We follow no include that an agent may have written (the file that says it is in the
 * workspace, or where this session may write), and none where the repository would decide
 * (includeIf onbranch and hasconfig).  We run nothing.
 */
#ifndef BAWN_GIT_IDENTITY_H
#define BAWN_GIT_IDENTITY_H

#include "host.h"
#include "policy.h"

/* Fills h->git.  Call it when the workspace is known and the paths of the policy were looked up.  A
 * file that git cannot read is no error: h->git names it. */
int git_identity_read(struct host *h, const struct policy *policy, struct arena *arena,
		      struct error *e);

/* Whether a pattern of includeIf gitdir matches this path, like git's wildmatch with
 * WM_PATHNAME. */
bool git_identity_matches(const char *pattern, const char *path, bool any_case);

#endif
