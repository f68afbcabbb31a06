/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: what the box writes lands at once.  So it cannot write files at the top of the
 * workspace that exist and that the user's own commands would run (hold.h).
 *
 * Each is a read-only mount upon itself, and each folder above it (.git, .vscode) is a mount of its
 * own: nobody can remove, rename or replace a mount point.  The box can still make what does not
 * exist yet, or is deeper; it is named when the session ends.
 */
#ifndef BAWN_DIRECT_H
#define BAWN_DIRECT_H

#include "error.h"
#include "hold.h"
#include "host.h"
#include "plan.h"

/* Adds these mounts to the plan, after the one of the workspace.  If one of these things is mounted
 * in the workspace a second time, or is in such a mount, it is read-only there, too; and so is all
 * of a repository. */
int direct_protect(struct plan *plan, const struct host *host, const struct hold_rules *rules,
		   struct arena *arena, struct error *e);

/* Refuses a folder that may be written when, by another name (a bind mount), it is the workspace,
 * or around or in it, or has something protected mounted in it: nothing would be protected there.
 * 0, or -EINVAL and a sentence that names it. */
int direct_refuse_aliases(const struct plan *plan, const struct host *host, struct arena *arena,
			  struct error *e);

/*
 * In any mode: when the user grants the workspace's own repository, which is elsewhere, for
 * writing, what the user's git obeys in it (settings, hooks, where the parts are) stays read-only,
 * and so do the repositories of submodules in it.
 */
int direct_protect_repository(struct plan *plan, const struct host *host, struct arena *arena,
			      struct error *e);

/*
 * In any mode, in a folder that the box sees as it is and can write: makes each folder above
 * something hidden or read-only a mount of its own too.  Else the box could move that folder, and
 * with it the covered thing, to where nobody knows that it has to be covered again
 * (recorder/covers.h).
 */
int direct_fix(struct plan *plan, struct arena *arena, struct error *e);

#endif
