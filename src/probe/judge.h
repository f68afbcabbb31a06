/* SPDX-License-Identifier: Apache-2.0 */
/* From what happened inside and outside to a verdict.  Pure. */
#ifndef BAWN_JUDGE_H
#define BAWN_JUDGE_H

#include "run.h"

enum judge_verdict {
	JUDGE_CLOSED,     /* refused as expected, and the control succeeded */
	JUDGE_NO_CONTROL, /* refused as expected; this machine has no control for it */
	JUDGE_GIVEN,      /* the plan openly gives this */
	JUDGE_UNPROVEN,   /* the attempt could not run, or a control that should work did not */
	JUDGE_OPEN,       /* not refused, or not in the expected way */
	JUDGE_VERDICT_COUNT,
};

extern const char *const judge_words[JUDGE_VERDICT_COUNT];

struct judge_case {
	const struct probe *probe;
	bool ran; /* bawn-probe reported it */
	bool given;
	bool weaker;  /* the plan goes without a layer: other refusals count too */
	bool unshown; /* the folders of the exhibit could not be shown */
	struct run_result inside, outside;
};

/* why: a few words about any verdict but JUDGE_CLOSED. */
enum judge_verdict judge(const struct judge_case *c, char *why, size_t size);

#endif
