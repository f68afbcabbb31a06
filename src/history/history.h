/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs of bawn-history share.  Each is a row of src/cli/verbs.c with the
 * program bawn-history, a row of the table in history_main.c, and a file history_NAME.c.
 */
#ifndef BAWN_HISTORY_H
#define BAWN_HISTORY_H

#include "arena.h"
#include "host.h"
#include "store.h"
#include "verbs.h"

/* Exit codes of these verbs, beside those of verbs.h. */
enum { EXIT_INTERRUPTED = 3 /* record verify: a session without an end */ };

/* The user, and the records. */
struct history {
	struct arena arena;
	struct host host;
	struct store store; /* no sessions, and dir -1, when nothing was ever recorded */
};

int history_open(struct history *ret, struct error *e);
void history_close(struct history *a);
#define _cleanup_history_ _cleanup_(history_close)

/*
 * The session that a person means: by a name as in store_find, by its day (2026-11-17, today,
 * yesterday) if only one ran then, or (NULL) the last one of the folder that the person is in.
 * NULL, and a sentence, when there is none.
 */
const struct store_session *history_find(const struct history *a, const char *wanted,
					 struct error *e);

int history_log(const struct invocation *i);
int history_show(const struct invocation *i);
int history_why(const struct invocation *i);      /* for events and paths */
int history_sessions(const struct invocation *i); /* --all */
int history_record(const struct invocation *i);
int history_tally(const struct invocation *i); /* hidden, for `bawn top` */

#endif
