/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of holds as the user's policy, the workspace's own and the administrator's have it now:
 * not as it was when the session began, so that a rule that was tightened meanwhile counts.
 */
#include "review.h"

#include "hold.h"
#include "prepare.h"
#include "str.h"

#include <limits.h>
#include <stdio.h>

static const char *holds_variable(const struct host *h, const char *name)
{
	for (char *const *at = h->environ; at && *at; at++) {
		const char *rest = str_after(*at, name);

		if (rest && *rest == '=' && rest[1])
			return rest + 1;
	}
	return NULL;
}

/* Where git looks for the settings that count everywhere. */
static int holds_user(const struct review *r, struct hold_rules *rules, struct error *e)
{
	const char *machine = holds_variable(&r->host, "GIT_CONFIG_SYSTEM");
	const char *global = holds_variable(&r->host, "GIT_CONFIG_GLOBAL");
	const char *config = holds_variable(&r->host, "XDG_CONFIG_HOME");
	char path[PATH_MAX] = "~/.config/git/config";

	if (config)
		(void)snprintf(path, sizeof(path), "%s/git/config", config);
	const char *const files[] = {machine ? machine : "/etc/gitconfig", path, "~/.gitconfig",
				     global};
	const struct hold_user user = {.home = r->host.home,
				       .config = config,
				       .files = files,
				       .file_count = BAWN_ARRAY_SIZE(files) - !global};

	return hold_rules_user(rules, &user, e);
}

int review_holds(const struct review *r, struct hold_rules **ret, struct error *e)
{
	_cleanup_prepared_ struct prepared made = PREPARED_INIT;
	struct invocation_value value = {.id = OPTION_WORKSPACE, .value = r->layers.workspace};
	/* The workspace may lie above the folder that this was called in. */
	const struct invocation about = {.values = &value, .value_count = 1};
	int code = prepare_rules(&about, &made, e);

	if (code == 0)
		code = prepare_holds(&made.plan, ret, e);
	if (code < 0)
		return code;
	hold_rules_since(*ret, r->session.began);
	return holds_user(r, *ret, e);
}
