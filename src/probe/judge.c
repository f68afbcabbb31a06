/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <stdio.h>

const char *const judge_words[JUDGE_VERDICT_COUNT] = {
	[JUDGE_CLOSED] = "closed", [JUDGE_NO_CONTROL] = "no-control",
	[JUDGE_GIVEN] = "given",   [JUDGE_UNPROVEN] = "unproven",
	[JUDGE_OPEN] = "open",
};

/* The outcome of a control: it works, this machine lacks it, or it is broken. */
enum judge_control { CONTROL_WORKS, CONTROL_LACKS, CONTROL_FAILS };

static enum judge_control judge_control(const struct judge_case *c)
{
	const struct probe *p = c->probe;
	int outcome = c->outside.outcome;
	bool broken = outcome == PROBE_UNABLE || outcome == PROBE_HUNG || outcome == PROBE_DIED;

	switch (p->control) {
	case PROBE_CONTROL_NONE:
		return CONTROL_LACKS;
	case PROBE_CONTROL_DIFFERS:
		if (broken)
			return CONTROL_FAILS;
		return probe_in_set(p->want, outcome) ? CONTROL_LACKS : CONTROL_WORKS;
	case PROBE_CONTROL_SAME:
	case PROBE_CONTROL_OWN:
		if (outcome == PROBE_DONE)
			return CONTROL_WORKS;
		return p->flags & PROBE_MAY_LACK ? CONTROL_LACKS : CONTROL_FAILS;
	}
	return CONTROL_FAILS;
}

/* "EPERM or ENOENT" */
static void judge_expected(const struct probe *p, char *into, size_t size)
{
	size_t used = 0;

	into[0] = '\0';
	for (int i = 0; i < PROBE_WANT_MAX && p->want[i] != 0; i++) {
		char word[24];
		int n = snprintf(into + used, size - used, "%s%s", i ? " or " : "",
				 probe_outcome_word(p->want[i], word, sizeof(word)));

		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

static void judge_say_control(const struct judge_case *c, char *why, size_t size)
{
	char word[24];

	if (c->probe->no_control)
		(void)snprintf(why, size, "%s", c->probe->no_control);
	else
		(void)snprintf(why, size, "outside it came to \"%s\"%s%s%s",
			       probe_outcome_word(c->outside.outcome, word, sizeof(word)),
			       c->outside.note[0] ? " (" : "", c->outside.note,
			       c->outside.note[0] ? ")" : "");
}

enum judge_verdict judge(const struct judge_case *c, char *why, size_t size)
{
	const struct probe *p = c->probe;
	enum judge_control control = judge_control(c);
	int outcome = c->inside.outcome;
	char word[24];
	char expected[80];

	why[0] = '\0';
	if (c->given) {
		(void)snprintf(why, size, "the plan gives it");
		return JUDGE_GIVEN;
	}
	if (c->unshown && (p->flags & PROBE_EXHIBIT)) {
		(void)snprintf(why, size, "the policy does not let the folder for it be shown");
		return JUDGE_NO_CONTROL;
	}
	if (!c->ran) {
		(void)snprintf(why, size, "it was not run");
		return JUDGE_UNPROVEN;
	}
	if (outcome == PROBE_UNABLE && control == CONTROL_LACKS) {
		judge_say_control(c, why, size);
		return JUDGE_NO_CONTROL;
	}
	if (outcome == PROBE_UNABLE) {
		(void)snprintf(why, size, "it could not be tried inside%s%s",
			       c->inside.note[0] ? ": " : "", c->inside.note);
		return JUDGE_UNPROVEN;
	}
	/* A timeout shows neither that it was refused nor that it was not. */
	if (outcome == PROBE_HUNG && !probe_in_set(p->want, outcome)) {
		(void)snprintf(why, size,
			       "it did not come back in time, tried twice; on a slow "
			       "or busy machine, try again");
		return JUDGE_UNPROVEN;
	}
	if (!probe_in_set(p->want, outcome) && !(c->weaker && probe_in_set(p->also, outcome))) {
		judge_expected(p, expected, sizeof(expected));
		(void)snprintf(why, size, "inside it came to \"%s\"%s%s%s; expected %s",
			       probe_outcome_word(outcome, word, sizeof(word)),
			       c->inside.note[0] ? " (" : "", c->inside.note,
			       c->inside.note[0] ? ")" : "", expected);
		return JUDGE_OPEN;
	}
	if (control == CONTROL_WORKS)
		return JUDGE_CLOSED;
	judge_say_control(c, why, size);
	return control == CONTROL_LACKS ? JUDGE_NO_CONTROL : JUDGE_UNPROVEN;
}
