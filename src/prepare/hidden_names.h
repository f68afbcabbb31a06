/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is hidden is hidden by each name that the box would see.
 *
 * A file may have more names than one (hard links), and a cover on one of them does not matter for
 * the others.  So for what the plan hides (files.hide, the file that a secret is read from, private
 * places), for what is bawn's own (configuration, stored secrets, keys of the record), and for the files that lie in such a folder, other names are looked for in the
 * user's folders that the box is given, and are covered as well.  A folder there that cannot be
 * read, but could be opened from inside, is covered as a whole.
 *
 * What a private folder has as a symbolic link is private where that leads, too: it is covered there,
 * in the workspace and in folders that the user named, unless the user named that very thing.
 *
 * Nothing is walked but hidden folders, unless some hidden file has more names than one.  Where
 * there is too much to look at, or to cover, that is said before the command starts.  Private
 * places are large, and looked at in every start: of them, what is found quickly is looked at.
 */
#ifndef BAWN_HIDDEN_NAMES_H
#define BAWN_HIDDEN_NAMES_H

#include "error.h"
#include "host.h"
#include "plan.h"
#include "policy.h"

/* Adds covers, and notes about them, to a plan that is built. */
int hidden_names(struct plan *plan, const struct policy *policy, const struct host *host,
		 struct arena *arena, struct error *e);

#endif
