/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs of bawn-history share.  Each is a row of src/cli/verbs.c whose `run` is
 * verb_elsewhere, a row of the table in ask_main.c, and a file ask_NAME.c.
 */
#ifndef BAWN_ASK_H
#define BAWN_ASK_H

#include "arena.h"
#include "host.h"
#include "store.h"
#include "verbs.h"

/* Exit codes of these verbs, beside those of verbs.h. */
enum { EXIT_INTERRUPTED = 3 /* record verify: a session without an end */ };

/* The user, and the records. */
struct ask {
	struct arena arena;
	struct host host;
	struct store store; /* no sessions, and dir -1, when nothing was ever recorded */
};

int ask_open(struct ask *ret, struct error *e);
void ask_close(struct ask *a);
#define _cleanup_ask_ _cleanup_(ask_close)

int ask_log(const struct invocation *i);
int ask_show(const struct invocation *i);
int ask_why(const struct invocation *i); /* of events and paths */
int ask_record(const struct invocation *i);

#endif
