/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `bawn verify`, and how it is shown. */
#ifndef BAWN_VERIFY_SHOW_H
#define BAWN_VERIFY_SHOW_H

#include "judge.h"
#include "plan.h"
#include "text.h"

struct verify_row {
	struct judge_case facts;
	enum judge_verdict verdict;
	char why[320];
};

struct verify_result {
	struct verify_row *rows; /* in the table's order */
	size_t count;
	size_t totals[PROBE_PROMISE_COUNT][JUDGE_VERDICT_COUNT];
	unsigned int milliseconds;
};

/* Nothing is open, and nothing that should be proven is unproven. */
bool verify_holds(const struct verify_result *v);

void verify_show(const struct text *t, const struct plan *plan, const struct verify_result *v);

/* Writes all of it to standard output; 0 or -errno. */
int verify_show_json(const struct plan *plan, const struct verify_result *v);

#endif
