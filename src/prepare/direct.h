/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: what is written lands at once, so files at the top of the workspace that the user's
 * own commands would run (hold.h) cannot be written where they exist.
 *
 * Each is a read-only mount upon itself, and each folder above it (.git, .vscode) a mount of its
 * own: what is a mount point can be neither removed, nor renamed, nor put something else in place
 * of.  What does not exist yet, or lies deeper, is not kept from being made; it is named when the
 * session ends.
 */
#ifndef BAWN_DIRECT_H
#define BAWN_DIRECT_H

#include "error.h"
#include "hold.h"
#include "host.h"
#include "plan.h"

/* Adds these mounts to the plan, after the one of the workspace.  What is mounted in the workspace a
 * second time, or lies in such a mount, is read-only there, too; and so is all of a repository. */
int direct_protect(struct plan *plan, const struct host *host, const struct hold_rules *rules,
		   struct arena *arena, struct error *e);

/* A folder that may be written is not the workspace, nor around or in it, by another name (a bind
 * mount), and has nothing that is protected mounted in it: nothing is protected there.  0, or
 * -EINVAL and who it is. */
int direct_refuse_aliases(const struct plan *plan, const struct host *host, struct arena *arena,
			  struct error *e);

/*
 * In whichever mode: where the user gives the workspace's own repository, which lies elsewhere, for
 * writing, what his git obeys in it (settings, hooks, where the parts are) stays read-only, and so
 * do the repositories of submodules in it.
 */
int direct_protect_repository(struct plan *plan, const struct host *host, struct arena *arena,
			      struct error *e);

/*
 * In a folder that is shown as it is and can be written, in whichever mode: makes each folder above
 * what is hidden or only readable a mount of its own too.  The box could move it, and with it what
 * is covered, to where nobody knows that it has to be covered again (recorder/covers.h).
 */
int direct_fix(struct plan *plan, struct arena *arena, struct error *e);

#endif
