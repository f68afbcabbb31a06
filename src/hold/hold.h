/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds: changes that would run something later, on the host, by a command of the user's own.
 *
 * The list is data (share/holds.yaml, built in; the user's own policy adds to it and takes away).
 * A rule has a name, which paths it is about (by name at any depth), what the content has to be
 * (where the name is not enough), which later command would run it, and whether it is held or only
 * flagged.  It is judged on the final tree: what stands at a path after the change, whatever it
 * was called before and whatever was renamed above it.
 */
#ifndef BAWN_HOLD_H
#define BAWN_HOLD_H

#include "changes.h"

enum hold_level {
	HOLD_NOT,   /* the user took it off the list */
	HOLD_FLAG,  /* shown */
	HOLD_LEAVE, /* left out, and nothing waits for it: the tool that made it makes it again */
	HOLD_HOLD,  /* kept back until released */
};

#define HOLD_OWN "own" /* the rule that the policy's own paths belong to */

struct hold_rules; /* the built-in list and what the policy says of it */

/* `tuned`: "RULE=LEVEL" words of the policy (holds.rules), in order; `paths`: further path patterns
 * to hold (holds.paths). */
struct hold_tuning {
	const char *const *tuned;
	size_t tuned_count;
	const char *const *paths;
	size_t path_count;
};

int hold_rules_new(const struct hold_tuning *t, struct hold_rules **ret, struct error *e);
void hold_rules_free(struct hold_rules **r);

/* Where the user's settings of git are, in the order in which git reads them; "~/" is the home. */
struct hold_user {
	const char *home;
	const char *config; /* XDG_CONFIG_HOME; NULL: it is not set */
	const char *const *files;
	size_t file_count;
};

/* How long hold_judge may look: HOLD_MS, unless this is called. */
enum { HOLD_MS = 30000 };
void hold_rules_within(struct hold_rules *r, int64_t ms);

/* When the session began, in nanoseconds since 1970. */
void hold_rules_since(struct hold_rules *r, int64_t began);

/* Reads them, so that what they name is held as what the repository's own settings name; and what
 * they, or others of the home, lead to in the workspace is held as if it had that name. */
int hold_rules_user(struct hold_rules *r, const struct hold_user *user, struct error *e);

/* Sets group, rule and why of each change that a rule is about (dropped ones stay dropped), and
 * which lie in a folder that git ignores.
 * Reads files of the view, bounded in size and in time: what was not judged in time is held. */
int hold_judge(const struct hold_rules *r, const struct view *v, struct changes *c,
	       struct error *e);

/* For `bawn explain` and the man page: each rule. */
struct hold_shown {
	const char *name, *what, *why;
	enum hold_level level;
	bool read_only; /* in direct mode, where it exists at the top of the workspace */
};
size_t hold_rules_count(const struct hold_rules *r);
struct hold_shown hold_rules_at(const struct hold_rules *r, size_t i);

/* Paths below the workspace that direct mode makes read-only where they exist: literal ones. */
size_t hold_direct_paths(const struct hold_rules *r, const char **ret, size_t max);

#endif
