/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hides each hidden thing by every name that the box would see.
 *
 * A file may have several names (hard links), and a cover on one of them does not cover the
 * others.  So we look for other names of what the plan hides (files.hide, the file that a secret is
 * read from, private places), of what is bawn's own (configuration, stored secrets, keys of the
 * record), and of the files in such a folder.  We look in the user's folders that the box gets, and
 * cover those names as well.  If we cannot read a folder there, but the box could open it, we cover
 * it as a whole.
 *
 * When a private folder has a symbolic link, what it leads to is private, too: we cover it there,
 * in the workspace and in folders that the user named, unless the user named that very thing.
 *
 * We walk only hidden folders, unless some hidden file has several names.  When there is too much
 * to look at, or to cover, we say that before the command starts.  Private places are large, and we
 * look at them at every start: so we look only at what is found quickly.
 */
#ifndef BAWN_HIDDEN_NAMES_H
#define BAWN_HIDDEN_NAMES_H

#include "error.h"
#include "host.h"
#include "plan.h"
#include "policy.h"

/* Adds covers, and notes about them, to a finished plan. */
int hidden_names(struct plan *plan, const struct policy *policy, const struct host *host,
		 struct arena *arena, struct error *e);

#endif
