/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that are being built: each moves to a file of its own. */
#include "review.h"

static int pending(const struct invocation *i)
{
	struct error e = ERROR_INIT;

	(void)error_set(&e, -ENOSYS, "'bawn %s' is not built yet", i->verb->name);
	verb_complain(&e);
	return EXIT_BAWN;
}

int review_snapshot(const struct invocation *i)
{
	return pending(i);
}

int review_snapshots(const struct invocation *i)
{
	return pending(i);
}

int review_restore(const struct invocation *i)
{
	return pending(i);
}

int review_fork(const struct invocation *i)
{
	return pending(i);
}
