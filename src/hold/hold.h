/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds: changes of a session that a command of the user would later run on the host.
 *
 * The list is data (share/holds.yaml, built in; the user's own policy adds to it and takes away).
 * A rule has a name; the paths that it is about (by name, at any depth); what the content must be,
 * if the name is not enough; which later command would run the file; and whether the change is held
 * or only flagged.  hold_judge looks at the final tree: at what is at a path after the change,
 * whatever name it or a folder above it had before.
 */
#ifndef BAWN_HOLD_H
#define BAWN_HOLD_H

#include "changes.h"

enum hold_level {
	HOLD_NOT,   /* the user switched the rule off */
	HOLD_FLAG,  /* it lands, and diff and apply point it out */
	HOLD_LEAVE, /* it does not land, and nothing waits for it: its tool makes it again */
	HOLD_HOLD,  /* it lands only when the user releases it */
};

#define HOLD_OWN "own" /* the name of the rule for the paths of the policy (holds.paths) */

struct hold_rules; /* the built-in list, changed by the policy */

/* `tuned`: the words "RULE=LEVEL" of the policy (holds.rules), in order; `paths`: more patterns of
 * paths that are held (holds.paths). */
struct hold_tuning {
	const char *const *tuned;
	size_t tuned_count;
	const char *const *paths;
	size_t path_count;
};

int hold_rules_new(const struct hold_tuning *t, struct hold_rules **ret, struct error *e);
void hold_rules_free(struct hold_rules **r);

/* Which files are the user's settings of git, in the order in which git reads them.  "~/" is the
 * home. */
struct hold_user {
	const char *home;
	const char *config; /* XDG_CONFIG_HOME; NULL: not set */
	const char *const *files;
	size_t file_count;
};

/* Sets how long hold_judge may take; without this call it is HOLD_MS. */
enum { HOLD_MS = 30000 };
void hold_rules_within(struct hold_rules *r, int64_t ms);

/* Sets when the session began, in nanoseconds since 1970. */
void hold_rules_since(struct hold_rules *r, int64_t began);

/*
 * Reads the user's settings of git.  hold_judge then holds what they name, as it holds what the
 * repository's settings name.  It also holds what a path of the home leads to in the workspace, as
 * if it had the path's name.
 */
int hold_rules_user(struct hold_rules *r, const struct hold_user *user, struct error *e);

/*
 * Sets group, rule and why of each change that a rule is about (dropped ones stay dropped), and
 * marks the changes in folders that git ignores.  It reads files of the view, with limits on size
 * and time.  It holds what it could not judge in time.
 */
int hold_judge(const struct hold_rules *r, const struct view *v, struct changes *c,
	       struct error *e);

/* One rule, as `bawn explain` and the manual page show it. */
struct hold_shown {
	const char *name, *what, *why;
	enum hold_level level;
	bool read_only; /* direct mode makes it read-only, if the workspace's top has it */
};
size_t hold_rules_count(const struct hold_rules *r);
struct hold_shown hold_rules_at(const struct hold_rules *r, size_t i);

/* Writes at most `max` paths below the workspace that direct mode makes read-only where they exist,
 * and returns how many.  They have no patterns. */
size_t hold_direct_paths(const struct hold_rules *r, const char **ret, size_t max);

#endif
