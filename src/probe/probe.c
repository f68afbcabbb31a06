/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes as words, and sets of them.  Init links this; the tables are in table.c. */
#include "probe.h"

#include "str.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const outcome_words[PROBE_OUTCOME_COUNT] = {
	[PROBE_DONE] = "done", [PROBE_ABSENT] = "absent", [PROBE_OWN] = "own",
	[PROBE_HELD] = "held", [PROBE_KILLED] = "killed", [PROBE_DIED] = "died",
	[PROBE_HUNG] = "hung", [PROBE_UNABLE] = "unable",
};

enum { OUTCOME_ERRNO_MAX = 4095 };

const char *probe_outcome_word(int outcome, char *into, size_t size)
{
	if (outcome >= 0)
		return outcome < PROBE_OUTCOME_COUNT ? outcome_words[outcome] : "unable";
	const char *name = error_name(outcome);

	if (!str_equal(name, "E?"))
		return name;
	(void)snprintf(into, size, "E%d", -outcome);
	return into;
}

int probe_outcome_parse(const char *word, int *ret_outcome)
{
	for (int i = 0; i < PROBE_OUTCOME_COUNT; i++) {
		if (str_equal(word, outcome_words[i])) {
			*ret_outcome = i;
			return 0;
		}
	}
	for (int number = 1; number <= OUTCOME_ERRNO_MAX; number++) {
		char text[24];

		if (str_equal(word, probe_outcome_word(-number, text, sizeof(text)))) {
			*ret_outcome = -number;
			return 0;
		}
	}
	return -EINVAL;
}

bool probe_in_set(const int *set, int outcome)
{
	for (int i = 0; i < PROBE_WANT_MAX && set[i] != 0; i++)
		if (set[i] == outcome)
			return true;
	return false;
}

void probe_note(struct probe_run *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(run->note, sizeof(run->note), fmt, ap);
	va_end(ap);
}
