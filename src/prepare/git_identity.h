/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the user is to git: what his own settings outside say of his name and his e-mail address, in
 * the files in which git looks for them and in what those include.  No other setting is taken.
 *
 * Which files are read, the user's own files say, and nobody else: the repository's settings are
 * not looked at, and an include is not followed where an agent may have written it (the file that
 * says it lies in the workspace, or where this session may write) or where the repository would decide (includeIf onbranch and
 * hasconfig).  Nothing is run.
 */
#ifndef BAWN_GIT_IDENTITY_H
#define BAWN_GIT_IDENTITY_H

#include "host.h"
#include "policy.h"

/* Fills h->git; the workspace is known, and what the policy names was looked up.  A file that is not
 * git's is no error: h->git says which. */
int git_identity_read(struct host *h, const struct policy *policy, struct arena *arena,
		      struct error *e);

/* Whether a pattern of includeIf gitdir is about this path: as git's wildmatch with WM_PATHNAME. */
bool git_identity_matches(const char *pattern, const char *path, bool any_case);

#endif
