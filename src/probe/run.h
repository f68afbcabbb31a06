/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one attempt or control in a child of its own, in a session of its own,
 * with a deadline: a kill and a hang are outcomes, not accidents.  After a timeout it tries
 * once more with more time.
 */
#ifndef BAWN_RUN_H
#define BAWN_RUN_H

#include "probe.h"

struct run_result {
	int outcome;
	char note[PROBE_NOTE_MAX];
};

/* Never fails: an error is an outcome (PROBE_UNABLE with a note). */
void run_attempt(const struct probe *p, const struct facts *facts, struct run_result *ret);

/* As the row asks: the same attempt or control_fn, plainly or in namespaces of its own. */
void run_control(const struct probe *p, const struct facts *facts, struct run_result *ret);

/* One line of bawn-probe's answer: name, outcome and note. */
void run_format(struct buf *into, const struct probe *p, const struct run_result *result);

/*
 * Takes a line apart (without its newline; it is changed).  Refuses a line that is not about
 * p: the rows come in the order of the table.  0 or -EBADMSG.
 */
int run_parse(char *line, const struct probe *p, struct run_result *ret);

#endif
