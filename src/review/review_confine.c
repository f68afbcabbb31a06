/* SPDX-License-Identifier: Apache-2.0 */
#include "review_confine.h"

#include "elsewhere.h"
#include "fd.h"
#include "home_store.h"
#include "host.h"
#include "landlock.h"
#include "process.h"
#include "profile.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

enum { CONFINE_BYTES_MAX = 1 << 20 };

static int confine_grant(int ruleset, int abi, const char *path, bool folder,
			 enum landlock_grant grant)
{
	_cleanup_fd_ int fd = open(path, O_PATH | O_CLOEXEC);

	/* What is not there need not be allowed. */
	return fd < 0 ? 0 : landlock_grant(ruleset, abi, fd, folder, grant);
}

static int confine_grant_state(int ruleset, int abi)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(CONFINE_BYTES_MAX);
	struct host host;
	struct error e = ERROR_INIT; /* who opens it for its work will say what is wrong with it */
	int r = host_gather_user(&arena, &host, &e);
	_cleanup_fd_ int state = r < 0 ? r : home_store_state(&host, false, &arena, &e);

	return state < 0 ? 0 : landlock_grant(ruleset, abi, state, true, LANDLOCK_GRANT_WRITE);
}

/* A rename from one folder of the state to another is none where Landlock is too old for it. */
static int confine_files(void)
{
	int abi = landlock_abi();

	if (abi < 2)
		return 0;
	_cleanup_fd_ int ruleset = landlock_new(abi, false);
	int r = ruleset < 0 ? ruleset : confine_grant(ruleset, abi, "/", true, LANDLOCK_GRANT_READ);

	if (r == 0)
		r = confine_grant(ruleset, abi, "/dev/null", false, LANDLOCK_GRANT_DEVICE);
	if (r == 0)
		r = confine_grant_state(ruleset, abi);
	return r < 0 ? r : landlock_restrict(ruleset);
}

int review_confine(const struct invocation *i, struct error *e)
{
	bool shows = str_equal(i->verb->name, "diff") || str_equal(i->verb->name, "snapshots");
	int r = shows ? process_no_new_privs() : 0;

	/* A maker of systems is a program of the user's, which a filter of ours would be handed on to. */
	if (str_equal(i->verb->name, "system"))
		return 0;
	if (r == 0 && shows)
		r = confine_files();
	return r < 0 ? error_sys(e, r, "cannot confine myself")
		     : elsewhere_filter(profile_bpf(PROFILE_REVIEW), e);
}
