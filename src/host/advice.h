/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each layer of the box protects, and what to do when this machine does not have it.  One
 * table, so that the launcher's refusal, `bawn doctor` and `bawn explain` say the same thing in the
 * same words.
 *
 * It uses libc only.  advice_about is pure; advice_missing first reads the switches under /proc
 * that tell one cause from another.
 */
#ifndef BAWN_ADVICE_H
#define BAWN_ADVICE_H

#include "error.h"
#include "feature.h"
#include "plan.h"

struct advice {
	const char *title;    /* "user namespace" */
	const char *protects; /* one sentence: what it keeps from the agent */
	const char *missing;  /* one sentence: what is missing; the errno's name comes after it */
	const char *next;     /* what to do when no cause is known; may be empty */
	bool optional;        /* a box can be built without it, when the user asks by name */
};

extern const struct advice advice_table[PLAN_LAYER_COUNT];

/*
 * Fills e for a layer that we could not have: the sentence, what to do about the cause that the
 * facts tell, and the weaker choice by name.  code is what the kernel answered, -errno.  Returns
 * code.
 */
int advice_about(enum plan_layer layer, int code, const struct feature_facts *facts,
		 struct error *e);

/* The same, with the facts of this machine. */
int advice_missing(enum plan_layer layer, int code, struct error *e);

/*
 * The same for a feature of the kernel.  A feature that is a layer uses the layer's words; one that
 * several layers use (openat2, the mount calls) has words of its own.
 */
int advice_about_feature(enum feature f, int code, const struct feature_facts *facts,
			 struct error *e);
int advice_missing_feature(enum feature f, int code, struct error *e);

/*
 * For an error that does not say what to do: tries everything that the plan needs, and when
 * something is missing, says that instead.  True when it did.  Takes some milliseconds.
 */
bool advice_diagnose(const struct plan *plan, struct error *e);

#endif
